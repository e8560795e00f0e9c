//! How a summary is put together.

use super::super::{Agent, Halt};
use super::files::{self, Files};
use super::prepare::Plan;
use super::prompt;
use super::summarise::{NoSummary, Summariser};
use crate::event::{AgentMessage, ErrorCode};
use crate::session::ContextEntry;

/// Tokens that notes may take however small the reserve is; at most a quarter of the window.
const NOTES: u64 = 2048;
/// The same for the notes on the beginning of a turn.
const TURN_NOTES: u64 = 1024;
/// A text of fewer than twice so many characters is not asked about again in short.
const SHORTEST: usize = 2000;

/// What the requests for a summary may hold.
struct Bounds {
    /// Characters of the conversation.
    text: usize,
    /// Tokens of the notes on what came before.
    notes: u64,
    /// Tokens of those on the beginning of a turn.
    turn_notes: u64,
}

impl Agent {
    /// The files that the summarised part worked on.
    pub(super) fn files(&self, plan: &Plan) -> Files {
        let earlier = match self.context.first().map(|entry| &entry.message) {
            Some(AgentMessage::CompactionSummary(summary)) => summary.details.as_ref(),
            _ => None,
        };
        let entries = &self.context[plan.summarised()];
        let files = Files::of(earlier, entries, |name| self.resolved_name(name).to_owned());
        files.map(|path| self.config.secrets.scrub(path).into_owned())
    }

    /// Writes the summary: the notes on what came before, those on the turn that is cut, the files.
    pub(super) async fn write(
        &self,
        plan: &Plan,
        files: &Files,
        summary: &mut Summariser<'_>,
    ) -> Result<Result<(), NoSummary>, Halt> {
        let previous = match &self.context[0].message {
            AgentMessage::CompactionSummary(summary) if plan.previous => {
                Some(files::without_section(&summary.summary))
            }
            _ => None,
        };
        let mut bounds = self.bounds(previous);
        let history = &self.context[plan.history.clone()];
        let about_history = match (prompt::is_silent(history), previous) {
            (true, None) => false,
            // Nothing is to be added to it.
            (true, Some(previous)) => {
                summary.add(previous).await?;
                true
            }
            (false, previous) => {
                let question = |text: &str| prompt::history(text, previous);
                let notes = bounds.notes;
                if let Err(end) = summary
                    .ask_about(history, &mut bounds, notes, question)
                    .await?
                {
                    return Ok(Err(end));
                }
                true
            }
        };
        let turn = &self.context[plan.turn.clone()];
        if !prompt::is_silent(turn) {
            if about_history {
                summary.add(prompt::RULE).await?;
            }
            summary.add(prompt::TURN_HEADING).await?;
            let notes = bounds.turn_notes;
            if let Err(end) = summary
                .ask_about(turn, &mut bounds, notes, prompt::turn)
                .await?
            {
                return Ok(Err(end));
            }
        }
        summary.add(&files.section()).await?;
        Ok(Ok(()))
    }

    fn bounds(&self, previous: Option<&str>) -> Bounds {
        let window = self.config.model.context_window;
        let reserve = self.config.compaction.reserve(window);
        let least = |tokens: u64| tokens.min(window.map_or(u64::MAX, |window| window / 4));
        let notes = (reserve.saturating_mul(4) / 5).max(least(NOTES));
        // A conversation that is too long for the model is too long for its summary as well.
        let text = window.map_or(usize::MAX, |window| {
            let room = self.scale().down(window - reserve.max(notes));
            let tokens = usize::try_from(room).unwrap_or(usize::MAX);
            let previous = previous.map_or(0, str::len) / 4;
            tokens.saturating_sub(previous).saturating_mul(3)
        });
        Bounds {
            text,
            notes,
            turn_notes: (reserve / 2).max(least(TURN_NOTES)),
        }
    }
}

impl Summariser<'_> {
    /// Asks about a part of the conversation. If the service says that this is too long, which it may
    /// be where the window is not known, half of the text is asked about, and so on.
    async fn ask_about(
        &mut self,
        entries: &[ContextEntry],
        bounds: &mut Bounds,
        notes: u64,
        question: impl Fn(&str) -> String,
    ) -> Result<Result<(), NoSummary>, Halt> {
        let begin = self.len();
        loop {
            let text = prompt::conversation(entries, bounds.text);
            let half = text.chars().count() / 2;
            match self.ask(&question(&text), notes).await? {
                Err(NoSummary::Failed(error))
                    if error.code == ErrorCode::ContextOverflow && half >= SHORTEST =>
                {
                    self.take_back(begin).await?;
                    bounds.text = half;
                }
                end => return Ok(end),
            }
        }
    }
}
