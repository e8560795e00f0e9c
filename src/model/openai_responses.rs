//! OpenAI's Responses API, and servers that speak it.

mod decode;
mod request;
mod usage;

use std::sync::Arc;

#[cfg(test)]
pub(super) use request::body;

use super::http::{self, Endpoint};
use super::{Model, ModelError, ModelRequest, ModelStream, Provider, Secret, Timeouts, answer};
#[cfg(any(test, fuzzing))]
pub(super) use decode::ResponsesDecoder;

/// A model behind the Responses API.
#[derive(Debug)]
pub(super) struct OpenAiResponses {
    model: Model,
    endpoint: Arc<Endpoint>,
}

impl OpenAiResponses {
    pub(super) fn connect(
        model: &Model,
        key: Option<Secret>,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        const PATH: &str = "/responses";
        let mut url = http::base_url(&model.base_url)?;
        let path = url.path().trim_end_matches('/');
        let path = format!("{}{PATH}", path.strip_suffix(PATH).unwrap_or(path));
        url.set_path(&path);
        let key = key.map(|key| ("authorization", format!("Bearer {}", key.expose())));
        let endpoint = Endpoint::new(url, &[], key, &model.headers, timeouts)?;
        Ok(Self {
            model: model.clone(),
            endpoint: Arc::new(endpoint),
        })
    }
}

impl Provider for OpenAiResponses {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        answer::stream(
            &self.endpoint,
            &request::body(&self.model, &request),
            decode::ResponsesDecoder::new(&self.model.id),
        )
    }
}

#[cfg(test)]
pub(super) mod tests;
