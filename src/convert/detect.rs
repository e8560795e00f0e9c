//! Which wire a recording is of, by its first lines.

use crate::contract::Wire;
use crate::contract::detect::{Detect, HELD_BYTES, HELD_LINES};
use crate::contract::json::Document;

/// Looks at the lines of a recording until they show its wire.
#[derive(Debug, Default)]
pub struct Detector {
    detect: Detect,
    lines: usize,
    bytes: usize,
}

impl Detector {
    /// The wire, once a line shows it, or once so much was looked at that the likeliest has to do.
    pub fn line(&mut self, bytes: &[u8]) -> Option<Wire> {
        self.lines += 1;
        self.bytes += bytes.len();
        let text = std::str::from_utf8(bytes).ok();
        let document = text.and_then(|text| Document::read(text, Document::default()).ok());
        let told = document.and_then(|document| self.detect.take(document.root()));
        let enough = self.lines >= HELD_LINES || self.bytes >= HELD_BYTES;
        told.or_else(|| enough.then(|| self.guess()))
    }

    /// Whether the lines so far may be of a wire.
    #[must_use]
    pub fn may_be(&self, wire: Wire) -> bool {
        self.detect.has(wire)
    }

    /// The likeliest wire of the lines so far. A header alone is a stream of senpi.
    #[must_use]
    pub fn guess(&self) -> Wire {
        self.detect.guess()
    }
}
