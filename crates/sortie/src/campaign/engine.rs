//! The state of a campaign: which cell is tried next, in which form, by which search, and what is known of every cell.
//! No files, no clock, no threads: what happened is told by `record`, and a campaign that was killed is told it all again.
//!
//! Choosing is a bandit twice over. A cell is worth trying where tries have paid and where there were few of them; then,
//! within the cell, a form and a search by the same rule. A try pays 1 if it found something longer than the cell had, and
//! a quarter if it found as much.

use super::plan::Plan;
use serde::{Deserialize, Serialize};

/// How much a lack of tries counts against what tries have paid.
const EXPLORE: f64 = 0.7;
/// What finding again as much as is known pays.
const LEVEL: f64 = 0.25;
/// A try is forgotten by a half after so many others of its kind: what paid at first may be exhausted.
const HALF_LIFE: f64 = 30.0;

/// What is to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// Counted from 0: also what its random numbers depend on.
    pub number: u64,
    /// Index of the cell.
    pub cell: usize,
    /// Index of the form in the cell.
    pub form: usize,
    /// Index of the search.
    pub search: usize,
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What was tried.
    #[serde(flatten)]
    pub what: Try,
    /// The best verified score; `None` if nothing was found.
    pub score: Option<f64>,
    /// Seconds it took.
    pub seconds: f64,
    /// When it ended, as text.
    pub time: String,
}

/// The best that is known of a cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Best {
    /// The score; `None` if nothing was found.
    pub score: Option<f64>,
    /// When it was found.
    pub time: String,
    /// In which form, an instance.
    pub form: String,
    /// Index of the search.
    pub search: usize,
    /// Tries of the cell.
    pub tries: u64,
    /// Seconds spent on it, those of all threads added up.
    pub seconds: f64,
}

/// Tries of one kind, the older ones counted less.
#[derive(Debug, Clone, Default)]
struct Arm {
    tries: f64,
    paid: f64,
}

impl Arm {
    fn add(&mut self, paid: f64) {
        let fade = 0.5f64.powf(1.0 / HALF_LIFE);
        self.tries = self.tries * fade + 1.0;
        self.paid = self.paid * fade + paid;
    }

    fn worth(&self, all: f64) -> f64 {
        if self.tries == 0.0 {
            return f64::INFINITY;
        }
        self.paid / self.tries + EXPLORE * ((1.0 + all).ln() / self.tries).sqrt()
    }
}

/// A campaign under way.
#[derive(Debug)]
pub struct Campaign {
    /// What it is about.
    pub plan: Plan,
    /// By cell.
    pub bests: Vec<Best>,
    /// Being tried now.
    pub under_way: Vec<Try>,
    next: u64,
    cells: Vec<Arm>,
    /// `arms[cell][form * searches + search]`.
    arms: Vec<Vec<Arm>>,
}

impl Campaign {
    /// A new one.
    pub fn new(plan: Plan) -> Campaign {
        let kinds = |cell: &super::plan::Cell| vec![Arm::default(); cell.forms.len() * plan.searches.len()];
        Campaign {
            bests: vec![Best::default(); plan.cells.len()],
            cells: vec![Arm::default(); plan.cells.len()],
            arms: plan.cells.iter().map(kinds).collect(),
            under_way: Vec::new(),
            next: 0,
            plan,
        }
    }

    /// What to try next: the cell that is worth most, and of its kinds the one that is. Those under way count as tries
    /// that paid nothing, so that threads spread out.
    pub fn choose(&mut self) -> Try {
        let pending = |wanted: &dyn Fn(&Try) -> bool| {
            self.under_way.iter().filter(|other| wanted(other)).count() as f64
        };
        let cells: Vec<Arm> = self
            .cells
            .iter()
            .enumerate()
            .map(|(i, arm)| Arm { tries: arm.tries + pending(&|other| other.cell == i), paid: arm.paid })
            .collect();
        let cell = best(&cells);
        let searches = self.plan.searches.len();
        let arms: Vec<Arm> = self.arms[cell]
            .iter()
            .enumerate()
            .map(|(i, arm)| Arm {
                tries: arm.tries
                    + pending(&|other| other.cell == cell && other.form * searches + other.search == i),
                paid: arm.paid,
            })
            .collect();
        let kind = best(&arms);
        let chosen = Try { number: self.next, cell, form: kind / searches, search: kind % searches };
        self.next += 1;
        self.under_way.push(chosen.clone());
        chosen
    }

    /// Takes note of what came of a try. True if it is the best of its cell: then its record is to be kept.
    pub fn record(&mut self, tried: &Tried) -> bool {
        let Try { number, cell, form, search } = tried.what;
        self.under_way.retain(|other| other.number != number);
        self.next = self.next.max(number + 1);
        let searches = self.plan.searches.len();
        let best = &mut self.bests[cell];
        best.tries += 1;
        best.seconds += tried.seconds;
        let better = tried.score.is_some_and(|score| best.score.is_none_or(|known| score > known));
        let paid = match (better, tried.score) {
            (true, _) => 1.0,
            (false, score) if score.is_some() && score == best.score => LEVEL,
            _ => 0.0,
        };
        if better {
            best.score = tried.score;
            best.time.clone_from(&tried.time);
            best.form = self.plan.cells[cell].form(form, number);
            best.search = search;
        }
        self.cells[cell].add(paid);
        self.arms[cell][form * searches + search].add(paid);
        better
    }

    /// Whether a line of a journal belongs to this plan.
    pub fn knows(&self, what: &Try) -> bool {
        self.plan.cells.get(what.cell).is_some_and(|cell| what.form < cell.forms.len())
            && what.search < self.plan.searches.len()
    }

    /// Seconds of all tries.
    pub fn seconds(&self) -> f64 {
        self.bests.iter().map(|best| best.seconds).sum()
    }

    /// The seed of a try.
    pub fn seed(&self, what: &Try) -> u64 {
        self.plan.seed.wrapping_mul(1_000_003).wrapping_add(what.number)
    }

    /// How many cells are above, level with and below what was known; cells of which nothing was are not counted.
    pub fn standing(&self) -> (usize, usize, usize) {
        let mut standing = (0, 0, 0);
        for (cell, best) in self.plan.cells.iter().zip(&self.bests) {
            let Some(known) = cell.known else { continue };
            match best.score.map(|score| score.total_cmp(&known)) {
                Some(std::cmp::Ordering::Greater) => standing.0 += 1,
                Some(std::cmp::Ordering::Equal) => standing.1 += 1,
                _ => standing.2 += 1,
            }
        }
        standing
    }
}

/// The arm that is worth most; of equals the first.
fn best(arms: &[Arm]) -> usize {
    let all: f64 = arms.iter().map(|arm| arm.tries).sum();
    let mut chosen = 0;
    for i in 1..arms.len() {
        if arms[i].worth(all) > arms[chosen].worth(all) {
            chosen = i;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = "name = 'two'\n[[cells]]\ninstance = 'a/1'\nknown = 5\nforms = ['a/1', 'a/1:draw={draw}']\n\
                    [[cells]]\ninstance = 'a/2'\n[[searches]]\nname = 'sample'\n[[searches]]\nname = 'nmcs'\n";
        Plan::parse(text).unwrap()
    }

    fn end(what: Try, score: Option<f64>) -> Tried {
        Tried { what, score, seconds: 1.0, time: "now".into() }
    }

    #[test]
    fn everything_is_tried_once_and_then_what_pays() {
        let mut campaign = Campaign::new(plan());
        let mut tries = [0; 2];
        for _ in 0..200 {
            let what = campaign.choose();
            tries[what.cell] += 1;
            // Only the first cell has anything to find, by its second form and search.
            let pays = what.cell == 0 && what.form == 1 && what.search == 1;
            let score = if pays { what.number as f64 } else { -1.0 };
            campaign.record(&end(what, Some(score)));
        }
        assert!(tries[0] > 2 * tries[1] && tries[1] >= 4, "{tries:?}");
        assert_eq!(campaign.standing(), (1, 0, 0));
        assert!(campaign.bests[0].form.starts_with("a/1:draw="));
        assert_eq!(campaign.bests[0].search, 1);
    }

    /// A journal read again gives the same campaign, and numbers go on.
    #[test]
    fn what_is_told_again_gives_the_same_state() {
        let (mut first, mut told) = (Campaign::new(plan()), Vec::new());
        for i in 0..50 {
            let what = first.choose();
            let tried = end(what, (i % 3 > 0).then_some(f64::from(i % 7)));
            first.record(&tried);
            told.push(tried);
        }
        let mut second = Campaign::new(plan());
        told.iter().for_each(|tried| {
            assert!(second.knows(&tried.what));
            second.record(tried);
        });
        assert_eq!(first.bests, second.bests);
        assert_eq!(first.choose(), second.choose());
    }

    #[test]
    fn threads_spread_out() {
        let mut campaign = Campaign::new(plan());
        let cells: Vec<usize> = (0..4).map(|_| campaign.choose().cell).collect();
        assert!(cells.contains(&0) && cells.contains(&1), "{cells:?}");
    }
}
