//! The tools of an answer: side by side, with hooks, progress and what they tell on the side.

use std::io;

use serde_json::{Map, Value};

use super::answer::Part;
use super::random::braid;
use super::script::{Script, plain};
use crate::event::{
    AssistantContent, AssistantMessage, HookPhase, HookStatus, InputContent, QuipuEvent,
    SessionTask, StopReason, SuggestNextEvent, TaskStatus, TasksUpdateEvent, ToolCall,
    ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent, ToolHookStatusEvent,
    ToolResult, ToolResultMessage,
};

/// What happens around the tools of a turn.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    /// Hooks run before and after.
    pub(super) hooks: bool,
    /// Task lists and suggestions come up.
    pub(super) notes: bool,
    /// A last word of the tools on whether the model is asked again.
    pub(super) end_turn: Option<bool>,
}

/// What a result may hold.
const RESULTS: usize = 4;

impl Script<'_> {
    /// A turn: its answer, tools and results. The input is written before it.
    pub(super) fn answer_turn(
        &mut self,
        parts: Vec<Part>,
        stop_reason: StopReason,
        around: Around,
    ) -> io::Result<()> {
        let answer = self.answer(parts, stop_reason)?;
        self.finish_turn(answer, around)
    }

    /// The turn of an answer that is written.
    pub(super) fn finish_turn(
        &mut self,
        answer: AssistantMessage,
        around: Around,
    ) -> io::Result<()> {
        let results = match answer.stop_reason {
            StopReason::Error | StopReason::Aborted => Vec::new(),
            _ => self.tools(&answer, around)?,
        };
        self.turn_end(answer, results)
    }

    fn tools(
        &mut self,
        answer: &AssistantMessage,
        around: Around,
    ) -> io::Result<Vec<ToolResultMessage>> {
        let mut lists = Vec::new();
        let mut ends = Vec::new();
        let calls = answer.content.iter().filter_map(|block| match block {
            AssistantContent::ToolCall(call) => Some(call),
            _ => None,
        });
        for (at, call) in calls.enumerate() {
            let refused = answer.stop_reason == StopReason::Length || call.incomplete.is_some();
            let (events, end) = self.tool(at, call, refused, around);
            lists.push(events);
            ends.push(end);
        }
        for event in braid(&mut self.random, lists, 2) {
            self.emit(event)?;
        }
        let mut results = Vec::new();
        for end in ends {
            let mut content = end.result.content;
            if self.random.once_in(3) {
                content.insert(0, plain("The tool is called by another name here."));
            }
            let result = ToolResultMessage {
                tool_call_id: end.tool_call_id,
                tool_name: end.tool_name,
                content,
                details: end.result.details,
                is_error: end.is_error,
                timestamp: self.clock,
            };
            self.message(result.clone())?;
            results.push(result);
        }
        Ok(results)
    }

    /// The lines of one call, and its end.
    fn tool(
        &mut self,
        at: usize,
        call: &ToolCall,
        refused: bool,
        around: Around,
    ) -> (Vec<QuipuEvent>, ToolExecutionEndEvent) {
        let tool_call_id = call.id.clone();
        let tool_name = call.name.to_lowercase();
        let args = Value::Object(call.arguments.clone());
        let mut events: Vec<QuipuEvent> = vec![
            ToolExecutionStartEvent {
                tool_call_id: tool_call_id.clone(),
                tool_name: tool_name.clone(),
                args: args.clone(),
            }
            .into(),
        ];
        let mut result = self.tool_result(at);
        let mut is_error = at % 3 == 2;
        if refused {
            let text = call
                .error_message
                .as_deref()
                .unwrap_or("The answer was cut off before this call was whole.");
            result = error(text);
            is_error = true;
        } else {
            if around.hooks {
                self.hook(&mut events, "PreToolUse", call, &tool_name, at);
            }
            for part in 0..=at % 3 {
                let partial_result = ToolResult {
                    content: result.content.get(..part).unwrap_or_default().to_vec(),
                    details: (part == 1).then(|| details(&[("lines", 7.into())])),
                    end_turn: None,
                };
                events.push(
                    ToolExecutionUpdateEvent {
                        tool_call_id: tool_call_id.clone(),
                        tool_name: tool_name.clone(),
                        args: args.clone(),
                        partial_result,
                    }
                    .into(),
                );
            }
            if around.notes {
                events.push(self.tasks().into());
                let command = self.text();
                events.push(SuggestNextEvent { command }.into());
            }
            if around.hooks {
                self.hook(&mut events, "PostToolUse", call, &tool_name, at + 1);
            }
            result.end_turn = around.end_turn;
        }
        let end = ToolExecutionEndEvent {
            tool_call_id,
            tool_name,
            result,
            is_error,
        };
        events.push(end.clone().into());
        (events, end)
    }

    fn tool_result(&mut self, at: usize) -> ToolResult {
        let (content, details): (Vec<InputContent>, _) = match at % RESULTS {
            0 => (
                vec![plain(self.text())],
                Some(details(&[("exitCode", 0.into()), ("", Value::Null)])),
            ),
            1 => (vec![plain("An image:"), self.image()], None),
            2 => (
                vec![plain(self.text())],
                Some(Value::Array(vec![1.5.into(), "two".into(), true.into()])),
            ),
            _ => (Vec::new(), Some(details(&[]))),
        };
        ToolResult {
            content,
            details,
            end_turn: None,
        }
    }

    fn hook(
        &mut self,
        events: &mut Vec<QuipuEvent>,
        name: &str,
        call: &ToolCall,
        tool: &str,
        at: usize,
    ) {
        let status = HookStatus::ALL[at % HookStatus::ALL.len()];
        let started_at = self.clock;
        let start = ToolHookStatusEvent {
            hook_run_id: self.id("hook_"),
            hook_name: name.into(),
            tool_name: tool.into(),
            tool_call_id: call.id.clone(),
            extension_path: if at.is_multiple_of(2) {
                "/projects/quipu/.quipu/hooks/check.ts"
            } else {
                "<builtin:guard>"
            }
            .into(),
            started_at,
            phase: HookPhase::Start,
            status_message: "checks the call".into(),
            completed_at: None,
            status: None,
            error_message: None,
        };
        let end = ToolHookStatusEvent {
            phase: HookPhase::End,
            status_message: "has checked the call".into(),
            completed_at: Some(started_at + self.random.below(900)),
            status: Some(status),
            error_message: (status != HookStatus::Completed)
                .then(|| "The path lies outside of the project.".into()),
            ..start.clone()
        };
        let update = ToolHookStatusEvent {
            phase: HookPhase::Update,
            ..start.clone()
        };
        events.extend([start, update, end].map(QuipuEvent::from));
    }

    fn tasks(&mut self) -> TasksUpdateEvent {
        let count = self.random.index(2) + TaskStatus::ALL.len();
        let tasks = (0..count).map(|at| SessionTask {
            id: at.to_string(),
            title: self.text(),
            status: TaskStatus::ALL[at % TaskStatus::ALL.len()],
        });
        TasksUpdateEvent {
            tasks: tasks.collect(),
        }
    }
}

/// The result of a call that was not carried out.
fn error(text: &str) -> ToolResult {
    ToolResult {
        content: vec![plain(text)],
        details: Some(details(&[])),
        end_turn: None,
    }
}

pub(super) fn details(fields: &[(&str, Value)]) -> Value {
    let fields = fields
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    Value::Object(fields.collect::<Map<_, _>>())
}
