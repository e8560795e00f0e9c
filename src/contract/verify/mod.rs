//! A stream held against its contract: frame, JSON, schema, order, and what the lines say about each
//! other.
//!
//! Memory is that of one line and of what is open: of messages that are over, 8 bytes each are kept
//! until their run ends.

mod blocks;
mod finding;
mod header;
mod print;
mod rules;
#[cfg(test)]
mod tests;
mod usage;
mod walk;

use std::sync::Arc;

use super::detect::{self, Detect};
use finding::Place;
pub use finding::{Finding, Severity};
use walk::{Judging, Walk};

use super::Wire;
use super::check::Checker;
use super::grammar::Grammar;
use super::json::{Document, MAX_DEPTH};
use super::lines::{Fault, Frame};
use crate::model::repair_surrogates;

/// How a stream is judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Its wire; `None` to tell it by its first lines.
    pub wire: Option<Wire>,
    /// As a reader of other versions sees it: a type, field or value that is not known is a note.
    pub open: bool,
    /// Hold a senpi or dreb stream to what Quipu promises beyond the document of its wire; without
    /// it such findings are notes. A native stream always is.
    pub ours: bool,
    /// Look at each line by itself: for a stream from which lines were left out on purpose.
    pub lines_only: bool,
}

/// What streams are held against: a grammar, and a bundle for each wire.
#[derive(Debug)]
pub struct Contract {
    grammar: Arc<Grammar>,
    /// By wire; `None` for the one that is embedded.
    checkers: [Option<Checker>; 3],
}

impl Default for Contract {
    /// The one that this build embeds.
    fn default() -> Self {
        Self::new(Grammar::embedded())
    }
}

impl Contract {
    /// Another grammar with the bundles that this build embeds.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>) -> Self {
        Self {
            grammar,
            checkers: [None, None, None],
        }
    }

    /// The same with another bundle for a wire.
    #[must_use]
    pub fn with_checker(mut self, wire: Wire, checker: Checker) -> Self {
        self.checkers[wire as usize] = Some(checker);
        self
    }

    fn checker(&self, wire: Wire) -> &Checker {
        match &self.checkers[wire as usize] {
            Some(checker) => checker,
            None => Checker::strict(wire),
        }
    }
}

/// Judges one stream, line by line.
///
/// ```
/// use quipu::contract::lines::Lines;
/// use quipu::contract::verify::{Options, Verifier};
///
/// let stream = b"{\"type\":\"turn_start\",\"note\":1}\n";
/// let mut lines = Lines::new(&stream[..]);
/// let mut verifier = Verifier::new(Options::default());
/// let mut findings = Vec::new();
/// while let Some(frame) = lines.next_line()? {
///     verifier.line(&frame, &mut findings);
/// }
/// let summary = verifier.finish(&mut findings);
/// assert_eq!(findings[0].to_string(), "line 1: turn_start: /note: there is no such field");
/// assert!(!summary.valid);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Verifier {
    contract: Arc<Contract>,
    options: Options,
    stage: Stage,
    scratch: Document<'static>,
    /// The number of the last line.
    number: u64,
    /// The last line was cut off within its value.
    cut: bool,
    errors: u64,
    notes: u64,
}

#[derive(Debug)]
enum Stage {
    /// Lines that wait until the wire is known; `None` for one that could not be read.
    Detecting {
        detect: Detect,
        held: Vec<(u64, Option<String>)>,
        bytes: usize,
        /// What was found of their frames.
        found: Vec<Finding>,
    },
    Walking(Box<Walk>),
    /// It is no stream; the rest is not looked at.
    Given,
}

/// What was seen of a stream in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Whether there was no finding but notes.
    pub valid: bool,
    /// Its wire; `None` when it is no stream of any.
    pub wire: Option<Wire>,
    /// Lines, blank ones left out.
    pub lines: u64,
    /// `agent_start` lines.
    pub runs: u64,
    /// `turn_start` lines.
    pub turns: u64,
    /// Findings that make it invalid.
    pub errors: u64,
    /// All others.
    pub notes: u64,
    /// It ends without its terminal line, in a way that means that the process was interrupted.
    pub interrupted: bool,
}

impl Verifier {
    /// A verifier with the contract that this build embeds.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::with_contract(options, Arc::default())
    }

    /// The same with another contract.
    #[must_use]
    pub fn with_contract(options: Options, contract: Arc<Contract>) -> Self {
        let mut verifier = Self {
            contract,
            options,
            stage: Stage::Detecting {
                detect: Detect::default(),
                held: Vec::new(),
                bytes: 0,
                found: Vec::new(),
            },
            scratch: Document::default(),
            number: 0,
            cut: false,
            errors: 0,
            notes: 0,
        };
        if let Some(wire) = options.wire {
            verifier.begin(wire, &mut Vec::new());
        }
        verifier
    }

    /// Takes the next line and appends what is wrong with it. While the wire is not known yet,
    /// findings of earlier lines may come with a later one.
    pub fn line(&mut self, frame: &Frame<'_>, findings: &mut Vec<Finding>) {
        let before = findings.len();
        self.number = frame.number;
        match &mut self.stage {
            Stage::Walking(_) => self.frame(frame, findings),
            Stage::Given => {}
            Stage::Detecting { found, .. } => {
                let mut found = std::mem::take(found);
                self.frame(frame, &mut found);
                if let Stage::Detecting { found: waiting, .. } = &mut self.stage {
                    *waiting = found;
                } else {
                    in_order(&mut found);
                    findings.append(&mut found);
                }
            }
        }
        self.count(&findings[before..]);
    }

    /// Whether the stream has come to its terminal line, if its wire has one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match &self.stage {
            Stage::Walking(walk) => walk.is_over(),
            Stage::Detecting { .. } => false,
            Stage::Given => true,
        }
    }

    /// The stream is over: appends what is wrong with its end.
    pub fn finish(mut self, findings: &mut Vec<Finding>) -> Summary {
        let before = findings.len();
        if self.number == 0 {
            self.stage = Stage::Given;
            let place = Place::of_line(0);
            let what = "the stream is empty: not even its header was written".to_owned();
            findings.push(place.finding("wire/empty".into(), "", Severity::Error, false, what));
        }
        if let Stage::Detecting { detect, found, .. } = &mut self.stage {
            let (wire, mut found) = (detect.guess(), std::mem::take(found));
            self.begin(wire, &mut found);
            in_order(&mut found);
            findings.append(&mut found);
        }
        let mut summary = Summary {
            valid: false,
            wire: None,
            lines: self.number,
            runs: 0,
            turns: 0,
            errors: 0,
            notes: 0,
            interrupted: false,
        };
        if let Stage::Walking(walk) = &mut self.stage {
            summary.interrupted = walk.finish(self.number, self.cut, findings);
            summary.wire = Some(walk.wire());
            summary.lines = walk.lines();
            summary.runs = walk.runs();
            summary.turns = walk.turns();
        }
        self.count(&findings[before..]);
        summary.errors = self.errors;
        summary.notes = self.notes;
        summary.valid = self.errors == 0;
        summary
    }

    fn count(&mut self, findings: &[Finding]) {
        let errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error);
        let errors = errors.count() as u64;
        self.errors += errors;
        self.notes += findings.len() as u64 - errors;
    }

    fn frame(&mut self, frame: &Frame<'_>, findings: &mut Vec<Finding>) {
        let place = Place::of_line(frame.number);
        let mut tell = |rule: &str, what: String| {
            findings.push(place.finding(rule.to_owned(), "", Severity::Error, false, what));
        };
        if let Some(fault) = frame.fault {
            tell(&format!("framing/{}", name(fault)), fault.to_string());
            match fault {
                Fault::Blank => return,
                Fault::TooLong { .. } => return self.take(frame.number, None, findings),
                Fault::CarriageReturn | Fault::ByteOrderMark | Fault::Cut => {}
            }
        }
        let cut = frame.fault == Some(Fault::Cut);
        let text = match std::str::from_utf8(frame.bytes) {
            Ok(text) => text,
            Err(error) => {
                // A cut may go through a character.
                self.cut = cut && error.error_len().is_none();
                if !self.cut {
                    let at = error.valid_up_to();
                    let of = frame.offset + at as u64;
                    tell(
                        "framing/utf8",
                        format!("is not UTF-8 at byte {at} (byte {of} of the stream)"),
                    );
                }
                return self.take(frame.number, None, findings);
            }
        };
        let scratch = std::mem::take(&mut self.scratch);
        match Document::read(text, scratch) {
            Ok(document) => {
                self.document(frame.number, text, &document, findings);
                self.scratch = emptied(document);
            }
            Err(error) => {
                if let Some(whole) = repair_surrogates(text)
                    && let Ok(document) = Document::read(&whole, Document::default())
                {
                    let what = "holds half of a surrogate pair as an escape (\\ud800 to \\udfff), which is \
                                no text in UTF-8; it is read as U+FFFD";
                    let severity = if self.is_held() {
                        Severity::Error
                    } else {
                        Severity::Note
                    };
                    let rule = "json/surrogate".to_owned();
                    findings.push(place.finding(rule, "", severity, false, what.to_owned()));
                    return self.document(frame.number, &whole, &document, findings);
                }
                self.cut = cut && error.cut;
                if error.trailing {
                    let what = format!(
                        "holds more than one value: something follows the first at column {}",
                        error.column
                    );
                    tell("framing/two_values", what);
                } else if error.deep {
                    let what = format!(
                        "nests deeper than {MAX_DEPTH} arrays and objects at column {}",
                        error.column
                    );
                    tell("json/depth", what);
                } else if !self.cut {
                    tell("json/syntax", format!("is not JSON: {error}"));
                }
                self.take(frame.number, None, findings);
                if error.trailing {
                    // Two lines became one.
                    self.take(frame.number, None, findings);
                }
            }
        }
    }

    /// Whether the stream is held to all that Quipu promises, as far as its wire is known.
    fn is_held(&self) -> bool {
        let native = match &self.stage {
            Stage::Walking(walk) => walk.wire() == Wire::Quipu,
            Stage::Detecting { detect, .. } => detect.wire() == Some(Wire::Quipu),
            Stage::Given => false,
        };
        native || self.options.ours
    }

    fn document(
        &mut self,
        number: u64,
        text: &str,
        document: &Document<'_>,
        findings: &mut Vec<Finding>,
    ) {
        if number == 2 && detect::is_session_entry(document.root()) {
            let place = Place::of_line(number);
            let what = "this is a session file, not a stream; `quipu sessions show FILE` shows it";
            let rule = "wire/session_file".to_owned();
            findings.push(place.finding(rule, "", Severity::Error, false, what.to_owned()));
            self.stage = Stage::Given;
            return;
        }
        if let Stage::Walking(walk) = &mut self.stage {
            walk.line(number, document.root(), findings);
        } else {
            if let Stage::Detecting { detect, .. } = &mut self.stage {
                detect.take(document.root());
            }
            self.take(number, Some(text.to_owned()), findings);
        }
    }

    /// Takes a line that has to wait, or that could not be read.
    fn take(&mut self, number: u64, line: Option<String>, findings: &mut Vec<Finding>) {
        match &mut self.stage {
            Stage::Walking(walk) => walk.pass_over(),
            Stage::Detecting {
                held,
                bytes,
                detect,
                ..
            } => {
                *bytes += line.as_ref().map_or(0, String::len);
                held.push((number, line));
                let full = held.len() >= detect::HELD_LINES || *bytes > detect::HELD_BYTES;
                let wire = detect.wire().or_else(|| full.then(|| detect.guess()));
                if let Some(wire) = wire {
                    self.begin(wire, findings);
                }
            }
            Stage::Given => {}
        }
    }

    /// The wire is known: takes the lines that waited.
    fn begin(&mut self, wire: Wire, findings: &mut Vec<Finding>) {
        let judging = Judging {
            wire,
            open: self.options.open,
            held: self.options.ours || wire == Wire::Quipu,
            lines_only: self.options.lines_only,
        };
        let Some(mut walk) = Walk::new(Arc::clone(&self.contract), judging) else {
            self.stage = Stage::Given;
            return;
        };
        let held = match std::mem::replace(&mut self.stage, Stage::Given) {
            Stage::Detecting { held, .. } => held,
            _ => Vec::new(),
        };
        for (number, line) in held {
            let document = line
                .as_deref()
                .and_then(|line| Document::read(line, Document::default()).ok());
            match document {
                Some(document) => walk.line(number, document.root(), findings),
                None => walk.pass_over(),
            }
        }
        self.stage = Stage::Walking(Box::new(walk));
    }
}

/// By line: what is found of the frames of lines that wait comes before what is found in them.
fn in_order(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| finding.line);
}

/// The room of a document for the next one.
fn emptied(document: Document<'_>) -> Document<'static> {
    Document::read("0", document).unwrap_or_default()
}

fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::CarriageReturn => "carriage_return",
        Fault::ByteOrderMark => "byte_order_mark",
        Fault::Blank => "blank",
        Fault::Cut => "cut",
        Fault::TooLong { .. } => "too_long",
    }
}
