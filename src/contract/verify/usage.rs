//! Sums of tokens and costs.

use crate::contract::json::Value;

const TOKENS: [&str; 7] = [
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "cacheWrite1h",
    "reasoning",
    "totalTokens",
];
const COSTS: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "total"];

/// How far costs may differ by rounding, relative to the larger one.
const ROUNDING: f64 = 1e-9;

/// Tokens and costs of some requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    tokens: [u64; TOKENS.len()],
    costs: [f64; COSTS.len()],
}

impl Sum {
    /// What one `usage` says; what is missing is 0.
    pub(super) fn of(usage: Option<Value<'_, '_>>) -> Self {
        let mut sum = Self::default();
        for (name, value) in usage.into_iter().flat_map(Value::fields) {
            if let Some(at) = TOKENS.iter().position(|token| *token == name) {
                sum.tokens[at] = value.as_u64().unwrap_or(0);
            } else if name == "cost" {
                for (name, value) in value.fields() {
                    if let Some(at) = COSTS.iter().position(|cost| *cost == name) {
                        sum.costs[at] = value
                            .as_number()
                            .map_or(0.0, super::super::json::Number::as_f64);
                    }
                }
            }
        }
        sum
    }

    pub(super) fn add(&mut self, usage: Option<Value<'_, '_>>) {
        let other = Self::of(usage);
        for (sum, more) in self.tokens.iter_mut().zip(other.tokens) {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in self.costs.iter_mut().zip(other.costs) {
            *sum += more;
        }
    }

    /// The first token count that is smaller in a later report: its name, before and after.
    pub(super) fn shrinks(&self, later: &Self) -> Option<(&'static str, u64, u64)> {
        let counts = TOKENS.into_iter().zip(self.tokens).zip(later.tokens);
        let mut counts = counts.map(|((name, before), after)| (name, before, after));
        counts.find(|(_, before, after)| before > after)
    }

    /// The first figure in which a told sum differs: its pointer in the usage, and both in words.
    pub(super) fn difference(&self, told: &Self) -> Option<(String, String)> {
        for ((name, sum), told) in TOKENS.into_iter().zip(self.tokens).zip(told.tokens) {
            if sum != told {
                return Some((format!("/{name}"), format!("is {told}, the sum is {sum}")));
            }
        }
        for ((name, sum), told) in COSTS.into_iter().zip(self.costs).zip(told.costs) {
            if (sum - told).abs() > ROUNDING * sum.abs().max(told.abs()) {
                let words = format!("is {told}, the sum is {sum}");
                return Some((format!("/cost/{name}"), words));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::json::Document;

    fn sum(line: &str) -> Sum {
        let document = Document::read(line, Document::default()).unwrap();
        Sum::of(Some(document.root()))
    }

    #[test]
    fn tokens_are_exact_and_costs_near() {
        let a =
            sum(r#"{"input":1,"totalTokens":3,"cost":{"input":0.1,"total":0.30000000000000004}}"#);
        let near = sum(r#"{"input":1,"totalTokens":3,"cost":{"input":0.1,"total":0.3}}"#);
        assert_eq!(a.difference(&near), None);
        let more = sum(r#"{"input":2,"totalTokens":3,"cost":{"input":0.1,"total":0.3}}"#);
        let (pointer, words) = a.difference(&more).unwrap();
        assert_eq!((&*pointer, &*words), ("/input", "is 2, the sum is 1"));
        let dearer = sum(r#"{"input":1,"totalTokens":3,"cost":{"input":0.1,"total":0.4}}"#);
        assert_eq!(a.difference(&dearer).unwrap().0, "/cost/total");
        assert_eq!(more.shrinks(&a), Some(("input", 2, 1)));
        assert_eq!(a.shrinks(&more), None);
    }
}
