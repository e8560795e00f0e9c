//! The readers of this room as fuzz targets.

use std::collections::{HashSet, VecDeque};

use super::answer::{Decoder, Reader};
use super::anthropic::MessagesDecoder;
use super::google::GeminiDecoder;
use super::openai_chat::ChatDecoder;
use super::openai_responses::ResponsesDecoder;
use super::sse::{EventTooLarge, SseDecoder, SseEvent};
use super::{ModelDelta, ModelError, TokenUsage};
use crate::event::StopReason;
use crate::fuzz::cuts;

/// The model that is asked for.
const MODEL: &str = "mock-1";
/// A limit that small inputs reach.
const SMALL: usize = 48;

/// An answer of Anthropic's Messages API.
///
/// # Panics
/// When its deltas do not keep what [`ModelDelta`] promises.
pub fn anthropic(data: &[u8]) {
    let _ = answer(|| MessagesDecoder::new(MODEL), data);
}

/// An answer of OpenAI's Chat Completions API.
///
/// # Panics
/// When its deltas do not keep what [`ModelDelta`] promises.
pub fn openai_chat(data: &[u8]) {
    let _ = answer(|| ChatDecoder::new(MODEL), data);
}

/// An answer of OpenAI's Responses API.
///
/// # Panics
/// When its deltas do not keep what [`ModelDelta`] promises.
pub fn openai_responses(data: &[u8]) {
    let _ = answer(|| ResponsesDecoder::new(MODEL), data);
}

/// An answer of Google's Gemini API.
///
/// # Panics
/// When its deltas do not keep what [`ModelDelta`] promises.
pub fn google(data: &[u8]) {
    let _ = answer(|| GeminiDecoder::new(MODEL), data);
}

/// The framing of all four: the events are those of a reader that takes the bytes as a whole, and
/// with a limit they are the same up to the first that is larger.
///
/// # Panics
/// When that does not hold.
pub fn sse(data: &[u8]) {
    let expected = plain_sse(data);
    let whole = |limit| frame(limit, [data]);
    let usual = super::sse::MAX_EVENT;
    assert_eq!(whole(usual), (expected.clone(), None), "in one piece");
    let (events, error) = whole(SMALL);
    assert!(expected.starts_with(&events), "other events with a limit");
    assert!(error.is_some() || events == expected, "events are lost");
    for event in &events {
        // Bytes that are no text become longer.
        assert!(event.data.len() <= 3 * SMALL, "over the limit");
    }
    for limit in [usual, SMALL] {
        let whole = whole(limit);
        assert_eq!(frame(limit, data.chunks(1)), whole, "byte by byte");
        for cut in cuts(data) {
            let (head, rest) = data.split_at(cut);
            assert_eq!(frame(limit, [head, rest]), whole, "cut at {cut}");
        }
    }
}

fn frame<'a>(
    limit: usize,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<SseEvent>, Option<EventTooLarge>) {
    let mut decoder = SseDecoder::with_limit(limit);
    let mut events = VecDeque::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events.into(), Some(error));
        }
    }
    events.extend(decoder.finish());
    (events.into(), None)
}

/// The same by the words of the standard, from the whole body; but an event at the very end needs no
/// blank line behind it.
fn plain_sse(body: &[u8]) -> Vec<SseEvent> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut lines = vec![Vec::new()];
    let mut bytes = body.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' | b'\n' => {
                if byte == b'\r' {
                    bytes.next_if_eq(&b'\n');
                }
                lines.push(Vec::new());
            }
            byte => lines
                .last_mut()
                .into_iter()
                .for_each(|line| line.push(byte)),
        }
    }
    lines.push(Vec::new());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut events = Vec::new();
    let (mut name, mut data) = (None, Vec::new());
    for line in lines {
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let field = halves.next().unwrap_or_default();
        let value = halves.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            _ if line.is_empty() => {
                let name = name.take();
                let lines = std::mem::take(&mut data);
                if !lines.is_empty() {
                    events.push(SseEvent {
                        event: name,
                        data: lines.join("\n"),
                    });
                }
            }
            b"data" => data.push(text(value)),
            b"event" => name = Some(text(value)),
            _ => {}
        }
    }
    events
}

/// What came of an answer: its deltas, and the failure that ended it.
type Read = (Vec<ModelDelta>, Option<ModelError>);

/// Reads the bytes as a whole, in pieces, and as if the connection broke between them.
fn answer<D: Decoder>(decoder: impl Fn() -> D, data: &[u8]) -> Read {
    let whole = read(Reader::new(decoder()), [data], false);
    judge(&whole);
    let told = plain(&whole);
    let bytewise = read(Reader::new(decoder()), data.chunks(1), false);
    assert_eq!(plain(&bytewise), told, "byte by byte");
    for cut in cuts(data) {
        let (head, rest) = data.split_at(cut);
        let pieces = read(Reader::new(decoder()), [head, rest], false);
        assert_eq!(plain(&pieces), told, "cut at {cut}");
        let (deltas, error) = read(Reader::new(decoder()), [head], true);
        judge(&(deltas, error));
    }
    whole
}

/// As the provider's stream reads: up to the end of the answer or the first failure.
fn read<'a, D: Decoder>(
    mut reader: Reader<D>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    breaks: bool,
) -> Read {
    let mut out = VecDeque::new();
    for piece in pieces {
        let taken = reader.bytes(piece, &mut out);
        if taken.is_err() || reader.is_finished() {
            return (out.into(), taken.err());
        }
    }
    let end = if breaks {
        reader.broken(ModelError::network("lost"), &mut out)
    } else {
        reader.end(&mut out)
    };
    (out.into(), end.err())
}

/// With all ids that were made here alike: they are new each time.
fn plain((deltas, error): &Read) -> Read {
    let deltas = deltas.iter().cloned().map(|delta| match delta {
        ModelDelta::ToolcallStart { index, id, name } => {
            let made = id.strip_prefix("call_").is_some_and(|rest| {
                let rest = rest.as_bytes();
                rest.len() >= 32 && rest[..32].iter().all(u8::is_ascii_hexdigit)
            });
            let id = if made { "made".to_owned() } else { id };
            ModelDelta::ToolcallStart { index, id, name }
        }
        other => other,
    });
    (deltas.collect(), error.clone())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Block {
    Text,
    Thinking { pieces: bool },
    Call,
    Ended,
}

/// Fails unless the deltas keep what [`ModelDelta`] promises.
fn judge((deltas, error): &Read) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut ids = HashSet::new();
    let mut usage: Option<TokenUsage> = None;
    let mut finished = false;
    for delta in deltas {
        assert!(!finished, "{delta:?} after the end");
        match delta {
            ModelDelta::Accepted => panic!("accepted by a decoder"),
            ModelDelta::ResponseId(text) | ModelDelta::ResponseModel(text) => {
                assert!(!text.is_empty(), "nothing in {delta:?}");
            }
            ModelDelta::TextStart { index } => begin(&mut blocks, *index, Block::Text),
            ModelDelta::ThinkingStart { index } => {
                begin(&mut blocks, *index, Block::Thinking { pieces: false });
            }
            ModelDelta::ToolcallStart { index, id, .. } => {
                assert!(!id.is_empty(), "a call without an id");
                assert!(ids.insert(id), "the id {id} twice");
                begin(&mut blocks, *index, Block::Call);
            }
            ModelDelta::TextDelta { index, delta } => {
                assert!(!delta.is_empty(), "an empty piece of block {index}");
                assert_eq!(blocks.get(*index), Some(&Block::Text), "block {index}");
            }
            ModelDelta::ThinkingDelta { index, delta } => {
                assert!(!delta.is_empty(), "an empty piece of block {index}");
                match blocks.get_mut(*index) {
                    Some(Block::Thinking { pieces }) => *pieces = true,
                    other => panic!("a thought for {other:?}"),
                }
            }
            ModelDelta::ToolcallDelta { index, delta } => {
                assert!(!delta.is_empty(), "an empty piece of block {index}");
                assert_eq!(blocks.get(*index), Some(&Block::Call), "block {index}");
            }
            ModelDelta::ToolcallSignature { index, signature } => {
                assert!(!signature.is_empty(), "an empty signature of block {index}");
                assert_eq!(blocks.get(*index), Some(&Block::Call), "block {index}");
            }
            ModelDelta::TextEnd { index, signature } => {
                assert_ne!(signature.as_deref(), Some(""), "block {index}");
                assert_eq!(end(&mut blocks, *index), Block::Text, "block {index}");
            }
            ModelDelta::ThinkingEnd {
                index,
                signature,
                redacted,
            } => {
                assert_ne!(signature.as_deref(), Some(""), "block {index}");
                match end(&mut blocks, *index) {
                    Block::Thinking { pieces } => assert!(!(pieces && *redacted), "{delta:?}"),
                    other => panic!("the end of a thought for {other:?}"),
                }
            }
            ModelDelta::ToolcallEnd { index } => {
                assert_eq!(end(&mut blocks, *index), Block::Call, "block {index}");
            }
            ModelDelta::Usage(counts) => {
                assert_ne!(
                    usage.replace(*counts),
                    Some(*counts),
                    "the same usage again"
                );
            }
            ModelDelta::Finished {
                stop_reason,
                refusal,
            } => {
                finished = true;
                assert!(
                    blocks.iter().all(|block| *block == Block::Ended),
                    "open at the end: {blocks:?}"
                );
                let is_refusal = *stop_reason == StopReason::Error;
                assert_eq!(refusal.is_some(), is_refusal, "{delta:?}");
            }
        }
    }
    assert_eq!(finished, error.is_none(), "finished, or failed: {error:?}");
    if let Some(error) = error {
        assert!(!error.message.is_empty(), "a failure without a word");
    }
}

fn begin(blocks: &mut Vec<Block>, index: usize, block: Block) {
    assert_eq!(index, blocks.len(), "the index of a new block");
    blocks.push(block);
}

/// Gives what the block was.
fn end(blocks: &mut [Block], index: usize) -> Block {
    match blocks.get_mut(index) {
        Some(block) => std::mem::replace(block, Block::Ended),
        None => panic!("the end of block {index}, which never began"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::tests::seeds;

    fn finished<D: Decoder>(folder: &str, decoder: impl Fn() -> D) {
        let good = seeds(folder);
        let good = good.iter().filter(|(name, _)| name.starts_with("good"));
        let mut count = 0;
        for (name, bytes) in good {
            let (_, error) = answer(&decoder, bytes);
            assert_eq!(error, None, "{folder}/{name}");
            count += 1;
        }
        assert!(count >= 2, "good seeds in {folder}: {count}");
    }

    /// Else the seeds would not lead far into the decoders.
    #[test]
    fn good_seeds_are_whole_answers() {
        finished("anthropic", || MessagesDecoder::new(MODEL));
        finished("google", || GeminiDecoder::new(MODEL));
        finished("openai_chat", || ChatDecoder::new(MODEL));
        finished("openai_responses", || ResponsesDecoder::new(MODEL));
    }
}
