//! What reads bytes from outside, as plain functions of those bytes.
//!
//! A target panics when the reader breaks a promise, and never otherwise, whatever the bytes are.
//! There is one seed folder a target in `tests/fuzz`. The targets are built for tests and under
//! cargo-fuzz only.

#[cfg(test)]
pub(crate) mod tests;

pub use crate::convert::fuzz::convert;
pub use crate::event::fuzz::partial_json;
pub use crate::model::fuzz::{anthropic, google, openai_chat, openai_responses, sse};
pub use crate::session::fuzz::session;

/// A function to throw bytes at.
pub type Target = fn(&[u8]);

/// Every target with its name, which is that of its seed folder.
pub const TARGETS: &[(&str, Target)] = &[
    ("anthropic", anthropic),
    ("convert", convert),
    ("google", google),
    ("openai_chat", openai_chat),
    ("openai_responses", openai_responses),
    ("partial_json", partial_json),
    ("session", session),
    ("sse", sse),
];

/// Places at which to cut the bytes in two: the ends and three between that follow from the bytes,
/// so that a failing input fails again.
pub(crate) fn cuts(data: &[u8]) -> impl Iterator<Item = usize> {
    // FNV-1a.
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let length = data.len() as u64 + 1;
    let between = [0, 20, 40].map(|shift| usize::try_from((hash >> shift) % length).unwrap_or(0));
    between.into_iter().chain([0, data.len()])
}
