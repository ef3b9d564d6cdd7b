//! Budgets of a move as text: `1000playouts`, `500nodes`, `200ms`, `1s-cpu`, several apart by commas.

use crate::duration;
use anyhow::{Result, anyhow, bail};
use sortie_core::Budget;

/// Reads a budget.
pub fn parse(text: &str) -> Result<Budget> {
    let mut budget = Budget::default();
    for part in text.split(',').map(str::trim) {
        let refuse = || anyhow!("limit '{part}': expected 1000playouts, 500nodes, 200ms, 1s or 1s-cpu");
        let whole = |text: &str| text.parse::<u64>().ok().filter(|&n| n > 0).ok_or_else(refuse);
        let twice = if let Some(count) = part.strip_suffix("playouts") {
            budget.playouts.replace(whole(count)?).is_some()
        } else if let Some(count) = part.strip_suffix("nodes") {
            budget.nodes.replace(whole(count)?).is_some()
        } else if let Some(time) = part.strip_suffix("-cpu") {
            budget.cpu_seconds.replace(duration::parse(time).map_err(|_| refuse())?).is_some()
        } else {
            budget.seconds.replace(duration::parse(part).map_err(|_| refuse())?).is_some()
        };
        if twice {
            bail!("limit '{text}': two limits of one kind");
        }
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_and_nonsense_refused() {
        assert_eq!(parse("1000playouts").unwrap(), Budget::playouts(1000));
        let both = Budget { nodes: Some(5), seconds: Some(0.2), cpu_seconds: Some(1.0), ..Budget::default() };
        assert_eq!(parse("5nodes, 200ms,1s-cpu").unwrap(), both);
        for bad in
            ["", "1000", "playouts", "0playouts", "-3nodes", "1s,2s", "5 s", "cpu", "1e3playouts", "1s,"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
