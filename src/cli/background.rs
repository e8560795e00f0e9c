//! The background agents of a run, from its arguments and settings.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::opening::warn;
use super::{Args, note};
use crate::agent::Background;
use crate::config::settings::{QueueMode, Settings};
use crate::config::{Paths, Secrets};
use crate::event::{ModelRef, ThinkingLevel};
use crate::model::Secret;
use crate::subagent::{AGENT_VARIABLE, Config, Definitions, Handover, Manager, Parent};
use crate::tool::ProcessGroups;
use crate::wire::EventSender;
use tokio_util::sync::CancellationToken;

/// Turns beside agents at work when the settings name a number that is none.
const USUAL_TURN_LIMIT: f64 = 3.0;

/// Takes over what a parent hands to its child beside the arguments.
pub(super) fn adopt(args: &mut Args) {
    if args.agent_type.is_some() {
        args.handover = Handover::of_parent();
    }
}

/// Ends a child with its parent, even if that is killed.
pub(super) fn follow_parent(args: &Args) {
    #[cfg(target_os = "linux")]
    if args.agent_type.is_some() {
        use rustix::process::{Signal, set_parent_process_death_signal};
        // Without it the child ends when it cannot write any more.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = args;
}

/// The agents above this one and itself; empty if nobody started it.
fn path() -> String {
    std::env::var(AGENT_VARIABLE).unwrap_or_default()
}

/// How many agents stand above and at this one.
fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !part.is_empty()).count()
}

/// Whether this process may start agents.
pub(super) fn may_start(settings: &Settings) -> bool {
    let agents = &settings.background_agents;
    agents.max_concurrent_subagents > 0 && depth(&path()) < agents.max_depth as usize
}

/// What the agents of a run work with.
pub(super) struct Given<'a> {
    pub(super) args: &'a Args,
    pub(super) settings: &'a Settings,
    pub(super) paths: &'a Paths,
    pub(super) cwd: &'a Path,
    /// Where the user is: the files of the arguments are named from there.
    pub(super) here: &'a Path,
    pub(super) model: &'a ModelRef,
    pub(super) thinking: ThinkingLevel,
    /// The tools that may be called.
    pub(super) tools: Vec<String>,
    pub(super) secrets: &'a Arc<Secrets>,
    pub(super) events: &'a EventSender,
    pub(super) cancel: &'a CancellationToken,
    pub(super) groups: &'a ProcessGroups,
}

/// The background agents of a run, if it may have any.
pub(super) fn background(given: Given<'_>) -> Option<Background> {
    let Given {
        args,
        settings,
        paths,
        cwd,
        ..
    } = given;
    if !may_start(settings) {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            note(&format!(
                "quipu: warning: there can be no background agents: {error}"
            ));
            return None;
        }
    };
    let definitions = Definitions::load(paths, cwd);
    warn(&definitions.warnings);
    let path = path();
    let agents = &settings.background_agents;
    let key = args.api_key.as_deref().map(Secret::new);
    let key = key.map(|key| (given.model.provider.clone(), key));
    let mut handed_on: Vec<OsString> = Vec::new();
    if args.no_context_files {
        handed_on.push("--no-context-files".into());
    }
    if let Some(turns) = args.max_turns {
        handed_on.push(format!("--max-turns={turns}").into());
    }
    let manager = Manager::new(Config {
        program,
        args: handed_on,
        // A relative one would be another folder where the child works.
        variables: vec![("QUIPU_HOME", paths.root().into())],
        definitions,
        sessions: (!args.no_session).then(|| paths.agent_sessions()),
        max_concurrent: agents.max_concurrent_subagents as usize,
        max_cost: args.max_cost,
        events: given.events.clone(),
        cancel: given.cancel.clone(),
        groups: given.groups.clone(),
        secrets: Arc::clone(given.secrets),
        parent: Parent {
            model: given.model.clone(),
            thinking: given.thinking,
            tools: given.tools,
            cwd: cwd.to_owned(),
            key: key.or_else(|| args.handover.key()),
            script: args.script.as_ref().map(|script| given.here.join(script)),
            may_nest: depth(&path) + 1 < agents.max_depth as usize,
            path,
        },
    });
    let turn_limit = match agents.parent_turn_limit {
        limit if limit.is_finite() && limit >= 1.0 => limit,
        limit => {
            note(&format!(
                "quipu: warning: `backgroundAgents.parentTurnLimit` is {limit}, which is no number \
                 from 1; {USUAL_TURN_LIMIT} is taken"
            ));
            USUAL_TURN_LIMIT
        }
    };
    Some(Background {
        manager,
        turn_limit: agents.parent_turn_guardrail.then_some(turn_limit),
        one_at_a_time: settings.steering_mode == QueueMode::OneAtATime,
    })
}
