//! The agents at work, and the results that wait for their parent.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::step::{Carried, Place};
use super::{Arbiter, Definitions};
use crate::config::Secrets;
use crate::event::{
    BackgroundAgentEndEvent, BackgroundAgentStartEvent, ModelRef, SubagentStepMetadata,
    ThinkingLevel,
};
use crate::model::Secret;
use crate::tool::ProcessGroups;
use crate::wire::{EventSender, StreamClosed};

/// What agents are started with.
pub struct Config {
    /// The program that children run.
    pub program: PathBuf,
    /// Arguments that every child gets.
    pub args: Vec<OsString>,
    /// Variables that every child gets.
    pub variables: Vec<(&'static str, OsString)>,
    /// The agents that can be called.
    pub definitions: Definitions,
    /// Who they work for.
    pub parent: Parent,
    /// The folder for folders of their sessions; without one they keep none.
    pub sessions: Option<PathBuf>,
    /// Most agents at work at the same time; the others wait.
    pub max_concurrent: usize,
    /// The cost in US dollars that the parent and its children together may reach.
    pub max_cost: Option<f64>,
    /// Where their lines go.
    pub events: EventSender,
    /// Cancelled when they are to end.
    pub cancel: CancellationToken,
    /// Where their processes are listed.
    pub groups: ProcessGroups,
    /// Values that must not be told, by children neither.
    pub secrets: Arc<Secrets>,
}

/// What children take over from their parent.
#[derive(Clone, Debug)]
pub struct Parent {
    /// The model of a child for which no other is named, until [`Manager::follow`].
    pub model: ModelRef,
    /// Its thinking level.
    pub thinking: ThinkingLevel,
    /// The tools that the parent may call: a child gets no others.
    pub tools: Vec<String>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The key that it was given on the command line, and the provider that it is for.
    pub key: Option<(String, Secret)>,
    /// The scenario of the offline model.
    pub script: Option<PathBuf>,
    /// The agents above it and itself, as in `QUIPU_AGENT`; empty for one that nobody started.
    pub path: String,
    /// Whether its children may start agents of their own.
    pub may_nest: bool,
}

/// What one agent is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Name of the definition.
    pub agent: String,
    /// What it is to do; in a chain `{previous}` stands for the output of the step before.
    pub task: String,
    /// Where it works, absolute or below the parent's folder; absent for the parent's.
    pub cwd: Option<String>,
    /// The model, in place of that of the definition.
    pub model: Option<String>,
    /// The thinking level, in place of that of the definition.
    pub thinking: Option<ThinkingLevel>,
}

/// What goes by one `agentId`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// One agent.
    Single(Task),
    /// Several, one after the other.
    Chain(Vec<Task>),
}

/// A background agent that has no result yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtWork {
    /// Its `agentId`.
    pub agent_id: String,
    /// Name of its definition.
    pub agent_type: String,
    /// What it is to do, in a few words for people.
    pub task_summary: String,
    /// When it was taken on, in milliseconds since 1970.
    pub started_at: u64,
    /// `waiting` for others to end, or `running`.
    pub status: &'static str,
    /// The folder of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_dir: Option<String>,
    #[serde(skip)]
    pub(super) cost: f64,
}

/// Starts background agents and keeps what becomes of them.
pub struct Manager {
    pub(super) config: Config,
    slots: Semaphore,
    state: Mutex<State>,
    changed: Notify,
    pub(super) stop: CancellationToken,
    /// Cancelled when the limit of cost is reached.
    pub(super) spent: CancellationToken,
    tasks: TaskTracker,
    session_file: OnceLock<PathBuf>,
    arbiter: OnceLock<Arc<dyn Arbiter>>,
    secrets: Mutex<Arc<Secrets>>,
    /// The model of the parent as of now, and its thinking level.
    model: Mutex<(ModelRef, ThinkingLevel)>,
}

#[derive(Debug, Default)]
struct State {
    at_work: Vec<AtWork>,
    results: VecDeque<String>,
    /// What agents that are done have cost, and decisions about any, in US dollars.
    cost: f64,
    parent_cost: f64,
}

impl Manager {
    /// A manager without agents.
    #[must_use]
    pub fn new(config: Config) -> Arc<Self> {
        let slots = config.max_concurrent.min(Semaphore::MAX_PERMITS);
        let stop = config.cancel.child_token();
        let model = Mutex::new((config.parent.model.clone(), config.parent.thinking));
        let secrets = Mutex::new(Arc::clone(&config.secrets));
        Arc::new(Self {
            config,
            slots: Semaphore::new(slots),
            state: Mutex::default(),
            changed: Notify::new(),
            stop,
            spent: CancellationToken::new(),
            tasks: TaskTracker::new(),
            session_file: OnceLock::new(),
            arbiter: OnceLock::new(),
            secrets,
            model,
        })
    }

    /// Tells which file the parent's session is kept in; children name it in their own.
    pub fn set_session_file(&self, file: Option<PathBuf>) {
        if let Some(file) = file {
            self.session_file.get_or_init(|| file);
        }
    }

    /// Has this arbiter asked before each start.
    pub fn set_arbiter(&self, arbiter: Arc<dyn Arbiter>) {
        self.arbiter.get_or_init(|| arbiter);
    }

    /// Who is asked before each start.
    pub(super) fn arbiter(&self) -> Option<&Arc<dyn Arbiter>> {
        self.arbiter.get()
    }

    /// The file of the parent's session.
    pub(super) fn session_file(&self) -> Option<&PathBuf> {
        self.session_file.get()
    }

    /// Another model took over from the parent's, and values may have come that must not be told.
    pub fn follow(&self, model: ModelRef, thinking: ThinkingLevel, secrets: Arc<Secrets>) {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = (model, thinking);
        *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = secrets;
    }

    /// The model of a child for which no other is named, and its level.
    pub(super) fn model(&self) -> (ModelRef, ThinkingLevel) {
        let model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        model.clone()
    }

    /// The values that must not be told.
    pub(super) fn secrets(&self) -> Arc<Secrets> {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&secrets)
    }

    /// The definitions that can be called.
    #[must_use]
    pub fn definitions(&self) -> &Definitions {
        &self.config.definitions
    }

    /// Takes an agent on and gives its `agentId`; it starts by itself when there is room.
    ///
    /// `summary` says in a few words for people what it is to do.
    ///
    /// # Errors
    /// [`StreamClosed`]: nobody would hear of it.
    pub async fn start(
        self: &Arc<Self>,
        work: Work,
        task_summary: String,
    ) -> Result<String, StreamClosed> {
        let agent_id = hex();
        let agent_type = work.first().to_owned();
        let folder = self.config.sessions.as_ref().map(|root| match &work {
            Work::Single(_) => root.join(hex()),
            Work::Chain(_) => root.join(format!("chain-{}", hex())),
        });
        let session_dir = folder
            .as_ref()
            .map(|folder| folder.to_string_lossy().into_owned());
        let start = BackgroundAgentStartEvent {
            agent_id: agent_id.clone(),
            agent_type: agent_type.clone(),
            task_summary: task_summary.clone(),
            session_dir: session_dir.clone(),
        };
        self.config.events.send(start).await?;
        self.state().at_work.push(AtWork {
            agent_id: agent_id.clone(),
            agent_type,
            task_summary,
            started_at: now(),
            status: "waiting",
            session_dir,
            cost: 0.0,
        });
        let manager = Arc::clone(self);
        let place = Place {
            agent_id: agent_id.clone(),
            folder,
        };
        self.tasks.spawn(manager.see_through(place, work));
        Ok(agent_id)
    }

    /// One agent, from the wait for a free slot to its result.
    async fn see_through(self: Arc<Self>, place: Place, work: Work) {
        let slot = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            () = self.spent.cancelled() => None,
            slot = self.slots.acquire() => slot.ok(),
        };
        let carried = if slot.is_some() {
            self.update(&place.agent_id, |agent| agent.status = "running");
            self.carry_out(&place, work).await
        } else {
            Carried::stopped(work.first(), self.why_stopped())
        };
        drop(slot);
        let Carried {
            agent_type,
            success,
            model,
            thinking,
            steps,
            session_file,
            ..
        } = carried.clone();
        let end = BackgroundAgentEndEvent {
            agent_id: place.agent_id.clone(),
            agent_type,
            success,
            model,
            thinking,
            steps,
            session_file: session_file.map(|file| file.to_string_lossy().into_owned()),
        };
        // If nobody listens there is nobody to take the result either.
        let _ = self.config.events.send(end).await;
        self.deliver(&place.agent_id, &carried);
    }

    fn deliver(&self, agent_id: &str, carried: &Carried) {
        let mut state = self.state();
        let at = state
            .at_work
            .iter()
            .position(|agent| agent.agent_id == agent_id);
        if let Some(at) = at {
            let agent = state.at_work.remove(at);
            state.cost += agent.cost;
        }
        let message = carried.message(agent_id, &state.at_work);
        state.results.push_back(message);
        drop(state);
        self.changed.notify_one();
    }

    /// The agents that have no result yet, the oldest first.
    #[must_use]
    pub fn at_work(&self) -> Vec<AtWork> {
        self.state().at_work.clone()
    }

    /// Whether no agent is at work.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state().at_work.is_empty()
    }

    /// Whether a result waits to be taken.
    #[must_use]
    pub fn has_result(&self) -> bool {
        !self.state().results.is_empty()
    }

    /// Takes the result that has waited longest, as the text of a user's message.
    #[must_use]
    pub fn take_result(&self) -> Option<String> {
        self.state().results.pop_front()
    }

    /// Waits for a result to take; `false` if none waits and none will come.
    pub async fn result(&self) -> bool {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.state();
                if !state.results.is_empty() {
                    return true;
                }
                if state.at_work.is_empty() {
                    return false;
                }
            }
            changed.await;
        }
    }

    /// What the agents have cost so far, in US dollars; those at work and decisions about them
    /// included.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let state = self.state();
        let running: f64 = state.at_work.iter().map(|agent| agent.cost).sum();
        state.cost + running
    }

    /// Notes what the parent's own answers have cost so far, in US dollars.
    pub fn note_parent_cost(&self, cost: f64) {
        self.state().parent_cost = cost;
        self.end_if_spent();
    }

    /// What the parent and its agents have cost together.
    pub(super) fn spent(&self) -> f64 {
        let parent = self.state().parent_cost;
        parent + self.cost()
    }

    /// Whether the limit of cost is reached.
    pub(super) fn is_spent(&self) -> bool {
        self.config
            .max_cost
            .is_some_and(|most| self.spent() >= most)
    }

    /// Lets no agent go on when the limit of cost is reached: each was given all that was left when
    /// it began, and those beside it spend that too.
    fn end_if_spent(&self) {
        if self.is_spent() {
            self.spent.cancel();
        }
    }

    /// What is told of an agent that was stopped.
    pub(super) fn why_stopped(&self) -> &'static str {
        if self.is_spent() {
            "The agent was stopped, since the limit of cost is reached (--max-cost)."
        } else {
            "The agent was stopped."
        }
    }

    /// Ends all agents and waits until they are gone.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Notes what an agent has cost so far, in US dollars.
    pub(super) fn note_cost(&self, agent_id: &str, cost: f64) {
        self.update(agent_id, |agent| agent.cost = cost);
        self.end_if_spent();
    }

    /// Notes what a decision about an agent has cost, in US dollars.
    pub(super) fn note_decision(&self, cost: f64) {
        self.state().cost += cost;
        self.end_if_spent();
    }

    fn update(&self, agent_id: &str, change: impl FnOnce(&mut AtWork)) {
        let mut state = self.state();
        let mut agents = state.at_work.iter_mut();
        if let Some(agent) = agents.find(|agent| agent.agent_id == agent_id) {
            change(agent);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    /// The definition that is asked for first.
    fn first(&self) -> &str {
        match self {
            Self::Single(task) => &task.agent,
            Self::Chain(tasks) => tasks.first().map_or("", |task| &task.agent),
        }
    }
}

impl Carried {
    /// An agent that was stopped before it began.
    fn stopped(agent: &str, why: &str) -> Self {
        Self {
            agent_type: agent.to_owned(),
            success: false,
            model: None,
            thinking: None,
            steps: None,
            session_file: None,
            notes: Vec::new(),
            error: Some(format!("{why} It had not begun.")),
            text: String::new(),
        }
    }
}

/// The steps of a chain as the end of it tells them.
pub(super) type Steps = Vec<SubagentStepMetadata>;

/// Twelve hexadecimal digits.
fn hex() -> String {
    let mut text = uuid::Uuid::new_v4().simple().to_string();
    text.truncate(12);
    text
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
