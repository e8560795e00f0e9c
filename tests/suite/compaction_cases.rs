//! The cases of compaction that have a page of their own: the name of the snapshot, the title, and
//! what happens. The page is made from this list and the snapshots, see `tests/codegen/drift.rs`.

/// In the order of the page.
pub(crate) const CASES: [(&str, &str, &str); 21] = [
    (
        "compaction_overflow",
        "The service refuses the context as too long",
        "The failed run ends with `willRetry: false`; the compaction that follows says `willRetry: true`, and \
         a new run makes the request again, without the prompt. The failed answer stays in the session file \
         and leaves the context.",
    ),
    (
        "compaction_no_room",
        "The context leaves no room for an answer",
        "A `length` answer without a token, to an input that fills 99 % of the window, is an overflow too.",
    ),
    (
        "compaction_silent_overflow",
        "The service takes more than the window",
        "The answer is good, though the service counted more input than the model's window has. The reason is \
         `overflow`, but nothing is asked again.",
    ),
    (
        "compaction_after_run",
        "Near the window after a run",
        "The context has more tokens than the window less the reserve (`compaction.reserveTokens`, at most half \
         the window). The last count of the service and an estimate of what came later say so; an estimate alone \
         does if the service counts nothing.",
    ),
    (
        "compaction_before_prompt",
        "Near the window before a prompt",
        "The new prompt would bring the context over the threshold. The compaction lies between the `agent_start` \
         of its run and the first `turn_start`. It is left out if there is nothing to compact, and if one was tried after \
         the run before and the prompt leaves half of the reserve. A prompt that would not fit into the window forces a \
         cut and may take of the reserve.",
    ),
    (
        "compaction_between_turns",
        "Near the window between two turns",
        "In a run with tools. `willRetry` is true, since the next request follows at once, even if the compaction \
         fails. The cut lies within the turn: its beginning is summed up by itself, under a heading of its own, \
         and a tool result is never parted from its call.",
    ),
    (
        "compaction_again",
        "A compaction after a compaction",
        "The second summary takes in the first one and what that one had kept. After each prompt there is one \
         compaction at most.",
    ),
    (
        "compaction_nothing",
        "Nothing to compact",
        "The only prompt is too long by itself. The end follows the start with no result, and the run stays failed.",
    ),
    (
        "compaction_would_overflow",
        "Refused: the summary does not help",
        "The summary and what would be kept are still over the threshold. Nothing changes; the tokens of the \
         summary are in `usage`.",
    ),
    (
        "compaction_breaker",
        "Refused: too many failures",
        "After three failures in a row none is tried for 60 s.",
    ),
    (
        "compaction_cap",
        "Refused: too many compactions",
        "A process makes ten.",
    ),
    (
        "compaction_disabled",
        "Compaction is turned off",
        "With `compaction.enabled: false` an overflow is a failure like any other.",
    ),
    (
        "compaction_after_retries",
        "An overflow after retries",
        "The series of retries has not led to an answer, so it ends with `success: false`, before the compaction.",
    ),
    (
        "compaction_then_retry",
        "A retry after a compaction",
        "The request that is made again fails for a passing reason. That is a series of its own.",
    ),
    (
        "compaction_second_overflow",
        "A second overflow in a row",
        "One compaction is made until a good answer comes. The second overflow is told by a `compaction_end` that \
         stands alone, without a start and without `requestId`, and the run fails.",
    ),
    (
        "compaction_summary_retried",
        "The summary is asked for again",
        "The request for the summary is cut. A `compaction_progress` with `text` takes back what it had written, \
         `summarization_retry_*` tell of the wait and the new attempt, and `result.usage` counts both.",
    ),
    (
        "compaction_summary_fails",
        "The summary fails after an overflow",
        "The run stays failed, with the error of the overflow.",
    ),
    (
        "compaction_summary_gives_up",
        "The summary fails after retries",
        "`summarization_retry_finished` comes once, whatever the end. A compaction that fails at the threshold \
         fails no run.",
    ),
    (
        "compaction_stopped",
        "A signal in the middle of a summary",
        "The compaction ends with `aborted: true`; what was paid is told.",
    ),
    (
        "compaction_stopped_in_wait",
        "A signal in the wait before a summary is asked for again",
        "The series and the compaction are closed, in this order.",
    ),
    (
        "compaction_stopped_in_run",
        "A signal in a compaction between two turns",
        "The run ends too.",
    ),
];
