use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Ending, EventSender, Finished, Output};
use crate::event::sample::{event, rich};
use crate::event::tracker::{Place, Tracker};
use crate::event::{ErrorCode, Outcome, QuipuEvent, StreamError, TurnStartEvent};
use crate::wire::{EventFilter, Wire, WireOptions};

/// Keeps what it is given; takes as many bytes a call as `step` says.
#[derive(Clone)]
struct Sink {
    taken: Arc<Mutex<Vec<u8>>>,
    step: usize,
}

impl Sink {
    fn new(step: usize) -> Self {
        let taken = Arc::default();
        Self { taken, step }
    }

    fn bytes(&self) -> Vec<u8> {
        self.taken.lock().unwrap().clone()
    }

    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.bytes()).unwrap();
        assert!(text.ends_with('\n'), "the last line is whole");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.step);
        self.taken
            .lock()
            .unwrap()
            .extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn completed() -> Ending {
    Ending {
        outcome: Outcome::Completed,
        exit_code: 0,
        error: None,
        model: None,
    }
}

fn interrupted() -> Ending {
    Ending {
        outcome: Outcome::Interrupted,
        exit_code: 143,
        error: Some(StreamError {
            code: ErrorCode::Interrupted,
            message: "Ended by a signal.".to_owned(),
            retryable: false,
        }),
        model: None,
    }
}

fn start(options: WireOptions, sink: impl Write + Send + 'static) -> (EventSender, Output) {
    Output::start(options, sink, || 0, CancellationToken::new()).unwrap()
}

/// Sends events, ends the stream and gives what was written.
async fn written(
    options: WireOptions,
    step: usize,
    events: &[QuipuEvent],
    ending: Ending,
) -> (Sink, Finished) {
    let sink = Sink::new(step);
    let (sender, output) = start(options, sink.clone());
    for event in events {
        sender.send(event.clone()).await.unwrap();
    }
    let finished = output.finish(ending, std::future::pending()).await;
    (sink, finished)
}

#[tokio::test]
async fn every_cut_stream_is_written_whole_and_ends_legally() {
    let events = rich();
    for cut in 1..=events.len() {
        let (sink, finished) = written(
            WireOptions::default(),
            usize::MAX,
            &events[..cut],
            interrupted(),
        )
        .await;
        let last = &events[cut - 1];
        assert_eq!(finished.disorder, None, "cut after {last:?}");
        assert!(finished.error.is_none() && !finished.gave_up);
        let lines = sink.lines();
        let mut tracker = Tracker::default();
        for line in &lines {
            let told = tracker.observe(&event(line.clone()));
            told.unwrap_or_else(|error| panic!("{error}, cut after {last:?}"));
        }
        assert_eq!(tracker.place(), Place::End);
        let end = lines.last().unwrap();
        assert_eq!(end["type"], "stream_end");
        assert_eq!(end["exitCode"], 143);
        assert_eq!(end["lines"], lines.len());
        assert_eq!(
            lines
                .iter()
                .filter(|line| line["type"] == "stream_end")
                .count(),
            1
        );
    }
}

#[tokio::test]
async fn a_reader_of_single_bytes_gets_the_same_bytes() {
    let events = rich();
    let mut expected = Vec::new();
    for event in &events {
        serde_json::to_writer(&mut expected, event).unwrap();
        expected.push(b'\n');
    }
    let (sink, _) = written(WireOptions::default(), 1, &events, completed()).await;
    let bytes = sink.bytes();
    assert_eq!(bytes[..expected.len()], expected);
    let end = String::from_utf8_lossy(&bytes[expected.len()..]).into_owned();
    assert!(
        end.starts_with(r#"{"type":"stream_end","outcome":"completed","exitCode":0,"usage":{"#)
    );
}

#[tokio::test]
async fn a_line_of_five_megabytes_arrives_whole() {
    let text = "\u{2028}é".repeat(1_000_000);
    let mut events = rich();
    events.truncate(4);
    events.push(event(json!({"type": "session_info_changed", "name": text})));
    let (sink, finished) = written(WireOptions::default(), 7_777, &events, completed()).await;
    assert!(finished.error.is_none());
    assert_eq!(sink.lines()[4]["name"], text);
    let raw = sink.bytes();
    assert!(memchr::memmem::find(&raw, "\u{2028}".as_bytes()).is_none());
}

#[tokio::test]
async fn stamps_count_the_written_lines_and_stand_behind_the_type() {
    let options = WireOptions {
        events: EventFilter::Final,
        stamp: true,
        ..WireOptions::default()
    };
    let (sink, _) = written(options, usize::MAX, &rich(), completed()).await;
    let lines = sink.lines();
    let raw = String::from_utf8(sink.bytes()).unwrap();
    for ((number, line), raw) in (0_u64..).zip(&lines).zip(raw.lines()) {
        let kind = line["type"].as_str().unwrap();
        let start = format!(r#"{{"type":"{kind}","seq":{number},"at":"#);
        assert!(raw.starts_with(&start), "{raw}");
        assert!(line["at"].is_u64());
        let dropped = [
            "message_update",
            "tool_execution_update",
            "compaction_progress",
        ];
        assert!(!dropped.contains(&kind));
    }
    assert_eq!(lines.last().unwrap()["lines"], lines.len());
    // What is not written still counts.
    assert_eq!(lines.last().unwrap()["turns"], 6);
    let bare = r#"{"type":"turn_start","seq":"#;
    let bare = raw.lines().find(|line| line.starts_with(bare)).unwrap();
    assert!(
        serde_json::from_str::<Value>(bare)
            .unwrap()
            .as_object()
            .unwrap()
            .len()
            == 3
    );
}

#[tokio::test]
async fn the_header_and_the_end_pass_every_filter() {
    let options = WireOptions {
        events: EventFilter::parse("turn_end", Wire::Quipu).unwrap(),
        ..WireOptions::default()
    };
    let (sink, _) = written(options, usize::MAX, &rich(), completed()).await;
    let mut kinds: Vec<Value> = sink
        .lines()
        .iter()
        .map(|line| line["type"].clone())
        .collect();
    kinds.dedup();
    assert_eq!(kinds, ["session", "turn_end", "stream_end"]);
}

#[tokio::test]
async fn an_event_is_written_when_it_comes() {
    struct Tell(mpsc::Sender<Vec<u8>>);
    impl Write for Tell {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (tell, told) = mpsc::channel();
    let (sender, output) = start(WireOptions::default(), Tell(tell));
    for sent in &rich()[..4] {
        sender.send(sent.clone()).await.unwrap();
        // Hangs if the line waits for the next event.
        let line = told.recv().unwrap();
        assert_eq!(event(serde_json::from_slice(&line).unwrap()), *sent);
    }
    output.finish(completed(), std::future::pending()).await;
}

#[tokio::test]
async fn an_event_out_of_place_is_written_and_told() {
    let mut events = rich();
    events.truncate(1);
    events.push(TurnStartEvent {}.into());
    let (sink, finished) = written(WireOptions::default(), usize::MAX, &events, completed()).await;
    assert_eq!(finished.disorder.unwrap().event, "turn_start");
    assert_eq!(sink.lines().len(), 3);
}

#[tokio::test]
async fn a_sink_that_fails_stops_the_agent_and_keeps_whole_lines() {
    /// Fails with `kind` once it has taken `left` bytes.
    struct Full(Sink, usize, io::ErrorKind);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                return Err(self.2.into());
            }
            let taken = self.0.write(&bytes[..bytes.len().min(self.1)])?;
            self.1 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::StorageFull] {
        let sink = Sink::new(usize::MAX);
        let cancel = CancellationToken::new();
        let full = Full(sink.clone(), 1000, kind);
        let (sender, output) =
            Output::start(WireOptions::default(), full, || 0, cancel.clone()).unwrap();
        let mut events = rich().into_iter().cycle();
        while sender.send(events.next().unwrap()).await.is_ok() {}
        cancel.cancelled().await;
        let finished = output.finish(completed(), std::future::pending()).await;
        assert_eq!(finished.error.unwrap().kind(), kind);
        assert_eq!(sink.bytes().len(), 1000);
    }
}

/// A sink that takes nothing until it is let go.
struct Stuck(mpsc::Receiver<()>, Sink);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // An error is the same: nobody holds it back any more.
        let _ = self.0.recv();
        self.1.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn after_a_signal_a_reader_that_takes_nothing_is_given_up() {
    let (let_go, held) = mpsc::channel();
    let stuck = Stuck(held, Sink::new(usize::MAX));
    let (sender, output) = start(WireOptions::default(), stuck);
    sender.send(rich().swap_remove(0)).await.unwrap();
    let finished = output.finish(interrupted(), std::future::ready(())).await;
    assert!(finished.gave_up);
    drop(let_go);
}

#[tokio::test]
async fn after_a_signal_a_reader_that_takes_something_is_waited_for() {
    let (let_go, held) = mpsc::channel();
    let sink = Sink::new(usize::MAX);
    let stuck = Stuck(held, sink.clone());
    // A full pipe, read byte by byte: its writer does not come back, but the unread bytes get less.
    let unread = AtomicU64::new(30);
    let let_go = Mutex::new(Some(let_go));
    let unread = move || {
        let left = unread.load(Ordering::Relaxed).saturating_sub(1);
        unread.store(left, Ordering::Relaxed);
        if left == 0 {
            let_go.lock().unwrap().take();
        }
        left
    };
    let cancel = CancellationToken::new();
    let (sender, output) = Output::start(WireOptions::default(), stuck, unread, cancel).unwrap();
    sender.send(rich().swap_remove(0)).await.unwrap();
    let finished = output.finish(interrupted(), std::future::ready(())).await;
    assert!(!finished.gave_up);
    assert_eq!(sink.lines().len(), 2);
}

#[tokio::test]
async fn a_reader_that_goes_is_noticed_without_a_write() {
    let (read, write) = io::pipe().unwrap();
    let cancel = CancellationToken::new();
    let write = std::os::fd::OwnedFd::from(write);
    super::watch_reader(write.into(), cancel.clone()).unwrap();
    assert!(!cancel.is_cancelled());
    drop(read);
    // Hangs if nobody watches.
    cancel.cancelled().await;
}
