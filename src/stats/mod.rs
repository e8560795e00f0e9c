//! What a stream holds, counted: turns, tools and their times, tokens and cost, retries, bytes.
//!
//! A [`Counter`] takes the lines of a stream of any wire one by one and keeps sums, no lines. What it
//! does not know it counts by its `type`; what it cannot read it counts as unreadable.

mod count;
mod report;
#[cfg(test)]
mod tests;
mod usage;

use std::io::{self, BufRead};

use crate::contract::json::Document;
use crate::contract::lines::{Fault, Lines};

pub use count::Counter;
pub use report::{
    Agents, Compactions, Deltas, Duration, EventRow, Longest, ModelRow, Requests, Retries, Stats,
    Summaries, TimeSource, ToolRow, Unreadable,
};

/// Counts a stream to its end.
///
/// # Errors
/// What the reader gave.
pub fn count(from: impl BufRead) -> io::Result<Counter> {
    let mut lines = Lines::new(from);
    let mut counter = Counter::default();
    let mut scratch = Document::default();
    loop {
        let begin = lines.offset();
        let Some(frame) = lines.next_line()? else {
            break;
        };
        let whole = !matches!(frame.fault, Some(Fault::TooLong { .. } | Fault::Blank));
        let text = whole
            .then(|| std::str::from_utf8(frame.bytes).ok())
            .flatten();
        // The vector of one line serves the next, which needs a document that borrows from none.
        let read = text.and_then(|text| Document::read(text, std::mem::take(&mut scratch)).ok());
        match &read {
            Some(document) if document.root().is_object() => counter.line(document.root()),
            _ => counter.unreadable(),
        }
        scratch = read.map_or_else(Document::default, emptied);
        let size = lines.offset() - begin;
        counter.size(size);
    }
    Ok(counter)
}

/// The document without what it borrows.
fn emptied(document: Document<'_>) -> Document<'static> {
    Document::read("null", document).unwrap_or_default()
}
