//! Tool calls of one answer: checked and started in source order, run side by side.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::{Agent, now};
use crate::event::{
    InputContent, StopReason, TextContent, ToolCall, ToolExecutionEndEvent,
    ToolExecutionStartEvent, ToolExecutionUpdateEvent, ToolResult, ToolResultMessage, UserContent,
};
use crate::tool::{ToolContext, ToolError, ToolOutput, UpdateSink};
use crate::wire::StreamClosed;

/// The result of one call.
pub(super) struct CallResult {
    pub(super) message: ToolResultMessage,
    /// The tool asks that the model is not called again in this run.
    pub(super) ends_turn: bool,
}

/// A call that passed its checks.
struct Running {
    call: usize,
    tool_name: String,
    updates: Arc<Updates>,
}

type Execution = BoxFuture<'static, (usize, Result<ToolOutput, ToolError>)>;

impl Agent {
    /// Runs the calls of an answer and gives their results in source order.
    ///
    /// A call of an answer that was cut by its token limit, or whose arguments are not whole, is
    /// answered with an error and not run.
    pub(super) async fn run_tools(
        &self,
        calls: &[ToolCall],
        stop_reason: StopReason,
    ) -> Result<Vec<CallResult>, StreamClosed> {
        let mut results: Vec<Option<CallResult>> = calls.iter().map(|_| None).collect();
        let mut executions: FuturesUnordered<Execution> = FuturesUnordered::new();
        let mut running: Vec<Running> = Vec::new();
        let changed = Arc::new(Notify::new());

        for (index, call) in calls.iter().enumerate() {
            let tool_name = self.resolved_name(&call.name).to_owned();
            self.emit(ToolExecutionStartEvent {
                tool_call_id: call.id.clone(),
                tool_name: tool_name.clone(),
                args: Value::Object(call.arguments.clone()),
            })
            .await?;
            let updates = Arc::new(Updates::new(Arc::clone(&changed)));
            match self.start(call, &tool_name, stop_reason, &updates) {
                Ok(execution) => {
                    executions.push(Box::pin(async move { (index, execution.await) }));
                    running.push(Running {
                        call: index,
                        tool_name,
                        updates,
                    });
                }
                Err(refusal) => {
                    results[index] = Some(self.end(call, &tool_name, failure(refusal)).await?);
                }
            }
        }

        while !executions.is_empty() {
            tokio::select! {
                biased;
                Some((index, outcome)) = executions.next() => {
                    let Some(at) = running.iter().position(|running| running.call == index) else {
                        continue;
                    };
                    let done = running.remove(at);
                    self.flush(&calls[index], &done).await?;
                    let output = outcome.unwrap_or_else(|error| failure(error.to_string()));
                    results[index] = Some(self.end(&calls[index], &done.tool_name, output).await?);
                }
                () = changed.notified() => {
                    for tool in &running {
                        self.flush(&calls[tool.call], tool).await?;
                    }
                }
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Checks a call; the error is what the model is told instead of a result.
    fn start(
        &self,
        call: &ToolCall,
        tool_name: &str,
        stop_reason: StopReason,
        updates: &Arc<Updates>,
    ) -> Result<BoxFuture<'static, Result<ToolOutput, ToolError>>, String> {
        if stop_reason == StopReason::Length {
            return Err(format!(
                "The call of \"{}\" was not run: the answer reached its token limit, so the \
                 arguments may be cut. Send the call again, in smaller parts if it is long.",
                call.name
            ));
        }
        if call.incomplete.is_some() {
            let reason = call
                .error_message
                .as_deref()
                .unwrap_or("they are not whole JSON");
            return Err(format!(
                "The call of \"{}\" was not run: its arguments are not a JSON object ({reason}). \
                 Send the call again with complete arguments.",
                call.name
            ));
        }
        let Some(tool) = self
            .config
            .tools
            .iter()
            .find(|tool| tool.name() == tool_name)
        else {
            let known: Vec<_> = self.config.tools.iter().map(|tool| tool.name()).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            return Err(format!(
                "There is no tool named \"{}\". Tools: {known}.",
                call.name
            ));
        };
        if self.config.cancel.is_cancelled() {
            return Err("The call was not run: the run is being stopped.".to_owned());
        }
        let sink = Arc::clone(updates);
        let context = ToolContext {
            cwd: self.config.cwd.clone(),
            cancel: self.config.cancel.clone(),
            updates: UpdateSink::new(move |result| sink.put(result)),
            env: Arc::clone(&self.config.tool_env),
        };
        tool.call(&call.arguments, context)
            .map_err(|error| error.to_string())
    }

    /// Writes what a running call has reported since the last time.
    async fn flush(&self, call: &ToolCall, running: &Running) -> Result<(), StreamClosed> {
        while let Some(mut partial_result) = running.updates.take() {
            for block in &mut partial_result.content {
                if let InputContent::Text(block) = block {
                    // The rest of a secret may only come with the next report.
                    block.text = self.config.secrets.scrub_so_far(&block.text).into_owned();
                }
            }
            self.scrub(&mut partial_result);
            self.emit(ToolExecutionUpdateEvent {
                tool_call_id: call.id.clone(),
                tool_name: running.tool_name.clone(),
                args: Value::Object(call.arguments.clone()),
                partial_result,
            })
            .await?;
        }
        Ok(())
    }

    async fn end(
        &self,
        call: &ToolCall,
        tool_name: &str,
        output: ToolOutput,
    ) -> Result<CallResult, StreamClosed> {
        let ToolOutput {
            mut result,
            is_error,
            events,
        } = output;
        for event in events {
            self.emit(event).await?;
        }
        self.scrub(&mut result);
        self.emit(ToolExecutionEndEvent {
            tool_call_id: call.id.clone(),
            tool_name: tool_name.to_owned(),
            result: result.clone(),
            is_error,
        })
        .await?;
        let mut content = result.content;
        if tool_name != call.name
            && self
                .config
                .tools
                .iter()
                .any(|tool| tool.name() == tool_name)
        {
            // The model learns the right name; the correction is no part of the tool's own result.
            let note = format!(
                "[No tool is named \"{}\"; \"{tool_name}\" was run.]",
                call.name
            );
            content.insert(0, text(note));
        }
        let message = ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: tool_name.to_owned(),
            content,
            details: result.details,
            is_error,
            timestamp: now(),
        };
        Ok(CallResult {
            message,
            ends_turn: result.end_turn == Some(true),
        })
    }

    /// Replaces values that must not reach a line in what the user asks.
    pub(super) fn scrub_prompt(&self, content: &mut UserContent) {
        match content {
            UserContent::String(text) => self.scrub_text(text),
            UserContent::Array(blocks) => self.scrub_blocks(blocks),
        }
    }

    fn scrub_text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.config.secrets.scrub(text) {
            *text = clean;
        }
    }

    fn scrub_blocks(&self, blocks: &mut [InputContent]) {
        for block in blocks {
            if let InputContent::Text(block) = block {
                self.scrub_text(&mut block.text);
            }
        }
    }

    /// Replaces values that must not reach a line.
    fn scrub(&self, result: &mut ToolResult) {
        self.scrub_blocks(&mut result.content);
        if let Some(details) = &mut result.details {
            self.config.secrets.scrub_value(details);
        }
    }
}

fn failure(message: String) -> ToolOutput {
    let details = Some(Value::Object(Map::new()));
    ToolOutput {
        result: ToolResult {
            content: vec![text(message)],
            details,
            end_turn: None,
        },
        is_error: true,
        events: Vec::new(),
    }
}

fn text(text: String) -> InputContent {
    TextContent {
        text,
        text_signature: None,
    }
    .into()
}

/// Updates of one call that wait to be written.
///
/// Each update is the whole result so far, so when the reader is slow only the first (which tells that
/// the tool runs) and the latest are kept.
struct Updates {
    waiting: Mutex<VecDeque<ToolResult>>,
    changed: Arc<Notify>,
}

impl Updates {
    fn new(changed: Arc<Notify>) -> Self {
        Self {
            waiting: Mutex::default(),
            changed,
        }
    }

    fn put(&self, result: ToolResult) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.truncate(1);
        waiting.push_back(result);
        drop(waiting);
        self.changed.notify_one();
    }

    fn take(&self) -> Option<ToolResult> {
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }
}
