//! From the text of an answer to a route.

use serde_json::{Map, Value};

use super::{Refusal, Scope};
use crate::event::{DispatchRoute, ThinkingLevel};
use crate::subagent::Definitions;

/// What is wrong with an answer. The texts quote nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is something else.
    #[error("it is not one JSON object and nothing else")]
    NoObject,
    /// It was cut off.
    #[error("it is not complete")]
    Cut,
    /// It lacks a field.
    #[error("its `{0}` is missing or no text")]
    Missing(&'static str),
    /// It gives a thinking level that does not exist.
    #[error("its `thinking` is not the name of a thinking level")]
    NoLevel,
}

/// Reads a route, which need not be one that can be taken.
pub(super) fn read(text: &str) -> Result<DispatchRoute, Fault> {
    let object: Map<String, Value> =
        serde_json::from_str(bare(text)).map_err(|_| Fault::NoObject)?;
    let field = |name| {
        let text = object.get(name).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty())
            .ok_or(Fault::Missing(name))
    };
    let (agent, model) = (field("agent")?.to_owned(), field("model")?.to_owned());
    let level = field("thinking")?;
    let thinking = *ThinkingLevel::ALL
        .iter()
        .find(|known| known.as_str() == level)
        .ok_or(Fault::NoLevel)?;
    Ok(DispatchRoute {
        agent,
        model,
        thinking,
    })
}

/// The text without the fence that models like to put around JSON.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| {
        let rest = rest.strip_suffix("```")?;
        Some(rest.strip_prefix("json").unwrap_or(rest).trim())
    });
    inside.unwrap_or(text)
}

/// Makes sure that a route can be taken.
pub(super) fn check(
    route: DispatchRoute,
    agents: &Definitions,
    scope: &Scope,
) -> Result<DispatchRoute, Refusal> {
    if agents.get(&route.agent).is_none() {
        return Err(Refusal::UnknownAgent);
    }
    let model = scope.get(&route.model).ok_or(Refusal::OutOfScope)?;
    if !Scope::has(model, route.thinking) {
        return Err(Refusal::UnsupportedThinking);
    }
    Ok(route)
}
