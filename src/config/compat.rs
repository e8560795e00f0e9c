//! `compat` of a models file: the switches for services that differ from their API.
//!
//! A file may come from elsewhere and have switches or values that Quipu does not know. They change
//! nothing, and the user hears of them.

use serde_json::{Map, Value};

use crate::event::ThinkingLevel;

/// What the value of a switch has to be.
enum Expected {
    TrueOrFalse,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An object from thinking levels to the service's words for them.
    Levels,
}

const FORMATS: &[&str] = &[
    "openai",
    "openrouter",
    "deepseek",
    "zai",
    "qwen",
    "qwen-chat-template",
    "adaptive",
];
const LIMITS: &[&str] = &["max_tokens", "max_completion_tokens"];

fn expected(key: &str) -> Option<Expected> {
    Some(match key {
        "supportsStore"
        | "supportsDeveloperRole"
        | "supportsUsageInStreaming"
        | "supportsReasoningEffort"
        | "requiresToolResultName"
        | "requiresAssistantAfterToolResult"
        | "requiresThinkingAsText"
        | "requiresMistralToolIds" => Expected::TrueOrFalse,
        "thinkingFormat" => Expected::Word(FORMATS),
        "maxTokensField" => Expected::Word(LIMITS),
        "thinkingLevelMap" | "reasoningEffortMap" => Expected::Levels,
        _ => return None,
    })
}

/// The paths of the switches that nothing reads, of those in the object at `path`.
pub(super) fn unknown(compat: &Map<String, Value>, path: &str, into: &mut Vec<String>) {
    for (key, value) in compat {
        match (expected(key), value) {
            (None, _) => into.push(format!("{path}.{key}")),
            (Some(Expected::Levels), Value::Object(levels)) => {
                unknown_levels(levels.keys(), &format!("{path}.{key}"), into);
            }
            _ => {}
        }
    }
}

/// The paths of the names that are none of thinking levels.
pub(super) fn unknown_levels<'a>(
    names: impl Iterator<Item = &'a String>,
    path: &str,
    into: &mut Vec<String>,
) {
    let is_level = |name: &str| {
        ThinkingLevel::ALL
            .iter()
            .any(|level| level.as_str() == name)
    };
    let unknown = names.filter(|name| !is_level(name));
    into.extend(unknown.map(|name| format!("{path}.{name}")));
}

/// A sentence for each switch in the object at `path` whose value makes no sense. A null stands for an
/// absent key.
pub(super) fn nonsense(compat: &Map<String, Value>, path: &str, into: &mut Vec<String>) {
    for (key, value) in compat.iter().filter(|(_, value)| !value.is_null()) {
        let expected = match (expected(key), value) {
            (None, _) | (Some(Expected::TrueOrFalse), Value::Bool(_)) => continue,
            (Some(Expected::Word(words)), Value::String(word)) if words.contains(&&**word) => {
                continue;
            }
            (Some(Expected::Levels), Value::Object(levels)) => {
                let is_word = |word: &Value| word.is_string() || word.is_null();
                let odd = levels.iter().filter(|(_, word)| !is_word(word));
                into.extend(odd.map(|(level, _)| {
                    format!("`{path}.{key}.{level}` is ignored: expected a text or null")
                }));
                continue;
            }
            (Some(Expected::TrueOrFalse), _) => "true or false".to_owned(),
            (Some(Expected::Word(words)), _) => format!("one of \"{}\"", words.join("\", \"")),
            (Some(Expected::Levels), _) => "an object of thinking levels".to_owned(),
        };
        into.push(format!("`{path}.{key}` is ignored: expected {expected}"));
    }
}
