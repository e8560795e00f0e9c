//! The edits that make an illegal stream of a legal one; README.md describes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) fn delete(line: usize) -> Value {
    json!({ "op": "delete", "line": line })
}

pub(crate) fn insert(line: usize, value: &Value) -> Value {
    json!({ "op": "insert", "line": line, "value": value })
}

pub(crate) fn replace(line: usize, value: &Value) -> Value {
    json!({ "op": "replace", "line": line, "value": value })
}

pub(crate) fn set(line: usize, pointer: &str, value: &Value) -> Value {
    json!({ "op": "set", "line": line, "pointer": pointer, "value": value })
}

pub(crate) fn unset(line: usize, pointer: &str) -> Value {
    json!({ "op": "unset", "line": line, "pointer": pointer })
}

pub(crate) fn swap(line: usize) -> Value {
    json!({ "op": "swap", "line": line })
}

pub(crate) fn splice(line: usize, count: usize, values: &[Value]) -> Value {
    json!({ "op": "splice", "line": line, "count": count, "values": values })
}

pub(crate) fn shift(line: usize, to: usize) -> Value {
    json!({ "op": "move", "line": line, "to": to })
}

pub(crate) fn end(line: usize) -> Value {
    json!({ "op": "end", "line": line })
}

/// The lines after an edit that is made for them.
pub(crate) fn apply(lines: &[Value], edit: &Value) -> Vec<Value> {
    try_apply(lines, edit).unwrap_or_else(|| panic!("the stream has no place for {edit}"))
}

/// The lines after an edit, if they have the place for it.
pub(crate) fn try_apply(lines: &[Value], edit: &Value) -> Option<Vec<Value>> {
    let mut lines = lines.to_vec();
    let at = usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1;
    let value = &edit["value"];
    let op = edit["op"].as_str()?;
    let number = |at: &str| usize::try_from(edit[at].as_u64()?).ok();
    let needed = match op {
        "splice" => at + number("count")?,
        "move" => number("to")?,
        "insert" => at,
        "swap" => at + 2,
        _ => at + 1,
    };
    if lines.len() < needed {
        return None;
    }
    match op {
        "delete" => drop(lines.remove(at)),
        "insert" => lines.insert(at, value.clone()),
        "replace" => lines[at] = value.clone(),
        "swap" => lines.swap(at, at + 1),
        "end" => lines.truncate(at + 1),
        "splice" => drop(lines.splice(
            at..at + number("count")?,
            edit["values"].as_array()?.iter().cloned(),
        )),
        "move" => {
            let line = lines.remove(at);
            lines.insert(number("to")? - 1, line);
        }
        "set" | "unset" => {
            let (parent, key) = edit["pointer"].as_str()?.rsplit_once('/')?;
            let parent = lines[at].pointer_mut(parent)?.as_object_mut()?;
            if op == "set" {
                parent.insert(key.to_owned(), value.clone());
            } else {
                parent.shift_remove(key)?;
            }
        }
        _ => return None,
    }
    Some(lines)
}

/// The bytes of the stream after an edit.
pub(crate) fn apply_to_bytes(lines: &[Value], edit: &Value) -> Vec<u8> {
    if edit["op"] != "bytes" {
        return bytes(&apply(lines, edit));
    }
    let at = usize::try_from(edit["line"].as_u64().unwrap()).unwrap();
    let mut all = bytes(&lines[..at - 1]);
    all.extend(STANDARD.decode(edit["base64"].as_str().unwrap()).unwrap());
    all.extend(bytes(&lines[at..]));
    all
}

/// Lines as a stream.
pub(crate) fn bytes(lines: &[Value]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\n").into_bytes())
        .collect()
}
