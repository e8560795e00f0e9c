//! Rows of `grep`: taken from the searcher file by file, laid out as text in the end.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::tool::walk::Weight;

/// Most characters of a line that are shown.
pub(super) const LONGEST: usize = 500;

/// In a longer line, so many bytes before a match that would not be seen otherwise.
const LEAD: usize = 100;

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Hits {
    rows: Vec<Row>,
    matches: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Row {
    kind: Kind,
    line: u64,
    text: String,
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Context of the match that comes next.
    Before,
    Match,
    /// Context of the match that came last.
    After,
    /// Between lines that are not neighbours.
    Gap,
}

impl Hits {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.matches == 0
    }
}

impl Weight for Hits {
    fn count(&self) -> usize {
        self.matches
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Takes the hits of one file, up to just over a number of matches or of bytes.
pub(super) struct Collector<'a> {
    /// Finds the place of a match in a long line.
    pub(super) matcher: &'a RegexMatcher,
    pub(super) most: usize,
    pub(super) most_bytes: usize,
    pub(super) hits: Hits,
    /// The searcher came upon a NUL byte.
    pub(super) is_binary: bool,
}

impl Collector<'_> {
    fn push(&mut self, kind: Kind, line: Option<u64>, bytes: &[u8], at: usize) -> bool {
        let (text, is_cut) = cut(bytes, at);
        let hits = &mut self.hits;
        hits.bytes += size_of::<Row>() + text.len();
        hits.matches += usize::from(kind == Kind::Match);
        hits.rows.push(Row {
            kind,
            line: line.unwrap_or_default(),
            text: text.into_owned(),
            is_cut,
        });
        hits.matches <= self.most && hits.bytes <= self.most_bytes
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let mut at = 0;
        if line.len() > LONGEST
            && let Ok(Some(place)) = self.matcher.find(line)
        {
            at = place.start();
        }
        Ok(self.push(Kind::Match, found.line_number(), line, at))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let kind = match context.kind() {
            SinkContextKind::Before => Kind::Before,
            SinkContextKind::After | SinkContextKind::Other => Kind::After,
        };
        Ok(self.push(kind, context.line_number(), context.bytes(), 0))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        Ok(self.push(Kind::Gap, None, b"", 0))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

/// A line as it is shown, with the byte `at` in it, and whether that is not all of it.
fn cut(line: &[u8], at: usize) -> (Cow<'_, str>, bool) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST {
        return (String::from_utf8_lossy(line), false);
    }
    let mut start = 0;
    let (mut shown, mut is_whole) = first_characters(line);
    if at >= shown.len() {
        start = at - LEAD.min(at);
        // Not from the middle of a character.
        let is_inside = |&byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        start += line[start..]
            .iter()
            .take(3)
            .take_while(|byte| is_inside(byte))
            .count();
        (shown, is_whole) = first_characters(&line[start..]);
    }
    let text = String::from_utf8_lossy(shown);
    if start == 0 && is_whole {
        return (text, false);
    }
    let before = if start == 0 { "" } else { "[truncated] ... " };
    let after = if is_whole { "" } else { "... [truncated]" };
    (format!("{before}{text}{after}").into(), true)
}

/// The bytes of as many characters as are shown, and whether these are all. A sequence of bytes
/// that is no UTF-8 is one.
fn first_characters(line: &[u8]) -> (&[u8], bool) {
    let (mut characters, mut end) = (0, 0);
    for chunk in line.utf8_chunks() {
        for (at, _) in chunk.valid().char_indices() {
            if characters == LONGEST {
                return (&line[..end + at], false);
            }
            characters += 1;
        }
        end += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            if characters == LONGEST {
                return (&line[..end], false);
            }
            characters += 1;
            end += chunk.invalid().len();
        }
    }
    (line, true)
}

/// The text of a result.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) text: String,
    /// There are matches over the limit.
    pub(super) more: bool,
    /// A line that is shown was cut.
    pub(super) long_rows: bool,
    limit: usize,
    has_context: bool,
    matches: usize,
}

impl Sheet {
    /// An empty sheet for so many matches.
    pub(super) fn new(limit: usize, has_context: bool) -> Self {
        Self {
            text: String::new(),
            more: false,
            long_rows: false,
            limit,
            has_context,
            matches: 0,
        }
    }

    /// Adds the hits of the next file.
    pub(super) fn add(&mut self, path: &str, hits: &Hits) {
        // What belongs to the match that comes next, if it does.
        let gap = Row {
            kind: Kind::Gap,
            line: 0,
            text: String::new(),
            is_cut: false,
        };
        let mut waiting = Vec::new();
        if self.has_context && !self.text.is_empty() {
            waiting.push(&gap);
        }
        for row in &hits.rows {
            match row.kind {
                Kind::Before | Kind::Gap => waiting.push(row),
                Kind::Match if self.matches == self.limit => {
                    self.more = true;
                    return;
                }
                Kind::Match => {
                    for row in waiting.drain(..) {
                        self.row(path, row);
                    }
                    self.row(path, row);
                    self.matches += 1;
                }
                Kind::After => self.row(path, row),
            }
        }
    }

    fn row(&mut self, path: &str, row: &Row) {
        let Row {
            kind,
            line,
            text,
            is_cut,
        } = row;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        // Writing to a string does not fail.
        let _ = match kind {
            Kind::Gap => write!(self.text, "--"),
            Kind::Match => write!(self.text, "{path}:{line}: {text}"),
            Kind::Before | Kind::After => write!(self.text, "{path}-{line}- {text}"),
        };
        self.long_rows |= is_cut;
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, cut};

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let x = "x".repeat(LONGEST);
        for (line, at, expected, is_cut) in [
            ("short\r\n".to_owned(), 0, "short".to_owned(), false),
            (format!("{x}\n"), 0, x.clone(), false),
            (format!("{x}y"), 0, format!("{x}... [truncated]"), true),
            (format!("{x}y"), 499, format!("{x}... [truncated]"), true),
            (
                format!("{x}{x}needle"),
                2 * LONGEST,
                format!("[truncated] ... {}needle", &x[..100]),
                true,
            ),
            (
                format!("{x}needle{x}"),
                LONGEST,
                format!(
                    "[truncated] ... {}needle{}... [truncated]",
                    &x[..100],
                    &x[..LONGEST - 106]
                ),
                true,
            ),
            ("é".repeat(LONGEST), 998, "é".repeat(LONGEST), false),
            (
                format!("x{}needle", "é".repeat(LONGEST)),
                1001,
                format!("[truncated] ... {}needle", "é".repeat(50)),
                true,
            ),
            (
                format!("{}needle", "é".repeat(LONGEST)),
                1001,
                format!("[truncated] ... {}needle", "é".repeat(49)),
                true,
            ),
        ] {
            let (text, was_cut) = cut(line.as_bytes(), at);
            assert_eq!((text.as_ref(), was_cut), (expected.as_str(), is_cut));
        }
        let odd = b"\xff".repeat(LONGEST + 1);
        let (text, is_cut) = cut(&odd, 0);
        let expected = "\u{fffd}".repeat(LONGEST) + "... [truncated]";
        assert_eq!((text.as_ref(), is_cut), (expected.as_str(), true));
    }
}
