//! Which lines are written.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::event::{QUIPU_EVENT_TYPES, QuipuEvent};

/// The lines of a stream that are written; the header and `stream_end` always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventFilter {
    /// Every line.
    #[default]
    All,
    /// No deltas and no progress: what is final.
    Final,
    /// The named event types.
    Types(BTreeSet<String>),
}

/// A type that no event has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid value for --events: no event has the type \"{name}\"{}; use all, final, or event types by comma",
    hint.as_ref().map(|hint| format!(", did you mean \"{hint}\"?")).unwrap_or_default()
)]
pub struct UnknownEvent {
    name: String,
    hint: Option<&'static str>,
}

impl EventFilter {
    /// Whether the line of an event is written.
    #[must_use]
    pub fn passes(&self, event: &QuipuEvent) -> bool {
        if matches!(event, QuipuEvent::Session(_) | QuipuEvent::StreamEnd(_)) {
            return true;
        }
        match self {
            Self::All => true,
            Self::Final => !matches!(
                event,
                QuipuEvent::MessageUpdate(_)
                    | QuipuEvent::ToolExecutionUpdate(_)
                    | QuipuEvent::CompactionProgress(_)
            ),
            Self::Types(types) => types.contains(event.kind()),
        }
    }
}

impl FromStr for EventFilter {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "final" => Ok(Self::Final),
            types => types
                .split(',')
                .map(known)
                .collect::<Result<_, _>>()
                .map(Self::Types),
        }
    }
}

fn known(name: &str) -> Result<String, UnknownEvent> {
    let name = name.trim();
    if QUIPU_EVENT_TYPES.contains(&name) {
        return Ok(name.to_owned());
    }
    let hint = QUIPU_EVENT_TYPES
        .iter()
        .copied()
        .max_by(|a, b| strsim::jaro(name, a).total_cmp(&strsim::jaro(name, b)))
        .filter(|hint| strsim::jaro(name, hint) > 0.7);
    Err(UnknownEvent {
        name: name.to_owned(),
        hint,
    })
}

#[cfg(test)]
mod tests {
    use super::EventFilter;
    use crate::event::{QuipuEvent, TurnStartEvent};

    #[test]
    fn an_unknown_type_names_the_nearest() {
        let error = "turn_start,mesage_end"
            .parse::<EventFilter>()
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("\"mesage_end\", did you mean \"message_end\"?"),
            "{error}"
        );
        assert!("".parse::<EventFilter>().is_err());
    }

    #[test]
    fn only_named_types_pass() {
        let event = QuipuEvent::from(TurnStartEvent {});
        assert!("turn_start".parse::<EventFilter>().unwrap().passes(&event));
        assert!(
            !"message_end, agent_end"
                .parse::<EventFilter>()
                .unwrap()
                .passes(&event)
        );
        assert!(EventFilter::Final.passes(&event));
    }
}
