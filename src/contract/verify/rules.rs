//! The rules that the grammar states in words: what the lines say about each other.

mod report;

use super::blocks::{self, Blocks};
use super::print::{Print, whole};
use super::usage::Sum;
use crate::contract::Wire;
use crate::contract::grammar::Rule;
use crate::contract::json::Value;
pub(super) use report::Report;

/// What earlier lines were, as far as later ones are held against them.
#[derive(Debug)]
pub(super) struct Rules {
    wire: Wire,
    /// Which of these can be relied on, after what was wrong before.
    trust: Trust,
    start: Print,
    role: Role,
    /// Line of the `message_start`.
    started: u64,
    /// The open answer is told by deltas.
    pending: bool,
    blocks: Blocks,
    latest: Sum,
    answer: Print,
    answered: u64,
    calls: Vec<Call>,
    starts: Vec<Call>,
    ends: Vec<ToolEnd>,
    results: Vec<u64>,
    run: Vec<u64>,
    usage: Sum,
    turns: u64,
}

#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each stands for itself: a message may be certain in a run that is not"
)]
struct Trust {
    message: bool,
    turn: bool,
    run: bool,
    stream: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    Assistant,
    ToolResult,
    #[default]
    Other,
}

#[derive(Debug)]
struct Call {
    id: u64,
    arguments: Option<u64>,
    name: String,
}

#[derive(Debug)]
struct ToolEnd {
    id: u64,
    line: u64,
    is_error: Option<bool>,
    tool: Option<u64>,
    content: Vec<u64>,
    details: Option<u64>,
}

fn text<'d>(value: Option<Value<'d, '_>>, key: &str) -> &'d str {
    value
        .and_then(|value| value.get(key)?.as_str())
        .unwrap_or_default()
}

fn print(value: Option<Value<'_, '_>>) -> Option<u64> {
    value.map(Value::fingerprint)
}

fn is_broken(message: Option<Value<'_, '_>>) -> bool {
    matches!(text(message, "stopReason"), "error" | "aborted")
}

impl Rules {
    pub(super) fn new(wire: Wire) -> Self {
        Self {
            wire,
            trust: Trust {
                message: true,
                turn: true,
                run: true,
                stream: true,
            },
            start: Print::default(),
            role: Role::default(),
            started: 0,
            pending: false,
            blocks: Blocks::default(),
            latest: Sum::default(),
            answer: Print::default(),
            answered: 0,
            calls: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            results: Vec::new(),
            run: Vec::new(),
            usage: Sum::default(),
            turns: 0,
        }
    }

    /// The `turn_start` lines so far.
    pub(super) fn turns(&self) -> u64 {
        self.turns
    }

    /// What came so far is not certain, because a line was wrong in itself or in its place.
    pub(super) fn distrust(&mut self) {
        self.trust = Trust {
            message: false,
            turn: false,
            run: false,
            stream: false,
        };
    }

    /// Takes a line; `lines` is how many there were with it.
    pub(super) fn take(
        &mut self,
        kind: &str,
        line: Value<'_, '_>,
        lines: u64,
        report: &mut Report<'_>,
    ) {
        let muted = report.mute;
        let mute = |report: &mut Report<'_>, trusted: bool| report.mute = muted || !trusted;
        match kind {
            "message_update" => {
                if self.wire != Wire::Dreb {
                    blocks::named(line, report);
                }
                mute(report, self.trust.message && !report.told);
                self.update(line, report);
            }
            "agent_start" => {
                self.run.clear();
                self.trust.run = true;
            }
            "turn_start" => {
                self.turns += 1;
                self.answer.clear();
                self.calls.clear();
                self.starts.clear();
                self.ends.clear();
                self.results.clear();
                self.trust.turn = true;
            }
            "message_start" => {
                self.trust.message = true;
                self.message_start(line.get("message"), report);
            }
            "message_end" => {
                mute(report, self.trust.message);
                if let Some(message) = line.get("message") {
                    self.message_end(message, report);
                    mute(report, self.trust.turn && !report.told);
                    if Self::role_of(message) == Role::ToolResult {
                        self.result(message, report);
                    }
                }
            }
            "tool_execution_start" => {
                mute(report, self.trust.turn);
                self.tool_start(line, report);
            }
            "tool_execution_update" => {
                mute(report, self.trust.turn);
                let id = print(line.get("toolCallId"));
                let mut starts = self.starts.iter();
                let start = starts.find(|start| Some(start.id) == id);
                if start.is_none_or(|start| start.arguments != print(line.get("args"))) {
                    report.wrong(Rule::ToolStarts, "/args", || {
                        "differs from that of its tool_execution_start".to_owned()
                    });
                }
            }
            "tool_execution_end" => self.tool_end(line, report.place.line),
            "turn_end" => {
                mute(report, self.trust.turn);
                self.turn_end(line, report);
            }
            "agent_end" => {
                mute(report, self.trust.run);
                self.agent_end(line.get("messages"), report);
            }
            "compaction_end" => {
                let result = line.get("result");
                self.usage
                    .add(result.and_then(|result| result.get("usage")));
                self.usage.add(line.get("usage"));
            }
            "subagent_arbitration" => self.usage.add(line.get("usage")),
            "background_agent_event" => {
                let event = line.get("event");
                if text(event, "type") == "stream_end" {
                    self.usage.add(event.and_then(|event| event.get("usage")));
                }
            }
            "stream_end" => {
                self.stream_end(line, lines, report);
                return;
            }
            _ => return,
        }
        if report.told {
            // What differs here differs wherever it is repeated.
            self.trust.message = false;
            self.trust.turn = false;
            self.trust.run = false;
        }
    }

    fn role_of(message: Value<'_, '_>) -> Role {
        match text(Some(message), "role") {
            "assistant" => Role::Assistant,
            "toolResult" => Role::ToolResult,
            _ => Role::Other,
        }
    }

    fn message_start(&mut self, message: Option<Value<'_, '_>>, report: &mut Report<'_>) {
        self.start.take(message);
        self.started = report.place.line;
        self.blocks.clear();
        self.latest = Sum::default();
        self.role = message.map_or(Role::Other, |message| Self::role_of(message));
        let reason = text(message, "stopReason");
        let failed = message.is_some_and(|message| message.get("errorMessage").is_some());
        self.pending = self.role == Role::Assistant
            && match self.wire {
                Wire::Dreb => !failed && !is_broken(message),
                _ => reason == "pending",
            };
        if self.wire == Wire::Dreb && self.pending {
            let content = message.and_then(|message| message.get("content"));
            if content.is_some_and(|content| !content.is_empty()) {
                report.wrong(Rule::Snapshots, "/message/content", || {
                    "is not empty, though the answer only begins".to_owned()
                });
            }
        }
    }

    fn update(&mut self, line: Value<'_, '_>, report: &mut Report<'_>) {
        let message = line.get("message");
        let usage = if self.wire == Wire::Dreb {
            message.and_then(|message| message.get("usage"))
        } else {
            line.get("usage")
        };
        self.latest = Sum::of(usage);
        self.blocks.update(line, self.wire, report);
        if self.wire == Wire::Dreb && !report.told {
            self.snapshot(line, message, report);
        }
    }

    fn snapshot(
        &mut self,
        line: Value<'_, '_>,
        message: Option<Value<'_, '_>>,
        report: &mut Report<'_>,
    ) {
        let partial = line
            .get("assistantMessageEvent")
            .and_then(|delta| delta.get("partial"));
        let Some(message) = message else {
            return;
        };
        if partial != Some(message) {
            report.wrong(Rule::Snapshots, "/assistantMessageEvent/partial", || {
                "is not the `message` of the line".to_owned()
            });
        } else if let Err((at, what)) = self.blocks.shown(message.get("content")) {
            report.wrong(Rule::Snapshots, &format!("/message/content{at}"), || what);
        } else if let Some(field) = self.start.difference(message, &["content", "usage"]) {
            let started = self.started;
            report.wrong(
                Rule::Snapshots,
                &format!("/message{}", under(field)),
                || apart_from("message_start", started, field),
            );
        }
    }

    fn message_end(&mut self, message: Value<'_, '_>, report: &mut Report<'_>) {
        let role = Self::role_of(message);
        if role == Role::Assistant && self.pending {
            self.answer_end(message, report);
        } else if let Some(field) = self.start.difference(message, &[]) {
            let started = self.started;
            report.wrong(
                Rule::WholeMessages,
                &format!("/message{}", under(field)),
                || apart_from("message_start", started, field),
            );
        }
        if role == Role::Assistant {
            self.usage.add(message.get("usage"));
            self.answer.take(Some(message));
            self.answered = report.place.line;
            self.run.push(self.answer.whole());
            let blocks = message.get("content").into_iter().flat_map(Value::items);
            let calls = blocks.filter(|block| text(Some(*block), "type") == "toolCall");
            self.calls.clear();
            if !is_broken(Some(message)) {
                self.calls.extend(calls.map(|call| Call {
                    id: print(call.get("id")).unwrap_or_default(),
                    arguments: print(call.get("arguments")),
                    name: text(Some(call), "id").to_owned(),
                }));
            }
        } else {
            self.run.push(whole(message));
        }
    }

    fn answer_end(&mut self, message: Value<'_, '_>, report: &mut Report<'_>) {
        const KEPT: [&str; 5] = ["role", "api", "provider", "model", "timestamp"];
        let usage = Sum::of(message.get("usage"));
        if let Some(field) = self.start.differs_in(message, &KEPT) {
            let started = self.started;
            report.beyond(Rule::Fold, &format!("/message/{field}"), || {
                apart_from("message_start", started, field)
            });
        } else if let Some((name, before, after)) = self.latest.shrinks(&usage) {
            report.beyond(Rule::Fold, &format!("/message/usage/{name}"), || {
                format!("is {after}, the last message_update had {before} already")
            });
        } else {
            self.blocks.agree(message, is_broken(Some(message)), report);
        }
    }

    fn tool_start(&mut self, line: Value<'_, '_>, report: &mut Report<'_>) {
        let id = print(line.get("toolCallId"));
        let name = text(Some(line), "toolCallId").to_owned();
        let arguments = print(line.get("args"));
        match self.calls.get(self.starts.len()) {
            Some(call) if Some(call.id) != id => {
                report.wrong(Rule::ToolStarts, "/toolCallId", || {
                    format!("is {name}, the next call of the answer is {}", call.name)
                });
            }
            Some(call) if call.arguments != arguments => {
                report.wrong(Rule::ToolStarts, "/args", || {
                    format!("differs from the arguments of {name} in the answer")
                });
            }
            Some(_) => {}
            None => report.wrong(Rule::ToolStarts, "/toolCallId", || {
                format!("is {name}, the answer has no such call left")
            }),
        }
        let id = id.unwrap_or_default();
        self.starts.push(Call {
            id,
            arguments,
            name,
        });
    }

    fn tool_end(&mut self, line: Value<'_, '_>, number: u64) {
        let result = line.get("result");
        let content = result.and_then(|result| result.get("content"));
        self.ends.push(ToolEnd {
            id: print(line.get("toolCallId")).unwrap_or_default(),
            line: number,
            is_error: line.get("isError").and_then(Value::as_bool),
            tool: print(line.get("toolName")),
            content: content
                .into_iter()
                .flat_map(Value::items)
                .map(Value::fingerprint)
                .collect(),
            details: print(result.and_then(|result| result.get("details"))),
        });
    }

    fn result(&mut self, message: Value<'_, '_>, report: &mut Report<'_>) {
        const RULE: Rule = Rule::ToolResultMessages;
        let id = print(message.get("toolCallId"));
        let name = text(Some(message), "toolCallId");
        let next = self.starts.get(self.results.len());
        let end = self.ends.iter().find(|end| Some(end.id) == id);
        if next.is_none_or(|next| Some(next.id) != id) {
            report.beyond(RULE, "/message/toolCallId", || match next {
                Some(next) => format!("is {name}, the next started call is {}", next.name),
                None => format!("is {name}, no started call is left"),
            });
        } else if let Some(end) = end {
            let items = message.get("content").into_iter().flat_map(Value::items);
            let content: Vec<u64> = items.map(Value::fingerprint).collect();
            // The model may be told something before the result.
            let tail = content.ends_with(&end.content) && content.len() <= end.content.len() + 1;
            let pointer = if end.is_error != message.get("isError").and_then(Value::as_bool) {
                "/message/isError"
            } else if end.tool != print(message.get("toolName")) {
                "/message/toolName"
            } else if !tail {
                "/message/content"
            } else if end.details != print(message.get("details")) {
                "/message/details"
            } else {
                ""
            };
            if !pointer.is_empty() {
                let line = end.line;
                report.wrong(RULE, pointer, || {
                    format!("is not that of the tool_execution_end at line {line}")
                });
            }
        } else {
            report.wrong(RULE, "/message/toolCallId", || {
                format!("is {name}, which has no tool_execution_end")
            });
        }
        self.results.push(whole(message));
    }

    fn turn_end(&mut self, line: Value<'_, '_>, report: &mut Report<'_>) {
        if let Some(message) = line.get("message")
            && let Some(field) = self.answer.difference(message, &[])
        {
            let line = self.answered;
            report.wrong(Rule::TurnEnd, &format!("/message{}", under(field)), || {
                apart_from("message_end", line, field)
            });
        }
        let told = line.get("toolResults");
        list(
            "toolResults",
            "turn",
            &self.results,
            told,
            Rule::TurnEnd,
            report,
        );
        let (starts, results) = (self.starts.len(), self.results.len());
        if starts != results {
            report.beyond(Rule::ToolResultMessages, "", || {
                let left: Vec<&str> = self
                    .starts
                    .iter()
                    .skip(results)
                    .map(|start| start.name.as_str())
                    .collect();
                format!("comes before the result messages of {}", left.join(", "))
            });
        }
    }

    fn agent_end(&mut self, messages: Option<Value<'_, '_>>, report: &mut Report<'_>) {
        list(
            "messages",
            "run",
            &self.run,
            messages,
            Rule::AgentEnd,
            report,
        );
    }

    fn stream_end(&mut self, line: Value<'_, '_>, lines: u64, report: &mut Report<'_>) {
        const RULE: Rule = Rule::StreamEnd;
        // Lines are counted whatever they hold.
        let counts = [
            ("turns", self.turns, "turn_start lines", self.trust.stream),
            ("lines", lines, "lines", true),
        ];
        for (name, counted, what, certain) in counts {
            let told = line.get(name).filter(|told| told.as_u64() != Some(counted));
            if let Some(told) = told.filter(|_| certain) {
                report.wrong(RULE, &format!("/{name}"), || {
                    format!("is {told}, there were {counted} {what}")
                });
            }
        }
        if self.trust.stream
            && let Some((at, what)) = self.usage.difference(&Sum::of(line.get("usage")))
        {
            report.wrong(RULE, &format!("/usage{at}"), || what);
        }
        let error = line.get("error");
        let code = line.get("exitCode").and_then(Value::as_u64);
        let sane = match (text(Some(line), "outcome"), code) {
            ("completed", Some(0)) => error.is_none(),
            ("aborted", Some(1)) => true,
            ("failed", Some(1..=3)) | ("limit", Some(1)) => error.is_some(),
            ("interrupted", Some(129 | 130 | 143)) => text(error, "code") == "interrupted",
            _ => false,
        };
        if !sane {
            report.wrong(RULE, "/outcome", || {
                "does not go together with `exitCode` and `error`".to_owned()
            });
        }
    }
}

/// Roles of messages that only `agent_end` shows.
const STATE_ROLES: [&str; 3] = ["bashExecution", "branchSummary", "compactionSummary"];

/// Holds a list of messages against those that were.
fn list(
    name: &str,
    of: &str,
    were: &[u64],
    told: Option<Value<'_, '_>>,
    rule: Rule,
    report: &mut Report<'_>,
) {
    let Some(told) = told else {
        return;
    };
    let (mut left, mut count) = (were, 0);
    for (at, message) in told.items().enumerate() {
        match left.split_first() {
            Some((print, rest)) if whole(message) == *print => left = rest,
            // Their roles have no message lines, so they may stand anywhere.
            _ if STATE_ROLES.contains(&text(Some(message), "role")) => continue,
            Some(_) => {
                return report.wrong(rule, &format!("/{name}/{at}"), || {
                    format!("is not message {} of the {of}", count + 1)
                });
            }
            None => {}
        }
        count += 1;
    }
    if count != were.len() {
        report.wrong(rule, &format!("/{name}"), || {
            format!("holds {count}, the {of} had {}", were.len())
        });
    }
}

fn under(field: &str) -> String {
    if field.is_empty() {
        String::new()
    } else {
        format!("/{}", field.replace('~', "~0").replace('/', "~1"))
    }
}

fn apart_from(event: &str, line: u64, field: &str) -> String {
    if field.is_empty() {
        format!("lacks a field of the {event} at line {line}")
    } else {
        format!("differs from the {event} at line {line}")
    }
}
