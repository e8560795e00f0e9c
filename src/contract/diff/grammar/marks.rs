//! Marks that tell whose a thing is. They say nothing about what is legal.

use super::Walk;
use crate::codegen::escape;
use serde_json::Value;

/// Who promises what is asked for, and that others do what is allowed.
const MARKS: [&str; 2] = ["promise", "foreign"];

/// Whether it is a mark, and no state or field of that name.
fn is_mark(key: &str, value: &Value) -> bool {
    MARKS.contains(&key) && !value.is_object() && !value.is_array()
}

/// `value` with no marks in it.
pub(super) fn without(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, value)| !is_mark(key, value));
            let kept = kept.map(|(key, value)| (key.clone(), without(value)));
            Value::Object(kept.collect())
        }
        Value::Array(list) => list.iter().map(without).collect(),
        value => value.clone(),
    }
}

/// Whether two items of a list are the same but for marks, or go by the same name.
fn same(old: &Value, new: &Value) -> bool {
    let name = |value: &Value| value.get("name").cloned();
    name(old).map_or_else(
        || without(old) == without(new),
        |old| name(new) == Some(old),
    )
}

impl Walk<'_> {
    /// Adds what is marked otherwise than before; what is new or gone is a change of its own.
    pub(super) fn marks(&mut self, place: &str, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(before), Value::Object(now)) => {
                for key in MARKS {
                    let of = |map: &serde_json::Map<String, Value>| {
                        map.get(key).filter(|value| is_mark(key, value)).cloned()
                    };
                    if of(before) != of(now) {
                        self.words(&format!("{place}/{key}"), "marked otherwise");
                    }
                }
                for (key, new) in now {
                    let place = format!("{place}/{}", escape(key));
                    match before.get(key) {
                        Some(old) if key == "undocumented" && old != new => {
                            self.words(&place, "marked otherwise");
                        }
                        None if place == "/undocumented" => self.words(&place, "marked otherwise"),
                        Some(old) => self.marks(&place, old, new),
                        None => {}
                    }
                }
                if place.is_empty()
                    && before.contains_key("undocumented")
                    && !now.contains_key("undocumented")
                {
                    self.words("/undocumented", "marked otherwise");
                }
            }
            (Value::Array(before), Value::Array(now)) => {
                for (i, new) in now.iter().enumerate() {
                    if let Some(old) = before.iter().find(|old| same(old, new)) {
                        let name = new.get("name").and_then(Value::as_str);
                        let name = name.map_or_else(|| i.to_string(), escape);
                        self.marks(&format!("{place}/{name}"), old, new);
                    }
                }
            }
            _ => {}
        }
    }
}
