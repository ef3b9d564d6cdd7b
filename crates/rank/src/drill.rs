//! Random schedules: a gang of any form and shape on a network of any kind, all drawn from a seed, searches a game of Nim
//! twice in virtual time. No simulation may be lost or counted twice, nothing may be refused or hang, both searches must
//! name a move, and the same seed must give the same searches again.

use crate::gang::{Engine, GangPlayer, Plan};
use crate::virtual_time::{Costs, Net};
use crate::{Form, Gang, Vote};
use sortie_core::Boxed;
use sortie_core::Rng;
use sortie_core::Uct;
use sortie_core::toy::Nim;
use sortie_core::{AnyPlayer, Budget, Thought};
use std::sync::atomic::AtomicBool;

/// Simulations of the first search, all of which come home; the second has a millisecond.
const SIMULATIONS: u64 = 60;

/// What a schedule that went right came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankDrilled {
    /// Simulations of both searches that came home.
    pub home: u64,
    /// Of the second, given up when its time was over.
    pub lost: u64,
    /// Nodes added.
    pub added: u64,
}

/// Runs a form through the schedule of a seed; `Err` says what was wrong.
pub fn drill_rank(form: Form, seed: u64) -> Result<RankDrilled, String> {
    let wrong = |what: String| format!("{}, seed {seed}: {what}", form.name());
    let (gang, net) = draw(form, seed);
    let searched = search(&gang, &net, seed).map_err(wrong)?;
    let [first, second] = &searched;
    let report = first.gang.as_ref().ok_or_else(|| wrong("no report".into()))?;
    if (report.home, report.lost, report.refused) != (SIMULATIONS, 0, 0) {
        return Err(wrong(format!("not {SIMULATIONS} simulations, none lost, none refused: {report:?}")));
    }
    let visits: u64 = first.lines.iter().map(|line| line.visits).sum();
    if visits != SIMULATIONS {
        return Err(wrong(format!("{visits} visits of {SIMULATIONS} simulations")));
    }
    let mut drilled = RankDrilled::default();
    for thought in &searched {
        let report = thought.gang.as_ref().ok_or_else(|| wrong("no report".into()))?;
        let visits: u64 = thought.lines.iter().map(|line| line.visits).sum();
        if report.begun != report.home + report.lost {
            return Err(wrong(format!("begun is not home and lost: {report:?}")));
        }
        if report.lost == 0 && thought.proved.is_none() && visits < report.home {
            return Err(wrong(format!("{visits} visits of {} simulations", report.home)));
        }
        if thought.best.is_none() {
            return Err(wrong("no move".into()));
        }
        drilled.home += report.home;
        drilled.lost += report.lost;
        drilled.added += report.added;
    }
    if search(&gang, &net, seed).map_err(wrong)? != [first.clone(), second.clone()] {
        return Err(wrong("the same seed, another search".into()));
    }
    Ok(drilled)
}

fn search(gang: &Gang, net: &Net, seed: u64) -> Result<[Thought; 2], String> {
    let game = Boxed::new(Nim { heap: 21 });
    let plan = Plan { gang: gang.clone(), uct: Uct { memory: 1, ..Uct::plain() }, seed };
    let costs = Costs { playout: vec![1_000.0, 5_000.0, 9_000.0], ..Costs::default() };
    let mut player =
        GangPlayer::new(&game, &plan, Engine::Virtual(net.clone(), costs)).map_err(|e| e.to_string())?;
    let mut think = |words: &[String], budget| {
        player.set(None, words).map_err(|e| e.to_string())?;
        player.think(&budget, &AtomicBool::new(false), &mut |_| {}).map_err(|e| e.to_string())
    };
    Ok([
        think(&[], Budget::playouts(SIMULATIONS))?,
        think(&["2".into()], Budget { seconds: Some(0.001), ..Budget::default() })?,
    ])
}

/// A gang and a network.
fn draw(form: Form, seed: u64) -> (Gang, Net) {
    let mut rng = Rng::new(seed, 1);
    let gang = Gang {
        form,
        nodes: 1 + rng.below(6) as u32,
        threads: 1 + rng.below(4) as u32,
        par: 1 + rng.below(4) as u32,
        traversers: 1 + rng.below(3) as u32,
        group: 1 + rng.below(4) as u32,
        leaf_playouts: [1, 1, 3][rng.below(3)],
        frequency: [0.0, 3.0, 20_000.0, 200_000.0][rng.below(4)],
        depth: 1 + rng.below(3) as u32,
        share: [0.0, 0.05][rng.below(2)],
        vote: [Vote::Sum, Vote::Majority][rng.below(2)],
        siblings: 1 + rng.below(4) as u32,
        stay: [0.0, 0.0, 0.1][rng.below(3)],
        dup: [0, 4, 16][rng.below(3)],
        sync_min: [1, 4][rng.below(2)],
        broadcasters: rng.below(4) as u32,
        merge: [0, 10, 1000][rng.below(3)],
        // Small enough that the top of the tree grows within these few simulations.
        pieces: [1, 2, 16][rng.below(3)],
        grow_min: [2, 4, 32][rng.below(3)],
        fan: 1 + rng.below(4) as u32,
        flying: [0.25, 1.0][rng.below(2)],
        keep: [0.0, 0.25, 1e6][rng.below(3)],
        ..Gang::default()
    };
    let net = Net {
        latency: [10.0, 2_000.0, 100_000.0][rng.below(3)],
        jitter: [0.0, 1.0, 20.0][rng.below(3)],
        gbit_per_second: [0.01, 1.0, 100.0][rng.below(3)],
        ..Net::default()
    };
    (gang, net)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_passes_random_schedules() {
        for (name, _) in Form::ALL {
            let form = Form::named(name).expect("listed");
            for seed in 0..200 {
                drill_rank(form, seed).unwrap();
            }
        }
    }

    /// What a drill looks at depends on the seed, and on the form where ranks are many.
    #[test]
    fn seeds_and_forms_differ() {
        let all: Vec<_> = (0..8).map(|seed| drill_rank(Form::Canopy, seed).unwrap()).collect();
        assert!(all.iter().any(|drilled| *drilled != all[0]), "{all:?}");
        assert!(all.iter().all(|drilled| drilled.home > SIMULATIONS), "both searches count: {all:?}");
    }
}
