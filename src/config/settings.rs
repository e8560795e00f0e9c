//! `settings.json`: the user's, then the project's, one over the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::json::{self, UnknownKeys};
use super::{ConfigError, Environment, Paths, expand_home};
use crate::event::ThinkingLevel;

#[cfg(test)]
mod tests;

const REMEDY: &str = "Correct the value, or delete the key to get its default.";

/// The stream has to begin within this time, unless the idle bound is shorter.
const STREAM_START_MS: u64 = 90_000;

/// The settings of a run, defaults filled in. Times are milliseconds, sizes tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Provider of a run that names none.
    pub default_provider: Option<String>,
    /// Model of a run that names none: an id of `default_provider`, or `provider/id`.
    pub default_model: Option<String>,
    /// Thinking level of a run that asks for none.
    pub default_thinking_level: Option<ThinkingLevel>,
    /// Token budgets that replace the built-in ones of a thinking level.
    #[serde(deserialize_with = "by_level")]
    pub thinking_budgets: BTreeMap<ThinkingLevel, u64>,
    /// Failed requests.
    pub retry: Retry,
    /// Longest silence inside a stream, in milliseconds; 0 is no bound.
    pub http_idle_timeout_ms: u64,
    /// Summarising a conversation that grows too long.
    pub compaction: Compaction,
    /// How many waiting steering messages go into one model call.
    pub steering_mode: QueueMode,
    /// How many waiting follow-up messages go into one model call.
    pub follow_up_mode: QueueMode,
    /// Images sent to the model.
    pub images: Images,
    /// Folder of session files; a leading `~` is expanded.
    pub session_dir: Option<PathBuf>,
    /// Names of the tools that are active when `--tools` is not given.
    pub default_tools: Option<Vec<String>>,
    /// The check before a background agent starts. The user's file only.
    pub subagent_arbiter: SubagentArbiter,
    /// Background agents.
    pub background_agents: BackgroundAgents,
    /// The shell of the bash tool; a leading `~` is expanded. The user's file only.
    pub shell_path: Option<PathBuf>,
    /// Leave the variables that hold API keys in the environment of tools. The user's file only.
    pub tools_see_keys: bool,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// `retry`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Retry {
    /// Whether a failed request is made again.
    pub enabled: bool,
    /// Attempts after the first.
    pub max_retries: u32,
    /// Wait before the first retry; it doubles with each.
    pub base_delay_ms: u64,
    /// Longest wait that a provider may ask for; 0 is no bound.
    pub max_delay_ms: u64,
    /// Whether the models of `fallback_chains` are asked.
    pub model_fallback: bool,
    /// By the name of a model (`provider/id`, or its id alone): those that take over, one after the
    /// other, when it fails for good. Each is named as for `--model`.
    pub fallback_chains: BTreeMap<String, Vec<String>>,
    /// Bounds of a single request.
    pub provider: ProviderRetry,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// `retry.provider`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProviderRetry {
    /// Longest time of a whole request; absent or 0 is no bound.
    pub timeout_ms: Option<u64>,
    /// Retries below the run's own. Read, so that a copied file is understood, but not used: there
    /// is no second retry layer.
    pub max_retries: Option<u32>,
    /// Longest wait that a provider may ask for, before `retry.maxDelayMs`; 0 is no bound.
    pub max_retry_delay_ms: Option<u64>,
    /// Longest wait for a stream to begin; 0 is no bound.
    pub stream_start_timeout_ms: Option<u64>,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// `compaction`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Compaction {
    /// Whether a conversation near its limit is summarised by itself.
    pub enabled: bool,
    /// Tokens of the context window kept free for the answer; at most half the window is.
    pub reserve_tokens: u64,
    /// Tokens of the latest messages that stay as they are; at most half of what the window has beside
    /// the reserve.
    pub keep_recent_tokens: u64,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// How waiting messages are taken from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMode {
    /// Every waiting message at once.
    All,
    /// One for each model call.
    OneAtATime,
}

/// `images`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Images {
    /// Shrink images that are larger than the APIs take.
    pub auto_resize: bool,
    /// Send no image at all.
    pub block_images: bool,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// `subagentArbiter`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubagentArbiter {
    /// Whether every start of a background agent is decided by a model.
    pub enabled: bool,
    /// That model, as `provider/id`.
    pub model: Option<String>,
    /// Its thinking level.
    pub thinking: Option<ThinkingLevel>,
    /// The guide it decides by; a leading `~` is expanded.
    pub guide_path: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

/// `backgroundAgents`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BackgroundAgents {
    /// Agents that run at the same time; 0 takes the tool away.
    pub max_concurrent_subagents: u32,
    /// How many agents may stand below each other; with 1 only the run itself starts any.
    pub max_depth: u32,
    /// Whether the parent pauses while its agents run.
    pub parent_turn_guardrail: bool,
    /// Turns of the parent until then.
    pub parent_turn_limit: f64,
    #[serde(flatten)]
    pub(crate) unknown: UnknownKeys,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_provider: None,
            default_model: None,
            default_thinking_level: None,
            thinking_budgets: BTreeMap::new(),
            retry: Retry::default(),
            http_idle_timeout_ms: 300_000,
            compaction: Compaction::default(),
            steering_mode: QueueMode::All,
            follow_up_mode: QueueMode::OneAtATime,
            images: Images::default(),
            session_dir: None,
            default_tools: None,
            subagent_arbiter: SubagentArbiter::default(),
            background_agents: BackgroundAgents::default(),
            shell_path: None,
            tools_see_keys: false,
            unknown: UnknownKeys::default(),
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            enabled: true,
            max_retries: 3,
            base_delay_ms: 2000,
            max_delay_ms: 60_000,
            model_fallback: true,
            fallback_chains: BTreeMap::new(),
            provider: ProviderRetry::default(),
            unknown: UnknownKeys::default(),
        }
    }
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            unknown: UnknownKeys::default(),
        }
    }
}

impl Default for Images {
    fn default() -> Self {
        Self {
            auto_resize: true,
            block_images: false,
            unknown: UnknownKeys::default(),
        }
    }
}

impl Default for BackgroundAgents {
    fn default() -> Self {
        Self {
            max_concurrent_subagents: 4,
            max_depth: 1,
            parent_turn_guardrail: true,
            parent_turn_limit: 3.0,
            unknown: UnknownKeys::default(),
        }
    }
}

/// What the settings files of a run give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// What the user should hear once, one text a file and matter.
    pub warnings: Vec<String>,
}

impl Settings {
    /// The user's settings with those of the project in `cwd` over them, objects merged key by key
    /// and everything else replaced. A file that is not there is empty.
    ///
    /// A project's file comes with the code and not from the user: it cannot set a key or a command
    /// that yields one, nor what only the user may decide; such keys are left out with a warning.
    /// Unknown keys are a warning too.
    pub fn load(
        paths: &Paths,
        cwd: &Path,
        environment: &Environment,
    ) -> Result<Loaded, ConfigError> {
        let user = paths.settings();
        let project = Paths::project_settings(cwd);
        let mut merged = Value::Object(serde_json::Map::new());
        let mut warnings = Vec::new();
        // The two are one file when QUIPU_HOME is the project's own folder.
        let same =
            matches!((user.canonicalize(), project.canonicalize()), (Ok(a), Ok(b)) if a == b);
        for (file, of_project) in [(&user, false), (&project, true)] {
            if of_project && same {
                continue;
            }
            let Some(text) = json::read(file)? else {
                continue;
            };
            let typed: Settings = json::parse(file, &text, REMEDY)?;
            let mut value: Value = json::parse(file, &text, REMEDY)?;
            let mut unknown = typed.unknown_keys();
            if of_project {
                let mut refused = Vec::new();
                keep_what_a_project_may_set(&mut value, "", &mut refused);
                unknown.retain(|path| !refused.iter().any(|above| is_within(path, above)));
                if !refused.is_empty() {
                    warnings.push(format!(
                        "{}: ignored {}: project settings cannot set keys, commands or what only \
                         the user's {} may set",
                        file.display(),
                        quoted(&refused),
                        user.display(),
                    ));
                }
            }
            if !unknown.is_empty() {
                warnings.push(format!(
                    "{}: ignored unknown {}",
                    file.display(),
                    quoted(&unknown)
                ));
            }
            merge(&mut merged, value);
        }
        // Each file fitted the type by itself and merging changes no type, so this cannot fail but
        // for a slip of ours; then the message names the user's file.
        let mut settings: Settings = json::parse(&user, &merged.to_string(), REMEDY)?;
        for path in [
            &mut settings.session_dir,
            &mut settings.shell_path,
            &mut settings.subagent_arbiter.guide_path,
        ] {
            *path = path.as_deref().map(|path| expand_home(path, environment));
        }
        Ok(Loaded { settings, warnings })
    }

    /// Longest silence inside a stream; `None` is no bound.
    #[must_use]
    pub fn idle_timeout(&self) -> Option<Duration> {
        bound(self.http_idle_timeout_ms)
    }

    /// Longest wait for a stream to begin: `retry.provider.streamStartTimeoutMs`, else 90 s or the
    /// idle bound if that is shorter; `None` is no bound.
    #[must_use]
    pub fn stream_start_timeout(&self) -> Option<Duration> {
        let default = match self.http_idle_timeout_ms {
            0 => STREAM_START_MS,
            idle => idle.min(STREAM_START_MS),
        };
        bound(
            self.retry
                .provider
                .stream_start_timeout_ms
                .unwrap_or(default),
        )
    }

    fn unknown_keys(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.unknown.collect("", &mut paths);
        self.retry.unknown.collect("retry", &mut paths);
        self.retry
            .provider
            .unknown
            .collect("retry.provider", &mut paths);
        self.compaction.unknown.collect("compaction", &mut paths);
        self.images.unknown.collect("images", &mut paths);
        self.subagent_arbiter
            .unknown
            .collect("subagentArbiter", &mut paths);
        self.background_agents
            .unknown
            .collect("backgroundAgents", &mut paths);
        paths
    }
}

impl Retry {
    /// Longest wait that a provider may ask for; `None` is no bound.
    #[must_use]
    pub fn longest_hint(&self) -> Option<Duration> {
        bound(
            self.provider
                .max_retry_delay_ms
                .unwrap_or(self.max_delay_ms),
        )
    }

    /// The names of the models that take over when this one fails for good; none unless the settings
    /// have a chain for it.
    #[must_use]
    pub fn fallback_chain(&self, provider: &str, id: &str) -> &[String] {
        let chains = &self.fallback_chains;
        let chain = chains.get(&format!("{provider}/{id}"));
        match chain.or_else(|| chains.get(id)) {
            Some(chain) if self.model_fallback => chain,
            _ => &[],
        }
    }
}

/// A map whose keys are levels. They are read as texts, which an error can name.
fn by_level<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<ThinkingLevel, u64>, D::Error> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Level(ThinkingLevel);
    impl<'de> Deserialize<'de> for Level {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let name = String::deserialize(deserializer)?;
            ThinkingLevel::deserialize(name.into_deserializer()).map(Self)
        }
    }
    let map = BTreeMap::<Level, u64>::deserialize(deserializer)?;
    Ok(map
        .into_iter()
        .map(|(level, tokens)| (level.0, tokens))
        .collect())
}

fn bound(milliseconds: u64) -> Option<Duration> {
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

fn quoted(paths: &[String]) -> String {
    let keys = if paths.len() == 1 { "key" } else { "keys" };
    let paths: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!("{keys} {}", paths.join(", "))
}

fn is_within(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Keys that a program run or a folder outside the project hangs on.
const USER_ONLY: [&str; 3] = ["shellPath", "subagentArbiter", "toolsSeeKeys"];

/// Takes out of a project's settings what it may not set, and notes the paths.
fn keep_what_a_project_may_set(value: &mut Value, path: &str, refused: &mut Vec<String>) {
    let Value::Object(map) = value else { return };
    map.retain(|key, value| {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let keep = !(USER_ONLY.contains(&path.as_str()) || is_credential(key) || is_command(value));
        if keep {
            keep_what_a_project_may_set(value, &path, refused);
        } else {
            refused.push(path);
        }
        keep
    });
}

fn is_credential(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['_', '-'], "");
    [
        "apikey",
        "token",
        "secret",
        "password",
        "headers",
        "auth",
        "authheader",
        "providers",
        "key",
    ]
    .contains(&key.as_str())
        || key.ends_with("apikey")
        || key.contains("credential")
}

fn is_command(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('!'),
        Value::Array(items) => items.iter().any(is_command),
        _ => false,
    }
}

fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                match under.get_mut(&key) {
                    Some(old) => merge(old, value),
                    None => {
                        under.insert(key, value);
                    }
                }
            }
        }
        // A null stands for an absent key and hides nothing.
        (_, Value::Null) => {}
        (under, over) => *under = over,
    }
}
