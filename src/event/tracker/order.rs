//! The grammar: one step for each event.

use super::{OpenIds, OrderFault, Place, Stage, Tool, Tracker};
use crate::event::{
    AgentEndEvent, AgentMessage, AgentStartEvent, AssistantMessage, AssistantMessageEvent,
    HookPhase, MessageUpdateEvent, QuipuEvent, StopReason, StreamEndEvent, ToolExecutionEndEvent,
    ToolExecutionStartEvent, ToolHookStatusEvent, ToolResultMessage, TurnEndEvent,
};

pub(super) type Step = Result<(), OrderFault>;

impl Tracker {
    pub(super) fn step(&mut self, event: &QuipuEvent) -> Step {
        use QuipuEvent as Event;
        match event {
            Event::Session(_) => {
                self.at(&[Place::Start])?;
                self.base = Place::BetweenRuns;
                Ok(())
            }
            Event::AgentStart(event) => self.agent_start(event),
            Event::TurnStart(_) => {
                self.at(&[Place::Run, Place::BetweenTurns])?;
                self.totals.turns += 1;
                self.tools.clear();
                self.base = Place::Turn;
                Ok(())
            }
            Event::MessageStart(event) => self.message_start(&event.message),
            Event::MessageUpdate(event) => self.message_update(event),
            Event::MessageEnd(event) => match &event.message {
                AgentMessage::Assistant(message) => self.answer_end(message),
                message => self.message_end(message),
            },
            Event::ToolExecutionStart(event) => self.tool_start(event),
            Event::ToolExecutionUpdate(event) => {
                self.at(&[Place::Tools])?;
                let tool = self.running(&event.tool_call_id)?;
                same("toolName", "its start", tool.name == event.tool_name)
            }
            Event::ToolExecutionEnd(event) => self.tool_end(event),
            Event::ToolHookStatus(event) => self.hook(event),
            Event::TurnEnd(event) => self.turn_end(event),
            Event::AgentEnd(event) => self.agent_end(event),
            Event::AutoRetryStart(event) => self.retry_start(event),
            Event::AutoRetryEnd(event) => self.retry_end(event),
            Event::CompactionStart(event) => self.compaction_start(event),
            Event::CompactionProgress(event) => {
                self.at(&[Place::Compaction])?;
                self.same_reason(event.reason)
            }
            Event::CompactionEnd(event) => self.compaction_end(event),
            Event::SummarizationRetryScheduled(_) => {
                self.at(&[Place::BetweenRuns, Place::Compaction])?;
                self.summary_retry = true;
                Ok(())
            }
            Event::SummarizationRetryAttemptStartBranchSummary(_) => {
                self.at(&[Place::BetweenRuns])?;
                self.summary_retry_open()
            }
            Event::SummarizationRetryAttemptStartCompaction(event) => {
                self.at(&[Place::Compaction])?;
                self.summary_retry_open()?;
                self.same_reason(event.reason)
            }
            Event::SummarizationRetryFinished(_) => {
                self.at(&[Place::BetweenRuns, Place::Compaction])?;
                self.summary_retry_open()?;
                self.summary_retry = false;
                Ok(())
            }
            Event::QueueUpdate(_)
            | Event::SessionInfoChanged(_)
            | Event::ThinkingLevelChanged(_)
            | Event::ThinkingLevelClamped(_)
            | Event::SystemPromptChange(_) => self.inside(),
            Event::TasksUpdate(_) | Event::SuggestNext(_) => {
                self.at(&[Place::Tools])?;
                let any = self.tools.iter().any(|tool| tool.stage == Stage::Running);
                any.then_some(())
                    .ok_or_else(|| not_open("tool", String::new(), Vec::new()))
            }
            Event::BackgroundAgentStart(event) => self.background_start(event),
            Event::SubagentArbitration(event) => self.arbitration(event),
            Event::BackgroundAgentEvent(event) => {
                self.inside()?;
                let agent = self.background(&event.agent_id)?;
                agent.relayed = true;
                let refused = agent.refused;
                if let Event::StreamEnd(end) = &*event.event {
                    // It holds what the agent's own agents have used.
                    self.totals.add(&end.usage);
                }
                refuse_if(refused, "route of the background agent", &event.agent_id)
            }
            Event::BackgroundAgentEnd(event) => {
                self.inside()?;
                self.background(&event.agent_id)?.ended = true;
                Ok(())
            }
            Event::ParentPausedForBackgroundAgents(_) => {
                self.at(&[Place::BetweenTurns])?;
                self.base = Place::Pausing;
                Ok(())
            }
            Event::StreamEnd(event) => self.stream_end(event),
        }
    }

    fn agent_start(&mut self, event: &AgentStartEvent) -> Step {
        self.at(&[Place::BetweenRuns, Place::RetryWait])?;
        if self.base == Place::BetweenRuns {
            self.no_retry()?;
        }
        self.no_summary_retry()?;
        if event.model.is_some() {
            self.model.clone_from(&event.model);
        }
        self.base = Place::Run;
        Ok(())
    }

    fn message_start(&mut self, message: &AgentMessage) -> Step {
        match message {
            AgentMessage::Assistant(answer) => {
                self.at(&[Place::Turn])?;
                self.base = match answer.stop_reason {
                    StopReason::Pending => Place::Answer,
                    StopReason::Error | StopReason::Aborted => Place::FailedRequest,
                    StopReason::Stop | StopReason::Length | StopReason::ToolUse => {
                        return Err(OrderFault::Place { place: Place::Turn });
                    }
                };
                self.api = Some(answer.api.clone());
                self.answer = super::Answer {
                    start: Some(answer.clone()),
                    ..super::Answer::default()
                };
                return Ok(());
            }
            AgentMessage::User(_) => self.at(&[Place::Turn])?,
            AgentMessage::Custom(_) => self.at(&[Place::Turn, Place::BetweenRuns])?,
            AgentMessage::ToolResult(result) => self.result_start(result)?,
            AgentMessage::BashExecution(_)
            | AgentMessage::BranchSummary(_)
            | AgentMessage::CompactionSummary(_) => {
                return Err(OrderFault::Place {
                    place: self.place(),
                });
            }
        }
        self.message = Some(message.clone());
        Ok(())
    }

    fn result_start(&mut self, result: &ToolResultMessage) -> Step {
        self.at(&[Place::Tools, Place::Results])?;
        self.no_running_tool()?;
        let due = self.tools.iter().find(|tool| tool.stage == Stage::Over);
        match due {
            Some(tool) if tool.id == result.tool_call_id => {
                self.base = Place::Results;
                Ok(())
            }
            due => {
                let due = due.map(|tool| tool.id.clone()).into_iter().collect();
                Err(not_open("tool result", result.tool_call_id.clone(), due))
            }
        }
    }

    fn message_update(&mut self, event: &MessageUpdateEvent) -> Step {
        self.at(&[Place::Answer])?;
        self.answer.fold.apply(&event.assistant_message_event)?;
        self.answer.usage = Some(event.usage.clone());
        let may_resolve = matches!(
            event.assistant_message_event,
            AssistantMessageEvent::ToolcallStart(_) | AssistantMessageEvent::ToolcallEnd(_)
        );
        if event.resolved_tool_name.is_some() && !may_resolve {
            return Err(OrderFault::Extra {
                what: "resolvedToolName",
            });
        }
        Ok(())
    }

    fn answer_end(&mut self, message: &AssistantMessage) -> Step {
        self.at(&[Place::Answer, Place::FailedRequest])?;
        let whole = self.base == Place::FailedRequest;
        let broken = matches!(message.stop_reason, StopReason::Error | StopReason::Aborted);
        if message.stop_reason == StopReason::Pending || (whole && !broken) {
            return Err(OrderFault::Place { place: self.base });
        }
        if !broken && let Some(index) = self.answer.fold.first_open() {
            return Err(open("content block", index.to_string()));
        }
        self.base = if broken {
            Place::Broken
        } else {
            Place::Answered
        };
        self.totals.add(&message.usage);
        self.answer_at = self.messages.len();
        self.messages.push(message.clone().into());
        if broken {
            self.last_error.clone_from(&message.error_message);
        }
        if whole {
            let start = self.answer.start.as_ref();
            same("message", "its message_start", start == Some(message))
        } else {
            Ok(self.answer.fold.agrees_with(message)?)
        }
    }

    fn message_end(&mut self, message: &AgentMessage) -> Step {
        let begun = match self.message.take() {
            Some(begun) if begun.kind() == message.kind() => begun,
            other => {
                self.message = other;
                return Err(OrderFault::Place {
                    place: self.place(),
                });
            }
        };
        if self.base != Place::BetweenRuns {
            self.messages.push(message.clone());
        }
        if let AgentMessage::ToolResult(result) = message {
            let due = self.tools.iter_mut().find(|tool| tool.stage == Stage::Over);
            if let Some(tool) = due {
                tool.stage = Stage::Answered;
                let outcome = tool.outcome.take();
                let error = outcome.is_some_and(|(_, error)| error);
                same(
                    "isError",
                    "its tool_execution_end",
                    error == result.is_error,
                )?;
            }
        }
        same("message", "its message_start", begun == *message)
    }

    fn tool_start(&mut self, event: &ToolExecutionStartEvent) -> Step {
        self.at(&[Place::Answered, Place::Tools])?;
        self.no_retry()?;
        let id = &event.tool_call_id;
        if self.tools.iter().any(|tool| tool.id == *id) {
            return Err(OrderFault::Reused {
                what: "tool",
                id: id.clone(),
            });
        }
        let next = self.call(self.tools.len()).map(|call| call == id);
        self.tools.push(Tool {
            id: id.clone(),
            name: event.tool_name.clone(),
            outcome: None,
            stage: Stage::Running,
        });
        self.base = Place::Tools;
        same(
            "toolCallId",
            "the next call of the answer",
            next == Some(true),
        )
    }

    /// The id of a call of the current answer, counted from 0.
    fn call(&self, at: usize) -> Option<&str> {
        let Some(AgentMessage::Assistant(answer)) = self.messages.get(self.answer_at) else {
            return None;
        };
        let mut calls = answer.content.iter().filter_map(|block| match block {
            crate::event::AssistantContent::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        });
        calls.nth(at)
    }

    fn tool_end(&mut self, event: &ToolExecutionEndEvent) -> Step {
        self.at(&[Place::Tools])?;
        let hook = self
            .hooks
            .iter()
            .find(|hook| hook.tool_call_id == event.tool_call_id);
        if let Some(hook) = hook {
            return Err(open("hook", hook.hook_run_id.clone()));
        }
        let tool = self.running(&event.tool_call_id)?;
        tool.stage = Stage::Over;
        tool.outcome = Some((event.result.clone(), event.is_error));
        same("toolName", "its start", tool.name == event.tool_name)
    }

    fn hook(&mut self, event: &ToolHookStatusEvent) -> Step {
        self.at(&[Place::Tools])?;
        let tool = self.running(&event.tool_call_id)?;
        let name = tool.name == event.tool_name;
        let at = self
            .hooks
            .iter()
            .position(|hook| hook.hook_run_id == event.hook_run_id);
        match (event.phase, at) {
            (HookPhase::Start, None) => self.hooks.push(event.clone()),
            (HookPhase::Start, Some(_)) => {
                return Err(OrderFault::Reused {
                    what: "hook",
                    id: event.hook_run_id.clone(),
                });
            }
            (_, None) => {
                let open = self
                    .hooks
                    .iter()
                    .map(|hook| hook.hook_run_id.clone())
                    .collect();
                return Err(not_open("hook", event.hook_run_id.clone(), open));
            }
            (phase, Some(at)) => {
                let hook = &self.hooks[at];
                let identity = hook.hook_name == event.hook_name
                    && hook.tool_call_id == event.tool_call_id
                    && hook.extension_path == event.extension_path
                    && hook.started_at == event.started_at;
                if phase == HookPhase::End {
                    self.hooks.remove(at);
                } else {
                    self.hooks[at] = event.clone();
                }
                same("identity", "its start", identity)?;
            }
        }
        same("toolName", "the start of its tool", name)
    }

    fn turn_end(&mut self, event: &TurnEndEvent) -> Step {
        self.at(&[Place::Answered, Place::Tools, Place::Results, Place::Broken])?;
        let broken = self.base == Place::Broken;
        if !broken {
            self.no_retry()?;
            self.no_running_tool()?;
            if let Some(tool) = self.tools.iter().find(|tool| tool.stage == Stage::Over) {
                return Err(open("tool result", tool.id.clone()));
            }
        }
        self.base = if broken {
            Place::BrokenTurn
        } else {
            Place::BetweenTurns
        };
        let turn = self.messages.get(self.answer_at..).unwrap_or_default();
        let answer =
            matches!(turn.first(), Some(AgentMessage::Assistant(m)) if *m == event.message);
        same("message", "the answer's message_end", answer)?;
        let results = turn.iter().filter_map(|message| match message {
            AgentMessage::ToolResult(result) => Some(result),
            _ => None,
        });
        same(
            "toolResults",
            "the turn's results",
            results.eq(&event.tool_results),
        )
    }

    fn agent_end(&mut self, event: &AgentEndEvent) -> Step {
        if event.will_retry {
            self.at(&[Place::BrokenTurn])?;
        } else {
            self.at(&[
                Place::Run,
                Place::BetweenTurns,
                Place::Pausing,
                Place::BrokenTurn,
            ])?;
        }
        self.base = if event.will_retry {
            Place::RetryAnnounced
        } else {
            Place::BetweenRuns
        };
        let ended = std::mem::take(&mut self.messages);
        // Messages of the state have no lines of their own and may stand anywhere among them.
        let told = event.messages.iter().filter(|message| {
            !matches!(
                message,
                AgentMessage::BashExecution(_)
                    | AgentMessage::BranchSummary(_)
                    | AgentMessage::CompactionSummary(_)
            )
        });
        same("messages", "those that ended in the run", told.eq(&ended))
    }

    fn stream_end(&mut self, event: &StreamEndEvent) -> Step {
        self.at(&[Place::BetweenRuns])?;
        self.no_retry()?;
        self.no_summary_retry()?;
        if let Some(agent) = self.agents.iter().find(|agent| !agent.ended) {
            return Err(open("background agent", agent.start.agent_id.clone()));
        }
        self.base = Place::End;
        same(
            "usage or turns",
            "the sums",
            self.totals.agree(&event.usage, event.turns),
        )
    }

    pub(super) fn at(&self, allowed: &[Place]) -> Step {
        let place = self.place();
        if allowed.contains(&place) {
            Ok(())
        } else {
            Err(OrderFault::Place { place })
        }
    }

    /// Anywhere between the header and the terminal line.
    pub(super) fn inside(&self) -> Step {
        match self.base {
            place @ (Place::Start | Place::End) => Err(OrderFault::Place { place }),
            _ => Ok(()),
        }
    }

    fn running(&mut self, id: &str) -> Result<&mut Tool, OrderFault> {
        let running = |tool: &Tool| tool.stage == Stage::Running;
        let at = self
            .tools
            .iter()
            .position(|tool| tool.id == id && running(tool));
        if let Some(at) = at {
            return Ok(&mut self.tools[at]);
        }
        let open = self.tools.iter().filter(|tool| running(tool));
        let open = open.map(|tool| tool.id.clone()).collect();
        Err(not_open("tool", id.to_owned(), open))
    }

    fn no_running_tool(&self) -> Step {
        match self.tools.iter().find(|tool| tool.stage == Stage::Running) {
            Some(tool) => Err(open("tool", tool.id.clone())),
            None => Ok(()),
        }
    }

    fn no_retry(&self) -> Step {
        match self.retry {
            Some(_) => Err(open("series of retries", String::new())),
            None => Ok(()),
        }
    }

    pub(super) fn no_summary_retry(&self) -> Step {
        if self.summary_retry {
            return Err(open("series of summarization retries", String::new()));
        }
        Ok(())
    }
}

pub(super) fn same(what: &'static str, from: &'static str, equal: bool) -> Step {
    if equal {
        Ok(())
    } else {
        Err(OrderFault::Differs { what, from })
    }
}

pub(super) fn open(what: &'static str, id: String) -> OrderFault {
    OrderFault::Open { what, id }
}

pub(super) fn not_open(what: &'static str, id: String, open: Vec<String>) -> OrderFault {
    let open = OpenIds(open);
    OrderFault::NotOpen { what, id, open }
}

pub(super) fn refuse_if(refused: bool, what: &'static str, id: &str) -> Step {
    if refused {
        return Err(not_open(what, id.to_owned(), Vec::new()));
    }
    Ok(())
}
