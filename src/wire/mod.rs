//! The wire: from events to whole lines on standard output.
//!
//! [`Output`] owns the way: a bounded channel takes events from the agent, a thread of its own feeds
//! the [`Tracker`](crate::event::tracker::Tracker), turns each event into the lines of its wire by a
//! [`Projection`] and hands whole lines to the [`Writer`](writer::Writer), which alone touches standard
//! output.

mod dreb;
mod filter;
pub(crate) mod line;
mod output;
mod projection;
mod senpi;
mod text;
mod visible;
mod writer;

pub use crate::contract::Wire;
pub use filter::{EventFilter, UnknownEvent};
pub use output::{Ending, EventSender, Finished, Output, StreamClosed};
pub(crate) use output::{append, put_stamp, stalled, stdout};
pub use projection::{Line, Projection};
pub(crate) use visible::{visible, visible_line, visible_note};
pub(crate) use writer::Writer;

/// What standard output holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The lines of the wire.
    #[default]
    Lines,
    /// The final answers only.
    Text,
}

/// How lines are written.
#[derive(Clone, Debug, Default)]
pub struct WireOptions {
    /// Lines, or the answers only.
    pub form: Form,
    /// The form of the stream.
    pub wire: Wire,
    /// Which lines are written.
    pub events: EventFilter,
    /// Whether each line carries `seq` and `at`; only the native wire has them.
    pub stamp: bool,
}
