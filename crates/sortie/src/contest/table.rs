//! The table at which games are played: game, limits, openings, when a game is cut short. Half of the request that a
//! folder keeps; the other half says who plays.

use super::args::TableArgs;
use super::{budget, opening};
use crate::source::Instance;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sortie_core::Budget;

/// How games are played, as the folder keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// `domain/name`.
    pub instance: String,
    /// What a move may cost: once for all players, or once each.
    pub limits: Vec<String>,
    /// Random moves before the players take over.
    pub plies: u32,
    /// Openings instead.
    #[serde(default)]
    pub openings: Vec<String>,
    /// A draw after so many moves.
    pub draw_after: u32,
    /// The value at which both players agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjudicate: Option<f64>,
    /// The seed of openings and players.
    pub seed: u64,
}

/// The same, opened.
pub struct Table {
    /// The game.
    pub instance: Instance,
    /// What a move of each player may cost.
    pub budgets: Vec<Budget>,
    /// A draw after so many moves.
    pub draw_after: u32,
    /// The value at which both players agree.
    pub adjudicate: Option<f64>,
    spec: TableSpec,
}

impl TableSpec {
    /// From what was typed.
    pub fn new(game: &str, args: &TableArgs) -> Result<TableSpec> {
        let instance = Instance::open_game(game)?;
        let openings = match &args.openings {
            Some(path) => opening::read(path, &instance)?,
            None => Vec::new(),
        };
        Ok(TableSpec {
            instance: instance.name,
            limits: args.limits.clone(),
            plies: args.plies,
            openings,
            draw_after: args.draw_after,
            adjudicate: args.adjudicate,
            seed: args.seed,
        })
    }

    /// Opens it for so many players; nonsense is refused.
    pub fn open(&self, players: usize) -> Result<Table> {
        let instance = Instance::open_game(&self.instance)?;
        let game = instance.game()?;
        let budgets = self.limits.iter().map(|limit| budget::parse(limit)).collect::<Result<Vec<_>>>()?;
        let budgets = match budgets.len() {
            1 => vec![budgets[0]; players],
            n if n == players => budgets,
            n => bail!("{n} limits for {players} players: expected one for all, or one each"),
        };
        if let Some(bar) = self.adjudicate.filter(|bar| !(0.5..=1.0).contains(bar)) {
            bail!("--adjudicate {bar}: expected a value from 0.5 to 1");
        }
        opening::random(game, self.plies, self.seed, 0)?;
        Ok(Table {
            budgets,
            draw_after: self.draw_after,
            adjudicate: self.adjudicate,
            spec: self.clone(),
            instance,
        })
    }
}

impl Table {
    /// The opening of a round.
    pub fn opening(&self, round: u64) -> Result<Vec<String>> {
        let spec = &self.spec;
        if spec.openings.is_empty() {
            return opening::random(self.instance.game()?, spec.plies, spec.seed, round);
        }
        let line = &spec.openings[(round % spec.openings.len() as u64) as usize];
        Ok(line.split_whitespace().map(String::from).collect())
    }
}
