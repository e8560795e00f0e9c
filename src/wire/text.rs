//! Text mode: the final answer of each prompt, and what happens meanwhile.

use std::io::{self, IsTerminal as _, Write as _};

use super::{visible, visible_line};
use crate::event::{AgentMessage, AssistantContent, QuipuEvent, StopReason};

/// The longest line of progress, in characters.
const WIDTH: usize = 100;

/// Turns events into the text of standard output.
pub(super) struct Text {
    /// The latest whole answer of the run.
    answer: Option<String>,
    /// Whether somebody watches standard error.
    watched: bool,
    /// Whether standard output is a terminal.
    terminal: bool,
}

impl Text {
    pub(super) fn new() -> Self {
        Self {
            answer: None,
            watched: io::stderr().is_terminal(),
            terminal: io::stdout().is_terminal(),
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
                    // Whatever else reads it gets what the model wrote.
                    let shown = if self.terminal {
                        visible(&answer)
                    } else {
                        answer.as_str().into()
                    };
                    out.extend_from_slice(shown.as_bytes());
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
            let line: String = visible_line(text).chars().take(WIDTH).collect();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{AgentEndEvent, AssistantMessage, MessageEndEvent};

    fn printed(terminal: bool, answer: &str) -> String {
        let message: AssistantMessage = serde_json::from_value(json!({
            "role": "assistant", "content": [{"type": "text", "text": answer}], "api": "a",
            "provider": "p", "model": "m", "stopReason": "stop", "timestamp": 1,
            "usage": crate::model::TokenUsage::default().priced(&crate::model::Prices::default()),
        }))
        .unwrap();
        let end: AgentEndEvent = serde_json::from_value(
            json!({"type": "agent_end", "messages": [], "willRetry": false}),
        )
        .unwrap();
        let mut text = Text {
            answer: None,
            watched: false,
            terminal,
        };
        let mut out = Vec::new();
        let message = message.into();
        text.append(&mut out, &MessageEndEvent { message }.into());
        text.append(&mut out, &end.into());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_a_terminal_is_spared_the_controls_of_an_answer() {
        let answer = "a\u{1b}]0;title\u{7}\n\u{9b}2J\u{202e}b";
        assert_eq!(printed(false, answer), format!("{answer}\n"));
        assert_eq!(
            printed(true, answer),
            "a\\u{1b}]0;title\\u{7}\n\\u{9b}2J\\u{202e}b\n"
        );
    }
}
