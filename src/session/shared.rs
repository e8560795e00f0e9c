//! A session that several append to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::SessionStore;

/// A session that the agent and what works beside it append to. Entries come one after the other,
/// whoever appends them.
#[derive(Clone, Debug)]
pub struct SharedSession(Arc<Mutex<SessionStore>>);

impl SharedSession {
    /// Shares a session.
    #[must_use]
    pub fn new(store: SessionStore) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// The session, for as long as it takes to append to it; not to be held over an `await`.
    pub fn lock(&self) -> MutexGuard<'_, SessionStore> {
        // An entry is appended whole or not at all, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
