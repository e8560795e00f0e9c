//! Background agents: routes, chains, streams within the stream, and every way to end.

use std::io;

use super::answer::text;
use super::script::Script;
use super::tools::Around;
use super::{PARENT, everything};
use crate::event::{
    ArbitrationErrorCode, ArbitrationStatus, BackgroundAgentEndEvent, BackgroundAgentEvent,
    BackgroundAgentStartEvent, DispatchRoute, ErrorCode, Outcome,
    ParentPausedForBackgroundAgentsEvent, QuipuEvent, RoutePart, StopReason, StreamError,
    SubagentArbitrationEvent, SubagentStepMetadata, Usage,
};

/// A background agent and its lines so far.
struct Agent {
    id: String,
    /// The route that it has taken.
    route: Option<DispatchRoute>,
    stored: bool,
    lines: Vec<QuipuEvent>,
}

impl Agent {
    fn push(&mut self, line: impl Into<QuipuEvent>) {
        self.lines.push(line.into());
    }

    fn end(&self, agent_type: &str, success: bool) -> BackgroundAgentEndEvent {
        BackgroundAgentEndEvent {
            agent_id: self.id.clone(),
            agent_type: agent_type.into(),
            success,
            model: None,
            thinking: None,
            steps: None,
            session_file: None,
        }
    }
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
            turn_limit: if self.seed.is_multiple_of(2) {
                3.0
            } else {
                2.5
            }
            .into(),
        })?;
        self.agent_end(false, None)
    }

    /// An agent with a stream of everything; another route than the one that was asked for.
    fn whole_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", true);
        let proposed = self.route("Explore");
        let mut taken = self.route("feature-dev");
        while taken.model == proposed.model || taken.thinking == proposed.thinking {
            taken = self.route("feature-dev");
        }
        let usage = Some(self.usage());
        decide(&mut agent, proposed, taken, None, usage);
        self.child(&mut agent, everything)?;
        let success = self.seed % 2 == 1;
        self.finish(agent, success)
    }

    /// An agent whose stream is a few lines.
    fn quick_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", false);
        let route = self.route("Explore");
        decide(&mut agent, route.clone(), route, None, None);
        self.child(&mut agent, |script| {
            script.header(None, None)?;
            script.paused_run()?;
            script.end(Outcome::Completed, 0, None)
        })?;
        self.finish(agent, true)
    }

    /// A chain: each step is decided on by itself and has a stream of its own. The last one is
    /// stopped before it reaches a model.
    fn chain(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", true);
        let mut steps = Vec::new();
        for (step, name) in (1..).zip(["Explore", "feature-dev", "review"]) {
            let (proposed, taken) = (self.route(name), self.route(name));
            let usage = (step % 2 == 0).then(|| self.usage());
            decide(&mut agent, proposed, taken.clone(), Some(step), usage);
            let success = step < 3;
            self.child(&mut agent, |script| {
                script.header(Some(PARENT), Some(name))?;
                if !success {
                    return script.end(Outcome::Aborted, 1, None);
                }
                script.begin_run()?;
                let parts = vec![text(script.text(), None)];
                script.answer_turn(parts, StopReason::Stop, Around::default())?;
                script.agent_end(false, None)?;
                script.end(Outcome::Completed, 0, None)
            })?;
            steps.push(SubagentStepMetadata {
                step,
                agent: name.into(),
                success,
                model: success.then_some(taken.model),
                thinking: success.then_some(taken.thinking),
            });
        }
        let end = BackgroundAgentEndEvent {
            steps: Some(steps),
            ..agent.end("Explore", false)
        };
        agent.push(end);
        self.start(agent)
    }

    /// An agent that is killed: its stream has no end.
    fn lost_agent(&mut self) -> io::Result<()> {
        let mut agent = self.agent("Explore", true);
        agent.route = Some(self.route("Explore"));
        self.child(&mut agent, |script| {
            script.header(None, Some("Explore"))?;
            script.begin_run()
        })?;
        self.finish(agent, false)
    }

    /// An agent without a route.
    fn refused_agent(&mut self, code: ArbitrationErrorCode, asked: bool) -> io::Result<()> {
        let mut agent = self.agent("Explore", asked);
        let decision = SubagentArbitrationEvent {
            agent_id: agent.id.clone(),
            status: ArbitrationStatus::Failure,
            proposed: self.route("Explore"),
            final_: None,
            changed: Vec::new(),
            step: None,
            error_code: Some(code),
            error_message: Some(format!("The arbiter failed: {}.", code.as_str())),
            usage: asked.then(|| self.usage()),
        };
        agent.push(decision);
        agent.push(agent.end("Explore", false));
        self.start(agent)
    }

    /// An agent that fails before its first run.
    fn failed_agent(&mut self, code: ErrorCode) -> io::Result<()> {
        let mut agent = self.agent("Explore", false);
        let (outcome, exit_code) = match code {
            ErrorCode::Usage => (Outcome::Failed, 2),
            ErrorCode::Configuration | ErrorCode::Credentials => (Outcome::Failed, 3),
            ErrorCode::Limit => (Outcome::Limit, 1),
            ErrorCode::Interrupted => (Outcome::Interrupted, 129),
            _ => (Outcome::Failed, 1),
        };
        self.child(&mut agent, |script| {
            script.header(None, Some("Explore"))?;
            script.end(outcome, exit_code, Some(error(code)))
        })?;
        agent.push(agent.end("Explore", false));
        self.start(agent)
    }

    fn agent(&mut self, name: &str, stored: bool) -> Agent {
        let id = self.agent_id();
        let start = BackgroundAgentStartEvent {
            agent_id: id.clone(),
            agent_type: name.into(),
            task_summary: self.text(),
            session_dir: stored.then(|| "/home/me/.quipu/agent/sessions/children".into()),
        };
        Agent {
            id,
            route: None,
            stored,
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
        let Agent { id, lines, .. } = agent;
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
        script.seed = self.seed ^ 1;
        tell(&mut script)
    }

    /// Ends an agent that has run and takes it on.
    fn finish(&mut self, mut agent: Agent, success: bool) -> io::Result<()> {
        let route = agent.route.clone();
        let agent_type = route.as_ref().map_or("Explore", |route| &route.agent);
        let end = BackgroundAgentEndEvent {
            model: route.as_ref().map(|route| route.model.clone()),
            thinking: route.as_ref().map(|route| route.thinking),
            session_file: agent
                .stored
                .then(|| format!("/home/me/.quipu/agent/sessions/children/{}.jsonl", agent.id)),
            ..agent.end(agent_type, success)
        };
        agent.push(end);
        self.start(agent)
    }

    /// Takes an agent on: its first line is written, the others come by and by.
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

/// Adds a decision of the arbiter.
fn decide(
    agent: &mut Agent,
    proposed: DispatchRoute,
    taken: DispatchRoute,
    step: Option<u64>,
    usage: Option<Usage>,
) {
    let differs = |part: &RoutePart| match part {
        RoutePart::Agent => proposed.agent != taken.agent,
        RoutePart::Model => proposed.model != taken.model,
        RoutePart::Thinking => proposed.thinking != taken.thinking,
    };
    let changed = RoutePart::ALL.iter().copied().filter(differs).collect();
    agent.route = Some(taken.clone());
    agent.push(SubagentArbitrationEvent {
        agent_id: agent.id.clone(),
        status: ArbitrationStatus::Success,
        proposed,
        final_: Some(taken),
        changed,
        step,
        error_code: None,
        error_message: None,
        usage,
    });
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
