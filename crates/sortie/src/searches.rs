//! The searches by name. Their parameters and defaults are those of the types in `sortie_core`: what is given on the
//! command line is turned into such a type by serde, which also refuses what that search does not have.

use crate::args::SearchArgs;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use sortie_core::Search;
use sortie_core::search::PerLevel;
pub use sortie_runs::spec::describe;

/// Every search with one line about it, in the order of `sortie list`.
pub const SEARCHES: &[(&str, &str)] = &[
    ("auto", "several of these take turns, most of the time to what pays on this instance"),
    ("nrpa", "nested rollout policy adaptation: learns a playout policy at every level (Rosin 2011)"),
    ("hd-nrpa", "NRPA that keeps several solutions a level, no two alike (Cazenave and Edelkamp 2016)"),
    (
        "beam-nrpa",
        "NRPA that keeps several solutions a level, each with its policy (Cazenave and Teytaud 2012)",
    ),
    ("nmcs", "nested Monte-Carlo search: each level tries every move with the level below (Cazenave 2009)"),
    ("beam", "beam search: the most promising positions of each length (Cazenave 2012, without nesting)"),
    ("own", "the domain's own search, where it has one (vrptw: ruin and recreate, ejections, crossover)"),
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

/// What is taken when no parameter of a search is given, and what `--search auto` stands for: what the problem says suits
/// it. Parameters without a name are those of NRPA as published.
pub fn settle(args: &SearchArgs, suits: &Search) -> SearchArgs {
    let unsaid = args.name.as_deref().is_none_or(|name| name == AUTO) && given(args).is_empty();
    match (unsaid, suits) {
        (false, _) => args.clone(),
        (true, Search::Nrpa(nrpa)) => SearchArgs {
            name: Some("nrpa".into()),
            level: Some(nrpa.level),
            iterations: Some(PerLevel::Same(nrpa.iterations)),
            repetitions: Some(nrpa.repetitions),
            bias: Some(nrpa.bias),
            improve: Some(nrpa.improve),
            ..args.clone()
        },
        (true, suits) => SearchArgs { name: Some(suits.name().into()), ..args.clone() },
    }
}

/// The search that chooses.
const AUTO: &str = "auto";
/// The search whose parameters are meant where none is named.
const UNNAMED: &str = "nrpa";

/// The parameters that were given, the name aside.
fn given(args: &SearchArgs) -> Map<String, Value> {
    let Ok(Value::Object(mut given)) = serde_json::to_value(args) else {
        unreachable!("arguments are a map")
    };
    given.shift_remove("name");
    given
}

/// The search that the arguments ask for.
pub fn build(args: &SearchArgs) -> Result<Search> {
    let names: Vec<&str> = SEARCHES.iter().map(|(name, _)| *name).collect();
    let name = args.name.as_deref().unwrap_or(UNNAMED);
    if !names.contains(&name) {
        bail!("there is no search '{name}': expected {}", names.join(", "));
    }
    let known = parameters(name);
    let mut given = given(args);
    for key in given.keys() {
        if !known.contains_key(key) {
            let known: Vec<String> = known.keys().map(|key| option(key)).collect();
            let has = if known.is_empty() { "no parameters".into() } else { known.join(", ") };
            bail!("the search {name} has no {}: it has {has}", option(key));
        }
    }
    given.insert("name".into(), name.into());
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
    if let (Some(PerLevel::Each(_)), "nrpa") = (&args.iterations, name) {
        bail!("nrpa has one number of --iterations for all levels; hd-nrpa and beam-nrpa take one a level");
    }
    let search: Search = serde_json::from_value(Value::Object(given)).context("search")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn args(name: &str) -> SearchArgs {
        SearchArgs {
            name: Some(name.into()),
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
        let sample = SearchArgs { name: Some("sample".into()), ..form("shared:1", None) };
        assert!(error(&sample, None).contains("no --parallel"));
    }

    #[test]
    fn what_is_not_said_is_what_suits_the_problem() {
        let line = |args: &SearchArgs, suits: &Search| describe(&build(&settle(args, suits)).unwrap());
        let unnamed = SearchArgs { name: None, ..args("") };
        let turns = Search::Auto(sortie_core::search::Auto::default());
        assert_eq!((line(&args("auto"), &turns), line(&unnamed, &turns)), ("auto".into(), "auto".into()));
        let own = Search::Own(sortie_core::search::Own::default());
        assert_eq!((line(&args("auto"), &own), line(&unnamed, &own)), ("own".into(), "own".into()));
        let nrpa = Search::Nrpa(sortie_core::Nrpa { level: 5, repetitions: 8, ..Default::default() });
        assert_eq!(line(&unnamed, &nrpa), "nrpa level 5, iterations 100, alpha 1, selective, repetitions 8");
        let plain = "nrpa level 3, iterations 100, alpha 1, selective";
        assert_eq!(line(&args("nrpa"), &turns), plain);
        assert_eq!(line(&SearchArgs { level: Some(3), ..unnamed }, &turns), plain);
        assert!(build(&settle(&SearchArgs { level: Some(3), ..args("auto") }, &turns)).is_err());
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
        assert!(error(&args("nrpq")).contains("auto, nrpa, hd-nrpa, beam-nrpa, nmcs, beam, own, sample"));
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
