//! When a line was written, as far as the line tells.

use std::time::UNIX_EPOCH;

use super::json::{Number, Value};

/// A time that a line tells, in ms since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Its stamp, `at`: when it was written.
    Stamp(u64),
    /// The header's: when the session was made, which may be days before the stream.
    Header(u64),
    /// That of the message or the hook that it tells of.
    Said(u64),
}

impl Moment {
    /// The time that a line tells, if any; the stamp if there is one.
    ///
    /// The end of an answer has the time of its begin; with `durationMs` that is the end's.
    #[must_use]
    pub fn of(line: Value<'_, '_>) -> Option<Self> {
        if let Some(at) = line.get("at").and_then(Value::as_u64) {
            return Some(Self::Stamp(at));
        }
        let number = |pointer| line.pointer(pointer).and_then(Value::as_u64);
        match line.get("type")?.as_str()? {
            "session" => iso(line.get("timestamp")?.as_str()?).map(Self::Header),
            "message_start" => number("/message/timestamp").map(Self::Said),
            "message_end" => ended(line.get("message")?).map(Self::Said),
            "tool_hook_status" => match line.get("phase")?.as_str()? {
                "start" => number("/startedAt").map(Self::Said),
                "end" => number("/completedAt").map(Self::Said),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its time, in ms since 1970.
    #[must_use]
    pub fn ms(self) -> u64 {
        match self {
            Self::Stamp(ms) | Self::Header(ms) | Self::Said(ms) => ms,
        }
    }
}

/// When a message ended; `None` for an answer that tells of its begin only.
#[must_use]
pub fn ended(message: Value<'_, '_>) -> Option<u64> {
    let timestamp = message.get("timestamp")?.as_u64()?;
    match (message.get("role")?.as_str()?, message.get("durationMs")) {
        ("assistant", None) => None,
        (_, duration) => {
            let duration = duration.and_then(Value::as_number).map(whole);
            Some(timestamp.saturating_add(duration.unwrap_or_default()))
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time below 0 is 0, and one beyond all times is the last"
)]
fn whole(number: Number) -> u64 {
    number.as_f64() as u64
}

/// A time as ISO 8601 has it, in ms since 1970.
pub(super) fn iso(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::json::Document;
    use super::*;

    fn of(line: &str) -> Option<Moment> {
        Moment::of(Document::read(line, Document::default()).unwrap().root())
    }

    #[test]
    fn what_lines_tell_of_their_time() {
        let answer = |more: &str| {
            format!(
                r#"{{"type":"message_end","message":{{"role":"assistant","timestamp":5{more}}}}}"#
            )
        };
        for (line, moment) in [
            (
                r#"{"type":"session","timestamp":"1970-01-01T00:00:01.500Z"}"#,
                Some(Moment::Header(1500)),
            ),
            (
                r#"{"type":"session","at":9,"timestamp":"1970-01-01T00:00:01.500Z"}"#,
                Some(Moment::Stamp(9)),
            ),
            (
                r#"{"type":"message_start","message":{"role":"assistant","timestamp":5}}"#,
                Some(Moment::Said(5)),
            ),
            (
                r#"{"type":"message_end","message":{"role":"user","timestamp":5}}"#,
                Some(Moment::Said(5)),
            ),
            (&answer(""), None),
            (&answer(r#","durationMs":2.5"#), Some(Moment::Said(7))),
            (&answer(r#","durationMs":-2"#), Some(Moment::Said(5))),
            (
                r#"{"type":"tool_hook_status","phase":"end","startedAt":1,"completedAt":3}"#,
                Some(Moment::Said(3)),
            ),
            (r#"{"type":"session","timestamp":"yesterday"}"#, None),
            (r#"{"type":"turn_start"}"#, None),
            ("[1]", None),
        ] {
            assert_eq!(of(line), moment, "{line}");
        }
    }
}
