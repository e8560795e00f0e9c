//! One stream, line by line: that of a process, or that of a background agent within it.

use std::collections::HashMap;
use std::sync::Arc;

use super::finding::{Finding, Place, Severity};
use super::rules::{Report, Rules};
use super::{Contract, header};
use crate::contract::Wire;
use crate::contract::check::{Fault, Keyword};
use crate::contract::grammar::{Order, OrderFault, Rule, WireGrammar};
use crate::contract::json::Value;

/// How lines are judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judging {
    pub(super) wire: Wire,
    /// What is not known is a note.
    pub(super) open: bool,
    /// What only Quipu promises is held against the stream.
    pub(super) held: bool,
    pub(super) lines_only: bool,
}

/// Where a stream is.
#[derive(Debug)]
pub(super) struct Walk {
    contract: Arc<Contract>,
    judging: Judging,
    /// The ids of the background agents that the stream is of.
    agent: Option<String>,
    order: Order,
    rules: Rules,
    lines: u64,
    runs: u64,
    /// Whether lines have `seq`, and the next one.
    stamped: Option<bool>,
    seq: u64,
    children: HashMap<u64, Walk>,
    faults: Vec<Fault>,
    misplaced: Vec<OrderFault>,
    /// Whether the terminal line was seen.
    ended: bool,
}

/// What is known of a line before it is looked at.
#[derive(Clone, Copy)]
struct Doubt {
    /// Its content is wrong: its place is not judged, and what follows from it is not certain.
    line: bool,
    /// The same for the line of a background agent in it.
    child: bool,
    /// Nobody knows its type.
    unknown: bool,
}

impl Walk {
    /// A stream of a wire; `None` if the contract has no grammar for it.
    pub(super) fn new(contract: Arc<Contract>, judging: Judging) -> Option<Self> {
        let order = contract.grammar.wire(judging.wire)?.begin();
        Some(Self {
            contract,
            judging,
            agent: None,
            order,
            rules: Rules::new(judging.wire),
            lines: 0,
            runs: 0,
            stamped: None,
            seq: 0,
            children: HashMap::new(),
            faults: Vec::new(),
            misplaced: Vec::new(),
            ended: false,
        })
    }

    /// The stream of a background agent.
    fn child(&self, id: &str) -> Option<Self> {
        let mut child = Self::new(Arc::clone(&self.contract), self.judging)?;
        if self.judging.wire == Wire::Dreb {
            // Its header is not passed on.
            child.order = child.grammar()?.begin_after_header();
        }
        child.agent = Some(match &self.agent {
            Some(outer) => format!("{outer}/{id}"),
            None => id.to_owned(),
        });
        Some(child)
    }

    fn grammar(&self) -> Option<&WireGrammar> {
        self.contract.grammar.wire(self.judging.wire)
    }

    pub(super) fn wire(&self) -> Wire {
        self.judging.wire
    }

    /// Whether nothing may follow any more.
    pub(super) fn is_over(&self) -> bool {
        self.ended
            || self
                .grammar()
                .is_some_and(|grammar| grammar.is_over(&self.order))
    }

    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    pub(super) fn turns(&self) -> u64 {
        self.rules.turns()
    }

    /// Passes over a line that could not be read.
    pub(super) fn pass_over(&mut self) {
        self.lines += 1;
        self.seq = self.seq.saturating_add(1);
        let contract = Arc::clone(&self.contract);
        if let Some(grammar) = contract.grammar.wire(self.judging.wire) {
            grammar.pass_over(&mut self.order);
        }
        self.rules.distrust();
        // It may have been one of theirs.
        self.children.values_mut().for_each(Walk::doubt);
    }

    fn doubt(&mut self) {
        let contract = Arc::clone(&self.contract);
        if let Some(grammar) = contract.grammar.wire(self.judging.wire) {
            grammar.pass_over(&mut self.order);
        }
        self.rules.distrust();
    }

    /// Takes a line.
    pub(super) fn line(&mut self, number: u64, line: Value<'_, '_>, findings: &mut Vec<Finding>) {
        let mut faults = std::mem::take(&mut self.faults);
        let wire = self.judging.wire;
        self.contract.checker(wire).check(line, &mut faults);
        let place = Place {
            line: number,
            agent: None,
            event: line.get("type").and_then(Value::as_str),
            under: "",
        };
        let doubt = self.schema(line, &faults, place, findings);
        faults.clear();
        self.faults = faults;
        self.take(place, line, doubt, findings);
    }

    /// Tells of the faults that the schema finds.
    fn schema(
        &self,
        line: Value<'_, '_>,
        faults: &[Fault],
        place: Place<'_>,
        findings: &mut Vec<Finding>,
    ) -> Doubt {
        let mut doubt = Doubt {
            line: false,
            child: false,
            unknown: false,
        };
        for fault in faults {
            // Which stream, and where in its line.
            let (mut at, mut of, mut agent) = (fault.pointer.as_str(), line, None::<String>);
            while let Some(rest) = at.strip_prefix("/event").filter(|_| is_child_line(of)) {
                let id = of
                    .get("agentId")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                agent = Some(match agent {
                    Some(outer) => format!("{outer}/{id}"),
                    None => id.to_owned(),
                });
                let Some(event) = of.get("event") else { break };
                (at, of) = (rest, event);
            }
            let unknown = fault.keyword == Keyword::OneOf
                && line
                    .pointer(&fault.pointer)
                    .is_some_and(|tag| tag.as_str().is_some());
            let new =
                unknown || matches!(fault.keyword, Keyword::AdditionalProperties | Keyword::Enum);
            let grammar = self.grammar();
            let kind = of.get("type").and_then(Value::as_str).unwrap_or_default();
            let open = |kind, at| grammar.is_some_and(|grammar| grammar.is_undocumented(kind, at));
            let beyond = !self.judging.held
                && (open(kind, at) || open(place.event.unwrap_or_default(), &fault.pointer));
            let note = beyond || new && self.judging.open;
            let severity = if note {
                Severity::Note
            } else {
                Severity::Error
            };
            let place = Place {
                agent: agent.as_deref().or(self.agent.as_deref()),
                ..place
            };
            findings.push(place.finding(
                format!("schema/{}", fault.keyword),
                &fault.pointer,
                severity,
                beyond,
                fault.message.clone(),
            ));
            if unknown && at == "/type" {
                doubt.unknown |= agent.is_none();
                doubt.child |= agent.is_some();
            } else if !note || unknown || fault.keyword == Keyword::Enum {
                doubt.line |= agent.is_none();
                doubt.child |= agent.is_some();
            }
        }
        doubt
    }

    /// Takes a line whose content is judged already.
    fn take(
        &mut self,
        place: Place<'_>,
        line: Value<'_, '_>,
        doubt: Doubt,
        findings: &mut Vec<Finding>,
    ) {
        self.lines += 1;
        let kind = place.event.unwrap_or_default();
        let header = self.lines == 1 && kind == "session";
        if header {
            header::time(line, place, findings);
        }
        if self.judging.wire == Wire::Quipu {
            if header {
                let open = header::check(line, place, findings);
                self.judging.open |= open;
            }
            self.ended |= kind == "stream_end";
            if !self.judging.lines_only {
                self.stamp(line, place, findings);
            }
        }
        if kind == "agent_start" {
            self.runs += 1;
        }
        if self.judging.lines_only {
            return;
        }
        let contract = Arc::clone(&self.contract);
        let Some(grammar) = contract.grammar.wire(self.judging.wire) else {
            return;
        };
        let Some(event) = grammar.event(kind).filter(|_| !doubt.unknown) else {
            // It may stand in the place of one that is known: misspelt, or renamed in a newer stream.
            if self.judging.held || self.judging.open {
                self.doubt();
                self.children.values_mut().for_each(Walk::doubt);
            }
            return;
        };
        let mut faults = std::mem::take(&mut self.misplaced);
        let mut probe = grammar.probe(line);
        let held = self.judging.held;
        let about = (place.line, doubt.line, held);
        let excused = grammar.take(&mut self.order, event, &mut probe, about, &mut faults);
        let mut certain = !excused;
        for fault in faults.drain(..) {
            certain &= fault.ours && !held;
            findings.push(self.order_finding(place, fault));
        }
        self.misplaced = faults;
        let mute = !certain || doubt.line;
        let mut report = Report {
            grammar,
            event,
            place,
            held: self.judging.held,
            mute,
            findings,
            told: false,
        };
        self.rules.take(kind, line, self.lines, &mut report);
        if doubt.line || !certain {
            self.rules.distrust();
        }
        match kind {
            "background_agent_event" => {
                self.child_line(line, doubt, &mut report);
            }
            "background_agent_end" => {
                let id = line.get("agentId").map(Value::fingerprint);
                let child = self.children.remove(&id.unwrap_or_default());
                let well = line.get("success").and_then(Value::as_bool) == Some(true);
                if let Some(child) = child.filter(|_| well && !report.mute) {
                    child.left(&mut report);
                }
            }
            _ => {}
        }
    }

    /// The agent whose stream this is ended well, so its stream may not stop where none can end.
    fn left(&self, report: &mut Report<'_>) {
        let Some(grammar) = self.grammar() else {
            return;
        };
        let mut faults = Vec::new();
        grammar.finish(&self.order, &mut faults);
        let place = Place {
            agent: self.agent.as_deref(),
            event: None,
            ..report.place
        };
        let before = report.findings.len();
        for fault in faults {
            report.findings.push(self.order_finding(place, fault));
        }
        if !self.judging.held {
            report.findings[before..]
                .iter_mut()
                .for_each(Finding::soften);
        }
    }

    fn order_finding(&self, place: Place<'_>, fault: OrderFault) -> Finding {
        let beyond = fault.ours && !self.judging.held;
        let severity = if beyond {
            Severity::Note
        } else {
            Severity::Error
        };
        let rule = format!("order/{}", fault.name);
        place.finding(rule, &fault.pointer, severity, beyond, fault.message)
    }

    /// Takes the line of a background agent.
    fn child_line(&mut self, line: Value<'_, '_>, doubt: Doubt, report: &mut Report<'_>) {
        let (Some(id), Some(event)) = (line.get("agentId"), line.get("event")) else {
            return;
        };
        let kind = event.get("type").and_then(Value::as_str);
        let dreb = self.judging.wire == Wire::Dreb;
        if dreb && kind == Some("session") {
            report.wrong(Rule::ChildLines, "/event/type", || {
                "is session, which is not passed on".to_owned()
            });
            return;
        }
        let key = id.fingerprint();
        // The steps of a chain are streams of their own, one after the other.
        let begins = match kind {
            Some("session") => true,
            Some("agent_start") => dreb,
            _ => false,
        };
        if begins || !self.children.contains_key(&key) {
            let Some(child) = self.child(id.as_str().unwrap_or_default()) else {
                return;
            };
            self.children.insert(key, child);
        }
        let Some(child) = self.children.get_mut(&key) else {
            return;
        };
        let agent = child.agent.clone();
        let under = format!("{}/event", report.place.under);
        let place = Place {
            line: report.place.line,
            agent: agent.as_deref(),
            event: kind,
            under: &under,
        };
        let doubt = Doubt {
            line: doubt.child,
            child: doubt.child,
            unknown: false,
        };
        let before = report.findings.len();
        child.take(place, event, doubt, report.findings);
        let open = report
            .grammar
            .is_undocumented("background_agent_event", "/event");
        if open && !self.judging.held {
            report.findings[before..]
                .iter_mut()
                .for_each(Finding::soften);
        }
    }

    /// `seq` counts the lines, and `at` stands beside it.
    fn stamp(&mut self, line: Value<'_, '_>, place: Place<'_>, findings: &mut Vec<Finding>) {
        let seq = line.get("seq");
        let at = line.get("at");
        let stamped = *self.stamped.get_or_insert(seq.is_some() || at.is_some());
        let mut wrong = |field: &str, pointer: &str, what: String| {
            let rule = format!("stamp/{field}");
            findings.push(place.finding(rule, pointer, Severity::Error, false, what));
        };
        let expected = self.seq;
        self.seq = self.seq.saturating_add(1);
        match (stamped, seq.and_then(Value::as_u64)) {
            (true, Some(seq)) if seq != expected => {
                wrong("seq", "/seq", format!("is {seq}, expected {expected}"));
                self.seq = seq.saturating_add(1);
            }
            (true, None) if seq.is_none() => {
                wrong(
                    "seq",
                    "",
                    "\"seq\" is missing; earlier lines have it".to_owned(),
                );
            }
            (false, _) if seq.is_some() => {
                wrong(
                    "seq",
                    "/seq",
                    "comes here, earlier lines have none".to_owned(),
                );
            }
            _ => {}
        }
        match (stamped, at) {
            (true, None) => wrong(
                "at",
                "",
                "\"at\" is missing; lines with `seq` have it".to_owned(),
            ),
            (false, Some(_)) => wrong(
                "at",
                "/at",
                "comes here, earlier lines have none".to_owned(),
            ),
            _ => {}
        }
    }

    /// The stream is over. `cut`: its last line was cut off, so that its end says nothing new.
    /// Gives whether it was interrupted.
    pub(super) fn finish(&mut self, number: u64, cut: bool, findings: &mut Vec<Finding>) -> bool {
        if self.judging.lines_only {
            return false;
        }
        let Some(grammar) = self.contract.grammar.wire(self.judging.wire) else {
            return false;
        };
        let mut faults = Vec::new();
        let interrupted = grammar.finish(&self.order, &mut faults);
        let place = Place::of_line(number);
        if !cut {
            for fault in faults.drain(..) {
                findings.push(self.order_finding(place, fault));
            }
        }
        if interrupted && !cut {
            let what = "the stream has no terminal line: the process was interrupted".to_owned();
            let rule = "order/interrupted".to_owned();
            findings.push(place.finding(rule, "", Severity::Note, false, what));
        }
        interrupted
    }
}

fn is_child_line(line: Value<'_, '_>) -> bool {
    line.get("type").and_then(Value::as_str) == Some("background_agent_event")
}
