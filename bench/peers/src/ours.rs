//! Our own search, by the door that the command line uses.

use crate::Found;
use crate::game::Ground;
use sortie_core::{AnyGame, Boxed, Budget, Uct};
use std::f64::consts::SQRT_2;
use std::sync::atomic::AtomicBool;

/// More than any of these trees needs; only what is written to becomes resident.
const MEMORY_MIB: u32 = 1024;

pub fn search<G: Ground>(simulations: u64, threads: usize) -> Result<Found, String> {
    let uct = Uct { c: SQRT_2, threads: threads as u32, memory: MEMORY_MIB, ..Uct::plain() };
    let mut player = Boxed::new(G::owned()).player(&uct, 1).map_err(|e| e.to_string())?;
    let stop = AtomicBool::new(false);
    let thought =
        player.think(&Budget::playouts(simulations), &stop, &mut |_| {}).map_err(|e| e.to_string())?;
    let visits: u64 = thought.lines.iter().map(|line| line.visits).sum();
    if visits != thought.playouts {
        return Err(format!("{} simulations, but {visits} visits at the root", thought.playouts));
    }
    std::mem::forget(player);
    Ok(Found { best: thought.best.unwrap_or_else(|| "none".into()), counted: Some(visits) })
}
