//! Ids of tool calls, and a name.

use std::collections::HashMap;

/// Name of a call that never got one. No tool is called so, which the model is told.
pub(crate) const UNNAMED: &str = "unnamed";

/// The ids of one answer's tool calls. Results are paired with calls by id, so each has to be there
/// and to occur once, whatever the model sent.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    /// Each with the suffix to try first when it comes again: an answer may use one id for all.
    used: HashMap<String, u64>,
}

impl CallIds {
    /// The id to use: a new one for an empty one, and one with a suffix for one already used.
    pub(crate) fn claim(&mut self, id: &str) -> String {
        let id = if id.is_empty() {
            new_call_id()
        } else {
            id.to_owned()
        };
        let mut unused = id.clone();
        if let Some(mut number) = self.used.get(&id).copied() {
            while self.used.contains_key(&unused) {
                unused = format!("{id}_{number}");
                number += 1;
            }
            self.used.insert(id, number);
        }
        self.used.insert(unused.clone(), 2);
        unused
    }
}

/// An id that no other call has.
pub(crate) fn new_call_id() -> String {
    format!("call_{}", uuid::Uuid::new_v4().simple())
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
