//! The wire: from events to whole lines on standard output.
//!
//! [`Output`] owns the way: a bounded channel takes events from the agent, a thread of its own feeds
//! the [`Tracker`](crate::event::tracker::Tracker), turns each event into its line and hands whole lines
//! to the [`Writer`](writer::Writer), which alone touches standard output.

mod filter;
mod line;
mod output;
mod writer;

use std::str::FromStr;

use clap::ValueEnum;

pub use filter::{EventFilter, UnknownEvent};
pub use output::{Ending, EventSender, Finished, Output, StreamClosed};

/// A named form of the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Wire {
    /// The native form: delta-only, one terminal line on every path.
    #[default]
    Quipu,
}

impl FromStr for Wire {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as ValueEnum>::from_str(name, false)
    }
}

/// How lines are written.
#[derive(Clone, Debug, Default)]
pub struct WireOptions {
    /// The form of the stream.
    pub wire: Wire,
    /// Which lines are written.
    pub events: EventFilter,
    /// Whether each line carries `seq` and `at`.
    pub stamp: bool,
}
