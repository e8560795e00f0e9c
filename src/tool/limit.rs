//! How much of a text a model gets: whole lines, from the head or from the tail.

use serde::Serialize;
use serde_json::Value;

/// The bounds of one text; whichever is reached first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most lines.
    pub max_lines: usize,
    /// Most bytes of UTF-8.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_lines: 2000,
            max_bytes: 50 * 1024,
        }
    }
}

/// Which bound cut a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncatedBy {
    /// [`Limits::max_lines`].
    Lines,
    /// [`Limits::max_bytes`].
    Bytes,
}

/// How a text was cut: `details.truncation` of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// What was kept, without the notice for the model.
    pub content: String,
    /// Always true: an uncut text has no such object.
    pub truncated: bool,
    /// The bound that was reached.
    pub truncated_by: TruncatedBy,
    /// Lines before cutting.
    pub total_lines: u64,
    /// Bytes before cutting.
    pub total_bytes: u64,
    /// Lines kept.
    pub output_lines: u64,
    /// Bytes kept.
    pub output_bytes: u64,
    /// The kept text starts inside a line (only when that one line is over the byte bound).
    pub last_line_partial: bool,
    /// Nothing was kept because the first line alone is over the byte bound.
    pub first_line_exceeds_limit: bool,
    /// The line bound.
    pub max_lines: u64,
    /// The byte bound.
    pub max_bytes: u64,
}

impl Truncation {
    /// As a value of `details`.
    pub(super) fn to_value(&self) -> Value {
        serde_json::json!(self)
    }

    /// A note for the model about the bound that was reached.
    pub(super) fn note(&self) -> String {
        match self.truncated_by {
            TruncatedBy::Lines => format!("Cut at {} lines", self.max_lines),
            TruncatedBy::Bytes => format!("Cut at {}", size(self.max_bytes)),
        }
    }
}

/// A part of a text, as a cut by [`Limits::head`] or [`Limits::tail`] left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    pub(super) text: &'a str,
    pub(super) lines: u64,
    /// Which bound cut it, if one did.
    pub(super) by: Option<TruncatedBy>,
    /// It starts inside a line.
    pub(super) partial: bool,
}

impl Limits {
    /// The first whole lines of `text`. A cut text has no line break at its end; one whose first
    /// line is too long is empty.
    pub(super) fn head(self, text: &str) -> Kept<'_> {
        let (mut end, mut lines) = (0, 0);
        for line in text.split_inclusive('\n') {
            let length = line.strip_suffix('\n').unwrap_or(line).len();
            let by = if lines == self.max_lines {
                TruncatedBy::Lines
            } else if end + length > self.max_bytes {
                TruncatedBy::Bytes
            } else {
                end += line.len();
                lines += 1;
                continue;
            };
            let kept = &text[..end];
            let text = kept.strip_suffix('\n').unwrap_or(kept);
            return Kept {
                text,
                lines: lines as u64,
                by: Some(by),
                partial: false,
            };
        }
        Kept {
            text,
            lines: lines as u64,
            by: None,
            partial: false,
        }
    }

    /// Cuts rows, which have no line break at their end, to the first ones. Tells how, if it did.
    pub(super) fn cut_rows(self, rows: &mut String) -> Option<Truncation> {
        let kept = self.head(rows);
        let (by, lines, bytes) = (kept.by?, kept.lines, kept.text.len());
        let truncation = Truncation {
            content: kept.text.to_owned(),
            truncated: true,
            truncated_by: by,
            total_lines: memchr::memchr_iter(b'\n', rows.as_bytes()).count() as u64 + 1,
            total_bytes: rows.len() as u64,
            output_lines: lines,
            output_bytes: bytes as u64,
            last_line_partial: false,
            first_line_exceeds_limit: lines == 0,
            max_lines: self.max_lines as u64,
            max_bytes: self.max_bytes as u64,
        };
        rows.truncate(bytes);
        Some(truncation)
    }

    /// The last whole lines of `text`, which has no line break at its end. Of a last line that is
    /// too long its tail is kept, from a character boundary.
    pub(super) fn tail(self, text: &str) -> Kept<'_> {
        let (mut start, mut lines) = (text.len(), 0);
        while start > 0 || lines == 0 {
            // The line before `start`; its own line break, if any, is the byte before `start`.
            let end = if lines == 0 { start } else { start - 1 };
            let begin = memchr::memrchr(b'\n', &text.as_bytes()[..end]).map_or(0, |at| at + 1);
            let by = if lines == self.max_lines {
                TruncatedBy::Lines
            } else if text.len() - begin > self.max_bytes {
                TruncatedBy::Bytes
            } else {
                start = begin;
                lines += 1;
                continue;
            };
            let partial = lines == 0;
            if partial {
                start = text.ceil_char_boundary(text.len() - self.max_bytes);
                lines = 1;
            }
            return Kept {
                text: &text[start..],
                lines: lines as u64,
                by: Some(by),
                partial,
            };
        }
        Kept {
            text,
            lines: lines as u64,
            by: None,
            partial: false,
        }
    }
}

/// The words that offer a higher `limit`, as long as there is one.
pub(super) fn higher(limit: u64, most: u64) -> String {
    if limit >= most {
        return String::new();
    }
    format!(", or limit={}", (limit * 2).min(most))
}

/// Puts notes for the model below a text.
pub(super) fn add_notes(text: &mut String, notes: &[String]) {
    if !notes.is_empty() {
        text.push_str("\n\n[");
        text.push_str(&notes.join(". "));
        text.push(']');
    }
}

/// A number of bytes for people: `12B`, `50.0KB`, `1.5MB`.
pub(super) fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = KB * KB;
    let tenths = |unit: u64| {
        let tenths = u128::from(bytes) * 10 / u128::from(unit);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..KB => format!("{bytes}B"),
        KB..MB => format!("{}KB", tenths(KB)),
        MB.. => format!("{}MB", tenths(MB)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Limits, TruncatedBy, size};

    const SMALL: Limits = Limits {
        max_lines: 3,
        max_bytes: 10,
    };

    fn cut(kept: Kept<'_>) -> (&str, u64, Option<TruncatedBy>, bool) {
        (kept.text, kept.lines, kept.by, kept.partial)
    }

    #[test]
    fn the_head_is_whole_lines() {
        for (text, expected) in [
            ("", ("", 0, None, false)),
            ("a\nb\nc\n", ("a\nb\nc\n", 3, None, false)),
            (
                "a\nb\nc\nd",
                ("a\nb\nc", 3, Some(TruncatedBy::Lines), false),
            ),
            ("abcde\nabcd", ("abcde\nabcd", 2, None, false)),
            (
                "abcde\nabcde\nx",
                ("abcde", 1, Some(TruncatedBy::Bytes), false),
            ),
            ("abcdefghijk\n", ("", 0, Some(TruncatedBy::Bytes), false)),
            ("abcdefghij\n", ("abcdefghij\n", 1, None, false)),
        ] {
            assert_eq!(cut(SMALL.head(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn the_tail_is_whole_lines_or_the_end_of_one() {
        for (text, expected) in [
            ("", ("", 1, None, false)),
            ("a\nb\nc", ("a\nb\nc", 3, None, false)),
            (
                "a\nb\nc\nd",
                ("b\nc\nd", 3, Some(TruncatedBy::Lines), false),
            ),
            ("abcde\nabcd", ("abcde\nabcd", 2, None, false)),
            (
                "abcde\nabcde",
                ("abcde", 1, Some(TruncatedBy::Bytes), false),
            ),
            ("\n\n", ("\n\n", 3, None, false)),
            ("\n\n\nx", ("\n\nx", 3, Some(TruncatedBy::Lines), false)),
            (
                "x\nabcdefghijk",
                ("bcdefghijk", 1, Some(TruncatedBy::Bytes), true),
            ),
            ("äöüßäöü", ("üßäöü", 1, Some(TruncatedBy::Bytes), true)),
            ("aäöüßäöb", ("üßäöb", 1, Some(TruncatedBy::Bytes), true)),
        ] {
            assert_eq!(cut(SMALL.tail(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn sizes_are_for_people() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (51200, "50.0KB"),
            (1_572_864, "1.5MB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
