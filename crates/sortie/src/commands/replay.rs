//! `sortie replay`: a record move by move, as an animation in a terminal or as text one position below the other.

use crate::Verdict;
use crate::args::Replay;
use crate::output::{self, score};
use crate::source::{Instance, Source};
use anyhow::{Context, Result};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::{cursor, execute, terminal};
use sortie_core::ReplayError;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::time::Duration;

/// Runs the command.
pub fn run(args: &Replay) -> Result<Verdict> {
    let source = Source::read(&args.record)?;
    let instance = source.instance()?;
    let film = Film { instance, moves: source.record.moves };
    // The moves before the first wrong one can be shown: this is how one looks at what is wrong.
    let wrong = film.instance.position(&film.moves).err();
    let last = match &wrong {
        Some(ReplayError::Illegal { number, .. }) => number - 1,
        _ => film.moves.len(),
    };
    if args.plain || !stdout().is_terminal() || !stdin().is_terminal() {
        for played in 0..=last {
            output::print(&film.frame(played)?)?;
        }
    } else {
        let shown = animate(&film, last, args)?;
        output::print(&film.frame(shown)?)?;
    }
    if let Some(error) = wrong {
        output::say(&format!("sortie: {}: {error}", source.path.display()));
        return Ok(Verdict::NotFound);
    }
    Ok(Verdict::Done)
}

struct Film {
    instance: Instance,
    moves: Vec<String>,
}

impl Film {
    /// The position after `played` moves with a line about it.
    fn frame(&self, played: usize) -> Result<String> {
        let position = self.instance.position(&self.moves[..played])?;
        let mut text = format!("{} move {played} of {}", self.instance.name, self.moves.len());
        if let Some(last) = played.checked_sub(1).and_then(|i| self.moves.get(i)) {
            text += &format!(": {last}");
        }
        text += &format!("   score {}", score(position.score));
        Ok(format!("{text}\n{}\n", position.text.trim_end()))
    }
}

/// What the next key, or its absence, asks for.
enum Turn {
    Next,
    Back,
    Pause,
    Redraw,
    Quit,
}

/// Plays the film; returns the move it ended at.
fn animate(film: &Film, last: usize, args: &Replay) -> Result<usize> {
    let screen = Screen::enter()?;
    let (mut played, mut paused) = (0, args.step);
    loop {
        let help = if paused { "space next, left back, p play, q quit" } else { "p pause, q quit" };
        screen.draw(&film.frame(played)?, help)?;
        if played == last && !paused {
            return Ok(played);
        }
        match turn((!paused).then(|| Duration::from_secs_f64(1.0 / args.speed)))? {
            Turn::Next if played == last => return Ok(played),
            Turn::Next => played += 1,
            Turn::Back => (played, paused) = (played.saturating_sub(1), true),
            Turn::Pause => paused = !paused,
            Turn::Redraw => {}
            Turn::Quit => return Ok(played),
        }
    }
}

fn turn(wait: Option<Duration>) -> Result<Turn> {
    if let Some(wait) = wait
        && !poll(wait)?
    {
        return Ok(Turn::Next);
    }
    Ok(match read()? {
        Event::Key(key) if key.kind == KeyEventKind::Release => Turn::Redraw,
        Event::Key(key) => match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Turn::Quit,
            KeyCode::Char('q') | KeyCode::Esc => Turn::Quit,
            KeyCode::Char(' ') | KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => Turn::Next,
            KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => Turn::Back,
            KeyCode::Char('p') => Turn::Pause,
            _ => Turn::Redraw,
        },
        _ => Turn::Redraw,
    })
}

/// The terminal's other screen, given back when this is dropped.
struct Screen;

impl Screen {
    fn enter() -> Result<Screen> {
        terminal::enable_raw_mode().context("cannot read single keys here: try --plain")?;
        let screen = Screen;
        execute!(stdout(), terminal::EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    fn draw(&self, text: &str, help: &str) -> Result<()> {
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        let (columns, rows) = (columns as usize, (rows as usize).max(3));
        // Overwritten in place, line by line: clearing the whole screen would flicker.
        let mut out = String::from("\x1b[H");
        for line in text.lines().take(rows - 2) {
            out.extend(line.chars().take(columns));
            out.push_str("\x1b[K\r\n");
        }
        out.push_str("\x1b[J\r\n");
        out.push_str(help);
        let mut stdout = stdout().lock();
        stdout.write_all(out.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}
