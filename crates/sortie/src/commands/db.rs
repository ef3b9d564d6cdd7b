//! `sortie db`: the database of proved positions. What is in it, and what goes in and out.

use crate::Verdict;
use crate::database::args::{Check, Db, DbCommand, Export, Get, Import, Merge, Put, Stats};
use crate::database::{self, check, fill, keep, open, open_existing};
use crate::output::{self, count, rounded};
use crate::source::{Instance, plain, read_text};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};
use sortie_core::AnyBoard;
use sortie_core::Ident;
use sortie_core::exact::{Fact, Proof, Trust};
use sortie_store::{
    Added, Batch, Embedded, Entry, GameName, Line, Saved, Source, Store, StoreError, export, import, known,
    show,
};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// No proof is larger than this.
const PROOF_BYTES_MAX: u64 = 4 << 30;

/// Runs the command.
pub fn run(args: &Db) -> Result<Verdict> {
    match &args.command {
        DbCommand::Put(args) => put(args),
        DbCommand::Get(args) => get(args),
        DbCommand::Stats(args) => stats(args),
        DbCommand::Import(args) => import_files(args),
        DbCommand::Export(args) => export_to(args),
        DbCommand::Merge(args) => merge(args),
        DbCommand::Check(args) => check_entries(args),
        DbCommand::Fill(args) => fill::run(args),
    }
}

fn put(args: &Put) -> Result<Verdict> {
    let store = open(&args.db)?;
    let mut added = Added::default();
    for file in &args.proofs {
        let text =
            read_text(file, PROOF_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", file.display()))?;
        let proof =
            Proof::parse(&text).map_err(|e| anyhow!("{}:{}: {}", file.display(), e.line, e.message))?;
        let instance = Instance::open_game(&proof.instance)
            .with_context(|| format!("{}: cannot open its instance", file.display()))?;
        let name = database::name(&instance)?;
        let stored = keep::proof(&*store, &name, instance.game()?, &proof, source(&proof, file)?);
        added += stored.with_context(|| file.display().to_string())?;
    }
    told(&args.db, added, args.json)
}

/// Where the entries of a proof come from.
pub fn source(proof: &Proof, file: &Path) -> Result<Source> {
    // The database may be asked from another folder.
    let full = file.canonicalize().map_err(|error| anyhow!("{}: {}", file.display(), plain(&error)))?;
    Ok(Source {
        run: file.display().to_string(),
        position: proof.start.clone(),
        moves: proof.moves.clone(),
        proof: Some(full.display().to_string()),
        ..Source::default()
    })
}

fn told(db: &str, added: Added, json: bool) -> Result<Verdict> {
    let Added { new, better, known } = added;
    match json {
        true => output::print_json(&json!({ "database": db, "new": new, "better": better, "known": known }))?,
        false => output::print(&format!(
            "{} positions stored, {} improved, {} were there",
            count(new),
            count(better),
            count(known)
        ))?,
    }
    Ok(Verdict::Done)
}

fn get(args: &Get) -> Result<Verdict> {
    let store = open_existing(&args.db)?;
    let instance = Instance::open_game(&args.game)?;
    let name = database::name(&instance)?;
    let mut board = instance.game()?.board(args.position.as_deref())?;
    for word in args.moves.as_deref().unwrap_or_default().split_whitespace() {
        crate::words::play(&mut *board, word)?;
    }
    let ident = board.ident().ok_or_else(|| anyhow!("{}: its positions have no names", instance.name))?;
    let entry = known(&*store, &name, &[ident])?[0];
    let sources = store.sources(&name)?;
    let shown = entry.map(|entry| entry_json(&*board, &entry, ident.image, &sources));
    let mut after = Vec::new();
    let (mut words, mut idents) = (Vec::new(), Vec::new());
    for word in board.legal() {
        board.play(&word)?;
        if let (None, Some(ident)) = (board.outcome(), board.ident()) {
            words.push(word);
            idents.push(ident);
        }
        board.undo();
    }
    for (entry, word) in known(&*store, &name, &idents)?.into_iter().zip(words) {
        if let Some(entry) = entry {
            after.push((word, entry.bounds));
        }
    }
    let there = shown.is_some() || !after.is_empty();
    if args.json {
        let after: Vec<Json> =
            after.iter().map(|(word, bounds)| json!({ "move": word, "value": show(bounds) })).collect();
        output::print_json(&json!({
            "game": name.game, "moves": board.words(), "key": format!("{:032x}", ident.key), "entry": shown,
            "after": after,
        }))?;
    } else {
        let text = |key: &str| match shown.as_ref().map(|entry| &entry[key]) {
            Some(Json::String(text)) => text.clone(),
            _ => "-".into(),
        };
        let mut lines = match shown {
            Some(_) => format!(
                "value   {} for the first side ({})\nbest    {}\nsource  {}\n",
                text("value"),
                text("trust"),
                text("best"),
                text("run")
            ),
            None => "value   not known\n".into(),
        };
        for (word, bounds) in &after {
            lines += &format!("after   {word}: {}\n", show(bounds));
        }
        output::print(&lines)?;
    }
    Ok(if there { Verdict::Done } else { Verdict::NotFound })
}

fn entry_json(board: &dyn AnyBoard, entry: &Entry, image: u8, sources: &[(u32, Source)]) -> Json {
    let source = sources.iter().find(|(number, _)| *number == entry.source).map(|(_, source)| source);
    json!({
        "value": show(&entry.bounds),
        "best": entry.best.and_then(|number| board.of_image(number, image)),
        "trust": entry.trust,
        "precondition": entry.precondition,
        "run": source.map(|source| &source.run),
        "proof": source.and_then(|source| source.proof.as_ref()),
        "source": entry.source,
    })
}

fn stats(args: &Stats) -> Result<Verdict> {
    let store = open_existing(&args.db)?;
    if args.tidy {
        store.tidy()?;
    }
    let (mut games, mut total) = (Vec::new(), 0);
    for (name, entries) in store.games()? {
        let mut values = std::collections::BTreeMap::<String, u64>::new();
        let (mut checked, mut conditional) = (0u64, 0u64);
        store.scan(&name, &mut |entry| {
            *values.entry(show(&entry.bounds)).or_default() += 1;
            checked += u64::from(entry.trust == sortie_core::exact::Trust::Checked);
            conditional += u64::from(entry.precondition != sortie_core::Precondition::NONE);
            Ok(())
        })?;
        total += entries;
        games.push(json!({
            "game": name.game, "rules": name.rules, "positions": entries, "checked": checked,
            "conditional": conditional, "sources": store.sources(&name)?.len(), "values": values,
        }));
    }
    let bytes = store.bytes()?;
    let each = bytes as f64 / total.max(1) as f64;
    if args.json {
        output::print_json(&json!({
            "database": args.db, "positions": total, "bytes": bytes, "bytes_per_position": rounded(each),
            "games": games,
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!("{} positions, {} bytes ({each:.1} a position)\n", count(total), count(bytes));
    for game in &games {
        let number = |key: &str| count(game[key].as_u64().unwrap_or(0));
        let values = game["values"].as_object().into_iter().flatten();
        let values: Vec<String> =
            values.map(|(value, n)| format!("{} {value}", count(n.as_u64().unwrap_or(0)))).collect();
        text += &format!(
            "{}  {} positions ({}), {} checked, {} with preconditions, {} sources\n",
            game["game"].as_str().unwrap_or("?"),
            number("positions"),
            values.join(", "),
            number("checked"),
            number("conditional"),
            number("sources"),
        );
    }
    output::print(&text)?;
    Ok(Verdict::Done)
}

fn import_files(args: &Import) -> Result<Verdict> {
    let store = open(&args.db)?;
    let mut added = Added::default();
    for file in &args.files {
        let opened = File::open(file).map_err(|error| anyhow!("{}: {}", file.display(), plain(&error)))?;
        let mut reader = BufReader::new(opened);
        let number = std::cell::Cell::new(0u64);
        let wrong = |message: &str| anyhow!("{}:{}: {message}", file.display(), number.get());
        let mut text = String::new();
        let mut next = || loop {
            text.clear();
            number.set(number.get() + 1);
            if reader.read_line(&mut text).map_err(|error| wrong(&plain(&error)))? == 0 {
                return Ok(None);
            }
            if !text.trim().is_empty() {
                return serde_json::from_str::<Line>(&text)
                    .map(Some)
                    .map_err(|error| wrong(&error.to_string()));
            }
        };
        added += import(&*store, &mut next, &wrong)?;
    }
    told(&args.db, added, args.json)
}

fn export_to(args: &Export) -> Result<Verdict> {
    let store = open_existing(&args.db)?;
    store.sound()?;
    let place = args.out.as_ref().map_or("standard output".into(), |path| path.display().to_string());
    let broken = |message: String| StoreError::Broken { place: place.clone(), message };
    let out: Box<dyn Write> = match &args.out {
        Some(path) => {
            Box::new(File::create(path).map_err(|error| anyhow!("{}: {}", path.display(), plain(&error)))?)
        }
        None => Box::new(std::io::stdout().lock()),
    };
    let mut out = BufWriter::new(out);
    let positions = export(&*store, &mut |line| {
        let text = serde_json::to_string(line).map_err(|error| broken(error.to_string()))?;
        writeln!(out, "{text}").map_err(|error| broken(error.to_string()))
    })?;
    out.flush()?;
    match (&args.out, args.json) {
        (Some(path), true) => {
            output::print_json(&json!({ "file": output::path(path), "positions": positions }))?;
        }
        (Some(path), false) => {
            output::print(&format!("{} positions in {}", count(positions), path.display()))?
        }
        _ => {}
    }
    Ok(Verdict::Done)
}

fn merge(args: &Merge) -> Result<Verdict> {
    let store = open(&args.db)?;
    let mut added = Added::default();
    for from in &args.from {
        // Whole, so that neither waits for the other while it is held.
        let (other, mut lines) = (open_existing(from)?, Vec::new());
        export(&*other, &mut |line| {
            lines.push(line.clone());
            Ok(())
        })?;
        let mut lines = lines.into_iter();
        let merged =
            import(&*store, &mut || Ok::<_, anyhow::Error>(lines.next()), &|message| anyhow!("{message}"));
        added += merged.with_context(|| format!("{from} into {}", args.db))?;
    }
    told(&args.db, added, args.json)
}

fn check_entries(args: &Check) -> Result<Verdict> {
    let store = open_existing(&args.db)?;
    if let Some(new) = &args.save {
        return save(&args.db, new, args.json);
    }
    store.sound()?;
    let report = check::check(&*store, (!args.all).then_some(args.sample), args.seed)?;
    for line in &report.wrong {
        output::say(&format!("sortie: WRONG  {line}"));
    }
    let ok = report.wrong.is_empty();
    match args.json {
        true => output::print_json(&json!({
            "database": args.db, "ok": ok, "checked": report.true_, "unproved": report.open, "wrong": report.wrong,
        }))?,
        false => output::print(&format!(
            "{}  {} entries proved again, {} wrong, {} of exact searches without a proof of their own",
            if ok { "OK" } else { "WRONG" },
            count(report.true_),
            count(report.wrong.len() as u64),
            count(report.open),
        ))?,
    }
    Ok(if ok { Verdict::Done } else { Verdict::NotFound })
}

/// Saves what can be read of a damaged file in a new one.
fn save(db: &str, new: &std::path::Path, json: bool) -> Result<Verdict> {
    if db.contains("://") || new.exists() {
        bail!("--save {}: expected a new file, and a database in a file", new.display());
    }
    let (old, fresh) = (Embedded::new(db.as_ref(), database::WAIT), Embedded::new(new, database::WAIT));
    let mut saved = Saved::default();
    for (name, _) in old.games()? {
        let sources: HashMap<u32, Source> =
            old.sources(&name).map(|sources| sources.into_iter().collect()).unwrap_or_default();
        let mut batches: BTreeMap<(u32, Trust), Batch> = BTreeMap::new();
        let told = old.save(&name, &mut |entry| {
            let lost = || Source {
                run: format!("source {} of {db}, which was lost", entry.source),
                ..Source::default()
            };
            let source = || sources.get(&entry.source).cloned().unwrap_or_else(lost);
            let batch = batches.entry((entry.source, entry.trust));
            let batch =
                batch.or_insert_with(|| Batch { source: source(), trust: entry.trust, facts: Vec::new() });
            let Entry { key, check, side, precondition, bounds, best, .. } = entry;
            batch.facts.push(Fact {
                ident: Ident { key, check, side, image: 0, precondition },
                bounds,
                best,
            });
            Ok(())
        })?;
        saved.entries += told.entries;
        saved.broken += told.broken;
        saved.gaps += told.gaps;
        fresh.put(&name, &batches.into_values().collect::<Vec<_>>())?;
    }
    let Saved { entries, broken, gaps } = saved;
    let whole = broken == 0 && gaps == 0;
    match json {
        true => output::print_json(&json!({
            "database": db, "saved": output::path(new), "entries": entries, "broken": broken, "gaps": gaps, "ok": whole,
        }))?,
        false => output::print(&format!(
            "{} entries in {}; {} did not fit their checksum, {} places could not be read",
            count(entries),
            new.display(),
            count(broken),
            count(gaps),
        ))?,
    }
    Ok(if whole { Verdict::Done } else { Verdict::NotFound })
}

/// A game under a name of its own, for measurements.
pub fn bench_name() -> GameName {
    GameName { game: "bench".into(), rules: 1 }
}
