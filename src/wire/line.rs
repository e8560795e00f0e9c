//! An event as one line: compact JSON and `\n`.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

/// Appends a value as one line.
///
/// U+2028 and U+2029, which some readers take for the end of a line, are written as escapes; every
/// other character as UTF-8.
///
/// # Errors
/// Only if the value's own `Serialize` fails; nothing is appended then.
pub(crate) fn append(line: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    json(line, value)?;
    line.push(b'\n');
    Ok(())
}

/// Appends a value as a part of a line.
///
/// # Errors
/// Only if the value's own `Serialize` fails; nothing is appended then.
pub(super) fn json(line: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    let start = line.len();
    let mut serializer = serde_json::Serializer::with_formatter(&mut *line, OneLine);
    value.serialize(&mut serializer).map_err(|error| {
        line.truncate(start);
        error.into()
    })
}

/// Compact JSON without line separators of any kind inside.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Both separators begin with these two bytes.
        const LEAD: &[u8] = "\u{2028}".as_bytes().split_at(2).0;
        let bytes = fragment.as_bytes();
        let mut written = 0;
        for at in memchr::memmem::find_iter(bytes, LEAD) {
            let escape = match bytes.get(at + 2) {
                Some(0xA8) => b"\\u2028",
                Some(0xA9) => b"\\u2029",
                _ => continue,
            };
            writer.write_all(&bytes[written..at])?;
            writer.write_all(escape)?;
            written = at + 3;
        }
        writer.write_all(&bytes[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::append;

    fn line(text: &str) -> String {
        let mut line = Vec::new();
        append(&mut line, &text).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn line_separators_are_escapes_and_neighbours_are_not() {
        assert_eq!(line("a\u{2028}b\u{2029}"), "\"a\\u2028b\\u2029\"\n");
        assert_eq!(
            line("\u{2027}\u{202a}é\u{2028}"),
            "\"\u{2027}\u{202a}é\\u2028\"\n"
        );
        assert_eq!(line("plain\n"), "\"plain\\n\"\n");
    }

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let text = "\u{2028}\u{2029}\u{0}\u{7f}\\u2028 \"\u{1f600}";
        assert_eq!(serde_json::from_str::<String>(&line(text)).unwrap(), text);
    }
}
