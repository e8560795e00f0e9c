//! Usage as it stands in a line.

use crate::contract::json::{Number, Value};
use crate::event::{self, Cost, Usage};

/// The usage of a line; what it has not is 0.
pub(super) fn read(usage: Value<'_, '_>) -> Usage {
    let count = |key| usage.get(key).and_then(Value::as_u64);
    let tokens = |key| count(key).unwrap_or_default();
    let cost = |key| {
        let cost = usage.get("cost").and_then(|cost| cost.get(key));
        let cost = cost.and_then(Value::as_number).map(Number::as_f64);
        event::Number::from(cost.unwrap_or_default())
    };
    Usage {
        input: tokens("input"),
        output: tokens("output"),
        cache_read: tokens("cacheRead"),
        cache_write: tokens("cacheWrite"),
        cache_write1h: count("cacheWrite1h"),
        reasoning: count("reasoning"),
        total_tokens: tokens("totalTokens"),
        cost: Cost {
            input: cost("input"),
            output: cost("output"),
            cache_read: cost("cacheRead"),
            cache_write: cost("cacheWrite"),
            total: cost("total"),
        },
    }
}
