//! Panics as errors. The B-tree of a file that a disk or somebody has damaged ends in an assertion of its own: whoever
//! asked gets an answer instead, and nothing on the terminal.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here, and so nobody's to print. The hook for panics is one for all threads.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}
static HOOK: Once = Once::new();

/// Does something that may panic on bad data; if it does, what it said.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !CAUGHT.get() {
                before(panic);
            }
        }));
    });
    let outer = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    done.map_err(|panic| {
        words(&*panic).unwrap_or("no reason is given").lines().next().unwrap_or_default().to_string()
    })
}

fn words(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(
            guarded(|| -> u8 { panic!("page {} is wrong\nand more", 3) }),
            Err("page 3 is wrong".into())
        );
        assert_eq!(guarded(|| guarded(|| -> u8 { panic!("inner") }).is_err()), Ok(true));
    }
}
