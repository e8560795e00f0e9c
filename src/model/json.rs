//! Reading JSON that a model service wrote.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Parses JSON in which a lone surrogate escape (`\ud83d` without its partner), which is no text
/// that Rust or JSON Lines can hold, stands for U+FFFD, and a number beyond a double for the
/// greatest double of its sign.
///
/// # Errors
/// The parser's error when the text is not JSON of this shape.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    // Good JSON is parsed once and never scanned.
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => {
            let surrogates = repair_surrogates(text);
            let numbers = repair_numbers(surrogates.as_deref().unwrap_or(text));
            match numbers.or(surrogates) {
                Some(repaired) => serde_json::from_str(&repaired),
                None => Err(error),
            }
        }
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

/// The JSON text with each number that no double holds replaced by the greatest of its sign;
/// `None` if there is none.
fn repair_numbers(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired: Option<String> = None;
    let (mut copied, mut at, mut in_string) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if in_string => at += 2,
            b'"' => {
                in_string = !in_string;
                at += 1;
            }
            b'-' | b'0'..=b'9' if !in_string => {
                let part =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + bytes[at..].iter().take_while(|byte| part(byte)).count();
                let number = text[at..end].parse::<f64>();
                if let Some(number) = number.ok().filter(|number| number.is_infinite()) {
                    let out = repaired.get_or_insert_default();
                    out.push_str(&text[copied..at]);
                    out.push_str(if number > 0.0 { GREATEST } else { LEAST });
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    let mut out = repaired?;
    out.push_str(&text[copied..]);
    Some(out)
}

const GREATEST: &str = "1.7976931348623157e308";
const LEAST: &str = "-1.7976931348623157e308";

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
    use super::{count, parse, repair_surrogates};

    #[test]
    fn a_number_that_does_not_fit_costs_no_more_than_itself() {
        #[derive(serde::Deserialize)]
        struct Counted {
            #[serde(default, deserialize_with = "count")]
            tokens: Option<u64>,
            text: String,
        }
        for (number, tokens) in [("1e400", None), ("-1E+999", None), ("7", Some(7))] {
            let json = format!(r#"{{"tokens":{number},"other":[1e309],"text":"\"1e400 \ud83d"}}"#);
            let read: Counted = parse(&json).unwrap();
            assert_eq!(read.tokens, tokens, "{json}");
            assert_eq!(read.text, "\"1e400 \u{fffd}");
        }
        assert_eq!(
            parse::<f64>("-1e400").unwrap().to_bits(),
            f64::MIN.to_bits()
        );
        assert_eq!(parse::<f64>("1e400").unwrap().to_bits(), f64::MAX.to_bits());
        assert!(parse::<f64>("1e400e").is_err());
    }

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
