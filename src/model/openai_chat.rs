//! OpenAI's Chat Completions API, and the many servers that speak it.

mod calls;
mod decode;
mod dialect;
mod request;
mod usage;

use std::sync::Arc;

#[cfg(any(test, fuzzing))]
pub(super) use decode::ChatDecoder;
pub(super) use dialect::effort;
#[cfg(test)]
pub(super) use request::body;

use super::http::{self, Endpoint};
use super::{Model, ModelError, ModelRequest, ModelStream, Provider, Secret, Timeouts, answer};

/// A model behind the Chat Completions API.
#[derive(Debug)]
pub(super) struct OpenAiChat {
    model: Model,
    endpoint: Arc<Endpoint>,
}

impl OpenAiChat {
    pub(super) fn connect(
        model: &Model,
        key: Option<Secret>,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        const PATH: &str = "/chat/completions";
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

impl Provider for OpenAiChat {
    fn stream(&self, request: ModelRequest) -> ModelStream {
        answer::stream(
            &self.endpoint,
            &request::body(&self.model, &request),
            decode::ChatDecoder::new(&self.model.id),
        )
    }
}

#[cfg(test)]
pub(super) mod tests;
