//! Measured costs as files, and those that are built in: what virtual players of a game reckon with unless they are told
//! otherwise.

use crate::source::read_text;
use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use sortie_core::Uct;
use sortie_rank::Costs;
use std::path::Path;

/// No file of costs is larger than this.
const BYTES_MAX: u64 = 1 << 20;

/// Costs, and where they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The game, as `AnyGame::kind` names it.
    pub game: String,
    /// The player that was measured.
    pub player: String,
    /// The machine and the build.
    pub machine: String,
    /// The day.
    pub measured: String,
    /// In nanoseconds of CPU time.
    pub costs: Costs,
}

/// Reads a file of costs.
pub fn read(path: &Path) -> Result<Profile> {
    let text = read_text(path, BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    parse(&text).map_err(|(line, message)| anyhow!("{}:{line}: {message}", path.display()))
}

/// The profile that a text holds, or the line and what is wrong with it.
fn parse(text: &str) -> Result<Profile, (usize, String)> {
    let profile: Profile = toml::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        (line, error.message().to_string())
    })?;
    let costs = &profile.costs;
    let single = [costs.step, costs.replay, costs.add, costs.task, costs.record, costs.frame, costs.merge];
    let sane = |nanos: &f64| nanos.is_finite() && (0.0..=1e12).contains(nanos);
    if !single.iter().chain(&costs.playout).all(sane) {
        return Err((1, "a cost that is none: expected nanoseconds from 0 to 1e12".into()));
    }
    if costs.playout.is_empty() || costs.playout.windows(2).any(|w| w[0] > w[1]) {
        return Err((1, "playout: expected quantiles from the shortest to the longest".into()));
    }
    Ok(profile)
}

/// The profiles that are built in.
fn shipped() -> impl Iterator<Item = Profile> {
    [include_str!("costs/loa-default.toml"), include_str!("costs/loa-plain.toml")]
        .into_iter()
        .map(|text| parse(text).expect("a file of ours"))
}

/// The profile for a game and a search: one whose playouts are made the same way, which is what costs most.
pub fn built_in(game: &str, uct: &Uct) -> Option<Profile> {
    let alike = |other: &Uct| {
        (other.draws, other.weighted, other.cut, other.decisive)
            == (uct.draws, uct.weighted, uct.cut, uct.decisive)
    };
    shipped()
        .find(|profile| profile.game == game && Uct::preset(&profile.player).is_some_and(|uct| alike(&uct)))
}

/// A number that tells costs apart.
pub fn fingerprint(costs: &Costs) -> Result<u32> {
    Ok(crc32fast::hash(toml::to_string(costs)?.as_bytes()))
}

/// A file as a virtual player's `costs=FILE` names it.
pub fn named(path: &str) -> Result<Costs> {
    if path.is_empty() {
        bail!("costs: expected the file that `lab scale --calibrate` wrote");
    }
    Ok(read(Path::new(path))?.costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_built_in_are_sound_and_found() {
        assert_eq!(shipped().count(), 2);
        let playout = |uct: &Uct| built_in("loa", uct).map(|profile| profile.player.clone());
        assert_eq!(playout(&Uct::default()).as_deref(), Some("default"));
        assert_eq!(playout(&Uct { c: 0.9, ..Uct::default() }).as_deref(), Some("default"));
        assert_eq!(playout(&Uct::plain()).as_deref(), Some("plain"));
        assert_eq!(playout(&Uct { draws: 3, ..Uct::default() }), None);
        assert!(built_in("chess", &Uct::default()).is_none());
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        let first = shipped().next().unwrap();
        let good = toml::to_string(&first).unwrap();
        assert_eq!(parse(&good).unwrap(), first);
        for (text, expected) in [
            ("", "missing field"),
            ("game = 3", "invalid type"),
            (&good.replace("step = ", "steps = "), "unknown field"),
            (&good.replace("step = ", "step = -"), "a cost that is none"),
            (&good.replace("step = ", "step = nan # "), "a cost that is none"),
        ] {
            let (line, message) = parse(text).unwrap_err();
            assert!(line >= 1 && message.contains(expected), "{message}");
        }
    }
}
