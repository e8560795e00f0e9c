//! Which lines are written.

use std::collections::BTreeSet;

use super::{Line, Wire};

/// The lines of a stream that are written; the header and the terminal line (`stream_end`, on the
/// dreb wire `agent_end`) always are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventFilter {
    /// Every line.
    #[default]
    All,
    /// No deltas and no progress, those of background agents included: what is final.
    Final,
    /// The named event types.
    Types(BTreeSet<String>),
}

/// A type that no event of the wire has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid value for --events: no event of the {} wire has the type \"{name}\"{}; use all, final, or event types by comma",
    wire.name(),
    hint.as_ref().map(|hint| format!(", did you mean \"{hint}\"?")).unwrap_or_default()
)]
pub struct UnknownEvent {
    wire: Wire,
    name: String,
    hint: Option<&'static str>,
}

impl EventFilter {
    /// Reads `all`, `final`, or types of the wire by comma.
    pub fn parse(text: &str, wire: Wire) -> Result<Self, UnknownEvent> {
        match text {
            "all" => Ok(Self::All),
            "final" => Ok(Self::Final),
            types => types
                .split(',')
                .map(|name| known(name.trim(), wire))
                .collect::<Result<_, _>>()
                .map(Self::Types),
        }
    }

    /// Whether a line is written.
    #[must_use]
    pub fn passes(&self, line: &Line<'_>) -> bool {
        line.is_frame()
            || match self {
                Self::All => true,
                Self::Final => !line.is_progress(),
                Self::Types(types) => types.contains(line.kind()),
            }
    }
}

fn known(name: &str, wire: Wire) -> Result<String, UnknownEvent> {
    let types = wire.types();
    if types.contains(&name) {
        return Ok(name.to_owned());
    }
    let near = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let hint = types
        .iter()
        .copied()
        .max_by(|a, b| near(a).total_cmp(&near(b)))
        .filter(|hint| near(hint) > 0.6);
    Err(UnknownEvent {
        wire,
        name: name.to_owned(),
        hint,
    })
}

#[cfg(test)]
mod tests {
    use super::EventFilter;
    use crate::event::sample::{answer, event, update};
    use crate::event::{QuipuEvent, TurnStartEvent};
    use crate::wire::{Projection, Wire};
    use serde_json::{Value, json};

    /// The types of the lines that pass.
    fn passed(filter: &str, wire: Wire, events: &[QuipuEvent]) -> Vec<&'static str> {
        let filter = EventFilter::parse(filter, wire).unwrap();
        let mut projection = Projection::new(wire);
        let mut kinds = Vec::new();
        for event in events {
            projection.project(event.clone(), |line| {
                if filter.passes(&line) {
                    kinds.push(line.kind());
                }
            });
        }
        kinds
    }

    #[test]
    fn an_unknown_type_names_the_nearest_of_the_wire() {
        let error = |text, wire| EventFilter::parse(text, wire).unwrap_err().to_string();
        let told = error("turn_start,mesage_end", Wire::Quipu);
        assert!(
            told.contains("\"mesage_end\", did you mean \"message_end\"?"),
            "{told}"
        );
        let told = error("compaction_start", Wire::Dreb);
        assert!(
            told.contains("of the dreb wire") && told.contains("\"auto_compaction_start\"?"),
            "{told}"
        );
        assert!(EventFilter::parse("stream_end", Wire::Senpi).is_err());
        assert!(EventFilter::parse("", Wire::Quipu).is_err());
    }

    #[test]
    fn only_named_types_pass() {
        let events = [QuipuEvent::from(TurnStartEvent {})];
        assert_eq!(passed("turn_start", Wire::Quipu, &events), ["turn_start"]);
        let none: [&str; 0] = [];
        assert_eq!(passed("message_end, agent_end", Wire::Quipu, &events), none);
        assert_eq!(passed("final", Wire::Quipu, &events), ["turn_start"]);
    }

    #[test]
    fn final_leaves_out_what_grows_in_background_agents_too() {
        let relayed = |line: Value| {
            event(json!({"type": "background_agent_event", "agentId": "g", "event": line}))
        };
        let pending = json!({"type": "message_start", "message": answer(&json!([]), "pending")});
        let delta = update(&json!({"type": "text_start", "contentIndex": 0}));
        let events = [
            event(json!({"type": "agent_start"})),
            relayed(json!({"type": "agent_start"})),
            relayed(pending),
            relayed(delta.clone()),
            relayed(json!({"type": "background_agent_event", "agentId": "h", "event": delta})),
            relayed(json!({"type": "turn_start"})),
        ];
        for wire in [Wire::Quipu, Wire::Dreb] {
            let all = passed("all", wire, &events);
            let left = passed("final", wire, &events);
            assert_eq!(left.len(), 4, "{all:?}");
            assert!(all.len() > left.len());
        }
    }

    #[test]
    fn the_frame_of_a_wire_always_passes() {
        let end = json!({
            "type": "stream_end", "outcome": "failed", "exitCode": 2,
            "usage": crate::event::sample::usage(0, 0), "turns": 0, "lines": 2,
        });
        let events = [crate::event::sample::rich().remove(0), event(end)];
        let only = |wire| passed("turn_start", wire, &events);
        assert_eq!(only(Wire::Quipu), ["session", "stream_end"]);
        assert_eq!(only(Wire::Senpi), ["session"]);
        assert_eq!(only(Wire::Dreb), ["session", "agent_end"]);
    }
}
