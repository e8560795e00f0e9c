//! Which wire a stream is of, told by its first lines.

use crate::contract::Wire;
use crate::contract::json::Value;

/// How many lines, and how many bytes of them, are held back at most.
pub(crate) const HELD_LINES: usize = 64;
pub(crate) const HELD_BYTES: usize = 1 << 20;

const QUIPU: u8 = 1 << Wire::Quipu as u8;
const SENPI: u8 = 1 << Wire::Senpi as u8;
const DREB: u8 = 1 << Wire::Dreb as u8;

/// The wires that the lines so far may be of.
#[derive(Clone, Debug)]
pub(crate) struct Detect {
    left: u8,
    header: bool,
}

impl Default for Detect {
    fn default() -> Self {
        Self {
            left: QUIPU | SENPI | DREB,
            header: false,
        }
    }
}

impl Detect {
    /// Takes a line; gives the wire as soon as only one is left.
    pub(crate) fn take(&mut self, line: Value<'_, '_>) -> Option<Wire> {
        let kind = line.get("type").and_then(Value::as_str);
        self.header |= kind == Some("session");
        let left = self.left & tells(kind.unwrap_or_default(), line);
        if left != 0 {
            self.left = left;
        }
        self.wire()
    }

    /// The wire, if only one is left.
    pub(crate) fn wire(&self) -> Option<Wire> {
        let mut wires = Wire::ALL.into_iter().filter(|wire| self.has(*wire));
        wires.next().filter(|_| self.left.is_power_of_two())
    }

    /// The same, or the likeliest wire if there was a header.
    pub(crate) fn told(&self) -> Option<Wire> {
        self.wire().or_else(|| self.header.then(|| self.guess()))
    }

    /// Whether the lines so far may be of a wire.
    pub(crate) fn has(&self, wire: Wire) -> bool {
        self.left & (1 << wire as u8) != 0
    }

    /// The likeliest wire of lines that tell nothing more. A header alone is a stream of senpi.
    pub(crate) fn guess(&self) -> Wire {
        let likely = if self.header {
            [Wire::Senpi, Wire::Dreb, Wire::Quipu]
        } else {
            [Wire::Quipu, Wire::Senpi, Wire::Dreb]
        };
        let mut likely = likely.into_iter().filter(|wire| self.has(*wire));
        likely.next().unwrap_or_default()
    }
}

/// The wires on which a line can be like this.
fn tells(kind: &str, line: Value<'_, '_>) -> u8 {
    let has = |key: &str| line.get(key).is_some();
    match kind {
        "session" if has("stream") => QUIPU,
        "session" if has("agentType") => DREB,
        "session" => SENPI | DREB,
        _ if has("seq") => QUIPU,
        "agent_start" if has("model") || has("thinkingLevel") => QUIPU | DREB,
        "agent_end" if has("willRetry") => QUIPU | SENPI,
        "agent_end" => DREB,
        "message_update" if has("message") => DREB,
        "message_update" if has("usage") => QUIPU | SENPI,
        "message_start" => {
            let message = line.get("message");
            let reason = message.and_then(|message| message.get("stopReason")?.as_str());
            let content = message.and_then(|message| message.get("content"));
            match reason {
                Some("pending") => QUIPU | SENPI,
                Some("stop") if content.is_some_and(Value::is_empty) => DREB,
                _ => QUIPU | SENPI | DREB,
            }
        }
        kind => {
            let wires = Wire::ALL.into_iter();
            let wires = wires.filter(|wire| wire.types().contains(&kind));
            match wires.fold(0, |left, wire| left | 1 << wire as u8) {
                0 => QUIPU | SENPI | DREB,
                left => left,
            }
        }
    }
}

/// Whether a line is an entry of a session file, not of a stream.
pub(crate) fn is_session_entry(line: Value<'_, '_>) -> bool {
    let kind = line.get("type").and_then(Value::as_str);
    let known = |kind| {
        Wire::ALL
            .into_iter()
            .any(|wire| wire.types().contains(&kind))
    };
    let id = line.get("id").is_some_and(|id| id.as_str().is_some());
    id && line.get("parentId").is_some() && kind.is_some_and(|kind| !known(kind))
}
