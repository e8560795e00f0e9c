//! Text mode: the final answer of each prompt, and what happens meanwhile.

use std::io::{self, IsTerminal as _, Write as _};

use crate::event::{AgentMessage, AssistantContent, QuipuEvent, StopReason};

/// The longest line of progress, in characters.
const WIDTH: usize = 100;

/// Turns events into the text of standard output.
pub(super) struct Text {
    /// The latest whole answer of the run.
    answer: Option<String>,
    /// Whether somebody watches standard error.
    watched: bool,
}

impl Text {
    pub(super) fn new() -> Self {
        Self {
            answer: None,
            watched: io::stderr().is_terminal(),
        }
    }

    /// Appends what an event adds to standard output: the final answer when its run ends.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, event: &QuipuEvent) {
        match event {
            QuipuEvent::MessageEnd(end) => {
                if let AgentMessage::Assistant(answer) = &end.message {
                    let whole =
                        !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
                    self.answer = whole.then(|| text_of(&answer.content));
                }
            }
            QuipuEvent::AgentEnd(end) if !end.will_retry => {
                if let Some(answer) = self.answer.take().filter(|answer| !answer.is_empty()) {
                    out.extend_from_slice(answer.as_bytes());
                    if !answer.ends_with('\n') {
                        out.push(b'\n');
                    }
                }
            }
            QuipuEvent::ToolExecutionStart(start) => {
                self.tell(&format!("{} {}", start.tool_name, start.args));
            }
            QuipuEvent::ToolExecutionEnd(end) if end.is_error => {
                self.tell(&format!("{} failed", end.tool_name));
            }
            QuipuEvent::AutoRetryStart(retry) => self.tell(&format!(
                "{}; trying again in {} ms ({} of {})",
                retry.error_message, retry.delay_ms, retry.attempt, retry.max_attempts
            )),
            _ => {}
        }
    }

    /// Writes a line of progress.
    fn tell(&self, text: &str) {
        if self.watched {
            let line: String = text
                .chars()
                .filter(|c| !c.is_control())
                .take(WIDTH)
                .collect();
            // Progress is worth no failure.
            let _ = writeln!(io::stderr(), "· {line}");
        }
    }
}

fn text_of(content: &[AssistantContent]) -> String {
    let text = |block: &AssistantContent| match block {
        AssistantContent::Text(text) => Some(text.text.clone()),
        AssistantContent::Thinking(_) | AssistantContent::ToolCall(_) => None,
    };
    content
        .iter()
        .filter_map(text)
        .collect::<Vec<_>>()
        .join("\n")
}
