//! The corpus: lines and streams as plain files, what each of them is to show, and the proof that no
//! rule of the schema or the grammar could go without one of them telling.
//!
//! `UPDATE=1 cargo test --test corpus` writes the files anew; a normal run compares.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../suite/check.rs"]
#[allow(dead_code, reason = "part of what the suite needs is used here")]
mod check;
#[path = "../suite/fold.rs"]
#[allow(dead_code, reason = "part of what the suite needs is used here")]
mod fold;
#[path = "../suite/grammar.rs"]
#[allow(dead_code, reason = "part of what the suite needs is used here")]
mod grammar;
#[path = "../suite/schema.rs"]
#[allow(dead_code, reason = "part of what the suite needs is used here")]
mod schema;
#[path = "../suite/strict.rs"]
mod strict;
#[path = "../suite/wire_check.rs"]
#[allow(dead_code, reason = "part of what the suite needs is used here")]
mod wire_check;

mod bundle;
mod by_hand;
mod candidates;
mod edits;
mod failures;
mod files;
mod foreign;
mod grammar_rules;
mod lines;
mod lines_judged;
mod pool;
mod rules;
mod scenarios;
mod schema_mutants;
mod script;
mod search;
mod streams;
mod verify;
mod witness;

/// What has line files: the wires, and the session file.
const BUNDLES: [&str; 4] = ["quipu", "senpi", "dreb", "session"];
