//! Token counts, in the words of OpenAI and of the servers that have words of their own.

use serde::Deserialize;

use crate::model::TokenUsage;
use crate::model::json::{count, lenient};

/// What a chunk says of the tokens of the whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    /// Cached ones included.
    #[serde(deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    total_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "lenient")]
    completion_tokens_details: Option<CompletionDetails>,
    /// What DeepSeek calls the cached tokens,
    #[serde(deserialize_with = "count")]
    prompt_cache_hit_tokens: Option<u64>,
    /// and Moonshot.
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "count")]
    reasoning_tokens: Option<u64>,
}

impl Usage {
    /// The counts, if there are any.
    pub(super) fn counts(&self) -> Option<TokenUsage> {
        self.prompt_tokens.or(self.completion_tokens)?;
        let prompt = self.prompt_tokens.unwrap_or(0);
        let completion = self.completion_tokens.unwrap_or(0);
        let details = self.prompt_tokens_details.as_ref();
        let cached = details
            .and_then(|details| details.cached_tokens)
            .or(self.prompt_cache_hit_tokens)
            .or(self.cached_tokens);
        let written = details.and_then(|details| details.cache_write_tokens);
        let cache_read = cached.unwrap_or(0).min(prompt);
        let cache_write = written.unwrap_or(0).min(prompt - cache_read);
        let reasoning = self
            .completion_tokens_details
            .as_ref()
            .and_then(|details| details.reasoning_tokens);
        let total = self.total_tokens.filter(|total| *total > 0);
        Some(TokenUsage {
            input: prompt - cache_read - cache_write,
            output: completion.saturating_add(uncounted(prompt, completion, reasoning, total)),
            cache_read,
            cache_write,
            cache_write_1h: None,
            reasoning,
            total,
        })
    }
}

/// The reasoning that the server left out of its completion tokens, which its total gives away.
fn uncounted(prompt: u64, completion: u64, reasoning: Option<u64>, total: Option<u64>) -> u64 {
    let reasoning = reasoning.unwrap_or(0);
    let is_apart = match total {
        Some(total) => {
            Some(total)
                == prompt
                    .checked_add(completion)
                    .and_then(|sum| sum.checked_add(reasoning))
        }
        None => reasoning > completion,
    };
    if is_apart { reasoning } else { 0 }
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
            "prompt_tokens": 1240, "completion_tokens": 30, "total_tokens": 1270,
            "prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 200, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 12},
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
    fn reasoning_beside_the_completion_is_added() {
        let output = |usage| counts(usage).unwrap().output;
        let details = json!({"reasoning_tokens": 12});
        assert_eq!(
            output(
                json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 27,
                "completion_tokens_details": details})
            ),
            17
        );
        assert_eq!(
            output(json!({"prompt_tokens": 10, "completion_tokens": 5,
                "completion_tokens_details": details})),
            17
        );
        assert_eq!(
            output(
                json!({"prompt_tokens": 10, "completion_tokens": 15, "total_tokens": 25,
                "completion_tokens_details": details})
            ),
            15
        );
        assert_eq!(
            output(json!({"prompt_tokens": 10, "completion_tokens": 15,
                "completion_tokens_details": details})),
            15
        );
    }

    #[test]
    fn other_words_and_odd_numbers() {
        for usage in [
            json!({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}),
            json!({"prompt_tokens": 10.0, "completion_tokens": 1.0, "cached_tokens": 4,
                "total_tokens": 0, "prompt_tokens_details": {"cached_tokens": null}}),
            json!({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": null,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": -1},
                "completion_tokens_details": null}),
            json!({"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 4,
                "prompt_tokens_details": "none", "completion_tokens_details": [1]}),
        ] {
            let expected = TokenUsage {
                input: 6,
                output: 1,
                cache_read: 4,
                ..TokenUsage::default()
            };
            assert_eq!(counts(usage.clone()), Some(expected), "{usage}");
        }
        // More from the cache than there was: never below zero.
        let usage = counts(json!({"prompt_tokens": 3, "prompt_cache_hit_tokens": 4})).unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (0, 3, 0));
        let usage = counts(json!({"prompt_tokens": 3, "prompt_tokens_details":
            {"cached_tokens": 2, "cache_write_tokens": 4}}));
        let usage = usage.unwrap();
        assert_eq!(
            (usage.input, usage.cache_read, usage.cache_write),
            (0, 2, 1)
        );
        assert_eq!(counts(json!({})), None);
        assert_eq!(counts(json!({"prompt_tokens": "many"})), None);
    }
}
