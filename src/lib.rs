//! Quipu: a coding agent whose event stream is a contract.

pub mod codegen;
pub mod contract;
pub mod event;
