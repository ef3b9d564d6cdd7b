//! The searches by name. Their parameters and defaults are those of the types in `sortie_core`: what is given on the
//! command line is turned into such a type by serde, which also refuses what that search does not have.

use crate::args::SearchArgs;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use sortie_core::{PerLevel, Search};

/// Every search with one line about it, in the order of `sortie list`.
pub const SEARCHES: &[(&str, &str)] = &[
    ("nrpa", "nested rollout policy adaptation: learns a playout policy at every level (Rosin 2011)"),
    ("hd-nrpa", "NRPA that keeps several solutions a level, no two alike (Cazenave and Edelkamp 2016)"),
    (
        "beam-nrpa",
        "NRPA that keeps several solutions a level, each with its policy (Cazenave and Teytaud 2012)",
    ),
    ("nmcs", "nested Monte-Carlo search: each level tries every move with the level below (Cazenave 2009)"),
    ("beam", "beam search: the most promising positions of each length (Cazenave 2012, without nesting)"),
    ("sample", "random playouts, the best of them kept"),
];

/// What a parameter means.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("level", "levels of nesting, 1 to 8"),
    ("iterations", "calls of the level below, per level"),
    ("beam", "solutions a level keeps, from level 1 up"),
    ("learn_after", "share of a level's iterations that pass before it learns"),
    ("alpha", "the step of an adaptation"),
    ("selective", "leave out moves the domain thinks poor"),
    ("bias", "add the domain's bias to the weights"),
    ("temperature", "divide the weights by this where probabilities are computed"),
    ("stabilise", "playouts of a call of level 0, or of a position of a beam, the best of which counts"),
    ("width", "positions of each length that a beam keeps"),
    ("noise", "the most that chance adds to what a position promises"),
    ("early_stop", "end after the first step of the top level"),
    ("repetitions", "end a level when its best sequence has come again so many times; 0: never"),
    ("improve", "hand the results of level 1 to the domain's local search, where it has one"),
    ("parallel", "the level whose calls are made in parallel: none, shared:L or local:L; or islands:E"),
    ("workers", "parallel calls at a time"),
];

/// Parameters that a line about a search leaves out while they have their defaults.
const UNSAID: [&str; 6] = ["temperature", "stabilise", "noise", "repetitions", "parallel", "workers"];

/// What `--search auto` stands for: NRPA as it did best on SameGame and routes within a time (docs/results.md), which is a
/// guess for other domains. Parameters that are given stay as they are.
///
/// More levels than any time is enough for, so that the highest call under way grows with the time there is; a call that
/// finds the same best again and again is given up for a new one. Routes are improved so well by local search that a new
/// beginning is worth more than a third level.
pub fn settle(args: &SearchArgs, domain: &str) -> SearchArgs {
    if args.name != AUTO {
        return args.clone();
    }
    let (level, repetitions, bias) = if domain == "vrptw" { (2, 0, true) } else { (5, 8, false) };
    SearchArgs {
        name: "nrpa".into(),
        level: args.level.or(Some(level)),
        repetitions: args.repetitions.or(Some(repetitions)),
        bias: args.bias.or(Some(bias)),
        improve: args.improve.or(Some(true)),
        ..args.clone()
    }
}

/// The search that is chosen by the domain.
const AUTO: &str = "auto";

/// The search that the arguments ask for.
pub fn build(args: &SearchArgs) -> Result<Search> {
    let names: Vec<&str> = SEARCHES.iter().map(|(name, _)| *name).collect();
    if !names.contains(&args.name.as_str()) {
        bail!("there is no search '{}': expected {}; solve also has auto", args.name, names.join(", "));
    }
    let known = parameters(&args.name);
    let given = serde_json::to_value(args).expect("arguments are plain data");
    for key in given.as_object().expect("a struct").keys() {
        if key != "name" && !known.contains_key(key) {
            let known: Vec<String> = known.keys().map(|key| option(key)).collect();
            bail!("the search {} has no {}: it has {}", args.name, option(key), known.join(", "));
        }
    }
    let numbers = [
        ("alpha", args.alpha),
        ("temperature", args.temperature),
        ("learn_after", args.learn_after),
        ("noise", args.noise),
    ];
    for (key, value) in numbers {
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            bail!("{key} {value}: expected a number"); // JSON has no word for it
        }
    }
    if let (Some(PerLevel::Each(_)), "nrpa") = (&args.iterations, args.name.as_str()) {
        bail!("nrpa has one number of --iterations for all levels; hd-nrpa and beam-nrpa take one a level");
    }
    let search: Search = serde_json::from_value(given).context("search")?;
    search.check()?;
    Ok(search)
}

/// A parameter as an option of the command line.
pub fn option(parameter: &str) -> String {
    format!("--{}", parameter.replace('_', "-"))
}

/// The parameters of a search with their defaults.
pub fn parameters(name: &str) -> Map<String, Value> {
    let search: Search =
        serde_json::from_value(json!({ "name": name })).expect("every parameter has a default");
    parameters_of(&search)
}

/// The parameters of a search with their values.
pub fn parameters_of(search: &Search) -> Map<String, Value> {
    let Ok(Value::Object(mut map)) = serde_json::to_value(search) else { unreachable!("a search is a map") };
    map.shift_remove("name");
    map
}

/// One line: `nrpa level 3, iterations 100, alpha 1`; switches that are off are left out.
pub fn describe(search: &Search) -> String {
    let defaults = parameters(search.name());
    let said = parameters_of(search)
        .into_iter()
        .filter(|(key, value)| !UNSAID.contains(&key.as_str()) || defaults.get(key) != Some(value))
        .map(|(key, value)| (key.replace('_', " "), value));
    let shown = said.filter_map(|(key, value)| match value {
        Value::String(text) => Some(format!("{key} {text}")),
        Value::Bool(false) => None,
        Value::Bool(true) => Some(key),
        Value::Number(n) => Some(format!("{key} {}", crate::output::score(n.as_f64()?))),
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(Value::to_string).collect();
            Some(format!("{key} {}", words.join(",")))
        }
        other => Some(format!("{key} {other}")),
    });
    let shown: Vec<String> = shown.collect();
    format!("{} {}", search.name(), shown.join(", ")).trim_end().to_string()
}

/// How a run is divided: the arguments of its search, and how many independent streams of it there are.
/// `--parallel root` is nothing but streams; the other forms have one stream, whose calls the threads share.
pub fn divide(args: &SearchArgs, best_of: Option<u32>, threads: u32) -> Result<(SearchArgs, u32)> {
    let mut args = args.clone();
    let form = args.parallel.as_deref();
    if args.workers.is_some() && matches!(form, None | Some("none")) {
        bail!("--workers needs --parallel shared:L, local:L, islands:E or root");
    }
    match form {
        Some("root") => {
            let workers = args.workers.take();
            if let (Some(best_of), Some(workers)) = (best_of, workers)
                && best_of != workers
            {
                bail!("--parallel root is --best-of {workers}, and --best-of {best_of} was given too");
            }
            args.parallel = None;
            Ok((args, best_of.or(workers).unwrap_or(threads)))
        }
        None | Some("none") => Ok((args, best_of.unwrap_or(threads))),
        Some(_) => {
            args.workers.get_or_insert(threads);
            Ok((args, best_of.unwrap_or(1)))
        }
    }
}

/// The playouts of one whole search, where the parameters tell.
pub fn playouts(search: &Search) -> Option<f64> {
    match search {
        Search::Nrpa(nrpa) if nrpa.repetitions == 0 => {
            Some((nrpa.iterations as f64).powi(nrpa.level as i32) * nrpa.stabilise as f64)
        }
        Search::HdNrpa(hd) => Some((1..=hd.level as usize).map(|l| hd.iterations.at(l) as f64).product()),
        Search::BeamNrpa(beam) => Some(beam.playouts()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(name: &str) -> SearchArgs {
        SearchArgs {
            name: name.into(),
            level: None,
            iterations: None,
            beam: None,
            learn_after: None,
            alpha: None,
            bias: None,
            selective: None,
            temperature: None,
            stabilise: None,
            early_stop: None,
            width: None,
            noise: None,
            repetitions: None,
            improve: None,
            parallel: None,
            workers: None,
        }
    }

    #[test]
    fn a_parallel_form_is_streams_or_workers() {
        let form = |form: &str, workers| SearchArgs { parallel: Some(form.into()), workers, ..args("nrpa") };
        let divided = |args: &SearchArgs, best_of| {
            let (args, streams) = divide(args, best_of, 2).unwrap();
            (describe(&build(&args).unwrap()), streams)
        };
        let plain = "nrpa level 3, iterations 100, alpha 1, selective".to_string();
        assert_eq!(divided(&args("nrpa"), None), (plain.clone(), 2));
        assert_eq!(divided(&form("root", Some(6)), None), (plain.clone(), 6));
        assert_eq!(divided(&form("root", None), Some(3)), (plain.clone(), 3));
        let shared = |workers| format!("{plain}, parallel shared:1, workers {workers}");
        assert_eq!(divided(&form("shared:1", None), None), (shared(2), 1));
        assert_eq!(divided(&form("shared:1", Some(16)), Some(4)), (shared(16), 4));
        let error = |args: &SearchArgs, best_of| {
            divide(args, best_of, 2).and_then(|(args, _)| build(&args)).unwrap_err().to_string()
        };
        assert!(error(&SearchArgs { workers: Some(2), ..args("nrpa") }, None).contains("--parallel"));
        assert!(error(&form("root", Some(2)), Some(3)).contains("--best-of"));
        assert!(error(&form("shared:4", None), None).contains("parallel shared:4"));
        assert!(
            format!("{:#}", divide(&form("node", None), None, 2).and_then(|(a, _)| build(&a)).unwrap_err())
                .contains("shared:L")
        );
        let sample = SearchArgs { name: "sample".into(), ..form("shared:1", None) };
        assert!(error(&sample, None).contains("no --parallel"));
    }

    #[test]
    fn auto_is_what_did_best_and_yields_to_what_is_given() {
        let line = |args: &SearchArgs, domain| describe(&build(&settle(args, domain)).unwrap());
        let auto = args("auto");
        let samegame = "nrpa level 5, iterations 100, alpha 1, selective, repetitions 8, improve";
        assert_eq!(line(&auto, "samegame"), samegame);
        assert_eq!(line(&auto, "vrptw"), "nrpa level 2, iterations 100, alpha 1, selective, bias, improve");
        let given = SearchArgs { level: Some(3), improve: Some(false), ..auto };
        assert_eq!(
            line(&given, "samegame"),
            "nrpa level 3, iterations 100, alpha 1, selective, repetitions 8"
        );
        assert_eq!(line(&args("nrpa"), "samegame"), "nrpa level 3, iterations 100, alpha 1, selective");
        assert!(build(&args("auto")).is_err(), "it has to be settled first");
    }

    #[test]
    fn every_listed_search_builds_with_its_defaults_and_its_parameters_are_explained() {
        for (name, _) in SEARCHES {
            let search = build(&args(name)).unwrap();
            assert_eq!(search.name(), *name);
            for key in parameters_of(&search).keys() {
                assert!(PARAMETERS.iter().any(|(known, _)| known == key), "{key} of {name}");
            }
        }
    }

    #[test]
    fn what_a_search_does_not_have_is_refused() {
        let error = |args: &SearchArgs| build(args).unwrap_err().to_string();
        assert!(error(&args("nrpq")).contains("nrpa, hd-nrpa, beam-nrpa, nmcs, beam, sample"));
        assert!(error(&SearchArgs { level: Some(2), ..args("sample") }).contains("no --level"));
        assert!(error(&SearchArgs { alpha: Some(2.0), ..args("nmcs") }).contains("no --alpha"));
        assert!(error(&SearchArgs { level: Some(0), ..args("nrpa") }).contains("1 to 8"));
        let beam = |text: &str, name| SearchArgs { beam: Some(text.parse().unwrap()), ..args(name) };
        assert!(error(&beam("10", "nrpa")).contains("no --beam"));
        assert!(error(&beam("1,2,3,4", "hd-nrpa")).contains("each level"));
        assert!(error(&beam("1,1001", "beam-nrpa")).contains("1 to 1000"));
        assert!(error(&SearchArgs { learn_after: Some(1.0), ..args("hd-nrpa") }).contains("below 1"));
        assert!(error(&SearchArgs { learn_after: Some(0.5), ..args("nrpa") }).contains("no --learn-after"));
        let iterations = Some("100,50".parse().unwrap());
        assert!(error(&SearchArgs { iterations, ..args("nrpa") }).contains("one number"));
        assert!(error(&SearchArgs { alpha: Some(f64::NAN), ..args("nrpa") }).contains("alpha"));
    }

    #[test]
    fn a_search_in_one_line() {
        assert_eq!(
            describe(&build(&args("nrpa")).unwrap()),
            "nrpa level 3, iterations 100, alpha 1, selective"
        );
        assert_eq!(describe(&build(&args("sample")).unwrap()), "sample");
        assert_eq!(
            describe(&build(&args("hd-nrpa")).unwrap()),
            "hd-nrpa level 3, iterations 100, beam 1,10, learn after 0.1, alpha 1, selective"
        );
    }
}
