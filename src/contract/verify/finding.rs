//! What a verifier finds.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong, or worth to know, about a line or a stream.
///
/// As JSON it has these keys, of which `agent`, `event` and `pointer` are left out when empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The line, from 1; for the end of a stream its last line, 0 when it is empty.
    pub line: u64,
    /// The background agent whose stream the line is of: ids from the outermost, joined by `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Type of the line, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What was broken: `framing/KIND`, `json/KIND`, `schema/KEYWORD`, `order/STATE-OR-PAIR`,
    /// `rule/NAME`, `header/FIELD`, `stamp/FIELD` or `wire/KIND`.
    pub rule: String,
    /// JSON pointer into the line; empty for the line as a whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// Whether it makes the stream invalid.
    pub severity: Severity,
    /// What is wrong, in words.
    pub message: String,
}

impl Finding {
    /// The finding in words without its line and severity, where those stand elsewhere.
    #[must_use]
    pub fn without_line(&self) -> impl fmt::Display + '_ {
        WithoutLine(self)
    }

    /// Makes it a note: the document of the wire leaves it open.
    pub(super) fn soften(&mut self) {
        if self.severity == Severity::Error {
            self.severity = Severity::Note;
            self.message = format!("{BEYOND}{}", self.message);
        }
    }
}

const BEYOND: &str = "Quipu promises more than the document of this wire: ";

/// Whether a finding makes a stream invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth to know.
    Note,
    /// It does.
    Error,
}

impl Severity {
    /// Its name in all formats.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Error => "error",
        }
    }
}

/// `line 12: message_update: /assistantMessageEvent/contentIndex: expected integer, got string`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if self.severity == Severity::Note {
            f.write_str("note: ")?;
        }
        write!(f, "{}", self.without_line())
    }
}

/// A finding without its line and severity, where those stand elsewhere.
struct WithoutLine<'f>(&'f Finding);

impl fmt::Display for WithoutLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(finding) = self;
        if let Some(agent) = &finding.agent {
            write!(f, "agent {agent}: ")?;
        }
        if let Some(event) = &finding.event {
            write!(f, "{event}: ")?;
        }
        if !finding.pointer.is_empty() {
            write!(f, "{}: ", finding.pointer)?;
        }
        f.write_str(&finding.message)
    }
}

/// What of a name from the stream is shown, in characters.
const LONGEST_EVENT: usize = 100;
const LONGEST_POINTER: usize = 1000;

/// The text, or the begin of a long one.
fn short(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Where a finding is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub(super) line: u64,
    pub(super) agent: Option<&'p str>,
    pub(super) event: Option<&'p str>,
    /// Where the event is in the line.
    pub(super) under: &'p str,
}

impl Place<'_> {
    /// A line by itself.
    pub(super) fn of_line(line: u64) -> Self {
        Self {
            line,
            agent: None,
            event: None,
            under: "",
        }
    }

    /// A finding here; `beyond`: the document of the wire leaves it open.
    pub(super) fn finding(
        &self,
        rule: String,
        pointer: &str,
        severity: Severity,
        beyond: bool,
        message: String,
    ) -> Finding {
        Finding {
            line: self.line,
            agent: self.agent.map(str::to_owned),
            event: self.event.map(|event| short(event, LONGEST_EVENT)),
            rule,
            pointer: short(&format!("{}{pointer}", self.under), LONGEST_POINTER),
            severity,
            message: if beyond {
                format!("{BEYOND}{message}")
            } else {
                message
            },
        }
    }
}
