//! What a campaign is about, as a file of TOML or one of ours by name: cells, the forms a cell is searched in, searches.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sortie_core::Search;

/// The campaigns that come with the command.
pub const BUILT_IN: &[(&str, &str)] = &[
    (
        "circuit-codes",
        "snakes and coils of dimension 9 to 13, spread 2 to 7: where the table of 2016 is not proved",
    ),
    ("morpion-boxes", "the 28 boxes that may hold a game of Morpion 5D with more than 82 lines"),
];

/// What a number that was drawn stands for in the name of a form.
const DRAW: &str = "{draw}";

/// A campaign as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What it is called.
    pub name: String,
    /// Seconds of a try.
    #[serde(default = "ten")]
    pub slice_seconds: f64,
    /// What all random numbers depend on.
    #[serde(default)]
    pub seed: u64,
    /// What is sought.
    pub cells: Vec<Cell>,
    /// By what.
    pub searches: Vec<Search>,
}

/// One entry of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The instance that a record is of.
    pub instance: String,
    /// What was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<f64>,
    /// Instances to search, whose solutions are ones of this cell; `{draw}` is a number that every try has its own of.
    /// None: the instance itself.
    #[serde(default)]
    pub forms: Vec<String>,
}

impl Cell {
    /// A form as try number `number` searches it.
    pub fn form(&self, form: usize, number: u64) -> String {
        self.forms[form].replace(DRAW, &number.to_string())
    }
}

/// No campaign has more cells, forms or searches than this.
const COUNT_MAX: usize = 10_000;

impl Plan {
    /// Reads a plan; the error names what is wrong with it.
    pub fn parse(text: &str) -> Result<Plan> {
        let mut plan: Plan = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            anyhow::anyhow!("line {line}: {}", error.message())
        })?;
        if plan.cells.is_empty() || plan.searches.is_empty() {
            bail!("expected at least one of [[cells]] and one of [[searches]]");
        }
        if !(0.01..=86_400.0).contains(&plan.slice_seconds) {
            bail!("slice_seconds {}: expected 0.01 to 86400", plan.slice_seconds);
        }
        for search in &plan.searches {
            search.check()?;
        }
        for cell in &mut plan.cells {
            if cell.forms.is_empty() {
                cell.forms.push(cell.instance.clone());
            }
        }
        let forms: usize = plan.cells.iter().map(|cell| cell.forms.len()).sum();
        if forms.saturating_mul(plan.searches.len()) > COUNT_MAX {
            bail!("too many cells, forms and searches: expected at most {COUNT_MAX} of their products");
        }
        Ok(plan)
    }

    /// One of ours.
    pub fn built_in(name: &str) -> Option<Plan> {
        let text = match name {
            "circuit-codes" => circuit_codes(),
            "morpion-boxes" => morpion_boxes(),
            _ => return None,
        };
        Some(Plan::parse(&text).expect("our own plans parse"))
    }
}

fn ten() -> f64 {
    10.0
}

/// The cells of Cazenave and Edelkamp's tables 2 and 3 (2016) whose value is not proved, by dimension from 9 and spread
/// from 2; 0 where it is.
const SNAKES: [[u32; 6]; 5] = [
    [190, 63, 0, 0, 0, 0],
    [370, 103, 0, 0, 0, 0],
    [707, 157, 68, 0, 0, 0],
    [1302, 286, 104, 56, 0, 0],
    [2520, 493, 181, 79, 47, 31],
];
const COILS: [[u32; 6]; 5] = [
    [188, 64, 0, 0, 0, 0],
    [358, 102, 0, 0, 0, 0],
    [668, 160, 70, 0, 0, 0],
    [1276, 288, 102, 60, 0, 0],
    [2468, 494, 182, 80, 0, 0],
];

fn circuit_codes() -> String {
    let mut text = String::from("name = 'circuit-codes'\nslice_seconds = 10\n");
    for (kind, table) in [("coil", COILS), ("snake", SNAKES)] {
        for (row, d) in table.iter().zip(9usize..) {
            for (&known, k) in row.iter().zip(2usize..).filter(|(known, _)| **known > 0) {
                let name = format!("{kind}/{d}-{k}");
                let mut forms = Vec::new();
                if kind == "coil" {
                    // Orders that leave something to choose; a frame is drawn for every try.
                    for order in
                        (2..=2 * d).filter(|order| [2, 3, 4, 6, 8, 12].contains(order) || order % d == 0)
                    {
                        forms.push(format!("'{name}:symmetric={order},draw={{draw}}'"));
                    }
                    if k == 3 {
                        for order in [2, 4, 8] {
                            forms.push(format!("'{name}:form=interleaved,symmetric={order},draw={{draw}}'"));
                        }
                    }
                } else {
                    forms.push(format!("'{name}'"));
                    forms.push(format!("'{name}:symmetric=on'"));
                }
                text += &format!(
                    "[[cells]]\ninstance = '{name}'\nknown = {known}\nforms = [{}]\n",
                    forms.join(", ")
                );
            }
        }
    }
    text + "[[searches]]\nname = 'beam'\nwidth = 100\n[[searches]]\nname = 'beam'\nwidth = 1000\nnoise = 8.0\n\
            [[searches]]\nname = 'nrpa'\nlevel = 2\n"
}

/// The boxes around the cross, left, top, right, bottom, in which an unordered graph of more than 82 lines exists
/// (Michalewski, Nagorko and Pawlewicz, "An upper bound of 84 for Morpion Solitaire 5D").
const BOXES: [[u8; 4]; 28] = [
    [4, 3, 1, 1],
    [4, 3, 1, 2],
    [4, 3, 1, 3],
    [4, 2, 1, 2],
    [4, 2, 2, 2],
    [5, 2, 2, 1],
    [5, 2, 1, 2],
    [5, 2, 2, 2],
    [3, 3, 2, 1],
    [3, 3, 2, 2],
    [4, 3, 2, 1],
    [4, 3, 3, 1],
    [4, 3, 2, 2],
    [4, 3, 2, 3],
    [4, 3, 0, 2],
    [3, 2, 1, 2],
    [3, 2, 2, 2],
    [5, 2, 1, 1],
    [3, 3, 3, 1],
    [4, 3, 3, 2],
    [5, 3, 1, 1],
    [5, 3, 1, 2],
    [4, 3, 0, 3],
    [4, 4, 1, 0],
    [4, 4, 2, 0],
    [4, 4, 1, 1],
    [4, 4, 2, 1],
    [4, 4, 3, 1],
];

fn morpion_boxes() -> String {
    let mut text = String::from("name = 'morpion-boxes'\nslice_seconds = 60\n");
    for [left, top, right, bottom] in BOXES {
        text +=
            &format!("[[cells]]\ninstance = 'morpion/5D:box={left},{top},{right},{bottom}'\nknown = 82\n");
    }
    text + "[[searches]]\nname = 'nrpa'\nlevel = 4\nrepetitions = 8\n[[searches]]\nname = 'nrpa'\nlevel = 3\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_whole_and_their_forms_open() {
        for (name, _) in BUILT_IN {
            let plan = Plan::built_in(name).unwrap();
            for cell in &plan.cells {
                for form in 0..cell.forms.len() {
                    // Not every draw has a symmetry; the name itself must be understood.
                    let opened = sortie_domains::open(&cell.form(form, 3), &|_| Err("no files".into()));
                    let said = opened.err().map_or(String::new(), |error| error.to_string());
                    assert!(said.is_empty() || said.contains("keeps its distance"), "{said}");
                }
            }
        }
        assert_eq!(Plan::built_in("circuit-codes").unwrap().cells.len(), 32);
        assert_eq!(Plan::built_in("morpion-boxes").unwrap().cells.len(), 28);
        assert!(Plan::built_in("nothing").is_none());
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let parse = |text: &str| Plan::parse(text).map_err(|error| error.to_string());
        assert!(parse("name = 'a'\ncells = []\nsearches = []").unwrap_err().contains("at least one"));
        assert!(parse("name = 'a'\nwhat = 1").unwrap_err().starts_with("line"));
        let whole =
            "name = 'a'\nslice_seconds = -1\n[[cells]]\ninstance = 'a/1'\n[[searches]]\nname = 'sample'";
        assert!(parse(whole).unwrap_err().contains("slice_seconds"));
        assert!(parse(&whole.replace("-1", "nan")).is_err());
        assert!(parse(&whole.replace("-1", "1")).is_ok());
    }
}
