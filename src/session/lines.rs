//! The lines of a session file, one at a time.

use std::borrow::Cow;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::model::repair_surrogates;

/// A line of a session file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    /// Where it begins, in bytes.
    pub(super) offset: u64,
    /// What it says, without its line break.
    pub(super) text: &'a [u8],
}

impl Line<'_> {
    /// Whether there is nothing on it.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }
}

/// Reads lines; only one is in memory.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: usize,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
            offset: 0,
        }
    }

    /// The next line, the last one also without a line break; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        if self.reader.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(Line {
            number: self.number,
            offset: self.offset,
            text: self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer),
        }))
    }
}

/// What tells where an entry belongs; the rest is not read.
#[derive(Debug, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    pub(super) id: Option<String>,
    #[serde(rename = "parentId")]
    pub(super) parent_id: Option<String>,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// An object with a `type`.
    Entry(Head<'a>),
    /// Whole JSON, but no entry.
    Other(String),
    /// No JSON, such as half a line.
    Broken(String),
}

/// Tells what a line is. Its fields but those of [`Head`] are passed over.
pub(super) fn shape(text: &[u8]) -> Shape<'_> {
    let error = if text.trim_ascii_start().starts_with(b"{") {
        match serde_json::from_slice(text) {
            Ok(head) => return Shape::Entry(head),
            Err(error) => error.to_string(),
        }
    } else {
        "it is no object".to_owned()
    };
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(IgnoredAny) => Shape::Other(error),
        Err(error) => Shape::Broken(error.to_string()),
    }
}

/// The text of a line, in which what is no Unicode stands as U+FFFD: other programs store what
/// commands print as it is, and halves of characters where they cut it.
pub(super) fn readable(text: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(text);
    match repair_surrogates(&text) {
        Some(repaired) => repaired.into(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_places() {
        let mut lines = Lines::new(&b"ab\n\r\nc"[..]);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((
                line.number,
                line.offset,
                line.text.to_vec(),
                line.is_blank(),
            ));
        }
        assert_eq!(
            seen,
            [
                (1, 0, b"ab".to_vec(), false),
                (2, 3, b"\r".to_vec(), true),
                (3, 5, b"c".to_vec(), false),
            ]
        );
    }

    #[test]
    fn a_line_is_an_entry_or_json_or_neither() {
        let entry = br#"{"type":"x","id":"1","parentId":null,"deep":[[{"lone":"\ud83d"}]]}"#;
        assert!(matches!(shape(entry), Shape::Entry(head) if head.kind == "x"));
        for other in [
            r#"["message","1","2"]"#,
            "1",
            r#"{"id":"1"}"#,
            r#"{"type":1}"#,
        ] {
            assert!(
                matches!(shape(other.as_bytes()), Shape::Other(_)),
                "{other}"
            );
        }
        for broken in ["", "{", r#"{"type":"x"}}"#, "\0\0", "nul"] {
            assert!(
                matches!(shape(broken.as_bytes()), Shape::Broken(_)),
                "{broken}"
            );
        }
    }

    #[test]
    fn what_is_no_unicode_is_replaced() {
        assert_eq!(readable(b"\"a\xffb\""), "\"a\u{fffd}b\"");
        assert_eq!(readable(br#""\ud83d!""#), r#""\ufffd!""#);
    }
}
