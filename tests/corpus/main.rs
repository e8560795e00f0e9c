//! The corpus: lines as plain files, what each of them is to show, and the proof that no rule of the
//! schema could go without one of them telling.
//!
//! `UPDATE=1 cargo test --test corpus` writes the files anew; a normal run compares.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bundle;
mod files;
mod lines;
mod lines_judged;
mod rules;
mod schema_mutants;

/// What has line files: the wires, and the session file.
const BUNDLES: [&str; 4] = ["quipu", "senpi", "dreb", "session"];
