//! What the faults say.

use std::fmt::Write as _;

use crate::contract::json::Value;
use crate::contract::json::types::Types;

/// The longest text of a line that is quoted, in characters.
const LONGEST: usize = 60;

/// How alike two names are that may be meant for each other, from 0 to 1.
const ALIKE: f64 = 0.6;

pub(super) fn types(expected: Types, value: Value<'_, '_>) -> String {
    let expected = list(expected.names(), " or ");
    let kind = value.kind();
    let got = match (expected.as_str(), kind) {
        ("integer", "number") => shown(value),
        _ => kind.to_owned(),
    };
    format!("expected {expected}, got {got}")
}

pub(super) fn constant(expected: &serde_json::Value, value: Value<'_, '_>) -> String {
    format!("expected {expected}, got {}", shown(value))
}

pub(super) fn values(known: &[serde_json::Value], value: Value<'_, '_>) -> String {
    let names = known.iter().filter_map(serde_json::Value::as_str);
    let list = list(known.iter().map(ToString::to_string), ", ");
    let mut text = format!("{} is not one of {list}", shown(value));
    suggest(&mut text, value.as_str(), names);
    text
}

pub(super) fn minimum(minimum: &serde_json::Number, value: Value<'_, '_>) -> String {
    format!("{} is less than {minimum}", shown(value))
}

pub(super) fn missing(name: &str) -> String {
    format!("{} is missing", quoted(name))
}

/// `known` are the fields that may stand there and do not yet.
pub(super) fn no_field<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mut text = "there is no such field".to_owned();
    suggest(&mut text, Some(name), known);
    text
}

pub(super) fn unknown<'n>(
    tag: &str,
    value: Value<'_, '_>,
    known: impl Iterator<Item = &'n str>,
) -> String {
    let mut text = format!("unknown {tag} {}", shown(value));
    suggest(&mut text, value.as_str(), known);
    text
}

pub(super) fn twice(key: &str) -> String {
    format!("{} stands twice in one object", quoted(key))
}

/// `matches` is how many forms fit.
pub(super) fn forms(matches: usize) -> String {
    match matches {
        0 => "fits none of the forms that may stand here".to_owned(),
        _ => "fits more than one of the forms that may stand here".to_owned(),
    }
}

/// Names the known one that is most like `name`, if one is like it.
fn suggest<'n>(text: &mut String, name: Option<&str>, known: impl Iterator<Item = &'n str>) {
    // A name of any length would take its square in time.
    let Some(name) = name.filter(|name| name.len() <= 4 * LONGEST) else {
        return;
    };
    let near = known
        .map(|known| (strsim::normalized_damerau_levenshtein(name, known), known))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some((_, known)) = near.filter(|(near, _)| *near > ALIKE) {
        // Writing to a string does not fail.
        let _ = write!(text, "; did you mean {}?", quoted(known));
    }
}

fn shown(value: Value<'_, '_>) -> String {
    match value.as_str() {
        Some(text) => quoted(text),
        None if value.is_array() => "an array".to_owned(),
        None if value.is_object() => "an object".to_owned(),
        None => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", serde_json::Value::from(short))
}

fn list(parts: impl Iterator<Item = impl AsRef<str>>, between: &str) -> String {
    let mut all = String::new();
    for part in parts {
        if !all.is_empty() {
            all.push_str(between);
        }
        all.push_str(part.as_ref());
    }
    all
}
