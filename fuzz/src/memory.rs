//! How much memory an answer takes: an allocator that counts what its own thread holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// Bytes that this thread has and had at most, since the last reset. Constant at first, so that to read it allocates
    /// nothing.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // At the very end of a thread there is nothing to count in any more.
    let _ = HELD.try_with(|held| {
        let (now, peak) = held.get();
        let now = now.saturating_add(bytes);
        held.set((now, peak.max(now)));
    });
}

// SAFETY: every call goes to the system's allocator as it came; counting touches memory of this thread alone.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: it came from `alloc` above, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Begins to count.
pub fn reset() {
    HELD.set((0, 0));
}

/// The most that was held since.
pub fn peak() -> usize {
    HELD.get().1.max(0) as usize
}
