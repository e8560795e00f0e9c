//! Each single thing that the grammar of a wire says, and the grammar without it.

use quipu::contract::Wire;
use serde_json::{Value, json};

/// One thing that the grammar says, to be taken away.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Its name in `rules.jsonl`.
    pub(crate) name: String,
    /// The rule of a finding that it leads to: the state or pair it is part of, or its own name.
    pub(crate) group: String,
    /// Whether less is legal without it, so that it shows on a legal stream first.
    pub(crate) allows: bool,
    /// Whether it is about what other programs may write and Quipu does not.
    pub(crate) foreign: bool,
    /// The pattern and the pointer, for a condition on a value.
    pub(crate) pattern: Option<(Value, String)>,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// What is at the pointer goes.
    Remove(String),
    /// The value is added to the list at the pointer.
    Add(String, Vec<Value>),
    /// There is one item, without a key.
    NoKey(String),
    /// The event is no longer legal everywhere but in that state.
    Nowhere(String, String),
}

/// The grammar without some of its rules.
pub(crate) fn without<'a>(grammar: &Value, rules: impl IntoIterator<Item = &'a Rule>) -> Value {
    let mut grammar = grammar.clone();
    for rule in rules {
        match &rule.change {
            // An item is marked first, so that the places of the others stay.
            Change::Remove(pointer) => {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                let key = key.replace("~1", "/");
                match grammar.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.shift_remove(&key)),
                    Some(Value::Array(list)) => list[key.parse::<usize>().unwrap()] = Value::Null,
                    _ => {}
                }
            }
            Change::Add(pointer, values) => {
                let list = grammar
                    .pointer_mut(pointer)
                    .unwrap()
                    .as_array_mut()
                    .unwrap();
                list.extend(values.iter().cloned());
            }
            Change::NoKey(pointer) => {
                if let Some(place) = grammar.pointer_mut(pointer) {
                    *place = Value::Null;
                }
            }
            Change::Nowhere(event, state) => {
                let entries = grammar["anywhere"].as_array_mut().unwrap();
                let mut more = Vec::new();
                for entry in entries.iter_mut() {
                    let events = entry["events"].as_array_mut().unwrap();
                    if let Some(at) = events.iter().position(|known| known == event) {
                        events.remove(at);
                        let mut rest = entry["in"].clone();
                        rest.as_array_mut().unwrap().retain(|known| known != state);
                        more.push(json!({ "events": [event], "in": rest }));
                    }
                }
                entries.extend(more);
            }
        }
    }
    sweep(&mut grammar);
    grammar
}

fn sweep(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(sweep),
        Value::Array(list) => {
            list.retain(|item| !item.is_null());
            list.iter_mut().for_each(sweep);
        }
        _ => {}
    }
}

/// Everything that can be taken away. `interrupted` forbids nothing: it tells final states apart.
pub(crate) fn rules(wire: Wire, grammar: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut add = |name: String, group: &str, allows, change| {
        rules.push(Rule {
            name,
            group: group.to_owned(),
            allows,
            foreign: false,
            pattern: None,
            change,
        });
    };
    let mut foreign = Vec::new();
    let last = strings(&grammar["final"]);
    for (at, state) in last.iter().enumerate() {
        add(
            format!("final/{state}"),
            &format!("order/{state}"),
            true,
            Change::Remove(format!("/final/{at}")),
        );
    }
    for (state, entry) in grammar["states"].as_object().unwrap() {
        let group = format!("order/{state}");
        if !last.contains(&state.as_str()) {
            add(
                format!("final/not {state}"),
                &group,
                false,
                Change::Add("/final".into(), vec![json!(state)]),
            );
        }
        let all = wire
            .types()
            .iter()
            .map(|event| json!({ "event": event, "to": state }))
            .collect();
        add(
            format!("states/{state}/nothing else"),
            &group,
            false,
            Change::Add(format!("/states/{state}/on"), all),
        );
        for (at, step) in entry["on"].as_array().unwrap().iter().enumerate() {
            let name = format!("states/{state}/on/{at} {}", step["event"].as_str().unwrap());
            let place = format!("/states/{state}/on/{at}");
            add(name.clone(), &group, true, Change::Remove(place.clone()));
            pattern(step, &name, &place, &mut |name, allows, change| {
                add(name, &group, allows, change);
            });
            if step["foreign"] == true {
                foreign.push(name);
            }
        }
    }
    for entry in grammar["anywhere"].as_array().unwrap() {
        for event in strings(&entry["events"]) {
            for state in strings(&entry["in"]) {
                let change = Change::Nowhere(event.to_owned(), state.to_owned());
                let name = format!("anywhere/{event} in {state}");
                add(name.clone(), &format!("order/{state}"), true, change);
                if entry["foreign"] == true {
                    foreign.push(name);
                }
            }
        }
    }
    for (at, pair) in grammar["pairs"].as_array().unwrap().iter().enumerate() {
        let label = pair["name"].as_str().unwrap();
        let group = format!("order/{label}");
        let mut add = |name: String, allows, change| add(name, &group, allows, change);
        self::pair(
            pair,
            &format!("pairs/{label}"),
            &format!("/pairs/{at}"),
            &mut add,
        );
    }
    for (at, rule) in grammar["rules"].as_array().unwrap().iter().enumerate() {
        let label = rule["name"].as_str().unwrap();
        add(
            format!("rules/{label}"),
            &format!("rule/{label}"),
            false,
            Change::Remove(format!("/rules/{at}")),
        );
    }
    for rule in &mut rules {
        rule.pattern = rule.condition(grammar);
        rule.foreign = foreign.iter().any(|name| rule.name.starts_with(name));
    }
    rules
}

impl Rule {
    /// The pattern and the pointer that a condition on a value is about.
    fn condition(&self, grammar: &Value) -> Option<(Value, String)> {
        let Change::Remove(place) = &self.change else {
            return None;
        };
        let (_, at) = self.name.rsplit_once(" where ")?;
        let (pattern, _) = place.rsplit_once("/where/")?;
        let whole = !at.contains(" is ");
        let pattern = grammar.pointer(pattern).filter(|_| whole)?;
        Some((pattern.clone(), at.to_owned()))
    }
}

fn pair(pair: &Value, name: &str, place: &str, add: &mut impl FnMut(String, bool, Change)) {
    add(name.to_owned(), false, Change::Remove(place.to_owned()));
    for (key, value) in pair.as_object().unwrap() {
        let (name, place) = (format!("{name}/{key}"), format!("{place}/{key}"));
        match key.as_str() {
            "open" | "within" | "close" | "alone" | "inside" | "closed_before" => {
                let allows = matches!(key.as_str(), "open" | "close" | "alone");
                patterns(value, &name, &place, allows, add);
            }
            "scope" => patterns(
                &value["reset"],
                &format!("{name}/reset"),
                &format!("{place}/reset"),
                true,
                add,
            ),
            "same" => items(value, &name, &place, add),
            "unique" => add(name, false, Change::Remove(place)),
            "key" if !value.is_null() => add(name, true, Change::NoKey(place)),
            _ => {}
        }
    }
}

fn patterns(
    list: &Value,
    name: &str,
    place: &str,
    allows: bool,
    add: &mut impl FnMut(String, bool, Change),
) {
    for (at, entry) in list.as_array().unwrap().iter().enumerate() {
        let name = format!("{name}/{at} {}", entry["event"].as_str().unwrap());
        let place = format!("{place}/{at}");
        add(name.clone(), allows, Change::Remove(place.clone()));
        pattern(entry, &name, &place, add);
    }
}

/// The conditions of a pattern.
fn pattern(pattern: &Value, name: &str, place: &str, add: &mut impl FnMut(String, bool, Change)) {
    for (at, values) in pattern["where"].as_object().into_iter().flatten() {
        let place = format!("{place}/where/{}", at.replace('/', "~1"));
        add(
            format!("{name} where {at}"),
            false,
            Change::Remove(place.clone()),
        );
        let values = values.as_array().unwrap();
        for (index, value) in values.iter().enumerate().filter(|_| values.len() > 1) {
            add(
                format!("{name} where {at} is {value}"),
                true,
                Change::Remove(format!("{place}/{index}")),
            );
        }
    }
    for key in ["absent", "same"] {
        items(
            &pattern[key],
            &format!("{name} {key}"),
            &format!("{place}/{key}"),
            add,
        );
    }
    if pattern.get("in").is_some() {
        add(
            format!("{name} in"),
            true,
            Change::Remove(format!("{place}/in")),
        );
        items(
            &pattern["in"],
            &format!("{name} in"),
            &format!("{place}/in"),
            add,
        );
    }
}

fn items(list: &Value, name: &str, place: &str, add: &mut impl FnMut(String, bool, Change)) {
    for (at, item) in strings(list).iter().enumerate() {
        add(
            format!("{name} {item}"),
            false,
            Change::Remove(format!("{place}/{at}")),
        );
    }
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Why a condition on a message's role says nothing that another condition of its pattern does not
/// say by the schema: no message of another role has the field that the other is about.
pub(crate) fn implied(wire: Wire, (pattern, at): &(Value, String)) -> Option<String> {
    let bundle: Value = serde_json::from_str(wire.strict()).unwrap();
    let roles = pattern["where"][at].as_array()?;
    let (parent, "role") = at.rsplit_once('/')? else {
        return None;
    };
    let member = |member: &Value| {
        bundle
            .pointer(member["$ref"].as_str().unwrap().trim_start_matches('#'))
            .unwrap()
    };
    let messages: Vec<&Value> = bundle["$defs"]["AgentMessage"]["oneOf"]
        .as_array()?
        .iter()
        .map(member)
        .collect();
    for (other, _) in pattern["where"].as_object()? {
        let Some(field) = other
            .strip_prefix(&format!("{parent}/"))
            .filter(|_| other != at)
        else {
            continue;
        };
        let has = |message: &&&Value| message["properties"].get(field).is_some();
        let closed = messages
            .iter()
            .all(|message| message["additionalProperties"] == false);
        let all = messages
            .iter()
            .filter(has)
            .all(|message| roles.contains(&message["properties"]["role"]["const"]));
        if closed && all {
            return Some(format!(
                "by the schema no message of another role has {field}, on which {other} is a condition too"
            ));
        }
    }
    None
}
