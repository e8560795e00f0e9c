//! Patterns of lines.

use serde_json::Value;
use std::fmt::Write as _;

/// The items of the array at `key`.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    let items = value.get(key).and_then(Value::as_array);
    items.into_iter().flatten().collect()
}

/// The strings of the array at `key`.
pub(super) fn strings<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    list(value, key)
        .into_iter()
        .filter_map(Value::as_str)
        .collect()
}

/// The type of line that a pattern is about.
pub(super) fn event(pattern: &Value) -> &str {
    pattern
        .get("event")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The state that a step leads to.
pub(super) fn to(step: &Value) -> &str {
    step.get("to").and_then(Value::as_str).unwrap_or_default()
}

/// Whether every line that `b` matches is matched by `a`.
pub(super) fn is_wider(a: &Value, b: &Value) -> bool {
    let wheres = |pattern: &Value| pattern.get("where").and_then(Value::as_object).cloned();
    let (a_wheres, b_wheres) = (wheres(a).unwrap_or_default(), wheres(b).unwrap_or_default());
    let values = a_wheres.iter().all(|(pointer, allowed)| {
        let narrower = b_wheres.get(pointer).and_then(Value::as_array);
        let allowed = allowed.as_array();
        narrower.is_some_and(|values| {
            let mut values = values.iter();
            values.all(|value| allowed.is_some_and(|allowed| allowed.contains(value)))
        })
    });
    let absent = strings(b, "absent");
    let absent = strings(a, "absent")
        .iter()
        .all(|pointer| absent.contains(pointer));
    let states = strings(b, "in");
    let arrived = strings(a, "in");
    let arrived = arrived.is_empty()
        || (!states.is_empty() && states.iter().all(|state| arrived.contains(state)));
    let known = |pattern: &Value| {
        let known = ["event", "where", "absent", "in", "to"];
        let map = pattern.as_object();
        map.is_some_and(|map| map.keys().all(|key| known.contains(&key.as_str())))
    };
    event(a) == event(b) && values && absent && arrived && known(a) && known(b)
}

/// Whether some line may match both.
pub(super) fn overlap(a: &Value, b: &Value) -> bool {
    if event(a) != event(b) {
        return false;
    }
    let values = |pattern: &'_ Value, pointer: &str| -> Option<Vec<Value>> {
        let wheres = pattern.get("where")?;
        wheres.get(pointer)?.as_array().cloned()
    };
    let apart = |a: &Value, b: &Value| {
        let wheres = a.get("where").and_then(Value::as_object);
        let mut pointers = wheres.into_iter().flatten().map(|(pointer, _)| pointer);
        pointers.any(|pointer| {
            let ruled_out = strings(b, "absent").contains(&pointer.as_str());
            let others = match (values(a, pointer), values(b, pointer)) {
                (Some(a), Some(b)) => !a.iter().any(|value| b.contains(value)),
                _ => false,
            };
            ruled_out || others
        })
    };
    !apart(a, b) && !apart(b, a)
}

/// A pattern in words.
pub(super) fn shown(pattern: &Value) -> String {
    let mut text = format!("`{}`", event(pattern));
    for key in ["where", "absent", "in"] {
        if let Some(value) = pattern.get(key) {
            let _ = write!(text, " {key} {value}");
        }
    }
    text
}
