//! Background agents: routes, chains, streams within the stream, and every way to end.

use std::io;

use super::answer::text;
use super::everything;
use super::script::Script;
use super::tools::Around;
use crate::event::{
    ArbitrationErrorCode, ArbitrationStatus, BackgroundAgentEndEvent, BackgroundAgentEvent,
    BackgroundAgentStartEvent, DispatchRoute, ErrorCode, Outcome,
    ParentPausedForBackgroundAgentsEvent, QuipuEvent, RoutePart, StopReason, StreamError,
    SubagentArbitrationEvent, SubagentStepMetadata,
};

/// An agent as it is asked for.
struct Agent {
    id: String,
    lines: Vec<QuipuEvent>,
}

impl Script<'_> {
    /// Takes on agents whose lines come from now on among those of the stream.
    pub(super) fn take_on_agents(&mut self) -> io::Result<()> {
        if self.depth == 0 {
            self.whole_agent()?;
            self.chain()?;
            self.lost_agent()?;
        }
        self.quick_agent()
    }

    /// Agents that never start, and agents that fail at once: one for each code.
    pub(super) fn failing_agents(&mut self) -> io::Result<()> {
        if self.depth > 0 {
            return self.refused_agent(ArbitrationErrorCode::Timeout, true);
        }
        for (at, code) in ArbitrationErrorCode::ALL.iter().enumerate() {
            self.refused_agent(*code, at % 2 == 0)?;
        }
        for code in ErrorCode::ALL {
            self.failed_agent(*code)?;
        }
        Ok(())
    }

    /// A run that gives way to the agents at work.
    pub(super) fn paused_run(&mut self) -> io::Result<()> {
        self.begin_run()?;
        let parts = vec![text(self.text(), None)];
        self.answer_turn(parts, StopReason::Stop, Around::default())?;
        let running = u64::try_from(self.background.len()).unwrap_or_default();
        let turns_used = 1 + self.random.below(3);
        self.emit(ParentPausedForBackgroundAgentsEvent {
            running_agent_count: running,
            turns_used,
            turn_limit: if self.seed % 2 == 0 { 3.0 } else { 2.5 }.into(),
        })?;
        self.agent_end(false, None)
    }

    /// An agent with a stream of everything.
    fn whole_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("feature-dev", true);
        let proposed = self.route("Explore");
        let final_ = self.route("feature-dev");
        let usage = Some(self.usage());
        agent
            .lines
            .push(decided(&agent.id, proposed, final_, RoutePart::ALL, None, usage).into());
        self.child(&mut agent, everything)?;
        self.finish(agent, true, Vec::new())
    }

    /// An agent whose stream is a few lines.
    fn quick_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", false);
        let route = self.route("Explore");
        agent
            .lines
            .push(decided(&agent.id, route.clone(), route, &[], None, None).into());
        self.child(&mut agent, |script| {
            script.header(None, None)?;
            script.paused_run()?;
            script.end(Outcome::Completed, 0, None)
        })?;
        self.finish(agent, false, Vec::new())
    }

    /// A chain: each step is decided on by itself and has a stream of its own.
    fn chain(&mut self) -> io::Result<()> {
        let mut agent = self.agent("chain", true);
        let mut steps = Vec::new();
        let outcomes = [
            (Outcome::Completed, 0, None),
            (Outcome::Limit, 1, Some(ErrorCode::Limit)),
            (Outcome::Interrupted, 143, Some(ErrorCode::Interrupted)),
            (Outcome::Aborted, 1, None),
        ];
        for (step, (outcome, exit, code)) in (1..).zip(outcomes) {
            let name = ["Explore", "feature-dev"][self.random.index(2)];
            let (proposed, final_) = (self.route(name), self.route(name));
            let changed = if proposed.thinking == final_.thinking {
                &[][..]
            } else {
                &[RoutePart::Thinking]
            };
            let usage = (step % 2 == 0).then(|| self.usage());
            agent.lines.push(
                decided(
                    &agent.id,
                    proposed,
                    final_.clone(),
                    changed,
                    Some(step),
                    usage,
                )
                .into(),
            );
            let reached = outcome != Outcome::Aborted;
            self.child(&mut agent, |script| {
                script.header(
                    Some("/home/me/.quipu/agent/sessions/parent.jsonl"),
                    Some(name),
                )?;
                if reached {
                    script.begin_run()?;
                    let parts = vec![text(script.text(), None)];
                    script.answer_turn(parts, StopReason::Stop, Around::default())?;
                    script.agent_end(false, None)?;
                }
                script.end(outcome, exit, code.map(error))
            })?;
            steps.push(SubagentStepMetadata {
                step,
                agent: name.into(),
                success: outcome == Outcome::Completed,
                model: reached.then_some(final_.model),
                thinking: reached.then_some(final_.thinking),
            });
        }
        self.finish(agent, false, steps)
    }

    /// An agent that is killed: its stream has no end.
    fn lost_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", true);
        self.child(&mut agent, |script| {
            script.header(None, Some("Explore"))?;
            script.begin_run()
        })?;
        self.finish(agent, true, Vec::new())
    }

    /// An agent without a route.
    fn refused_agent(&mut self, code: ArbitrationErrorCode, usage: bool) -> io::Result<()> {
        let mut agent = self.agent("Explore", usage);
        let decision = SubagentArbitrationEvent {
            agent_id: agent.id.clone(),
            status: ArbitrationStatus::Failure,
            proposed: self.route("Explore"),
            final_: None,
            changed: Vec::new(),
            step: None,
            error_code: Some(code),
            error_message: Some(format!("The arbiter failed: {}.", code.as_str())),
            usage: usage.then(|| self.usage()),
        };
        agent.lines.push(decision.into());
        let id = agent.id.clone();
        agent.lines.push(ended(id, "Explore", false).into());
        self.start(agent)
    }

    /// An agent that fails before its first run.
    fn failed_agent(&mut self, code: ErrorCode) -> io::Result<()> {
        let mut agent = self.agent("Explore", false);
        let (outcome, exit) = match code {
            ErrorCode::Usage => (Outcome::Failed, 2),
            ErrorCode::Configuration | ErrorCode::Credentials => (Outcome::Failed, 3),
            ErrorCode::Limit => (Outcome::Limit, 1),
            ErrorCode::Interrupted => (Outcome::Interrupted, 129),
            _ => (Outcome::Failed, 1),
        };
        self.child(&mut agent, |script| {
            script.header(None, Some("Explore"))?;
            script.end(outcome, exit, Some(error(code)))
        })?;
        let id = agent.id.clone();
        agent.lines.push(ended(id, "Explore", false).into());
        self.start(agent)
    }

    fn agent(&mut self, name: &str, stored: bool) -> Agent {
        let id = self.hex();
        let start = BackgroundAgentStartEvent {
            agent_id: id.clone(),
            agent_type: name.into(),
            task_summary: self.text(),
            session_dir: stored.then(|| "/home/me/.quipu/agent/sessions/children".into()),
        };
        Agent {
            id,
            lines: vec![start.into()],
        }
    }

    /// Adds a stream to an agent's lines.
    fn child(
        &mut self,
        agent: &mut Agent,
        tell: impl FnOnce(&mut Script<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let seed = self.random.next();
        let Agent { id, lines } = agent;
        let mut relay = |event: QuipuEvent, _at: u64| {
            let event = Box::new(event);
            lines.push(
                BackgroundAgentEvent {
                    agent_id: id.clone(),
                    event,
                }
                .into(),
            );
            Ok(())
        };
        let mut script = Script::new(seed, self.depth + 1, &mut relay);
        // What the one stream lacks the other has.
        script.seed = self.seed + 1;
        tell(&mut script)
    }

    /// Ends an agent that has run and takes it on.
    fn finish(
        &mut self,
        mut agent: Agent,
        success: bool,
        steps: Vec<SubagentStepMetadata>,
    ) -> io::Result<()> {
        let chain = !steps.is_empty();
        let end = BackgroundAgentEndEvent {
            model: (!chain).then(|| self.route_model()),
            thinking: (!chain).then(|| self.level()),
            steps: chain.then_some(steps),
            session_file: (success && !chain)
                .then(|| "/home/me/.quipu/agent/sessions/children/a.jsonl".into()),
            ..ended(agent.id.clone(), "Explore", success)
        };
        agent.lines.push(end.into());
        self.start(agent)
    }

    fn start(&mut self, agent: Agent) -> io::Result<()> {
        let mut lines = agent.lines.into_iter();
        let first = lines.next();
        let rest: Vec<_> = lines.rev().collect();
        self.background.push(rest);
        first.map_or(Ok(()), |start| self.emit(start))
    }

    fn route(&mut self, agent: &str) -> DispatchRoute {
        self.next_service();
        DispatchRoute {
            agent: agent.into(),
            model: self.route_model(),
            thinking: self.level(),
        }
    }
}

fn decided(
    agent_id: &str,
    proposed: DispatchRoute,
    final_: DispatchRoute,
    changed: &[RoutePart],
    step: Option<u64>,
    usage: Option<crate::event::Usage>,
) -> SubagentArbitrationEvent {
    SubagentArbitrationEvent {
        agent_id: agent_id.into(),
        status: ArbitrationStatus::Success,
        proposed,
        final_: Some(final_),
        changed: changed.to_vec(),
        step,
        error_code: None,
        error_message: None,
        usage,
    }
}

fn ended(agent_id: String, agent_type: &str, success: bool) -> BackgroundAgentEndEvent {
    BackgroundAgentEndEvent {
        agent_id,
        agent_type: agent_type.into(),
        success,
        model: None,
        thinking: None,
        steps: None,
        session_file: None,
    }
}

/// The error of a stream.
pub(super) fn error(code: ErrorCode) -> StreamError {
    let retryable = matches!(
        code,
        ErrorCode::RateLimited | ErrorCode::Overloaded | ErrorCode::Network | ErrorCode::Timeout
    );
    StreamError {
        code,
        message: format!("It ended in this way: {}.", code.as_str()),
        retryable,
    }
}
