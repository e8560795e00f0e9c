//! What holds for anything that the service may send.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{added, argued, decode, done, end, function, message, run, said, thought};
use crate::model::ModelDelta as D;

proptest! {
    #[test]
    fn no_events_break_the_rules_of_blocks(
        events in prop::collection::vec((0u8..9, 0u64..3, "[{}a]{0,2}"), 0..20),
    ) {
        let event = |(kind, at, text): &(u8, u64, String)| match kind {
            0 => added(*at, message("")),
            1 => added(*at, function("a", Value::Null)),
            2 => added(*at, json!({"id": "rs", "type": "reasoning"})),
            3 => said(*at, text),
            4 => argued(*at, text),
            5 => thought(*at, *at, text),
            6 => done(*at, message(text)),
            7 => done(*at, function("a", text.as_str().into())),
            _ => done(*at, json!({"id": "rs", "type": "reasoning"})),
        };
        let mut events: Vec<Value> = events.iter().map(event).collect();
        events.push(end("completed"));
        let (deltas, error) = run(&events);
        let mut blocks = Vec::new();
        let mut ids = std::collections::HashSet::new();
        for delta in &deltas {
            match delta {
                D::TextStart { index } | D::ThinkingStart { index } => {
                    prop_assert_eq!(*index, blocks.len());
                    blocks.push(true);
                }
                D::ToolcallStart { index, id, name } => {
                    prop_assert_eq!(*index, blocks.len());
                    prop_assert!(!name.is_empty() && !id.is_empty() && ids.insert(id.clone()));
                    blocks.push(true);
                }
                D::TextDelta { index, delta }
                | D::ThinkingDelta { index, delta }
                | D::ToolcallDelta { index, delta } => {
                    prop_assert!(blocks[*index] && !delta.is_empty());
                }
                D::TextEnd { index, .. } | D::ThinkingEnd { index, .. } | D::ToolcallEnd { index } => {
                    prop_assert!(std::mem::replace(&mut blocks[*index], false));
                }
                _ => {}
            }
        }
        if error.is_none() {
            prop_assert!(!blocks.contains(&true));
            let is_finished = matches!(deltas.last(), Some(D::Finished { .. }));
            prop_assert!(is_finished);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        decode(&[&bytes]);
        decode(&[b"data: ", &bytes, b"\n\n"]);
    }
}
