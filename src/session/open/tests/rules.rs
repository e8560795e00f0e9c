//! Whatever is done to a session, its tree is valid, and what the model is given follows from the
//! rules of the format, which are written down here once more.

use std::collections::HashMap;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::sample::Index as Pick;

use super::*;

/// What somebody does to a session.
#[derive(Clone, Debug)]
enum Step {
    Say(Box<AgentMessage>),
    Model(String),
    Think(ThinkingLevel),
    Name(String),
    Label(Pick),
    Data,
    /// Goes back to an entry or to the root, and sums up what was left.
    Branch(Option<Pick>, String),
    /// Goes back and says nothing.
    GoTo(Pick),
    Compact(Pick),
    Reopen,
    /// Ends in the middle of a line.
    Crash(Vec<u8>),
    Fork,
}

fn bash(hidden: bool) -> AgentMessage {
    let mut bash = json!({
        "role": "bashExecution", "command": "ls", "output": "", "cancelled": false,
        "truncated": false, "timestamp": 1,
    });
    if hidden {
        bash["excludeFromContext"] = json!(true);
    }
    message(bash)
}

fn result() -> AgentMessage {
    message(json!({
        "role": "toolResult", "toolCallId": "c", "toolName": "t", "content": [], "isError": false,
        "timestamp": 1,
    }))
}

fn step() -> impl Strategy<Value = Step> {
    let half = any::<u8>().prop_filter("an open string", |byte| !b"\n\"".contains(byte));
    let half = prop::collection::vec(half, 1..9);
    prop_oneof![
        4 => ".{0,9}".prop_map(|text| Step::Say(user(&text).into())),
        4 => prop_oneof![Just("stop"), Just("error")].prop_map(|why| Step::Say(answer(why).into())),
        1 => Just(Step::Say(result().into())),
        1 => any::<bool>().prop_map(|hidden| Step::Say(bash(hidden).into())),
        1 => ".{0,9}".prop_map(|text| Step::Say(message(sample::custom(&text)).into())),
        1 => "[a-c]".prop_map(Step::Model),
        1 => prop::sample::select(ThinkingLevel::ALL).prop_map(Step::Think),
        1 => "[a-c]{0,2}".prop_map(Step::Name),
        1 => any::<Pick>().prop_map(Step::Label),
        1 => Just(Step::Data),
        2 => (any::<Option<Pick>>(), "[a-c]{0,1}").prop_map(|(to, text)| Step::Branch(to, text)),
        1 => any::<Pick>().prop_map(Step::GoTo),
        3 => any::<Pick>().prop_map(Step::Compact),
        2 => Just(Step::Reopen),
        1 => half.prop_map(|half| Step::Crash([b"{\"", &half[..]].concat())),
        2 => Just(Step::Fork),
    ]
}

/// What an entry is, to the rules.
#[derive(Clone, Debug)]
enum What {
    Message(Box<AgentMessage>),
    Branch { from: String, summary: String },
    Compaction { first: String },
    Model(ModelRef),
    Think(ThinkingLevel),
    Name(String),
    Nothing,
}

#[derive(Clone, Debug)]
struct Entry {
    id: String,
    parent: Option<String>,
    what: What,
}

/// A session as a list of what was appended.
#[derive(Debug, Default)]
struct Expected {
    entries: Vec<Entry>,
    leaf: Option<String>,
}

impl Expected {
    fn add(&mut self, id: String, what: What) {
        let parent = self.leaf.replace(id.clone());
        self.entries.push(Entry { id, parent, what });
    }

    fn pick(&self, pick: Pick) -> String {
        self.entries[pick.index(self.entries.len())].id.clone()
    }

    /// From the root to the leaf.
    fn path(&self) -> Vec<&Entry> {
        let by_id: HashMap<_, _> = self
            .entries
            .iter()
            .map(|entry| (&entry.id, entry))
            .collect();
        let mut path = Vec::new();
        let mut next = self.leaf.as_ref();
        while let Some(id) = next {
            path.insert(0, by_id[id]);
            next = by_id[id].parent.as_ref();
        }
        path
    }

    fn context(&self) -> Vec<Value> {
        let path = self.path();
        let mut context = Vec::new();
        let mut from = 0;
        for (at, entry) in path.iter().enumerate() {
            if let What::Compaction { first } = &entry.what {
                let before = &mut path[..at].iter();
                from = before.position(|entry| entry.id == *first).unwrap();
                let summary =
                    json!({"role": "compactionSummary", "summary": "sum", "tokensBefore": 9});
                context = vec![json!([entry.id, summary])];
            }
        }
        for entry in &path[from..] {
            let mut message = match &entry.what {
                What::Message(message) => match &**message {
                    AgentMessage::BashExecution(bash) if bash.exclude_from_context.is_some() => {
                        continue;
                    }
                    message => serde_json::to_value(message).unwrap(),
                },
                What::Branch { from, summary } if !summary.is_empty() => {
                    json!({"role": "branchSummary", "summary": summary, "fromId": from})
                }
                _ => continue,
            };
            message.as_object_mut().unwrap().shift_remove("timestamp");
            context.push(json!([entry.id, message]));
        }
        context
    }

    fn model(&self) -> Option<ModelRef> {
        self.path()
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                What::Model(model) => Some(model.clone()),
                What::Message(message) => match &**message {
                    AgentMessage::Assistant(answer) => Some(ModelRef {
                        provider: answer.provider.clone(),
                        id: answer.model.clone(),
                    }),
                    _ => None,
                },
                _ => None,
            })
    }

    fn thinking(&self) -> Option<ThinkingLevel> {
        self.path().iter().rev().find_map(|entry| match entry.what {
            What::Think(level) => Some(level),
            _ => None,
        })
    }

    fn name(&self) -> Option<&str> {
        let mut names = self.entries.iter().filter_map(|entry| match &entry.what {
            What::Name(name) => Some(name.as_str()),
            _ => None,
        });
        names.next_back().filter(|name| !name.is_empty())
    }

    /// Holds a session that was just read, and its file, to the rules.
    fn judge(&mut self, resumed: &Resumed) {
        self.leaf = self.entries.last().map(|entry| entry.id.clone());
        let context: Vec<_> = resumed.context.iter().map(told).collect();
        assert_eq!(context, self.context());
        assert_eq!(resumed.model, self.model());
        assert_eq!(resumed.thinking, self.thinking());
        assert_eq!(resumed.name.as_deref(), self.name());

        let text = fs::read_to_string(resumed.store.path().unwrap()).unwrap();
        assert!(text.ends_with('\n'));
        let mut lines = text
            .lines()
            .map(|line| -> Value { serde_json::from_str(line).unwrap() });
        assert_eq!(lines.next().unwrap()["id"], resumed.header.id);
        let tree: Vec<_> = lines
            .map(|line| (line["id"].clone(), line["parentId"].clone()))
            .collect();
        let expected: Vec<_> = self
            .entries
            .iter()
            .map(|entry| (json!(entry.id), json!(entry.parent)))
            .collect();
        assert_eq!(tree, expected);
        for (at, (id, parent)) in tree.iter().enumerate() {
            let before = &tree[..at];
            assert!(before.iter().all(|(other, _)| other != id), "{id} twice");
            assert!(parent.is_null() || before.iter().any(|(other, _)| other == parent));
        }
    }
}

/// Does the steps and judges the session whenever it is read.
fn play(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header_of(0)).unwrap();
    let mut expected = Expected::default();
    let mut sessions = 0;
    // A session without a message has no file.
    let begin = [Step::Data, Step::Say(answer("stop").into())];
    for step in begin.into_iter().chain(steps).chain([Step::Reopen]) {
        let path = store.path().unwrap().to_owned();
        match step {
            Step::Say(message) => {
                let id = store.append_message(&message).unwrap();
                expected.add(id, What::Message(message));
            }
            Step::Model(id) => {
                let provider = "p".to_owned();
                let chosen = ModelRef { provider, id };
                let id = store.append_model_change(&chosen).unwrap();
                expected.add(id, What::Model(chosen));
            }
            Step::Think(level) => {
                let id = store.append_thinking_level(level).unwrap();
                expected.add(id, What::Think(level));
            }
            Step::Name(name) => {
                let id = store.append_name(&name).unwrap();
                expected.add(id, What::Name(name));
            }
            Step::Label(pick) => {
                let target = expected.pick(pick);
                let id = store.append_label(&target, Some("l")).unwrap();
                expected.add(id, What::Nothing);
            }
            Step::Data => {
                let id = store.append_custom("x", None).unwrap();
                expected.add(id, What::Nothing);
            }
            Step::Branch(to, summary) => {
                let to = to.map(|pick| expected.pick(pick));
                let from = expected.leaf.clone().unwrap();
                assert!(store.go_to(to.as_deref()));
                expected.leaf = to;
                let id = store.append_branch_summary(&from, &summary).unwrap();
                expected.add(id, What::Branch { from, summary });
            }
            Step::GoTo(pick) => {
                let to = expected.pick(pick);
                assert!(store.go_to(Some(&to)));
                expected.leaf = Some(to);
            }
            Step::Compact(pick) => {
                let path = expected.path();
                let first = path[pick.index(path.len())].id.clone();
                let id = store.append_compaction(&kept("sum", &first)).unwrap();
                expected.add(id, What::Compaction { first });
            }
            Step::Reopen => {
                drop(store);
                let resumed = SessionStore::open(&path).unwrap();
                assert_eq!(resumed.warnings, Vec::<String>::new());
                expected.judge(&resumed);
                store = resumed.store;
            }
            Step::Crash(half) => {
                drop(store);
                let mut file = File::options().append(true).open(&path).unwrap();
                file.write_all(&half).unwrap();
                let resumed = SessionStore::open(&path).unwrap();
                assert_eq!(resumed.warnings.len(), 1);
                expected.judge(&resumed);
                store = resumed.store;
            }
            Step::Fork => {
                sessions += 1;
                let header = header_of(sessions);
                let resumed = SessionStore::fork(&path, folder.path(), &header).unwrap();
                assert_eq!(resumed.header.parent_session.as_deref(), path.to_str());
                expected.judge(&resumed);
                store = resumed.store;
                // A copy without anything new does not last.
                let id = store.append_message(&user("in the copy")).unwrap();
                expected.add(id, What::Message(user("in the copy").into()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_life_of_a_session_follows_the_rules(steps in prop::collection::vec(step(), 0..40)) {
        play(steps);
    }
}
