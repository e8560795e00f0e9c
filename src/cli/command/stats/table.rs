//! The figures for people.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::command::counted;
use crate::event::Usage;
use crate::stats::{Duration, Stats, TimeSource};
use crate::wire::visible_line;

/// A block for each stream, and one for all if there are several.
pub(super) fn of(counted: &[(&Path, Stats)], total: &Stats) -> String {
    let mut text = String::new();
    for (file, stats) in counted {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", visible_line(&file.display().to_string()));
        block(&mut text, stats);
    }
    if counted.len() > 1 {
        let _ = writeln!(text, "\nall {} together", counted.len());
        block(&mut text, total);
    }
    text
}

fn block(text: &mut String, stats: &Stats) {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let wire = match stats.wires[..] {
        [] => "not told".to_owned(),
        ref wires => wires.join(", "),
    };
    facts.push(("wire", wire));
    facts.push(("lines", format!("{}, {}", stats.lines, bytes(stats.bytes))));
    if let Some(Duration { ms, source }) = stats.duration {
        facts.push(("duration", format!("{}{}", time(ms), by(source))));
    }
    if let Some(outcome) = &stats.outcome {
        let code = stats.exit_code.map(|code| format!(", exit status {code}"));
        facts.push(("outcome", outcome.clone() + &code.unwrap_or_default()));
    }
    let counts = format!(
        "{}, {}, {}",
        counted(stats.runs, "run"),
        counted(stats.turns, "turn"),
        counted(stats.prompts, "user message")
    );
    facts.push(("course", counts));
    let reasons = stats.stop_reasons.iter();
    let reasons: Vec<String> = reasons.map(|(reason, n)| format!("{n} {reason}")).collect();
    if !reasons.is_empty() {
        facts.push(("answers", reasons.join(", ")));
    }
    let retries = &stats.retries;
    if retries.count > 0 {
        let told = format!(
            "{} ({} waited), series: {} healed, {} failed",
            retries.count,
            time(retries.waited_ms),
            retries.healed,
            retries.failed
        );
        facts.push(("retries", told));
    }
    let summaries = &stats.summary_retries;
    if summaries.count > 0 {
        let told = format!("{} ({} waited)", summaries.count, time(summaries.waited_ms));
        facts.push(("of summaries", told));
    }
    for (reason, row) in &stats.compactions {
        let told = format!(
            "{} {reason}: {} done (of {} tokens), {} aborted",
            row.count, row.done, row.tokens_before, row.aborted
        );
        facts.push(("compactions", told));
    }
    let agents = &stats.background_agents;
    if agents.count > 0 {
        let told = format!(
            "{}: {} succeeded, {} failed; {} decided",
            agents.count,
            agents.succeeded,
            agents.failed,
            counted(agents.arbitrations, "route")
        );
        facts.push(("agents", told));
    }
    if stats.deltas.count > 0 {
        let told = format!("{}, {}", stats.deltas.count, bytes(stats.deltas.bytes));
        facts.push(("deltas", told));
    }
    if let Some(line) = &stats.longest_line {
        let kind = line.kind.as_deref().unwrap_or("no type");
        let told = format!("line {}, {} ({kind})", line.line, bytes(line.bytes));
        facts.push(("longest", told));
    }
    if stats.unreadable.count > 0 {
        let first = stats.unreadable.first_line.unwrap_or_default();
        let told = format!(
            "{}, the first is line {first}",
            counted(stats.unreadable.count, "line")
        );
        facts.push(("unreadable", told));
    }
    for (name, told) in facts {
        let _ = writeln!(text, "  {name:<12}  {}", visible_line(&told));
    }
    tools(text, stats);
    tokens(text, stats);
    events(text, stats);
}

fn tools(text: &mut String, stats: &Stats) {
    let mut rows = vec![row([
        "tool", "calls", "errors", "total", "median", "longest", "",
    ])];
    for tool in &stats.tools {
        let known = |ms: Option<u64>| ms.map_or_else(|| "-".to_owned(), time);
        rows.push(vec![
            tool.name.clone(),
            tool.calls.to_string(),
            tool.errors.to_string(),
            known((tool.timed > 0).then_some(tool.total_ms)),
            known(tool.median_ms),
            known(tool.max_ms),
            tool.source.map(by).unwrap_or_default().trim().to_owned(),
        ]);
    }
    table(text, rows);
}

fn tokens(text: &mut String, stats: &Stats) {
    let mut rows = vec![row([
        "tokens",
        "requests",
        "input",
        "output",
        "reasoning",
        "cache read",
        "cache written",
        "total",
        "cost",
    ])];
    for model in &stats.models {
        let name = format!("{}/{}", model.provider, model.model);
        rows.push(used(name, model.answers.to_string(), &model.usage));
    }
    let requests = &stats.requests;
    for (name, usage) in [
        ("compactions", &requests.compactions),
        ("arbitrations", &requests.arbitrations),
        ("background agents", &requests.background_agents),
    ] {
        if usage.total_tokens > 0 {
            rows.push(used(name.to_owned(), String::new(), usage));
        }
    }
    if rows.len() > 2 {
        rows.push(used("all".to_owned(), String::new(), &stats.usage));
    }
    table(text, rows);
}

fn used(name: String, answers: String, usage: &Usage) -> Vec<String> {
    vec![
        name,
        answers,
        usage.input.to_string(),
        usage.output.to_string(),
        usage
            .reasoning
            .map_or_else(|| "-".to_owned(), |n| n.to_string()),
        usage.cache_read.to_string(),
        usage.cache_write.to_string(),
        usage.total_tokens.to_string(),
        format!("${:.6}", usage.cost.total.get()),
    ]
}

fn events(text: &mut String, stats: &Stats) {
    let mut rows = vec![row(["event", "lines", "bytes", "share"])];
    for event in &stats.events {
        rows.push(vec![
            event.kind.clone(),
            event.lines.to_string(),
            bytes(event.bytes),
            format!("{:.2} %", event.share),
        ]);
    }
    table(text, rows);
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A table with its first column to the left and the others to the right; nothing without rows.
fn table(text: &mut String, mut rows: Vec<Vec<String>>) {
    if rows.len() < 2 {
        return;
    }
    for cell in rows.iter_mut().flatten() {
        *cell = visible_line(cell).into_owned();
    }
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    text.push('\n');
    for row in &rows {
        let mut line = String::from(" ");
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 => write!(line, " {cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn by(source: TimeSource) -> &'static str {
    match source {
        TimeSource::Stamps => "",
        TimeSource::Messages => " (by the times of messages)",
        TimeSource::Mixed => " (in part by the times of messages)",
    }
}

fn time(ms: u64) -> String {
    let (seconds, rest) = (ms / 1000, ms % 1000);
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{:02} s", rest / 10),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Bytes in the largest unit that they fill, to one place.
fn bytes(count: u64) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] {
        if count >= size {
            return format!("{}.{} {unit}", count / size, count % size * 10 / size);
        }
    }
    format!("{count} B")
}

#[cfg(test)]
mod tests {
    use super::{bytes, time};

    #[test]
    fn units() {
        let times = [999, 1500, 61_000, 3_700_000].map(time);
        assert_eq!(times, ["999 ms", "1.50 s", "1 min 01 s", "1 h 01 min"]);
        let sizes = [999, 1500, 2_340_000, 5_000_000_000].map(bytes);
        assert_eq!(sizes, ["999 B", "1.5 kB", "2.3 MB", "5.0 GB"]);
    }
}
