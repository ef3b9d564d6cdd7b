//! The only file that calls MPI: frames in and out, without ever waiting.
//!
//! What has come is first looked at, and received only if it is no longer than a frame may be. Receives that are posted
//! ahead would be a little faster, but a message longer than the buffer that waits for it is then MPI's to deal with,
//! and Open MPI 4.1 writes past the buffer (shared memory, single copy) or never ends (without). Messages of a sender
//! are found in the order of its sends, and are handed on in the order in which they were found. A frame that is sent
//! lives in a slot until MPI is done with it; no free slot is `Full`. The safe layer of the crate `mpi` lends buffers
//! to a scope and cannot do this.
//!
//! MPI is asked for the thread level "serialised": any thread may call, one at a time. `Lines` is therefore always
//! behind a lock. Errors are returned, not fatal: a frame that is too long, or a partner that has gone, must not end
//! the process.

use crate::{FRAME_MAX, RankId, SendError};
use mpi_sys as ffi;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Frames that are being received.
const INCOMING: usize = 64;
/// Frames being sent.
const SLOTS: usize = 128;
/// Of these at most so many to one rank, so that one that sits still does not hold up the others.
const SLOTS_A_RANK: u32 = 48;
/// Buffers kept for the next frame that comes.
const SPARE: usize = 64;

pub(crate) struct Lines {
    comm: ffi::MPI_Comm,
    pub me: RankId,
    pub size: u32,
    /// Frames on their way in, as they were found: sender, tag, where the bytes go.
    incoming: VecDeque<(RankId, u32, Vec<u8>, ffi::MPI_Request)>,
    /// Frames on their way out, with their destination; `requests` runs parallel.
    slots: Vec<Option<(RankId, Vec<u8>)>>,
    requests: Vec<ffi::MPI_Request>,
    free: Vec<usize>,
    /// By rank: slots in use for it.
    waiting: Vec<u32>,
    spare: Vec<Vec<u8>>,
    /// Ranks that MPI says it cannot reach, in the order in which that was found.
    pub gone: Vec<RankId>,
}

// SAFETY: what is not `Send` here are MPI's handles, which mean the same on every thread; at the thread level that was
// asked for and granted, calls from several threads are allowed one at a time, and `&mut self` keeps them so.
unsafe impl Send for Lines {}

impl Lines {
    /// Starts MPI. Once in the life of a process.
    pub fn start() -> Result<Lines, String> {
        let (mut provided, mut me, mut size) = (0, 0, 0);
        // SAFETY: null arguments are allowed; all pointers are to locals.
        let (comm, asked) = unsafe {
            let asked = ffi::RSMPI_THREAD_SERIALIZED;
            let null = std::ptr::null_mut();
            check(ffi::MPI_Init_thread(null, std::ptr::null_mut(), asked, &mut provided), "MPI_Init_thread")?;
            let mut comm = ffi::RSMPI_COMM_WORLD;
            check(ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &mut comm), "MPI_Comm_dup")?;
            for comm in [ffi::RSMPI_COMM_WORLD, comm] {
                check(
                    ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN),
                    "MPI_Comm_set_errhandler",
                )?;
            }
            check(ffi::MPI_Comm_rank(comm, &mut me), "MPI_Comm_rank")?;
            check(ffi::MPI_Comm_size(comm, &mut size), "MPI_Comm_size")?;
            (comm, asked)
        };
        if provided < asked {
            return Err(format!("this MPI has thread level {provided}: expected at least {asked}"));
        }
        // SAFETY: a constant.
        let null = unsafe { ffi::RSMPI_REQUEST_NULL };
        Ok(Lines {
            comm,
            me: RankId(me as u32),
            size: size as u32,
            incoming: VecDeque::new(),
            slots: (0..SLOTS).map(|_| None).collect(),
            requests: vec![null; SLOTS],
            free: (0..SLOTS).collect(),
            waiting: vec![0; size as usize],
            spare: Vec::new(),
            gone: Vec::new(),
        })
    }

    /// Sends a frame or gives it back.
    pub fn try_send(&mut self, to: RankId, tag: u32, frame: Vec<u8>) -> Result<(), SendError> {
        if frame.len() > FRAME_MAX {
            return Err(SendError::TooLong);
        }
        self.send_any(to, tag, frame)
    }

    /// The same without a limit: for tests of what the receiver does.
    pub fn send_any(&mut self, to: RankId, tag: u32, frame: Vec<u8>) -> Result<(), SendError> {
        if to.0 >= self.size || self.gone.contains(&to) {
            return Err(SendError::Gone);
        }
        if self.free.is_empty() || self.waiting[to.0 as usize] >= SLOTS_A_RANK {
            self.reap();
        }
        if self.waiting[to.0 as usize] >= SLOTS_A_RANK {
            return Err(SendError::Full(frame));
        }
        let Some(slot) = self.free.pop() else { return Err(SendError::Full(frame)) };
        let length = c_int::try_from(frame.len()).unwrap_or(c_int::MAX);
        let (_, frame) = self.slots[slot].insert((to, frame));
        // SAFETY: the bytes of the vector stay where they are, and nobody writes to them, until `reap` has seen that
        // the request is complete; `close` waits for that or leaves the vector alone.
        let code = unsafe {
            let (data, kind) = (frame.as_ptr().cast(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Isend(
                data,
                length,
                kind,
                to.0 as c_int,
                tag as c_int,
                self.comm,
                &mut self.requests[slot],
            )
        };
        if check(code, "MPI_Isend").is_err() {
            self.slots[slot] = None;
            self.free.push(slot);
            self.lose(to);
            return Err(SendError::Gone);
        }
        self.waiting[to.0 as usize] += 1;
        Ok(())
    }

    /// Frees the slots of frames that have been sent.
    fn reap(&mut self) {
        let (mut done, mut indices) = (0, [0; SLOTS]);
        // SAFETY: plain numbers.
        let mut statuses: [ffi::MPI_Status; SLOTS] = unsafe { std::mem::zeroed() };
        // SAFETY: the arrays have as many elements as there are slots. Requests without a message are null and skipped.
        let code = unsafe {
            let (requests, indices) = (self.requests.as_mut_ptr(), indices.as_mut_ptr());
            ffi::MPI_Testsome(SLOTS as c_int, requests, &mut done, indices, statuses.as_mut_ptr())
        };
        // MPI_UNDEFINED, which is negative, where none is active.
        for (&slot, status) in indices.iter().zip(&statuses).take(done.max(0) as usize) {
            let Some((to, frame)) = self.slots[slot as usize].take() else { continue };
            self.free.push(slot as usize);
            self.waiting[to.0 as usize] -= 1;
            if code != ffi::MPI_SUCCESS as c_int && status.MPI_ERROR != ffi::MPI_SUCCESS as c_int {
                self.lose(to);
            } else if self.spare.len() < SPARE {
                self.spare.push(frame);
            }
        }
    }

    fn lose(&mut self, rank: RankId) {
        if !self.gone.contains(&rank) {
            self.gone.push(rank);
        }
    }

    /// The next frame that has come: its sender, tag and bytes. One that is longer than any is never received: in its
    /// place come more zeros than a frame may have bytes.
    pub fn poll(&mut self) -> Option<(RankId, u32, Vec<u8>)> {
        if self.incoming.len() < INCOMING
            && let Some(refused) = self.look()
        {
            return Some(refused);
        }
        let (from, _, _, request) = self.incoming.front_mut()?;
        let (from, mut flag) = (*from, 0);
        // SAFETY: the request belongs to the buffer beside it.
        let code = unsafe { ffi::MPI_Test(request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        if check(code, "MPI_Test").is_err() {
            self.lose(from);
            self.incoming.pop_front();
            return None;
        }
        let (from, tag, frame, _) = if flag != 0 { self.incoming.pop_front()? } else { return None };
        Some((from, tag, frame))
    }

    /// Looks for a message and begins to receive it. Returns only what stands for one that is too long.
    fn look(&mut self) -> Option<(RankId, u32, Vec<u8>)> {
        let (mut found, mut length) = (0, 0);
        // SAFETY: plain numbers and a constant; all pointers are to locals.
        let (code, mut message, status) = unsafe {
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            let mut message = ffi::RSMPI_MESSAGE_NULL;
            let (source, tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            let code = ffi::MPI_Improbe(source, tag, self.comm, &mut found, &mut message, &mut status);
            if found != 0 {
                ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut length);
            }
            (code, message, status)
        };
        if found == 0 || check(code, "MPI_Improbe").is_err() {
            return None;
        }
        let (from, tag) = (RankId(status.MPI_SOURCE as u32), status.MPI_TAG as u32);
        // A length that does not fit an int is negative.
        let Some(length) = usize::try_from(length).ok().filter(|&length| length <= FRAME_MAX) else {
            return Some((from, tag, vec![0; FRAME_MAX + 1]));
        };
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.clear();
        frame.resize(length, 0);
        // SAFETY: the buffer has as many bytes as the message; it is on the heap, so it does not move with its vector,
        // and nobody touches it until the request is complete. `close` waits for it or leaks it.
        let code = unsafe {
            let (data, kind) = (frame.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let code = ffi::MPI_Imrecv(data, length as c_int, kind, &mut message, &mut request);
            self.incoming.push_back((from, tag, frame, request));
            code
        };
        if check(code, "MPI_Imrecv").is_err() {
            self.lose(from);
            self.incoming.pop_back();
        }
        None
    }

    /// Ends MPI when all processes do, or gives up after a while. True: it ended.
    pub fn close(&mut self, patience: Duration) -> bool {
        let begun = Instant::now();
        // SAFETY: a constant.
        let mut barrier = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the request outlives the barrier, or is given up with the whole process.
        if check(unsafe { ffi::MPI_Ibarrier(self.comm, &mut barrier) }, "MPI_Ibarrier").is_err() {
            return false;
        }
        loop {
            // What still comes belongs to nobody.
            while self.poll().is_some() {}
            let mut flag = 0;
            // SAFETY: the request of the barrier.
            let code = unsafe { ffi::MPI_Test(&mut barrier, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
            self.reap();
            if check(code, "MPI_Test").is_err() || (flag == 0 && begun.elapsed() > patience) {
                return false;
            }
            // Everybody is here. What is still on its way out nobody will take.
            if flag != 0 && (self.free.len() == SLOTS || begun.elapsed() > Duration::from_millis(100)) {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        // What MPI might still touch stays where it is to the end of the process.
        std::mem::forget((std::mem::take(&mut self.slots), std::mem::take(&mut self.incoming)));
        // SAFETY: nothing is called after it.
        unsafe { ffi::MPI_Finalize() == ffi::MPI_SUCCESS as c_int }
    }

    /// Ends the whole job.
    pub fn abort(&mut self, code: i32) {
        // SAFETY: it does not matter what is under way.
        unsafe { ffi::MPI_Abort(self.comm, code) };
    }
}

fn class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: a local.
    unsafe { ffi::MPI_Error_class(code, &mut class) };
    class
}

fn check(code: c_int, call: &str) -> Result<(), String> {
    if code == ffi::MPI_SUCCESS as c_int { Ok(()) } else { Err(format!("{call}: error {}", class(code))) }
}
