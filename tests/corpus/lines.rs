//! Lines made from a bundle: sound ones that need each thing the schema allows, and for each rule one
//! that breaks it and nothing else.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::bundle::{Bundle, Name, fields, list, reference, tag};

/// A line and what it is to show.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Pointer to the rule in the bundle that it needs or breaks.
    pub(crate) aim: String,
    pub(crate) line: Value,
    /// The valid line that it was, for an invalid one.
    pub(crate) of: Option<Value>,
    /// The keyword and the pointer into the line, for an invalid one.
    pub(crate) fault: Option<(&'static str, String)>,
}

/// The cases of a bundle, valid ones first.
pub(crate) fn cases(bundle: &Bundle<'_>) -> Vec<Case> {
    let mut maker = Maker {
        bundle,
        cases: Vec::new(),
        seen: HashSet::new(),
    };
    let names: Vec<Name<'_>> = bundle.names().collect();
    for name in &names {
        maker.valid(*name);
    }
    for name in &names {
        maker.invalid(*name);
    }
    maker.cases
}

struct Maker<'b, 'a> {
    bundle: &'b Bundle<'a>,
    cases: Vec<Case>,
    seen: HashSet<String>,
}

/// Where a def is in the bundle.
fn place(name: Name<'_>) -> String {
    match name {
        Name::Root => String::new(),
        Name::Def(title) => format!("/$defs/{title}"),
    }
}

impl<'a> Maker<'_, 'a> {
    fn pass(&mut self, name: Name<'a>, aim: &str, value: Value) {
        let line = self.bundle.place(name, value).line;
        if self.seen.insert(line.to_string()) {
            let aim = place(name) + aim;
            self.cases.push(Case {
                aim,
                line,
                of: None,
                fault: None,
            });
        }
    }

    /// `value` was `of`; the fault shows at `at` in it.
    fn fail(
        &mut self,
        name: Name<'a>,
        aim: &str,
        [of, value]: [Value; 2],
        keyword: &'static str,
        at: &str,
    ) {
        let of = self.bundle.place(name, of).line;
        let placed = self.bundle.place(name, value);
        let aim = place(name) + aim;
        let fault = Some((keyword, placed.pointer + at));
        self.cases.push(Case {
            aim,
            line: placed.line,
            of: Some(of),
            fault,
        });
    }

    fn valid(&mut self, name: Name<'a>) {
        let schema = self.bundle.schema(name);
        for example in list(schema, "examples") {
            self.pass(name, "", example.clone());
        }
        for (at, value) in list(schema, "enum").enumerate() {
            self.pass(name, &format!("/enum/{at}"), value.clone());
        }
        if schema.get("properties").is_none() {
            return;
        }
        let [full, bare] = self.bundle.full_and_bare(name);
        self.pass(name, "/properties", full.clone());
        self.pass(name, "/required", bare);
        let mut low = full.clone();
        let bundle = self.bundle;
        for (field, schema) in fields(schema) {
            let mut with = |aim: &str, value: Value| {
                let mut line = full.clone();
                line[field] = value;
                self.pass(name, &format!("/properties/{field}{aim}"), line);
            };
            if let Some(minimum) = schema.get("minimum") {
                low[field] = minimum.clone();
            }
            match schema["type"].as_str() {
                Some("array") => with("/items", json!([])),
                Some("integer" | "boolean" | "string") => {}
                Some("number") => {
                    with("/type", json!(0));
                    with("/type", json!(-0.5));
                }
                Some(_) => with("/type", json!({})),
                None if list(schema, "oneOf").next().is_some() => {
                    with("/oneOf/1", Value::Null);
                    with("/oneOf/0", bundle.sample(schema));
                }
                None if reference(schema).is_some() => {}
                None => [
                    json!(null),
                    json!(false),
                    json!(1.5),
                    json!("text"),
                    json!([{}]),
                ]
                .into_iter()
                .for_each(|value| with("", value)),
            }
        }
        self.pass(name, "/properties", low);
    }

    fn invalid(&mut self, name: Name<'a>) {
        let schema = self.bundle.schema(name);
        if list(schema, "enum").next().is_some() {
            let base = self.bundle.example(name);
            self.fail(name, "/enum", [base.clone(), json!("nope")], "enum", "");
            self.fail(name, "/type", [base, json!(1)], "type", "");
        } else if let Some(tag) = tag(schema) {
            let base = self.bundle.example(name);
            if self.bundle.tags(name).is_empty() {
                self.fail(name, "/oneOf", [base.clone(), json!("text")], "oneOf", "");
            }
            let mut other = base.clone();
            other[tag] = json!("nope");
            self.fail(
                name,
                "/oneOf",
                [base.clone(), other.clone()],
                "oneOf",
                &format!("/{tag}"),
            );
            other[tag] = json!(1);
            self.fail(name, "/oneOf", [base, other], "oneOf", &format!("/{tag}"));
        } else if list(schema, "oneOf").next().is_some() {
            let base = self.bundle.example(name);
            self.fail(name, "/oneOf", [base.clone(), json!(1)], "oneOf", "");
            self.fail(name, "/oneOf", [base.clone(), json!({})], "oneOf", "");
            self.fail(name, "/oneOf/1/items", [base, json!([1])], "oneOf", "/0");
        } else {
            self.object(name);
        }
    }

    fn object(&mut self, name: Name<'a>) {
        let schema = self.bundle.schema(name);
        let base = self.bundle.example(name);
        let tags = self.bundle.tags(name);
        if tags.is_empty() {
            self.fail(name, "/type", [base.clone(), json!("text")], "type", "");
        }
        let mut more = base.clone();
        more["unknownField"] = json!(true);
        self.fail(
            name,
            "/additionalProperties",
            [base.clone(), more],
            "additionalProperties",
            "/unknownField",
        );
        for (at, field) in list(schema, "required").enumerate() {
            let field = field.as_str().unwrap();
            let mut without = base.clone();
            without.as_object_mut().unwrap().shift_remove(field);
            let aim = format!("/required/{at}");
            // Without it nobody can say which member of its union the value was to be.
            let keyword = if tags.contains(&field) {
                "oneOf"
            } else {
                "required"
            };
            self.fail(name, &aim, [base.clone(), without], keyword, "");
        }
        for (field, schema) in fields(schema) {
            for (aim, value, keyword, below) in self.wrong(schema) {
                let mut other = base.clone();
                other[field] = value;
                let aim = format!("/properties/{field}{aim}");
                let keyword = if tags.contains(&field) {
                    "oneOf"
                } else {
                    keyword
                };
                self.fail(
                    name,
                    &aim,
                    [base.clone(), other],
                    keyword,
                    &format!("/{field}{below}"),
                );
            }
        }
    }

    /// Values that break one rule each of a field's schema: the rule, the value, the keyword, and
    /// where in the value the fault is.
    fn wrong(&self, schema: &Value) -> Vec<(&'static str, Value, &'static str, &'static str)> {
        if let Some(to) = reference(schema) {
            let target = self.bundle.schema(to);
            let keyword = if target.get("type").is_some() {
                "type"
            } else {
                "oneOf"
            };
            return vec![
                ("/allOf", json!(1), keyword, ""),
                ("/allOf", Value::Null, keyword, ""),
            ];
        }
        if schema.get("oneOf").is_some() {
            return vec![
                ("/oneOf", json!(1), "oneOf", ""),
                ("/oneOf", json!([]), "oneOf", ""),
            ];
        }
        if let Some(value) = schema.get("const") {
            let other = match value {
                Value::String(_) => json!("nope"),
                Value::Number(_) => json!(99),
                other => json!(!other.as_bool().unwrap()),
            };
            return vec![
                ("/const", other, "const", ""),
                ("/type", Value::Null, "type", ""),
            ];
        }
        let Some(ty) = schema["type"].as_str() else {
            return Vec::new();
        };
        let mut wrong = vec![("/type", Value::Null, "type", "")];
        wrong.push((
            "/type",
            if ty == "string" {
                json!(1)
            } else {
                json!("text")
            },
            "type",
            "",
        ));
        match ty {
            "integer" => wrong.push(("/type", json!(0.5), "type", "")),
            "array" => {
                let items = &schema["items"];
                if reference(items).is_none() {
                    wrong.extend(
                        self.wrong(items)
                            .into_iter()
                            .map(|(_, value, keyword, _)| ("/items/type", value, keyword, "/0"))
                            .map(|(aim, value, keyword, at)| (aim, json!([value]), keyword, at)),
                    );
                } else {
                    let keyword = if self
                        .bundle
                        .schema(reference(items).unwrap())
                        .get("type")
                        .is_some()
                    {
                        "type"
                    } else {
                        "oneOf"
                    };
                    wrong.push(("/items", json!([1]), keyword, "/0"));
                }
            }
            _ => {}
        }
        if schema.get("minimum").is_some() {
            wrong.push(("/minimum", json!(-1), "minimum", ""));
        }
        wrong
    }
}
