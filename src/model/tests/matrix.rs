//! One answer in every form that its bytes may have, for each API.
//!
//! The forms are made from the fixture of the API, and each has to give the deltas of the fixture
//! itself. They are named in the tables of `generated/docs/apis.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;

use flate2::Compression;
use flate2::write::GzEncoder;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::event::ErrorCode;
use crate::model::http::tests::serve_each;
use crate::model::sse::{SseDecoder, SseEvent};
use crate::model::tests::{collect, model, request, user};
use crate::model::{Api, Model, ModelDelta as D, ModelError, Secret, Timeouts, connect};
use crate::model::{anthropic, google, openai_chat, openai_responses};

type Decoded = (Vec<D>, Option<ModelError>);

/// An API with its answer of every kind of block.
pub(super) struct Service {
    pub(super) api: &'static str,
    decode: fn(&[&[u8]]) -> Decoded,
    everything: fn() -> (String, Vec<D>),
}

pub(super) const SERVICES: [Service; 4] = [
    Service {
        api: "anthropic-messages",
        decode: anthropic::tests::decode,
        everything: anthropic::tests::everything,
    },
    Service {
        api: "openai-completions",
        decode: openai_chat::tests::decode,
        everything: openai_chat::tests::everything,
    },
    Service {
        api: "openai-responses",
        decode: openai_responses::tests::decode,
        everything: openai_responses::tests::everything,
    },
    Service {
        api: "google-generative-ai",
        decode: google::tests::decode,
        everything: google::tests::everything,
    },
];

impl Service {
    pub(super) fn model(&self, url: &str) -> Model {
        Model {
            api: Api::from(self.api),
            ..model(url)
        }
    }

    fn decode(&self, chunks: &[&[u8]]) -> Decoded {
        let (deltas, error) = (self.decode)(chunks);
        (google::tests::without_made_ids(deltas), error)
    }

    #[track_caller]
    fn check(&self, what: &str, chunks: &[&[u8]], expected: &[D]) {
        let (got, error) = self.decode(chunks);
        assert_eq!(error, None, "{}, {what}", self.api);
        assert_eq!(got, expected, "{}, {what}", self.api);
    }
}

/// Another form of an answer.
struct Form {
    name: &'static str,
    write: fn(&[SseEvent]) -> String,
}

const FORMS: [Form; 17] = [
    Form {
        name: "LF",
        write: plain,
    },
    Form {
        name: "CRLF",
        write: |events| plain(events).replace('\n', "\r\n"),
    },
    Form {
        name: "CR",
        write: |events| plain(events).replace('\n', "\r"),
    },
    Form {
        name: "a byte order mark",
        write: |events| format!("\u{feff}{}", plain(events)),
    },
    Form {
        name: "comments, pings, ids and retry times",
        write: |events| {
            let ping = ": keep-alive\n\nid: 7\nretry: 100\n\n:\nevent: ping\ndata: {\"type\":\"ping\"}\n\n";
            events
                .iter()
                .map(|event| ping.to_owned() + &one(event))
                .collect()
        },
    },
    Form {
        name: "empty events",
        write: |events| {
            let empty = |event| format!("data:\n\n{}event: x\ndata\n\n", one(event));
            events.iter().map(empty).collect()
        },
    },
    Form {
        name: "no newline at the end",
        write: |events| plain(events).trim_end().to_owned(),
    },
    Form {
        name: "`data:` without a space",
        write: |events| plain(events).replace("\ndata: ", "\ndata:"),
    },
    Form {
        name: "data before the name of the event",
        write: |events| {
            let turned = |event: &SseEvent| {
                let name = event.event.as_ref();
                let name = name.map_or_else(String::new, |name| format!("event:{name}\n"));
                format!("data: {}\n{name}\n", event.data)
            };
            events.iter().map(turned).collect()
        },
    },
    Form {
        name: "events without names",
        write: |events| {
            let bare = |event: &SseEvent| format!("data: {}\n\n", event.data);
            events.iter().map(bare).collect()
        },
    },
    Form {
        name: "data over several lines",
        write: |events| {
            each(events, |value, _| {
                serde_json::to_string_pretty(value).unwrap()
            })
        },
    },
    Form {
        name: "non-ASCII text as escapes",
        write: |events| each(events, |value, _| escaped(&value.to_string())),
    },
    Form {
        name: "keys in another order",
        write: |events| {
            each(events, |value, _| {
                reversed(value);
                value.to_string()
            })
        },
    },
    Form {
        name: "null where a key may be absent",
        write: |events| {
            each(events, |value, known| {
                known.fill(value, "");
                value.to_string()
            })
        },
    },
    Form {
        name: "keys that nobody knows",
        write: |events| {
            each(events, |value, _| {
                enrich(value);
                value.to_string()
            })
        },
    },
    Form {
        name: "unknown types of events",
        write: |events| {
            let news =
                "event: weather_report\ndata: {\"type\":\"weather_report\",\"sunny\":[true]}\n\n";
            events
                .iter()
                .map(|event| news.to_owned() + &one(event))
                .collect()
        },
    },
    Form {
        name: "all of it at once",
        write: |events| {
            let text = each(events, |value, known| {
                known.fill(value, "");
                enrich(value);
                reversed(value);
                escaped(&serde_json::to_string_pretty(value).unwrap())
            });
            let text = text
                .replace("data: ", "data:")
                .replace("\n\n", "\n\n: hi\n\n");
            text.trim_end().replace('\n', "\r\n")
        },
    },
];

fn events(text: &str) -> Vec<SseEvent> {
    let mut decoder = SseDecoder::default();
    let mut events = std::collections::VecDeque::new();
    decoder.push(text.as_bytes(), &mut events).unwrap();
    events.extend(decoder.finish());
    events.into()
}

fn one(event: &SseEvent) -> String {
    let mut text = String::new();
    if let Some(name) = &event.event {
        writeln!(text, "event: {name}").unwrap();
    }
    for line in event.data.lines() {
        writeln!(text, "data: {line}").unwrap();
    }
    text + "\n"
}

fn plain(events: &[SseEvent]) -> String {
    events.iter().map(one).collect()
}

/// The answer with the data of each event, where it is JSON, written anew.
fn each(events: &[SseEvent], write: impl Fn(&mut Value, &Known) -> String) -> String {
    let parse = |event: &SseEvent| serde_json::from_str::<Value>(&event.data).ok();
    let mut known = Known::default();
    for event in events {
        if let Some(value) = parse(event) {
            known.learn(&value, "");
        }
    }
    let events: Vec<_> = events
        .iter()
        .map(|event| SseEvent {
            event: event.event.clone(),
            data: parse(event)
                .map_or_else(|| event.data.clone(), |mut value| write(&mut value, &known)),
        })
        .collect();
    plain(&events)
}

/// Non-ASCII characters as Python's `json` writes them.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for unit in text.encode_utf16() {
        match u8::try_from(unit).ok().filter(u8::is_ascii) {
            Some(ascii) => escaped.push(char::from(ascii)),
            None => write!(escaped, "\\u{unit:04x}").unwrap(),
        }
    }
    escaped
}

/// What goes on as it came: arguments of calls, and items that are sent back whole.
fn is_payload(key: &str, value: &Value) -> bool {
    matches!(key, "args" | "input" | "citation") || value.get("encrypted_content").is_some()
}

/// The objects and lists inside a value that are not payload, each with its key.
fn inner(value: &mut Value) -> Vec<(&str, &mut Value)> {
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .filter(|(key, value)| !is_payload(key, value))
            .map(|(key, value)| (key.as_str(), value))
            .collect(),
        Value::Array(items) => items.iter_mut().map(|item| ("*", item)).collect(),
        _ => Vec::new(),
    }
}

fn reversed(value: &mut Value) {
    for (_, value) in inner(value) {
        reversed(value);
    }
    if let Value::Object(fields) = value {
        *fields = std::mem::take(fields).into_iter().rev().collect();
    }
}

fn enrich(value: &mut Value) {
    for (_, value) in inner(value) {
        enrich(value);
    }
    if let Value::Object(fields) = value {
        fields.insert("x_new".into(), serde_json::json!({ "deep": [1, null] }));
    }
}

/// The keys that objects have at each place of an answer.
#[derive(Default)]
struct Known(BTreeMap<String, Map<String, Value>>);

impl Known {
    fn learn(&mut self, value: &Value, place: &str) {
        let mut value = value.clone();
        if let Value::Object(fields) = &value {
            let known = self.0.entry(place.to_owned()).or_default();
            known.extend(fields.keys().map(|key| (key.clone(), Value::Null)));
            // What a service may well send along with what went well.
            if place.is_empty() {
                known.insert("error".to_owned(), Value::Null);
            }
        }
        for (key, value) in inner(&mut value) {
            self.learn(value, &format!("{place}/{key}"));
        }
    }

    fn fill(&self, value: &mut Value, place: &str) {
        for (key, value) in inner(value) {
            self.fill(value, &format!("{place}/{key}"));
        }
        if let (Value::Object(fields), Some(known)) = (value, self.0.get(place)) {
            for key in known.keys() {
                fields.entry(key.clone()).or_insert(Value::Null);
            }
        }
    }
}

#[test]
fn every_form_gives_the_same_deltas() {
    for service in &SERVICES {
        let (text, expected) = (service.everything)();
        let events = events(&text);
        for form in &FORMS {
            let text = (form.write)(&events);
            for piece in [usize::MAX, 1, 2, 3, 7] {
                let chunks: Vec<&[u8]> = text.as_bytes().chunks(piece).collect();
                let what = format!("{} in pieces of {piece} bytes", form.name);
                service.check(&what, &chunks, &expected);
            }
        }
    }
}

/// A form that changes nothing shows nothing.
#[test]
fn every_form_is_another_one() {
    for form in FORMS.iter().filter(|form| form.name != "LF") {
        let differs = |service: &Service| {
            let events = events(&(service.everything)().0);
            (form.write)(&events) != plain(&events)
        };
        assert!(SERVICES.iter().any(differs), "{}", form.name);
    }
}

#[test]
fn a_cut_between_any_two_bytes_changes_nothing() {
    for service in &SERVICES {
        let (text, expected) = (service.everything)();
        let events = events(&text);
        for form in [&FORMS[0], &FORMS[1]] {
            let text = (form.write)(&events);
            for cut in 0..=text.len() {
                let (one, other) = text.as_bytes().split_at(cut);
                let (got, error) = service.decode(&[one, other]);
                // Not the macro for equality: it would show two long lists.
                let api = service.api;
                assert!(
                    got == expected && error.is_none(),
                    "{api}, {} cut at {cut}: {error:?}",
                    form.name
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn any_cutting_of_any_form_gives_the_same_deltas(
        service in 0..SERVICES.len(),
        form in 0..FORMS.len(),
        sizes in prop::collection::vec(1usize..90, 1..40),
    ) {
        let service = &SERVICES[service];
        let (text, expected) = (service.everything)();
        let text = (FORMS[form].write)(&events(&text));
        let mut rest = text.as_bytes();
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(service.decode(&chunks), (expected, None));
    }
}

/// Without its end an answer is worth another try; as soon as it is there, it is the whole answer.
#[test]
fn a_body_that_ends_at_any_byte_is_a_cut_or_the_whole_answer() {
    let content = |deltas: &[D]| -> Vec<D> {
        // The counts come last, and an answer is one without them too.
        let counts = |delta: &&D| !matches!(delta, D::Usage(_));
        deltas.iter().filter(counts).cloned().collect()
    };
    for service in &SERVICES {
        let (text, expected) = (service.everything)();
        let mut whole = 0;
        for cut in 0..text.len() {
            let what = format!("{} ends at {cut}", service.api);
            let (got, error) = service.decode(&[&text.as_bytes()[..cut]]);
            if let Some(error) = error {
                let sort = (error.code, error.retryable);
                assert_eq!(sort, (ErrorCode::Network, true), "{what}: {error}");
                let is_end = |delta: &D| matches!(delta, D::Finished { .. });
                assert!(!got.iter().any(is_end), "{what}");
                assert_eq!(whole, 0, "{what}: it was whole before");
            } else {
                whole += 1;
                assert_eq!(content(&got), content(&expected), "{what}");
            }
        }
        assert!(whole > 0, "{}", service.api);
    }
}

/// An answer over HTTP whose body comes in these pieces.
fn http<'a>(headers: &str, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n{headers}\r\n"
    )
    .into_bytes();
    for piece in pieces.into_iter().chain([&b""[..]]) {
        answer.extend(format!("{:x}\r\n", piece.len()).bytes());
        answer.extend(piece);
        answer.extend(b"\r\n");
    }
    answer
}

/// Compressed as a service does it that sends each event at once.
fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    for event in text.split_inclusive("\n\n") {
        gzip.write_all(event.as_bytes()).unwrap();
        gzip.flush().unwrap();
    }
    gzip.finish().unwrap()
}

#[tokio::test]
async fn a_connection_that_breaks_is_a_cut_unless_nothing_was_to_come() {
    for service in &SERVICES {
        let (text, expected) = (service.everything)();
        let ends: Vec<usize> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
        let ends = if ends.is_empty() {
            text.match_indices("\r\n\r\n")
                .map(|(at, _)| at + 4)
                .collect()
        } else {
            ends
        };
        let answers: Vec<Vec<u8>> = ends
            .iter()
            .map(|end| {
                let whole = http("", [&text.as_bytes()[..*end]]);
                whole.strip_suffix(b"0\r\n\r\n").unwrap().to_vec()
            })
            .collect();
        let answers = Mutex::new(answers.into_iter());
        let url = serve_each(move |_| answers.lock().unwrap().next().unwrap_or_default()).await;
        let asked = connect(&service.model(&url), None, Timeouts::default()).unwrap();
        let mut is_whole = Vec::new();
        for end in ends {
            let what = format!("{} breaks at {end}", service.api);
            let got = collect(asked.stream(request(vec![user("hi")]))).await;
            is_whole.push(got.iter().all(Result::is_ok));
            match got.into_iter().last().unwrap() {
                Ok(last) => assert_eq!(Some(&last), expected.last(), "{what}"),
                Err(error) => assert_eq!(error.code, ErrorCode::Network, "{what}"),
            }
        }
        assert!(is_whole.is_sorted() && !is_whole[0] && is_whole[is_whole.len() - 1]);
    }
}

/// Where each fixture says this word, a text of a megabyte may stand.
const WORD: &str = "Grüße";

async fn over_a_connection(service: &Service) {
    let (text, expected) = (service.everything)();
    let events = events(&text);
    let mut cases = Vec::new();
    for form in &FORMS {
        let text = (form.write)(&events);
        cases.push((
            format!("{} at once", form.name),
            http("", [text.as_bytes()]),
        ));
        cases.push((
            format!("{} byte by byte", form.name),
            http("", text.as_bytes().chunks(1)),
        ));
        cases.push((
            format!("{} as gzip", form.name),
            http("content-encoding: gzip\r\n", gzip(&text).chunks(5)),
        ));
    }
    // Without a connection every cut is tried.
    for cut in (1..text.len()).step_by(41) {
        let (one, other) = text.as_bytes().split_at(cut);
        cases.push((format!("cut at {cut}"), http("", [one, other])));
    }
    let big = "ü".repeat(1 << 19);
    let large = text.replace(WORD, &big);
    let large_expected: Vec<D> = expected
        .iter()
        .map(|delta| match delta {
            D::TextDelta { index, delta } => D::TextDelta {
                index: *index,
                delta: delta.replace(WORD, &big),
            },
            other => other.clone(),
        })
        .collect();
    let small = cases.len();
    for piece in [usize::MAX, 1 << 20, 1 << 14] {
        let answer = http("", large.as_bytes().chunks(piece));
        cases.push((format!("a large text by {piece} bytes"), answer));
    }
    let answer = http("content-encoding: gzip\r\n", gzip(&large).chunks(1 << 14));
    cases.push(("a large text as gzip".to_owned(), answer));

    let (names, answers): (Vec<String>, Vec<Vec<u8>>) = cases.into_iter().unzip();
    let answers = Mutex::new(answers.into_iter());
    let url = serve_each(move |_| answers.lock().unwrap().next().unwrap_or_default()).await;
    let key = Some(Secret::new("canary-key-123"));
    let asked = connect(&service.model(&url), key, Timeouts::default()).unwrap();
    for (at, name) in names.iter().enumerate() {
        let got: Result<Vec<D>, ModelError> = collect(asked.stream(request(vec![user("hi")])))
            .await
            .into_iter()
            .collect();
        let got = got.unwrap_or_else(|error| panic!("{}, {name}: {error}", service.api));
        let expected = if at < small {
            &expected
        } else {
            &large_expected
        };
        assert_eq!(got[0], D::Accepted, "{}, {name}", service.api);
        let got = google::tests::without_made_ids(got);
        assert!(got[1..] == expected[..], "{}, {name}", service.api);
    }
}

#[tokio::test]
async fn anthropic_messages_over_a_connection() {
    over_a_connection(&SERVICES[0]).await;
}

#[tokio::test]
async fn openai_completions_over_a_connection() {
    over_a_connection(&SERVICES[1]).await;
}

#[tokio::test]
async fn openai_responses_over_a_connection() {
    over_a_connection(&SERVICES[2]).await;
}

#[tokio::test]
async fn google_generative_ai_over_a_connection() {
    over_a_connection(&SERVICES[3]).await;
}
