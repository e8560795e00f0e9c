//! Reading JSON that a model service wrote.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Parses JSON in which a lone surrogate escape (`\ud83d` without its partner), which is no text
/// that Rust or JSON Lines can hold, stands for U+FFFD.
///
/// # Errors
/// The parser's error when the text is not JSON of this shape.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    // Good JSON is parsed once and never scanned.
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => match repair_surrogates(text) {
            Some(repaired) => serde_json::from_str(&repaired),
            None => Err(error),
        },
    }
}

/// A field that an answer can do without: absent when it is of another type. Needs
/// `#[serde(default)]` beside it.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    // A list would be read as an object, value by value.
    let value = Some(value).filter(|value| !value.is_array());
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// A count of tokens, absent like a [`lenient`] field. Some servers count in floats.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let rounded = || value.as_f64().filter(|number| (0.0..1e15).contains(number));
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the range"
    )]
    Ok(value.as_u64().or_else(|| Some(rounded()? as u64)))
}

/// The JSON text with each lone surrogate escape replaced by `\ufffd`; `None` if there is none.
#[must_use]
pub fn repair_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        match escaped_unit(bytes, at) {
            Some(0xD800..=0xDBFF)
                if matches!(escaped_unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                let out = repaired.get_or_insert_with(|| String::with_capacity(text.len()));
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    let mut out = repaired?;
    out.push_str(&text[copied..]);
    Some(out)
}

/// The code unit of a whole `\uXXXX` at this place.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") || !escape[2..].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{parse, repair_surrogates};

    #[test]
    fn lone_surrogates_become_replacement_characters_and_nothing_else_changes() {
        for (json, text) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""a\ud83dz""#, "a\u{fffd}z"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\uD83D\n""#, "\u{fffd}\n"),
            (r#""ü\\\ud83d""#, "ü\\\u{fffd}"),
        ] {
            assert_eq!(parse::<String>(json).unwrap(), text, "{json}");
        }
        for good in [
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""plain""#,
            r#""\u00e9""#,
        ] {
            assert_eq!(repair_surrogates(good), None, "{good}");
        }
    }

    #[test]
    fn text_that_is_cut_or_is_no_json_stays_an_error() {
        for bad in [
            "",
            "\\",
            "\"\\u",
            "\"\\ud8",
            "\"\\ud83d",
            "{\"a\":\"\\ud83d\",",
            "\\ud83dü",
        ] {
            assert!(parse::<serde_json::Value>(bad).is_err(), "{bad}");
        }
    }
}
