//! The legal streams of answers that fail, break or are stopped.

use serde_json::{Value, json};

use crate::scenarios::simple;
use crate::script::{
    Compacted, Script, answer, call, custom, execution, result, text, thinking, user,
};

/// Native streams by name.
type Told = Vec<(&'static str, Vec<Value>)>;

/// Series of retries, with each end.
pub(crate) fn retries(says: &Value, failed: &Value, broken: &Value) -> Told {
    let mut streams = Vec::new();
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .whole(failed)
        .turn_end()
        .run_end(true)
        .retry(1);
    s.run()
        .turn()
        .told(broken)
        .turn_end()
        .run_end(true)
        .retry(2);
    s.run()
        .turn()
        .told(&answer(&json!([text("well"), call("a")]), "toolUse"))
        .retried(true, 2);
    s.line(execution("start", "a"))
        .line(execution("end", "a"))
        .whole(&result("a"))
        .turn_end();
    s.turn().told(says).turn_end().run_end(false);
    streams.push(("retry_healed", s.end("completed")));

    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(broken)
        .turn_end()
        .run_end(true)
        .retry(1);
    s.run()
        .turn()
        .told(says)
        .retried(true, 1)
        .turn_end()
        .run_end(false);
    simple(&mut s, "more", says);
    streams.push(("retry_healed_without_tools", s.end("completed")));

    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(broken)
        .turn_end()
        .run_end(true)
        .retry(1);
    s.run()
        .turn()
        .whole(failed)
        .turn_end()
        .run_end(false)
        .retried(false, 1);
    simple(&mut s, "more", says);
    s.run()
        .turn()
        .whole(&user("go"))
        .whole(failed)
        .turn_end()
        .run_end(true)
        .retry(1)
        .retried(false, 1);
    streams.push(("retry_given_up", s.end("failed")));

    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(broken)
        .turn_end()
        .run_end(true)
        .retry(1);
    s.run()
        .compact("threshold", None)
        .compacted("threshold", None, Compacted::Done);
    s.turn().whole(failed).turn_end().run_end(false);
    s.compact("overflow", None)
        .compacted("overflow", None, Compacted::Done)
        .retried(false, 1);
    s.whole(&custom("given up"));
    streams.push(("retry_and_compaction", s.end("failed")));
    streams.push(("retry_healed_and_stopped", healed_and_stopped(broken)));
    streams
}

/// The answer that healed is the last, since a limit was reached.
fn healed_and_stopped(broken: &Value) -> Vec<Value> {
    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(broken)
        .turn_end()
        .run_end(true)
        .retry(1);
    s.run()
        .turn()
        .told(&answer(&json!([call("a")]), "toolUse"))
        .retried(true, 1);
    s.line(execution("start", "a"))
        .line(execution("end", "a"))
        .whole(&result("a"))
        .turn_end()
        .run_end(false);
    s.end("completed")
}

/// Answers that broke and were not tried again, and runs that were stopped.
pub(crate) fn stopped(says: &Value, broken: &Value) -> Told {
    let mut streams = Vec::new();
    let mut s = Script::begin();
    simple(&mut s, "go", broken);
    simple(&mut s, "again", says);
    s.run()
        .turn()
        .whole(&user("once more"))
        .told(broken)
        .turn_end()
        .run_end(false);
    s.whole(&custom("it failed"));
    s.run().turn().told(broken).turn_end().run_end(false);
    streams.push(("broken", s.end("failed")));

    let mut s = Script::begin();
    s.run()
        .turn()
        .whole(&user("go"))
        .told(&answer(&json!([text("a")]), "aborted"))
        .turn_end()
        .run_end(false);
    s.run()
        .turn()
        .whole(&answer(&json!([]), "aborted"))
        .turn_end()
        .run_end(false);
    s.run().run_end(false);
    streams.push(("aborted", s.end("interrupted")));

    let mut s = Script::begin();
    let open = answer(&json!([thinking("hm"), text("half"), call("c")]), "aborted");
    simple(&mut s, "go", &open);
    streams.push(("aborted_in_an_answer", s.end("interrupted")));
    streams
}

/// Streams that a signal ended, wherever the dreb form may end then.
pub(crate) fn interrupted(says: &Value, failed: &Value) -> Told {
    let mut at_once = Script::begin();
    let mut begun = Script::begin();
    begun.run().run_end(false);
    let mut turn = Script::begin();
    turn.run()
        .turn()
        .whole(&user("go"))
        .told(says)
        .turn_end()
        .run_end(false);
    let mut broken = Script::begin();
    broken
        .run()
        .turn()
        .whole(&user("go"))
        .whole(failed)
        .turn_end()
        .run_end(false);
    vec![
        ("interrupted_at_once", at_once.end("interrupted")),
        ("interrupted_before_a_turn", begun.end("interrupted")),
        ("interrupted_between_turns", turn.end("interrupted")),
        ("interrupted_in_a_request", broken.end("interrupted")),
    ]
}
