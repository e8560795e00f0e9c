//! Quipu: a coding agent whose event stream is a contract.

pub mod event;
pub mod model;
