//! The same recording on another wire.
//!
//! A line becomes an event of its wire's own type, that becomes native events ([`lift`]), those are
//! put in order where the recording is not ([`mend`]), and a [`Projection`] makes the lines of the
//! target. Between two wires of the same name each line is written anew in its canonical form, and
//! nothing is put in order.
//!
//! Nothing is kept but what is open, with two exceptions: a native and a senpi `agent_end` hold the
//! messages of their run, and that of dreb those of the stream, so these are kept as long.

mod detect;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod lift;
mod loss;
mod mend;
mod read;
mod report;
#[cfg(test)]
mod tests;

pub use detect::Detector;
pub use report::{Loss, Report};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::Wire;
use crate::contract::lines::{Fault, Frame};
use crate::event::{DrebEvent, QuipuEvent, SenpiEvent};
use crate::wire::{Projection, line, put_stamp};
use lift::{Dreb, Native, Senpi};
use loss::Losses;
use mend::Mender;
use read::{Reading, read, stamp};

/// Why a recording cannot be converted any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A line is no JSON, or no line of its wire.
    #[error("line {line}: {}{}{message}", part(event.as_deref().unwrap_or_default()), part(pointer))]
    Line {
        /// Which line, from 1.
        line: u64,
        /// Its `type`, if it has a known one.
        event: Option<String>,
        /// JSON pointer to the place in it; empty for the line itself.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// The first line is no header.
    #[error("line {line}: {event}: a stream begins with a session header")]
    NoHeader {
        /// Which line, from 1.
        line: u64,
        /// Its `type`.
        event: &'static str,
    },
    /// A second header: another stream follows, of which nothing is converted.
    #[error("line {line}: session: another stream begins here; it is not converted")]
    Another {
        /// Which line, from 1.
        line: u64,
    },
    /// A line is longer than the reader takes.
    #[error("line {line}: {fault}")]
    Frame {
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// A part of a message, if there is one.
fn part(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{text}: ")
    }
}

/// Converts one recording, line by line.
///
/// ```
/// use quipu::contract::Wire;
/// use quipu::contract::lines::Lines;
/// use quipu::convert::{Converter, Loss};
///
/// let dreb = br#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}
/// {"type":"agent_start"}
/// {"type":"agent_end","messages":[]}
/// "#;
/// let mut converter = Converter::new(Wire::Dreb, Wire::Senpi);
/// let mut lines = Lines::new(&dreb[..]);
/// let mut out = Vec::new();
/// while let Some(frame) = lines.next_line()? {
///     converter.line(&frame, &mut out)?;
/// }
/// let report = converter.finish(&mut out);
/// assert_eq!(report.count(Loss::Invented, "agent_end"), 0);
/// assert!(out.ends_with(b"{\"type\":\"agent_end\",\"messages\":[],\"willRetry\":false}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Converter {
    from: Wire,
    report: Report,
    way: Way,
    begun: bool,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
enum Way {
    /// The lines as they are. `lines` counts those written, `terminal` whether the stream is over.
    Again { lines: u64, ended: bool },
    Over {
        lift: Lift,
        mender: Mender,
        losses: Losses,
        projection: Projection,
        lines: u64,
    },
}

#[derive(Debug)]
enum Lift {
    Quipu {
        native: Native,
        /// Whether the target has lines of background agents.
        relays: bool,
    },
    Senpi(Senpi),
    Dreb(Box<Dreb>),
}

impl Converter {
    /// At the begin of a recording.
    #[must_use]
    pub fn new(from: Wire, to: Wire) -> Self {
        let way = if from == to {
            Way::Again {
                lines: 0,
                ended: false,
            }
        } else {
            let relays = to != Wire::Senpi;
            let lift = match from {
                Wire::Quipu => Lift::Quipu {
                    native: Native::default(),
                    relays,
                },
                Wire::Senpi => Lift::Senpi(Senpi::default()),
                Wire::Dreb => Lift::Dreb(Box::new(Dreb::new(relays))),
            };
            Way::Over {
                lift,
                mender: Mender::default(),
                losses: Losses::new(to),
                projection: Projection::new(to),
                lines: 0,
            }
        };
        Self {
            from,
            report: Report::default(),
            way,
            begun: false,
        }
    }

    /// Takes the next line and appends the whole lines that it makes.
    ///
    /// # Errors
    /// [`ConvertError`]: nothing was appended for the line. What came before it can still be ended by
    /// [`finish`](Self::finish).
    pub fn line(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<(), ConvertError> {
        match frame.fault {
            Some(Fault::Blank) => return Ok(()),
            Some(fault @ Fault::TooLong { .. }) => {
                let line = frame.number;
                return Err(ConvertError::Frame { line, fault });
            }
            _ => {}
        }
        match self.from {
            Wire::Quipu => self.take::<QuipuEvent>(frame, out),
            Wire::Senpi => self.take::<SenpiEvent>(frame, out),
            Wire::Dreb => self.take::<DrebEvent>(frame, out),
        }
    }

    fn take<T: Source>(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        let again = matches!(self.way, Way::Again { .. });
        let stamped = (again && self.from == Wire::Quipu)
            .then(|| stamp(frame.bytes))
            .flatten();
        let event = match read::<T>(
            self.from,
            frame.number,
            frame.bytes,
            stamped.is_some(),
            &mut self.report,
        ) {
            Ok(Reading::Event(event)) => event,
            Ok(Reading::Skipped) => return Ok(()),
            // The recording was cut within its last line.
            Err(fault) if fault.cut && frame.fault == Some(Fault::Cut) => {
                self.report.interrupted = true;
                return Ok(());
            }
            Err(fault) => return Err(fault.error),
        };
        let (line, event_name) = (frame.number, event.kind());
        match (self.begun, event_name == "session") {
            (false, true) => self.begun = true,
            (true, false) => {}
            (true, true) => return Err(ConvertError::Another { line }),
            (false, false) => {
                return Err(ConvertError::NoHeader {
                    line,
                    event: event_name,
                });
            }
        }
        match &mut self.way {
            Way::Again { lines, ended } => {
                *lines += 1;
                let mut event = event;
                *ended = event.is_end(*lines, &mut self.report);
                let begin = out.len();
                // Types of the schema, written to memory: nothing in it can fail.
                let _ = line::append(out, &event);
                if let Some(mut stamp) = stamped {
                    // Without gaps, though lines may be left out.
                    let seq = *lines - 1;
                    if stamp.seq != seq {
                        self.report.add(Loss::Changed, "*/seq");
                        stamp.seq = seq;
                    }
                    put_stamp(out, begin, event_name, &stamp);
                }
            }
            Way::Over { lift, mender, .. } => {
                event.lift(lift, mender, &mut self.report);
                self.drain(out);
            }
        }
        Ok(())
    }

    /// Whether there was a line of a stream.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Appends the lines of the events that are ready.
    fn drain(&mut self, out: &mut Vec<u8>) {
        let Way::Over {
            mender,
            losses,
            projection,
            lines,
            ..
        } = &mut self.way
        else {
            return;
        };
        for event in mender.ready.drain(..) {
            losses.note(&event, &mut self.report);
            let (kind, whole) = (event.kind(), !losses.is_begun());
            let report = &mut self.report;
            projection.project(event, |line| {
                *lines += 1;
                // The run that a stream of the dreb wire has even if nothing ran.
                let made = match line.kind() {
                    "agent_start" => kind != "agent_start",
                    "agent_end" => kind == "stream_end" && whole,
                    _ => false,
                };
                if made {
                    report.add(Loss::Invented, line.kind());
                }
                let _ = line.append_to(out);
            });
        }
    }

    /// Takes the end of the recording: appends what ends the stream, if it does not end by itself,
    /// and gives the list of what could not be carried.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Report {
        match &mut self.way {
            Way::Again { ended, .. } => {
                self.report.interrupted |= self.begun && self.from != Wire::Senpi && !*ended;
            }
            Way::Over {
                lift,
                mender,
                lines,
                ..
            } => {
                let report = &mut self.report;
                let whole = match lift {
                    Lift::Quipu { native, .. } => native.ended,
                    Lift::Senpi(senpi) => senpi.end(mender, report),
                    Lift::Dreb(dreb) => dreb.end(mender, report),
                };
                report.interrupted |= self.begun && !whole;
                let interrupted = report.interrupted;
                mender.finish(interrupted, *lines, report);
                self.drain(out);
            }
        }
        self.report.settle();
        self.report
    }
}

/// An event of a source wire.
trait Source: DeserializeOwned + Serialize {
    fn kind(&self) -> &'static str;

    /// Whether the stream is over with it. `lines` is what a terminal line counts.
    fn is_end(&mut self, lines: u64, report: &mut Report) -> bool;

    fn lift(self, lift: &mut Lift, mender: &mut Mender, report: &mut Report);
}

impl Source for QuipuEvent {
    fn kind(&self) -> &'static str {
        self.kind()
    }

    fn is_end(&mut self, lines: u64, report: &mut Report) -> bool {
        let Self::StreamEnd(end) = self else {
            return false;
        };
        if end.lines != lines {
            end.lines = lines;
            report.add(Loss::Changed, "stream_end/lines");
        }
        true
    }

    fn lift(self, lift: &mut Lift, mender: &mut Mender, report: &mut Report) {
        if let Lift::Quipu { native, relays } = lift {
            native.line(self, *relays, mender, report);
        }
    }
}

impl Source for SenpiEvent {
    fn kind(&self) -> &'static str {
        self.kind()
    }

    fn is_end(&mut self, _: u64, _: &mut Report) -> bool {
        false
    }

    fn lift(self, lift: &mut Lift, mender: &mut Mender, report: &mut Report) {
        if let Lift::Senpi(senpi) = lift {
            senpi.line(self, mender, report);
        }
    }
}

impl Source for DrebEvent {
    fn kind(&self) -> &'static str {
        self.kind()
    }

    fn is_end(&mut self, _: u64, _: &mut Report) -> bool {
        matches!(self, Self::AgentEnd(_))
    }

    fn lift(self, lift: &mut Lift, mender: &mut Mender, report: &mut Report) {
        if let Lift::Dreb(dreb) = lift {
            dreb.line(self, mender, report);
        }
    }
}
