//! How a rule tells of what breaks it.

use super::super::finding::{Finding, Place, Severity};
use crate::contract::grammar::{EventId, Rule, WireGrammar};

/// Takes what is wrong with one line by the rules.
pub(in crate::contract::verify) struct Report<'r> {
    pub(in crate::contract::verify) grammar: &'r WireGrammar,
    pub(in crate::contract::verify) event: EventId,
    pub(in crate::contract::verify) place: Place<'r>,
    /// Whether the line is held to what only Quipu promises.
    pub(in crate::contract::verify) held: bool,
    /// Nothing is told: what came before makes the line doubtful.
    pub(in crate::contract::verify) mute: bool,
    pub(in crate::contract::verify) findings: &'r mut Vec<Finding>,
    /// Whether something was told.
    pub(in crate::contract::verify) told: bool,
}

impl Report<'_> {
    /// Tells of a fault if the grammar has the rule at this event.
    pub(in crate::contract::verify) fn wrong(
        &mut self,
        rule: Rule,
        pointer: &str,
        what: impl FnOnce() -> String,
    ) {
        self.tell(rule, pointer, false, what);
    }

    /// The same for something that the document of a wire leaves open in a rule that it has.
    pub(super) fn beyond(&mut self, rule: Rule, pointer: &str, what: impl FnOnce() -> String) {
        self.tell(rule, pointer, true, what);
    }

    fn tell(&mut self, rule: Rule, pointer: &str, ours: bool, what: impl FnOnce() -> String) {
        if self.mute || !self.grammar.checks(rule, self.event) {
            return;
        }
        let beyond = (ours || self.grammar.is_ours(rule)) && !self.held;
        let rule = format!("rule/{}", rule.name());
        let severity = if beyond {
            Severity::Note
        } else {
            Severity::Error
        };
        self.findings
            .push(self.place.finding(rule, pointer, severity, beyond, what()));
        self.told = true;
    }
}
