//! From arguments to an agent, and its prompts in a row.

use std::path::Path;
use std::sync::Arc;

use super::run::{Context, Stop};
use super::{Args, Failure, exit_code, note, stdin};
use crate::agent::{Agent, AgentConfig, RunEnd, system_prompt};
use crate::config::credentials::{self, COMMAND_TIMEOUT, Sources};
use crate::config::models_file::ModelsFile;
use crate::config::settings::{Loaded, Settings};
use crate::config::{Environment, Paths};
use crate::event::{ErrorCode, Outcome, StreamError, TextContent, ThinkingLevel, UserContent};
use crate::model::catalogue::{self, Request};
use crate::model::{self, Api, Offline, Provider, Script, Secret, Timeouts};
use crate::tool::{self, Tool, ToolEnv};

/// The tools of the preset `--tools read-only`.
const READ_ONLY: [&str; 4] = ["read", "grep", "find", "ls"];

/// The level of a run that asks for none.
const DEFAULT_THINKING: ThinkingLevel = ThinkingLevel::Medium;

/// How a conversation ended: that of its worst run.
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) error: Option<StreamError>,
}

impl Verdict {
    pub(super) fn failed(error: StreamError) -> Self {
        Self {
            outcome: Outcome::Failed,
            error: Some(error),
        }
    }

    pub(super) fn aborted() -> Self {
        Self {
            outcome: Outcome::Aborted,
            error: None,
        }
    }

    /// The exit status that tells of it.
    pub(super) fn exit_code(&self) -> u8 {
        match (self.outcome, &self.error) {
            (Outcome::Completed, _) => 0,
            (_, Some(error)) => exit_code(error.code),
            (_, None) => exit_code(ErrorCode::Internal),
        }
    }

    fn and(self, end: RunEnd) -> Self {
        match (self.outcome, end) {
            (Outcome::Completed, RunEnd::Failed(error)) => Self::failed(error),
            (Outcome::Completed, RunEnd::Aborted) => Self::aborted(),
            _ => self,
        }
    }
}

/// Plays the prompts of the arguments, each as a run of its own; a failed one does not stop the next.
pub(super) async fn play(args: Args, context: Context) -> Result<Verdict, Stop> {
    let cancel = context.cancel.clone();
    let mut agent = agent(&args, context).await?;
    let mut verdict = Verdict {
        outcome: Outcome::Completed,
        error: None,
    };
    for prompt in prompts(&args).await? {
        verdict = verdict.and(agent.prompt(prompt).await?);
        if cancel.is_cancelled() {
            break;
        }
    }
    Ok(verdict)
}

/// The prompts: standard input and the first argument make the first one.
async fn prompts(args: &Args) -> Result<Vec<UserContent>, Failure> {
    let input = stdin::read(!args.prompts.is_empty()).await?;
    let mut prompts = args.prompts.clone();
    match (input, prompts.first_mut()) {
        (Some(input), Some(first)) => *first = format!("{input}\n\n{first}"),
        (Some(input), None) => prompts.push(input),
        (None, _) => {}
    }
    if prompts.iter().all(|prompt| prompt.trim().is_empty()) {
        return Err(Failure::usage(
            "There is no prompt: give one as an argument (quipu --mode json \"List the files here\") \
             or on standard input.",
        ));
    }
    let content = |text: String| {
        UserContent::Array(vec![
            TextContent {
                text,
                text_signature: None,
            }
            .into(),
        ])
    };
    Ok(prompts.into_iter().map(content).collect())
}

async fn agent(args: &Args, context: Context) -> Result<Agent, Failure> {
    let Context {
        events,
        cancel,
        groups,
        cwd,
    } = context;
    let environment = Environment::current();
    let paths = Paths::from_environment(&environment).map_err(|error| configuration(&error))?;
    let Loaded { settings, warnings } =
        Settings::load(&paths, &cwd, &environment).map_err(|error| configuration(&error))?;
    warn(&warnings);

    let offline = Request::is_offline(args.provider.as_deref(), args.model.as_deref());
    let models = if offline {
        Ok(ModelsFile::default())
    } else {
        ModelsFile::load(&paths.models())
    }
    .map_err(|error| configuration(&error))?;
    let mut selection = catalogue::select(&Request {
        provider: args.provider.as_deref(),
        model: args.model.as_deref(),
        settings: &settings,
        settings_file: &paths.settings(),
        models_file: &models,
    })
    .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    warn(&selection.warnings);
    if args.script.is_some() && selection.model.api != Api::Offline {
        return Err(Failure::usage(format!(
            "--script is played by the offline model only: add --model offline (the model is {}/{}).",
            selection.model.provider, selection.model.id
        )));
    }

    let flag = args.api_key.as_deref().map(Secret::new);
    let access = std::mem::take(&mut selection.access);
    let mut model = selection.model;
    // Commands that print keys may run, so this must not hold signals back.
    let (model, credentials) = tokio::task::spawn_blocking(move || {
        let sources = Sources {
            flag: flag.as_ref(),
            auth_file: &paths.auth(),
            environment: &environment,
            command_timeout: COMMAND_TIMEOUT,
        };
        credentials::unlock(&mut model, &access, &sources).map(|credentials| (model, credentials))
    })
    .await
    .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?
    .map_err(|error| Failure::new(error.code(), error.to_string()))?;
    warn(&credentials.warnings);

    let hidden = credentials::hidden_variables(&models, Some(&credentials));
    let hidden = if settings.tools_see_keys {
        Vec::new()
    } else {
        hidden.into_iter().map(Into::into).collect()
    };
    let tool_env = ToolEnv {
        hidden_variables: hidden,
        groups,
        resize_images: settings.images.auto_resize,
        ..ToolEnv::default()
    };
    let timeouts = Timeouts {
        start: settings.stream_start_timeout(),
        idle: settings.idle_timeout(),
    };
    let provider: Box<dyn Provider> = match &args.script {
        Some(file) => {
            let script = Script::load(file).map_err(|error| Failure::usage(error.to_string()))?;
            Box::new(Offline::scripted(script, timeouts))
        }
        None => model::connect(&model, credentials.key, timeouts)
            .map_err(|error| Failure::new(error.code, error.message))?,
    };
    let tools = tools(args)?;
    let custom = args
        .system_prompt
        .as_deref()
        .map(|text| text_or_file(text, "--system-prompt"))
        .transpose()?;
    let append = args
        .append_system_prompt
        .iter()
        .map(|text| text_or_file(text, "--append-system-prompt"))
        .collect::<Result<Vec<_>, _>>()?;
    let system_prompt = system_prompt(&tools, &cwd, custom.as_deref(), &append);
    let asked = args
        .thinking
        .or(selection.thinking)
        .or(settings.default_thinking_level);
    let thinking = if model.reasoning {
        asked.unwrap_or(DEFAULT_THINKING)
    } else {
        ThinkingLevel::Off
    };
    Ok(Agent::new(AgentConfig {
        model,
        provider,
        thinking,
        system_prompt,
        tools,
        cwd,
        tool_env: Arc::new(tool_env),
        secrets: Arc::new(credentials.secrets),
        events,
        cancel,
    }))
}

/// The tools that the arguments allow.
fn tools(args: &Args) -> Result<Vec<Arc<dyn Tool>>, Failure> {
    let all = tool::builtin();
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
        } else if all.iter().any(|tool| tool.name() == name) {
            allowed.push(name);
        } else {
            let known: Vec<_> = all.iter().map(|tool| tool.name()).collect();
            let hint = known
                .iter()
                .find(|known| strsim::jaro(&name.to_lowercase(), known) > 0.7)
                .map(|known| format!(", did you mean \"{known}\"?"))
                .unwrap_or_default();
            return Err(Failure::usage(format!(
                "invalid value for --tools: there is no tool \"{name}\"{hint}; use {}, or read-only",
                known.join(", ")
            )));
        }
    }
    Ok(all
        .into_iter()
        .filter(|tool| allowed.contains(&tool.name()))
        .collect())
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

fn configuration(error: &crate::config::ConfigError) -> Failure {
    Failure::new(error.code(), error.to_string())
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        note(&format!("quipu: warning: {warning}"));
    }
}
