//! The models that take over when one fails for good.

use std::ffi::OsString;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Agent, Halt};
use crate::config::Secrets;
use crate::event::{
    ErrorCode, ModelRef, ThinkingLevel, ThinkingLevelChangedEvent, ThinkingLevelClampedEvent,
};
use crate::model::{Model, ModelError, Provider};

/// A model that takes over from one that failed.
pub struct FallbackModel {
    /// The model.
    pub model: Model,
    /// The connection to it.
    pub provider: Box<dyn Provider>,
    /// How much it is asked to think.
    pub thinking: ThinkingLevel,
    /// Says that the level is another one than was asked for; `None` if nobody asked, or if it was
    /// said before.
    pub clamped: Option<ThinkingLevelClampedEvent>,
    /// Values that must not get out.
    pub secrets: Secrets,
    /// Variables that tools do not get.
    pub hidden_variables: Vec<OsString>,
}

/// The models behind the one that answers, in their order.
pub trait FallbackModels: Send + Sync {
    /// The next model that can be asked; `None` after the last. Each is given once.
    fn next(&mut self) -> BoxFuture<'_, Option<FallbackModel>>;

    /// Whether all of them were asked for.
    fn is_exhausted(&self) -> bool;
}

impl Agent {
    /// Whether a model may take over after this failure.
    pub(super) fn has_successor(&self, error: &ModelError) -> bool {
        let chain = self.config.fallback.as_ref();
        error.code != ErrorCode::ContextOverflow && chain.is_some_and(|chain| !chain.is_exhausted())
    }

    /// The model that takes over after this failure, if one does.
    ///
    /// A conversation that is too long is no fault of the model. What the fallback model brings along is
    /// kept from lines from here on, so that whatever tells of it may be written.
    pub(super) async fn fallback_model(&mut self, error: &ModelError) -> Option<FallbackModel> {
        if error.code == ErrorCode::ContextOverflow {
            return None;
        }
        let config = &mut self.config;
        let chain = config.fallback.as_mut()?;
        let mut fallback_model = tokio::select! {
            biased;
            () = config.cancel.cancelled() => None,
            fallback_model = chain.next() => fallback_model,
        }?;
        let secrets = std::mem::take(&mut fallback_model.secrets);
        Arc::make_mut(&mut config.secrets).absorb(secrets);
        let hidden = &mut Arc::make_mut(&mut config.tool_env).hidden_variables;
        for name in std::mem::take(&mut fallback_model.hidden_variables) {
            if !hidden.contains(&name) {
                hidden.push(name);
            }
        }
        Some(fallback_model)
    }

    /// Goes on with another model, for the rest of the conversation.
    pub(super) async fn take_over(&mut self, fallback_model: FallbackModel) -> Result<(), Halt> {
        let FallbackModel {
            model,
            provider,
            thinking,
            clamped,
            ..
        } = fallback_model;
        let config = &mut self.config;
        let original = self.original.get_or_insert_with(|| named(&config.model));
        config
            .session
            .lock()
            .append_fallback(&named(&model), original)?;
        let changed = thinking != config.thinking;
        if changed {
            config.session.lock().append_thinking_level(thinking)?;
        }
        config.model = model;
        config.provider = provider;
        config.thinking = thinking;
        if let Some(background) = &config.background {
            let secrets = Arc::clone(&config.secrets);
            let model = named(&config.model);
            background.manager.follow(model, thinking, secrets);
        }
        if changed {
            let level = thinking;
            self.emit(ThinkingLevelChangedEvent { level }).await?;
        }
        if let Some(clamped) = clamped {
            self.emit(clamped).await?;
        }
        Ok(())
    }
}

/// The model as events and entries name it.
pub(super) fn named(model: &Model) -> ModelRef {
    ModelRef {
        provider: model.provider.clone(),
        id: model.id.clone(),
    }
}
