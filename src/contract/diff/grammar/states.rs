//! The state machine.

use super::pattern::{event, is_wider, list, overlap, shown, strings, to};
use super::{Breaks, Walk};
use crate::codegen::escape;
use serde_json::Value;
use std::collections::BTreeSet;

fn steps<'v>(grammar: &'v Value, state: &str) -> Vec<&'v Value> {
    let states = grammar.get("states");
    let state = states.and_then(|states| states.get(state));
    state.map(|state| list(state, "on")).unwrap_or_default()
}

/// Whether two steps are about the same lines, wherever they lead.
fn same_lines(a: &Value, b: &Value) -> bool {
    is_wider(a, b) && is_wider(b, a)
}

impl Walk<'_> {
    pub(super) fn states(&mut self) {
        let (old, new) = (self.old, self.new);
        let of =
            |grammar: &'static str, side: &Value| side.get(grammar).cloned().unwrap_or_default();
        let (before, now) = (of("states", old), of("states", new));
        for state in super::keys(&before, &now) {
            let place = format!("/states/{}", escape(&state));
            // What leads to it tells who breaks.
            match (before.get(&state), now.get(&state)) {
                (Some(before), Some(now)) => {
                    if before.get("description") != now.get("description") {
                        self.words(&format!("{place}/description"), "reworded");
                    }
                    for key in super::keys(before, now) {
                        let known = ["description", "on"].contains(&key.as_str());
                        if !known && before.get(&key) != now.get(&key) {
                            let place = format!("{place}/{}", escape(&key));
                            self.add(&place, None, Breaks::Undecided, "changed");
                        }
                    }
                    self.state(&state, &format!("{place}/on"));
                }
                (None, _) => self.add(&place, None, Breaks::Nobody, "state added"),
                _ => self.add(&place, None, Breaks::Nobody, "state removed"),
            }
        }
    }

    fn state(&mut self, state: &str, place: &str) {
        let (before, now) = (steps(self.old, state), steps(self.new, state));
        self.turned(place, &before, &now);
        let mut removed = before.clone();
        removed.retain(|step| !now.contains(step));
        let mut added = now.clone();
        added.retain(|step| !before.contains(step));
        let anywhere = |grammar, step: &Value| Self::legal(grammar).contains(&(event(step), state));
        let (old, new) = (self.old, self.new);

        // What became of a step: it leads elsewhere, or is there for other lines.
        removed.retain(|step| {
            let mut fates = added.iter().enumerate();
            let elsewhere = fates.clone().find(|(_, now)| same_lines(step, now));
            let adapted = fates.find(|(_, now)| event(now) == event(step) && to(now) == to(step));
            let Some((index, fate)) = elsewhere.or(adapted) else {
                return true;
            };
            let fate = *fate;
            let others = |steps: &[&Value], but: &Value, with: &Value| {
                let mut others = steps.iter().filter(|other| **other != but);
                others.any(|other| overlap(other, with))
            };
            let (breaks, what) = if elsewhere.is_some() {
                let what = format!(
                    "{} leads to `{}`, no longer to `{}`",
                    shown(step),
                    to(fate),
                    to(step)
                );
                (Breaks::Both, what)
            } else if others(&before, step, fate) || others(&now, fate, step) {
                (
                    Breaks::Undecided,
                    format!("{} became {}", shown(step), shown(fate)),
                )
            } else {
                let breaks = match (is_wider(fate, step), is_wider(step, fate)) {
                    (true, _) => Breaks::Readers,
                    (_, true) => Breaks::Producers,
                    _ => Breaks::Both,
                };
                (breaks, format!("{} became {}", shown(step), shown(fate)))
            };
            self.add(place, Some(event(step)), breaks, what);
            added.remove(index);
            false
        });
        for step in removed {
            let overlaps = now.iter().any(|other| overlap(other, step));
            let breaks = if self.is_gone(event(step)) {
                Breaks::Producers
            } else if overlaps || anywhere(new, step) {
                Breaks::Undecided
            } else {
                Breaks::Producers
            };
            self.add(
                place,
                Some(event(step)),
                breaks,
                format!("{} is no longer legal", shown(step)),
            );
        }
        for step in added {
            let overlaps = before.iter().any(|other| overlap(other, step));
            let breaks = if self.is_new(event(step)) {
                // Readers skip the line, so they must be where they would be without it.
                if self.simulates(to(step), state, &mut BTreeSet::new()) {
                    Breaks::Nobody
                } else {
                    Breaks::Undecided
                }
            } else if overlaps || anywhere(old, step) {
                Breaks::Undecided
            } else {
                Breaks::Readers
            };
            let what = format!("{} is legal, leads to `{}`", shown(step), to(step));
            self.add(place, Some(event(step)), breaks, what);
        }
    }

    /// The first step that a line matches counts, so the order of those that overlap does too.
    fn turned(&mut self, place: &str, before: &[&Value], now: &[&Value]) {
        let at = |step: &Value| now.iter().position(|other| *other == step);
        let mut turned = Vec::new();
        for (index, first) in before.iter().enumerate() {
            for second in &before[index + 1..] {
                if let (Some(a), Some(b)) = (at(first), at(second))
                    && a > b
                {
                    turned.push(overlap(first, second));
                }
            }
        }
        if turned.contains(&true) {
            self.add(
                place,
                None,
                Breaks::Undecided,
                "steps for the same lines in another order",
            );
        } else if !turned.is_empty() {
            self.words(place, "steps in another order");
        }
    }

    /// Whether what may follow in the state `now` may, without new lines, follow in `before`.
    fn simulates(&self, now: &str, before: &str, seen: &mut BTreeSet<(String, String)>) -> bool {
        if !seen.insert((now.to_owned(), before.to_owned())) {
            return true;
        }
        let ends = |grammar, state| strings(grammar, "final").contains(&state);
        let old_legal = Self::legal(self.old);
        let lines = Self::legal(self.new).into_iter().all(|(event, state)| {
            state != now || self.is_new(event) || old_legal.contains(&(event, before))
        });
        lines
            && (!ends(self.new, now) || ends(self.old, before))
            && steps(self.new, now).into_iter().all(|step| {
                if self.is_new(event(step)) {
                    return self.simulates(to(step), before, seen);
                }
                let mut known = steps(self.old, before).into_iter();
                known.any(|old| same_lines(old, step) && self.simulates(to(step), to(old), seen))
            })
    }
}
