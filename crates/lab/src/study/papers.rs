//! The studies: which table or figure of which paper, what was published there, and the runs that answer it.
//!
//! Sources: Negrevergne and Cazenave, "Distributed Nested Rollout Policy for SameGame" (2017), table 1 and figures 3
//! and 4; Cazenave and Edelkamp, "High-Diversity Monte-Carlo Tree Search" (2016), tables 1 to 3 and figure 14.

use super::{Cell, Request, Shape, Study};
use crate::searches;
use anyhow::{Result, bail};
use serde_json::{Value, json};
use sortie_core::{Limits, Search};

/// Every study with one line about it.
pub const STUDIES: [(&str, &str); 9] = [
    ("samegame-table1", "SameGame, the 20 standard boards (2017, table 1)"),
    ("samegame-nrpa", "the same by plain NRPA, without local search: like with like"),
    ("samegame-learning", "NRPA and HD-NRPA on SameGame's first board, a million playouts each (2016)"),
    ("nrpa-parallel-iterations", "parallel NRPA on SameGame's first board by playouts (2017, figure 3)"),
    ("nrpa-parallel-time", "parallel NRPA on SameGame's first board by time (2017, figure 4)"),
    ("snake-table2", "snakes in the box of dimension 3 to 13, spread 2 to 7 (2016, table 2)"),
    ("coil-table3", "coils in the box of dimension 3 to 13, spread 2 to 7 (2016, table 3)"),
    ("vrptw-r10x", "Solomon's R101, R102 and R103 (2016, section on vehicle routing)"),
    ("vrptw-learning", "R101 over the first 100,000 playouts (2016, figure 14)"),
];

/// The study that a request names.
pub fn study(request: &Request) -> Result<Study> {
    let mut study = match request.study.as_str() {
        "samegame-table1" => samegame_table1(request, true),
        "samegame-nrpa" => samegame_table1(request, false),
        "samegame-learning" => samegame_learning(request),
        "nrpa-parallel-iterations" => nrpa_parallel(request, true),
        "nrpa-parallel-time" => nrpa_parallel(request, false),
        "snake-table2" => cube_table(request, "snake", "2", &SNAKES),
        "coil-table3" => cube_table(request, "coil", "3", &COILS),
        "vrptw-r10x" => vrptw_r10x(request),
        "vrptw-learning" => vrptw_learning(request),
        other => {
            let names: Vec<&str> = super::all().map(|(name, _)| name).collect();
            let more =
                if cfg!(feature = "neural") { "" } else { "; those of networks need the feature neural" };
            bail!("there is no study '{other}' in this build: expected {}{more}", names.join(", "));
        }
    };
    if request.cpu {
        for cell in &mut study.cells {
            let seconds = cell.limits.seconds.take();
            cell.limits.cpu_seconds = seconds.map(|s| s * f64::from(cell.threads));
        }
    }
    if !request.rows.is_empty() {
        for row in &request.rows {
            if !study.cells.iter().any(|cell| cell.row == *row) {
                let mut rows: Vec<&str> = study.cells.iter().map(|cell| cell.row.as_str()).collect();
                rows.dedup();
                bail!("--rows {row}: {} has {}", request.study, rows.join(", "));
            }
        }
        study.cells.retain(|cell| request.rows.contains(&cell.row));
        if let Shape::Table { theirs, .. } = &mut study.shape {
            theirs.retain(|(row, _)| request.rows.contains(row));
        }
    }
    Ok(study)
}

/// NMCS(4), NRPA(4), HD-NRPA(4) and Dist-NRPA(5) by board.
const SAMEGAME: [[u32; 4]; 20] = [
    [3121, 3179, 3145, 3185],
    [3813, 3985, 3985, 3985],
    [3085, 3635, 3937, 3747],
    [3697, 3913, 3879, 3925],
    [4055, 4309, 4319, 4335],
    [4459, 4809, 4697, 4809],
    [2949, 2651, 2795, 2923],
    [3999, 3879, 3967, 4061],
    [4695, 4807, 4813, 4829],
    [3223, 2831, 3219, 3193],
    [3147, 3317, 3395, 3455],
    [3201, 3315, 3559, 3567],
    [3197, 3399, 3159, 3591],
    [2799, 3097, 3107, 3135],
    [3677, 3559, 3761, 3885],
    [4979, 5025, 5307, 5375],
    [4919, 5043, 4983, 5067],
    [5201, 5407, 5429, 5481],
    [4883, 5065, 5163, 5299],
    [4835, 4805, 5087, 5203],
];

fn samegame_table1(request: &Request, memetic: bool) -> Study {
    let row = |i: usize| (i + 1).to_string();
    // More levels than any budget ends: the highest call that is under way grows with the time there is. A call that
    // finds the same best again and again is given up for the next.
    let mut search = nrpa(5, 100);
    (search["repetitions"], search["improve"]) = (json!(8), json!(memetic));
    let cells = (0..20).map(|i| Cell {
        search: build(search.clone()),
        ..table_cell(request, row(i), format!("samegame/{}", i + 1), None)
    });
    let theirs =
        SAMEGAME.iter().enumerate().map(|(i, scores)| (row(i), scores.map(|s| s.to_string()).to_vec()));
    Study {
        title: "SameGame, the 20 standard boards".into(),
        notes: format!(
            "Negrevergne and Cazenave 2017, table 1; Dist-NRPA(5) had 160 cores for two hours a board. Papers' \
             scoring: no penalty for cells left over. Ours: NRPA{}.",
            if memetic { " with local search on what level 1 finds" } else { "" }
        ),
        shape: Shape::Table {
            published: vec!["NMCS(4)", "NRPA(4)", "HD-NRPA(4)", "Dist-NRPA(5)"],
            theirs: theirs.collect(),
            sum: true,
        },
        cells: cells.collect(),
    }
}

/// The charts of `nrpa_parallel`: each form against the sequential search, a colour a level.
const PARALLEL: [(&str, &[&str]); 2] = [
    (
        "SameGame board 1: a policy shared at level 1, 2 or 3",
        &["sequential", "shared:1", "shared:2", "shared:3"],
    ),
    (
        "SameGame board 1: thread-local policies at level 1, 2 or 3",
        &["sequential", "local:1", "local:2", "local:3"],
    ),
];

/// One sequential NRPA against the shared and the thread-local form at the levels 1 to 3, with as many workers as
/// threads.
fn nrpa_parallel(request: &Request, by_playouts: bool) -> Study {
    let mut forms = vec![("sequential".to_string(), nrpa(4, 100), 1)];
    for form in ["shared", "local"] {
        for level in 1..=3 {
            let name = format!("{form}:{level}");
            let mut search = nrpa(4, 100);
            search["parallel"] = json!(name);
            search["workers"] = json!(request.threads);
            forms.push((name, search, request.threads));
        }
    }
    let cells = forms.into_iter().map(|(column, search, threads)| Cell {
        row: "board 1".into(),
        column,
        instance: "samegame/1".into(),
        search: build(search),
        streams: 1,
        threads,
        limits: Limits { seconds: Some(request.seconds), ..Limits::default() },
        seeds: request.seeds,
    });
    let by = if by_playouts { "playouts" } else { "time" };
    Study {
        title: format!("SameGame board 1: parallel NRPA by {by}"),
        notes: format!(
            "Negrevergne and Cazenave 2017, figure {}: level 4, 100 iterations; there 16 cores and 500 seconds. \
             Workers = threads.",
            if by_playouts { 3 } else { 4 }
        ),
        shape: Shape::Curves { by_playouts, panels: &PARALLEL },
        cells: cells.collect(),
    }
}

/// Longest known by dimension (from 3) and spread (from 2), and what HD-NRPA reached where it is less.
type Cube = [[(u32, Option<u32>); 6]; 11];

const fn all(best: u32) -> (u32, Option<u32>) {
    (best, Some(best))
}

const fn open(best: u32) -> (u32, Option<u32>) {
    (best, None)
}

const SNAKES: Cube = [
    [all(4), all(3), all(3), all(3), all(3), all(3)],
    [all(7), all(5), all(4), all(4), all(4), all(4)],
    [all(13), all(7), all(6), all(5), all(5), all(5)],
    [all(26), all(13), all(8), all(7), all(6), all(6)],
    [all(50), all(21), all(11), all(9), all(8), all(7)],
    [(98, Some(95)), all(35), all(19), all(11), all(10), all(9)],
    [open(190), (63, Some(55)), all(28), all(19), all(12), all(11)],
    [open(370), open(103), (47, Some(46)), all(25), all(15), all(13)],
    [open(707), open(157), open(68), all(39), all(25), all(15)],
    [open(1302), open(286), open(104), (56, Some(54)), all(33), all(25)],
    [open(2520), open(493), open(181), open(79), (47, Some(46)), all(31)],
];

const COILS: Cube = [
    [all(6), all(6), all(6), all(6), all(6), all(6)],
    [all(8), all(8), all(8), all(8), all(8), all(8)],
    [all(14), all(10), all(10), all(10), all(10), all(10)],
    [all(26), all(16), all(12), all(12), open(12), all(12)],
    [all(48), all(24), all(14), all(14), open(14), all(14)],
    [(96, Some(92)), all(36), all(22), all(16), open(16), all(16)],
    [open(188), (64, Some(55)), all(30), all(24), all(18), all(18)],
    [open(358), open(102), all(46), all(28), all(20), all(20)],
    [open(668), open(160), (70, Some(64)), all(40), all(30), all(22)],
    [open(1276), open(288), open(102), (60, Some(56)), all(36), all(32)],
    [open(2468), open(494), open(182), open(80), all(50), all(36)],
];

/// The option `symmetric` and the search: the cells that NRPA on the plain cube does not reach within seconds have what
/// did best there.
fn cube_search(domain: &str, d: usize, k: usize) -> (&'static str, Value) {
    // Of symmetric ones short searches, over and over: each tries other symmetries.
    let symmetric = ("on", nrpa(2, 100));
    match (domain, d, k) {
        ("snake", 8, 2) => ("off", json!({"name": "beam", "width": 100_000})),
        ("snake", 8 | 9, 3) | ("snake", 11 | 12, 5) => symmetric,
        ("snake", 10, 4) | ("snake", 12 | 13, 6) => ("off", json!({"name": "nmcs", "level": 3})),
        ("coil", 8, 2) | ("coil", 9, 3) | ("coil", 11, 4) => symmetric,
        ("coil", 9 | 10, 4) | ("coil", 12, 5) => ("on", json!({"name": "nmcs", "level": 3})),
        ("coil", 13, 6) => ("1", json!({"name": "beam", "width": 4_000, "noise": 60.0})),
        _ => ("off", nrpa(3, 100)),
    }
}

fn cube_table(request: &Request, domain: &str, number: &str, cube: &Cube) -> Study {
    let (mut cells, mut theirs) = (Vec::new(), Vec::new());
    for (d, spreads) in cube.iter().enumerate() {
        for (k, &(best, reached)) in spreads.iter().enumerate() {
            let (d, k) = (d + 3, k + 2);
            let row = format!("{d}-{k}");
            let published = reached.map_or("-".into(), |n| n.to_string());
            theirs.push((row.clone(), vec![best.to_string(), published]));
            // What nobody validated at all is left out: the paper did not try it either.
            if reached.is_some() {
                let mut instance = if k == 2 { format!("{domain}/{d}") } else { format!("{domain}/{d}-{k}") };
                let (symmetric, search) = cube_search(domain, d, k);
                if symmetric != "off" {
                    instance += &format!(":symmetric={symmetric}");
                }
                let cell = table_cell(request, row, instance, Some(best as f64));
                cells.push(Cell { search: build(search), ..cell });
            }
        }
    }
    theirs.retain(|(row, _)| cells.iter().any(|cell: &Cell| cell.row == *row));
    Study {
        title: format!(
            "{} in the box (dimension-spread)",
            if domain == "snake" { "Snakes" } else { "Coils" }
        ),
        notes: format!(
            "Cazenave and Edelkamp 2016, table {number}: the best length known then, in edges, and what HD-NRPA \
             reached within an hour. A run ends when it reaches the best known. NRPA(3); \
             where that falls short NMCS(3) or NRPA(2), most often among symmetric ones, or beam search, as the \
             records say."
        ),
        shape: Shape::Table { published: vec!["best known", "HD-NRPA"], theirs, sum: false },
        cells,
    }
}

fn vrptw_r10x(request: &Request) -> Study {
    let published = [
        ("R101", "19 / 1650.80", "19 / 1650.79 (20 min)"),
        ("R102", "17 / 1486.12", "17 / 1486.66 (2.5 days)"),
        ("R103", "13 / 1292.68", "1332.78 (a week)"),
    ];
    let theirs = published.map(|(name, best, hd)| (name.to_string(), vec![best.to_string(), hd.to_string()]));
    // Pure NRPA is left to vrptw-learning: here it has the domain's bias, and beside it the memetic form, whose calls of
    // level 1 end in local search. That converges so fast that restarts are worth more than a third level.
    let mut plain = nrpa(3, 100);
    plain["bias"] = json!(true);
    let mut memetic = nrpa(2, 100);
    (memetic["bias"], memetic["improve"]) = (json!(true), json!(true));
    let cells = published.iter().flat_map(|(name, _, _)| {
        [("NRPA", &plain), ("memetic", &memetic)].map(|(column, search)| Cell {
            column: column.into(),
            search: build(search.clone()),
            ..table_cell(request, name.to_string(), format!("vrptw/{name}"), None)
        })
    });
    Study {
        title: "Solomon's R101, R102, R103: vehicles / distance".into(),
        notes: "Cazenave and Edelkamp 2016: vehicles first, then real-valued distance. The best known are those of \
                the archived routes. Ours: NRPA of level 3 with the domain's bias, and the same of level 2 with local \
                search on what level 1 finds."
            .into(),
        shape: Shape::Table { published: vec!["best known", "HD-NRPA"], theirs: theirs.to_vec(), sum: false },
        cells: cells.collect(),
    }
}

fn vrptw_learning(request: &Request) -> Study {
    let lines = [
        ("NMCS", json!({"name": "nmcs", "level": 3, "selective": true})),
        ("NRPA", nrpa(5, 50)),
        ("HD-NRPA", json!({"name": "hd-nrpa", "level": 5, "iterations": 50, "learn_after": 0.0})),
    ];
    Study {
        title: "R101: the first 100,000 playouts".into(),
        notes: "Cazenave and Edelkamp 2016, figure 14. The score is minus the cost, so up is better.".into(),
        ..learning(request, "R101", "vrptw/R101", 100_000, &lines)
    }
}

/// The paper's table 1 has one run a board of level 4, a hundred million playouts; this is what seeds can be had for.
fn samegame_learning(request: &Request) -> Study {
    let lines = [
        ("NRPA", nrpa(3, 100)),
        ("HD-NRPA", json!({"name": "hd-nrpa", "level": 3, "iterations": 100, "beam": [1, 4]})),
    ];
    Study {
        title: "SameGame, board 1: the first million playouts".into(),
        notes: "Cazenave and Edelkamp 2016 compare the two on SameGame in table 1, one run a board. Here both of level 3 \
                with 100 iterations, HD-NRPA with four solutions at the levels above the first: with ten, as in the \
                paper, it needs more playouts than these."
            .into(),
        ..learning(request, "1", "samegame/1", 1_000_000, &lines)
    }
}

/// Best score over the first playouts of some searches, each on one thread.
fn learning(request: &Request, row: &str, instance: &str, playouts: u64, lines: &[(&str, Value)]) -> Study {
    let cells = lines.iter().map(|(column, search)| Cell {
        row: row.into(),
        column: column.to_string(),
        instance: instance.into(),
        search: build(search.clone()),
        streams: 1,
        threads: 1,
        limits: Limits { playouts: Some(playouts), ..Limits::default() },
        seeds: request.seeds,
    });
    Study {
        title: String::new(),
        notes: String::new(),
        shape: Shape::Curves { by_playouts: true, panels: &[] },
        cells: cells.collect(),
    }
}

/// A cell of a table: as many streams as threads, the default search, all the time there is or the target.
fn table_cell(request: &Request, row: String, instance: String, target: Option<f64>) -> Cell {
    Cell {
        row,
        column: "sortie".into(),
        instance,
        search: build(nrpa(3, 100)),
        streams: request.threads,
        threads: request.threads,
        limits: Limits { seconds: Some(request.seconds), target, ..Limits::default() },
        seeds: request.seeds,
    }
}

fn nrpa(level: u32, iterations: u32) -> Value {
    json!({"name": "nrpa", "level": level, "iterations": iterations})
}

fn build(search: Value) -> Search {
    let search: Search = serde_json::from_value(search).expect("the searches of the studies exist");
    debug_assert!(search.check().is_ok(), "{}", searches::describe(&search));
    search
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Instance;

    #[test]
    fn every_study_is_made_of_instances_and_searches_that_exist() {
        for (name, _) in STUDIES {
            let study = study(&Request::new(name, 1.0, 2, 2, vec![])).unwrap();
            assert!(!study.cells.is_empty());
            for cell in &study.cells {
                cell.search.check().unwrap();
                Instance::open(&cell.instance).unwrap().problem().unwrap();
                if let Shape::Table { theirs, .. } = &study.shape {
                    assert!(theirs.iter().any(|(row, _)| *row == cell.row), "{}", cell.row);
                }
            }
        }
        assert!(study(&Request::new("samegame-table2", 1.0, 1, 1, vec![])).is_err());
        assert!(study(&Request::new("samegame-table1", 1.0, 1, 1, vec!["21".into()])).is_err());
    }

    #[test]
    fn the_published_columns_add_up() {
        let sums = (0..4).map(|column| SAMEGAME.iter().map(|row| row[column]).sum::<u32>());
        assert_eq!(sums.collect::<Vec<_>>(), [77_934, 80_030, 81_706, 83_050]);
    }
}
