//! An incremental reader of server-sent events.
//!
//! It is our own because the crates for it search their whole buffer again with every chunk, which
//! makes one event of 10 MB that arrives in small chunks quadratic. Here each byte is looked at once.

use std::collections::VecDeque;

/// Most bytes of one event.
pub const MAX_EVENT: usize = 64 * 1024 * 1024;

/// One event of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Value of the `event` field, if there was one.
    pub event: Option<String>,
    /// The `data` lines, joined with `\n`. Bytes that are not UTF-8 are U+FFFD.
    pub data: String,
}

/// An event is larger than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Bytes in, events out, however the bytes are cut.
#[derive(Debug)]
pub struct SseDecoder {
    /// The line whose end has not been seen yet.
    line: Vec<u8>,
    event: Option<Vec<u8>>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR, so an LF that follows belongs to the same line end.
    after_cr: bool,
    first_line: bool,
    limit: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT)
    }
}

impl SseDecoder {
    /// A decoder that refuses events of more than `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: None,
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
            limit,
        }
    }

    /// Takes the next bytes of the body and appends the events that they complete.
    ///
    /// # Errors
    /// [`EventTooLarge`]; the decoder is of no use after it.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut VecDeque<SseEvent>,
    ) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + piece.len() + self.data.len() > self.limit {
                return Err(EventTooLarge { limit: self.limit });
            }
            let Some((&line_end, rest)) = rest.split_first() else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.after_cr = line_end == b'\r';
            bytes = rest;
            if self.line.is_empty() {
                self.take_line(piece, events);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                self.take_line(&line, events);
                // The buffer is kept for the next line unless a huge one has blown it up.
                if line.capacity() <= 64 * 1024 {
                    line.clear();
                    self.line = line;
                }
            }
        }
        Ok(())
    }

    /// The last event if the body ended before the blank line behind it. Its data may be cut.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let mut events = VecDeque::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut events);
        }
        self.take_line(b"", &mut events);
        events.pop_front()
    }

    fn take_line(&mut self, line: &[u8], events: &mut VecDeque<SseEvent>) {
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.first_line => rest,
            _ => line,
        };
        self.first_line = false;
        if line.is_empty() {
            let event = self.event.take();
            let data = std::mem::take(&mut self.data);
            if std::mem::take(&mut self.has_data) {
                events.push_back(SseEvent {
                    event: event.map(into_text),
                    data: into_text(data),
                });
            }
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = Some(value.to_vec()),
            // Comments (no field name), `id`, `retry` and unknown fields say nothing to us.
            _ => {}
        }
    }
}

/// Valid UTF-8, the usual case, is not copied.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::default();
        let mut events = VecDeque::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        events.extend(decoder.finish());
        events.into()
    }

    fn event(name: Option<&str>, data: &str) -> SseEvent {
        SseEvent {
            event: name.map(str::to_owned),
            data: data.to_owned(),
        }
    }

    const MIXED: &str = "\u{feff}event: a\ndata: one\ndata: two\n\n: comment\r\nid: 7\r\nretry: 1\r\n\
        data:no space\r\ndata: more\r\n\r\ndata:  two spaces\r\revent: only a name\n\ndata\n\ndata: \u{e4}\u{1f600}\n\
        unknown: x\nnocolon\n\n\n\nevent: last\ndata: {\"a\":1}";

    fn mixed() -> Vec<SseEvent> {
        vec![
            event(Some("a"), "one\ntwo"),
            event(None, "no space\nmore"),
            event(None, " two spaces"),
            event(None, ""),
            event(None, "\u{e4}\u{1f600}"),
            event(Some("last"), "{\"a\":1}"),
        ]
    }

    #[test]
    fn reads_every_form_of_field_and_line_end() {
        assert_eq!(decode([MIXED.as_bytes()]), mixed());
    }

    #[test]
    fn a_cut_at_any_byte_changes_nothing() {
        let bytes = MIXED.as_bytes();
        for cut in 0..=bytes.len() {
            assert_eq!(
                decode([&bytes[..cut], &bytes[cut..]]),
                mixed(),
                "cut at {cut}"
            );
        }
        assert_eq!(decode(bytes.chunks(1)), mixed());
    }

    #[test]
    fn an_event_is_given_out_as_soon_as_its_blank_line_is_there() {
        for ending in ["\n\n", "\r\r", "\r\n\r"] {
            let mut decoder = SseDecoder::default();
            let mut events = VecDeque::new();
            decoder
                .push(format!("data: x{ending}").as_bytes(), &mut events)
                .unwrap();
            assert_eq!(events, [event(None, "x")], "{ending:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(
            decode([&b"data: a\xFFb\xE4\n\n"[..]]),
            [event(None, "a\u{fffd}b\u{fffd}")]
        );
    }

    #[test]
    fn only_the_start_of_the_body_may_hold_a_byte_order_mark() {
        let text = "data: a\n\n\u{feff}data: b\n\n";
        assert_eq!(decode([text.as_bytes()]), [event(None, "a")]);
    }

    #[test]
    fn an_event_over_the_limit_is_refused_however_it_arrives() {
        for chunk in [1, 7, 100] {
            for text in [
                "data: 0123456789\n\n",
                "data: 01234\ndata: 56789\n\n",
                ":0123456789abcdef",
            ] {
                let mut decoder = SseDecoder::with_limit(12);
                let mut events = VecDeque::new();
                let result = text
                    .as_bytes()
                    .chunks(chunk)
                    .try_for_each(|c| decoder.push(c, &mut events));
                assert_eq!(
                    result,
                    Err(EventTooLarge { limit: 12 }),
                    "{text:?} by {chunk}"
                );
            }
        }
        let mut decoder = SseDecoder::with_limit(12);
        let mut events = VecDeque::new();
        decoder
            .push("data: 12345\n\n".repeat(9).as_bytes(), &mut events)
            .unwrap();
        assert_eq!(events.len(), 9);
    }

    proptest! {
        #[test]
        fn any_cutting_of_any_bytes_gives_the_same_events(
            parts in prop::collection::vec(
                prop_oneof![
                    Just(b"data".to_vec()), Just(b"event".to_vec()), Just(b":".to_vec()),
                    Just(b" ".to_vec()), Just(b"\n".to_vec()), Just(b"\r".to_vec()),
                    Just(b"\r\n".to_vec()), Just(b"\n\n".to_vec()), Just("\u{feff}".as_bytes().to_vec()),
                    Just("\u{1f600}".as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..4),
                ],
                0..60,
            ),
            cuts in prop::collection::vec(1usize..9, 1..20),
        ) {
            let bytes = parts.concat();
            let mut chunks = Vec::new();
            let mut rest = &bytes[..];
            for size in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(decode(chunks), decode([&bytes[..]]));
        }
    }
}
