//! Samples: legal streams that hold everything that a wire has, for whoever writes a reader.
//!
//! A sample is told as native events, which the [`Tracker`](crate::event::tracker::Tracker) follows,
//! and becomes the lines of its wire by the same [`Projection`] as a run.

mod agents;
mod answer;
mod compaction;
mod filler;
mod random;
mod retries;
mod script;
mod session;
mod text;
mod tools;
mod turns;

use std::io::{self, Write as _};

use crate::event::{ErrorCode, Outcome};
use crate::wire::{Projection, Wire};
use script::Script;

/// A legal stream that holds every event, delta, role, block and value of its wire, and every
/// optional field both there and not there.
///
/// The same sample is the same bytes on every machine and with every later version of the same
/// schema; another seed gives other texts, numbers, pieces and orders.
///
/// What a stream can have only once differs from seed to seed. Even seeds number and date each line
/// (`seq`, `at`; native wire), have a plain header and end `completed`; odd seeds have all optional
/// fields of the header and end `failed`. On the native wire the streams of background agents
/// within the sample have what it lacks itself.
///
/// ```
/// use quipu::sample::Sample;
/// use quipu::wire::Wire;
///
/// let mut lines = Vec::new();
/// Sample::new(Wire::Senpi).write(&mut lines).unwrap();
/// assert!(lines.starts_with(b"{\"type\":\"session\",\"version\":3,"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    wire: Wire,
    seed: u64,
    deltas: u64,
}

impl Sample {
    /// The sample of a wire with seed 0.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            seed: 0,
            deltas: 0,
        }
    }

    /// With another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With further runs, until there are about so many `message_update` lines: 170 bytes or more
    /// each on the native wire.
    #[must_use]
    pub fn deltas(self, deltas: u64) -> Self {
        Self { deltas, ..self }
    }

    /// Writes the lines one by one. Memory does not grow with the number of deltas, but for the
    /// dreb wire, whose last line has the messages of the whole stream.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let stamped = self.wire == Wire::Quipu && self.seed.is_multiple_of(2);
        let mut projection = Projection::new(self.wire);
        let mut bytes = Vec::new();
        let mut stamp = Vec::new();
        let mut seq = 0_u64;
        let mut sink = |event, at| {
            bytes.clear();
            let mut made = Ok(());
            projection.project(event, |line| {
                let start = bytes.len();
                let written = line.append_to(&mut bytes);
                if stamped && written.is_ok() {
                    // Every line begins with its type: `{"type":"…"`.
                    let behind = start + r#"{"type":"""#.len() + line.kind().len();
                    stamp.clear();
                    made = write!(stamp, r#","seq":{seq},"at":{at}"#);
                    bytes.splice(behind..behind, stamp.iter().copied());
                    seq += 1;
                } else if written.is_err() {
                    made = written;
                }
            });
            made?;
            out.write_all(&bytes)
        };
        let mut script = Script::new(self.seed, 0, &mut sink);
        script.target = self.deltas;
        everything(&mut script)?;
        out.flush()
    }
}

/// The session that another one comes from.
const PARENT: &str = "/home/me/.quipu/agent/sessions/parent.jsonl";

/// The whole stream.
fn everything(script: &mut Script<'_>) -> io::Result<()> {
    let odd = script.seed % 2 == 1;
    script.header(odd.then_some(PARENT), odd.then_some("feature-dev"))?;
    script.clamped()?;
    script.custom(true)?;
    script.session_changes()?;

    script.agent_start()?;
    script.threshold_compaction(true)?;
    script.turn_start()?;
    script.prompt()?;
    script.opening_turns()?;
    script.rich_run()?;
    script.texts_run()?;
    script.length_run()?;
    script.healing_retry()?;
    script.prompt_changes()?;
    script.compactions()?;
    script.branch_summary()?;
    script.paused_run()?;
    script.failing_agents()?;
    script.fill()?;
    script.overflow()?;
    script.custom(false)?;
    script.aborted_runs()?;
    script.exhausted_retries()?;
    if odd {
        script.end(
            Outcome::Failed,
            1,
            Some(agents::error(ErrorCode::Overloaded)),
        )
    } else {
        script.end(Outcome::Completed, 0, None)
    }
}
