//! What the laboratory (`crates/lab`) is made of besides: parts of the command, and no promise to anybody else.

pub use crate::command::{Verdict, code, command_line, usage};

/// The catalogue of a program that has no domains of its own.
pub fn install() {
    sortie_domains::install(&[]);
}

pub mod args {
    pub use crate::args::{EngineArg, ReportArgs, SearchArgs};
}
pub mod commands {
    pub mod analyse {
        pub use crate::commands::analyse::ended;
    }
    pub mod db {
        pub use crate::commands::db::bench_name;
    }
    pub mod prove {
        pub use crate::commands::prove::named;
    }
    #[cfg(feature = "neural")]
    pub mod data {
        pub use crate::commands::data::{FORMAT, Request, Set, diversity, generate};
    }
    #[cfg(feature = "neural")]
    pub mod exit {
        pub use crate::commands::exit::{FORMAT, Request, Round, iterate};
    }
    #[cfg(feature = "neural")]
    pub mod train {
        pub use crate::commands::train::{Epoch, HowArgs, NET, Pace, Request, train};
    }
}
pub mod contest {
    pub use crate::contest::{GAMES, Home, claim, fresh_path, processors, read_request, run, say_stopped};
    pub mod opening {
        pub use crate::contest::opening::random;
    }
    pub mod referee {
        pub use crate::contest::referee::{Bench, Game, Seat, play};
    }
    pub mod table {
        pub use crate::contest::table::{Table, TableSpec};
    }
}
pub mod costs {
    pub use crate::costs::{Profile, built_in, fingerprint, read};
}
pub mod database {
    pub use crate::database::{name, open};
    pub mod keep {
        pub use crate::database::keep::{batches, own, proof, tree};
    }
    pub mod worker {
        pub use crate::database::worker::{Book, Consulting};
    }
}
pub mod grid {
    pub use crate::grid::Spec;
    #[cfg(feature = "grid")]
    pub mod hands {
        pub use crate::grid::hands::spin;
    }
    #[cfg(feature = "grid")]
    pub mod run {
        pub use crate::grid::run::options;
    }
}
pub mod output {
    pub use crate::output::{command, count, number, path, print, print_json, rounded, say, score};
}
pub mod players {
    pub use crate::players::{EngineName, Player, help, open};
}
pub mod policy {
    #[cfg(feature = "neural")]
    pub use crate::policy::spec_of;
    pub use crate::policy::{Policy, PolicyArgs, open, read};
}
pub mod ranks {
    pub use crate::ranks::{Role, enter, leave, relay};
}
pub mod raster {
    pub use crate::raster::png;
}
pub mod searches {
    pub use crate::searches::{build, describe, parameters_of};
}
pub mod session {
    pub use crate::session::stop_on_signals;
}
pub mod source {
    pub use crate::source::{Instance, plain};
}
pub mod words {
    pub use crate::words::play;
}
