//! In what the generations of Gemini differ, known by the names of the models.
//!
//! Sources, read on 2026-11-30: the levels in docs.cloud.google.com/gemini-enterprise-agent-platform,
//! models/thinking (3.7 and 3.8 Flash: low to high), models/guides/gemini-3-5-flash (3.5 Flash and 3.1
//! Flash-Lite: minimal to high; 3.1 Pro: low to high) and models/start/get-started-with-gemini-4; those
//! of 3 Pro (low, high), the budgets of Flash-Lite and that a request must not have both in
//! <https://hexdocs.pm/gemini_ex/0.11.0/Gemini.Validation.ThinkingConfig.html>; the budgets of 2.5 Pro
//! and Flash in anomalyco/models.dev@0760ceffd3e02115e6480d9a0be7992c330c2f35, providers/google/models.
//! How many tokens a level is worth is our own choice.

use serde::Serialize;

use crate::event::ThinkingLevel;
use crate::model::Model;
use crate::model::thinking::{self, word};

/// Room for thinking when the model itself decides how much it thinks; an assumption.
const USUAL_ROOM: u64 = 24_576;
/// Tokens of an answer that thinking leaves over.
const LEAST_ANSWER: u64 = 1024;

/// How a model is told how much to think, and what else depends on its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Gemini 2.5 takes a budget of tokens, of which a few are the least.
    Budget {
        least: u64,
        most: u64,
        can_stop: bool,
    },
    /// Gemini 3 and later take a level, of which some know fewer than others.
    Level { minimal: bool, medium: bool },
    /// Any other model decides itself.
    Unknown,
}

/// `generationConfig.thinkingConfig`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    include_thoughts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<String>,
}

impl Generation {
    pub(super) fn of(id: &str) -> Self {
        let id = id.to_ascii_lowercase();
        let Some((_, rest)) = id.rsplit_once("gemini-") else {
            return Self::Unknown;
        };
        let number = rest.split('-').next().unwrap_or_default();
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        let minor = minor.parse::<u32>().unwrap_or(0);
        match major.parse::<u32>() {
            // What is newer than the sources say has the levels that all have.
            Ok(major @ 3..) => Self::Level {
                minimal: (major, minor) < (3, 7) && rest.contains("flash"),
                medium: (major, minor) > (3, 0) || rest.contains("flash"),
            },
            Ok(2) if number != "2.5" => Self::Unknown,
            Ok(2) if rest.contains("pro") => Self::Budget {
                least: 128,
                most: 32_768,
                can_stop: false,
            },
            Ok(2) => Self::Budget {
                least: if rest.contains("lite") { 512 } else { 1 },
                most: 24_576,
                can_stop: true,
            },
            _ => Self::Unknown,
        }
    }

    /// Whether it gives its calls ids, refuses calls without signatures, and takes images in the
    /// result of a tool.
    pub(super) fn is_third(self) -> bool {
        matches!(self, Self::Level { .. })
    }

    /// Whether a model of it has no such level, of those up to `high`. `minimal` is the least that it
    /// has.
    pub(super) fn lacks(self, level: ThinkingLevel) -> bool {
        match (self, level) {
            (Self::Budget { can_stop, .. }, ThinkingLevel::Off) => !can_stop,
            (Self::Level { .. }, ThinkingLevel::Off) => true,
            (Self::Level { medium, .. }, ThinkingLevel::Medium) => !medium,
            _ => false,
        }
    }

    /// The most tokens of thought and answer together, and how much of that is for thought.
    pub(super) fn limits(
        self,
        model: &Model,
        level: ThinkingLevel,
        answer: Option<u64>,
    ) -> (Option<u64>, Option<ThinkingConfig>) {
        if !model.reasoning {
            return (answer, None);
        }
        let usual = match level {
            ThinkingLevel::Off => 0,
            ThinkingLevel::Minimal => 128,
            ThinkingLevel::Low => 2048,
            ThinkingLevel::Medium => 8192,
            ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => 32_768,
        };
        let wanted = match level {
            ThinkingLevel::Off => 0,
            level => thinking::budget(model, level, usual),
        };
        let room = match self {
            Self::Budget { least, most, .. } => wanted.clamp(least, most),
            Self::Level { .. } => wanted,
            Self::Unknown if wanted == 0 => 0,
            Self::Unknown => USUAL_ROOM,
        };
        // Thought counts as part of the answer, so it comes on top where the model has room for both.
        let limit = answer.map(|answer| {
            let ceiling = model.max_tokens.unwrap_or(u64::MAX);
            answer.saturating_add(room).min(ceiling)
        });
        (limit, self.thinking(model, level, room, limit))
    }

    fn thinking(
        self,
        model: &Model,
        level: ThinkingLevel,
        room: u64,
        limit: Option<u64>,
    ) -> Option<ThinkingConfig> {
        let include_thoughts = (level != ThinkingLevel::Off).then_some(true);
        let budget = |tokens: i64| ThinkingConfig {
            include_thoughts,
            thinking_budget: Some(tokens),
            thinking_level: None,
        };
        let named = |word: &str| ThinkingConfig {
            include_thoughts,
            thinking_budget: None,
            thinking_level: Some(word.to_owned()),
        };
        if let Some(word) = word(model, level) {
            return Some(match word.parse() {
                Ok(tokens) => budget(tokens),
                Err(_) => named(word),
            });
        }
        match self {
            Self::Budget { can_stop: true, .. } if level == ThinkingLevel::Off => Some(budget(0)),
            Self::Budget { least, .. } => {
                let most = limit.map_or(room, |limit| limit.saturating_sub(LEAST_ANSWER));
                let tokens = room.min(most).max(least);
                Some(budget(i64::try_from(tokens).unwrap_or(i64::MAX)))
            }
            // These cannot stop thinking, only do it briefly and unseen.
            Self::Level { minimal, medium } => Some(named(match level {
                ThinkingLevel::Off | ThinkingLevel::Minimal if minimal => "MINIMAL",
                ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "LOW",
                ThinkingLevel::Medium if medium => "MEDIUM",
                _ => "HIGH",
            })),
            // Whether it can be told to stop is not known; without thoughts asked for none are shown.
            Self::Unknown if level == ThinkingLevel::Off => None,
            Self::Unknown => Some(budget(-1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::tests::model;

    fn limits(id: &str, level: ThinkingLevel, most: Option<u64>) -> (Option<u64>, Value) {
        let mut model = model("http://host");
        model.reasoning = true;
        model.max_tokens = most;
        let answer = most.map(|most| most.min(32_000));
        let (limit, config) = Generation::of(id).limits(&model, level, answer);
        (limit, serde_json::to_value(config).unwrap())
    }

    #[test]
    fn generations_are_known_by_their_names() {
        for (id, third) in [
            ("gemini-3-pro-preview", true),
            ("models/gemini-3.1-flash-lite", true),
            ("google/gemini-10-pro", true),
            ("gemini-2.5-pro", false),
            ("gemini-2.0-flash", false),
            ("gemini-flash-latest", false),
            ("gemini-3x", false),
            ("mock-1", false),
        ] {
            assert_eq!(Generation::of(id).is_third(), third, "{id}");
        }
        assert_eq!(Generation::of("gemini-2.0-flash"), Generation::Unknown);
    }

    #[test]
    fn a_budget_a_level_or_the_models_own_choice() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
        let thoughts = |budget: i64| json!({"includeThoughts": true, "thinkingBudget": budget});
        let named = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
        for (id, level, config) in [
            ("gemini-2.5-flash", Off, json!({"thinkingBudget": 0})),
            ("gemini-2.5-flash", Minimal, thoughts(128)),
            ("gemini-2.5-flash", Max, thoughts(24_576)),
            ("gemini-2.5-flash-lite", Minimal, thoughts(512)),
            ("gemini-2.5-pro", Off, json!({"thinkingBudget": 128})),
            ("gemini-2.5-pro", Low, thoughts(2048)),
            ("gemini-2.5-pro", Medium, thoughts(8192)),
            ("gemini-2.5-pro", High, thoughts(32_768)),
            ("gemini-3-flash", Off, json!({"thinkingLevel": "MINIMAL"})),
            ("gemini-3-flash", Minimal, named("MINIMAL")),
            ("gemini-3-flash", Low, named("LOW")),
            ("gemini-3-flash", Medium, named("MEDIUM")),
            ("gemini-3-flash", Max, named("HIGH")),
            ("gemini-3.1-flash-lite", Minimal, named("MINIMAL")),
            ("gemini-3.1-pro-preview", Minimal, named("LOW")),
            ("gemini-3.1-pro-preview", Medium, named("MEDIUM")),
            ("gemini-3.1-pro-preview", High, named("HIGH")),
            ("gemini-3.5-flash", Minimal, named("MINIMAL")),
            ("gemini-3.8-flash", Off, json!({"thinkingLevel": "LOW"})),
            ("gemini-3.8-flash", Minimal, named("LOW")),
            ("gemini-3.8-flash", Medium, named("MEDIUM")),
            ("gemini-4-argon", Minimal, named("LOW")),
            ("gemini-4-argon", Medium, named("MEDIUM")),
            ("gemini-4-argon", Max, named("HIGH")),
            ("gemini-3-pro", Off, json!({"thinkingLevel": "LOW"})),
            ("gemini-3-pro", Minimal, named("LOW")),
            ("gemini-3-pro", Medium, named("HIGH")),
            ("mock-1", Off, Value::Null),
            ("mock-1", Low, thoughts(-1)),
        ] {
            assert_eq!(limits(id, level, Some(65_536)).1, config, "{id} {level:?}");
        }
    }

    #[test]
    fn the_settings_give_other_budgets() {
        use ThinkingLevel::{High, Low, Medium, Off, Xhigh};
        let mut model = model("http://host");
        model.reasoning = true;
        model.thinking_budgets = [(Low, 5), (High, 100_000), (Off, 9)].into();
        let config = |id, level| {
            let config = Generation::of(id).limits(&model, level, None).1;
            serde_json::to_value(config).unwrap()["thinkingBudget"].clone()
        };
        assert_eq!(config("gemini-2.5-flash", Low), 5);
        // Within what the model takes.
        assert_eq!(config("gemini-2.5-pro", Low), 128);
        assert_eq!(config("gemini-2.5-flash", High), 24_576);
        assert_eq!(config("gemini-2.5-pro", Xhigh), 32_768);
        assert_eq!(config("gemini-2.5-flash", Medium), 8192);
        assert_eq!(config("gemini-2.5-flash", Off), 0);
        assert_eq!(config("gemini-3-flash", Low), Value::Null);
    }

    #[test]
    fn thought_comes_on_top_of_the_answer_and_leaves_room_for_it() {
        let limit = |most| limits("gemini-2.5-pro", ThinkingLevel::High, most);
        let budget = |config: &Value| config["thinkingBudget"].as_i64();
        assert_eq!(limit(Some(65_536)).0, Some(64_768));
        let (small, config) = limit(Some(8192));
        assert_eq!((small, budget(&config)), (Some(8192), Some(7168)));
        let (tiny, config) = limit(Some(512));
        assert_eq!((tiny, budget(&config)), (Some(512), Some(128)));
        assert_eq!(limit(None).0, None);
    }

    #[test]
    fn the_configuration_wins_and_a_model_that_does_not_think_is_told_nothing() {
        let mut model = model("http://host");
        let level = ThinkingLevel::Medium;
        let config = |model: &Model| {
            let config = Generation::of("gemini-3-pro").limits(model, level, None).1;
            serde_json::to_value(config).unwrap()
        };
        assert_eq!(config(&model), Value::Null);
        model.reasoning = true;
        for (word, expected) in [
            (
                "MEDIUM",
                json!({"includeThoughts": true, "thinkingLevel": "MEDIUM"}),
            ),
            ("-1", json!({"includeThoughts": true, "thinkingBudget": -1})),
        ] {
            let map = json!({ "medium": word });
            model.compat.insert("thinkingLevelMap".to_owned(), map);
            assert_eq!(config(&model), expected);
        }
    }
}
