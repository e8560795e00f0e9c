//! The secrets that this process holds, so that none gets out.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem::Finder;
use serde_json::Value;

/// Shorter values are words that may stand anywhere by chance.
const MIN_BYTES: usize = 8;

const REDACTED: &str = "<redacted>";

/// The keys and other secret values that Quipu holds. [`Secrets::scrub`] takes them out of a text
/// that is about to leave the process.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that no value that contains another leaves its rest behind.
    finders: Vec<Finder<'static>>,
}

impl Secrets {
    /// Remembers a value. Of one with blanks in it (`Bearer …`) the last word counts too. Values of
    /// less than 8 bytes are not held: they would hit innocent text.
    pub fn hold(&mut self, value: &str) {
        let value = value.trim();
        let last = value.rsplit(' ').next().unwrap_or_default();
        for value in [value, last] {
            let known = self
                .finders
                .iter()
                .any(|finder| finder.needle() == value.as_bytes());
            if value.len() >= MIN_BYTES && !known {
                self.finders.push(Finder::new(value).into_owned());
            }
        }
        self.sort();
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
        self.sort();
    }

    /// Every value held, to hand them to a child of this process.
    pub(crate) fn expose(&self) -> impl Iterator<Item = &str> {
        let needles = self.finders.iter().map(Finder::needle);
        needles.filter_map(|value| std::str::from_utf8(value).ok())
    }

    fn sort(&mut self) {
        self.finders
            .sort_by_key(|finder| std::cmp::Reverse(finder.needle().len()));
    }

    /// The same for a text that comes in pieces. `tail` keeps what may be the beginning of a held
    /// value until the next piece tells; what is given back is safe.
    #[must_use]
    pub fn scrub_piece(&self, tail: &mut String, piece: String) -> String {
        if self.finders.is_empty() {
            return piece;
        }
        tail.push_str(&piece);
        let mut clean = self.scrub(tail).into_owned();
        *tail = clean.split_off(clean.len() - self.unfinished(&clean));
        clean
    }

    /// How many bytes at the end of `text` are the beginning of a held value.
    #[must_use]
    pub fn unfinished(&self, text: &str) -> usize {
        let begun = |finder: &Finder<'_>| {
            let value = finder.needle();
            let most = value.len().saturating_sub(1).min(text.len());
            (1..=most)
                .rev()
                .find(|&length| text.as_bytes().ends_with(&value[..length]))
        };
        self.finders.iter().filter_map(begun).max().unwrap_or(0)
    }

    /// Replaces every held value in the strings of a JSON value.
    pub fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.scrub(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(fields) => fields
                .values_mut()
                .for_each(|field| self.scrub_value(field)),
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

    /// `text` with every held value replaced by `<redacted>`; the text itself if it holds none.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for finder in &self.finders {
            let mut found = finder.find_iter(text.as_bytes()).peekable();
            if found.peek().is_none() {
                continue;
            }
            let mut clean = String::with_capacity(text.len());
            let mut from = 0;
            // A held value is whole characters, so its ends lie between characters.
            for at in found {
                clean.push_str(&text[from..at]);
                clean.push_str(REDACTED);
                from = at + finder.needle().len();
            }
            clean.push_str(&text[from..]);
            text = Cow::Owned(clean);
        }
        text
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

    #[test]
    fn a_value_in_pieces_is_found_and_other_text_is_not_kept_back() {
        let mut secrets = Secrets::default();
        secrets.hold("sk-secret-1234");
        let text = "ask sk-secret-1234, not sk-secret-12x or sk-";
        for size in 1..text.len() {
            let (mut tail, mut clean) = (String::new(), String::new());
            for piece in text.as_bytes().chunks(size) {
                let piece = String::from_utf8(piece.to_vec()).unwrap();
                clean += &secrets.scrub_piece(&mut tail, piece);
                assert!(!clean.contains("secret-1234"));
            }
            assert_eq!(tail, "sk-", "only what may still become the value waits");
            assert_eq!(clean, "ask <redacted>, not sk-secret-12x or ");
        }
        let mut tail = String::new();
        let piece = Secrets::default().scrub_piece(&mut tail, "sk-".to_owned());
        assert_eq!((piece.as_str(), tail.as_str()), ("sk-", ""));
    }
}
