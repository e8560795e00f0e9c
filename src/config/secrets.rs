//! The secrets that this process holds, so that none gets out.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem::Finder;

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
        self.finders
            .sort_by_key(|finder| std::cmp::Reverse(finder.needle().len()));
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
    fn a_clean_text_is_not_copied() {
        let secrets = secrets(&["sk-12345678"]);
        assert!(matches!(secrets.scrub("nothing"), Cow::Borrowed(_)));
        assert!(matches!(
            Secrets::default().scrub("sk-12345678"),
            Cow::Borrowed(_)
        ));
    }
}
