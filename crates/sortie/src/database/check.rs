//! Whether a database is true: entries are proved again from where they come from, by their proof file or by the game's
//! own means, and compared. No entry is believed because another one agrees with it.

use crate::source::{Instance, read_text};
use anyhow::{Result, anyhow};
use sortie_core::exact::{Fact, Proof};
use sortie_core::{AnyGame, Precondition, Rng};
use sortie_store::{Entry, GameName, Source, Store, show};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// No proof is larger than this.
const PROOF_BYTES_MAX: u64 = 4 << 30;

/// What came of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// Entries that were proved again.
    pub true_: u64,
    /// Entries of an exact search that left nothing to prove them again from.
    pub open: u64,
    /// What is wrong, with the evidence.
    pub wrong: Vec<String>,
}

/// Checks `sample` entries, or all of them.
pub fn check(store: &dyn Store, sample: Option<u64>, seed: u64) -> Result<Report> {
    let games = store.games()?;
    let total: u64 = games.iter().map(|(_, count)| count).sum();
    let mut rng = Rng::new(seed, 0);
    let (mut left, mut wanted) = (total, sample.unwrap_or(total).min(total));
    let mut report = Report::default();
    for (name, _) in games {
        let mut drawn: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
        store.scan(&name, &mut |entry| {
            // Each of those left is drawn with the chance that just so many are drawn in the end.
            if (rng.below(left.max(1) as usize) as u64) < wanted {
                drawn.entry(entry.source).or_default().push(entry);
                wanted -= 1;
            }
            left = left.saturating_sub(1);
            Ok(())
        })?;
        let instance = match Instance::open_game(&name.game) {
            Ok(instance) => instance,
            Err(error) => {
                report.wrong.push(format!("{name}: cannot be opened: {error:#}"));
                continue;
            }
        };
        let game = instance.game()?;
        if game.rules_version() != name.rules {
            report.wrong.push(format!("{name}: this build has rules of version {}", game.rules_version()));
            continue;
        }
        let sources: HashMap<u32, Source> = store.sources(&name)?.into_iter().collect();
        for (number, entries) in drawn {
            group(&name, game, number, sources.get(&number), &entries, &mut report);
        }
    }
    Ok(report)
}

/// Checks entries that come from one source.
fn group(
    name: &GameName,
    game: &dyn AnyGame,
    number: u32,
    source: Option<&Source>,
    entries: &[Entry],
    report: &mut Report,
) {
    let Some(source) = source else {
        return report
            .wrong
            .push(format!("{name}: {} entries of source {number}, which is not there", entries.len()));
    };
    if source.proof.is_none() && source.nodes.is_none() {
        report.open += entries.len() as u64;
        return;
    }
    let from = match (&source.proof, source.nodes) {
        (Some(file), _) => format!("source {number}, {file}"),
        (None, nodes) => format!(
            "source {number}, proved again from '{}' {} with {} nodes",
            source.position.as_deref().unwrap_or("the start"),
            source.moves.join(" "),
            nodes.unwrap_or_default(),
        ),
    };
    let facts = match evidence(game, source) {
        Ok(facts) => facts,
        Err(error) => {
            return report
                .wrong
                .push(format!("{name}: {from}: {error:#} ({} entries rest on it)", entries.len()));
        }
    };
    let mut known: HashMap<(u128, Precondition), Vec<Fact>> = HashMap::new();
    for fact in facts {
        known.entry((fact.ident.key, fact.ident.precondition)).or_default().push(fact);
    }
    for entry in entries {
        let there = known.get(&(entry.key, entry.precondition)).map(Vec::as_slice).unwrap_or_default();
        let holds = |fact: &Fact| {
            fact.ident.check == entry.check
                && fact.ident.side == entry.side
                && fact.bounds.meet(entry.bounds) == Some(fact.bounds)
                && (entry.best.is_none() || entry.best == fact.best)
        };
        if there.iter().any(holds) {
            report.true_ += 1;
            continue;
        }
        let best = |best: Option<u16>| best.map_or(String::new(), |number| format!(" by move {number}"));
        let shown = match there.first() {
            None => "has no such position".to_string(),
            Some(fact) => format!("says {}{}", show(&fact.bounds), best(fact.best)),
        };
        report.wrong.push(format!(
            "{name}: {:032x} is stored as {}{}; {from}: {shown}",
            entry.key,
            show(&entry.bounds),
            best(entry.best),
        ));
    }
}

/// What a source proves.
fn evidence(game: &dyn AnyGame, source: &Source) -> Result<Vec<Fact>> {
    if let Some(file) = &source.proof {
        let text = read_text(Path::new(file), PROOF_BYTES_MAX).map_err(|message| anyhow!("{message}"))?;
        let proof = Proof::parse(&text).map_err(|error| anyhow!("{error}"))?;
        return Ok(game.harvest(&proof)?);
    }
    let nodes = source.nodes.unwrap_or_default();
    let mut facts = Vec::new();
    for moves in source.positions() {
        facts.extend(game.settle(source.position.as_deref(), moves, nodes)?.facts);
    }
    Ok(facts)
}
