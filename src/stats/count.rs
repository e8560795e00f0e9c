//! From lines to sums.

use std::collections::{BTreeMap, HashMap};

use super::report::{
    Agents, Compactions, Deltas, Duration, EventRow, Longest, ModelRow, Requests, Retries, Stats,
    Summaries, TimeSource, ToolRow, Unreadable,
};
use super::usage;
use crate::contract::Wire;
use crate::contract::detect::Detect;
use crate::contract::json::Value;
use crate::contract::moment::{self, Moment};
use crate::event::tracker::Totals;

/// Counts the lines of a stream.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    detector: Detect,
    /// Wires of streams that were added.
    wires: Vec<Wire>,
    lines: u64,
    bytes: u64,
    span: Span,
    /// Of streams that were added.
    spans: Option<Duration>,
    outcome: Option<String>,
    exit_code: Option<u64>,
    runs: u64,
    turns: u64,
    prompts: u64,
    stop_reasons: BTreeMap<String, u64>,
    tools: BTreeMap<String, Tool>,
    open: HashMap<String, Open>,
    /// When the last answer ended, or began if its line does not tell.
    answered: Option<u64>,
    answers: Totals,
    summaries: Totals,
    arbitrations: Totals,
    agents_used: Totals,
    models: BTreeMap<(String, String), (u64, Totals)>,
    retries: Retries,
    summary_retries: Summaries,
    compactions: BTreeMap<String, Compactions>,
    /// The reason of the compaction that runs; dreb's end does not repeat it.
    compacting: Option<String>,
    agents: Agents,
    deltas: Deltas,
    events: BTreeMap<String, (u64, u64)>,
    longest: Option<Longest>,
    unreadable: Unreadable,
    /// The type of the line whose size comes next.
    last: Option<String>,
}

/// The first and the last time of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    stamps: Option<(u64, u64)>,
    said: Option<(u64, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Tool {
    calls: u64,
    errors: u64,
    durations: Vec<u64>,
    source: Option<TimeSource>,
}

/// A call that runs, or whose result message is due.
#[derive(Clone, Debug)]
struct Open {
    name: String,
    /// The stamp of its start, or when its answer ended.
    since: Option<Moment>,
}

impl Counter {
    /// Takes the next line.
    pub fn line(&mut self, line: Value<'_, '_>) {
        self.lines += 1;
        self.detector.take(line);
        let kind = text(line, "type");
        self.last = kind.map(str::to_owned);
        let moment = Moment::of(line);
        if let Some(moment) = moment {
            self.span.take(moment);
        }
        match kind.unwrap_or_default() {
            "agent_start" => self.runs += 1,
            "turn_start" => self.turns += 1,
            "message_update" => {
                if let Some(delta) = line.pointer("/assistantMessageEvent/delta") {
                    self.deltas.count += 1;
                    self.deltas.bytes += delta.as_str().map_or(0, str::len) as u64;
                }
            }
            "message_end" => {
                if let Some(message) = line.get("message") {
                    self.message(message);
                }
            }
            "tool_execution_start" => self.tool_start(line, moment),
            "tool_execution_end" => self.tool_end(line, moment),
            "auto_retry_start" => {
                self.retries.count += 1;
                self.retries.waited_ms = self
                    .retries
                    .waited_ms
                    .saturating_add(count(line, "delayMs"));
            }
            "auto_retry_end" if is(line, "success") => self.retries.healed += 1,
            "auto_retry_end" => self.retries.failed += 1,
            "summarization_retry_scheduled" => {
                self.summary_retries.count += 1;
                self.summary_retries.waited_ms = self
                    .summary_retries
                    .waited_ms
                    .saturating_add(count(line, "delayMs"));
            }
            "compaction_start" | "auto_compaction_start" => {
                self.compacting = text(line, "reason").map(str::to_owned);
            }
            "compaction_end" | "auto_compaction_end" => self.compaction_end(line),
            "background_agent_start" => self.agents.count += 1,
            "background_agent_end" if is(line, "success") => self.agents.succeeded += 1,
            "background_agent_end" => self.agents.failed += 1,
            "background_agent_event" => {
                if let Some(event) = line.get("event") {
                    self.relayed(event);
                }
            }
            "subagent_arbitration" => {
                self.agents.arbitrations += 1;
                add(&mut self.arbitrations, line.get("usage"));
            }
            "stream_end" => {
                self.outcome = text(line, "outcome").map(str::to_owned);
                self.exit_code = line.get("exitCode").and_then(Value::as_u64);
            }
            _ => {}
        }
    }

    /// Takes a line that is no JSON.
    pub fn unreadable(&mut self) {
        self.lines += 1;
        self.last = None;
        self.unreadable.count += 1;
        self.unreadable.first_line.get_or_insert(self.lines);
    }

    /// Takes the bytes of the line that came last, its end included.
    pub fn size(&mut self, bytes: u64) {
        self.bytes += bytes;
        let kind = self.last.take();
        if self.longest.as_ref().is_none_or(|line| line.bytes < bytes) {
            let line = self.lines;
            let kind = kind.clone();
            self.longest = Some(Longest { line, bytes, kind });
        }
        if let Some(kind) = kind {
            let row = self.events.entry(kind).or_default();
            row.0 += 1;
            row.1 += bytes;
        }
    }

    /// Whether any line could be read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.lines > self.unreadable.count
    }

    fn message(&mut self, message: Value<'_, '_>) {
        match text(message, "role").unwrap_or_default() {
            "user" => self.prompts += 1,
            "assistant" => {
                let reason = text(message, "stopReason").unwrap_or("unknown");
                *entry(&mut self.stop_reasons, reason) += 1;
                add(&mut self.answers, message.get("usage"));
                let name = |key| text(message, key).unwrap_or("unknown").to_owned();
                let row = self.models.entry((name("provider"), name("model")));
                let (answers, used) = row.or_default();
                *answers += 1;
                add(used, message.get("usage"));
                let began = message.get("timestamp").and_then(Value::as_u64);
                self.answered = moment::ended(message).or(began);
                // Calls of an answer before have had their results, or never get them.
                self.open.clear();
            }
            "toolResult" => {
                let id = text(message, "toolCallId").unwrap_or_default();
                let time = message.get("timestamp").and_then(Value::as_u64);
                if let (Some(open), Some(time)) = (self.open.remove(id), time)
                    && let Some(Moment::Said(since)) = open.since
                {
                    self.timed(&open.name, time.saturating_sub(since), TimeSource::Messages);
                }
            }
            _ => {}
        }
    }

    fn tool_start(&mut self, line: Value<'_, '_>, moment: Option<Moment>) {
        let name = text(line, "toolName").unwrap_or("unknown");
        entry(&mut self.tools, name).calls += 1;
        if let Some(id) = text(line, "toolCallId") {
            let open = Open {
                name: name.to_owned(),
                since: moment.or(self.answered.map(Moment::Said)),
            };
            self.open.insert(id.to_owned(), open);
        }
    }

    fn tool_end(&mut self, line: Value<'_, '_>, moment: Option<Moment>) {
        let name = text(line, "toolName").unwrap_or("unknown");
        if is(line, "isError") {
            entry(&mut self.tools, name).errors += 1;
        }
        let open = text(line, "toolCallId").and_then(|id| self.open.get(id));
        if let (Some(Moment::Stamp(since)), Some(Moment::Stamp(at))) =
            (open.and_then(|open| open.since), moment)
        {
            self.timed(name, at.saturating_sub(since), TimeSource::Stamps);
        }
    }

    fn timed(&mut self, name: &str, ms: u64, source: TimeSource) {
        let tool = entry(&mut self.tools, name);
        tool.durations.push(ms);
        tool.source = both(tool.source, Some(source));
    }

    fn compaction_end(&mut self, line: Value<'_, '_>) {
        let begun = self.compacting.take();
        let reason = text(line, "reason").or(begun.as_deref());
        let row = entry(&mut self.compactions, reason.unwrap_or("unknown"));
        row.count += 1;
        row.aborted += u64::from(is(line, "aborted"));
        if let Some(result) = line.get("result") {
            row.done += 1;
            row.tokens_before = row
                .tokens_before
                .saturating_add(count(result, "tokensBefore"));
            add(&mut self.summaries, result.get("usage"));
        }
        add(&mut self.summaries, line.get("usage"));
    }

    /// A line of a background agent.
    fn relayed(&mut self, mut event: Value<'_, '_>) {
        match text(event, "type") {
            // It holds what the agent's own agents have used.
            Some("stream_end") => add(&mut self.agents_used, event.get("usage")),
            // There is no such line on dreb, but the streams of its agents' agents are relayed too.
            _ if self.detector.wire() == Some(Wire::Dreb) => {
                while text(event, "type") == Some("background_agent_event")
                    && let Some(inner) = event.get("event")
                {
                    event = inner;
                }
                let message = event.get("message");
                if text(event, "type") == Some("message_end")
                    && message.and_then(|message| text(message, "role")) == Some("assistant")
                {
                    let used = message.and_then(|message| message.get("usage"));
                    add(&mut self.agents_used, used);
                }
            }
            _ => {}
        }
    }

    /// Adds the figures of another stream.
    pub fn add(&mut self, other: &Self) {
        self.wires.extend(other.wires());
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.spans = together(self.spans, other.duration());
        self.outcome.clone_from(&other.outcome);
        self.exit_code = other.exit_code;
        self.runs += other.runs;
        self.turns += other.turns;
        self.prompts += other.prompts;
        for (reason, answers) in &other.stop_reasons {
            *entry(&mut self.stop_reasons, reason) += answers;
        }
        for (name, more) in &other.tools {
            let tool = entry(&mut self.tools, name);
            tool.calls += more.calls;
            tool.errors += more.errors;
            tool.durations.extend(&more.durations);
            tool.source = both(tool.source, more.source);
        }
        self.answers.add(&other.answers.usage);
        self.summaries.add(&other.summaries.usage);
        self.arbitrations.add(&other.arbitrations.usage);
        self.agents_used.add(&other.agents_used.usage);
        for (model, (answers, used)) in &other.models {
            let row = self.models.entry(model.clone()).or_default();
            row.0 += answers;
            row.1.add(&used.usage);
        }
        self.retries.count += other.retries.count;
        self.retries.waited_ms = self
            .retries
            .waited_ms
            .saturating_add(other.retries.waited_ms);
        self.retries.healed += other.retries.healed;
        self.retries.failed += other.retries.failed;
        self.summary_retries.count += other.summary_retries.count;
        self.summary_retries.waited_ms = self
            .summary_retries
            .waited_ms
            .saturating_add(other.summary_retries.waited_ms);
        for (reason, more) in &other.compactions {
            let row = entry(&mut self.compactions, reason);
            row.count += more.count;
            row.done += more.done;
            row.aborted += more.aborted;
            row.tokens_before = row.tokens_before.saturating_add(more.tokens_before);
        }
        self.agents.count += other.agents.count;
        self.agents.succeeded += other.agents.succeeded;
        self.agents.failed += other.agents.failed;
        self.agents.arbitrations += other.agents.arbitrations;
        self.deltas.count += other.deltas.count;
        self.deltas.bytes += other.deltas.bytes;
        for (kind, (lines, bytes)) in &other.events {
            let row = entry(&mut self.events, kind);
            row.0 += lines;
            row.1 += bytes;
        }
        let longest = other.longest.as_ref();
        if longest.map(|line| line.bytes) > self.longest.as_ref().map(|line| line.bytes) {
            self.longest = longest.cloned();
        }
        self.unreadable.count += other.unreadable.count;
        let first = other.unreadable.first_line;
        self.unreadable.first_line = self.unreadable.first_line.or(first);
    }

    fn wires(&self) -> Vec<Wire> {
        let own = self.detector.told();
        let mut wires: Vec<Wire> = self.wires.iter().copied().chain(own).collect();
        wires.sort_by_key(|wire| wire.name());
        wires.dedup();
        wires
    }

    fn duration(&self) -> Option<Duration> {
        together(self.spans, self.span.duration())
    }

    /// The figures so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let wires = self.wires();
        let mut usage = Totals::default();
        let parts = [
            &self.answers,
            &self.summaries,
            &self.arbitrations,
            &self.agents_used,
        ];
        for part in parts {
            usage.add(&part.usage);
        }
        Stats {
            wire: match wires[..] {
                [wire] => Some(wire.name()),
                _ => None,
            },
            wires: wires.into_iter().map(Wire::name).collect(),
            lines: self.lines,
            bytes: self.bytes,
            duration: self.duration(),
            outcome: self.outcome.clone(),
            exit_code: self.exit_code,
            runs: self.runs,
            turns: self.turns,
            prompts: self.prompts,
            stop_reasons: self.stop_reasons.clone(),
            tools: self.tool_rows(),
            usage: usage.usage,
            requests: Requests {
                answers: self.answers.usage.clone(),
                compactions: self.summaries.usage.clone(),
                arbitrations: self.arbitrations.usage.clone(),
                background_agents: self.agents_used.usage.clone(),
            },
            models: self.model_rows(),
            retries: self.retries,
            summary_retries: self.summary_retries,
            compactions: self.compactions.clone(),
            background_agents: self.agents,
            deltas: self.deltas,
            events: self.event_rows(),
            longest_line: self.longest.clone(),
            unreadable: self.unreadable,
        }
    }

    fn tool_rows(&self) -> Vec<ToolRow> {
        let row = |(name, tool): (&String, &Tool)| {
            let mut durations = tool.durations.clone();
            durations.sort_unstable();
            ToolRow {
                name: name.clone(),
                calls: tool.calls,
                errors: tool.errors,
                timed: durations.len() as u64,
                total_ms: durations.iter().fold(0, |sum, ms| sum.saturating_add(*ms)),
                median_ms: durations
                    .get(durations.len().saturating_sub(1) / 2)
                    .copied(),
                max_ms: durations.last().copied(),
                source: tool.source,
            }
        };
        let mut rows: Vec<ToolRow> = self.tools.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.calls));
        rows
    }

    fn model_rows(&self) -> Vec<ModelRow> {
        let row =
            |((provider, model), (answers, used)): (&(String, String), &(u64, Totals))| ModelRow {
                provider: provider.clone(),
                model: model.clone(),
                answers: *answers,
                usage: used.usage.clone(),
            };
        let mut rows: Vec<ModelRow> = self.models.iter().map(row).collect();
        let cost = |row: &ModelRow| row.usage.cost.total.get();
        rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        rows
    }

    fn event_rows(&self) -> Vec<EventRow> {
        let row = |(kind, (lines, bytes)): (&String, &(u64, u64))| EventRow {
            kind: kind.clone(),
            lines: *lines,
            bytes: *bytes,
            share: share(*bytes, self.bytes),
        };
        let mut rows: Vec<EventRow> = self.events.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
        rows
    }
}

impl Span {
    fn take(&mut self, moment: Moment) {
        let (span, ms) = match moment {
            Moment::Stamp(ms) => (&mut self.stamps, ms),
            Moment::Said(ms) => (&mut self.said, ms),
            // The session may be older than the stream.
            Moment::Header(_) => return,
        };
        let (first, last) = span.unwrap_or((ms, ms));
        *span = Some((first.min(ms), last.max(ms)));
    }

    fn duration(&self) -> Option<Duration> {
        let of = |span: Option<(u64, u64)>, source| {
            let (first, last) = span?;
            let ms = last - first;
            Some(Duration { ms, source })
        };
        of(self.stamps, TimeSource::Stamps).or_else(|| of(self.said, TimeSource::Messages))
    }
}

fn text<'d>(value: Value<'d, '_>, key: &str) -> Option<&'d str> {
    value.get(key)?.as_str()
}

fn count(value: Value<'_, '_>, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn is(value: Value<'_, '_>, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

fn add(to: &mut Totals, used: Option<Value<'_, '_>>) {
    if let Some(used) = used.filter(|used| used.is_object()) {
        to.add(&usage::read(used));
    }
}

fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    map.entry(name.to_owned()).or_default()
}

fn both(a: Option<TimeSource>, b: Option<TimeSource>) -> Option<TimeSource> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Some(TimeSource::Mixed),
        (a, b) => a.or(b),
    }
}

fn together(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    let ms = a.map_or(0, |a| a.ms).saturating_add(b.map_or(0, |b| b.ms));
    let source = both(a.map(|a| a.source), b.map(|b| b.source))?;
    Some(Duration { ms, source })
}

/// A part of a whole in per cent, to two places.
#[allow(
    clippy::cast_precision_loss,
    reason = "two places of a per cent need no more"
)]
fn share(part: u64, whole: u64) -> f64 {
    let share = part as f64 / whole.max(1) as f64;
    (share * 10_000.0).round() / 100.0
}
