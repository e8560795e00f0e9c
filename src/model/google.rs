//! Google's Gemini API, and services that speak it.

mod decode;
mod generation;
mod request;

use std::sync::Arc;

#[cfg(test)]
pub(super) use request::body;

use super::http::{self, Endpoint};
use super::{Model, ModelError, ModelRequest, ModelStream, Provider, Secret, Timeouts, answer};
use crate::event::ThinkingLevel;
#[cfg(any(test, fuzzing))]
pub(super) use decode::GeminiDecoder;
use generation::Generation;

/// Whether the model is known to have no such level, of those up to `high`.
pub(super) fn lacks(model: &Model, level: ThinkingLevel) -> bool {
    Generation::of(&model.id).lacks(level)
}

/// A model behind the Gemini API.
#[derive(Debug)]
pub(super) struct Google {
    model: Model,
    endpoint: Arc<Endpoint>,
}

impl Google {
    pub(super) fn connect(
        model: &Model,
        key: Option<Secret>,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let mut url = http::base_url(&model.base_url)?;
        let id = if model.id.starts_with("models/") || model.id.starts_with("tunedModels/") {
            model.id.clone()
        } else {
            format!("models/{}", model.id)
        };
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/models").unwrap_or(path);
        let path = format!("{path}/{id}:streamGenerateContent");
        url.set_path(&path);
        // Without it the answer is one long JSON array.
        url.query_pairs_mut().append_pair("alt", "sse");
        let key = key.map(|key| {
            if model.auth_header {
                ("authorization", format!("Bearer {}", key.expose()))
            } else {
                ("x-goog-api-key", key.expose().to_owned())
            }
        });
        let endpoint = Endpoint::new(url, &[], key, &model.headers, timeouts)?;
        Ok(Self {
            model: model.clone(),
            endpoint: Arc::new(endpoint),
        })
    }
}

impl Provider for Google {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        answer::stream(
            &self.endpoint,
            &request::body(&self.model, &request),
            decode::GeminiDecoder::new(&self.model.id),
        )
    }
}

#[cfg(test)]
pub(super) mod tests;
