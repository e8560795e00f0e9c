//! What is kept of a message: numbers that equal messages share.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::contract::json::{Number, Value};

/// A message by its fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Print {
    fields: Vec<(u64, u64)>,
    whole: u64,
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn mix(key: u64, value: u64) -> u64 {
    hash(&(key, value))
}

/// The number of a whole message.
pub(super) fn whole(message: Value<'_, '_>) -> u64 {
    let fields = message.fields();
    fields.fold(0, |sum, (key, value)| {
        sum.wrapping_add(mix(hash(key), value.fingerprint()))
    })
}

impl Print {
    /// Takes the place of what was kept before.
    pub(super) fn take(&mut self, message: Option<Value<'_, '_>>) {
        self.clear();
        for (key, value) in message.into_iter().flat_map(Value::fields) {
            let (key, value) = (hash(key), value.fingerprint());
            self.fields.push((key, value));
            self.whole = self.whole.wrapping_add(mix(key, value));
        }
    }

    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.whole = 0;
    }

    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    fn field(&self, key: &str) -> Option<u64> {
        let key = hash(key);
        let mut fields = self.fields.iter();
        fields.find_map(|(name, value)| (*name == key).then_some(*value))
    }

    /// The first of these fields that the other message has in another way.
    pub(super) fn differs_in(
        &self,
        message: Value<'_, '_>,
        names: &[&'static str],
    ) -> Option<&'static str> {
        let mut names = names.iter().copied();
        names.find(|name| self.field(name) != message.get(name).map(Value::fingerprint))
    }

    /// The name of a field in which the other message differs; empty when it lacks one that was
    /// there. Fields with one of these names do not count.
    pub(super) fn difference<'d>(&self, message: Value<'d, '_>, but: &[&str]) -> Option<&'d str> {
        let mut known = self.fields.len() - but.iter().filter(|n| self.field(n).is_some()).count();
        for (key, value) in message.fields() {
            if but.contains(&key) {
                continue;
            }
            if self.field(key) != Some(value.fingerprint()) {
                return Some(key);
            }
            known = known.saturating_sub(1);
        }
        (known > 0).then_some("")
    }
}

/// Whether a tree and a value are the same.
pub(super) fn same(tree: &serde_json::Value, value: Value<'_, '_>) -> bool {
    use serde_json::Value as Tree;
    match tree {
        Tree::Null => value.is_null(),
        Tree::Bool(bool) => value.as_bool() == Some(*bool),
        Tree::String(text) => value.as_str() == Some(text),
        Tree::Number(number) => {
            let number = number
                .as_u64()
                .map(Number::Unsigned)
                .or_else(|| number.as_i64().map(Number::Signed))
                .or_else(|| number.as_f64().map(Number::Float));
            number == value.as_number()
        }
        Tree::Array(items) => {
            value.is_array()
                && value.len() == items.len()
                && items.iter().zip(value.items()).all(|(a, b)| same(a, b))
        }
        Tree::Object(fields) => same_fields(fields, value),
    }
}

/// Whether these are the fields of an object.
pub(super) fn same_fields(
    fields: &serde_json::Map<String, serde_json::Value>,
    value: Value<'_, '_>,
) -> bool {
    value.is_object()
        && value.len() == fields.len()
        && value
            .fields()
            .all(|(key, value)| fields.get(key).is_some_and(|tree| same(tree, value)))
}
