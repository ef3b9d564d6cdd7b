//! `sortie-fuzz [--hours N | --inputs N] [--seed S] [TARGET...]`: tries inputs, target after target in turn, a minute each;
//! what goes wrong is written into `fuzz/regressions`. `sortie-fuzz TARGET FILE` tries one.

use sortie_fuzz::{TARGETS, Target, attempt, fresh_seed, keep, run};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A turn of a target.
const TURN: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    match command(std::env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("sortie-fuzz: {why}");
            ExitCode::from(2)
        }
    }
}

fn named(name: &str) -> Result<&'static Target, String> {
    let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .ok_or_else(|| format!("{name}: expected one of {}", names()))
}

/// True: nothing went wrong.
fn command(arguments: Vec<String>) -> Result<bool, String> {
    if let [target, file] = arguments.as_slice()
        && std::path::Path::new(file).is_file()
    {
        let input = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let outcome = attempt(named(target)?, &input, true);
        println!("{target} {file}: {outcome:?}");
        return Ok(outcome.is_ok());
    }
    let (mut hours, mut inputs, mut seed, mut targets) = (None, None, None, Vec::new());
    let mut words = arguments.into_iter();
    while let Some(word) = words.next() {
        let mut number =
            || words.next().and_then(|n| n.parse::<f64>().ok()).ok_or(format!("{word}: expected a number"));
        match word.as_str() {
            "--hours" => hours = Some(number()?),
            "--inputs" => inputs = Some(number()? as u64),
            "--seed" => seed = Some(number()? as u64),
            name => targets.push(named(name)?),
        }
    }
    if targets.is_empty() {
        targets = TARGETS.iter().collect();
    }
    let first = seed.unwrap_or_else(fresh_seed);
    println!("seed {first}");
    // What a panic says is told once, with the input.
    std::panic::set_hook(Box::new(|_| {}));
    let end = hours.map(|hours| Instant::now() + Duration::from_secs_f64(hours * 3600.0));
    let (mut all, mut sound, mut turn) = (0, true, 0);
    loop {
        for target in &targets {
            let begun = Instant::now();
            let over = |now: Instant| now - begun >= TURN || end.is_some_and(|end| now >= end);
            let mut until = |tried: u64| match inputs {
                Some(inputs) => tried >= inputs,
                None => tried.is_multiple_of(64) && over(Instant::now()),
            };
            let tried = run(target, first + turn, true, &mut until);
            all += tried.inputs;
            println!(
                "{:<12} {:>9} inputs, {:>8.0}/s, corpus {}, {} places reached, {} wrong",
                target.name,
                tried.inputs,
                tried.inputs as f64 / begun.elapsed().as_secs_f64().max(1e-9),
                tried.corpus,
                tried.reached,
                tried.wrong.len(),
            );
            for (wrong, input) in tried.wrong {
                sound = false;
                let path = keep(target.name, &input).map_err(|error| error.to_string())?;
                println!("{}: {wrong:?}\n  {}", target.name, path.display());
            }
        }
        turn += 1;
        if inputs.is_some() || end.is_none_or(|end| Instant::now() >= end) {
            println!("{all} inputs in all");
            return Ok(sound);
        }
    }
}
