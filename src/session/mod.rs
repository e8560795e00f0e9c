//! Sessions on disk: one file a session, one line an entry.
//!
//! A line is a [`SessionEntry`](crate::event::SessionEntry), whose types and bundle come from
//! `schema/session/`. Entries form a tree by `parentId`; the entry that the next one follows is the
//! leaf, on disk the last of the file. Files of other programs and older versions are read too: what
//! is not known stays in the file and is passed over.

mod context;
mod entry;
mod error;
mod file;
mod find;
mod folder;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod index;
mod lines;
mod open;
mod read;
mod shared;
mod store;
#[cfg(test)]
mod testing;
mod tree;
mod upgrade;

pub use context::ContextEntry;
pub use error::SessionError;
pub use find::{FindError, Found, Places, is_path, works_in};
pub use folder::{Reserved, file_name, project_folder, reserve};
pub use open::{Resumed, read_header};
pub use read::{About, Entries, Line, about, entries, first_line, text_of};
pub use shared::SharedSession;
pub use store::{SessionStore, one_line};

use crate::event::{SessionHeader, StoredSessionHeader, StoredSessionHeaderVersion};

/// What a session file keeps of a stream's header: all but the form of the stream.
impl From<&SessionHeader> for StoredSessionHeader {
    fn from(header: &SessionHeader) -> Self {
        Self {
            version: StoredSessionHeaderVersion,
            id: header.id.clone(),
            timestamp: header.timestamp.clone(),
            cwd: header.cwd.clone(),
            parent_session: header.parent_session.clone(),
            agent_type: header.agent_type.clone(),
        }
    }
}
