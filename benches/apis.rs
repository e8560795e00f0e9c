//! What reading an answer costs beyond its bytes, for each API: `cargo bench --bench apis`.
//!
//! A server in this process sends the same answer over loopback to the client of the API and to a bare
//! loop on reqwest that only counts bytes. First the processor time of the reading thread, with a
//! server that sends as fast as it can; then the time from a delta that the service writes each
//! millisecond to the line of the program, beside the time to the bytes in the bare loop.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use quipu::event::{ThinkingLevel, UserMessage};
use quipu::model::{Api, Model, ModelDelta, ModelRequest, Timeouts, connect};
use reqwest::Client;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Deltas of an answer that comes as fast as it can.
const DELTAS: usize = 10_000;
/// The best of so many rounds counts, as others may use the machine.
const ROUNDS: usize = 9;
/// Deltas of an answer that comes slowly, one each `PACE`.
const SLOW_DELTAS: usize = 2000;
const PACE: Duration = Duration::from_millis(1);

const APIS: [Api; 4] = [
    Api::AnthropicMessages,
    Api::OpenAiCompletions,
    Api::OpenAiResponses,
    Api::GoogleGenerativeAi,
];

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let client = Client::builder().no_proxy().build().expect("a client");

    println!("processor time of {DELTAS} deltas    bytes     bare     ours  ratio");
    for api in APIS {
        let events = answer(&api, DELTAS);
        let bytes: usize = events.iter().map(String::len).sum();
        // In turns, so that both see the same machine.
        let (mut bare, mut ours) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            let server = serve(events.clone(), None);
            bare = bare.min(busy(|| count_bytes(&runtime, &client, &server, bytes)));
            server.end();
            let server = serve(events.clone(), None);
            ours = ours.min(busy(|| count_deltas(&runtime, &api, &server)));
            server.end();
        }
        println!(
            "{:<30} {:>6} KB {:>5.1} ms {:>5.1} ms {:>6.2}",
            api.as_str(),
            bytes / 1000,
            bare.as_secs_f64() * 1e3,
            ours.as_secs_f64() * 1e3,
            ours.as_secs_f64() / bare.as_secs_f64(),
        );
    }

    println!();
    println!("from a delta of the service         to the bytes       to the line");
    println!("each ms                            median    99 %     median    99 %   added");
    for api in APIS {
        let events = answer(&api, SLOW_DELTAS);
        let server = serve(events.clone(), Some(PACE));
        let arrivals = bytes_arrive(&runtime, &client, &server);
        let bare = Latencies::of(&events, &server.end(), &arrivals);
        let server = serve(events.clone(), Some(PACE));
        let arrivals = lines_arrive(&api, &server);
        let ours = Latencies::of(&events, &server.end(), &arrivals);
        println!(
            "{:<30} {:>7} µs {:>4} µs {:>7} µs {:>4} µs {:>4} µs",
            api.as_str(),
            bare.median.as_micros(),
            bare.late.as_micros(),
            ours.median.as_micros(),
            ours.late.as_micros(),
            ours.median.saturating_sub(bare.median).as_micros(),
        );
    }
}

/// The events of an answer whose text comes in numbered pieces.
fn answer(api: &Api, deltas: usize) -> Vec<String> {
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    let bare = |event: &Value| format!("data: {event}\n\n");
    let pieces = (0..deltas).map(|number| format!("n{number}; "));
    match api {
        Api::AnthropicMessages => {
            let mut events = vec![
                named(&json!({"type": "message_start", "message": {
                    "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant",
                    "model": "m", "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 25, "output_tokens": 1}}})),
                named(&json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "text", "text": ""}})),
            ];
            events.extend(pieces.map(|text| {
                named(&json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "text_delta", "text": text}}))
            }));
            events.extend([
                named(&json!({"type": "content_block_stop", "index": 0})),
                named(
                    &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn",
                    "stop_sequence": null}, "usage": {"output_tokens": deltas}}),
                ),
                named(&json!({"type": "message_stop"})),
            ]);
            events
        }
        Api::OpenAiCompletions => {
            let chunk = |delta: &Value, finish: Option<&str>| {
                bare(&json!({"id": "chatcmpl-AyPNinnUqUDYo9SAdA52NobMflmj2",
                    "object": "chat.completion.chunk", "created": 1_738_960_610, "model": "m",
                    "service_tier": "default", "system_fingerprint": "fp_50cad350e4",
                    "choices": [{"index": 0, "delta": delta, "logprobs": null,
                        "finish_reason": finish}]}))
            };
            let mut events = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
            events.extend(pieces.map(|text| chunk(&json!({"content": text}), None)));
            events.push(chunk(&json!({}), Some("stop")));
            events.push("data: [DONE]\n\n".to_owned());
            events
        }
        Api::OpenAiResponses => {
            let id = "msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654";
            let whole: String = pieces.clone().collect();
            let part = json!({"type": "output_text", "annotations": [], "text": whole});
            let item = |content: Value| {
                json!({"id": id, "type": "message", "role": "assistant",
                    "status": "completed", "content": content})
            };
            let mut events = vec![
                named(&json!({"type": "response.created", "sequence_number": 0,
                    "response": {"id": "resp_1", "status": "in_progress", "model": "m"}})),
                named(
                    &json!({"type": "response.output_item.added", "sequence_number": 1,
                    "output_index": 0, "item": item(json!([]))}),
                ),
            ];
            events.extend(pieces.enumerate().map(|(number, text)| {
                named(
                    &json!({"type": "response.output_text.delta", "sequence_number": number + 2,
                    "item_id": id, "output_index": 0, "content_index": 0, "delta": text,
                    "logprobs": [], "obfuscation": "CvvzyBWZcU7d"}),
                )
            }));
            events.extend([
                named(
                    &json!({"type": "response.output_item.done", "output_index": 0,
                    "item": item(json!([part]))}),
                ),
                named(&json!({"type": "response.completed",
                    "response": {"id": "resp_1", "status": "completed", "model": "m",
                        "output": [], "usage": {"input_tokens": 25, "output_tokens": deltas,
                            "total_tokens": deltas + 25}}})),
            ]);
            events
        }
        _ => {
            let chunk = |text: &str, finish: Option<&str>| {
                let mut candidate =
                    json!({"content": {"parts": [{"text": text}], "role": "model"}, "index": 0});
                if let Some(finish) = finish {
                    candidate["finishReason"] = finish.into();
                }
                bare(&json!({"candidates": [candidate], "modelVersion": "m",
                    "usageMetadata": {"promptTokenCount": 25, "totalTokenCount": 25,
                        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 25}]},
                    "responseId": "mPhLaZ3tKZOZ1MkP1qSo4Ak"}))
            };
            let mut events: Vec<String> = pieces.map(|text| chunk(&text, None)).collect();
            events.push(chunk("", Some("STOP")));
            events
        }
    }
}

/// A server for one request.
struct Server {
    url: String,
    thread: JoinHandle<Vec<Instant>>,
}

impl Server {
    /// When each event was written.
    fn end(self) -> Vec<Instant> {
        self.thread.join().expect("a server that serves")
    }
}

/// Each event is a chunk of the transfer, as services send them.
fn serve(events: Vec<String>, pace: Option<Duration>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let thread = thread::spawn(move || {
        let chunk = |event: &String| format!("{:x}\r\n{event}\r\n", event.len());
        let chunks: Vec<String> = events.iter().map(chunk).collect();
        let (mut socket, _) = listener.accept().expect("a client");
        socket.set_nodelay(true).expect("a socket");
        take_request(&mut socket);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
        let mut send = |text: &str| socket.write_all(text.as_bytes()).expect("a reader");
        send(head);
        let mut times = Vec::new();
        if let Some(pace) = pace {
            let began = Instant::now();
            for (number, chunk) in (1..).zip(&chunks) {
                thread::sleep((began + pace * number).saturating_duration_since(Instant::now()));
                times.push(Instant::now());
                send(chunk);
            }
        } else {
            send(&chunks.concat());
        }
        send("0\r\n\r\n");
        times
    });
    Server { url, thread }
}

fn take_request(socket: &mut TcpStream) {
    let mut request = BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        request.read_line(&mut line).expect("a request");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    request.read_exact(&mut vec![0; length]).expect("a body");
}

/// How long the processor works in this thread for it.
fn busy(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("a time")
    };
    let began = now();
    work();
    now().saturating_sub(began)
}

fn count_bytes(runtime: &Runtime, client: &Client, server: &Server, expected: usize) {
    let mut count = 0;
    runtime.block_on(async {
        let request = client.post(&server.url).body("{}");
        let mut response = request.send().await.expect("an answer");
        while let Some(bytes) = response.chunk().await.expect("bytes") {
            count += bytes.len();
        }
    });
    assert_eq!(count, expected);
}

fn count_deltas(runtime: &Runtime, api: &Api, server: &Server) {
    let model = Model {
        provider: "bench".to_owned(),
        id: "m".to_owned(),
        api: api.clone(),
        base_url: server.url.clone(),
        ..Model::offline()
    };
    let user = json!({"role": "user", "content": "Hello", "timestamp": 1});
    let user: UserMessage = serde_json::from_value(user).expect("a message");
    let request = ModelRequest {
        system_prompt: String::new(),
        messages: vec![user.into()],
        tools: [].into(),
        thinking: ThinkingLevel::Off,
        max_tokens: None,
    };
    let provider = connect(&model, None, Timeouts::default()).expect("a provider");
    let mut count = 0;
    runtime.block_on(async {
        let mut stream = provider.stream(request);
        while let Some(delta) = stream.next().await {
            if let ModelDelta::TextDelta { .. } = delta.expect("a delta") {
                count += 1;
            }
        }
    });
    assert_eq!(count, DELTAS);
}

/// When each piece was seen, in their order.
type Arrivals = Vec<Instant>;

/// Notes the pieces that stand in these bytes and were not seen before.
fn arrive(bytes: &[u8], arrivals: &mut Arrivals) {
    let now = Instant::now();
    let text = std::str::from_utf8(bytes).expect("text");
    for rest in text.split("\"n").skip(1) {
        let number = rest.split_once(';').map(|(number, _)| number.parse());
        if number == Some(Ok(arrivals.len())) {
            arrivals.push(now);
        }
    }
}

fn bytes_arrive(runtime: &Runtime, client: &Client, server: &Server) -> Arrivals {
    let mut arrivals = Vec::new();
    runtime.block_on(async {
        let request = client.post(&server.url).body("{}");
        let mut response = request.send().await.expect("an answer");
        while let Some(bytes) = response.chunk().await.expect("bytes") {
            arrive(&bytes, &mut arrivals);
        }
    });
    arrivals
}

/// Runs the program and reads its lines.
fn lines_arrive(api: &Api, server: &Server) -> Arrivals {
    let home = tempfile::tempdir().expect("a temporary folder");
    let models = json!({"providers": {"bench": {
        "baseUrl": server.url, "api": api.as_str(), "apiKey": "none", "models": [{"id": "m"}],
    }}});
    std::fs::write(home.path().join("models.json"), models.to_string()).expect("a file");
    let mut quipu = Command::new(env!("CARGO_BIN_EXE_quipu"))
        .args([
            "--mode",
            "json",
            "--no-session",
            "--model",
            "bench/m",
            "Hello",
        ])
        .env("QUIPU_HOME", home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(quipu.stdout.take().expect("a pipe"));
    let mut arrivals = Vec::new();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("a line") > 0 {
        arrive(&line, &mut arrivals);
        line.clear();
    }
    assert!(quipu.wait().expect("a status").success());
    arrivals
}

struct Latencies {
    median: Duration,
    /// 99 % are below.
    late: Duration,
}

impl Latencies {
    /// From when events were written to when the pieces in them arrived.
    fn of(events: &[String], written: &[Instant], arrivals: &[Instant]) -> Self {
        assert_eq!(arrivals.len(), SLOW_DELTAS);
        let first = events.iter().position(|event| event.contains("\"n0;"));
        let written = &written[first.expect("a first piece")..];
        let pairs = arrivals.iter().zip(written);
        let mut times: Vec<Duration> = pairs
            .map(|(seen, written)| seen.duration_since(*written))
            .collect();
        times.sort();
        Self {
            median: times[times.len() / 2],
            late: times[times.len() * 99 / 100],
        }
    }
}
