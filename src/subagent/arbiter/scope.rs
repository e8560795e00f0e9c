//! The models that an arbiter may choose from.

use std::fmt;

use super::Proposal;
use crate::event::{DispatchRoute, ThinkingLevel};
use crate::model::{Model, clamp_thinking};

/// Finds the model that a name stands for.
pub type Resolve = Box<dyn Fn(&str) -> Option<Model> + Send + Sync>;

/// The models that can be chosen, and what other names mean.
pub struct Scope {
    models: Vec<Model>,
    resolve: Resolve,
}

impl Scope {
    /// Of these models, in their order for the arbiter; `resolve` tells what the name in a proposal
    /// stands for.
    #[must_use]
    pub fn new(models: Vec<Model>, resolve: Resolve) -> Self {
        Self { models, resolve }
    }

    /// The models.
    #[must_use]
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model of this name, `provider/id`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| full_name(model) == name)
    }

    /// Whether a model has a thinking level.
    #[must_use]
    pub fn has(model: &Model, level: ThinkingLevel) -> bool {
        clamp_thinking(model, level).1.is_none()
    }

    /// What a proposal comes to without an arbiter: the first model that can be chosen, else the
    /// first that is known at all, at a thinking level that it has. The model is empty if none is.
    pub(super) fn route(&self, proposal: &Proposal) -> DispatchRoute {
        let known = proposal.models.iter().filter_map(|name| {
            let own = self.get(name).cloned();
            own.or_else(|| (self.resolve)(name))
        });
        let known: Vec<Model> = known.collect();
        let mut usable = known
            .iter()
            .filter(|model| self.get(&full_name(model)).is_some());
        let model = usable.next().or(known.first());
        let thinking = proposal.thinking;
        DispatchRoute {
            agent: proposal.agent.clone(),
            model: model.map(full_name).unwrap_or_default(),
            thinking: model.map_or(thinking, |model| clamp_thinking(model, thinking).0),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.models.iter().map(full_name).collect();
        f.debug_tuple("Scope").field(&names).finish()
    }
}

pub(super) fn full_name(model: &Model) -> String {
    format!("{}/{}", model.provider, model.id)
}
