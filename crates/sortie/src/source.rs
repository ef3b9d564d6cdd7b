//! Opening what the user points at: an instance, a record, a run folder. Every size is bounded and every error is one
//! line that names the file.

use crate::folder;
use anyhow::{Context, Result, anyhow, bail};
use sortie_core::measure;
use sortie_core::measure::Measure;
use sortie_core::{AnyGame, AnyProblem, OpenError, Opened, Origin, Position, Record, ReplayError};
use sortie_domains::catalogue;
use sortie_runs::limits::{INSTANCE_BYTES_MAX, TEXT_BYTES_MAX};
pub use sortie_runs::text::{plain, read_text};
use std::cell::RefCell;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The header line of a record that says where its game begins.
pub const POSITION: &str = "position";
/// The header line of a record that says how its game ended.
pub const RESULT: &str = "result";
/// Its value for a game that goes on: the record of such a game need not lead to an end.
pub const UNFINISHED: &str = "unfinished";

/// What an instance begins with whose rules are a class of Python's (docs/python.md).
const PYTHON: &str = "python/";

/// An opened instance.
pub struct Instance {
    /// As it was named: `domain/name`.
    pub name: String,
    /// The text of the file, if the instance is one.
    pub text: Option<String>,
    opened: Opened,
    /// Where a game begins, if not at its own start.
    start: Option<String>,
}

impl Instance {
    /// Opens `domain/name` or `domain/path/to/file`.
    pub fn open(name: &str) -> Result<Instance> {
        if name.starts_with(PYTHON) {
            bail!(
                "the rules of {name} are a class of Python's: `python -m sortie_search verify FOLDER` replays its moves, and \
                 `resume FOLDER` goes on"
            );
        }
        Self::of(name).map_err(|error| match (&error, missing(name)) {
            (OpenError::UnknownDomain { .. } | OpenError::NoSlash(_), Some(missing)) => anyhow!(missing),
            _ => error.into(),
        })
    }

    /// The same with an error that can be told apart.
    pub fn of(name: &str) -> Result<Instance, OpenError> {
        Self::open_with(name, &|path| match path {
            "-" => read_stdin(INSTANCE_BYTES_MAX),
            path => read_text(Path::new(path), INSTANCE_BYTES_MAX),
        })
        .map_err(|error| match error {
            OpenError::Parse { path, line, message } if path == "-" => {
                OpenError::Parse { path: "stdin".into(), line, message }
            }
            other => other,
        })
    }

    /// The same, with the text of the file at hand, wherever the file itself may be by now.
    pub fn open_copy(name: &str, copy: Option<String>) -> Result<Instance> {
        match copy {
            Some(text) => Ok(Self::open_with(name, &|_| Ok(text.clone()))?),
            None => Self::open(name),
        }
    }

    /// The same for what was sent over a network: only what came with it is read.
    #[cfg(feature = "grid")]
    pub fn open_sent(name: &str, text: Option<&str>) -> Result<Instance> {
        Ok(Self::open_with(name, &|_| {
            text.map(str::to_string).ok_or_else(|| "its text was not sent".into())
        })?)
    }

    fn open_with(name: &str, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Instance, OpenError> {
        let text = RefCell::new(None);
        let keep = |path: &str| {
            let read = read(path)?;
            *text.borrow_mut() = Some(read.clone());
            Ok(read)
        };
        let mut opened = sortie_domains::open(name, &keep)?;
        let text = text.into_inner();
        if let Opened::Game(game) = &mut opened {
            game.set_origin(Origin { name: name.to_string(), text: text.clone() });
        }
        Ok(Instance { name: name.to_string(), text, opened, start: None })
    }

    /// The word before the slash.
    pub fn domain(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The problem; a game is refused.
    pub fn problem(&self) -> Result<&dyn AnyProblem> {
        match &self.opened {
            Opened::Problem(problem) => Ok(&**problem),
            Opened::Game(_) => bail!(
                "{} is a game for two: this needs a problem for one, such as samegame/1 (`sortie list` shows all)",
                self.name
            ),
        }
    }

    /// A problem; the domain alone is the first of its examples, and that is said.
    pub fn open_or_first(name: &str) -> Result<Instance> {
        let instance = Self::first(name)?;
        instance.problem()?;
        if instance.name != name {
            let whole = &instance.name;
            crate::output::say(&format!("{name} alone: taking {whole}; `sortie list {name}` has more"));
        }
        Ok(instance)
    }

    /// Anything; the domain alone is the first of its examples.
    pub fn first(name: &str) -> Result<Instance> {
        let Some(entry) = catalogue().entry(name) else { return Self::open(name) };
        let Some(example) = entry.examples.first() else { return Self::open(name) };
        let whole = match example.strip_prefix(entry.name) {
            Some(rest) if rest.starts_with('/') => example.to_string(),
            _ => format!("{name}/{example}"),
        };
        Self::open(&whole)
    }

    /// Opens a game: `domain/name`, or `domain` alone for the first of its examples.
    pub fn open_game(name: &str) -> Result<Instance> {
        let bare = catalogue().entry(name).and_then(|entry| entry.examples.first());
        let instance = Self::open(bare.unwrap_or(&name))?;
        instance.game()?;
        Ok(instance)
    }

    /// The game; a problem is refused.
    pub fn game(&self) -> Result<&dyn AnyGame> {
        match &self.opened {
            Opened::Game(game) => Ok(&**game),
            Opened::Problem(_) => bail!(
                "{} is a problem for one: this needs a game for two, such as connect4/7x6 (`sortie list` shows all)",
                self.name
            ),
        }
    }

    /// Begins where the game of a record began.
    pub fn begin_as(mut self, record: &Record) -> Result<Instance> {
        if let (Opened::Game(game), Some(text)) = (&self.opened, record.field(POSITION)) {
            game.board(Some(text))?;
            self.start = Some(text.to_string());
        }
        Ok(self)
    }

    /// The position after some moves.
    pub fn position(&self, words: &[String]) -> Result<Position, ReplayError> {
        match &self.opened {
            Opened::Problem(problem) => problem.position(words),
            Opened::Game(game) if self.start.is_some() => {
                let mut board = game.board(self.start.as_deref()).expect("it was read before");
                words.iter().try_for_each(|word| board.play(word))?;
                Ok(board.view())
            }
            Opened::Game(game) => game.position(words),
        }
    }

    /// The position at the end of a solution, which must be an end.
    pub fn verify(&self, words: &[String]) -> Result<Position, ReplayError> {
        match &self.opened {
            Opened::Problem(problem) => problem.verify(words),
            Opened::Game(_) => {
                let position = self.position(words)?;
                match position.legal.first() {
                    None => Ok(position),
                    Some(example) => Err(ReplayError::Unfinished {
                        played: words.len(),
                        legal: position.legal.len(),
                        example: example.clone(),
                    }),
                }
            }
        }
    }

    /// A score in the domain's words; of a game it is the value for the first side.
    pub fn measures(&self, score: f64) -> Vec<Measure> {
        match &self.opened {
            Opened::Problem(problem) => problem.measures(score),
            Opened::Game(_) => vec![Measure::most("", score)],
        }
    }

    /// The same in one line.
    pub fn told(&self, score: f64) -> String {
        measure::told(&self.measures(score))
    }

    /// The best score known.
    pub fn best_known(&self) -> Option<f64> {
        match &self.opened {
            Opened::Problem(problem) => problem.best_known(),
            Opened::Game(_) => None,
        }
    }
}

/// Whether a name that is no instance looks like a file that is not there: what to say, with the nearest that is.
fn missing(name: &str) -> Option<String> {
    let path = Path::new(name);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty())?;
    if path.exists() {
        return None;
    }
    if !parent.is_dir() {
        // A folder of runs that nobody has made yet.
        let ours = parent.starts_with("runs") || name.starts_with(['.', '/']);
        return ours.then(|| format!("there is no {name}, and no folder {}", parent.display()));
    }
    let there: Vec<String> = parent
        .read_dir()
        .ok()?
        .flatten()
        .take(10_000)
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    let wanted = path.file_name()?.to_str()?;
    Some(match sortie_core::parts::nearest(wanted, there.iter().map(String::as_str)) {
        Some(near) => format!("there is no {name}: did you mean {}?", parent.join(near).display()),
        None => format!("there is no {name}, neither a file nor an instance"),
    })
}

/// Reads what is typed or piped in, as `samegame/-` wants it.
pub fn read_stdin(bytes_max: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("larger than {} MiB", bytes_max >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "not a text (not UTF-8)".into())
}

/// A record that was read, and where it came from.
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub record: Record,
    /// The instance file as the run had it, if the record lies in a run folder that holds a copy.
    pub copy: Option<String>,
}

impl Source {
    /// Reads a record file, or the best record of a run folder.
    pub fn read(given: &Path) -> Result<Source> {
        let path = if given.is_dir() { given.join(folder::RECORD) } else { given.to_path_buf() };
        let text = read_text(&path, TEXT_BYTES_MAX).map_err(|message| match given.is_dir() {
            true if given.join(folder::SPEC).exists() => {
                anyhow!("{}: this run has no {} yet ({message})", given.display(), folder::RECORD)
            }
            true => anyhow!("{}: not a run folder ({}: {message})", given.display(), folder::RECORD),
            false => anyhow!("{}: {message}", given.display()),
        })?;
        let record =
            Record::parse(&text).map_err(|e| anyhow!("{}:{}: {}", path.display(), e.line, e.message))?;
        let copy = path.parent().and_then(|folder| folder::instance_copy(folder, &record.instance));
        Ok(Source { path, record, copy })
    }

    /// Opens the instance the record names.
    pub fn instance(&self) -> Result<Instance> {
        Instance::open_copy(&self.record.instance, self.copy.clone())
            .and_then(|instance| instance.begin_as(&self.record))
            .with_context(|| format!("{}: cannot open its instance", self.path.display()))
    }
}
