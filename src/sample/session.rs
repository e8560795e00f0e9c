//! What happens to the session as a whole: its name, its levels, its models.

use std::io;

use super::script::Script;
use crate::event::{
    InputModality, Model, ModelCost, SessionInfoChangedEvent, ThinkingClampReason, ThinkingLevel,
    ThinkingLevelChangedEvent, ThinkingLevelClampedEvent,
};

impl Script<'_> {
    /// The levels that were asked for and are not to be had.
    pub(super) fn clamped(&mut self) -> io::Result<()> {
        for (reason, applied_level) in [
            (ThinkingClampReason::LevelUnsupported, ThinkingLevel::High),
            (ThinkingClampReason::ModelNotReasoning, ThinkingLevel::Off),
        ] {
            let (provider, id, _) = self.service;
            self.emit(ThinkingLevelClampedEvent {
                provider: provider.into(),
                model_id: id.into(),
                requested_level: ThinkingLevel::Max,
                applied_level,
                reason,
            })?;
        }
        Ok(())
    }

    /// A name is given and taken away; every level is chosen once.
    pub(super) fn session_changes(&mut self) -> io::Result<()> {
        let name = self.text();
        self.emit(SessionInfoChangedEvent { name: Some(name) })?;
        self.emit(SessionInfoChangedEvent { name: None })?;
        for level in ThinkingLevel::ALL {
            self.emit(ThinkingLevelChangedEvent { level: *level })?;
        }
        Ok(())
    }

    /// A model as the list knows it, with all that can be known of it or with the least.
    pub(super) fn model(&mut self, full: bool) -> Model {
        let (provider, id, api) = self.next_service();
        let input = if full {
            vec![InputModality::Text, InputModality::Image]
        } else {
            vec![InputModality::Text]
        };
        let price = |price: f64| if full { price } else { 0.0 }.into();
        Model {
            id: id.into(),
            name: if full {
                format!("{id} of {provider}")
            } else {
                id.into()
            },
            api: api.into(),
            provider: provider.into(),
            reasoning: full,
            input,
            cost: ModelCost {
                input: price(3.0),
                output: price(15.0),
                cache_read: price(0.3),
                cache_write: price(3.75),
            },
            context_window: full.then_some(9_007_199_254_740_991),
            max_tokens: full.then_some(64_000),
        }
    }
}
