//! Configuration: where the files are, what they say, and the credentials they lead to.
//!
//! Nothing here prints: what a user should hear comes back as an error or as a warning text.

mod command;
mod compat;
pub mod credentials;
mod environment;
mod error;
mod instructions;
mod json;
pub mod models_file;
mod paths;
mod secrets;
pub mod settings;
mod value;

pub use command::kill_commands;
pub use environment::Environment;
pub use error::ConfigError;
pub use instructions::{InstructionFile, Instructions};
pub use paths::{Paths, expand_home};
pub use secrets::Secrets;
pub use value::{ConfigValue, ValueError};

#[cfg(test)]
mod canary_tests;
