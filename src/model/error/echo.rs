//! What of a request a service repeats in its error.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use serde_json::Value;

/// Shorter texts of a request are not searched for: they would turn up in ordinary words.
const MIN_CHARS: usize = 16;
/// Of a longer text any part of so many characters counts, blanks and quotes left aside: services
/// cut what they repeat.
const PART: usize = 24;
/// So much of a message is looked at, in bytes; the rest is dropped. People see far less.
const MESSAGE: usize = 64 * 1024;

const REDACTED: &str = "<redacted>";

/// Fields whose values are words of the protocol, which an error may well name.
const WORDS: [&str; 9] = [
    "call_id",
    "id",
    "include",
    "model",
    "name",
    "role",
    "tool_call_id",
    "tool_use_id",
    "type",
];
/// Longest of such words, in bytes.
const WORD: usize = 64;

/// `message` without the texts of `request`, a JSON body: as they are, or inside strings of JSON,
/// Python or HTML, however deep. The cost is linear in both.
pub(super) fn without(message: &str, request: &[u8]) -> String {
    let message = &message[..message.floor_char_boundary(MESSAGE)];
    let Ok(request) = serde_json::from_slice::<Value>(request) else {
        return message.to_owned();
    };
    let plain = Plain::of(message);
    let mut wanted = Wanted {
        parts: windows(&plain.chars, PART).collect(),
        hashes: BTreeMap::new(),
    };
    wanted.add(&request);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (length, hashes) in &wanted.hashes {
        for (at, hash) in windows(&plain.chars, *length).enumerate() {
            if hashes.contains(&hash) {
                found.push(plain.places[at].start..plain.places[at + length - 1].end);
            }
        }
    }
    found.sort_unstable_by_key(|range| range.start);
    let mut clean = String::with_capacity(message.len());
    let (mut from, mut redacted_to) = (0, None);
    for range in found {
        if redacted_to.is_none_or(|end| range.start > end) {
            clean.push_str(&message[from..range.start]);
            clean.push_str(REDACTED);
        }
        from = from.max(range.end);
        redacted_to = Some(from);
    }
    clean.push_str(&message[from..]);
    clean
}

/// What to search for: hashes of texts, by length.
struct Wanted {
    /// Those of the parts of the message. Of long texts only these matter.
    parts: HashSet<u64>,
    hashes: BTreeMap<usize, HashSet<u64>>,
}

impl Wanted {
    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let is_word = |value: &Value| {
                        let text = value.as_str().unwrap_or(" ");
                        text.len() <= WORD && !text.contains(char::is_whitespace)
                    };
                    let words = match value {
                        Value::Array(items) => items.iter().all(is_word),
                        value => is_word(value),
                    };
                    if !(words && WORDS.contains(&name.as_str())) {
                        self.add(value);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if text.chars().nth(MIN_CHARS - 1).is_none() {
            return;
        }
        let chars: Vec<char> = units(text).map(|(c, _)| c).collect();
        if chars.len() >= PART {
            let parts = windows(&chars, PART).filter(|hash| self.parts.contains(hash));
            let parts: Vec<_> = parts.collect();
            if !parts.is_empty() {
                self.hashes.entry(PART).or_default().extend(parts);
            }
        } else if chars.len() >= MIN_CHARS / 2 {
            let whole = windows(&chars, chars.len());
            self.hashes.entry(chars.len()).or_default().extend(whole);
        }
    }
}

/// The hashes of all parts of `length` characters, in order.
fn windows(chars: &[char], length: usize) -> impl Iterator<Item = u64> {
    // Odd, so that no character is lost; its bits are of no meaning.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |hash: u64, c: char| {
        hash.wrapping_mul(BASE)
            .wrapping_add(u64::from(u32::from(c)) + 1)
    };
    let first = chars.len().min(length);
    let oldest = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = chars[..first].iter().fold(0, |hash, c| add(hash, *c));
    let whole = (first == length).then_some(hash);
    let more = chars[first..].iter().zip(chars).map(move |(new, old)| {
        let old = (u64::from(u32::from(*old)) + 1).wrapping_mul(oldest);
        hash = add(hash, *new).wrapping_sub(old);
        hash
    });
    whole.into_iter().chain(more)
}

/// A message as [`units`] sees it.
struct Plain {
    chars: Vec<char>,
    /// Where each of them comes from.
    places: Vec<Range<usize>>,
}

impl Plain {
    fn of(text: &str) -> Self {
        let (chars, places) = units(text).unzip();
        Self { chars, places }
    }
}

/// The characters of a text without what notations differ in: blanks, quotes, backslashes and the
/// escapes they begin. They are the same however often the text was escaped.
fn units(text: &str) -> impl Iterator<Item = (char, Range<usize>)> {
    let of_notation = |c: char| c.is_whitespace() || c.is_control() || "\"'`\\".contains(c);
    let mut at = 0;
    let all = std::iter::from_fn(move || {
        let first = text[at..].chars().next()?;
        let (meant, length) = match first {
            '\\' => escape(&text[at..]),
            '&' => entity(&text[at..]),
            other => (Some(other), other.len_utf8()),
        };
        at += length;
        Some((meant, at - length..at))
    });
    all.filter_map(move |(meant, place)| Some((meant.filter(|c| !of_notation(*c))?, place)))
}

/// What stands at the beginning of a text, and how long that is.
type Unit = (Option<char>, usize);

/// Any number of backslashes and what they escape.
fn escape(text: &str) -> Unit {
    let bare = text.trim_start_matches('\\');
    let slashes = text.len() - bare.len();
    let hex = |text: &str, digits: usize| u32::from_str_radix(text.get(1..=digits)?, 16).ok();
    match bare.chars().next() {
        Some('u') => {
            let Some(unit) = hex(bare, 4) else {
                return (None, slashes);
            };
            let first = slashes + 5;
            let rest = &text[first..];
            let low = rest.trim_start_matches('\\');
            let second = if (0xd800..0xdc00).contains(&unit)
                && low.len() < rest.len()
                && low.starts_with('u')
            {
                hex(low, 4).filter(|low| (0xdc00..0xe000).contains(low))
            } else {
                None
            };
            match second {
                Some(second) => {
                    let meant = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
                    (char::from_u32(meant), first + rest.len() - low.len() + 5)
                }
                None => (char::from_u32(unit), first),
            }
        }
        Some('x') => match hex(bare, 2) {
            Some(meant) => (char::from_u32(meant), slashes + 3),
            None => (None, slashes),
        },
        Some('n' | 'r' | 't' | 'b' | 'f') => (None, slashes + 1),
        _ => (None, slashes),
    }
}

/// A character as HTML writes it.
fn entity(text: &str) -> Unit {
    const ENTITIES: [(&str, char); 8] = [
        ("quot;", '"'),
        ("apos;", '\''),
        ("lt;", '<'),
        ("gt;", '>'),
        ("#34;", '"'),
        ("#39;", '\''),
        ("#x27;", '\''),
        ("#x22;", '"'),
    ];
    let bare = text[1..].trim_start_matches("amp;");
    let length = text.len() - bare.len();
    let found = ENTITIES.iter().find(|(name, _)| bare.starts_with(name));
    found.map_or((Some('&'), length), |(name, meant)| {
        (Some(*meant), length + name.len())
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    const PROMPT: &str = "PROMPTCANARY \"caf\u{e9}\" <b> & C:\\new\n\u{1f600} it's";
    const LONG: &str = "INSTRUCTIONS are a long text with many words, of which a service may repeat the \
        middle or the end, and it may leave out whatever it likes to leave out.";

    fn body() -> Value {
        json!({
            "model": "claude-haiku-4-5-20251001",
            "system": [{"type": "text", "text": LONG}],
            "messages": [{"role": "user", "content": PROMPT}],
            "tools": [{"name": "read_a_whole_file", "description": "TOOLCANARY reads"}],
        })
    }

    fn clean(message: &str) -> String {
        without(message, body().to_string().as_bytes())
    }

    fn escaped(text: &str) -> String {
        json!(text).to_string()
    }

    /// As Python's `json.dumps` does it.
    fn ascii(text: &str) -> String {
        let mut out = String::new();
        for unit in text.encode_utf16() {
            match char::from_u32(unit.into()).filter(char::is_ascii) {
                Some(c) => out.push(c),
                None => drop(write!(out, "\\u{unit:04x}")),
            }
        }
        out
    }

    #[test]
    fn texts_go_however_they_are_written() {
        let once = escaped(PROMPT);
        let html = PROMPT
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        for written in [
            PROMPT.to_owned(),
            once.clone(),
            escaped(&once),
            escaped(&escaped(&once)),
            ascii(&once),
            escaped(&ascii(&once)),
            html.replace('"', "&quot;"),
            escaped(&html).replace('"', "&quot;").replace('\'', "&#39;"),
            PROMPT.split_whitespace().collect::<Vec<_>>().join(" "),
            format!(
                "'{}'",
                PROMPT
                    .replace('\\', "\\\\")
                    .replace('\n', "\\n")
                    .replace('\'', "\\'")
            ),
        ] {
            let told = clean(&format!("bad [{written}] there"));
            let rest = told
                .replace(['"', '\'', '\\'], "")
                .replace("&quot;", "")
                .replace("&#39;", "");
            assert_eq!(rest, "bad [<redacted>] there", "{written}");
        }
    }

    #[test]
    fn so_do_parts_of_long_texts_and_whole_bodies() {
        for (written, left) in [
            (format!("…{}", &LONG[40..]), "…<redacted>"),
            (format!("{}…", &LONG[..60]), "<redacted>…"),
            (format!("x {} y", &LONG[20..89]), "x <redacted> y"),
        ] {
            assert_eq!(clean(&written), left);
        }
        let pretty = serde_json::to_string_pretty(&body()).unwrap();
        for written in [
            body().to_string(),
            pretty.clone(),
            escaped(&pretty),
            escaped(&escaped(&pretty)),
        ] {
            for cut in [0, 30, 77, 120, 200] {
                let told = clean(&format!("invalid: {}", &written[cut..]));
                for word in ["CANARY", "it may leave", "words"] {
                    assert!(!told.contains(word), "{told}");
                }
            }
        }
    }

    #[test]
    fn other_words_stay() {
        for message in [
            "400 invalid_request_error: messages.0.content: Input should be a valid list",
            "404 not_found_error: model: claude-haiku-4-5-20251001",
            "tools.0.read_a_whole_file: Extra inputs are not permitted",
            "a long text with two words",
            "\u{e4}\\ \\u \\u12 \\x & &amp; &quot; \\ud83d \\ud83d\\u \\\\",
            "",
        ] {
            assert_eq!(clean(message), message);
        }
        assert_eq!(without("a long message", b"no JSON"), "a long message");
    }

    #[test]
    fn two_texts_are_told_apart() {
        let told = clean(&format!("'{LONG}' and 'TOOLCANARY reads'"));
        assert_eq!(told, "'<redacted>' and '<redacted>'");
    }

    #[test]
    fn a_long_message_against_a_long_request_is_no_trouble() {
        let same = "a".repeat(300_000);
        let many = vec!["0123456789abcdefg"; 5_000];
        let request = json!([same, many, "\\".repeat(100_000)]).to_string();
        let told = without(&same, request.as_bytes());
        assert_eq!(told, REDACTED);
        let told = without(&"\u{e4}\\".repeat(100_000), request.as_bytes());
        assert!(told.len() <= MESSAGE);
    }
}
