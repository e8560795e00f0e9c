//! Keys that stand twice in one object, wherever it is.

use std::collections::HashSet;

use super::Keyword;
use super::message;
use super::sink::{Faults, Sink as _, Step};
use crate::contract::json::Value;

/// Objects up to this size are looked through key by key.
const FEW: usize = 32;

/// Whether any object within `value` has a key twice.
pub(super) fn any(value: Value<'_, '_>) -> bool {
    value.objects().any(repeats)
}

/// Whether the object itself has a key twice.
fn repeats(object: Value<'_, '_>) -> bool {
    if object.len() > FEW {
        let mut seen = HashSet::with_capacity(object.len());
        return object.fields().any(|(key, _)| !seen.insert(key));
    }
    // One of 64 bits for each key: only one that is taken needs a closer look.
    let mut taken = 0_u64;
    for (index, (key, _)) in object.fields().enumerate() {
        let bit = 1_u64 << (hash(key) & 63);
        if taken & bit != 0 && object.fields().take(index).any(|(other, _)| other == key) {
            return true;
        }
        taken |= bit;
    }
    false
}

/// Tells apart the names that stand together, and costs next to nothing.
#[inline]
fn hash(key: &str) -> usize {
    let bytes = key.as_bytes();
    let byte = |at: usize| bytes.get(at).map_or(0, |byte| usize::from(*byte));
    let last = byte(bytes.len().wrapping_sub(1));
    bytes.len() ^ byte(0) ^ (last << 2) ^ (byte(bytes.len() / 2) << 1)
}

/// Adds a fault for each key that stood before.
pub(super) fn explain<'d>(value: Value<'d, '_>, faults: &mut Faults<'d>) {
    for (index, item) in value.items().enumerate() {
        faults.enter(Step::Index(index));
        explain(item, faults);
        faults.leave();
    }
    let mut seen = HashSet::new();
    for (key, field) in value.fields() {
        faults.enter(Step::Key(key));
        if !seen.insert(key) {
            let message = message::twice(key);
            faults.add(field.position(), Keyword::Duplicate, "", message);
        }
        explain(field, faults);
        faults.leave();
    }
}
