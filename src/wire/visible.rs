//! Texts as a terminal may show them: without what would move its cursor or change its state.

use std::borrow::Cow;

/// `text` with its controls written out; its lines and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut chars = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        if is_hidden(c) && !ends_line {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line, such as a cell of a table.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_hidden(c) || is_blank(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_blank(c) => shown.push(' '),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A note of several lines, of which only the first begins at the margin: no text of others can
/// look like a note of its own.
pub(crate) fn visible_note(text: &str) -> String {
    let mut lines = text.split('\n').map(visible_line);
    let mut shown = lines.next().unwrap_or_default().into_owned();
    for line in lines {
        shown.push('\n');
        if !line.starts_with(' ') && !line.is_empty() {
            shown.push_str("  ");
        }
        shown.push_str(&line);
    }
    shown
}

/// White space that leaves the line or the column.
fn is_blank(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Controls (C0, DEL and C1) but tabs and line ends, and marks that show a text in another order
/// than it has.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "a\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}1m\u{7f}\u{202e}b\u{2066}\u{8}\ré\tc";
    const SHOWN: &str = "a\\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{9b}1m\\u{7f}\\u{202e}b\\u{2066}\\u{8}";

    #[test]
    fn controls_are_written_out() {
        assert_eq!(visible(EVIL), format!("{SHOWN}\\u{{d}}é\tc"));
        assert_eq!(visible_line(EVIL), format!("{SHOWN} é c"));
        let lines = "one\r\ntwo\n\tthree é\u{1f600}\n";
        assert_eq!(
            visible(&format!("{lines}\u{1b}")),
            format!("{lines}\\u{{1b}}")
        );
        for plain in ["", "é \u{200f}plain", "one\n\ttwo\n"] {
            assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
        }
        assert_eq!(visible_line("a\nb\r\nc\u{2028}d"), "a b  c d");
    }

    #[test]
    fn a_note_within_a_note_does_not_look_like_one() {
        assert_eq!(
            visible_note("quipu: a\n  list\nquipu: b\u{1b}\n\n\tc"),
            "quipu: a\n  list\n  quipu: b\\u{1b}\n\n c"
        );
    }
}
