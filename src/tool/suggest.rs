//! `suggest_next`: what the user may want to ask next.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{InvalidArguments, Tool, ToolContext, ToolFuture, ToolOutput, arguments};
use crate::event::SuggestNextEvent;

/// Arguments of `suggest_next`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The suggested prompt or command: one line
    command: String,
    /// What was done, in a sentence or two
    #[serde(default)]
    #[schemars(with = "String")]
    summary: Option<String>,
}

/// The tool `suggest_next`.
pub(super) struct SuggestNext;

impl Tool for SuggestNext {
    fn name(&self) -> &'static str {
        "suggest_next"
    }

    fn description(&self) -> &'static str {
        "Suggest what the user could ask for next. Call it as the last thing of a finished piece of \
         work, if there is an obvious next step: it ends your turn."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        _ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args = arguments::parse("suggest_next", args)?;
        let output = suggest(args);
        Ok(Box::pin(async { Ok(output) }))
    }
}

fn suggest(Arguments { command, summary }: Arguments) -> ToolOutput {
    // Joiners make one sign of several, so they may stay beside others.
    let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
    let stays = |c: &char| !c.is_control() && (!is_unseen(*c) || is_joiner(*c));
    let command: String = command.chars().filter(stays).collect();
    let command = command.trim_matches(|c: char| c.is_whitespace() || is_joiner(c));
    if command.is_empty() {
        return ToolOutput::text("Error: the command is empty", None).ending_turn();
    }
    let text = format!("Suggested next: {command}");
    let mut details = json!({ "suggestion": command });
    if let Some(summary) = summary {
        details["summary"] = summary.into();
    }
    let command = command.to_owned();
    ToolOutput::text(text, Some(details))
        .with_event(SuggestNextEvent { command })
        .ending_turn()
}

/// Whether a character is not seen itself but changes how a text looks or where its lines end.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use crate::event::SuggestNextEvent;
    use crate::tool::testing::{Bench, text};

    #[tokio::test]
    async fn a_suggestion_is_one_clean_line_and_ends_the_turn() {
        let bench = Bench::new();
        let args = json!({ "command": "  run\u{7} the\n tests\u{7f} ", "summary": "Done." });
        let output = bench.call("suggest_next", args).await;
        let event = SuggestNextEvent {
            command: "run the tests".into(),
        };
        assert_eq!(output.events, [event.into()]);
        assert_eq!(text(&output.result), "Suggested next: run the tests");
        let details = json!({ "suggestion": "run the tests", "summary": "Done." });
        assert_eq!(output.result.details, Some(details));
        assert_eq!(output.result.end_turn, Some(true));
    }

    #[tokio::test]
    async fn nothing_breaks_its_line_or_turns_it_around() {
        let command = "a\u{85}\u{2028}b\u{2029}\u{202e}c\u{2066} \u{feff}👩\u{200d}💻\u{200b}";
        let output = Bench::new()
            .call("suggest_next", json!({ "command": command }))
            .await;
        assert_eq!(text(&output.result), "Suggested next: abc 👩\u{200d}💻");
        for unseen in ["\u{200b}", "\u{200d}", " \u{2060}\u{ad} "] {
            let args = json!({ "command": unseen });
            let output = Bench::new().call("suggest_next", args).await;
            assert_eq!(output.events, [], "{unseen:?}");
        }
    }

    #[tokio::test]
    async fn an_empty_one_is_told_to_the_model_alone() {
        let output = Bench::new()
            .call("suggest_next", json!({ "command": " \u{1b}\n" }))
            .await;
        assert_eq!(output.events, []);
        assert!(!output.is_error);
        assert_eq!(output.result.end_turn, Some(true));
        assert_eq!(text(&output.result), "Error: the command is empty");
    }
}
