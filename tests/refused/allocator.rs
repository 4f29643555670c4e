//! The system's allocator, which can be told to refuse one large request, and counts what is held.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};

/// What is beyond this only a table asks for that grows with what is worked on; buffers of files
/// are as large at most.
pub(crate) const LARGE: usize = 256 << 10;

/// Requests that are still let through, and the one behind them; none is refused at `usize::MAX`.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);
static REFUSED: AtomicBool = AtomicBool::new(false);
static TRACES: AtomicBool = AtomicBool::new(false);

/// Bytes that are held, and the most that were at one time since the last look. Below zero where
/// another thread gives back what does not count yet.
static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// The largest request since the last look, and from which size on they are not counted.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static UNCOUNTED: AtomicUsize = AtomicUsize::new(usize::MAX);

thread_local! {
    /// A large run of bytes that this thread took last, and where it lies: a memory budget asks the
    /// system whether it would give so much, and takes nothing. It counts from the next request on.
    static TRIED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// What may only be a question counts from here on.
fn count_tried() {
    let (_, bytes) = TRIED.try_with(|tried| tried.replace((0, 0))).unwrap_or_default();
    if bytes > 0 {
        taken(bytes);
    }
}

fn given(place: *mut u8, layout: Layout) {
    count_tried();
    let (own, bytes) = ((place.addr(), layout.size()), layout.size());
    let may_be_one = layout.align() == 1 && bytes > LARGE;
    if !may_be_one || TRIED.try_with(|tried| tried.set(own)).is_err() {
        taken(bytes);
    }
}

fn taken(bytes: usize) {
    LARGEST.fetch_max(bytes, SeqCst);
    if bytes < UNCOUNTED.load(SeqCst) {
        let bytes = bytes as isize;
        MOST.fetch_max(HELD.fetch_add(bytes, SeqCst) + bytes, SeqCst);
    }
}

fn given_back(bytes: usize) {
    if bytes < UNCOUNTED.load(SeqCst) {
        HELD.fetch_sub(bytes as isize, SeqCst);
    }
}

/// Requests half as large as the largest one that this makes are not counted from now on, where
/// that is one of many MiB.
#[allow(dead_code)]
pub(crate) fn not_counted(run: impl FnOnce()) {
    LARGEST.store(0, SeqCst);
    run();
    let half = LARGEST.load(SeqCst) / 2;
    UNCOUNTED.store(if half > 8 << 20 { half } else { usize::MAX }, SeqCst);
}

/// The most bytes that are held at one time while something runs, beside those held before.
#[allow(dead_code)]
pub(crate) fn most_held<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(SeqCst);
    MOST.store(before, SeqCst);
    let found = run();
    count_tried();
    (found, usize::try_from(MOST.load(SeqCst) - before).unwrap_or(0))
}

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Whether this request is the one.
fn refused(size: usize) -> bool {
    if size <= LARGE || LEFT.load(SeqCst) == usize::MAX {
        return false;
    }
    if LEFT.fetch_sub(1, SeqCst) > 1 {
        return false;
    }
    LEFT.store(usize::MAX, SeqCst);
    REFUSED.store(true, SeqCst);
    if TRACES.load(SeqCst) {
        eprintln!("{size} bytes refused\n{}", Backtrace::force_capture());
    }
    true
}

// SAFETY: every request goes to the system's allocator as it is, or is refused by a null pointer,
// which the contract of `GlobalAlloc` allows at any time; what was refused is never freed, and a
// piece that could not grow stays as it was.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return null_mut();
        }
        // SAFETY: the caller's contract is that of the system's allocator.
        let place = unsafe { System.alloc(layout) };
        given(place, layout);
        place
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refused(layout.size()) {
            return null_mut();
        }
        // SAFETY: as above.
        let place = unsafe { System.alloc_zeroed(layout) };
        given(place, layout);
        place
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && refused(size) {
            return null_mut();
        }
        count_tried();
        // Both are held where the system has to move what is there; what shrinks stays in place.
        if size < layout.size() {
            given_back(layout.size());
            taken(size);
        } else {
            taken(size);
            given_back(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        let place = (old.addr(), layout.size());
        let asked = TRIED.try_with(|tried| tried.get() == place && tried.replace((0, 0)) == place);
        if !asked.unwrap_or(false) {
            count_tried();
            given_back(layout.size());
        }
        // SAFETY: as above; all that is freed came from the system's allocator.
        unsafe { System.dealloc(old, layout) }
    }
}

/// A refusal that is waiting.
pub(crate) struct Refusal;

/// Refuses the k-th large request from now on, k from 1.
pub(crate) fn refuse(k: usize, traces: bool) -> Refusal {
    TRACES.store(traces, SeqCst);
    REFUSED.store(false, SeqCst);
    LEFT.store(k, SeqCst);
    Refusal
}

impl Refusal {
    /// Ends it, and says whether a request was refused.
    pub(crate) fn end(self) -> bool {
        LEFT.store(usize::MAX, SeqCst);
        REFUSED.load(SeqCst)
    }
}
