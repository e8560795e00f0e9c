//! Which wire a recording is of, by its first lines.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::contract::Wire;

/// Looks at the lines of a recording until they show its wire.
#[derive(Debug, Default)]
pub struct Detector {
    /// Whether an `agent_start` that says nothing was the last line.
    bare: bool,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    stream: Option<IgnoredAny>,
    model: Option<IgnoredAny>,
    #[serde(rename = "thinkingLevel")]
    thinking_level: Option<IgnoredAny>,
    #[serde(rename = "willRetry")]
    will_retry: Option<IgnoredAny>,
}

impl Detector {
    /// The wire, once a line shows it.
    pub fn line(&mut self, bytes: &[u8]) -> Option<Wire> {
        let line: Line<'_> = serde_json::from_slice(bytes).ok()?;
        let bare = std::mem::take(&mut self.bare);
        match &*line.kind {
            "session" => return line.stream.map(|_| Wire::Quipu),
            "agent_start" if line.model.is_some() || line.thinking_level.is_some() => {
                return Some(Wire::Dreb);
            }
            "agent_start" => {
                self.bare = true;
                return None;
            }
            "agent_end" if line.will_retry.is_none() => return Some(Wire::Dreb),
            _ => {}
        }
        let known = |wire: Wire| wire.types().contains(&&*line.kind);
        match (known(Wire::Senpi), known(Wire::Dreb)) {
            (true, false) => Some(Wire::Senpi),
            (false, true) => Some(Wire::Dreb),
            // The run of the other wire nearly always names its model.
            _ => bare.then_some(Wire::Senpi),
        }
    }
}
