//! From what was asked for to a child, and from children to one result.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::child::{self, Around, Launch};
use super::manager::{Manager, Steps, Task, Work};
use super::process::KEY_VARIABLE;
use super::report::Report;
use super::{Decision, Definition, Handover, Proposal};
use crate::event::{SubagentStepMetadata, ThinkingLevel};
use crate::model::catalogue::Request;

/// Where an agent stands.
pub(super) struct Place {
    pub(super) agent_id: String,
    /// The folder of its sessions.
    pub(super) folder: Option<PathBuf>,
}

/// What became of an agent.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// The definition that ran.
    pub(super) agent_type: String,
    pub(super) success: bool,
    pub(super) model: Option<String>,
    pub(super) thinking: Option<ThinkingLevel>,
    pub(super) steps: Option<Steps>,
    pub(super) session_file: Option<PathBuf>,
    /// What the parent should know of how it ran.
    pub(super) notes: Vec<String>,
    pub(super) error: Option<String>,
    pub(super) text: String,
}

/// What a child is started with.
struct Plan<'a> {
    definition: &'a Definition,
    /// Models to try, the first that can be used counts.
    models: Vec<String>,
    /// The level that the task or the definition names; it goes before that of a model.
    thinking: Option<ThinkingLevel>,
    cwd: PathBuf,
}

/// What became of one step.
struct Done {
    agent: String,
    report: Report,
    notes: Vec<String>,
}

impl Manager {
    pub(super) async fn carry_out(&self, place: &Place, work: Work) -> Carried {
        match work {
            Work::Single(task) => {
                let done = self
                    .step(place, None, task, place.folder.as_deref(), 0.0)
                    .await;
                let report = done.report;
                let ran = report.model.is_some();
                Carried {
                    agent_type: done.agent,
                    success: report.error.is_none(),
                    model: report.model_name(),
                    thinking: report.thinking,
                    steps: None,
                    session_file: place
                        .folder
                        .as_ref()
                        .and_then(|folder| report.session_file(folder)),
                    notes: done.notes,
                    text: if ran {
                        report.text.whole()
                    } else {
                        String::new()
                    },
                    error: report.error,
                }
            }
            Work::Chain(tasks) => self.chain(place, tasks).await,
        }
    }

    /// Runs the steps of a chain up to the first that fails.
    async fn chain(&self, place: &Place, tasks: Vec<Task>) -> Carried {
        let (mut steps, mut texts, mut notes) = (Steps::new(), Vec::new(), Vec::new());
        let mut previous = String::new();
        let mut error = None;
        let mut agent_type = None;
        let mut cost = 0.0;
        for (number, mut task) in (1..).zip(tasks) {
            task.task = task.task.replace("{previous}", &previous);
            let folder = place.folder.as_ref();
            let folder = folder.map(|folder| folder.join(format!("step-{number}")));
            let done = self
                .step(place, Some(number), task, folder.as_deref(), cost)
                .await;
            let report = done.report;
            cost += report.cost();
            previous = report.text.whole();
            agent_type.get_or_insert_with(|| done.agent.clone());
            steps.push(SubagentStepMetadata {
                step: number,
                agent: done.agent.clone(),
                success: report.error.is_none(),
                model: report.model_name(),
                thinking: report.thinking,
            });
            notes.extend(done.notes);
            let mut text = format!("### Step {number} ({})", done.agent);
            if report.model.is_some() {
                text = format!("{text}\n\n{previous}");
            }
            texts.push(text);
            if let Some(what) = report.error {
                error = Some(format!("Step {number}: {what}"));
                break;
            }
        }
        Carried {
            agent_type: agent_type.unwrap_or_default(),
            success: error.is_none(),
            model: None,
            thinking: None,
            steps: Some(steps),
            session_file: None,
            notes,
            error,
            text: texts.join("\n\n"),
        }
    }

    /// Runs one agent; `before` is what earlier steps of the same chain have cost.
    async fn step(
        &self,
        place: &Place,
        step: Option<u64>,
        task: Task,
        folder: Option<&Path>,
        before: f64,
    ) -> Done {
        let mut notes = Vec::new();
        let fail = |agent: &str, error: String| Done {
            agent: agent.to_owned(),
            report: Report::failed(error),
            notes: Vec::new(),
        };
        let plan = match self.plan(place, step, &task).await {
            Ok(plan) => plan,
            Err((agent, error)) => return fail(&agent, error),
        };
        let agent = plan.definition.name.clone();
        let cost = |cost: f64| self.note_cost(&place.agent_id, before + cost);
        let around = Around {
            agent_id: &place.agent_id,
            events: &self.config.events,
            stop: &self.stop,
            spent: &self.spent,
            groups: &self.config.groups,
            secrets: &|| self.secrets(),
            cost: &cost,
        };
        let mut models = plan.models.iter().peekable();
        let mut report = Report::failed("There is no model to run the agent on.");
        while let Some(model) = models.next() {
            if self.stop.is_cancelled() || self.spent.is_cancelled() {
                report = Report::failed(self.why_stopped());
                break;
            }
            let launch = self.launch(place, &plan, model, &task.task, folder);
            report = child::run(launch, &around).await;
            if report.is_stopped() {
                report.error = Some(self.why_stopped().to_owned());
            }
            match models.peek() {
                Some(next) if report.could_not_begin() => notes.push(format!(
                    "The model {model} cannot be used, {next} was taken: {}",
                    report.error.as_deref().unwrap_or_default()
                )),
                _ => break,
            }
        }
        if report.cut && report.error.is_none() {
            let of = step.map_or(String::new(), |step| format!("of step {step} "));
            notes.push(format!(
                "The last answer {of}was cut at its token limit; it is not whole."
            ));
        }
        Done {
            agent,
            report,
            notes,
        }
    }

    /// Fills in what the task leaves open, and asks the arbiter, if there is one. An error comes with
    /// the name of the definition that it is about.
    async fn plan(
        &self,
        place: &Place,
        step: Option<u64>,
        task: &Task,
    ) -> Result<Plan<'_>, (String, String)> {
        let about = |agent: &str| {
            let agent = agent.to_owned();
            move |error: String| (agent, error)
        };
        let parent = &self.config.parent;
        let cwd = match &task.cwd {
            None => parent.cwd.clone(),
            Some(given) => folder(&parent.cwd, given).map_err(about(&task.agent))?,
        };
        let asked = self.definition(&task.agent);
        let known = asked.as_ref().ok();
        let (own, parents) = self.model();
        let models = if let Some(model) = &task.model {
            vec![model.clone()]
        } else {
            let own = format!("{}/{}", own.provider, own.id);
            let named = known.into_iter().flat_map(|known| known.models.clone());
            named.chain([own]).collect()
        };
        // A level in the name of the task's own model goes before that of the definition.
        let thinking = match &task.model {
            Some(model) if level_of(model).is_some() => task.thinking,
            _ => task.thinking.or(known.and_then(|known| known.thinking)),
        };
        let Some(arbiter) = self.arbiter() else {
            return Ok(Plan {
                definition: asked.map_err(about(&task.agent))?,
                models,
                thinking,
                cwd,
            });
        };
        let level = thinking.or_else(|| models.first().and_then(|model| level_of(model)));
        let proposal = Proposal {
            agent_id: place.agent_id.clone(),
            step,
            agent: task.agent.clone(),
            models,
            thinking: level.unwrap_or(parents),
            task: task.task.clone(),
        };
        let decided = arbiter.decide(proposal, &self.stop).await;
        self.note_decision(decided.cost);
        match decided.decision {
            Decision::Start(route) => Ok(Plan {
                definition: self.definition(&route.agent).map_err(about(&route.agent))?,
                models: vec![route.model],
                thinking: Some(route.thinking),
                cwd,
            }),
            Decision::Refuse(why) => {
                // That there is no such agent is better told with the names of those that are.
                asked.map_err(about(&task.agent))?;
                let error = format!("The agent was not started, since it got no route. {why}");
                Err((task.agent.clone(), error))
            }
        }
    }

    fn definition(&self, name: &str) -> Result<&Definition, String> {
        self.config.definitions.get(name).ok_or_else(|| {
            let known: Vec<_> = self
                .config
                .definitions
                .iter()
                .map(|known| known.name.as_str())
                .collect();
            format!(
                "There is no agent named \"{name}\". Agents: {}.",
                known.join(", ")
            )
        })
    }

    fn launch(
        &self,
        place: &Place,
        plan: &Plan<'_>,
        model: &str,
        task: &str,
        folder: Option<&Path>,
    ) -> Launch {
        let parent = &self.config.parent;
        let mut args = self.config.args.clone();
        // As one word: a value may begin with a dash.
        let mut flag = |name: &str, value: &OsStr| {
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            args.push(word);
        };
        flag("mode", "json".as_ref());
        flag("model", model.as_ref());
        match plan.thinking {
            Some(level) => flag("thinking", level.as_str().as_ref()),
            None => flag("usual-thinking", self.model().1.as_str().as_ref()),
        }
        flag("agent-type", plan.definition.name.as_ref());
        if let Some(folder) = folder {
            flag("session-dir", folder.as_os_str());
        }
        if let Some(file) = self.session_file() {
            flag("parent-session", file.as_os_str());
        }
        if let Some(script) = &parent.script
            && Request::is_offline(None, Some(model))
        {
            flag("script", script.as_os_str());
        }
        if let Some(most) = self.config.max_cost {
            let left = (most - self.spent()).max(f64::MIN_POSITIVE);
            flag("max-cost", left.to_string().as_ref());
        }
        if !plan.definition.prompt.is_empty() {
            flag("agent-prompt", plan.definition.prompt.as_ref());
        }
        let tools = self.tools(plan.definition);
        if !tools.is_empty() {
            flag("tools", tools.join(",").as_ref());
        }
        if tools.is_empty() {
            args.push("--no-tools".into());
        }
        if folder.is_none() {
            args.push("--no-session".into());
        }
        let mut variables = self.config.variables.clone();
        // Only the child can tell which provider a name leads to.
        let handover = Handover::new(parent.key.clone(), &self.secrets());
        variables.extend(handover.value().map(|value| (KEY_VARIABLE, value)));
        let path = if parent.path.is_empty() {
            place.agent_id.clone()
        } else {
            format!("{}/{}", parent.path, place.agent_id)
        };
        Launch {
            program: self.config.program.clone(),
            args,
            cwd: plan.cwd.clone(),
            variables,
            path,
            task: task.to_owned(),
        }
    }

    /// The tools of a child: those of its definition that its parent has too.
    fn tools(&self, definition: &Definition) -> Vec<String> {
        let parent = &self.config.parent;
        let more = ["subagent", "wait"].map(str::to_owned);
        let more = more.into_iter().filter(|_| parent.may_nest);
        let wanted = definition.tools.iter().cloned().chain(more);
        wanted.filter(|tool| parent.tools.contains(tool)).collect()
    }
}

/// The level that a model's name asks for.
fn level_of(model: &str) -> Option<ThinkingLevel> {
    model.rsplit_once(':')?.1.parse().ok()
}

/// The folder that a task names: absolute, or below that of the parent.
fn folder(parent: &Path, given: &str) -> Result<PathBuf, String> {
    let folder = parent.join(given);
    let outside =
        || format!("The folder {given} leads out of the working directory; give an absolute path.");
    if Path::new(given).is_relative() {
        // A link may lead anywhere, so what counts is where it ends.
        match (folder.canonicalize(), parent.canonicalize()) {
            (Ok(end), Ok(parent)) if !end.starts_with(&parent) => return Err(outside()),
            (Err(_), _) if leaves(Path::new(given)) => return Err(outside()),
            _ => {}
        }
    }
    if !folder.is_dir() {
        return Err(format!("There is no folder {}.", folder.display()));
    }
    Ok(folder)
}

/// Whether a relative path goes up further than down, links aside.
fn leaves(path: &Path) -> bool {
    let mut depth = 0_usize;
    for part in path.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stays_below_that_of_the_parent() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("parent");
        for folder in ["parent/x", "parent/y", "other"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let link =
            |to: &str, name: &str| std::os::unix::fs::symlink(to, parent.join(name)).unwrap();
        link("/", "out");
        link("y", "in");
        for good in ["x", ".", "", "x/../y", "in", "../parent/x"] {
            assert!(folder(&parent, good).is_ok(), "{good}");
        }
        let other = root.path().join("other");
        assert_eq!(folder(&parent, other.to_str().unwrap()).unwrap(), other);
        for bad in [
            "..",
            "../other",
            "../nowhere",
            "out",
            "x/../../other",
            "x/../../nowhere",
        ] {
            assert!(
                folder(&parent, bad).unwrap_err().contains("leads out of"),
                "{bad}"
            );
        }
        for none in ["z", "x/../z", "/nowhere/at/all"] {
            assert!(
                folder(&parent, none).unwrap_err().contains("no folder"),
                "{none}"
            );
        }
    }
}
