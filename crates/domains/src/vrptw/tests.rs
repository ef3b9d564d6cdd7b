//! The rules against a slow checker that knows the file's text only, and against published routes.

use super::*;
use sortie_core::record::{replay_whole, words};
use sortie_core::{AnyProblem, BestOf, Control, Limits, Nrpa};
use sortie_core::{Rng, Sample, Search, conformance};
use std::sync::atomic::AtomicBool;

const OBJECTIVES: [Objective; 2] = [Objective::Vehicles, Objective::Dimacs];

/// The files that are written out, as people have them.
const BUILT_IN: [(&str, &str); 6] = [
    ("R101", include_str!("../../instances/solomon/R101.txt")),
    ("R102", include_str!("../../instances/solomon/R102.txt")),
    ("R103", include_str!("../../instances/solomon/R103.txt")),
    ("R201", include_str!("../../instances/solomon/R201.txt")),
    ("C101", include_str!("../../instances/solomon/C101.txt")),
    ("RC101", include_str!("../../instances/solomon/RC101.txt")),
];

fn best_known(i: usize) -> Best {
    table::find(BUILT_IN[i].0).unwrap().1
}

/// The best known routes, from the results archived in CervEdin/solomon-vrptw-benchmarks, in the order of `BUILT_IN`.
const ROUTES: [&str; 6] = [
    "2 21 73 41 56 4 0 5 83 61 85 37 93 0 14 44 38 43 13 0 27 69 76 79 3 54 24 80 0 28 12 40 53 26 0 30 51 9 66 1 0 \
     31 88 7 10 0 33 29 78 34 35 77 0 36 47 19 8 46 17 0 39 23 67 55 25 0 45 82 18 84 60 89 0 52 6 0 59 99 94 96 0 \
     62 11 90 20 32 70 0 63 64 49 48 0 65 71 81 50 68 0 72 75 22 74 58 0 92 42 15 87 57 97 0 95 98 16 86 91 100 0",
    "83 45 61 84 5 60 89 0 87 57 2 58 0 28 29 78 34 35 3 77 0 73 22 72 54 24 80 12 0 42 15 41 75 56 74 21 0 94 96 99 \
     6 0 65 71 81 20 32 70 0 50 33 30 51 9 66 1 0 40 53 0 92 37 98 85 16 86 91 97 13 0 62 88 8 46 17 93 59 0 63 64 \
     90 10 31 0 27 69 76 79 68 0 52 7 11 19 49 48 82 0 14 44 38 43 100 95 0 36 47 18 0 39 23 67 55 4 25 26 0",
    "92 98 14 44 38 86 16 61 85 91 100 37 0 42 43 15 57 41 74 72 73 21 58 0 7 19 11 8 46 47 48 82 18 89 0 71 65 78 34 \
     35 81 77 28 0 26 39 23 67 55 24 29 3 0 27 69 30 9 66 20 51 1 0 2 22 75 56 4 25 54 0 36 64 49 63 90 32 70 0 52 \
     62 88 84 17 93 59 0 50 33 76 79 10 31 0 60 45 83 5 99 6 0 94 96 95 97 87 13 0 40 53 12 68 80 0",
    "5 83 45 82 47 36 64 11 19 62 7 88 90 18 84 8 49 46 48 60 17 91 100 93 89 0 2 72 39 75 23 67 21 40 73 41 22 87 57 \
     43 37 97 96 13 58 0 95 59 92 42 15 14 98 61 16 44 38 86 85 99 6 94 53 26 54 56 74 4 55 25 24 80 0 33 65 63 31 \
     69 52 27 28 12 29 76 30 71 9 51 81 79 78 34 3 50 20 10 32 66 35 68 77 1 70 0",
    "81 78 76 71 70 73 77 79 80 0 57 55 54 53 56 58 60 59 0 98 96 95 94 92 93 97 100 99 0 32 33 31 35 37 38 39 36 34 \
     0 13 17 18 19 15 16 14 12 0 90 87 86 83 82 84 85 88 89 91 0 43 42 41 40 44 46 45 48 51 50 52 49 47 0 67 65 63 \
     62 74 72 61 64 68 66 69 0 5 3 7 8 10 11 9 6 4 2 1 75 0 20 24 25 27 29 30 28 26 23 22 21 0",
    "5 45 2 7 6 8 3 1 70 100 0 14 47 12 73 79 46 4 60 0 27 29 31 30 34 26 32 93 0 28 33 85 89 91 0 39 42 44 61 81 54 \
     96 0 59 75 87 97 58 77 0 63 76 51 22 49 20 24 0 64 90 84 56 66 0 65 52 99 57 86 74 0 69 98 88 53 78 55 68 0 72 \
     36 38 41 40 43 37 35 0 82 11 15 16 9 10 13 17 0 83 23 21 19 18 48 25 0 92 95 62 67 71 94 50 80 0",
];

fn built_in(i: usize, objective: Objective, fleet: u32) -> Vrptw<2> {
    let file = solomon::parse(BUILT_IN[i].1).unwrap();
    Vrptw::new(&file, objective, fleet, Some(best_known(i))).unwrap()
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(String::from).collect()
}

/// Vehicles and distance of a tour, from nothing but the file's text; panics on whatever the rules forbid.
fn check(text: &str, tour: &[String], objective: Objective) -> (u32, f64) {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .map(|line| line.split_whitespace().map_while(|word| word.parse().ok()).collect())
        .filter(|row: &Vec<f64>| row.len() == 7 || row.len() == 2)
        .collect();
    let (capacity, rows) = (rows[0][1], &rows[1..]);
    let (mut served, mut vehicles, mut total) = (vec![false; rows.len()], 0, 0.0);
    let (mut at, mut time, mut load) = (0, 0.0, 0.0);
    for word in tour {
        let to: usize = word.parse().unwrap();
        let mut leg = (rows[at][1] - rows[to][1]).hypot(rows[at][2] - rows[to][2]);
        if objective == Objective::Dimacs {
            leg = (leg * 10.0 + 1e-9).floor() / 10.0;
        }
        vehicles += u32::from(at == 0);
        total += leg;
        time += leg;
        assert!(time <= rows[to][5] + 1e-8, "{to} is reached at {time}");
        time = f64::max(time, rows[to][4]) + rows[to][6];
        load += rows[to][3];
        assert!(load <= capacity, "{load} on board at {to}");
        assert!(at != to, "no way at all");
        if to == 0 {
            (time, load) = (0.0, 0.0);
        } else {
            assert!(!std::mem::replace(&mut served[to], true), "{to} is served twice");
        }
        at = to;
    }
    assert!(
        at == 0 && served[1..].iter().all(|&served| served),
        "somebody is left, or the vehicle is not home"
    );
    (vehicles, total)
}

#[test]
fn every_instance_conforms() {
    for i in 0..BUILT_IN.len() {
        for objective in OBJECTIVES {
            conformance::problem(&built_in(i, objective, 0), 3, 7);
        }
    }
}

#[test]
fn best_known_routes_have_their_published_values() {
    for i in 0..BUILT_IN.len() {
        let Best { vehicles, distance, .. } = best_known(i);
        let problem = built_in(i, Objective::Vehicles, 0);
        let end = replay_whole(&problem, &split(ROUTES[i])).unwrap();
        assert_eq!(problem.facts(&end)[0], ("vehicles", f64::from(vehicles)));
        assert!((problem.facts(&end)[1].1 - distance).abs() < 1e-4, "{}", BUILT_IN[i].0);
        let (checked_vehicles, checked) = check(BUILT_IN[i].1, &split(ROUTES[i]), Objective::Vehicles);
        assert!(checked_vehicles == vehicles && (checked - end.distance).abs() < 1e-9);
        // Reaching the best known must show as reached, and one vehicle more must never make up for distance.
        let score = problem.score(&end);
        assert!(score >= problem.best_known.unwrap() && score < problem.best_known.unwrap() + 1e-4);
        assert_eq!(problem.vehicle_cost, 10_000.0);
    }
    // The clusters of C101 have the same best routes in truncated tenths.
    let problem = built_in(4, Objective::Dimacs, 0);
    let end = replay_whole(&problem, &split(ROUTES[4])).unwrap();
    assert_eq!((problem.score(&end), problem.best_known), (-827.3, Some(-827.3)));
    assert_eq!(problem.facts(&end), [("vehicles", 10.0), ("distance", 827.3)]);
}

#[test]
fn the_paper_s_tour_of_r102_is_worth_what_it_says_once_repaired() {
    let record = include_str!("../../records/vrptw-R102-1486.66.record");
    let (head, moves) = record.split_once("\n\n").unwrap();
    assert!(head.starts_with("sortie record 1\ninstance = vrptw/R102\n"));
    let score: f64 = head.lines().find_map(|line| line.strip_prefix("score = ")).unwrap().parse().unwrap();
    let problem = built_in(1, Objective::Vehicles, 0);
    let end = replay_whole(&problem, &split(moves)).unwrap();
    assert_eq!(problem.score(&end), score);
    assert_eq!(end.vehicles, 17);
    assert!((end.distance - 1486.664889).abs() < 1e-6);
    // As printed, with 71 twice in a row, it is no tour.
    assert!(replay_whole(&problem, &split(&moves.replace(" 81 ", " 71 "))).is_err());
}

#[test]
fn random_playouts_stand_up_to_the_slow_checker() {
    for (i, (_, text)) in BUILT_IN.iter().enumerate() {
        for objective in OBJECTIVES {
            let problem = built_in(i, objective, 0);
            let (mut rng, mut choices, mut scratch) = (Rng::new(i as u64, 0), Choices::new(), Vec::new());
            for selective in [false, true, true] {
                let (mut state, mut moves) = (problem.initial(), Vec::new());
                loop {
                    choices.clear();
                    let mv = if selective {
                        problem.choices(&state, &mut choices);
                        choices.moves.get(rng.below(choices.moves.len().max(1))).copied()
                    } else {
                        problem.random_move(&state, &mut rng, &mut scratch)
                    };
                    let Some(mv) = mv else { break };
                    moves.push(mv);
                    problem.play(&mut state, mv);
                }
                let (vehicles, distance) = check(text, &words(&problem, &moves), objective);
                assert_eq!(state.vehicles, vehicles);
                assert!((problem.driven(&state) - distance).abs() < 1e-6);
            }
        }
    }
}

/// The rule as `select.rs` states it, from the times alone.
fn slow_choices(problem: &Vrptw<2>, state: &State<2>) -> Vec<u16> {
    let mut all = Vec::new();
    problem.moves(state, &mut all);
    let n = problem.n;
    let mean = problem.distance.iter().sum::<f64>() / (n * (n - 1)) as f64;
    let after = |k: u16, j: u16| {
        let mut next = state.clone();
        problem.play(&mut next, k);
        next.time <= problem.leave_by[k as usize * n + j as usize]
    };
    let d = |a: u16, b: u16| problem.distance[a as usize * n + b as usize];
    let cut = |j: u16| {
        all.iter().any(|&k| {
            let detour = d(state.at, k) + d(k, j) - d(state.at, j);
            k != 0 && k != j && detour < 0.2 * mean && after(k, j) && !after(j, k)
        })
    };
    let customers: Vec<u16> = all.iter().copied().filter(|&j| j != 0).collect();
    let kept: Vec<u16> = customers.iter().copied().filter(|&j| !cut(j)).collect();
    if customers.is_empty() {
        all
    } else if kept.is_empty() {
        customers
    } else {
        kept
    }
}

#[test]
fn the_tables_of_the_choices_agree_with_the_rule() {
    for i in [0, 2, 3, 5] {
        let problem = built_in(i, OBJECTIVES[i % 2], 0);
        let (mut rng, mut state, mut choices) = (Rng::new(3, i as u64), problem.initial(), Choices::new());
        loop {
            choices.clear();
            problem.choices(&state, &mut choices);
            assert_eq!(choices.moves, slow_choices(&problem, &state), "in\n{}", problem.show(&state));
            let Some(&mv) = choices.moves.get(rng.below(choices.moves.len().max(1))) else { break };
            problem.play(&mut state, mv);
        }
    }
}

#[test]
fn customers_beyond_the_fleet_cost_a_vehicle_each() {
    let problem = built_in(0, Objective::Vehicles, 18);
    let end = replay_whole(&problem, &split(ROUTES[0])).unwrap();
    assert_eq!((end.vehicles, end.late), (19, 6), "the last vehicle serves six");
    assert!((problem.score(&end) + 251650.7992).abs() < 1e-3);
    assert_eq!(problem.facts(&end)[2], ("customers_beyond_fleet", 6.0));
    assert_eq!(problem.best_known, None, "nobody knows a tour with 18");
    let within = built_in(0, Objective::Vehicles, 19);
    let end = replay_whole(&within, &split(ROUTES[0])).unwrap();
    assert_eq!(within.score(&end), built_in(0, Objective::Vehicles, 0).score(&end));
}

/// Opens an instance as the command does; files are looked up in `files`.
fn open_with(instance: &str, files: &[(&str, &str)]) -> Result<Box<dyn AnyProblem>, String> {
    let read = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.to_string()).ok_or_else(|| "no such file".to_string())
    };
    match crate::open(instance, &read) {
        Ok(Opened::Problem(problem)) => Ok(problem),
        Ok(Opened::Game(_)) => panic!("not a game"),
        Err(error) => Err(error.to_string()),
    }
}

const HEAD: &str = "tiny\nVEHICLE\nNUMBER CAPACITY\n2 10\nCUSTOMER\nCUST NO. X Y DEMAND READY DUE SERVICE\n";

#[test]
fn names_options_and_files_open() {
    for name in
        ["vrptw/r101", "vrptw/Rc101:objective=dimacs", "vrptw/C101:fleet=9", "vrptw/R201:objective=vehicles"]
    {
        assert!(open_with(name, &[]).is_ok(), "{name}");
    }
    assert!(open_with("vrptw/R999", &[]).err().unwrap().contains("R101-R112"));
    assert!(open_with("vrptw/R101:objective=time", &[]).err().unwrap().contains("vehicles, dimacs"));
    assert!(open_with("vrptw/R101:vehicles=3", &[]).err().unwrap().contains("objective, fleet"));
    let text = format!("{HEAD}0 0 0 0 0 100 0\n5 3 4 5 0 50 10\n12 6 8 6 0 60 10\n");
    let problem = open_with("vrptw/my/tiny.txt", &[("my/tiny.txt", &text)]).unwrap();
    let end = problem.verify(&split("5 0 12 0")).unwrap();
    assert_eq!(end.facts, [("vehicles", 2.0), ("distance", 30.0)]);
    assert_eq!(end.score, -230.0);
    assert!(problem.verify(&split("5 12 0")).is_err(), "eleven do not fit into ten");
    assert!(problem.verify(&split("05 0 12 0")).is_err(), "a number has one spelling");
}

#[test]
fn infeasible_customers_are_refused_by_line() {
    for (row, expected) in [
        ("1 3 4 11 0 50 10", "customer 1 asks for 11: expected at most 10"),
        ("1 3 4 5 0 4 10", "customer 1 is due at 4: expected 5.00 or later"),
        ("1 3 4 5 90 95 10", "is home at 105.00 at the earliest: expected 100 or earlier"),
    ] {
        let text = format!("{HEAD}0 0 0 0 0 100 0\n{row}\n");
        for objective in ["vehicles", "dimacs"] {
            let error = open_with(&format!("vrptw/f:objective={objective}"), &[("f", &text)]).err().unwrap();
            assert!(error.starts_with("f:8: ") && error.contains(expected), "{error}");
        }
    }
    // To the minute is in time, though the differences that the tables hold are rounded.
    let text = format!("{HEAD}0 0 0 0 0.1 60.4 0\n1 30 0 5 0 50 0.3\n");
    let problem = open_with("vrptw/f", &[("f", &text)]).unwrap();
    assert!(problem.verify(&split("1 0")).is_ok());
}

#[test]
fn larger_instances_work_and_places_may_coincide() {
    for n in [127, 128, 200, 300] {
        let rows: String = (1..=n)
            .map(|i| format!("{i} {} {} {} {} {} 2\n", i * 37 % 61, i * 53 % 67, i % 9, i % 40, 150 + i % 50))
            .collect();
        let text = format!("{HEAD}0 30 30 0 0 300 0\n{rows}");
        let problem = open_with("vrptw/f", &[("f", &text)]).unwrap();
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits { playouts: Some(5), ..Limits::default() }, &stop, &|_| {});
        for search in
            [Search::Sample(Sample::default()), Search::Nrpa(Nrpa { bias: true, ..Nrpa::default() })]
        {
            let spec = BestOf { search, seed: 1, streams: 1, threads: 1 };
            let best = problem.solve(&spec, &control, Vec::new()).best.unwrap();
            let (vehicles, distance) = check(&text, &best.moves, Objective::Vehicles);
            let end = problem.verify(&best.moves).unwrap();
            assert_eq!(end.facts[0].1, f64::from(vehicles), "{n}");
            assert!((end.facts[1].1 - distance).abs() < 1e-6);
        }
    }
    let text = format!("{HEAD}0 1 1 0 0 9 0\n1 1 1 5 0 9 0\n2 1 1 5 0 9 0\n");
    let problem = open_with("vrptw/f", &[("f", &text)]).unwrap();
    assert_eq!(problem.verify(&split("2 1 0")).unwrap().score, -10.0);
}

#[test]
fn no_text_makes_it_panic() {
    let text = BUILT_IN[0].1;
    let mut rng = Rng::new(5, 0);
    let junk = [
        "",
        "-",
        "9e9",
        "1e400",
        "nan",
        "\u{e9}",
        "0",
        "-1",
        "0 0",
        "\n",
        "99999999999",
        ".",
        "\t",
        "1.5",
        "1",
        "2",
        "3",
        "7",
        " ",
    ];
    let mut opened = 0;
    for round in 0..1500 {
        let mut mutant = text.to_string();
        if round % 3 == 0 {
            mutant.truncate(rng.below(text.len()));
        }
        for _ in 0..=rng.below(3) {
            let (at, length) = (rng.below(mutant.len() + 1), rng.below(4));
            let (at, end) = (floor_char(&mutant, at), floor_char(&mutant, (at + length).min(mutant.len())));
            mutant.replace_range(at..end.max(at), junk[rng.below(junk.len())]);
        }
        match solomon::parse(&mutant).and_then(|file| open_file(&file, OBJECTIVES[round % 2], 0, None)) {
            Ok(Opened::Problem(problem)) => {
                opened += 1;
                let start = problem.position(&[]).unwrap();
                assert!(!start.legal.is_empty() && start.picture.is_some());
            }
            Ok(Opened::Game(_)) => panic!("not a game"),
            Err(fault) => assert!(
                fault.line >= 1
                    && fault.line <= mutant.lines().count() + 1
                    && fault.message.contains("expected")
                    && !fault.message.contains('\n'),
                "{fault:?}"
            ),
        }
    }
    assert!(opened > 50, "some mutants must be fine, else the test tests nothing");
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn bias_finds_better_tours_than_none_in_the_same_playouts() {
    for i in [0, 1] {
        let problem = built_in(i, Objective::Vehicles, 0);
        let best = |bias| {
            let stop = AtomicBool::new(false);
            let control = Control::new(Limits::default(), &stop, &|_| {});
            let search = Search::Nrpa(Nrpa { level: 2, iterations: 30, bias, ..Nrpa::default() });
            let spec = BestOf { search, seed: 4, streams: 3, threads: 1 };
            let outcome = problem.solve(&spec, &control, Vec::new());
            assert_eq!(outcome.playouts, 3 * 900);
            let scores = outcome.streams.iter().map(|end| end.best.as_ref().unwrap().score);
            scores.sum::<f64>() / 3.0
        };
        assert!(best(true) > best(false), "{}", BUILT_IN[i].0);
    }
}

/// The end of a playout in which every move is drawn at random from the choices.
fn chance<const W: usize>(problem: &Vrptw<W>, rng: &mut Rng) -> State<W> {
    let (mut state, mut choices) = (problem.initial(), Choices::new());
    loop {
        choices.clear();
        problem.choices(&state, &mut choices);
        let Some(&mv) = choices.moves.get(rng.below(choices.moves.len().max(1))) else { return state };
        problem.play(&mut state, mv);
    }
}

#[test]
fn improved_tours_stand_up_to_the_slow_checker() {
    for (i, (name, text)) in BUILT_IN.iter().enumerate() {
        let objective = OBJECTIVES[i % 2];
        let problem = built_in(i, objective, 0);
        let mut rng = Rng::new(i as u64, 1);
        let end = chance(&problem, &mut rng);
        let better = problem.improve(&end, &[], &mut rng).expect("chance is easily improved");
        let (vehicles, distance) = check(text, &words(&problem, &better), objective);
        let Best { vehicles: best_vehicles, distance: best, tenths } = best_known(i);
        match objective {
            Objective::Vehicles => assert!(vehicles <= best_vehicles + 1 && distance < 1.1 * best, "{name}"),
            Objective::Dimacs => assert!(distance < 1.1 * tenths, "{name}: {distance}"),
            Objective::Distance => assert!(distance < 1.1 * best, "{name}: {distance}"),
        }
    }
}

#[test]
fn the_own_search_finds_legal_tours_each_better_than_the_last_and_repeats() {
    for (i, (name, text)) in BUILT_IN.iter().enumerate() {
        let problem = built_in(i, OBJECTIVES[i % 2], 0);
        let run = |saved: Option<&[u8]>, slices: usize| {
            let (mut rng, mut all) = (Rng::new(3, i as u64), Vec::new());
            let mut own = problem.specialist(saved).unwrap();
            (0..slices).for_each(|_| own.work(&mut rng, &mut |tour| all.push(tour.to_vec())));
            (all, own.save())
        };
        let (all, saved) = run(None, 12);
        assert_eq!(
            (&all, &saved),
            (&run(None, 12).0, &run(None, 12).1),
            "{name}: the same numbers, the same tours"
        );
        let mut best = f64::NEG_INFINITY;
        for tour in &all {
            check(text, &words(&problem, tour), OBJECTIVES[i % 2]);
            let score = problem.score(&replay_whole(&problem, &words(&problem, tour)).unwrap());
            assert!(score > best, "{name}: {score} after {best}");
            best = score;
        }
        // What was saved is where another goes on from: it has nothing to tell that is worse.
        for tour in run(Some(&saved), 4).0 {
            assert!(
                problem.score(&replay_whole(&problem, &words(&problem, &tour)).unwrap()) > best,
                "{name}"
            );
        }
        // Bytes of whatever kind are no reason to panic.
        for end in [1, 7, saved.len() / 2] {
            run(Some(&saved[..end]), 1);
        }
        run(Some(&[255; 64]), 1);
    }
}

#[test]
fn ejections_make_room_for_who_waits_and_leave_the_plan_legal() {
    let problem = built_in(0, Objective::Vehicles, 0);
    let end = replay_whole(&problem, &split(ROUTES[0])).unwrap();
    let mut plan = local::Plan::new(&problem, &end.tour);
    let mut out = plan.remove_route(3);
    let waited: Vec<u32> = (0..problem.n as u32).map(|j| j % 7).collect();
    let mut waited_more = waited.clone();
    out.iter().for_each(|&j| waited_more[j as usize] = 100);
    let (mut rng, mut inserted) = (Rng::new(2, 0), 0);
    for _ in 0..out.len() {
        let j = out.remove(0);
        if eject::insert(&mut plan, j, &waited_more, &mut out, &mut rng) {
            inserted += 1;
        } else {
            out.push(j);
        }
    }
    assert!(inserted > 0, "a hundred is dearer than any two");
    let mut served: Vec<u16> = plan.routes.concat();
    served.extend(&out);
    served.sort_unstable();
    assert_eq!(served, (1..=100).collect::<Vec<u16>>(), "nobody is lost and nobody is served twice");
    assert!(local::drive(&problem, &plan).is_some(), "every route is in time");
}

#[test]
fn the_best_known_routes_are_not_improved_and_a_fleet_too_small_is_made_the_best_of() {
    let problem = built_in(0, Objective::Vehicles, 0);
    let end = replay_whole(&problem, &split(ROUTES[0])).unwrap();
    assert_eq!(problem.improve(&end, &[], &mut Rng::new(1, 0)), None);
    // Beyond the fleet every customer costs a vehicle: the shortest routes come last.
    let problem = built_in(0, Objective::Vehicles, 18);
    let end = replay_whole(&problem, &split(ROUTES[0])).unwrap();
    let better = problem.improve(&end, &[], &mut Rng::new(1, 0)).unwrap();
    let better = replay_whole(&problem, &words(&problem, &better)).unwrap();
    assert!(end.late == 6 && better.late <= 2, "{}", better.late);
}

#[test]
fn a_descent_ends_where_no_neighbour_is_better() {
    for i in [0, 3, 5] {
        let problem = built_in(i, Objective::Vehicles, 0);
        let end = chance(&problem, &mut Rng::new(9, i as u64));
        let (plan, again) = local::descents(&problem, &end.tour);
        assert!(plan.0 < end.vehicles as usize && plan.1 < end.distance);
        assert_eq!(plan, again, "a second descent finds nothing");
    }
}

#[test]
fn tiny_instances_can_be_improved_too() {
    let text = format!("{HEAD}0 0 0 0 0 100 0\n5 3 4 4 0 50 10\n12 6 8 6 0 60 10\n");
    for objective in OBJECTIVES {
        let file = solomon::parse(&text).unwrap();
        let problem = Vrptw::<2>::new(&file, objective, 0, None).unwrap();
        let end = replay_whole(&problem, &split("5 0 12 0")).unwrap();
        let better = problem.improve(&end, &[], &mut Rng::new(1, 0)).unwrap();
        assert_eq!(better.len(), 3, "one vehicle serves both");
        let best = replay_whole(&problem, &words(&problem, &better)).unwrap();
        assert_eq!((best.vehicles, problem.driven(&best)), (1, 20.0));
        assert_eq!(problem.improve(&best, &[], &mut Rng::new(1, 0)), None);
    }
    let alone = format!("{HEAD}0 0 0 0 0 100 0\n5 3 4 4 0 50 10\n");
    let problem = Vrptw::<2>::new(&solomon::parse(&alone).unwrap(), Objective::Vehicles, 0, None).unwrap();
    let end = replay_whole(&problem, &split("5 0")).unwrap();
    assert_eq!(problem.improve(&end, &[], &mut Rng::new(1, 0)), None);
}

/// One-way streets: the way there and the way back differ, and what the searches find is worth what a slow sum says, and
/// is the best of all orders.
#[test]
fn a_matrix_may_differ_from_its_mirror_image() {
    let n = 7;
    let mut rng = Rng::new(5, 0);
    let matrix: Vec<f64> =
        (0..n * n).map(|at| if at % n == at / n { 0.0 } else { 10.0 + rng.below(90) as f64 }).collect();
    let rows: Vec<String> = matrix.chunks(n).map(|row| format!("{row:?}")).collect();
    let customers = vec!["{\"demand\": 1}"; n - 1].join(",");
    let text = format!(
        "{{\"depot\": {{}}, \"capacity\": 9, \"customers\": [{customers}], \"matrix\": [{}]}}",
        rows.join(",")
    );
    let file = tables::parse(&text).unwrap();
    let problem = Vrptw::<1>::new(&file, Objective::Distance, 0, None).unwrap();
    let length = |tour: &[usize]| -> f64 { tour.windows(2).map(|two| matrix[two[0] * n + two[1]]).sum() };
    let mut orders = vec![vec![0]];
    for _ in 1..n {
        let longer = |tour: &Vec<usize>| {
            let tour = tour.clone();
            (1..n).filter(|j| !tour.contains(j)).map(|j| [&tour[..], &[j]].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let best = orders.iter().map(|tour| length(&[&tour[..], &[0]].concat())).fold(f64::INFINITY, f64::min);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let limits = sortie_core::Limits { playouts: Some(2000), ..Default::default() };
    for search in
        [Search::Own(Own {}), Search::Nrpa(sortie_core::Nrpa { improve: true, ..Default::default() })]
    {
        let control = sortie_core::Control::new(limits.clone(), &stop, &|_| {});
        let spec = sortie_core::BestOf { search, seed: 1, streams: 1, threads: 1 };
        let found = sortie_core::AnyProblem::solve(&problem, &spec, &control, Vec::new()).best.unwrap();
        let tour: Vec<usize> = found.moves.iter().map(|word| word.parse().unwrap()).collect();
        assert!((length(&[&[0], &tour[..]].concat()) + found.score).abs() < 1e-9, "{found:?}");
        assert!(-found.score <= best + 1e-9, "{} against {best}", -found.score);
    }
}

#[test]
fn our_records_have_the_best_known_values() {
    let records = [
        include_str!("../../records/vrptw-R101-1650.80.record"),
        include_str!("../../records/vrptw-R102-1486.12.record"),
        include_str!("../../records/vrptw-R103-1292.68.record"),
    ];
    for (i, record) in records.into_iter().enumerate() {
        let (head, moves) = record.split_once("\n\n").unwrap();
        assert!(head.starts_with(&format!("sortie record 1\ninstance = vrptw/{}\n", BUILT_IN[i].0)));
        let score: f64 =
            head.lines().find_map(|line| line.strip_prefix("score = ")).unwrap().parse().unwrap();
        let problem = built_in(i, Objective::Vehicles, 0);
        let end = replay_whole(&problem, &split(moves)).unwrap();
        assert_eq!(problem.score(&end), score);
        assert!(score >= problem.best_known.unwrap());
        let (vehicles, distance) = check(BUILT_IN[i].1, &split(moves), Objective::Vehicles);
        assert!(vehicles == best_known(i).vehicles && distance <= best_known(i).distance);
    }
}

#[test]
fn text_and_map_show_the_routes() {
    let problem = built_in(0, Objective::Vehicles, 0);
    let end = replay_whole(&problem, &split(ROUTES[0])).unwrap();
    let text = problem.show(&end);
    assert!(text.starts_with("R101: 19 vehicles, distance 1650.80\n  1  load 57/200  distance"), "{text}");
    assert!(text.contains("  0 52 6 0\n") && text.lines().count() == 20);
    let picture = problem.draw(&end).unwrap();
    let lines = picture.shapes.iter().filter(|s| matches!(s, sortie_core::picture::Shape::Line { .. }));
    assert_eq!(lines.count(), 19);
    let mut open = problem.initial();
    problem.play(&mut open, 52);
    assert!(
        problem.show(&open).contains("1 vehicle, distance")
            && problem.show(&open).contains("99 customers to")
    );
    assert!(problem.show(&open).ends_with("0 52"));
}
