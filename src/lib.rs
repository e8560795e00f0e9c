//! Quipu: a coding agent whose event stream is a contract.
//!
//! Data flows one way: [`cli`] → [`agent`] → event channel → [`wire`] → standard output. The types of
//! the stream are generated from the JSON Schema files in `schema/`; see [`event`].

pub mod agent;
pub mod cli;
pub mod codegen;
pub mod config;
pub mod contract;
pub mod convert;
pub mod event;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
pub mod model;
pub mod replay;
pub mod sample;
pub mod session;
pub mod stats;
pub mod subagent;
pub mod tool;
pub mod wire;
