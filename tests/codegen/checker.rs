//! The checker of lines against an independent validator: on every bundle, on bundles that lost a
//! keyword, and on instances that are wrong in every way.

use crate::codegen::bundle::Mode;
use crate::codegen::model::Schema;
use crate::{documents, holds, mutants, schema};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use quipu::contract::check::{Checker, Fault, Keyword};
use quipu::contract::json::Document;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What is wrong where: a pointer and a keyword.
type Found = BTreeSet<(String, String)>;

/// Numbers that look random, and are the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn pick<'v, T>(&mut self, list: &'v [T]) -> &'v T {
        &list[self.below(list.len())]
    }
}

/// Every place within `value`, itself first.
fn places(value: &Value) -> Vec<String> {
    fn collect(value: &Value, at: &str, all: &mut Vec<String>) {
        all.push(at.to_owned());
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    collect(inner, &format!("{at}/{key}"), all);
                }
            }
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    collect(inner, &format!("{at}/{index}"), all);
                }
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(value, "", &mut all);
    all
}

/// `value` with up to three edits anywhere; `tags` are values that discriminators have.
fn edited(value: &Value, tags: &[String], dice: &mut Dice) -> Value {
    let mut value = value.clone();
    for _ in 0..=dice.below(3) {
        let at = dice.pick(&places(&value)).clone();
        let place = value.pointer_mut(&at).unwrap();
        let old = place.take();
        *place = match (dice.below(14), old) {
            (0, _) => json!(null),
            (1, _) => json!(dice.pick(tags)),
            (2, _) => dice
                .pick(&[json!(-1), json!(0.5), json!(3.0), json!(1e300)])
                .clone(),
            (3, _) => dice
                .pick(&[json!(true), json!(false), json!({}), json!([])])
                .clone(),
            (4, old) => json!([old]),
            (5, old) => json!({ dice.pick(tags).as_str(): old }),
            (6 | 7, Value::Object(mut map)) if !map.is_empty() => {
                let index = dice.below(map.len());
                let key = map.keys().nth(index).cloned().unwrap();
                map.shift_remove(&key);
                map.into()
            }
            (8, Value::Object(mut map)) => {
                map.insert("more".into(), json!("?"));
                map.into()
            }
            (9, Value::Object(map)) => map.into_iter().rev().collect::<Map<_, _>>().into(),
            (10..=13, Value::Object(mut map)) => {
                for tag in ["type", "role", "source"] {
                    if let Some(value) = map.get_mut(tag) {
                        *value = json!(dice.pick(tags));
                    }
                }
                map.into()
            }
            (6..=13, Value::Array(mut list)) if !list.is_empty() => {
                list.extend_from_within(..1);
                list.into()
            }
            (_, old) => old,
        };
    }
    value
}

/// Every constant of the bundle, and a text that is none.
fn tags(document: &Value) -> Vec<String> {
    let places = places(document);
    let constants = places.iter().filter(|place| place.ends_with("/const"));
    let texts = constants.filter_map(|place| document.pointer(place)?.as_str());
    let texts: BTreeSet<String> = texts.chain(["nope"]).map(ToOwned::to_owned).collect();
    texts.into_iter().collect()
}

fn faults(checker: &Checker, title: &str, instance: &Value) -> Vec<Fault> {
    let line = instance.to_string();
    let document = Document::read(&line, Document::default()).unwrap();
    let mut faults = Vec::new();
    assert!(checker.check_def(title, document.root(), &mut faults));
    faults
}

/// All that the witness found, with what it found in each branch of a union; whether it came by
/// a union.
fn leaves<'e>(errors: impl Iterator<Item = ValidationError<'e>>, found: &mut Found) -> bool {
    fn leaf(error: &ValidationError<'_>, found: &mut Found) -> bool {
        let keyword = error.kind().keyword().to_owned();
        found.insert((error.instance_path().to_string(), keyword));
        match error.kind() {
            ValidationErrorKind::OneOfNotValid { context } => {
                for error in context.iter().flatten() {
                    leaf(error, found);
                }
                true
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => true,
            _ => false,
        }
    }
    let mut union = false;
    for error in errors {
        union |= leaf(&error, found);
    }
    union
}

/// A fault as the witness would name it.
fn translated(fault: &Fault) -> (String, String) {
    let mut at = fault.pointer.clone();
    let mut keyword = fault.keyword.name();
    match fault.keyword {
        Keyword::AdditionalProperties => at.truncate(at.rfind('/').unwrap()),
        Keyword::OneOf if fault.message.starts_with("unknown ") => keyword = "const",
        Keyword::OneOf if fault.message.ends_with(" is missing") => keyword = "required",
        _ => {}
    }
    (at, keyword.to_owned())
}

/// Asserts that both say the same of `instance`; whether it is valid.
fn agree(checker: &Checker, title: &str, witness: &Validator, instance: &Value) -> bool {
    let faults = faults(checker, title, instance);
    let valid = witness.is_valid(instance);
    assert_eq!(faults.is_empty(), valid, "{title}: {instance}: {faults:#?}");
    if valid {
        return true;
    }
    let mut expected = Found::new();
    let union = leaves(witness.iter_errors(instance), &mut expected);
    let found: Found = faults.iter().map(translated).collect();
    if union {
        assert!(
            found.is_subset(&expected),
            "{title}: {instance}: {faults:#?} {expected:#?}"
        );
    } else {
        assert_eq!(found, expected, "{title}: {instance}");
    }
    false
}

fn counted(valid: bool, counts: &mut [usize; 2]) {
    counts[usize::from(valid)] += 1;
}

#[test]
fn both_give_the_same_verdict_and_the_same_faults() {
    let schema = schema();
    let mut dice = Dice(0x5EED);
    let (mut single, mut random) = ([0; 2], [0; 2]);
    for document in Mode::ALL.iter().flat_map(|mode| documents(&schema, *mode)) {
        let checker = Checker::compile(&document).unwrap();
        let witnesses = jsonschema::validator_map_for(&document).unwrap();
        let tags = tags(&document);
        for def in schema.defs.values() {
            let title = &def.title;
            let at = if document["title"] == **title {
                "#".into()
            } else {
                format!("#/$defs/{title}")
            };
            let Some(witness) = witnesses.get(&at) else {
                continue;
            };
            for example in &def.examples {
                assert!(agree(&checker, title, witness, example), "{title}");
                // All of them are many: the witness is slow.
                for instance in mutants(example) {
                    if dice.below(8) > 0 {
                        continue;
                    }
                    let valid = agree(&checker, title, witness, &instance);
                    counted(valid, &mut single);
                }
                for _ in 0..6 {
                    let instance = edited(example, &tags, &mut dice);
                    let valid = agree(&checker, title, witness, &instance);
                    counted(valid, &mut random);
                }
            }
        }
    }
    assert!(single[0] > 2000 && single[1] > 200, "{single:?}");
    assert!(random[0] > 2000 && random[1] > 200, "{random:?}");
}

/// The def by itself with all that it leads to; `None` if it leads to the root.
fn alone(document: &Value, title: &str) -> Option<Value> {
    let mut defs = Map::new();
    let mut queue = vec![title.to_owned()];
    while let Some(title) = queue.pop() {
        let def = &document["$defs"][&title];
        if def.is_null() || defs.contains_key(&title) {
            continue;
        }
        for place in places(def).iter().filter(|place| place.ends_with("/$ref")) {
            queue.push(
                def.pointer(place)?
                    .as_str()?
                    .strip_prefix("#/$defs/")?
                    .to_owned(),
            );
        }
        let mut def = def.clone();
        def.as_object_mut().unwrap().shift_remove("examples");
        defs.insert(title, def);
    }
    Some(json!({ "title": "Root", "$ref": format!("#/$defs/{title}"), "$defs": defs }))
}

/// Takes one keyword away, or one entry of a keyword; says which.
fn without(document: &mut Value, dice: &mut Dice) -> String {
    const KEYWORDS: [&str; 12] = [
        "type",
        "const",
        "enum",
        "minimum",
        "required",
        "properties",
        "additionalProperties",
        "items",
        "$ref",
        "allOf",
        "oneOf",
        "discriminator",
    ];
    let places = places(document);
    let last = |place: &str| {
        place
            .rsplit_once('/')
            .map(|(at, last)| (at.to_owned(), last.to_owned()))
    };
    let rules: Vec<(String, String)> = places
        .iter()
        .filter(|place| place.starts_with("/$defs/"))
        .filter_map(|place| last(place))
        // Not a property that is called `type`.
        .filter(|(at, key)| !at.ends_with("/properties") && KEYWORDS.contains(&&**key))
        .collect();
    let (at, key) = dice.pick(&rules);
    let schema = document.pointer_mut(at).unwrap().as_object_mut().unwrap();
    match &mut schema[key] {
        Value::Array(entries) if entries.len() > 1 && dice.below(4) > 0 => {
            let entry = dice.below(entries.len());
            entries.remove(entry);
            format!("{at}/{key}/{entry}")
        }
        Value::Object(entries) if key == "properties" && dice.below(4) > 0 => {
            let name = entries
                .keys()
                .nth(dice.below(entries.len()))
                .cloned()
                .unwrap();
            entries.shift_remove(&name);
            format!("{at}/{key}/{name}")
        }
        _ => {
            schema.shift_remove(key);
            format!("{at}/{key}")
        }
    }
}

/// A bundle and its def `title`, without one keyword: both validators say the same of all kinds of
/// instances. Counts the ones that the keyword decides.
fn mutilated(
    schema: &Schema,
    whole: &Value,
    title: &str,
    part: Option<&Value>,
    dice: &mut Dice,
) -> usize {
    let (title, sound) = match part {
        Some(part) => ("Root", part),
        None => (title, whole),
    };
    let mut document = sound.clone();
    let gone = without(&mut document, dice);
    let checker = Checker::compile(&document).unwrap();
    let before = Checker::compile(sound).unwrap();
    let witness = jsonschema::draft202012::new(&document).unwrap();
    let tags = tags(sound);
    let of = sound["$ref"]
        .as_str()
        .and_then(|def| def.rsplit('/').next());
    let of = of.unwrap_or(title);
    let mut decided = 0;
    for example in &schema.defs[of].examples {
        let edits: Vec<Value> = (0..8).map(|_| edited(example, &tags, dice)).collect();
        let mutants = mutants(example);
        let mutants = mutants.iter().filter(|_| dice.below(8) == 0);
        for instance in mutants.chain(&edits) {
            let own = faults(&checker, title, instance);
            let valid = witness.is_valid(instance);
            assert_eq!(
                own.is_empty(),
                valid,
                "without {gone}: {instance}: {own:#?}"
            );
            decided += usize::from(valid != faults(&before, title, instance).is_empty());
        }
    }
    decided
}

#[test]
fn a_bundle_without_a_keyword_is_what_json_schema_makes_of_it() {
    let schema = schema();
    let mut dice = Dice(0xB07);
    let (mut bundles, mut deciding) = (0, 0);
    for document in Mode::ALL.iter().flat_map(|mode| documents(&schema, *mode)) {
        let root = document["title"].as_str().unwrap();
        for _ in 0..4 {
            deciding += usize::from(mutilated(&schema, &document, root, None, &mut dice) > 0);
            bundles += 1;
        }
        let titles = schema.defs.keys().filter(|title| holds(&document, title));
        let parts = titles.filter_map(|title| Some((title, alone(&document, title)?)));
        for (title, part) in parts.filter(|(title, _)| title.as_str() != root) {
            deciding +=
                usize::from(mutilated(&schema, &document, title, Some(&part), &mut dice) > 0);
            bundles += 1;
        }
    }
    assert!(
        bundles > 300 && deciding > 150,
        "{bundles} bundles, {deciding} deciding"
    );
}
