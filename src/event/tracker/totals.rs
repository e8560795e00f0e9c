//! The sums of a stream.

use super::super::{Cost, Number, Usage};

/// What `stream_end` adds up.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Usage of every ended answer, every compaction, every decision of an arbiter, and every
    /// background agent whose stream ended.
    pub usage: Usage,
    /// Turns that were started.
    pub turns: u64,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            usage: nothing(),
            turns: 0,
        }
    }
}

impl Totals {
    /// Adds the usage of a request.
    pub(crate) fn add(&mut self, usage: &Usage) {
        let sum = &mut self.usage;
        sum.input = sum.input.saturating_add(usage.input);
        sum.output = sum.output.saturating_add(usage.output);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
        sum.cache_write1h = optional(sum.cache_write1h, usage.cache_write1h);
        sum.reasoning = optional(sum.reasoning, usage.reasoning);
        sum.total_tokens = sum.total_tokens.saturating_add(usage.total_tokens);
        sum.cost = Cost {
            input: sum.cost.input + usage.cost.input,
            output: sum.cost.output + usage.cost.output,
            cache_read: sum.cost.cache_read + usage.cost.cache_read,
            cache_write: sum.cost.cache_write + usage.cost.cache_write,
            total: sum.cost.total + usage.cost.total,
        };
    }

    /// Whether a `stream_end` says the same; costs up to rounding.
    pub(crate) fn agree(&self, usage: &Usage, turns: u64) -> bool {
        let costs = |cost: &Cost| {
            [
                cost.input,
                cost.output,
                cost.cache_read,
                cost.cache_write,
                cost.total,
            ]
            .map(Number::get)
        };
        let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
        let tokens = Usage {
            cost: self.usage.cost.clone(),
            ..usage.clone()
        };
        self.turns == turns
            && self.usage == tokens
            && costs(&self.usage.cost)
                .into_iter()
                .zip(costs(&usage.cost))
                .all(near)
    }
}

/// No tokens, no cost.
pub(super) fn nothing() -> Usage {
    let zero = Number::default();
    Usage {
        input: 0,
        output: 0,
        cache_read: 0,
        cache_write: 0,
        cache_write1h: None,
        reasoning: None,
        total_tokens: 0,
        cost: Cost {
            input: zero,
            output: zero,
            cache_read: zero,
            cache_write: zero,
            total: zero,
        },
    }
}

fn optional(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
}
