//! What a child's stream tells of its work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::event::{
    AgentMessage, AssistantContent, AssistantMessage, ErrorCode, ModelRef, Outcome, QuipuEvent,
    StopReason, StreamEndEvent, ThinkingLevel,
};
use crate::session::file_name;

/// How much of a child's answers its parent's model is given, in bytes. The end counts most.
const LIMIT: usize = 50 * 1024;

/// What is known of a child.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The model of its latest run.
    pub(super) model: Option<ModelRef>,
    pub(super) thinking: Option<ThinkingLevel>,
    /// Its answers.
    pub(super) text: Texts,
    /// What it has cost so far.
    costs: Costs,
    /// The name of its session file.
    file_name: Option<String>,
    end: Option<StreamEndEvent>,
    /// Why it is no success; absent for one.
    pub(super) error: Option<String>,
    /// Whether it was asked to end before it had.
    stopped: bool,
    /// Whether its latest answer was cut at its token limit.
    pub(super) cut: bool,
    /// Whether its latest answer calls for no other.
    ending: bool,
}

impl Report {
    /// A child that could not do anything.
    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::default()
        }
    }

    /// What it has cost so far, in US dollars, agents of its own included.
    pub(super) fn cost(&self) -> f64 {
        self.costs.total()
    }

    /// Takes a line of its stream.
    pub(super) fn see(&mut self, event: &QuipuEvent) {
        self.costs.see(event);
        match event {
            QuipuEvent::Session(header) => {
                self.file_name = Some(file_name(&header.timestamp, &header.id));
            }
            QuipuEvent::AgentStart(start) => {
                self.model.clone_from(&start.model);
                self.thinking = start.thinking_level;
            }
            QuipuEvent::MessageEnd(end) => {
                if let AgentMessage::Assistant(answer) = &end.message {
                    self.cut = matches!(answer.stop_reason, StopReason::Length);
                    self.ending = matches!(answer.stop_reason, StopReason::Stop);
                    self.text.push(&text_of(answer));
                }
            }
            QuipuEvent::TurnStart(_) | QuipuEvent::BackgroundAgentEvent(_) => self.ending = false,
            QuipuEvent::StreamEnd(end) => self.end = Some(end.clone()),
            _ => {}
        }
    }

    /// Whether it is no success because it was asked to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether it will end by itself, as far as its stream tells.
    pub(super) fn is_ending(&self) -> bool {
        self.ending || self.is_over()
    }

    /// Whether its stream has had its last line.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Takes its end. `None`: it did not end though it was killed.
    pub(super) fn close(&mut self, status: Option<ExitStatus>, stopped: bool) {
        let whole = self
            .end
            .as_ref()
            .is_some_and(|end| end.outcome == Outcome::Completed);
        if whole && status.is_some_and(|status| status.success()) {
            return;
        }
        let told = self.end.as_ref().and_then(|end| end.error.as_ref());
        self.stopped = stopped;
        self.error = Some(match (told, status) {
            _ if stopped => "The agent was stopped.".to_owned(),
            (Some(error), _) => error.message.clone(),
            (None, Some(status)) if !status.success() => {
                format!("The agent broke off ({status}).")
            }
            (None, _) => "The agent ended without finishing its work.".to_owned(),
        });
    }

    /// Whether it failed before any run because of what it was given: another model may do.
    pub(super) fn could_not_begin(&self) -> bool {
        let code = self.end.as_ref().and_then(|end| end.error.as_ref());
        let code = code.map(|error| error.code);
        self.model.is_none()
            && matches!(
                code,
                Some(ErrorCode::Configuration | ErrorCode::Credentials | ErrorCode::Usage)
            )
    }

    /// The model as `provider/id`.
    pub(super) fn model_name(&self) -> Option<String> {
        let model = self.model.as_ref()?;
        Some(format!("{}/{}", model.provider, model.id))
    }

    /// Its session file in `folder`, if it has written one.
    pub(super) fn session_file(&self, folder: &std::path::Path) -> Option<PathBuf> {
        let file = folder.join(self.file_name.as_ref()?);
        file.is_file().then_some(file)
    }
}

/// What a stream tells of costs, in US dollars.
#[derive(Debug, Default)]
struct Costs {
    /// Streams of the same name that came before: earlier steps of a chain.
    before: f64,
    own: f64,
    /// Those of its agents, by `agentId`.
    below: BTreeMap<String, Costs>,
}

impl Costs {
    fn see(&mut self, event: &QuipuEvent) {
        match event {
            QuipuEvent::Session(_) => {
                *self = Self {
                    before: self.total(),
                    ..Self::default()
                };
            }
            QuipuEvent::MessageEnd(end) => {
                if let AgentMessage::Assistant(answer) = &end.message {
                    self.own += answer.usage.cost.total.get();
                }
            }
            QuipuEvent::CompactionEnd(end) => {
                let usage = end.result.as_ref().and_then(|result| result.usage.as_ref());
                self.own += usage.map_or(0.0, |usage| usage.cost.total.get());
            }
            QuipuEvent::BackgroundAgentEvent(event) => {
                let below = self.below.entry(event.agent_id.clone()).or_default();
                below.see(&event.event);
            }
            QuipuEvent::StreamEnd(end) => {
                // It counts what came below it, too.
                self.own = end.usage.cost.total.get();
                self.below.clear();
            }
            _ => {}
        }
    }

    fn total(&self) -> f64 {
        let below: f64 = self.below.values().map(Self::total).sum();
        self.before + self.own + below
    }
}

fn text_of(answer: &AssistantMessage) -> String {
    // What an attempt left behind that was made again is no part of the result.
    if matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) {
        return String::new();
    }
    let text = |block: &AssistantContent| match block {
        AssistantContent::Text(text) => Some(text.text.clone()),
        AssistantContent::Thinking(_) | AssistantContent::ToolCall(_) => None,
    };
    let texts: Vec<_> = answer.content.iter().filter_map(text).collect();
    texts.join("\n\n")
}

/// Texts with blank lines between them, of which only the end is kept when they grow long.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    kept: String,
    dropped: bool,
}

impl Texts {
    fn push(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.kept.is_empty() {
            self.kept.push_str("\n\n");
        }
        self.kept.push_str(text);
        if self.kept.len() > LIMIT {
            let from = self.kept.ceil_char_boundary(self.kept.len() - LIMIT);
            self.kept.drain(..from);
            self.dropped = true;
        }
    }

    /// All of it; a note tells if there was more.
    pub(super) fn whole(&self) -> String {
        if self.kept.is_empty() {
            "(no output)".to_owned()
        } else if self.dropped {
            format!(
                "[Only the last {} KiB of its answers are here.]\n\n{}",
                LIMIT / 1024,
                self.kept
            )
        } else {
            self.kept.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_long_texts_is_kept() {
        let mut texts = Texts::default();
        assert_eq!(texts.whole(), "(no output)");
        texts.push(" one ");
        texts.push("\n");
        texts.push("two");
        assert_eq!(texts.whole(), "one\n\ntwo");
        for _ in 0..100 {
            texts.push(&"é".repeat(1000));
        }
        texts.push("last");
        let whole = texts.whole();
        assert!(whole.starts_with("[Only the last 50 KiB") && whole.ends_with("é\n\nlast"));
        assert!(whole.len() < LIMIT + 100, "{}", whole.len());
    }
}
