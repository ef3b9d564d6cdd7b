//! `sortie gauntlet`: one player against a list of named opponents, each a match of its own in a folder of its own, and a
//! table of the results that can be published. Resumable as matches are.

use crate::args::Gauntlet as Args;
use crate::commands::match_;
use crate::contest::table::TableSpec;
use crate::contest::{self, budget, opening};
use crate::folder::write_whole;
use crate::output;
use crate::session::stop_on_signals;
use crate::source::{Instance, read_text};
use crate::{Verdict, players};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// No gauntlet's file is larger than this.
const BYTES_MAX: u64 = 1 << 20;
/// Opponents at most.
const OPPONENTS_MAX: usize = 1000;
/// The table, in the folder.
const TABLE: &str = "table.md";
const RESULT: &str = "result.json";

/// The file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    /// The game: `domain/name`.
    game: String,
    /// Who runs it, as `--player` names it.
    player: String,
    /// Games with each opponent.
    games: u64,
    /// What a move may cost, for all who have no limit of their own.
    limit: String,
    #[serde(default = "four")]
    plies: u32,
    /// A file of openings instead.
    #[serde(default)]
    openings: Option<PathBuf>,
    #[serde(default = "thousand")]
    draw_after: u32,
    #[serde(default = "first")]
    seed: u64,
    opponent: Vec<Opponent>,
}

fn four() -> u32 {
    4
}

fn thousand() -> u32 {
    1000
}

fn first() -> u64 {
    1
}

/// Somebody to be met.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opponent {
    name: String,
    version: String,
    player: String,
    #[serde(default)]
    limit: Option<String>,
    #[serde(default)]
    games: Option<u64>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let sheet = read(&args.file)?;
    let path = args.out.clone().unwrap_or_else(|| contest::fresh_path("gauntlet", &sheet.game));
    sortie_disk::create_dir_all(&path)
        .with_context(|| format!("cannot make the folder {}: give another --out", path.display()))?;
    let concurrency = args.concurrency.unwrap_or(1);
    let stop = stop_on_signals()?;
    let mut rows = Vec::new();
    for opponent in &sheet.opponent {
        let request = request(&sheet, opponent, &args.file)?;
        let folder = path.join(folder_of(&opponent.name));
        if !args.report.quiet {
            output::say(&format!("{} {}", opponent.name, opponent.version));
        }
        // Once stopped, what was played before is still told.
        if stop.load(Relaxed) && !folder.exists() {
            rows.push(row(&sheet, opponent, &json!({}), &folder));
            continue;
        }
        let result = match_::play_in(&request, &folder, concurrency, &stop, args.report.quiet)
            .with_context(|| format!("{} {}", opponent.name, opponent.version))?;
        rows.push(row(&sheet, opponent, &result, &folder));
        // After each match, so that a table is there whatever comes next.
        keep(&path, &sheet, &rows)?;
    }
    let result = keep(&path, &sheet, &rows)?;
    match args.report.json {
        true => output::print_json(&result)?,
        false => output::print(&format!("{}\nfolder    {}", table(&sheet, &rows), path.display()))?,
    }
    if stop.load(Relaxed) {
        output::say("stopped; the same command with the same --out goes on");
    }
    Ok(Verdict::Done)
}

fn keep(path: &Path, sheet: &Sheet, rows: &[Json]) -> Result<Json> {
    let result = json!({
        "game": sheet.game, "player": sheet.player, "seed": sheet.seed, "rows": rows,
        "folder": output::path(path), "version": env!("CARGO_PKG_VERSION"),
    });
    let write = |name: &str, text: &str| {
        let file = path.join(name);
        write_whole(&file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
    };
    write(RESULT, &(serde_json::to_string_pretty(&result)? + "\n"))?;
    write(TABLE, &table(sheet, rows))?;
    Ok(result)
}

fn read(path: &Path) -> Result<Sheet> {
    let text = read_text(path, BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let sheet: Sheet = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        anyhow!("{}:{line}: {}", path.display(), error.message())
    })?;
    let bad = |what: String| anyhow!("{}: {what}", path.display());
    if sheet.opponent.is_empty() || sheet.opponent.len() > OPPONENTS_MAX {
        bail!(bad(format!("expected 1 to {OPPONENTS_MAX} tables [[opponent]]")));
    }
    Instance::open_game(&sheet.game).map_err(|error| error.context(path.display().to_string()))?;
    let players = sheet.opponent.iter().map(|opponent| &opponent.player).chain([&sheet.player]);
    for player in players {
        players::Player::parse(player).with_context(|| path.display().to_string())?;
    }
    let mut folders = Vec::new();
    for opponent in &sheet.opponent {
        let folder = folder_of(&opponent.name);
        if folder.is_empty() || folders.contains(&folder) {
            bail!(bad(format!("opponent '{}': expected a name that no other has", opponent.name)));
        }
        folders.push(folder);
        if opponent.games.is_some_and(|games| games == 0) {
            bail!(bad(format!("opponent '{}': expected games", opponent.name)));
        }
        let limit = opponent.limit.as_ref().unwrap_or(&sheet.limit);
        budget::parse(limit).with_context(|| path.display().to_string())?;
    }
    budget::parse(&sheet.limit).with_context(|| path.display().to_string())?;
    if sheet.games == 0 || sheet.plies > 1000 || sheet.draw_after == 0 {
        bail!(bad("expected games, at most 1000 plies, and draw_after from 1".into()));
    }
    Ok(sheet)
}

/// The match with one opponent. Files that the sheet names are looked for beside it.
fn request(sheet: &Sheet, opponent: &Opponent, file: &Path) -> Result<match_::Request> {
    let instance = Instance::open_game(&sheet.game)?;
    let openings = match &sheet.openings {
        Some(path) => opening::read(&file.parent().unwrap_or(Path::new("")).join(path), &instance)?,
        None => Vec::new(),
    };
    let limit = opponent.limit.as_ref().unwrap_or(&sheet.limit);
    let table = TableSpec {
        instance: instance.name,
        limits: vec![sheet.limit.clone(), limit.clone()],
        plies: sheet.plies,
        openings,
        draw_after: sheet.draw_after,
        adjudicate: None,
        seed: sheet.seed,
    };
    let games = opponent.games.unwrap_or(sheet.games);
    Ok(match_::Request::pair([&sheet.player, &opponent.player], games.div_ceil(2), table))
}

/// A name as that of a folder.
fn folder_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).take(60).collect::<String>().trim_matches('-').to_string()
}

fn row(sheet: &Sheet, opponent: &Opponent, result: &Json, folder: &Path) -> Json {
    let pairing = &result["pairings"][0];
    let faults = &result["players"];
    json!({
        "opponent": opponent.name, "version": opponent.version, "player": opponent.player,
        "limit": sheet.limit, "limit_opponent": opponent.limit.as_ref().unwrap_or(&sheet.limit),
        "games": pairing["games"].as_u64().unwrap_or(0), "games_max": opponent.games.unwrap_or(sheet.games).div_ceil(2) * 2,
        "wins": pairing["wins"], "draws": pairing["draws"], "losses": pairing["losses"],
        "score": pairing["score"], "elo": pairing["elo"],
        "faults": faults[0]["faults"], "faults_opponent": faults[1]["faults"],
        "folder": output::path(folder),
    })
}

/// The table as markdown.
fn table(sheet: &Sheet, rows: &[Json]) -> String {
    let mut text = format!(
        "{} plays {}, every opening twice with colours swapped. The interval holds the score in 95 of 100 cases.\n\n",
        sheet.player, sheet.game
    );
    text += "| opponent | version | limit, and its own | games | won, drawn, lost | score | 95 % | its faults |\n";
    text += "|---|---|---|---:|---|---:|---|---:|\n";
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap_or("").replace('|', "/");
        let whole = |key: &str| row[key].as_u64().unwrap_or(0);
        let percent = |key: &str| row["score"][key].as_f64().map(|share| format!("{:.1}", 100.0 * share));
        let limits = match word("limit") == word("limit_opponent") {
            true => word("limit"),
            false => format!("{}, {}", word("limit"), word("limit_opponent")),
        };
        let (score, interval) = match (percent("value"), percent("low"), percent("high")) {
            (Some(score), Some(low), Some(high)) => (format!("{score} %"), format!("{low} to {high}")),
            _ => ("-".into(), "-".into()),
        };
        let games = match (whole("games"), whole("games_max")) {
            (played, all) if played < all => format!("{played} of {all}"),
            (played, _) => played.to_string(),
        };
        let (won, drawn, lost) = (whole("wins"), whole("draws"), whole("losses"));
        text += &format!(
            "| {} | {} | {limits} | {games} | {won}, {drawn}, {lost} | {score} | {interval} | {} |\n",
            word("opponent"),
            word("version"),
            whole("faults_opponent"),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_folders() {
        assert_eq!(folder_of("Old Champion (2011)"), "old-champion--2011");
        assert_eq!(folder_of("../.."), "");
    }

    #[test]
    fn sheets_that_make_no_sense_are_refused_with_the_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sheet.toml");
        let good = "game = 'nim/9'\nplayer = 'plain'\ngames = 2\nlimit = '9playouts'\n[[opponent]]\nname = 'a'\nversion = '1'\nplayer = 'random'\n";
        std::fs::write(&path, good).expect("a disk");
        assert_eq!(read(&path).expect("good").opponent.len(), 1);
        for (text, says) in [
            (good.replace("games = 2", "games = 0"), "expected games"),
            (good.replace("'nim/9'", "'golf'"), "golf"),
            (good.replace("'9playouts'", "'9'"), "limit '9'"),
            (good.replace("'random'", "'randon'"), "randon"),
            (good.replace("games = 2", "games = 2\ngoals = 3"), ":4: unknown field"),
            (
                format!("{good}[[opponent]]\nname = 'A'\nversion = '2'\nplayer = 'plain'\n"),
                "a name that no other has",
            ),
        ] {
            std::fs::write(&path, &text).expect("a disk");
            let error = format!("{:#}", read(&path).expect_err(says));
            assert!(error.contains(says), "{error}");
        }
    }
}
