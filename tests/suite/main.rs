//! The proof that the program keeps its contract: the real binary is run, and every line of every
//! stream is judged by witnesses that share no code with the emitter.
//!
//! [`check::check`] is the one judge; [`harness::Run::stream`] applies it, so that no test can look
//! at a stream that was not judged.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use quipu::event::QuipuEvent;

mod anthropic;
mod arbiter;
mod background;
mod background_ends;
mod background_given;
mod bad_input;
mod check;
mod compaction_cases;
mod compaction_edges;
mod compactions;
mod convert;
mod coverage;
mod exits;
mod fallbacks;
mod field;
mod fold;
mod google;
mod grammar;
mod grammar_tests;
mod harness;
mod inputs;
mod leaks;
mod limits;
mod live;
mod network;
mod properties;
mod redact;
mod replays;
mod resume;
mod resume_crash;
mod resume_refused;
mod retries;
/// A native stream of every event, made by hand; the unit tests cut it too.
#[path = "../../src/event/sample.rs"]
mod rich;
mod sample;
mod samples;
mod schema;
mod schema_command;
mod script;
mod server;
mod services;
mod session_file;
mod sessions_command;
mod signals;
mod snapshots;
mod snapshots_failures;
mod snapshots_tools;
mod stats_command;
mod strict;
mod text_mode;
mod thinking;
mod verify;
mod verify_command;
mod verify_input;
mod verify_whole;
mod wire_check;
mod wires;
mod witness_tests;
mod writer;
