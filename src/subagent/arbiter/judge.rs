//! An arbiter that asks a model, and the record of what it decides.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::ask::Meter;
use super::{Arbiter, Decided, Decision, Proposal, Refusal, Scope};
use crate::config::Secrets;
use crate::event::{
    ArbitrationStatus, DispatchRoute, QuipuEvent, RoutePart, SubagentArbitrationEvent,
    ThinkingLevel, Usage,
};
use crate::model::{Model, Prices, Provider};
use crate::session::SharedSession;
use crate::subagent::Definitions;
use crate::wire::EventSender;

/// The most of a guide that is read, in bytes.
const LONGEST_GUIDE: u64 = 64 * 1024;

/// The longest `errorMessage`, in characters.
const LONGEST_MESSAGE: usize = 500;

/// The type of the entries in the session.
const ENTRY: &str = "subagent_arbitration";

/// The model that decides.
pub struct Judge {
    /// The model.
    pub model: Model,
    /// The connection to it.
    pub provider: Box<dyn Provider>,
    /// How much it is asked to think; a level that it has.
    pub thinking: ThinkingLevel,
}

/// Asks a model about each start, and tells of its decision in the session and the stream.
pub struct ModelArbiter {
    /// Who decides, or why nobody can.
    pub judge: Result<Judge, Refusal>,
    /// A text file that says how to decide. It is read for each decision.
    pub guide: Option<PathBuf>,
    /// The agents to choose from.
    pub agents: Definitions,
    /// The models to choose from.
    pub scope: Scope,
    /// The parent's session.
    pub session: SharedSession,
    /// Where decisions are told.
    pub events: EventSender,
    /// Values that must not be told.
    pub secrets: Arc<Secrets>,
    /// How long a decision may take.
    pub timeout: Duration,
}

impl ModelArbiter {
    /// How long a decision may take when nobody says otherwise.
    pub const TIMEOUT: Duration = Duration::from_mins(1);

    async fn route(
        &self,
        proposal: &Proposal,
        proposed: &DispatchRoute,
        meter: &mut Meter,
    ) -> Result<DispatchRoute, Refusal> {
        let judge = self.judge.as_ref().map_err(Refusal::clone)?;
        if self.scope.models().is_empty() {
            return Err(Refusal::NoScope);
        }
        if self.agents.get(&proposal.agent).is_none() {
            return Err(Refusal::NoAgent);
        }
        let guide = match self.guide.clone() {
            Some(file) => Some(read_guide(file).await?),
            None => None,
        };
        self.ask(judge, proposal, proposed, guide.as_deref(), meter)
            .await
    }

    /// Keeps the record, then tells it. A decision that cannot be kept is none.
    async fn tell(
        &self,
        proposal: Proposal,
        proposed: DispatchRoute,
        mut decided: Result<DispatchRoute, Refusal>,
        usage: Option<Usage>,
    ) -> Decision {
        let mut event: QuipuEvent = self
            .record(&proposal, &proposed, &decided, usage.as_ref())
            .into();
        if self.keep(&event).is_err() {
            decided = Err(Refusal::Unrecorded);
            event = self
                .record(&proposal, &proposed, &decided, usage.as_ref())
                .into();
        }
        let told = self.events.send(event).await;
        match decided {
            Ok(route) if told.is_ok() => Decision::Start(route),
            Ok(_) => Decision::Refuse("Nobody reads the events any more.".to_owned()),
            Err(refusal) => Decision::Refuse(self.message(&refusal)),
        }
    }

    fn record(
        &self,
        proposal: &Proposal,
        proposed: &DispatchRoute,
        decided: &Result<DispatchRoute, Refusal>,
        usage: Option<&Usage>,
    ) -> SubagentArbitrationEvent {
        let refusal = decided.as_ref().err();
        SubagentArbitrationEvent {
            agent_id: proposal.agent_id.clone(),
            status: match refusal {
                None => ArbitrationStatus::Success,
                Some(_) => ArbitrationStatus::Failure,
            },
            proposed: proposed.clone(),
            changed: decided
                .as_ref()
                .map(|route| changed(proposed, route))
                .unwrap_or_default(),
            final_: decided.as_ref().ok().cloned(),
            step: proposal.step,
            error_code: refusal.map(Refusal::code),
            error_message: refusal.map(|refusal| self.message(refusal)),
            usage: usage.cloned(),
        }
    }

    fn keep(&self, event: &QuipuEvent) -> Result<(), crate::session::SessionError> {
        let data = serde_json::to_value(event)?;
        self.session.lock().append_custom(ENTRY, Some(data))?;
        Ok(())
    }

    fn message(&self, refusal: &Refusal) -> String {
        let message = refusal.to_string();
        let clean = self.secrets.scrub(&message);
        clean.chars().take(LONGEST_MESSAGE).collect()
    }
}

impl Arbiter for ModelArbiter {
    fn decide<'a>(
        &'a self,
        proposal: Proposal,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Decided> {
        Box::pin(async move {
            let proposed = self.scope.route(&proposal);
            let mut meter = Meter::default();
            let decided = tokio::select! {
                biased;
                () = stop.cancelled() => Err(Refusal::Aborted),
                decided = self.route(&proposal, &proposed, &mut meter) => decided,
                () = tokio::time::sleep(self.timeout) => Err(Refusal::Timeout(self.timeout)),
            };
            let prices = match &self.judge {
                Ok(judge) => judge.model.cost,
                Err(_) => Prices::default(),
            };
            let usage = meter.finish(&prices);
            let cost = usage.as_ref().map_or(0.0, |usage| usage.cost.total.get());
            let decision = self.tell(proposal, proposed, decided, usage).await;
            Decided { decision, cost }
        })
    }
}

/// The parts in which a route differs.
fn changed(proposed: &DispatchRoute, route: &DispatchRoute) -> Vec<RoutePart> {
    let parts = [
        (RoutePart::Agent, proposed.agent != route.agent),
        (RoutePart::Model, proposed.model != route.model),
        (RoutePart::Thinking, proposed.thinking != route.thinking),
    ];
    let differs = parts.into_iter().filter(|(_, differs)| *differs);
    differs.map(|(part, _)| part).collect()
}

async fn read_guide(file: PathBuf) -> Result<String, Refusal> {
    let read = tokio::task::spawn_blocking(move || guide(&file)).await;
    read.map_err(|_| Refusal::Internal)?.map_err(Refusal::Guide)
}

/// The text of a guide, or what is wrong with the file.
fn guide(file: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {}", error.kind());
    // Opening a pipe would wait for its other end.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(file).map_err(unreadable)?;
    let mut file = file.take(LONGEST_GUIDE + 1);
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST_GUIDE {
        return Err(format!("is longer than {} KiB", LONGEST_GUIDE / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(text)
}
