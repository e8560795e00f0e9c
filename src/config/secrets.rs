//! The secrets that this process holds, so that none gets out.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::memmem::Finder;
use serde_json::Value;

/// Shorter values are words that may stand anywhere by chance.
const MIN_BYTES: usize = 8;

/// What is written where a server wants a key but none is needed: words that may stand anywhere, and no
/// secret. In lower case.
const PLACEHOLDERS: [&str; 14] = [
    "anything",
    "dummy-key",
    "llama-cpp",
    "llama.cpp",
    "llamacpp",
    "lm-studio",
    "lm_studio",
    "no-key-needed",
    "no-key-required",
    "not-needed",
    "not-required",
    "not_needed",
    "placeholder",
    "sk-no-key-required",
];

const REDACTED: &str = "<redacted>";

/// The keys and other secret values that Quipu holds. [`Secrets::scrub`] takes them out of a text
/// that is about to leave the process.
#[derive(Clone, Default)]
pub struct Secrets {
    finders: Vec<Finder<'static>>,
}

impl Secrets {
    /// Remembers a value. Of one with blanks in it (`Bearer …`) the last word counts too. Values of
    /// less than 8 bytes and usual placeholders (`not-needed`) are not held: they would hit innocent
    /// text, and the files that tools write with it.
    pub fn hold(&mut self, value: &str) {
        let value = value.trim();
        let last = value.rsplit(' ').next().unwrap_or_default();
        for value in [value, last] {
            let known = self
                .finders
                .iter()
                .any(|finder| finder.needle() == value.as_bytes());
            let no_secret = value.len() < MIN_BYTES
                || PLACEHOLDERS.contains(&value.to_ascii_lowercase().as_str());
            if !no_secret && !known {
                self.finders.push(Finder::new(value).into_owned());
            }
        }
    }

    /// Remembers what `others` holds, too.
    pub fn absorb(&mut self, others: Self) {
        for finder in others.finders {
            if !self
                .finders
                .iter()
                .any(|own| own.needle() == finder.needle())
            {
                self.finders.push(finder);
            }
        }
    }

    /// Every value held, to hand them to a child of this process.
    pub(crate) fn expose(&self) -> impl Iterator<Item = &str> {
        let needles = self.finders.iter().map(Finder::needle);
        needles.filter_map(|value| std::str::from_utf8(value).ok())
    }

    /// `text` with every held value replaced by `<redacted>`; the text itself if it holds none.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        replace(text, &self.found(text.as_bytes()))
    }

    /// The same for a text that is still growing, without an end that may become a held value.
    #[must_use]
    pub fn scrub_so_far<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.scrub(&text[..self.settled(text.as_bytes())])
    }

    /// [`Secrets::scrub`] for a text that comes in pieces. `tail` keeps what may be a part of a held
    /// value until the next piece tells; what is given back is safe. [`Secrets::scrub`] makes the
    /// tail safe that is left at the end.
    #[must_use]
    pub fn scrub_piece(&self, tail: &mut String, piece: String) -> String {
        if self.finders.is_empty() {
            return piece;
        }
        tail.push_str(&piece);
        let open = tail.split_off(self.settled(tail.as_bytes()));
        let clean = self.scrub(tail).into_owned();
        *tail = open;
        clean
    }

    /// [`Secrets::scrub_piece`] for JSON, in whose strings a value may be written with escapes.
    /// [`Secrets::scrub_json`] makes the tail safe.
    #[must_use]
    pub fn scrub_json_piece(&self, tail: &mut String, piece: String) -> String {
        if !tail.contains('\\') && !piece.contains('\\') {
            return self.scrub_piece(tail, piece);
        }
        if self.finders.is_empty() {
            return piece;
        }
        tail.push_str(&piece);
        let plain = Unescaped::of(tail);
        let open = tail.split_off(plain.places[self.settled(&plain.bytes)]);
        let clean = self.scrub_json(tail).into_owned();
        *tail = open;
        clean
    }

    /// [`Secrets::scrub`] for JSON, in whose strings a value may be written with escapes.
    #[must_use]
    pub fn scrub_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.finders.is_empty() || !text.contains('\\') {
            return self.scrub(text);
        }
        let plain = Unescaped::of(text);
        let mut found = self.found(&plain.bytes);
        for range in &mut found {
            *range = plain.places[range.start]..plain.places[range.end];
        }
        replace(text, &found)
    }

    /// Where held values stand, in order. Values that overlap are one.
    fn found(&self, text: &[u8]) -> Vec<Range<usize>> {
        let found = |finder: &Finder<'_>| -> Vec<Range<usize>> {
            let length = finder.needle().len();
            finder.find_iter(text).map(|at| at..at + length).collect()
        };
        let mut all: Vec<_> = self.finders.iter().flat_map(found).collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for range in all {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    /// How much of a growing text is certain: its end may be the beginning of a held value, and
    /// a value that reaches into that may be a part of a longer one.
    fn settled(&self, text: &[u8]) -> usize {
        let begun = |finder: &Finder<'_>| {
            let value = finder.needle();
            let most = value.len().saturating_sub(1).min(text.len());
            (1..=most)
                .rev()
                .find(|&length| text.ends_with(&value[..length]))
        };
        let open = self.finders.iter().filter_map(begun).max().unwrap_or(0);
        let settled = text.len() - open;
        if open == 0 {
            return settled;
        }
        let across = self
            .found(text)
            .into_iter()
            .find(|range| (range.start..range.end).contains(&settled));
        across.map_or(settled, |range| range.start)
    }

    /// Replaces every held value in the strings of a JSON value, the names of its fields included.
    pub fn scrub_value(&self, value: &mut Value) {
        let scrub = |text: &mut String| {
            if let Cow::Owned(clean) = self.scrub(text) {
                *text = clean;
            }
        };
        match value {
            Value::String(text) => scrub(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(fields) => {
                for (mut name, mut field) in std::mem::take(fields) {
                    scrub(&mut name);
                    self.scrub_value(&mut field);
                    fields.insert(name, field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether a text in JSON may have a held value in one of its strings.
    #[must_use]
    pub fn may_be_in_json(&self, json: &[u8]) -> bool {
        self.finders.iter().any(|finder| {
            let value = finder.needle();
            if !value.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
                return finder.find(json).is_some();
            }
            let mut written = Vec::with_capacity(value.len() + 8);
            for byte in value {
                if matches!(byte, b'"' | b'\\') {
                    written.push(b'\\');
                }
                written.push(*byte);
            }
            memchr::memmem::find(json, &written).is_some()
        })
    }
}

/// `text` with these parts replaced. They are whole characters, since held values are.
fn replace<'a>(text: &'a str, found: &[Range<usize>]) -> Cow<'a, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for range in found {
        clean.push_str(&text[from..range.start]);
        clean.push_str(REDACTED);
        from = range.end;
    }
    clean.push_str(&text[from..]);
    Cow::Owned(clean)
}

/// JSON with the escapes of its strings resolved.
struct Unescaped {
    bytes: Vec<u8>,
    /// Where each of the bytes comes from, and where the last one ends. An escape that is cut at
    /// the end of the text is left out.
    places: Vec<usize>,
}

impl Unescaped {
    fn of(text: &str) -> Self {
        let mut plain = Self {
            bytes: Vec::with_capacity(text.len()),
            places: Vec::with_capacity(text.len() + 1),
        };
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let unit = if first == '\\' {
                escape(&text[at..])
            } else {
                Some((first, first.len_utf8()))
            };
            let Some((meant, length)) = unit else { break };
            let mut buffer = [0; 4];
            for byte in meant.encode_utf8(&mut buffer).bytes() {
                plain.bytes.push(byte);
                plain.places.push(at);
            }
            at += length;
        }
        plain.places.push(at);
        plain
    }
}

/// What the escape at the beginning of `text` means and how long it is; `None` if more of it has to
/// come.
fn escape(text: &str) -> Option<(char, usize)> {
    let mut chars = text.chars().skip(1);
    let meant = match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return unicode_escape(text),
        // A quote, a slash or a backslash; anything else is a fault that ends the object.
        other => return Some((other, 1 + other.len_utf8())),
    };
    Some((meant, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    const LENGTH: usize = 6;
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let may_go_on = |text: &str| {
        let digits = text.strip_prefix("\\u").unwrap_or_default();
        digits.len() < 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let replaced = Some((char::REPLACEMENT_CHARACTER, LENGTH));
    let Some(first) = unit(text) else {
        // A fault that ends the object, unless it is only cut.
        return (!may_go_on(text)).then_some((char::REPLACEMENT_CHARACTER, 2));
    };
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first.into()).map_or(replaced, |meant| Some((meant, LENGTH)));
    }
    let rest = &text[LENGTH..];
    match unit(rest) {
        Some(second) => match char::decode_utf16([first, second]).next() {
            Some(Ok(meant)) => Some((meant, 2 * LENGTH)),
            _ => replaced,
        },
        None if rest.is_empty() || rest == "\\" || may_go_on(rest) && rest.starts_with("\\u") => {
            None
        }
        None => replaced,
    }
}

/// Only how many.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("held", &self.finders.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for value in values {
            secrets.hold(value);
        }
        secrets
    }

    #[test]
    fn what_stands_for_no_key_is_no_secret() {
        let words = ["lm-studio", "Not-Needed", "Bearer no-key-required", "none"];
        let text = "lm-studio.cfg, not-needed, no-key-required, none";
        assert_eq!(secrets(&words).scrub(text), text);
    }

    #[test]
    fn every_held_value_goes_and_the_rest_stays() {
        let secrets = secrets(&[
            "sk-12345678",
            "sk-12345678-long",
            "Bearer abcdefgh",
            "short",
        ]);
        for (text, clean) in [
            ("nothing here, short", "nothing here, short"),
            ("sk-12345678", "<redacted>"),
            ("ä sk-12345678ö sk-12345678.", "ä <redacted>ö <redacted>."),
            ("key=sk-12345678-long;", "key=<redacted>;"),
            ("Bearer abcdefgh", "<redacted>"),
            ("echo abcdefgh", "echo <redacted>"),
            ("Bearer", "Bearer"),
        ] {
            assert_eq!(secrets.scrub(text), clean);
        }
    }

    #[test]
    fn absorbed_values_go_too_longest_first() {
        let mut own = secrets(&["sk-12345678", "other-value"]);
        own.absorb(secrets(&["sk-12345678-long", "other-value"]));
        assert_eq!(
            own.scrub("sk-12345678-long sk-12345678 other-value"),
            "<redacted> <redacted> <redacted>"
        );
        assert_eq!(own.finders.len(), 3);
    }

    #[test]
    fn strings_of_json_are_scrubbed_and_nothing_else() {
        let secrets = secrets(&["12345678", "a\\b\"c-long"]);
        let mut value = serde_json::json!({ "n": 12_345_678, "a": ["x12345678"], "b": { "c": "a\\b\"c-long" } });
        for line in [&value, &value["n"], &value["a"], &value["b"]] {
            assert!(
                secrets.may_be_in_json(line.to_string().as_bytes()),
                "{line}"
            );
        }
        secrets.scrub_value(&mut value);
        let clean = serde_json::json!({ "n": 12_345_678, "a": ["x<redacted>"], "b": { "c": "<redacted>" } });
        assert_eq!(value, clean);
        assert!(!secrets.may_be_in_json(b"[\"1234567\"]"));
    }

    #[test]
    fn a_clean_text_is_not_copied() {
        let secrets = secrets(&["sk-12345678"]);
        assert!(matches!(secrets.scrub("nothing"), Cow::Borrowed(_)));
        assert!(matches!(
            Secrets::default().scrub("sk-12345678"),
            Cow::Borrowed(_)
        ));
    }

    /// The text as it comes out when it goes in in pieces of so many bytes, and what is kept back.
    fn in_pieces(
        secrets: &Secrets,
        scrub: impl Fn(&Secrets, &mut String, String) -> String,
        text: &str,
        size: usize,
    ) -> (String, String) {
        let (mut tail, mut clean) = (String::new(), String::new());
        for piece in text.as_bytes().chunks(size) {
            let piece = String::from_utf8(piece.to_vec()).unwrap();
            clean += &scrub(secrets, &mut tail, piece);
        }
        (clean, tail)
    }

    #[test]
    fn a_value_in_pieces_is_found_and_other_text_is_not_kept_back() {
        let held = secrets(&["sk-secret-1234"]);
        let text = "ask sk-secret-1234, not sk-secret-12x or sk-";
        for size in 1..text.len() {
            let (clean, tail) = in_pieces(&held, Secrets::scrub_piece, text, size);
            assert_eq!(tail, "sk-", "only what may still become the value waits");
            assert_eq!(clean, "ask <redacted>, not sk-secret-12x or ");
        }
        let mut tail = String::new();
        let piece = Secrets::default().scrub_piece(&mut tail, "sk-".to_owned());
        assert_eq!((piece.as_str(), tail.as_str()), ("sk-", ""));
    }

    #[test]
    fn a_value_that_begins_or_crosses_another_leaves_nothing_of_it() {
        for (values, text, clean) in [
            (
                ["sk-short99", "sk-short99longtail77"],
                "a sk-short99longtail77 b sk-short99 c sk-short99longt",
                "a <redacted> b <redacted> c <redacted>longt",
            ),
            (
                ["abcdefgh", "ghijklmnop"],
                "-abcdefghijklmnop-abcdefgh-abcdefghij-ghijklmnop-",
                "-<redacted>-<redacted>-<redacted>ij-<redacted>-",
            ),
            (
                ["long-abcdefgh-long", "abcdefgh"],
                "long-abcdefgh-long long-abcdefgh-lo",
                "<redacted> long-<redacted>-lo",
            ),
        ] {
            let held = secrets(&values);
            assert_eq!(held.scrub(text), clean);
            for size in 1..=text.len() {
                let (mut pieces, tail) = in_pieces(&held, Secrets::scrub_piece, text, size);
                pieces += &held.scrub(&tail);
                assert_eq!(pieces, clean, "in pieces of {size}");
            }
            for end in 0..text.len() {
                let so_far = held.scrub_so_far(&text[..end]);
                assert!(clean.starts_with(&*so_far), "{so_far:?} at {end}");
            }
        }
    }

    #[test]
    fn escapes_hide_no_value_in_json() {
        let held = secrets(&["sk-ca/nary\"\u{1f600}-0123"]);
        let escaped = r#"\u0073k-ca\/n\u0061r\u0079\"\ud83d\uDE00-012\u0033"#;
        let plain = "sk-ca/nary\\\"\u{1f600}-0123";
        for value in [escaped, plain] {
            let text = format!(
                r#"{{"\n{value}":["\u0073k\t","{value}\\","\ud83d\u0073k-ca","\q{value}"]}}"#
            );
            let clean = r#"{"\n<redacted>":["\u0073k\t","<redacted>\\","\ud83d\u0073k-ca","\q<redacted>"]}"#;
            assert_eq!(held.scrub_json(&text), clean);
            let pieces = text.replace('\u{1f600}', "\\ud83d\\ude00");
            for size in 1..=pieces.len() {
                let (mut told, tail) = in_pieces(&held, Secrets::scrub_json_piece, &pieces, size);
                told += &held.scrub_json(&tail);
                assert_eq!(told, clean, "in pieces of {size}");
            }
        }
        for open in ["\\", "\\u", "\\u00", "\\ud83d", "\\ud83d\\", "\\ud83d\\ude"] {
            let mut tail = String::new();
            let told = held.scrub_json_piece(&mut tail, format!("x{open}"));
            assert_eq!((told.as_str(), tail.as_str()), ("x", open));
        }
    }
}
