//! What of a session the model is given.

use super::SessionError;
use super::entry::milliseconds;
use super::file::LineFile;
use super::index::{Index, Kind, Warnings};
use crate::event::{
    AgentMessage, BranchSummaryMessage, CompactionEntry, CompactionSummaryMessage, CustomMessage,
    ModelRef, SessionEntry, ThinkingLevel,
};

/// A message that the model is given, and the entry it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextEntry {
    /// Id of the entry; for a summary of older messages, that of the compaction.
    pub id: String,
    /// The message.
    pub message: AgentMessage,
}

/// The end of a session's path, read.
#[derive(Debug)]
pub(super) struct State {
    pub(super) context: Vec<ContextEntry>,
    pub(super) model: Option<ModelRef>,
    pub(super) thinking: Option<ThinkingLevel>,
}

/// Reads the state in which the last entry of the file left the session: what the model is given
/// along the path to it. After a compaction that is its summary, what it kept, and what follows;
/// nothing before that is read.
pub(super) fn state(
    index: &Index,
    file: &LineFile,
    warnings: &mut Warnings,
) -> Result<State, SessionError> {
    let reader = Reader { index, file };
    let path = index.path();
    let mut context = Vec::new();
    let mut from = 0;
    let compaction = reader.last(&path, &[Kind::Compaction], |entry| match entry {
        SessionEntry::Compaction(compaction) => Some(compaction),
        _ => None,
    })?;
    if let Some((at, compaction)) = compaction {
        let kept = index.place(&compaction.first_kept_entry_id);
        // Places grow along the path.
        let kept = kept.and_then(|place| path[..at].binary_search(&place).ok());
        from = kept.unwrap_or_else(|| {
            warnings.line(
                index.node(path[at]).line,
                "the first entry that this compaction keeps is not there; only its summary is used",
            );
            at
        });
        context.push(summary(compaction));
    }
    let mut buffer = Vec::new();
    for &place in &path[from..] {
        let node = index.node(place);
        if !matches!(
            node.kind,
            Kind::Message | Kind::CustomMessage | Kind::BranchSummary
        ) {
            continue;
        }
        match index.entry(place, file, &mut buffer)? {
            Ok(read) => {
                for kind in read.left_out {
                    warnings.line(node.line, &format!("left out a block of type `{kind}`"));
                }
                context.extend(message(read.entry));
            }
            Err(why) => warnings.skipped(node.line, &why),
        }
    }
    let model = reader.last(
        &path,
        &[Kind::ModelChange, Kind::Message],
        |entry| match entry {
            SessionEntry::ModelChange(change) => Some(ModelRef {
                provider: change.provider,
                id: change.model_id,
            }),
            SessionEntry::Message(entry) => match entry.message {
                AgentMessage::Assistant(answer) => Some(ModelRef {
                    provider: answer.provider,
                    id: answer.model,
                }),
                _ => None,
            },
            _ => None,
        },
    )?;
    let thinking = reader.last(&path, &[Kind::Thinking], |entry| match entry {
        SessionEntry::ThinkingLevelChange(change) => Some(change.thinking_level),
        _ => None,
    })?;
    Ok(State {
        context,
        model: model.map(|(_, model)| model),
        thinking: thinking.map(|(_, level)| level),
    })
}

struct Reader<'a> {
    index: &'a Index,
    file: &'a LineFile,
}

impl Reader<'_> {
    /// The last entry of the path that is of one of these kinds and that `take` takes, with its place
    /// on the path.
    fn last<T>(
        &self,
        path: &[usize],
        kinds: &[Kind],
        take: impl Fn(SessionEntry) -> Option<T>,
    ) -> Result<Option<(usize, T)>, SessionError> {
        let mut buffer = Vec::new();
        for (at, &place) in path.iter().enumerate().rev() {
            if !kinds.contains(&self.index.node(place).kind) {
                continue;
            }
            let entry = self.index.entry(place, self.file, &mut buffer)?;
            if let Some(taken) = entry.ok().and_then(|read| take(read.entry)) {
                return Ok(Some((at, taken)));
            }
        }
        Ok(None)
    }
}

fn summary(entry: CompactionEntry) -> ContextEntry {
    ContextEntry {
        message: AgentMessage::CompactionSummary(CompactionSummaryMessage {
            summary: entry.summary,
            tokens_before: entry.tokens_before,
            details: entry.details,
            timestamp: milliseconds(&entry.timestamp),
        }),
        id: entry.id,
    }
}

/// The message of an entry, if the model is given one.
fn message(entry: SessionEntry) -> Option<ContextEntry> {
    let (id, message) = match entry {
        SessionEntry::Message(entry) => (entry.id, entry.message),
        SessionEntry::CustomMessage(entry) => {
            let message = CustomMessage {
                custom_type: entry.custom_type,
                content: entry.content,
                display: entry.display,
                details: entry.details,
                timestamp: milliseconds(&entry.timestamp),
            };
            (entry.id, message.into())
        }
        SessionEntry::BranchSummary(entry) if !entry.summary.is_empty() => {
            let message = BranchSummaryMessage {
                summary: entry.summary,
                from_id: entry.from_id,
                timestamp: milliseconds(&entry.timestamp),
            };
            (entry.id, message.into())
        }
        _ => return None,
    };
    let hidden = matches!(
        &message,
        AgentMessage::BashExecution(run) if run.exclude_from_context == Some(true)
    );
    (!hidden).then_some(ContextEntry { id, message })
}
