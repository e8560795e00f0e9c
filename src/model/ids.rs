//! Ids of tool calls.

use std::collections::HashSet;

/// The ids of one answer's tool calls. Results are paired with calls by id, so each has to be there
/// and to occur once, whatever the model sent.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    used: HashSet<String>,
}

impl CallIds {
    /// The id to use: a new one for an empty one, and one with a suffix for one already used.
    pub(crate) fn claim(&mut self, id: &str) -> String {
        let id = if id.is_empty() {
            format!("call_{}", uuid::Uuid::new_v4().simple())
        } else {
            id.to_owned()
        };
        let mut unused = id.clone();
        let mut number = 2u64;
        while !self.used.insert(unused.clone()) {
            unused = format!("{id}_{number}");
            number += 1;
        }
        unused
    }
}

#[cfg(test)]
mod tests {
    use super::CallIds;

    #[test]
    fn every_id_is_there_and_occurs_once() {
        let mut ids = CallIds::default();
        let claimed: Vec<String> = ["a", "a", "a_2", "a", "", ""]
            .map(|id| ids.claim(id))
            .into();
        assert_eq!(claimed[..4], ["a", "a_2", "a_2_2", "a_3"]);
        assert!(claimed[4].starts_with("call_") && claimed[4].len() > 5);
        assert_ne!(claimed[4], claimed[5]);
    }
}
