//! The wire: from events to whole lines on standard output.
//!
//! [`Output`] owns the way: a bounded channel takes events from the agent, a thread of its own feeds
//! the [`Tracker`](crate::event::tracker::Tracker), turns each event into its line and hands whole lines
//! to the [`Writer`](writer::Writer), which alone touches standard output.

mod filter;
mod line;
mod output;
mod writer;

pub use crate::contract::Wire;
pub use filter::{EventFilter, UnknownEvent};
pub use output::{Ending, EventSender, Finished, Output, StreamClosed};

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
