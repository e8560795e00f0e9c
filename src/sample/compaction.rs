//! Compactions of every reason and every end.

use std::io;

use super::script::Script;
use super::text;
use super::tools::details;
use crate::event::{
    CompactionEndEvent, CompactionProgressEvent, CompactionReason, CompactionRejectionCause,
    CompactionResult, CompactionStartEvent, SummarizationRetryAttemptStartBranchSummaryEvent,
    SummarizationRetryAttemptStartBranchSummaryEventSource,
    SummarizationRetryAttemptStartCompactionEvent,
    SummarizationRetryAttemptStartCompactionEventSource, SummarizationRetryFinishedEvent,
    SummarizationRetryScheduledEvent, Usage,
};

const CUT: &str = "The summary request failed: connection reset.";

impl Script<'_> {
    /// Compactions between two runs.
    pub(super) fn compactions(&mut self) -> io::Result<()> {
        let reason = CompactionReason::Manual;
        let id = self.compaction_start(reason, true)?;
        let result = self.summary(reason, true, true)?;
        self.emit(CompactionEndEvent {
            result: Some(result),
            accepted: Some(true),
            ..end(reason, id)
        })?;

        // Refused, for every cause.
        for (at, cause) in CompactionRejectionCause::ALL.iter().enumerate() {
            let reason = if at % 2 == 0 {
                CompactionReason::Manual
            } else {
                CompactionReason::Threshold
            };
            let id = self.compaction_start(reason, at % 3 != 0)?;
            let usage = self.spent(at % 2 == 0);
            self.emit(CompactionEndEvent {
                accepted: Some(false),
                rejection_cause: Some(*cause),
                error_message: (at % 2 == 0)
                    .then(|| format!("Compaction refused: {}.", cause.as_str())),
                usage,
                ..end(reason, id)
            })?;
        }

        // Cancelled in the middle, failed, and nothing to compact.
        let reason = CompactionReason::Threshold;
        let id = self.compaction_start(reason, true)?;
        self.progress(reason, Some("## Goal\n"), None)?;
        self.emit(CompactionEndEvent {
            aborted: true,
            ..end(reason, id)
        })?;
        let reason = CompactionReason::Manual;
        let id = self.compaction_start(reason, true)?;
        let usage = self.spent(true);
        self.emit(CompactionEndEvent {
            error_message: Some(CUT.into()),
            usage,
            ..end(reason, id)
        })?;
        let id = self.compaction_start(reason, false)?;
        self.emit(CompactionEndEvent {
            error_message: Some("Nothing to compact.".into()),
            ..end(reason, id)
        })
    }

    /// A compaction of a run, because its context has grown; `at_begin` if no turn has begun.
    pub(super) fn threshold_compaction(&mut self, at_begin: bool) -> io::Result<()> {
        let reason = CompactionReason::Threshold;
        let id = self.compaction_start(reason, at_begin)?;
        let result = self.summary(reason, !at_begin, at_begin)?;
        self.emit(CompactionEndEvent {
            result: Some(result),
            will_retry: !at_begin,
            accepted: Some(true),
            ..end(reason, id)
        })
    }

    pub(super) fn overflow_compaction(&mut self) -> io::Result<()> {
        let reason = CompactionReason::Overflow;
        let id = self.compaction_start(reason, true)?;
        let result = self.summary(reason, true, false)?;
        self.emit(CompactionEndEvent {
            result: Some(result),
            will_retry: true,
            accepted: Some(true),
            ..end(reason, id)
        })
    }

    /// The end that stands alone.
    pub(super) fn second_overflow(&mut self) -> io::Result<()> {
        let message = "Context overflow recovery failed after one attempt.".to_owned();
        self.emit(CompactionEndEvent {
            error_message: Some(message),
            ..end(CompactionReason::Overflow, None)
        })
    }

    /// Retries of the summary of a branch.
    pub(super) fn branch_summary(&mut self) -> io::Result<()> {
        for attempt in 1..=2 {
            self.summary_retry(attempt)?;
            self.emit(SummarizationRetryAttemptStartBranchSummaryEvent {
                source: SummarizationRetryAttemptStartBranchSummaryEventSource,
            })?;
        }
        self.emit(SummarizationRetryFinishedEvent {})
    }

    /// Begins one; its id if it has one.
    fn compaction_start(
        &mut self,
        reason: CompactionReason,
        named: bool,
    ) -> io::Result<Option<String>> {
        let request_id = named.then(|| self.id("compaction_"));
        self.emit(CompactionStartEvent {
            reason,
            request_id: request_id.clone(),
        })?;
        Ok(request_id)
    }

    /// The lines in which a summary grows, and the result; `retried` if its first request breaks.
    fn summary(
        &mut self,
        reason: CompactionReason,
        retried: bool,
        full: bool,
    ) -> io::Result<CompactionResult> {
        let summary = format!("## Goal\n{}", text::long(&mut self.random, 200));
        if retried {
            self.progress(reason, Some("## Go"), None)?;
            self.summary_retry(1)?;
            self.emit(SummarizationRetryAttemptStartCompactionEvent {
                source: SummarizationRetryAttemptStartCompactionEventSource,
                reason,
            })?;
            self.progress(reason, None, Some(""))?;
            self.emit(SummarizationRetryFinishedEvent {})?;
        }
        for piece in text::pieces(&mut self.random, &summary, 40) {
            self.progress(reason, Some(&piece), None)?;
        }
        let lists = [
            ("readFiles", vec!["src/lib.rs"].into()),
            ("modifiedFiles", Vec::<String>::new().into()),
        ];
        Ok(CompactionResult {
            summary,
            first_kept_entry_id: self.hex(),
            tokens_before: if full { 9_007_199_254_740_991 } else { 0 },
            usage: self.spent(full),
            details: full.then(|| details(&lists)),
            estimated_tokens_after: full.then(|| self.random.below(50_000)),
        })
    }

    fn progress(
        &mut self,
        reason: CompactionReason,
        delta: Option<&str>,
        text: Option<&str>,
    ) -> io::Result<()> {
        let owned = |text: &str| text.to_owned();
        self.emit(CompactionProgressEvent {
            reason,
            delta: delta.map(owned),
            text: text.map(owned),
        })
    }

    fn summary_retry(&mut self, attempt: u64) -> io::Result<()> {
        self.emit(SummarizationRetryScheduledEvent {
            attempt,
            max_attempts: 3,
            delay_ms: 1_000 * attempt,
            error_message: CUT.into(),
        })
    }

    fn spent(&mut self, anything: bool) -> Option<Usage> {
        anything.then(|| self.usage())
    }
}

fn end(reason: CompactionReason, request_id: Option<String>) -> CompactionEndEvent {
    CompactionEndEvent {
        reason,
        result: None,
        aborted: false,
        will_retry: false,
        request_id,
        accepted: None,
        rejection_cause: None,
        error_message: None,
        usage: None,
    }
}
