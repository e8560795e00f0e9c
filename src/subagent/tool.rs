//! The tools `subagent`, which starts background agents, and `wait`, which waits for them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Manager, Task, Work};
use crate::event::ThinkingLevel;
use crate::tool::{
    InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput, is_unseen,
    parse_arguments, schema_of,
};
use crate::wire::StreamClosed;

/// The agent of a task that names none.
const USUAL_AGENT: &str = "Explore";

/// Most agents of one call.
const MOST: usize = 8;

/// Longest part of a task in a result, in characters.
const SHOWN: usize = 80;

/// Arguments of `subagent`: exactly one of `task`, `tasks` and `chain`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Which agent works on task (default: Explore)
    #[serde(default)]
    #[schemars(with = "String")]
    agent: Option<String>,
    /// What one agent is to do, with everything it has to know
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    task: Option<String>,
    /// Where all of them work (default: your working directory)
    #[serde(default)]
    #[schemars(with = "String")]
    cwd: Option<String>,
    /// Model for all of them, as provider/id (default: that of the agent, else yours)
    #[serde(default)]
    #[schemars(with = "String")]
    model: Option<String>,
    /// Thinking level for all of them (default: that of the agent, else yours)
    #[serde(default)]
    #[schemars(with = "Level")]
    thinking: Option<ThinkingLevel>,
    /// Up to 8 tasks for agents that work side by side
    #[serde(default)]
    #[schemars(with = "Vec<Item>", length(min = 1, max = 8))]
    tasks: Option<Vec<Item>>,
    /// Tasks for agents that work one after the other; {previous} in one stands for the output of the
    /// one before it
    #[serde(default)]
    #[schemars(with = "Vec<Item>", length(min = 1))]
    chain: Option<Vec<Item>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// Which agent (default: Explore)
    #[serde(default)]
    #[schemars(with = "String")]
    agent: Option<String>,
    /// What it is to do, with everything it has to know
    task: String,
    /// Where it works (default: your working directory)
    #[serde(default)]
    #[schemars(with = "String")]
    cwd: Option<String>,
    /// Model, as provider/id
    #[serde(default)]
    #[schemars(with = "String")]
    model: Option<String>,
    /// Thinking level
    #[serde(default)]
    #[schemars(with = "Level")]
    thinking: Option<ThinkingLevel>,
}

/// The thinking levels, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Level {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// The tool `subagent`.
pub struct Subagent {
    manager: Arc<Manager>,
    description: String,
}

impl Subagent {
    /// A tool that starts agents of this manager.
    #[must_use]
    pub fn new(manager: Arc<Manager>) -> Self {
        let mut description = "Give work to agents in the background and end your turn: their results \
            come to you as messages later. Each begins with nothing but its task and sees nothing of \
            this conversation. Give task (one agent), tasks (up to 8 side by side) or chain (one after \
            the other, {previous} stands for the output before). Agents:"
            .to_owned();
        for (number, known) in manager.definitions().iter().enumerate() {
            let separator = if number == 0 { " " } else { "; " };
            description.push_str(separator);
            description.push_str(&known.name);
            if !known.description.is_empty() {
                description.push_str(" (");
                // The first line of a description stands for it in the system prompt.
                let told = known.description.replace(['\n', '\r'], " ");
                description.push_str(&told);
                description.push(')');
            }
        }
        description.push('.');
        Self {
            manager,
            description,
        }
    }
}

impl Tool for Subagent {
    fn name(&self) -> &'static str {
        "subagent"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> Value {
        schema_of::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        _ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args: Arguments = parse_arguments("subagent", args)?;
        let manager = Arc::clone(&self.manager);
        Ok(Box::pin(async move {
            let output = match Plan::new(args) {
                Ok(plan) => plan.start(&manager).await,
                Err(what) => return Ok(ToolOutput::text(format!("Error: {what}"), None)),
            };
            // The run ends by itself then.
            output.map_err(|StreamClosed| ToolError::Aborted)
        }))
    }
}

/// What a call asks for.
enum Plan {
    Single(Task),
    Parallel(Vec<Task>),
    Chain(Vec<Task>),
}

impl Plan {
    fn new(args: Arguments) -> Result<Self, String> {
        let Arguments {
            agent,
            task,
            cwd,
            model,
            thinking,
            tasks,
            chain,
        } = args;
        let with_defaults = |item: Item| Task {
            agent: item
                .agent
                .or_else(|| agent.clone())
                .unwrap_or_else(|| USUAL_AGENT.to_owned()),
            task: item.task,
            cwd: item.cwd.or_else(|| cwd.clone()),
            model: item.model.or_else(|| model.clone()),
            thinking: item.thinking.or(thinking),
        };
        let all = |items: Vec<Item>| {
            if let Some(at) = items.iter().position(|item| item.task.trim().is_empty()) {
                return Err(format!("task {} is empty.", at + 1));
            }
            Ok(items.into_iter().map(with_defaults).collect::<Vec<_>>())
        };
        match (task, tasks, chain) {
            (Some(task), None, None) => {
                let item = Item {
                    agent: None,
                    task,
                    cwd: None,
                    model: None,
                    thinking: None,
                };
                let mut tasks = all(vec![item])?;
                tasks
                    .pop()
                    .map(Self::Single)
                    .ok_or_else(|| "there is no task.".to_owned())
            }
            (None, Some(tasks), None) if tasks.is_empty() => Err("tasks is empty.".to_owned()),
            (None, Some(tasks), None) if tasks.len() > MOST => Err(format!(
                "{} tasks are too many; at most {MOST} can be given in one call.",
                tasks.len()
            )),
            (None, Some(tasks), None) => all(tasks).map(Self::Parallel),
            (None, None, Some(chain)) if chain.is_empty() => Err("chain is empty.".to_owned()),
            (None, None, Some(chain)) => all(chain).map(Self::Chain),
            (None, None, None) => Err("give one of task, tasks and chain.".to_owned()),
            _ => Err("task, tasks and chain exclude each other; give one of them.".to_owned()),
        }
    }

    async fn start(self, manager: &Arc<Manager>) -> Result<ToolOutput, StreamClosed> {
        let (mode, count, text) = match self {
            Self::Single(task) => {
                let agent = task.agent.clone();
                let summary = format!("{agent} task");
                let id = manager.start(Work::Single(task), summary).await?;
                let text = format!(
                    "Agent {id} ({agent}) was given the task. Its result will come as a message."
                );
                ("single", 1, text)
            }
            Self::Parallel(tasks) => {
                let count = tasks.len();
                let mut text = format!("{count} agents were given their tasks:");
                for (number, task) in (1..).zip(tasks) {
                    let agent = task.agent.clone();
                    let shown: String = task
                        .task
                        .chars()
                        .map(|c| {
                            if c.is_control() || is_unseen(c) {
                                ' '
                            } else {
                                c
                            }
                        })
                        .take(SHOWN)
                        .collect();
                    let summary = format!("{agent} task {number}/{count}");
                    let id = manager.start(Work::Single(task), summary).await?;
                    text = format!("{text}\n  {id} ({agent}): {shown}");
                }
                text.push_str("\nThe result of each will come as a message of its own.");
                ("parallel", count, text)
            }
            Self::Chain(tasks) => {
                let count = tasks.len();
                let summary = format!("{count}-step chain");
                let id = manager.start(Work::Chain(tasks), summary).await?;
                let text = format!(
                    "Chain {id} of {count} steps has begun. Its result will come as a message."
                );
                ("chain", count, text)
            }
        };
        let details = json!({ "mode": mode, "agentCount": count });
        Ok(ToolOutput::text(text, Some(details)).ending_turn())
    }
}

/// Arguments of `wait`.
#[derive(Deserialize, JsonSchema)]
struct Reason {
    /// What is waited for, in a few words
    #[serde(default)]
    #[schemars(with = "String")]
    reason: Option<String>,
}

/// The tool `wait`.
pub struct Wait(Arc<Manager>);

impl Wait {
    /// A tool that waits for agents of this manager.
    #[must_use]
    pub fn new(manager: Arc<Manager>) -> Self {
        Self(manager)
    }
}

impl Tool for Wait {
    fn name(&self) -> &'static str {
        "wait"
    }

    fn description(&self) -> &'static str {
        "End your turn until a background agent delivers its result, which comes as a message. Use it \
         when there is nothing to do meanwhile."
    }

    fn parameters(&self) -> Value {
        schema_of::<Reason>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        _ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let Reason { reason } = parse_arguments("wait", args)?;
        let running = self.0.at_work();
        let mut details = Map::new();
        let text = match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => {
                details.insert("reason".to_owned(), reason.as_str().into());
                format!("Waiting: {reason}")
            }
            None => "Waiting.".to_owned(),
        };
        details.insert("runningAgents".to_owned(), json!(running));
        let output = ToolOutput::text(text, Some(details.into())).ending_turn();
        Ok(Box::pin(async { Ok(output) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(args: Value) -> Result<Plan, String> {
        Plan::new(serde_json::from_value(args).unwrap())
    }

    #[test]
    fn exactly_one_mode_is_chosen() {
        for (args, words) in [
            (json!({}), "give one of"),
            (json!({ "agent": "Explore" }), "give one of"),
            (json!({ "task": "a", "tasks": [] }), "exclude each other"),
            (
                json!({ "task": "a", "chain": [{ "task": "b" }] }),
                "exclude",
            ),
            (json!({ "task": " " }), "task 1 is empty"),
            (json!({ "tasks": [] }), "tasks is empty"),
            (json!({ "chain": [] }), "chain is empty"),
            (
                json!({ "chain": [{ "task": "a" }, { "task": "" }] }),
                "task 2 is empty",
            ),
            (
                json!({ "tasks": vec![json!({ "task": "a" }); 9] }),
                "9 tasks are too many",
            ),
        ] {
            let error = plan(args.clone()).err().unwrap_or_default();
            assert!(error.contains(words), "{args}: {error}");
        }
    }

    #[test]
    fn items_take_over_what_stands_beside_them() {
        let args = json!({ "model": "p/m", "thinking": "low", "agent": "x", "cwd": "c", "tasks": [
            { "task": "one" }, { "task": "two", "agent": "y", "model": "q/n", "thinking": "max", "cwd": "d" },
        ]});
        let Ok(Plan::Parallel(tasks)) = plan(args) else {
            panic!("not parallel")
        };
        let one = Task {
            agent: "x".into(),
            task: "one".into(),
            cwd: Some("c".into()),
            model: Some("p/m".into()),
            thinking: Some(ThinkingLevel::Low),
        };
        let two = Task {
            agent: "y".into(),
            task: "two".into(),
            cwd: Some("d".into()),
            model: Some("q/n".into()),
            thinking: Some(ThinkingLevel::Max),
        };
        assert_eq!(tasks, [one, two]);
        let Ok(Plan::Single(task)) = plan(json!({ "task": "t", "cwd": "c" })) else {
            panic!("not single")
        };
        assert_eq!(task.cwd.as_deref(), Some("c"));
        assert_eq!((task.agent.as_str(), task.model), ("Explore", None));
    }

    #[test]
    fn the_levels_of_the_schema_are_those_of_the_events() {
        let schema = schema_of::<Arguments>();
        let levels = schema["properties"]["thinking"]["enum"].clone();
        assert_eq!(levels, json!(ThinkingLevel::ALL));
        assert_eq!(schema.get("required"), None);
        let item = &schema["properties"]["tasks"]["items"];
        assert_eq!(item["required"], json!(["task"]));
    }
}
