//! From arguments to an agent, and its prompts in a row.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::arbiter::ArbiterSetup;
use super::attachment::Words;
use super::background::{self, Given};
use super::failure::is_model_failure;
use super::opening::{self, Opened, configuration, warn};
use super::run::{Context, Stop};
use super::session::{self, Begun};
use super::{Args, Failure, exit_code, stdin};
use crate::agent::{
    Agent, AgentConfig, Background, CompactionPolicy, FallbackModels, Limits, RetryPolicy, RunEnd,
    system_prompt,
};
use crate::config::settings::{Compaction, Images, Loaded, Retry, Settings};
use crate::config::{Environment, Instructions, Paths};
use crate::event::{ErrorCode, ModelRef, Outcome, StreamError, UserContent};
use crate::model::Model;
use crate::session::SharedSession;
use crate::subagent::{KEY_VARIABLE, Subagent, Wait};
use crate::tool::{self, Tool, ToolEnv};
use crate::wire::Wire;

/// The tools of the preset `--tools read-only`.
const READ_ONLY: [&str; 4] = ["read", "grep", "find", "ls"];

/// The tools of a run that may start background agents.
const AGENT_TOOLS: [&str; 2] = ["subagent", "wait"];

/// How a conversation ended: that of its worst run.
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) error: Option<StreamError>,
    /// Whether it failed by an answer that the stream shows.
    answered: bool,
}

impl Verdict {
    pub(super) fn failed(error: StreamError) -> Self {
        Self {
            outcome: Outcome::Failed,
            error: Some(error),
            answered: false,
        }
    }

    pub(super) fn aborted() -> Self {
        Self {
            outcome: Outcome::Aborted,
            error: None,
            answered: false,
        }
    }

    pub(super) fn limit(error: StreamError) -> Self {
        Self {
            outcome: Outcome::Limit,
            error: Some(error),
            answered: false,
        }
    }

    /// The exit status that tells of it.
    ///
    /// On the wires of other agents, as with them, a failed answer is told by the stream alone.
    pub(super) fn exit_code(&self, wire: Wire) -> u8 {
        match (self.outcome, &self.error) {
            (Outcome::Completed, _) => 0,
            _ if self.answered && wire != Wire::Quipu => 0,
            (_, Some(error)) => exit_code(error.code),
            (_, None) => exit_code(ErrorCode::Internal),
        }
    }

    fn and(self, end: RunEnd) -> Self {
        match (self.outcome, end) {
            (Outcome::Completed, RunEnd::Failed(error)) => Self {
                answered: is_model_failure(error.code),
                ..Self::failed(error)
            },
            (Outcome::Completed, RunEnd::Aborted) => Self::aborted(),
            (Outcome::Completed | Outcome::Failed, RunEnd::Limit(error)) => Self::limit(error),
            _ => self,
        }
    }
}

/// Plays the prompts of the arguments, each as a run of its own; a failed one does not stop the next.
///
/// Background agents of one prompt go on beside the next one. At the end they are waited for, and each
/// result that has not gone into a run is answered by one of its own.
pub(super) async fn play(mut args: Args, context: Context) -> Result<Verdict, Stop> {
    background::adopt(&mut args);
    let cancel = context.cancel.clone();
    let words = Words::sort(&args)?;
    let (mut agent, prompts) = agent(&args, words, context).await.map_err(|failure| {
        let failure = failure.without(args.api_key.as_deref());
        failure.without_all(&args.handover.secrets())
    })?;
    let played = converse(&mut agent, prompts, &cancel).await;
    // However it went, no child may outlive it.
    agent.stop_background().await;
    played
}

async fn converse(
    agent: &mut Agent,
    prompts: Vec<UserContent>,
    cancel: &CancellationToken,
) -> Result<Verdict, Stop> {
    let mut verdict = Verdict {
        outcome: Outcome::Completed,
        error: None,
        answered: false,
    };
    for prompt in prompts {
        if let Some(limit) = agent.limit_reached() {
            return Ok(verdict.and(RunEnd::Limit(limit)));
        }
        verdict = verdict.and(agent.prompt(prompt).await?);
        if cancel.is_cancelled() {
            return Ok(verdict);
        }
    }
    while let Some(end) = agent.answer_background().await? {
        let over = matches!(end, RunEnd::Limit(_) | RunEnd::Aborted);
        verdict = verdict.and(end);
        if over {
            break;
        }
    }
    Ok(verdict)
}

/// The prompts: standard input, the attached files and the first argument make the first one.
async fn prompts(words: Words, here: &Path, images: &Images) -> Result<Vec<UserContent>, Failure> {
    let attached = words.attach(here, images).await?;
    let input = stdin::read(words.ask()).await?;
    words.ask_with(input, attached)
}

async fn agent(
    args: &Args,
    words: Words,
    context: Context,
) -> Result<(Agent, Vec<UserContent>), Failure> {
    let Context {
        events,
        cancel,
        groups,
        target,
        chosen,
    } = context;
    let cwd = target.cwd.clone();
    let environment = Environment::current();
    let paths = Paths::from_environment(&environment).map_err(|error| configuration(&error))?;
    let Loaded { settings, warnings } =
        Settings::load(&paths, &cwd, &environment).map_err(|error| configuration(&error))?;
    warn(&warnings);
    let session_folder = session::folder(args.session_dir.as_deref(), &settings, &paths, &cwd);
    let begun = session::load(&target, &session_folder).await?;
    let before = begun.as_ref().map(Begun::before).unwrap_or_default();

    let Opened {
        model,
        provider,
        thinking,
        clamped,
        mut hidden_variables,
        mut secrets,
        chain,
    } = {
        let configured = (paths.clone(), environment.clone());
        opening::open_for(args, &settings, configured, &chosen, before).await?
    };
    hidden_variables.push(KEY_VARIABLE.into());
    let names = tool_names(args, background::may_start(&settings))?;
    let mut arbiter =
        ArbiterSetup::prepare(args, &settings, &paths, &environment, &model, &names).await;
    if let Some(arbiter) = &mut arbiter {
        arbiter.hide(&mut hidden_variables, &mut secrets);
    }
    secrets.absorb(args.handover.secrets());
    let secrets = Arc::new(secrets);
    let tool_env = ToolEnv {
        resize_images: settings.images.auto_resize,
        hidden_variables,
        groups: groups.clone(),
        ..ToolEnv::default()
    };
    let chosen_model = named(&model);
    let background = background::background(Given {
        args,
        settings: &settings,
        paths: &paths,
        cwd: &cwd,
        here: &target.here,
        model: &chosen_model,
        thinking,
        tools: names.clone(),
        secrets: &secrets,
        events: &events,
        cancel: &cancel,
        groups: &groups,
    });
    let tools = tools(&names, background.as_ref());
    let system_prompt = instructions(args, &paths, &cwd, &tools)?;
    if let Some(clamped) = clamped {
        // A reader that has gone shows in the first event of the run.
        let _ = events.send(clamped).await;
    }
    let here = target.here.clone();
    let prompts = prompts(words, &here, &settings.images).await?;
    // The last that can fail, so that a start that does leaves no session.
    let name = args.name.as_deref();
    let name = name.map(|name| secrets.scrub(name).into_owned());
    let notes = (chosen_model, thinking, name);
    let (session, context) = session::begin(target, begun, session_folder, notes).await?;
    let file = session.path().map(|path| here.join(path));
    let session = SharedSession::new(session);
    if let Some(Background { manager, .. }) = &background {
        manager.set_session_file(file);
        if let Some(arbiter) = arbiter {
            arbiter.serve(manager, &session, &events, &secrets);
        }
    }
    let agent = Agent::new(AgentConfig {
        model,
        provider,
        thinking,
        system_prompt,
        tools,
        cwd,
        tool_env: Arc::new(tool_env),
        secrets,
        session,
        context,
        events,
        cancel,
        limits: limits(args),
        retry: retry_policy(&settings.retry),
        compaction: compaction_policy(&settings.compaction),
        fallback: chain.map(|chain| Box::new(chain) as Box<dyn FallbackModels>),
        background,
    });
    Ok((agent, prompts))
}

/// The instructions ahead of the conversation: the flags' and those of the folders it works in.
fn instructions(
    args: &Args,
    paths: &Paths,
    cwd: &Path,
    tools: &[Arc<dyn Tool>],
) -> Result<String, Failure> {
    let instructions = if args.no_context_files {
        Instructions::default()
    } else {
        Instructions::load(paths, cwd)
    };
    warn(&instructions.warnings);
    let custom = args
        .system_prompt
        .as_deref()
        .map(|text| text_or_file(text, "--system-prompt"))
        .transpose()?;
    let mut append = Vec::from_iter(instructions.section());
    for text in &args.append_system_prompt {
        append.push(text_or_file(text, "--append-system-prompt")?);
    }
    append.extend(args.agent_prompt.clone());
    Ok(system_prompt(tools, cwd, custom.as_deref(), &append))
}

fn named(model: &Model) -> ModelRef {
    ModelRef {
        provider: model.provider.clone(),
        id: model.id.clone(),
    }
}

fn limits(args: &Args) -> Limits {
    Limits {
        max_turns: args.max_turns,
        max_cost: args.max_cost,
    }
}

fn retry_policy(retry: &Retry) -> RetryPolicy {
    RetryPolicy {
        max_retries: retry.max_retries * u32::from(retry.enabled),
        base_delay: Duration::from_millis(retry.base_delay_ms),
        longest_hint: retry.longest_hint(),
    }
}

fn compaction_policy(compaction: &Compaction) -> CompactionPolicy {
    CompactionPolicy {
        enabled: compaction.enabled,
        reserve_tokens: compaction.reserve_tokens,
        keep_recent_tokens: compaction.keep_recent_tokens,
    }
}

/// The names of the tools that the arguments allow, in their order for the model.
fn tool_names(args: &Args, with_agents: bool) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = tool::builtin()
        .iter()
        .map(|tool| tool.name())
        .chain(AGENT_TOOLS.into_iter().filter(|_| with_agents))
        .map(str::to_owned)
        .collect();
    if args.no_tools {
        return Ok(Vec::new());
    }
    let Some(names) = &args.tools else {
        return Ok(all);
    };
    let mut allowed: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if name == "read-only" {
            allowed.extend(READ_ONLY);
        } else if all.iter().any(|tool| tool == name) {
            allowed.push(name);
        } else {
            let hint = all
                .iter()
                .find(|known| strsim::jaro(&name.to_lowercase(), known) > 0.7)
                .map(|known| format!(", did you mean \"{known}\"?"))
                .unwrap_or_default();
            return Err(Failure::usage(format!(
                "invalid value for --tools: there is no tool \"{name}\"{hint}; use {}, or read-only",
                all.join(", ")
            )));
        }
    }
    let allowed = |tool: &String| allowed.contains(&tool.as_str());
    Ok(all.into_iter().filter(allowed).collect())
}

/// The tools of these names.
fn tools(names: &[String], background: Option<&Background>) -> Vec<Arc<dyn Tool>> {
    let mut tools = tool::builtin();
    if let Some(background) = background {
        tools.push(Arc::new(Subagent::new(Arc::clone(&background.manager))));
        tools.push(Arc::new(Wait::new(Arc::clone(&background.manager))));
    }
    tools.retain(|tool| names.iter().any(|name| name == tool.name()));
    tools
}

/// A value that is either the text itself or the path of a file that holds it.
fn text_or_file(value: &str, flag: &str) -> Result<String, Failure> {
    let path = Path::new(value);
    if !path.is_file() {
        return Ok(value.to_owned());
    }
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{flag}: {value} cannot be read: {error}")))
}
