//! Which wire a stream is of, told from its lines.

use super::Wire;
use super::json::Value;

/// Looks at the lines of a stream until one of them settles its wire.
///
/// A header with `stream` settles it at once. Without one it is senpi's or dreb's, and the first line
/// that only one of them can have settles it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detector {
    wire: Option<Wire>,
}

impl Detector {
    /// Takes the next line and gives the wire, if it is settled.
    pub fn observe(&mut self, line: Value<'_, '_>) -> Option<Wire> {
        if self.wire.is_none() {
            self.wire = settles(line);
        }
        self.wire
    }

    /// The wire, if it is settled.
    #[must_use]
    pub fn wire(&self) -> Option<Wire> {
        self.wire
    }
}

/// The wire of a line that no other wire has.
fn settles(line: Value<'_, '_>) -> Option<Wire> {
    let has = |key| line.get(key).is_some();
    match line.get("type")?.as_str()? {
        "session" => match line.pointer("/stream/wire") {
            Some(wire) => wire.as_str()?.parse().ok(),
            // Only dreb's has one without a `stream`.
            None => has("agentType").then_some(Wire::Dreb),
        },
        "stream_end" => Some(Wire::Quipu),
        "agent_start" => has("model").then_some(Wire::Dreb),
        "message_start" => {
            let pending = line.pointer("/message/stopReason")?.as_str()? == "pending";
            pending.then_some(Wire::Senpi)
        }
        "message_update" => match (has("message"), has("usage")) {
            (true, _) => Some(Wire::Dreb),
            (false, true) => Some(Wire::Senpi),
            _ => None,
        },
        "agent_end" if has("willRetry") => Some(Wire::Senpi),
        "agent_end" => Some(Wire::Dreb),
        kind => {
            let of = |wire: Wire| wire.types().contains(&kind);
            match (of(Wire::Senpi), of(Wire::Dreb)) {
                (true, false) => Some(Wire::Senpi),
                (false, true) => Some(Wire::Dreb),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::Document;
    use super::*;

    fn of(lines: &[&str]) -> Option<Wire> {
        let mut detector = Detector::default();
        for line in lines {
            detector.observe(Document::read(line, Document::default()).unwrap().root());
        }
        detector.wire()
    }

    #[test]
    fn the_first_line_that_tells_settles_it() {
        let header = r#"{"type":"session","version":3}"#;
        let native = r#"{"type":"session","stream":{"wire":"quipu"}}"#;
        let delta = r#"{"type":"message_update","usage":{},"assistantMessageEvent":{}}"#;
        let whole = r#"{"type":"message_update","message":{},"assistantMessageEvent":{}}"#;
        assert_eq!(of(&[native, whole]), Some(Wire::Quipu));
        assert_eq!(of(&[header, r#"{"type":"agent_start"}"#]), None);
        assert_eq!(of(&[header, delta, whole]), Some(Wire::Senpi));
        assert_eq!(of(&[header, whole, delta]), Some(Wire::Dreb));
        for (line, wire) in [
            (r#"{"type":"auto_compaction_start"}"#, Wire::Dreb),
            (r#"{"type":"agent_end","messages":[]}"#, Wire::Dreb),
            (r#"{"type":"agent_start","model":{}}"#, Wire::Dreb),
            (r#"{"type":"compaction_start"}"#, Wire::Senpi),
            (r#"{"type":"agent_end","willRetry":false}"#, Wire::Senpi),
            (r#"{"type":"stream_end"}"#, Wire::Quipu),
        ] {
            assert_eq!(of(&["[]", "7", header, line]), Some(wire), "{line}");
        }
    }
}
