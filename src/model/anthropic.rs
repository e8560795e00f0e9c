//! Anthropic's Messages API, and services that speak it.

mod decode;
mod request;

use std::sync::Arc;

use super::http::{self, Endpoint};
use super::{Model, ModelError, ModelRequest, ModelStream, Provider, Secret, Timeouts, answer};
#[cfg(any(test, fuzzing))]
pub(super) use decode::MessagesDecoder;

pub(super) use decode::stop_reason;
pub(super) use request::{body, has_room};

/// A model behind the Messages API.
#[derive(Debug)]
pub(super) struct Anthropic {
    model: Model,
    endpoint: Arc<Endpoint>,
}

impl Anthropic {
    pub(super) fn connect(
        model: &Model,
        key: Option<Secret>,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let mut url = http::base_url(&model.base_url)?;
        // Both forms are in use: with the version, as others want it, and without.
        let path = url.path().trim_end_matches('/');
        let path = format!("{}/v1/messages", path.strip_suffix("/v1").unwrap_or(path));
        url.set_path(&path);
        let key = key.map(|key| {
            if model.auth_header {
                ("authorization", format!("Bearer {}", key.expose()))
            } else {
                ("x-api-key", key.expose().to_owned())
            }
        });
        let endpoint = Endpoint::new(
            url,
            &[("anthropic-version", "2023-06-01")],
            key,
            &model.headers,
            timeouts,
        )?;
        Ok(Self {
            model: model.clone(),
            endpoint: Arc::new(endpoint),
        })
    }
}

impl Provider for Anthropic {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        answer::stream(
            &self.endpoint,
            &body(&self.model, &request),
            decode::MessagesDecoder::new(&self.model.id),
        )
    }
}

#[cfg(test)]
pub(super) mod tests;
