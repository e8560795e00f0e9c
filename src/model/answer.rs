//! From the bytes of an answer to its deltas: what all protocols over server-sent events share.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;

use super::http::{Body, Endpoint};
use super::sse::{SseDecoder, SseEvent};
use super::{ModelDelta, ModelError, ModelStream};
use crate::event::ErrorCode;

/// One protocol's reading of its events.
pub(crate) trait Decoder: Send + 'static {
    /// Takes an event and appends what it says.
    fn event(
        &mut self,
        event: &SseEvent,
        out: &mut VecDeque<ModelDelta>,
    ) -> Result<(), DecodeError>;

    /// Whether the service has said all it had to say. Later bytes are not looked at.
    fn is_finished(&self) -> bool;

    /// Whether nothing essential is missing though the service may go on. A connection that breaks
    /// now takes nothing from the answer.
    fn is_whole(&self) -> bool {
        self.is_finished()
    }

    /// The body has ended; fails if the answer had not.
    fn end(&mut self, out: &mut VecDeque<ModelDelta>) -> Result<(), ModelError>;
}

/// Why an event could not be taken.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// Its data is not JSON, as when it was cut.
    NotJson(String),
    /// Anything else, an error that the service reports included.
    Failed(ModelError),
}

impl From<ModelError> for DecodeError {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Asks with the body, as JSON, and decodes.
pub(crate) fn stream(
    endpoint: &Arc<Endpoint>,
    body: &impl Serialize,
    decoder: impl Decoder,
) -> ModelStream {
    let body = match serde_json::to_vec(body) {
        Ok(body) => Bytes::from(body),
        Err(error) => {
            let text = format!("The request cannot be written as JSON: {error}.");
            let error = ModelError::new(ErrorCode::Internal, text);
            return Box::pin(stream::iter([Err(error)]));
        }
    };
    let answer = Answer {
        endpoint: Arc::clone(endpoint),
        body,
        state: State::Ask,
        reader: Reader::new(decoder),
        queue: VecDeque::new(),
        failure: None,
    };
    Box::pin(stream::unfold(answer, Answer::next))
}

struct Answer<D> {
    endpoint: Arc<Endpoint>,
    /// The request, which no error may repeat.
    body: Bytes,
    state: State,
    reader: Reader<D>,
    queue: VecDeque<ModelDelta>,
    /// Comes after everything in the queue and is the last item.
    failure: Option<ModelError>,
}

enum State {
    Ask,
    Read(Body),
    Done,
}

impl<D: Decoder> Answer<D> {
    /// The error as others may see it.
    fn told(&self, error: ModelError) -> ModelError {
        error
            .without_request(&self.body)
            .scrubbed(self.endpoint.secrets())
    }

    async fn next(mut self) -> Option<(Result<ModelDelta, ModelError>, Self)> {
        loop {
            if let Some(mut delta) = self.queue.pop_front() {
                if let ModelDelta::Finished {
                    refusal: Some(text),
                    ..
                } = &mut delta
                {
                    let error = ModelError::new(ErrorCode::ContentRefused, std::mem::take(text));
                    *text = self.told(error).message;
                }
                return Some((Ok(delta), self));
            }
            if let Some(error) = self.failure.take() {
                self.state = State::Done;
                let error = self.told(error);
                return Some((Err(error), self));
            }
            let step = match &mut self.state {
                State::Done => return None,
                State::Ask => self.endpoint.post(self.body.clone()).await.map(|body| {
                    self.queue.push_back(ModelDelta::Accepted);
                    self.state = State::Read(body);
                }),
                State::Read(body) => match body.chunk().await {
                    Ok(Some(bytes)) => self.reader.bytes(&bytes, &mut self.queue),
                    Ok(None) => {
                        self.state = State::Done;
                        self.reader.end(&mut self.queue)
                    }
                    Err(error) => self.reader.broken(error, &mut self.queue),
                },
            };
            self.failure = step.err();
            if self.failure.is_none() && self.reader.is_finished() {
                self.state = State::Done;
            }
        }
    }
}

/// A protocol's decoder behind the framing.
pub(crate) struct Reader<D> {
    sse: SseDecoder,
    decoder: D,
    events: VecDeque<SseEvent>,
    any: bool,
}

impl<D: Decoder> Reader<D> {
    pub(crate) fn new(decoder: D) -> Self {
        Self {
            sse: SseDecoder::default(),
            decoder,
            events: VecDeque::new(),
            any: false,
        }
    }

    /// Whether the service has said all it had to say.
    pub(crate) fn is_finished(&self) -> bool {
        self.decoder.is_finished()
    }

    /// Takes the next bytes of the body.
    pub(crate) fn bytes(
        &mut self,
        bytes: &[u8],
        out: &mut VecDeque<ModelDelta>,
    ) -> Result<(), ModelError> {
        if self.is_finished() {
            return Ok(());
        }
        let framed = self.sse.push(bytes, &mut self.events);
        while let Some(event) = self.events.pop_front() {
            self.any = true;
            self.decoder
                .event(&event, out)
                .map_err(|error| match error {
                    DecodeError::NotJson(reason) => not_json(&reason),
                    DecodeError::Failed(error) => error,
                })?;
            // Whatever comes after the end, good or bad, is nobody's business.
            if self.is_finished() {
                return Ok(());
            }
        }
        framed.map_err(|error| {
            ModelError::provider(format!("The model service misbehaved: {error}."))
        })
    }

    /// The connection is lost; fails with its error if that takes something from the answer.
    pub(crate) fn broken(
        &mut self,
        error: ModelError,
        out: &mut VecDeque<ModelDelta>,
    ) -> Result<(), ModelError> {
        if self.decoder.is_whole() {
            self.decoder.end(out)
        } else {
            Err(error)
        }
    }

    /// Takes the end of the body.
    pub(crate) fn end(&mut self, out: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        if self.decoder.is_finished() {
            return Ok(());
        }
        if let Some(event) = self.sse.finish() {
            self.any = true;
            match self.decoder.event(&event, out) {
                Ok(()) => {}
                Err(DecodeError::Failed(error)) => return Err(error),
                // Half an event at the end is a cut, not nonsense, and may be one of nothing.
                Err(DecodeError::NotJson(_)) if self.decoder.is_whole() => {}
                Err(DecodeError::NotJson(_)) => return Err(cut_short()),
            }
            if self.decoder.is_finished() {
                return Ok(());
            }
        }
        if !self.any {
            return Err(not_a_stream());
        }
        self.decoder.end(out)
    }
}

/// The data of an event inside an answer is not JSON.
pub(crate) fn not_json(reason: &str) -> ModelError {
    ModelError::provider(format!(
        "The model service sent an event that is not the JSON it should be: {reason}."
    ))
}

/// The body ended properly but the answer did not.
pub(crate) fn cut_short() -> ModelError {
    ModelError::network("The model's stream ended before the answer was complete.")
}

/// The body held no event at all.
pub(crate) fn not_a_stream() -> ModelError {
    ModelError::network("The model service answered without a single event of a stream.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::openai_chat::ChatDecoder;
    use crate::model::sse::MAX_EVENT;

    #[test]
    fn nothing_after_the_end_of_an_answer_can_spoil_it() {
        let answer = "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let mut bytes = answer.as_bytes().to_vec();
        bytes.resize(bytes.len() + MAX_EVENT + 1, b'x');
        let mut out = VecDeque::new();
        let mut reader = Reader::new(ChatDecoder::new("mock-1"));
        assert_eq!(reader.bytes(&bytes, &mut out), Ok(()));
        assert!(matches!(out.back(), Some(ModelDelta::Finished { .. })));
        assert_eq!(reader.bytes(b"data: {\n\n", &mut out), Ok(()));
        assert_eq!(out.len(), 1);
    }
}
