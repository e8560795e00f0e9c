//! `grammar.json` to tables.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize as _;
use serde_json::Value;

use super::pairs::{ByEvent, Pair, Roles};
use super::pattern::{MAX_POINTERS, Pattern, Pointer, PointerId};
use super::states::{MAX_STATES, Machine, StateSet, Step};
use super::{CompileError, Grammar, Rule, WireGrammar, file};
use crate::codegen::grammar::MAX_VALUES;
use crate::contract::Wire;

impl Grammar {
    /// Compiles a grammar.
    ///
    /// # Errors
    /// The first thing in it that this program cannot follow.
    pub fn compile(grammar: &Value) -> Result<Self, CompileError> {
        let file = file::File::deserialize(grammar)
            .map_err(|error| CompileError::Form(error.to_string()))?;
        let mut wires = [None, None, None];
        for (name, wire) in &file.wires {
            let known = name
                .parse::<Wire>()
                .map_err(|_| CompileError::UnknownWire(name.clone()))?;
            let compiled = Compiler::new(wire)
                .wire(wire)
                .map_err(|what| CompileError::Wire {
                    wire: name.clone(),
                    what,
                })?;
            wires[known as usize] = Some(compiled);
        }
        Ok(Self { wires })
    }
}

struct Compiler {
    states: HashMap<String, usize>,
    events: HashMap<String, u16>,
    names: Vec<String>,
    pointers: Vec<Pointer>,
}

type Result_<T> = Result<T, String>;

/// The list of a role.
type Place = fn(&mut Roles) -> &mut Vec<Pattern>;

impl Compiler {
    fn new(wire: &file::Wire) -> Self {
        let states = wire.states.keys().cloned().zip(0..).collect();
        Self {
            states,
            events: HashMap::new(),
            names: Vec::new(),
            pointers: Vec::new(),
        }
    }

    fn event(&mut self, name: &str) -> Result_<usize> {
        let next = u16::try_from(self.names.len()).map_err(|_| "too many events".to_owned())?;
        if !self.events.contains_key(name) {
            self.events.insert(name.to_owned(), next);
            self.names.push(name.to_owned());
        }
        Ok(usize::from(self.events[name]))
    }

    fn state(&self, name: &str) -> Result_<usize> {
        let state = self.states.get(name).copied();
        state.ok_or_else(|| format!("there is no state `{name}`"))
    }

    fn set(&self, names: &[String]) -> Result_<StateSet> {
        let states: Result_<Vec<usize>> = names.iter().map(|name| self.state(name)).collect();
        Ok(StateSet::of(states?))
    }

    fn pointer(&mut self, text: &str) -> Result_<PointerId> {
        let at = self.pointers.iter().position(|known| known.text == text);
        let at = if let Some(at) = at {
            at
        } else {
            let Some(rest) = text.strip_prefix('/') else {
                return Err(format!("`{text}` is no JSON pointer into a line"));
            };
            let steps = rest.split('/');
            let steps = steps.map(|step| step.replace("~1", "/").replace("~0", "~"));
            self.pointers.push(Pointer {
                text: text.to_owned(),
                steps: steps.collect(),
                wanted: Vec::new(),
            });
            self.pointers.len() - 1
        };
        match u8::try_from(at) {
            Ok(id) if at < MAX_POINTERS => Ok(PointerId(id)),
            _ => Err(format!("more than {MAX_POINTERS} JSON pointers")),
        }
    }

    fn pattern(
        &mut self,
        wanted: &BTreeMap<String, Vec<Value>>,
        absent: &[String],
    ) -> Result_<Pattern> {
        let mut conditions = Vec::new();
        for (text, values) in wanted {
            let at = self.pointer(text)?;
            let known = &mut self.pointers[usize::from(at.0)].wanted;
            let mut bits = 0;
            for value in values {
                let bit = known.iter().position(|known| known == value);
                let bit = bit.unwrap_or_else(|| {
                    known.push(value.clone());
                    known.len() - 1
                });
                if bit >= MAX_VALUES {
                    return Err(format!("more than {MAX_VALUES} values at `{text}`"));
                }
                bits |= 1 << bit;
            }
            conditions.push((at, bits));
        }
        let absent: Result_<Vec<PointerId>> = absent.iter().map(|at| self.pointer(at)).collect();
        Ok(Pattern {
            wanted: conditions,
            absent: absent?,
            states: StateSet::ALL,
            same: Vec::new(),
            ours: false,
        })
    }

    fn full(&mut self, pattern: &file::Pattern) -> Result_<Pattern> {
        let mut compiled = self.pattern(&pattern.r#where, &pattern.absent)?;
        if let Some(states) = &pattern.r#in {
            compiled.states = self.set(states)?;
        }
        for at in &pattern.same {
            compiled.same.push(self.pointer(at)?);
        }
        compiled.ours = pattern.promise.is_some();
        Ok(compiled)
    }

    fn wire(mut self, wire: &file::Wire) -> Result_<WireGrammar> {
        if wire.states.len() > MAX_STATES {
            return Err(format!("more than {MAX_STATES} states"));
        }
        self.name_events(wire)?;
        let machine = self.machine(wire)?;
        let (pairs, by_event) = self.pairs(wire)?;
        let (rules, ours) = self.rules(wire)?;
        Ok(WireGrammar {
            events: self.events,
            names: self.names,
            pointers: self.pointers,
            machine,
            pairs,
            by_event,
            rules,
            ours,
            undocumented: wire.undocumented.clone(),
        })
    }

    /// Gives each type its number, so that tables can be made.
    fn name_events(&mut self, wire: &file::Wire) -> Result_<()> {
        let steps = wire.states.values().flat_map(|state| &state.on);
        let mut names: Vec<&String> = steps.map(|step| &step.event).collect();
        names.extend(wire.anywhere.iter().flat_map(|entry| &entry.events));
        for pair in &wire.pairs {
            let resets = pair.scope.iter().flat_map(|scope| &scope.reset);
            let lists = [
                &pair.open,
                &pair.within,
                &pair.close,
                &pair.alone,
                &pair.inside,
                &pair.closed_before,
            ];
            let patterns = lists.into_iter().flatten().chain(resets);
            names.extend(patterns.map(|pattern| &pattern.event));
        }
        for name in names {
            self.event(name)?;
        }
        Ok(())
    }

    fn machine(&mut self, wire: &file::Wire) -> Result_<Machine> {
        let events = self.names.len();
        let mut steps = vec![vec![Vec::new(); events]; wire.states.len()];
        let mut after = Vec::new();
        for (state, steps) in wire.states.values().zip(&mut steps) {
            let mut to = Vec::new();
            for step in &state.on {
                let event = self.event(&step.event)?;
                let compiled = Step {
                    pattern: self.pattern(&step.r#where, &step.absent)?,
                    to: self.state(&step.to)?,
                    foreign: step.foreign,
                    condition: condition(step),
                };
                to.push(compiled.to);
                steps[event].push(compiled);
            }
            after.push(StateSet::of(to));
        }
        let mut anywhere = vec![StateSet(0); events];
        let mut foreign = anywhere.clone();
        for entry in &wire.anywhere {
            let states = self.set(&entry.r#in)?;
            for name in &entry.events {
                let event = self.event(name)?;
                let places = if entry.foreign {
                    &mut foreign
                } else {
                    &mut anywhere
                };
                places[event].0 |= states.0;
            }
        }
        let ours = wire.states.values().enumerate();
        let ours = ours.filter(|(_, state)| state.promise.is_some());
        Ok(Machine {
            names: wire.states.keys().cloned().collect(),
            descriptions: wire
                .states
                .values()
                .map(|state| state.description.clone())
                .collect(),
            ours: StateSet::of(ours.map(|(index, _)| index)),
            initial: StateSet::one(self.state(&wire.initial)?),
            end: self.set(&wire.r#final)?,
            interrupted: self.set(&wire.interrupted)?,
            steps,
            anywhere,
            foreign,
            after,
        })
    }

    fn pairs(&mut self, wire: &file::Wire) -> Result_<(Vec<Pair>, ByEvent)> {
        let mut pairs = Vec::new();
        let mut by_event: ByEvent = vec![Vec::new(); self.names.len()];
        for (index, pair) in wire.pairs.iter().enumerate() {
            let same: Result_<Vec<PointerId>> =
                pair.same.iter().map(|at| self.pointer(at)).collect();
            let same = same?;
            let mut kept = same.clone();
            let resets: &[file::Pattern] = match &pair.scope {
                Some(scope) => &scope.reset,
                None => &[],
            };
            let lists: [(&[file::Pattern], Place); 7] = [
                (&pair.closed_before, |roles| &mut roles.closed_before),
                (resets, |roles| &mut roles.reset),
                (&pair.close, |roles| &mut roles.close),
                (&pair.alone, |roles| &mut roles.alone),
                (&pair.within, |roles| &mut roles.within),
                (&pair.open, |roles| &mut roles.open),
                (&pair.inside, |roles| &mut roles.inside),
            ];
            for (patterns, place) in lists {
                for pattern in patterns {
                    let compiled = self.full(pattern)?;
                    for &at in &compiled.same {
                        if !kept.contains(&at) {
                            kept.push(at);
                        }
                    }
                    let event = self.event(&pattern.event)?;
                    let known = &mut by_event[event];
                    if known.last().is_none_or(|(last, _)| *last != index) {
                        known.push((index, Roles::default()));
                    }
                    if let Some((_, roles)) = known.last_mut() {
                        place(roles).push(compiled);
                    }
                }
            }
            let key = pair.key.as_deref().map(|at| self.pointer(at)).transpose()?;
            pairs.push(Pair {
                name: pair.name.clone(),
                key,
                same,
                kept,
                unique: pair.unique,
                may_stay: pair.closed_before.is_empty(),
                ours: pair.promise.is_some(),
                opener: label(&pair.open),
                closer: label(&pair.close),
            });
        }
        Ok((pairs, by_event))
    }

    /// The rules to check by event, and those that only Quipu promises.
    fn rules(&mut self, wire: &file::Wire) -> Result_<(Vec<u16>, u16)> {
        let mut by_event = vec![0; self.names.len()];
        let mut ours = 0;
        for rule in &wire.rules {
            let known = Rule::ALL
                .into_iter()
                .find(|known| known.name() == rule.name);
            let known = known.ok_or_else(|| format!("there is no rule `{}`", rule.name))?;
            for name in &rule.events {
                let event = self.events.get(name);
                let event = event
                    .ok_or_else(|| format!("rule `{}`: there is no event `{name}`", rule.name))?;
                by_event[usize::from(*event)] |= known.bit();
            }
            if rule.promise.is_some() {
                ours |= known.bit();
            }
        }
        Ok((by_event, ours))
    }
}

/// The conditions of a step in words.
fn condition(step: &file::Step) -> String {
    let wanted = step.r#where.iter().map(|(at, values)| {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        format!("{at} {}", values.join(" or "))
    });
    let absent = step.absent.iter().map(|at| format!("no {at}"));
    wanted.chain(absent).collect::<Vec<_>>().join(" and ")
}

/// How the lines of a list of patterns are called: by their types, or by those of their deltas.
fn label(patterns: &[file::Pattern]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for pattern in patterns {
        let deltas = pattern.r#where.get("/assistantMessageEvent/type");
        let deltas = deltas.into_iter().flatten().filter_map(Value::as_str);
        let own = deltas.clone().next().is_none();
        for name in deltas.chain(own.then_some(pattern.event.as_str())) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.join(" or ")
}
