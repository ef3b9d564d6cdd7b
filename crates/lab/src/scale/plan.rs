//! Who is looked at and who plays whom: players as texts, made of what was typed.

use super::args::Scale;
use crate::costs;
use crate::players::{EngineName, Player};
use anyhow::{Context, Result, bail};
use sortie_core::{AnyGame, Budget};
use sortie_rank::Form;
use std::fmt::Write as _;

/// Somebody with a budget. The name says everything that matters, so games are known by the names of who played.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// The text, the budget, and a number for the costs that are modelled.
    pub name: String,
    /// What the name begins with.
    pub text: String,
    /// The same, read.
    pub player: Player,
    /// What a move may cost.
    pub budget: Budget,
}

/// A configuration of a form.
#[derive(Debug, Clone)]
pub struct Config {
    /// The form as it was typed.
    pub form: String,
    /// Its nodes.
    pub nodes: u32,
    /// Simulations in flight for each thread, where that is studied.
    pub par: Option<u32>,
    /// Who it is.
    pub who: Contender,
}

impl Contender {
    /// A player by its text; it has to make sense.
    pub fn new(text: &str, budget: Budget, game: &dyn AnyGame) -> Result<Contender> {
        let player = Player::parse(text)?;
        // What cannot be opened is a slip of the user's, and found before anything is written.
        drop(player.open(game, 0)?);
        let mut name = format!("{text} @ {}", limit(&budget));
        if let Player::Gang(spread) = &player
            && spread.engine == EngineName::Virtual
        {
            let _ = write!(name, " #{:08x}", costs::fingerprint(&spread.costs(game))?);
        }
        Ok(Contender { name, text: text.to_string(), player, budget })
    }
}

/// A budget as text.
pub fn limit(budget: &Budget) -> String {
    match (budget.playouts, budget.seconds) {
        (Some(playouts), _) => format!("{playouts}playouts"),
        (None, Some(seconds)) => format!("{}ms", crate::output::score(seconds * 1e3)),
        (None, None) => "no limit".into(),
    }
}

/// A player with so much memory, unless it says itself.
pub fn with_memory(player: &str, memory: u32) -> String {
    match player {
        _ if player.contains("memory=") => player.to_string(),
        _ if player.contains(':') => format!("{player},memory={memory}"),
        _ => format!("{player}:memory={memory}"),
    }
}

/// So much time for everybody.
pub fn time(args: &Scale) -> Budget {
    Budget { seconds: Some(args.time), ..Budget::default() }
}

/// The forms that were asked for, each with its own options.
pub fn forms(args: &Scale) -> Result<Vec<String>> {
    let Some(list) = &args.forms else {
        return Ok(Form::ALL.iter().map(|(name, _)| name.to_string()).collect());
    };
    let (mut forms, mut depth, mut begun) = (Vec::new(), 0u32, 0);
    for (at, c) in list.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                forms.push(&list[begun..at]);
                begun = at + 1;
            }
            _ => {}
        }
    }
    forms.push(&list[begun..]);
    let forms: Vec<String> =
        forms.into_iter().map(|form| form.trim().to_string()).filter(|form| !form.is_empty()).collect();
    for form in &forms {
        let name = form.split(['[', ':']).next().unwrap_or_default();
        if Form::named(name).is_none() {
            let all: Vec<&str> = Form::ALL.iter().map(|(name, _)| *name).collect();
            bail!("--forms: there is no form '{name}': expected {}", all.join(", "));
        }
    }
    if forms.is_empty() {
        bail!("--forms: none in it: expected names such as tds");
    }
    Ok(forms)
}

/// A gang as text: a form with options of its own, spread over so many nodes. What the form says itself wins.
fn gang(args: &Scale, form: &str, options: &str) -> String {
    let (name, own) = match form.split_once('[') {
        Some((name, rest)) => (name, rest.split(']').next().unwrap_or_default()),
        None => (form, ""),
    };
    let (name, search) = match form.rsplit_once(']').map_or(name, |(_, rest)| rest).split_once(':') {
        Some((before, search)) => (if own.is_empty() { before } else { name }, search.to_string()),
        None => (name, with_memory(&args.player, args.memory)),
    };
    let engine = if args.modelled { "virtual" } else { "threads" };
    let costs = args.costs.as_ref().map(|path| format!("costs={}", path.display()));
    let costs = costs.filter(|_| args.modelled).unwrap_or_default();
    // What is given for all forms is for those that have such an option.
    let has = |pair: &&str| {
        let key = pair.split('=').next().unwrap_or_default().trim();
        let ours = Form::named(name).is_none_or(|form| form.takes(key));
        ours || !Form::ALL.iter().filter_map(|(name, _)| Form::named(name)).any(|form| form.takes(key))
    };
    let shared = args.options.split(',').filter(has).collect::<Vec<_>>().join(",");
    let all = [options, &format!("engine={engine}"), &shared, &costs, own];
    let all: Vec<&str> = all.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{name}[{}]:{search}", all.join(","))
}

/// A form on so many nodes.
pub fn config(
    args: &Scale,
    game: &dyn AnyGame,
    form: &str,
    nodes: u32,
    par: Option<u32>,
    budget: Budget,
) -> Result<Config> {
    let mut options = format!("nodes={nodes},threads={}", args.threads);
    if let Some(par) = par {
        let _ = write!(options, ",par={par}");
    }
    let who = Contender::new(&gang(args, form, &options), budget, game)
        .with_context(|| format!("{form} on {nodes} nodes"))?;
    Ok(Config { form: form.to_string(), nodes, par, who })
}

/// The gang of one node that others are measured by.
pub fn one_node(args: &Scale) -> String {
    let form = if Form::named("root-tree").is_some() { "root-tree" } else { "tds" };
    gang(args, form, &format!("nodes=1,threads={}", args.threads))
}

/// The reference as text: a gang runs on the same engine as the others, anybody else as it is.
pub fn reference(args: &Scale) -> String {
    let Some(text) = &args.reference else { return one_node(args) };
    let name = text.split(['[', ':']).next().unwrap_or_default();
    match Form::named(name) {
        Some(_) => gang(args, text, ""),
        None => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn args(line: &str) -> Scale {
        let words = ["sortie", "scale"].into_iter().chain(line.split(' '));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Scale(args) => args,
            _ => unreachable!("it is what was typed"),
        }
    }

    #[test]
    fn forms_keep_their_own_options() {
        let args = args("--virtual --forms tds[par=1,latency=5us],tds --options latency=1us --threads 4");
        let forms = forms(&args).unwrap();
        assert_eq!(forms, ["tds[par=1,latency=5us]", "tds"]);
        assert_eq!(
            gang(&args, &forms[0], "nodes=2,threads=4"),
            "tds[nodes=2,threads=4,engine=virtual,latency=1us,par=1,latency=5us]:default:memory=16"
        );
        assert_eq!(
            gang(&args, "tds", "nodes=2"),
            "tds[nodes=2,engine=virtual,latency=1us]:default:memory=16"
        );
        assert_eq!(
            gang(&args, "tds:plain:c=2", "nodes=2"),
            "tds[nodes=2,engine=virtual,latency=1us]:plain:c=2"
        );
        let wide = self::args("--virtual --options par=2,pieces=9");
        assert!(gang(&wide, "canopy", "nodes=2").contains("par=2,pieces=9"));
        assert!(gang(&wide, "tds", "nodes=2").contains("par=2]"), "tds has no pieces");
        assert_eq!(
            gang(&args, "tds[par=3]:plain", "nodes=2"),
            "tds[nodes=2,engine=virtual,latency=1us,par=3]:plain"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(forms(&args("--virtual --forms tsd")).unwrap_err().to_string().contains("expected tds"));
        assert!(forms(&args("--virtual --forms ,")).is_err());
        assert!(Player::parse(&gang(&args("--virtual"), "tds[", "nodes=1")).is_ok());
        assert_eq!(reference(&args("--real --reference plain")), "plain");
        assert_eq!(with_memory("default:c=1", 4), "default:c=1,memory=4");
        assert_eq!(with_memory("default:memory=1", 4), "default:memory=1");
    }
}
