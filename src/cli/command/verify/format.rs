//! How findings are printed.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use crate::cli::command::counted;
use crate::cli::note;
use crate::contract::verify::{Finding, Severity, Summary};
use crate::wire::visible_line;

/// A form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `named`: the name of the file stands in front of each line.
    Human {
        named: bool,
    },
    Json,
    Github,
    Junit,
}

/// One stream, when it is over.
pub(super) struct Outcome<'o> {
    pub(super) file: &'o str,
    pub(super) summary: &'o Summary,
    /// Findings that were not printed.
    pub(super) more: u64,
}

/// Prints findings.
pub(super) struct Writer<W> {
    format: Format,
    out: W,
    /// For `junit`: the findings of the stream, and the test cases of those before it.
    findings: Vec<Finding>,
    cases: String,
    tests: u64,
    failures: u64,
    errors: u64,
}

/// A finding as a JSON line.
#[derive(Serialize)]
struct Line<'l> {
    /// Always `finding`.
    r#type: &'static str,
    file: &'l str,
    #[serde(flatten)]
    finding: &'l Finding,
}

/// A stream as a JSON line, after its findings.
#[derive(Serialize)]
struct End<'l> {
    /// Always `summary`.
    r#type: &'static str,
    file: &'l str,
    /// Whether there was no finding but notes.
    valid: bool,
    /// Absent when it is no stream of any wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    wire: Option<&'static str>,
    lines: u64,
    runs: u64,
    turns: u64,
    errors: u64,
    notes: u64,
    /// Findings that were not printed (`--max-findings`).
    omitted: u64,
    /// The process was interrupted, by what its wire says of a missing terminal line.
    interrupted: bool,
}

/// A stream that cannot be read as a JSON line, in the place of [`End`].
#[derive(Serialize)]
struct Unread<'l> {
    /// Always `unread`.
    r#type: &'static str,
    file: &'l str,
    message: &'l str,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(format: Format, out: W) -> Self {
        Self {
            format,
            out,
            findings: Vec::new(),
            cases: String::new(),
            tests: 0,
            failures: 0,
            errors: 0,
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub(super) fn finding(&mut self, file: &str, finding: Finding) -> io::Result<()> {
        match self.format {
            Format::Human { named } => {
                let line = finding.to_string();
                if named {
                    write!(self.out, "{}: ", visible_line(file))?;
                }
                writeln!(self.out, "{}", visible_line(&line))
            }
            Format::Json => self.json(&Line {
                r#type: "finding",
                file,
                finding: &finding,
            }),
            Format::Github => {
                let level = match finding.severity {
                    Severity::Error => "error",
                    Severity::Note => "notice",
                };
                writeln!(
                    self.out,
                    "::{level} file={},line={},title={}::{}",
                    property(file),
                    finding.line.max(1),
                    property(&finding.rule),
                    data(&finding.without_line().to_string())
                )
            }
            Format::Junit => {
                self.findings.push(finding);
                Ok(())
            }
        }
    }

    /// The stream is over.
    pub(super) fn stream(&mut self, outcome: &Outcome<'_>) -> io::Result<()> {
        let Outcome {
            file,
            summary,
            more,
        } = *outcome;
        match self.format {
            Format::Human { named } => {
                self.out.flush()?;
                let name = if named {
                    format!("{}: ", visible_line(file))
                } else {
                    String::new()
                };
                if more > 0 {
                    note(&format!("{name}{}", counted(more, "more finding")));
                }
                note(&format!("{name}{}", in_words(summary)));
                Ok(())
            }
            Format::Json => self.json(&End {
                r#type: "summary",
                file,
                valid: summary.valid,
                wire: summary.wire.map(crate::contract::Wire::name),
                lines: summary.lines,
                runs: summary.runs,
                turns: summary.turns,
                errors: summary.errors,
                notes: summary.notes,
                omitted: more,
                interrupted: summary.interrupted,
            }),
            Format::Github => {
                if more > 0 {
                    let what = counted(more, "more finding");
                    writeln!(
                        self.out,
                        "::notice file={}::{}",
                        property(file),
                        data(&what)
                    )?;
                }
                Ok(())
            }
            Format::Junit => {
                self.case(outcome);
                Ok(())
            }
        }
    }

    /// The stream cannot be read, or not to its end. What was found of it comes before.
    pub(super) fn unread(&mut self, file: &str, why: &str) -> io::Result<()> {
        match self.format {
            // Standard error tells.
            Format::Human { .. } => self.out.flush(),
            Format::Json => self.json(&Unread {
                r#type: "unread",
                file,
                message: why,
            }),
            Format::Github => {
                let (file, why) = (property(file), data(why));
                writeln!(self.out, "::error file={file},title=unread::{why}")
            }
            Format::Junit => {
                self.tests += 1;
                self.errors += 1;
                let found: Vec<String> = std::mem::take(&mut self.findings)
                    .iter()
                    .map(|finding| xml(&finding.to_string()))
                    .collect();
                let (file, why, found) = (xml(file), xml(why), found.join("\n"));
                let _ = writeln!(
                    self.cases,
                    "    <testcase classname=\"unknown\" name=\"{file}\">\n      <error \
                     message=\"{why}\" type=\"unread\">{found}</error>\n    </testcase>"
                );
                Ok(())
            }
        }
    }

    /// All streams are over.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.format == Format::Junit {
            let Self {
                tests,
                failures,
                errors,
                cases,
                ..
            } = &self;
            let report = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite \
                 name=\"quipu verify\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
                 skipped=\"0\">\n{cases}  </testsuite>\n</testsuites>\n"
            );
            self.out.write_all(report.as_bytes())?;
        }
        self.out.flush()
    }

    fn json(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }

    /// The test case of a stream.
    fn case(&mut self, outcome: &Outcome<'_>) {
        let findings = std::mem::take(&mut self.findings);
        let Outcome {
            file,
            summary,
            more,
        } = *outcome;
        self.tests += 1;
        let wire = summary.wire.map_or("unknown", crate::contract::Wire::name);
        let (wire, file) = (xml(wire), xml(file));
        let _ = write!(
            self.cases,
            "    <testcase classname=\"{wire}\" name=\"{file}\""
        );
        let of = |severity| {
            findings
                .iter()
                .filter(move |finding| finding.severity == severity)
        };
        let lines = |severity| {
            let lines: Vec<String> = of(severity)
                .map(|finding| xml(&finding.to_string()))
                .collect();
            lines.join("\n")
        };
        let (errors, notes) = (lines(Severity::Error), lines(Severity::Note));
        let more = if more > 0 {
            format!("\n{}", counted(more, "more finding"))
        } else {
            String::new()
        };
        if summary.valid && notes.is_empty() {
            self.cases.push_str("/>\n");
            return;
        }
        self.cases.push_str(">\n");
        if !summary.valid {
            self.failures += 1;
            let message = xml(&in_words(summary));
            let rule = xml(of(Severity::Error)
                .next()
                .map_or("", |finding| &finding.rule));
            let _ = writeln!(
                self.cases,
                "      <failure message=\"{message}\" type=\"{rule}\">{errors}{more}</failure>"
            );
        }
        if !notes.is_empty() {
            let _ = writeln!(self.cases, "      <system-out>{notes}</system-out>");
        }
        self.cases.push_str("    </testcase>\n");
    }
}

/// `valid: 213 lines, wire quipu, 3 runs`
fn in_words(summary: &Summary) -> String {
    let mut parts = vec![counted(summary.lines, "line")];
    parts.extend(summary.wire.map(|wire| format!("wire {}", wire.name())));
    parts.push(counted(summary.runs, "run"));
    if summary.errors > 0 {
        parts.push(counted(summary.errors, "finding"));
    }
    if summary.notes > 0 {
        parts.push(counted(summary.notes, "note"));
    }
    let verdict = if summary.valid { "valid" } else { "not valid" };
    format!("{verdict}: {}", parts.join(", "))
}

/// The text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Text for XML 1.0: what it cannot hold becomes U+FFFD.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
