//! `sortie_search._native`: the searches of Sortie for Python. The package around it (`sortie_search`) is what people
//! call; this module crosses the border and nothing else.
//!
//! `instance` is what is searched, `host` and `contract` make a Python object a domain, `solve` runs it, `book` writes its folder, `news` brings
//! events back; `tree` (as Python's: `grove`) and `policy` are searches that are asked what to evaluate and told what came of it.

mod book;
mod contract;
mod grove;
mod host;
mod instance;
mod moves;
mod news;
mod policy;
mod solve;
mod tree;

use pyo3::prelude::*;

/// The native part of sortie_search.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::book::{Book, record_read};
    #[pymodule_export]
    use crate::grove::Grove;
    #[pymodule_export]
    use crate::instance::{Instance, Stop, domains};
    #[pymodule_export]
    use crate::policy::Nest;
    #[pymodule_export]
    use crate::solve::{search_json, stream_of, toml_json};

    use super::*;

    #[pymodule_init]
    fn init(m: &Bound<PyModule>) -> PyResult<()> {
        m.add("version", env!("CARGO_PKG_VERSION"))
    }
}
