//! Runs that make a stream long, each of bounded size.

use std::io;

use super::answer::{Part, text, thinking};
use super::script::Script;
use super::text as texts;
use super::tools::Around;
use crate::event::StopReason;

impl Script<'_> {
    /// Runs until the stream has about as many deltas as it should.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        while self.deltas < self.target {
            self.begin_run()?;
            let reasoning = texts::long(&mut self.random, 6_000);
            let words = texts::long(&mut self.random, 300);
            let parts = vec![
                thinking(reasoning, Some("dGhvdWdodA==")),
                text(words, None),
                Part::Call(self.call("bash", "bash")),
            ];
            self.answer_turn(parts, StopReason::ToolUse, Around::default())?;
            self.turn_start()?;
            let words = texts::long(&mut self.random, 9_000);
            self.answer_turn(vec![text(words, None)], StopReason::Stop, Around::default())?;
            self.agent_end(false, None)?;
        }
        Ok(())
    }
}
