//! Terminal output as text: escapes gone, redraws collapsed, memory flat.

use std::borrow::Cow;

use super::limit::{Limits, TruncatedBy, Truncation};

/// What a command has printed, as far as its tail can still be shown.
pub(super) struct Terminal {
    parser: vte::Parser,
    screen: Screen,
}

impl Terminal {
    pub(super) fn new(limits: Limits) -> Self {
        let screen = Screen {
            limits,
            done: String::new(),
            done_lines: 0,
            done_bytes: 0,
            last_done: 0,
            line: String::new(),
            line_cut: 0,
            at_start: false,
        };
        Self {
            parser: vte::Parser::new(),
            screen,
        }
    }

    /// Takes raw bytes; a character or an escape may be spread over several calls.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            match line {
                [text @ .., b'\n'] => {
                    self.advance(text);
                    // CAN ends an escape that never ended, lest it swallow all that follows.
                    self.parser.advance(&mut self.screen, b"\x18\n");
                }
                text => self.advance(text),
            }
        }
    }

    /// In small pieces, for the parser looks through all that is left of one at each invalid byte.
    fn advance(&mut self, text: &[u8]) {
        for piece in text.chunks(512) {
            self.parser.advance(&mut self.screen, piece);
        }
    }

    /// Settles a character that was cut by the end of the output.
    pub(super) fn finish(&mut self) {
        self.parser.advance(&mut self.screen, b"\x18");
    }

    /// Whether the text is over the limits by now.
    pub(super) fn over_limits(&self) -> bool {
        self.screen.total_lines() > self.screen.limits.max_lines as u64
            || self.screen.total_bytes() > self.screen.limits.max_bytes as u64
    }

    /// The text so far, cut to the limits; no line break at its end.
    pub(super) fn tail(&self) -> Tail {
        let Screen { limits, .. } = self.screen;
        let text = self.screen.text();
        let kept = limits.tail(&text);
        let total_lines = self.screen.total_lines();
        let lines = if text.is_empty() { 0 } else { kept.lines };
        // A redraw after a cut may leave fewer lines in the buffer than were printed.
        let less = !text.is_empty() && (lines < total_lines || self.screen.line_cut > 0);
        let by = kept.by.or(less.then_some(TruncatedBy::Bytes));
        let truncation = by.map(|by| Truncation {
            content: kept.text.to_owned(),
            truncated: true,
            truncated_by: by,
            total_lines,
            total_bytes: self.screen.total_bytes(),
            output_lines: lines,
            output_bytes: kept.text.len() as u64,
            last_line_partial: kept.partial,
            first_line_exceeds_limit: false,
            max_lines: limits.max_lines as u64,
            max_bytes: limits.max_bytes as u64,
        });
        Tail {
            text: kept.text.to_owned(),
            last_line: self.screen.last_line_bytes(),
            truncation,
        }
    }
}

/// The shown end of an output.
pub(super) struct Tail {
    pub(super) text: String,
    /// The length of the whole last line in bytes.
    pub(super) last_line: u64,
    /// Present if something was cut.
    pub(super) truncation: Option<Truncation>,
}

/// The lines behind the parser. Both buffers drop their front once they hold twice what can be
/// shown, so what is left is always more than that.
struct Screen {
    limits: Limits,
    /// Finished lines, each with its line break.
    done: String,
    done_lines: u64,
    done_bytes: u64,
    /// The length of the last finished line.
    last_done: u64,
    /// The line being written.
    line: String,
    /// Bytes that `line` has dropped from its front.
    line_cut: u64,
    /// The cursor went back to the start of the line: the next character begins it anew.
    at_start: bool,
}

impl Screen {
    fn total_lines(&self) -> u64 {
        self.done_lines + u64::from(!self.line.is_empty())
    }

    fn total_bytes(&self) -> u64 {
        self.done_bytes + self.line_bytes()
    }

    fn text(&self) -> Cow<'_, str> {
        if self.line.is_empty() {
            self.done.strip_suffix('\n').unwrap_or(&self.done).into()
        } else {
            [self.done.as_str(), &self.line].concat().into()
        }
    }

    fn last_line_bytes(&self) -> u64 {
        if self.line.is_empty() {
            self.last_done
        } else {
            self.line_bytes()
        }
    }

    fn line_bytes(&self) -> u64 {
        self.line_cut + self.line.len() as u64
    }

    fn push(&mut self, character: char) {
        if std::mem::take(&mut self.at_start) {
            self.clear_line();
        }
        self.line.push(character);
        if self.line.len() > 4 * self.limits.max_bytes {
            self.line_cut += cut_front(&mut self.line, 2 * self.limits.max_bytes);
            self.done.clear(); // no longer next to what is left of the line
        }
    }

    fn end_line(&mut self) {
        self.at_start = false;
        self.last_done = self.line_bytes();
        self.done_bytes += self.last_done + 1;
        self.done_lines += 1;
        self.done.push_str(&self.line);
        self.done.push('\n');
        if self.done.len() > 4 * self.limits.max_bytes {
            cut_front(&mut self.done, 2 * self.limits.max_bytes);
        }
        self.clear_line();
    }

    fn clear_line(&mut self) {
        self.line.clear();
        self.line_cut = 0;
    }
}

/// Drops the front of `text` to about `keep` bytes; says how many bytes went.
fn cut_front(text: &mut String, keep: usize) -> u64 {
    let cut = text.floor_char_boundary(text.len().saturating_sub(keep));
    text.drain(..cut);
    cut as u64
}

impl vte::Perform for Screen {
    fn print(&mut self, character: char) {
        if !character.is_control() {
            self.push(character);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            b'\t' => self.push('\t'),
            b'\r' => self.at_start = true,
            b'\x08' => {
                self.line.pop();
            }
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &vte::Params, _: &[u8], _: bool, action: char) {
        let first = params
            .iter()
            .next()
            .and_then(|param| param.first())
            .copied()
            .unwrap_or(0);
        match (action, first) {
            ('G', 0 | 1) => self.at_start = true,
            ('K', 2) => self.clear_line(),
            ('K', 0) if self.at_start => self.clear_line(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Terminal;
    use crate::tool::{Limits, TruncatedBy};

    fn shown(chunks: &[&[u8]]) -> String {
        let mut terminal = Terminal::new(Limits::default());
        for chunk in chunks {
            terminal.feed(chunk);
        }
        terminal.finish();
        let tail = terminal.tail();
        assert_eq!(tail.truncation, None);
        tail.text
    }

    #[test]
    fn output_becomes_plain_text() {
        for (raw, text) in [
            (&b"one\ntwo\n"[..], "one\ntwo"),
            (b"", ""),
            (b"\n", ""),
            (b"a\n\n", "a\n"),
            (
                b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\",
                "red link",
            ),
            (b"10%\r20%\r100%\ndone", "100%\ndone"),
            (b"kept\r", "kept"),
            (b"dos\r\nline\r\n", "dos\nline"),
            (b"half\r\x1b[Kwhole", "whole"),
            (b"gone\x1b[2K\x1b[1Gnew", "new"),
            (b"spin|\x08/\x08-", "spin-"),
            (b"tab\there\0 \x07bell\x7f", "tab\there bell"),
            (
                b"open \x1b]0;title without end\nnext line",
                "open \nnext line",
            ),
            (
                b"bad \xff\xfe bytes \xe2\x82",
                "bad \u{fffd}\u{fffd} bytes \u{fffd}",
            ),
            (b"cut \xe2\x82\nnext", "cut \u{fffd}\nnext"),
            ("c1 \u{9b}31m é".as_bytes(), "c1 31m é"),
        ] {
            assert_eq!(shown(&[raw]), text, "{raw:?}");
        }
    }

    #[test]
    fn where_chunks_end_makes_no_difference() {
        let raw = "é \x1b[31m中\x1b[0m 🦀\r\nx\ry\n\u{fe0f}end".as_bytes();
        let whole = shown(&[raw]);
        assert_eq!(whole, "é 中 🦀\ny\n\u{fe0f}end");
        for cut in 0..=raw.len() {
            assert_eq!(shown(&[&raw[..cut], &raw[cut..]]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = raw.chunks(1).collect();
        assert_eq!(shown(&bytes), whole);
    }

    #[test]
    fn the_tail_of_much_output_stays_in_flat_memory() {
        let limits = Limits {
            max_lines: 5,
            max_bytes: 100,
        };
        let mut terminal = Terminal::new(limits);
        for n in 0..10_000 {
            terminal.feed(format!("line {n}\n").as_bytes());
            assert!(terminal.screen.done.capacity() < 2000);
        }
        let tail = terminal.tail();
        assert_eq!(
            tail.text,
            "line 9995\nline 9996\nline 9997\nline 9998\nline 9999"
        );
        let truncation = tail.truncation.unwrap();
        assert_eq!(truncation.truncated_by, TruncatedBy::Lines);
        assert_eq!(
            (truncation.total_lines, truncation.output_lines),
            (10_000, 5)
        );
        assert_eq!(truncation.total_bytes, 98_890);
    }

    #[test]
    fn one_endless_line_keeps_its_end() {
        let limits = Limits {
            max_lines: 5,
            max_bytes: 100,
        };
        let mut terminal = Terminal::new(limits);
        terminal.feed(b"first\n");
        for _ in 0..1000 {
            terminal.feed("äöü".as_bytes());
            assert!(terminal.screen.line.capacity() < 2000);
        }
        terminal.feed(b"!");
        let tail = terminal.tail();
        assert_eq!(tail.text, format!("ü{}!", "äöü".repeat(16)));
        let truncation = tail.truncation.unwrap();
        assert!(truncation.last_line_partial);
        assert_eq!((truncation.total_lines, truncation.total_bytes), (2, 6007));
        assert_eq!(tail.last_line, 6001);
        // A redraw of it leaves less than was printed, and says so.
        terminal.feed(b"\rshort");
        let tail = terminal.tail();
        assert_eq!(tail.text, "short");
        assert_eq!(tail.truncation.unwrap().total_lines, 2);
    }
}
