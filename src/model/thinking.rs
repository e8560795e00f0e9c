//! Which thinking levels a model has, and what the configuration says of them.

use serde_json::Value;

use super::{Api, Model, anthropic, google};
use crate::event::{ThinkingClampReason, ThinkingLevel};

/// Levels beyond `high` are there only where the model's configuration names them.
const UNNAMED: usize = 4;

/// The level that a request for `requested` runs at, and why if it is another one.
///
/// A model that does not reason runs at `off`. Else the next lower level that the model has is taken,
/// and only if there is none the next higher one. Levels up to `high` are there unless
/// `thinkingLevelMap` gives them as null, or the model is known not to have them; `xhigh` and `max`
/// only if it names them. An answer without room for thinking has none but `off`.
#[must_use]
pub fn clamp(
    model: &Model,
    requested: ThinkingLevel,
) -> (ThinkingLevel, Option<ThinkingClampReason>) {
    if !model.reasoning {
        let reason = ThinkingClampReason::ModelNotReasoning;
        return (
            ThinkingLevel::Off,
            (requested != ThinkingLevel::Off).then_some(reason),
        );
    }
    let levels = ThinkingLevel::ALL;
    let at = levels
        .iter()
        .position(|level| *level == requested)
        .unwrap_or(0);
    let lower = levels[..=at].iter().rev();
    let applied = lower
        .chain(&levels[at..])
        .copied()
        .find(|level| has(model, *level));
    match applied {
        Some(applied) if applied == requested => (applied, None),
        applied => (
            applied.unwrap_or(ThinkingLevel::Off),
            Some(ThinkingClampReason::LevelUnsupported),
        ),
    }
}

fn has(model: &Model, level: ThinkingLevel) -> bool {
    if level != ThinkingLevel::Off && !has_room(model) {
        return false;
    }
    match named(model, level) {
        Some(named) => !named.is_null(),
        None => ThinkingLevel::ALL[..=UNNAMED].contains(&level) && !lacks(model, level),
    }
}

/// Whether an answer of the greatest length has room for thinking.
fn has_room(model: &Model) -> bool {
    match model.api {
        Api::AnthropicMessages => anthropic::has_room(model),
        _ => true,
    }
}

/// Whether the model is known to have no such level, of those up to `high`.
fn lacks(model: &Model, level: ThinkingLevel) -> bool {
    match model.api {
        Api::GoogleGenerativeAi => google::lacks(model, level),
        _ => false,
    }
}

fn named(model: &Model, level: ThinkingLevel) -> Option<&Value> {
    model.compat.get("thinkingLevelMap")?.get(level.as_str())
}

/// The service's word for a level, where `thinkingLevelMap` has one.
pub(super) fn word(model: &Model, level: ThinkingLevel) -> Option<&str> {
    named(model, level)?.as_str()
}

/// The tokens that a level may take: `thinkingBudgets` of the settings, else the usual ones. The
/// levels beyond `high` take what is set for that unless they are set themselves.
pub(super) fn budget(model: &Model, level: ThinkingLevel, usual: u64) -> u64 {
    let set = |level| model.thinking_budgets.get(&level).copied();
    let beyond = matches!(level, ThinkingLevel::Xhigh | ThinkingLevel::Max);
    let fallback = || beyond.then(|| set(ThinkingLevel::High)).flatten();
    set(level).or_else(fallback).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{budget, clamp};
    use crate::event::ThinkingClampReason::{LevelUnsupported, ModelNotReasoning};
    use crate::event::ThinkingLevel::{High, Low, Max, Medium, Off, Xhigh};
    use crate::model::Model;

    fn model(reasoning: bool, map: &serde_json::Value) -> Model {
        let mut model = Model {
            reasoning,
            ..Model::offline()
        };
        model
            .compat
            .insert("thinkingLevelMap".to_owned(), map.clone());
        model
    }

    #[test]
    fn a_model_that_does_not_reason_is_off() {
        let model = model(false, &json!({ "high": "high" }));
        assert_eq!(clamp(&model, High), (Off, Some(ModelNotReasoning)));
        assert_eq!(clamp(&model, Off), (Off, None));
    }

    #[test]
    fn levels_above_high_have_to_be_named() {
        let plain = Model {
            reasoning: true,
            ..Model::offline()
        };
        assert_eq!(clamp(&plain, High), (High, None));
        assert_eq!(clamp(&plain, Max), (High, Some(LevelUnsupported)));
        let named = model(true, &json!({ "xhigh": "extra" }));
        assert_eq!(clamp(&named, Xhigh), (Xhigh, None));
        assert_eq!(clamp(&named, Max), (Xhigh, Some(LevelUnsupported)));
    }

    #[test]
    fn the_settings_budgets_replace_the_usual_ones() {
        let mut model = Model::offline();
        assert_eq!(budget(&model, Low, 5), 5);
        model.thinking_budgets = [(Low, 7), (High, 9)].into();
        let budgets = [Low, Medium, High, Xhigh, Max].map(|level| budget(&model, level, 5));
        assert_eq!(budgets, [7, 5, 9, 9, 9]);
        model.thinking_budgets.insert(Max, 11);
        assert_eq!(budget(&model, Max, 5), 11);
    }

    #[test]
    fn the_search_goes_down_and_then_up() {
        let middle = json!({ "off": null, "minimal": null, "low": null, "high": null });
        let model = model(true, &middle);
        assert_eq!(clamp(&model, High), (Medium, Some(LevelUnsupported)));
        assert_eq!(clamp(&model, Low), (Medium, Some(LevelUnsupported)));
        assert_eq!(clamp(&model, Off), (Medium, Some(LevelUnsupported)));
    }
}
