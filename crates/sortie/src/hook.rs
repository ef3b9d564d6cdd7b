//! `--on-improve CMD`: a command of the user's, run whenever a better solution is on disk. There is never more than one of
//! it at a time; whatever comes while it runs is one more run, which finds the newest record. At the end of the search it
//! is waited for, so that what was wanted with the best is done.

use crate::folder::RECORD;
use crate::source::plain;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The command.
pub struct Hook {
    command: String,
    record: PathBuf,
    instance: String,
    running: Option<Child>,
    /// The best score, if the command has not been started with it yet.
    news: Option<f64>,
}

impl Hook {
    /// For the run in a folder.
    pub fn new(command: &str, folder: &Path, instance: &str) -> Hook {
        let (command, instance) = (command.to_string(), instance.to_string());
        Hook { command, record: folder.join(RECORD), instance, running: None, news: None }
    }

    /// Something better is on disk.
    pub fn improved(&mut self, score: f64) {
        self.news = Some(score);
    }

    /// Starts it if there is a reason and it does not run; `last` waits for it. What could not be done is a warning.
    pub fn run(&mut self, last: bool) -> Option<String> {
        loop {
            if let Some(child) = &mut self.running {
                let ended = if last { child.wait().map(Some) } else { child.try_wait() };
                match ended {
                    Ok(None) => return None,
                    Ok(Some(_)) | Err(_) => self.running = None,
                }
            }
            let score = self.news.take()?;
            let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
            let started = Command::new(shell)
                .args([flag, &self.command])
                .env("SORTIE_RECORD", &self.record)
                .env("SORTIE_SCORE", sortie_core::measure::plain(score))
                .env("SORTIE_INSTANCE", &self.instance)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn();
            match started {
                Ok(child) => self.running = Some(child),
                Err(error) => {
                    return Some(format!("sortie: warning: cannot run --on-improve ({})", plain(&error)));
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn it_runs_once_for_all_that_came_meanwhile_and_is_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join("log");
        let command = format!("echo $SORTIE_SCORE $SORTIE_INSTANCE >> '{}'", log.display());
        let mut hook = Hook::new(&command, home.path(), "schur/3");
        assert_eq!(hook.run(true), None);
        assert!(!log.exists(), "there was no reason");
        hook.improved(20.0);
        assert_eq!(hook.run(false), None);
        hook.improved(22.0);
        hook.improved(23.0);
        assert_eq!(hook.run(true), None);
        assert_eq!(std::fs::read_to_string(log).unwrap(), "20 schur/3\n23 schur/3\n");
    }
}
