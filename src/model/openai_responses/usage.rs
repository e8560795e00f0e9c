//! Token counts in the words of the Responses API.

use serde::Deserialize;

use crate::model::TokenUsage;
use crate::model::json::{count, lenient};

/// What the end of a response says of its tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    /// Cached ones included.
    #[serde(deserialize_with = "count")]
    input_tokens: Option<u64>,
    /// Reasoning included.
    #[serde(deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    total_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "lenient")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

impl Usage {
    /// The counts, if there are any.
    pub(super) fn counts(&self) -> Option<TokenUsage> {
        self.input_tokens.or(self.output_tokens)?;
        let input = self.input_tokens.unwrap_or(0);
        let details = self.input_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        let written = details.and_then(|details| details.cache_write_tokens);
        let cache_read = cached.unwrap_or(0).min(input);
        let cache_write = written.unwrap_or(0).min(input - cache_read);
        Some(TokenUsage {
            input: input - cache_read - cache_write,
            output: self.output_tokens.unwrap_or(0),
            cache_read,
            cache_write,
            cache_write_1h: None,
            reasoning: self
                .output_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens),
            total: self.total_tokens.filter(|total| *total > 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn counts(usage: Value) -> Option<TokenUsage> {
        serde_json::from_value::<Usage>(usage).unwrap().counts()
    }

    #[test]
    fn reasoning_is_counted_once_and_the_cache_apart() {
        let usage = counts(json!({
            "input_tokens": 1240, "output_tokens": 30, "total_tokens": 1270,
            "input_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 200},
            "output_tokens_details": {"reasoning_tokens": 12},
        }));
        let expected = TokenUsage {
            input: 40,
            output: 30,
            cache_read: 1000,
            cache_write: 200,
            cache_write_1h: None,
            reasoning: Some(12),
            total: Some(1270),
        };
        assert_eq!(usage, Some(expected));
    }

    #[test]
    fn odd_and_absent_numbers() {
        let usage = counts(
            json!({"input_tokens": 3.0, "output_tokens": null, "total_tokens": 0,
            "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": "none"}),
        );
        let expected = TokenUsage {
            cache_read: 3,
            ..TokenUsage::default()
        };
        assert_eq!(usage, Some(expected));
        assert_eq!(counts(json!({})), None);
    }
}
