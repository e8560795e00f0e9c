//! Runs that go well, and runs that are stopped.

use std::io;

use super::answer::{Call, Part, redacted, text, thinking};
use super::script::{Script, plain};
use super::text as texts;
use super::tools::{Around, details};
use crate::event::{
    BashExecutionMessage, BranchSummaryMessage, CompactionSummaryMessage, CustomMessage,
    QueueUpdateEvent, SessionReplaceReason, StopReason, UserContent,
};

impl Script<'_> {
    /// The turns of a run that has begun: agents are taken on, and the context is compacted.
    pub(super) fn opening_turns(&mut self) -> io::Result<()> {
        let call = Part::Call(self.call("subagent", "subagent"));
        let answer = self.answer(vec![call], StopReason::ToolUse)?;
        self.take_on_agents()?;
        self.finish_turn(answer, Around::default())?;
        self.threshold_compaction(false)?;
        self.turn_start()?;
        let parts = vec![text(self.text(), None)];
        self.answer_turn(parts, StopReason::Stop, Around::default())?;
        self.agent_end(false, None)
    }

    /// A run with every kind of input and block, several turns and everything that tools do.
    pub(super) fn rich_run(&mut self) -> io::Result<()> {
        self.agent_start()?;
        self.turn_start()?;
        let said = self.text();
        let picture = self.image();
        self.user(vec![plain(said), picture, plain("")].into())?;
        self.custom(true)?;
        let calls = [
            self.call("bash", "bash"),
            self.call("Read", "read"),
            self.call("mcp__files__edit", "mcp__files__edit"),
            self.call("grep", "grep"),
        ];
        let mut parts = vec![
            thinking(self.text(), Some("dGhvdWdodA==")),
            redacted(Some("b3BhcXVl")),
            text(self.text(), None),
        ];
        parts.extend(calls.map(Part::Call));
        let around = Around {
            hooks: true,
            notes: true,
            end_turn: None,
        };
        self.answer_turn(parts, StopReason::ToolUse, around)?;

        // Somebody steers; another message waits for the end of the run.
        let steered = self.text();
        let later = self.text();
        self.queue(&[&steered], &[&later])?;
        self.turn_start()?;
        self.queue(&[], &[&later])?;
        self.user(UserContent::String(steered))?;
        self.custom(false)?;
        let parts = vec![
            thinking(self.text(), None),
            redacted(None),
            text(self.text(), Some("dGV4dA==")),
            Part::Call(self.call("find", "find")),
        ];
        let around = Around {
            end_turn: Some(false),
            ..Around::default()
        };
        self.answer_turn(parts, StopReason::ToolUse, around)?;

        self.turn_start()?;
        self.queue(&[], &[])?;
        self.user(UserContent::String(later))?;
        let words = texts::long(&mut self.random, 2_000);
        self.answer_turn(vec![text(words, None)], StopReason::Stop, Around::default())?;
        self.state_messages();
        self.agent_end(false, None)
    }

    /// A run of every text, each a block, a few in each answer.
    pub(super) fn texts_run(&mut self) -> io::Result<()> {
        self.agent_start()?;
        for _ in 0..texts::TEXTS.len().div_ceil(5) {
            self.turn_start()?;
            self.prompt()?;
            let parts = (0..5).map(|at| {
                let words = self.text();
                if at % 3 == 0 {
                    thinking(words, None)
                } else {
                    text(words, None)
                }
            });
            let parts = parts.collect();
            self.answer_turn(parts, StopReason::Stop, Around::default())?;
        }
        // Nothing at all is an answer too.
        self.turn_start()?;
        self.prompt()?;
        self.answer_turn(Vec::new(), StopReason::Stop, Around::default())?;
        self.agent_end(false, None)
    }

    /// A run with an answer that is cut for its length, and with calls that are not whole.
    pub(super) fn length_run(&mut self) -> io::Result<()> {
        self.begin_run()?;
        let cut = self.cut_call();
        let whole = self.call("ls", "ls");
        let parts = vec![text(self.text(), None), Part::Call(whole), Part::Call(cut)];
        self.answer_turn(parts, StopReason::Length, Around::default())?;
        self.turn_start()?;
        let blank = Call {
            arguments: String::new(),
            signature: None,
            ..self.call("ls", "ls")
        };
        let broken = Call {
            arguments: "{\"path\": \"a\\qb\"".into(),
            ..self.call("read", "read")
        };
        let parts = vec![Part::Call(broken), Part::Call(blank)];
        self.answer_turn(parts, StopReason::ToolUse, Around::default())?;
        // The tool says that this was all.
        self.turn_start()?;
        let last = Part::Call(self.call("write", "write"));
        let around = Around {
            end_turn: Some(true),
            ..Around::default()
        };
        self.answer_turn(vec![last], StopReason::ToolUse, around)?;
        self.agent_end(false, None)
    }

    /// A call whose arguments end in the middle.
    fn cut_call(&mut self) -> Call {
        let call = self.call("bash", "bash");
        let arguments = format!(
            "{{\"command\": \"{}",
            ["echo \\", "sleep 1 && ", "", "printf '\\u00e9"][self.random.index(4)]
        );
        Call { arguments, ..call }
    }

    /// Runs that are stopped: within an answer, before one, before a turn.
    pub(super) fn aborted_runs(&mut self) -> io::Result<()> {
        for (at, reason) in SessionReplaceReason::ALL.iter().enumerate() {
            self.agent_start()?;
            if at > 0 {
                self.turn_start()?;
                self.prompt()?;
                let answer = if at == 1 {
                    self.failed_request(StopReason::Aborted, "The run was aborted.")?
                } else {
                    let parts = vec![text(self.text(), None), Part::Call(self.cut_call())];
                    self.answer(parts, StopReason::Aborted)?
                };
                self.finish_turn(answer, Around::default())?;
            }
            self.agent_end(false, Some(*reason))?;
        }
        Ok(())
    }

    /// Messages of the state, for which nothing but `agent_end` has a line.
    fn state_messages(&mut self) {
        for at in 0..4_u64 {
            let whole = at % 2 == 0;
            let message = BashExecutionMessage {
                command: self.text(),
                output: self.text(),
                exit_code: whole.then(|| [0, 1, 127, -9][self.random.index(4)]),
                cancelled: !whole,
                truncated: !whole,
                full_output_path: (!whole).then(|| "/tmp/quipu-output.log".into()),
                timestamp: self.clock,
                exclude_from_context: [None, Some(true), Some(false)]
                    .get(usize::try_from(at).unwrap_or(0))
                    .copied()
                    .flatten(),
            };
            self.keep(message.into());
        }
        for from_id in [self.hex(), "root".into()] {
            let summary = self.text();
            let timestamp = self.clock;
            self.keep(
                BranchSummaryMessage {
                    summary,
                    from_id,
                    timestamp,
                }
                .into(),
            );
        }
        for details in [None, Some(details(&[("readFiles", vec!["a.rs"].into())]))] {
            let message = CompactionSummaryMessage {
                summary: self.text(),
                tokens_before: 9_007_199_254_740_991,
                details,
                timestamp: self.clock,
            };
            self.keep(message.into());
        }
    }

    /// A message of a hook, in one of two forms.
    pub(super) fn custom(&mut self, full: bool) -> io::Result<()> {
        let text = self.text();
        let message = CustomMessage {
            custom_type: if full { "lint" } else { "note" }.into(),
            content: if full {
                vec![plain(text), self.image()].into()
            } else {
                text.into()
            },
            display: full,
            details: full
                .then(|| details(&[("rule", "no-raw-separators".into()), ("count", 0.into())])),
            timestamp: self.clock,
        };
        self.message(message)
    }

    fn queue(&mut self, steering: &[&str], follow_up: &[&str]) -> io::Result<()> {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        self.emit(QueueUpdateEvent {
            steering: list(steering),
            follow_up: list(follow_up),
        })
    }
}
