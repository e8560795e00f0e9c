//! Failed answers: retries that heal, retries that are used up, and contexts that are too long.

use std::io;

use super::answer::{Part, text, thinking};
use super::script::Script;
use super::tools::Around;
use crate::event::{AutoRetryEndEvent, AutoRetryStartEvent, StopReason, SystemPromptChangeEvent};

const OVERLOADED: &str = "529 {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}";

impl Script<'_> {
    /// Two failures, one before and one within the answer; then a good answer with a tool.
    pub(super) fn healing_retry(&mut self) -> io::Result<()> {
        self.begin_run()?;
        self.broken_turn(false)?;
        self.agent_end(true, None)?;
        self.next_service();
        let error = format!("{OVERLOADED}; going on with {}", self.route_model());
        self.retry_start(1, 0, &error)?;
        self.agent_start()?;
        self.turn_start()?;
        self.broken_turn(true)?;
        self.agent_end(true, None)?;
        self.retry_start(2, 4_000, OVERLOADED)?;
        self.agent_start()?;
        self.turn_start()?;
        let parts = vec![
            thinking(self.text(), None),
            text(self.text(), None),
            Part::Call(self.call("bash", "bash")),
        ];
        let answer = self.answer(parts, StopReason::ToolUse)?;
        self.emit(AutoRetryEndEvent {
            success: true,
            attempt: 2,
            final_error: None,
        })?;
        self.finish_turn(answer, Around::default())?;
        self.turn_start()?;
        let parts = vec![text(self.text(), None)];
        self.answer_turn(parts, StopReason::Stop, Around::default())?;
        self.agent_end(false, None)
    }

    /// As many failures as are borne; and one wait that is cut short.
    pub(super) fn exhausted_retries(&mut self) -> io::Result<()> {
        let last = 1 + self.random.below(3);
        self.begin_run()?;
        for attempt in 1..=last {
            self.broken_turn(attempt % 2 == 0)?;
            self.agent_end(true, None)?;
            self.retry_start(attempt, 1_000 << attempt, OVERLOADED)?;
            self.agent_start()?;
            self.turn_start()?;
        }
        self.broken_turn(false)?;
        self.agent_end(false, None)?;
        self.retries_failed(last, OVERLOADED)?;

        self.begin_run()?;
        self.broken_turn(true)?;
        self.agent_end(true, None)?;
        self.retry_start(1, 86_400_000, OVERLOADED)?;
        self.retries_failed(1, "Retry aborted.")
    }

    /// A context that is too long: it is compacted and the request is made again, in vain.
    pub(super) fn overflow(&mut self) -> io::Result<()> {
        self.begin_run()?;
        let answer = self.failed_request(
            StopReason::Error,
            "prompt is too long: 210000 tokens > 200000 maximum",
        )?;
        self.finish_turn(answer, Around::default())?;
        self.agent_end(false, None)?;
        self.overflow_compaction()?;
        self.agent_start()?;
        self.turn_start()?;
        let answer = self.failed_request(
            StopReason::Error,
            "prompt is too long: 205000 tokens > 200000 maximum",
        )?;
        self.finish_turn(answer, Around::default())?;
        self.agent_end(false, None)?;
        self.second_overflow()
    }

    /// A turn whose answer breaks: in the middle, or before it begins.
    fn broken_turn(&mut self, begun: bool) -> io::Result<()> {
        let answer = if begun {
            let parts = vec![thinking(self.text(), None), text(self.text(), None)];
            self.answer(parts, StopReason::Error)?
        } else {
            self.failed_request(StopReason::Error, OVERLOADED)?
        };
        self.finish_turn(answer, Around::default())
    }

    fn retry_start(&mut self, attempt: u64, delay_ms: u64, error: &str) -> io::Result<()> {
        self.emit(AutoRetryStartEvent {
            attempt,
            max_attempts: 3,
            delay_ms,
            error_message: error.into(),
        })
    }

    fn retries_failed(&mut self, attempt: u64, error: &str) -> io::Result<()> {
        self.emit(AutoRetryEndEvent {
            success: false,
            attempt,
            final_error: Some(error.into()),
        })
    }

    /// Another model is chosen, and with it another system prompt.
    pub(super) fn prompt_changes(&mut self) -> io::Result<()> {
        let mut previous_model = None;
        let mut previous = String::new();
        for full in [false, true] {
            let model = self.model(full);
            let system_prompt = self.text();
            self.emit(SystemPromptChangeEvent {
                system_prompt: system_prompt.clone(),
                previous_system_prompt: std::mem::replace(&mut previous, system_prompt),
                model: model.clone(),
                previous_model: previous_model.replace(model),
                source: crate::event::SystemPromptChangeEventSource,
                system_prompt_name: full.then(|| "terse".into()),
            })?;
        }
        Ok(())
    }
}
