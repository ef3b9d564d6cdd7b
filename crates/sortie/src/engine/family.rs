//! All that an engine has started, whatever it calls itself by now. A process can leave its group (`setsid`) and its parents;
//! the mark in its environment it keeps, unless it was started with another one, and then it still has its parents.

use std::time::{SystemTime, UNIX_EPOCH};
#[cfg(unix)]
use std::{collections::HashSet, fs};

/// The variable that holds the mark. Nobody reads it but us, here.
pub const VARIABLE: &str = "SORTIE_ENGINE";
/// How often it is looked for those that were started meanwhile.
#[cfg(unix)]
const PASSES_MAX: u32 = 50;

/// A mark that no other engine on this machine has.
pub fn mark() -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{:?}-{nanoseconds}", std::process::id(), std::thread::current().id())
}

/// The processes with a mark, and those below `first`. None where the system has no `/proc`.
#[cfg(unix)]
fn members(first: u32, mark: &str) -> HashSet<u32> {
    let (mut found, mut others) = (HashSet::from([first]), Vec::new());
    let wanted = format!("{VARIABLE}={mark}");
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()) {
            found.insert(process);
        } else if let Some(parent) = parent(process) {
            others.push((process, parent));
        }
    }
    // Children may have smaller numbers than their parents.
    loop {
        let before = found.len();
        let below: Vec<u32> =
            others.iter().filter(|(_, parent)| found.contains(parent)).map(|(process, _)| *process).collect();
        found.extend(below);
        if found.len() == before {
            found.remove(&first);
            return found;
        }
    }
}

/// The parent of a process: the second word after its name, which stands in brackets and may hold anything.
#[cfg(unix)]
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process has ended and only waits to be asked how.
#[cfg(unix)]
fn is_zombie(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Ends all that an engine has started; `end_it` ends the engine itself and its group.
#[cfg(unix)]
pub fn end(first: u32, mark: &str, end_it: impl FnOnce()) {
    // Its children lose their parent with it.
    let mut members_now = members(first, mark);
    end_it();
    for _ in 0..PASSES_MAX {
        members_now.retain(|&process| !is_zombie(process));
        if members_now.is_empty() {
            return;
        }
        for &process in &members_now {
            if let Some(process) = rustix::process::Pid::from_raw(process as i32) {
                let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            }
        }
        members_now = members(first, mark);
    }
}
