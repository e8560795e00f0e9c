//! Where a recording is while it is written: how to end it early, and how it ended.

use memchr::memmem;

use crate::contract::detect::Detect;
use crate::contract::json::{Document, Value};
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION, Wire};
use crate::event::tracker::{CloseReason, Place, Tracker};
use crate::event::{
    ErrorCode, Outcome, QuipuEvent, SessionHeader, SessionHeaderVersion, Stamp, StopReason,
    StreamEndEvent, StreamError, StreamInfo, WireName,
};
use crate::wire::{Projection, append};

/// The status of a native stream that breaks off.
const CUT: u8 = 1;
/// The status of a dreb stream without its last line: as its document has it, that was a signal.
const INTERRUPTED: u8 = 143;

/// What ended a replay early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// The signal, such as `SIGTERM`.
    pub name: &'static str,
    /// 128 plus its number.
    pub exit_code: u8,
}

/// Follows the lines of a recording.
///
/// Lines that are no event are passed over: the ends are those of what was understood.
#[derive(Debug, Default)]
pub(super) struct Follower {
    detector: Detect,
    tracker: Tracker,
    /// Lines so far.
    lines: u64,
    /// The last line.
    last: Vec<u8>,
    /// What `stream_end` said.
    told: Option<u8>,
    /// Whether the last event of a run was its end.
    run_ended: bool,
}

impl Follower {
    /// Takes the next line.
    pub(super) fn observe(&mut self, line: Vec<u8>) {
        self.lines += 1;
        if let Ok(text) = std::str::from_utf8(&line) {
            self.read(text.trim_start_matches('\u{feff}').trim());
        }
        self.last = line;
    }

    fn read(&mut self, text: &str) {
        if self.detector.wire().is_none()
            && let Ok(document) = Document::read(text, Document::default())
        {
            self.detector.take(document.root());
        }
        if self.detector.wire() == Some(Wire::Dreb) {
            self.follow_dreb(text);
        } else {
            self.follow(text);
        }
    }

    /// The other wires are read as native events, which their lines are but for the header.
    fn follow(&mut self, text: &str) {
        let event = match serde_json::from_str::<QuipuEvent>(text) {
            Ok(event) => event,
            Err(_) if self.tracker.place() == Place::Start && is_header(text) => header().into(),
            Err(_) => return,
        };
        if let QuipuEvent::StreamEnd(end) = &event {
            self.told = Some(u8::try_from(end.exit_code).unwrap_or(CUT));
        }
        // What a recording does wrong is its own.
        let _ = self.tracker.observe(&event);
    }

    fn follow_dreb(&mut self, text: &str) {
        // Most lines are whole messages so far, of which only a few bytes have to be looked at.
        for (kind, ended) in [("agent_start", false), ("agent_end", true)] {
            if memmem::find(text.as_bytes(), kind.as_bytes()).is_some()
                && let Ok(document) = Document::read(text, Document::default())
                && document.root().get("type").and_then(Value::as_str) == Some(kind)
            {
                self.run_ended = ended;
            }
        }
    }

    /// The status that the recorded process ended with, as far as its stream tells.
    pub(super) fn exit_code(&self) -> u8 {
        match self.detector.wire() {
            Some(Wire::Quipu) => self.told.unwrap_or(CUT),
            Some(Wire::Dreb) if !self.run_ended => INTERRUPTED,
            Some(Wire::Dreb | Wire::Senpi) | None => 0,
        }
    }

    /// Appends the lines that are missing to end the stream here.
    ///
    /// A dreb stream that just stops tells by that itself that it was interrupted.
    pub(super) fn close(&mut self, interrupt: Interrupt, buffer: &mut Vec<u8>) {
        let Some(wire @ (Wire::Quipu | Wire::Senpi)) = self.detector.wire() else {
            return;
        };
        if matches!(self.tracker.place(), Place::Start | Place::End) || !self.last.ends_with(b"\n")
        {
            return;
        }
        let message = format!("The run was ended by {}.", interrupt.name);
        let mut events = self.tracker.close(&CloseReason {
            stop_reason: StopReason::Aborted,
            message: message.clone(),
        });
        let totals = self.tracker.totals();
        events.push(
            StreamEndEvent {
                outcome: Outcome::Interrupted,
                exit_code: interrupt.exit_code.into(),
                error: Some(StreamError {
                    code: ErrorCode::Interrupted,
                    message,
                    retryable: false,
                }),
                usage: totals.usage.clone(),
                turns: totals.turns,
                lines: self.lines + events.len() as u64 + 1,
            }
            .into(),
        );
        // They are written where the recording has come to, so they have its time.
        let mut stamp = serde_json::from_slice::<Stamp>(&self.last).ok();
        let mut projection = Projection::new(wire);
        for event in events {
            projection.project(event, |line| {
                if let Some(stamp) = &mut stamp {
                    stamp.seq += 1;
                }
                // An event of ours can always be serialised.
                let _ = append(buffer, &line, stamp.clone());
            });
        }
    }
}

fn is_header(text: &str) -> bool {
    let document = Document::read(text, Document::default());
    document.is_ok_and(|document| {
        document.root().get("type").and_then(Value::as_str) == Some("session")
    })
}

/// Stands for the header of another wire; it is not written.
fn header() -> SessionHeader {
    SessionHeader {
        version: SessionHeaderVersion,
        id: String::new(),
        timestamp: String::new(),
        cwd: String::new(),
        parent_session: None,
        agent_type: None,
        stream: StreamInfo {
            wire: WireName::Quipu,
            version: SCHEMA_VERSION.to_owned(),
            schema: SCHEMA_HASH.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests;
