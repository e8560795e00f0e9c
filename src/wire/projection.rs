//! From native events to the lines of any wire.

use std::io;

use super::dreb::{Dreb, DrebLine};
use super::{Wire, line, senpi};
use crate::event::{ModelRef, QuipuEvent, SenpiEvent};

/// Turns the events of one stream into the lines of a wire, one by one and without delay.
///
/// ```
/// use quipu::event::{QuipuEvent, TurnStartEvent};
/// use quipu::wire::{Projection, Wire};
///
/// let mut projection = Projection::new(Wire::Senpi);
/// let mut lines = Vec::new();
/// projection.project(QuipuEvent::from(TurnStartEvent {}), |line| {
///     line.append_to(&mut lines).unwrap();
/// });
/// assert_eq!(lines, b"{\"type\":\"turn_start\"}\n");
/// ```
#[derive(Debug)]
pub struct Projection(State);

#[derive(Debug)]
enum State {
    Quipu,
    Senpi,
    Dreb(Box<Dreb>),
}

impl Projection {
    /// A projection to a wire, before the first event.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self(match wire {
            Wire::Quipu => State::Quipu,
            Wire::Senpi => State::Senpi,
            Wire::Dreb => State::Dreb(Box::default()),
        })
    }

    /// Tells which model was chosen, in case that no run begins that would tell it.
    pub(super) fn chose(&mut self, model: Option<ModelRef>) {
        if let State::Dreb(dreb) = &mut self.0 {
            dreb.model = model;
        }
    }

    /// Takes the next event of a legal native stream and hands out the lines that it makes: none,
    /// one or several.
    pub fn project(&mut self, event: QuipuEvent, mut write: impl FnMut(Line<'_>)) {
        match &mut self.0 {
            State::Quipu => write(Line(Form::Quipu(event))),
            State::Senpi => {
                if let Some(event) = senpi::project(event) {
                    write(Line(Form::Senpi(event)));
                }
            }
            State::Dreb(dreb) => dreb.project(event, &mut |line| write(Line(Form::Dreb(line)))),
        }
    }
}

/// A line of a wire, not yet bytes.
pub struct Line<'a>(Form<'a>);

#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call; a box would cost each line an allocation"
)]
enum Form<'a> {
    Quipu(QuipuEvent),
    Senpi(SenpiEvent),
    Dreb(DrebLine<'a>),
}

impl Line<'_> {
    /// Its `type`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Form::Quipu(event) => event.kind(),
            Form::Senpi(event) => event.kind(),
            Form::Dreb(line) => line.kind(),
        }
    }

    /// Appends it as bytes, `\n` included.
    ///
    /// # Errors
    /// Only if a value cannot be serialised; nothing is appended then.
    pub fn append_to(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match &self.0 {
            Form::Quipu(event) => line::append(out, event),
            Form::Senpi(event) => line::append(out, event),
            Form::Dreb(line) => {
                let start = out.len();
                let written = line.json(out);
                match written {
                    Ok(()) => out.push(b'\n'),
                    Err(_) => out.truncate(start),
                }
                written
            }
        }
    }

    /// Whether it opens or closes the stream.
    pub(super) fn is_frame(&self) -> bool {
        let terminal = match &self.0 {
            Form::Quipu(_) => "stream_end",
            // Without it a reader takes the stream for an interrupted one.
            Form::Dreb(_) => "agent_end",
            Form::Senpi(_) => return self.kind() == "session",
        };
        self.kind() == "session" || self.kind() == terminal
    }

    /// Whether it shows something that is growing: a later line has the whole.
    pub(super) fn is_progress(&self) -> bool {
        let kind = match &self.0 {
            Form::Quipu(QuipuEvent::BackgroundAgentEvent(event)) => {
                let mut inner = &event.event;
                while let QuipuEvent::BackgroundAgentEvent(event) = &**inner {
                    inner = &event.event;
                }
                inner.kind()
            }
            Form::Dreb(line) => line.innermost_kind(),
            Form::Quipu(_) | Form::Senpi(_) => self.kind(),
        };
        [
            "message_update",
            "tool_execution_update",
            "compaction_progress",
        ]
        .contains(&kind)
    }
}
