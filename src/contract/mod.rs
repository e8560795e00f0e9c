//! The contract of the stream: its bundles, version and grammar, as this build embeds them.

pub mod check;
pub(crate) mod detect;
pub mod diff;
pub mod grammar;
pub mod json;
pub mod lines;
pub mod moment;
pub mod verify;

use crate::codegen;
use crate::codegen::load::Folder;
use crate::codegen::model::Schema;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/contract.rs"));

/// The order of the events, in the format that the file itself describes.
pub const GRAMMAR: &str = include_str!("../../schema/grammar.json");

/// The strict bundle of a line of a session file: what may be stored. JSON Schema 2020-12.
pub const SESSION_STRICT: &str = include_str!(concat!(env!("OUT_DIR"), "/session.strict.json"));

/// The open bundle of a line of a session file: what a reader should accept. JSON Schema 2020-12.
pub const SESSION_OPEN: &str = include_str!(concat!(env!("OUT_DIR"), "/session.open.json"));

/// The schema folder that this build was made from.
///
/// # Panics
/// Never: the build has linted it.
#[must_use]
pub fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let packed = include_str!(concat!(env!("OUT_DIR"), "/schema.json"));
        let packed = serde_json::from_str(packed).unwrap_or_default();
        let folder = Folder::unpack("schema", packed);
        match codegen::lint::lint(&folder, Vec::new()) {
            Ok(schema) => schema,
            Err(problems) => unreachable!("the build has linted it: {problems:?}"),
        }
    });
    &SCHEMA
}

/// A named form of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// The native form.
    #[default]
    Quipu,
    /// The form of senpi: delta-only updates, no terminal line.
    Senpi,
    /// The form of dreb: one run for the whole stream, the whole message so far on each update.
    Dreb,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 3] = [Self::Quipu, Self::Senpi, Self::Dreb];

    /// Its name on the command line and in the stream.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quipu => "quipu",
            Self::Senpi => "senpi",
            Self::Dreb => "dreb",
        }
    }

    /// The types that its lines may have, in the order of the schema.
    #[must_use]
    pub const fn types(self) -> &'static [&'static str] {
        match self {
            Self::Quipu => crate::event::QUIPU_EVENT_TYPES,
            Self::Senpi => crate::event::SENPI_EVENT_TYPES,
            Self::Dreb => crate::event::DREB_EVENT_TYPES,
        }
    }

    /// The strict bundle: what may be written. JSON Schema 2020-12.
    #[must_use]
    pub const fn strict(self) -> &'static str {
        match self {
            Self::Quipu => include_str!(concat!(env!("OUT_DIR"), "/quipu.strict.json")),
            Self::Senpi => include_str!(concat!(env!("OUT_DIR"), "/senpi.strict.json")),
            Self::Dreb => include_str!(concat!(env!("OUT_DIR"), "/dreb.strict.json")),
        }
    }

    /// The open bundle: what a reader should accept. JSON Schema 2020-12.
    #[must_use]
    pub const fn open(self) -> &'static str {
        match self {
            Self::Quipu => include_str!(concat!(env!("OUT_DIR"), "/quipu.open.json")),
            Self::Senpi => include_str!(concat!(env!("OUT_DIR"), "/senpi.open.json")),
            Self::Dreb => include_str!(concat!(env!("OUT_DIR"), "/dreb.open.json")),
        }
    }
}

impl std::str::FromStr for Wire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|wire| wire.name() == name)
            .ok_or(UnknownWire)
    }
}

/// No wire has this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no wire has this name")]
pub struct UnknownWire;
