//! Where the allocator gets memory from.

use core::alloc::Layout;
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::source::Source;

const PAGE: usize = 1 << 16;
/// What the allocator puts around an allocation, and more.
const AROUND: usize = 256;

/// Memory in steps of an eighth of what there is. V8 looks for garbage at each step: with steps of what the next allocation needs,
/// reading a body of many small spans took four times as long.
#[derive(Debug)]
pub(super) struct Steps {
    end: Option<NonNull<u8>>,
}

impl Steps {
    pub const fn new() -> Steps {
        Steps { end: None }
    }
}

// SAFETY: it allocates nothing, and gives `talc` only memory that was just added.
unsafe impl Source for Steps {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let needed = layout.size().saturating_add(layout.align() + AROUND).div_ceil(PAGE);
        let mut pages = needed.max(memory_size::<0>() / 8);
        let mut before = memory_grow::<0>(pages);
        if before == usize::MAX {
            pages = needed;
            before = memory_grow::<0>(pages);
        }
        if before == usize::MAX {
            return Err(());
        }
        let (base, bytes) = ((before * PAGE) as *mut u8, pages * PAGE);
        talc.source.end = match talc.source.end {
            // SAFETY: the memory follows on what `talc` has, and is nobody's.
            Some(end) if end.as_ptr() == base => Some(unsafe { talc.extend(end, base.wrapping_add(bytes)) }),
            // SAFETY: the memory is nobody's.
            _ => Some(unsafe { talc.claim(base, bytes) }.ok_or(())?),
        };
        Ok(())
    }
}
