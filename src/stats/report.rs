//! The figures, as `quipu stats --format json` prints them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::Usage;

/// The figures of one stream, or of several together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// `quipu`, `senpi` or `dreb`. Absent when no line tells, and for streams of several wires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<&'static str>,
    /// The wires of all streams by name; more than one for streams of several together.
    pub wires: Vec<&'static str>,
    /// Lines, unreadable ones included.
    pub lines: u64,
    /// Bytes, ends of lines included.
    pub bytes: u64,
    /// From the first time told to the last. Absent when no two lines tell theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// `outcome` of the last `stream_end`. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// `exitCode` of the last `stream_end`. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u64>,
    /// Lines `agent_start`.
    pub runs: u64,
    /// Lines `turn_start`.
    pub turns: u64,
    /// Messages of the user that ended: prompts, steered ones, and results of background agents.
    pub prompts: u64,
    /// How many answers ended for which reason.
    pub stop_reasons: BTreeMap<String, u64>,
    /// Tools by name, the most called first.
    pub tools: Vec<ToolRow>,
    /// Tokens and cost of all requests, each counted once; on the native wire what `stream_end` says.
    pub usage: Usage,
    /// The requests behind `usage`, by what they were for.
    pub requests: Requests,
    /// The answers of the stream's own agent by model, the most costly first.
    pub models: Vec<ModelRow>,
    /// Retries of answers.
    pub retries: Retries,
    /// Retries of summaries.
    pub summary_retries: Summaries,
    /// Compactions by reason.
    pub compactions: BTreeMap<String, Compactions>,
    /// Background agents.
    pub background_agents: Agents,
    /// Pieces of growing blocks.
    pub deltas: Deltas,
    /// Lines by `type`, the most bytes first; unreadable lines and those without a type are not here.
    pub events: Vec<EventRow>,
    /// The longest line. Absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_line: Option<Longest>,
    /// Lines that hold no JSON object.
    pub unreadable: Unreadable,
}

/// Where times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeSource {
    /// From `at`: when lines were written.
    Stamps,
    /// From the times of messages and hooks. A tool is then taken to run from the end of its answer (its
    /// begin where the line tells no `durationMs`) to the time of its result: at most that long.
    Messages,
    /// Some streams have stamps and some have not.
    Mixed,
}

/// How long a stream took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Duration {
    /// In milliseconds; of several streams the sum.
    pub ms: u64,
    /// What it is told by.
    pub source: TimeSource,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRow {
    /// Its name.
    pub name: String,
    /// Calls that began.
    pub calls: u64,
    /// Calls that ended in an error.
    pub errors: u64,
    /// Calls whose duration is known.
    pub timed: u64,
    /// Their durations together, in ms.
    pub total_ms: u64,
    /// The middle one, in ms; of an even number the lower. Absent when none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// The longest, in ms. Absent when none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<u64>,
    /// What durations are told by. Absent when none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<TimeSource>,
}

/// The usage of requests by what they were for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requests {
    /// Answers of the stream's own agent, failed ones included.
    pub answers: Usage,
    /// Summaries.
    pub compactions: Usage,
    /// Decisions about the route of background agents.
    pub arbitrations: Usage,
    /// Background agents: `stream_end` of each on the native wire, else their answers.
    pub background_agents: Usage,
}

/// The answers of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelRow {
    /// Its provider.
    pub provider: String,
    /// Its id.
    pub model: String,
    /// Answers that ended.
    pub answers: u64,
    /// Their tokens and cost.
    pub usage: Usage,
}

/// Retries of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    /// Lines `auto_retry_start`.
    pub count: u64,
    /// Waits that they announced, in ms.
    pub waited_ms: u64,
    /// Series that ended in a good answer.
    pub healed: u64,
    /// Series that were given up.
    pub failed: u64,
}

/// Retries of summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summaries {
    /// Lines `summarization_retry_scheduled`.
    pub count: u64,
    /// Waits that they announced, in ms.
    pub waited_ms: u64,
}

/// Compactions of one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compactions {
    /// Those that ended.
    pub count: u64,
    /// Those that gave a summary.
    pub done: u64,
    /// Those that were aborted.
    pub aborted: u64,
    /// Tokens before those that gave a summary, together.
    pub tokens_before: u64,
}

/// Background agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agents {
    /// Those that began.
    pub count: u64,
    /// Those that ended well.
    pub succeeded: u64,
    /// Those that ended otherwise.
    pub failed: u64,
    /// Decisions about routes.
    pub arbitrations: u64,
}

/// Pieces of growing blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deltas {
    /// Lines `message_update` with a `delta`.
    pub count: u64,
    /// Bytes of these pieces, in UTF-8.
    pub bytes: u64,
}

/// The lines of one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventRow {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Lines.
    pub lines: u64,
    /// Their bytes, ends of lines included.
    pub bytes: u64,
    /// Their part of all bytes, in per cent.
    pub share: f64,
}

/// The longest line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Longest {
    /// Which it is, from 1.
    pub line: u64,
    /// Its bytes, its end included.
    pub bytes: u64,
    /// Its type. Absent when it has none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Lines that hold no JSON object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    /// How many.
    pub count: u64,
    /// The first of them, from 1. Absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u64>,
}
