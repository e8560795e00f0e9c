//! Session files of other programs and older versions, in the shapes that their documents give.

use pretty_assertions::assert_eq;

use super::*;

fn line(value: &Value) -> String {
    value.to_string() + "\n"
}

/// What every entry has; the rest is told by `value`.
fn put(text: &mut String, id: &str, parent: Option<&str>, mut value: Value) {
    value["id"] = json!(id);
    value["parentId"] = json!(parent);
    value["timestamp"] = json!("2026-08-22T18:12:18.123Z");
    *text += &line(&value);
}

fn usage() -> Value {
    json!({
        "input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    })
}

#[test]
fn a_session_with_what_only_others_write_is_read() {
    let mut text = line(&json!({
        "type": "session", "version": 3, "id": "0199", "timestamp": "2026-08-22T18:12:18.123Z",
        "cwd": "/work", "parentSession": "/old.jsonl", "agentType": "Explore", "theirs": 1,
    }));
    let text = &mut text;
    let model = json!({"type": "model_change", "provider": "anthropic", "modelId": "claude"});
    put(text, "00000001", None, model);
    let thinking = json!({
        "type": "thinking_level_change", "thinkingLevel": "high",
        "thinkingSelection": {"level": "high", "source": "explicit"},
    });
    put(text, "00000002", Some("00000001"), thinking);
    let system = json!({"role": "system", "content": "environment", "timestamp": 1});
    let system = json!({"type": "message", "message": system});
    put(text, "00000003", Some("00000002"), system);
    let question = json!({
        "role": "user", "timestamp": 1, "content": [
            {"type": "text", "text": "look", "audience": "model"},
            {"type": "image", "mimeType": "image/png", "data": "aGk="},
        ],
    });
    let question = json!({"type": "message", "message": question});
    put(text, "00000004", Some("00000003"), question);
    let reply = json!({
        "role": "assistant", "api": "pi-messages", "provider": "anthropic", "model": "claude-2",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "", "startedAt": 1, "endedAt": 2},
            {"type": "providerNative", "subtype": "web_search", "raw": {"q": [1]}},
            {
                "type": "toolCall", "id": "c|i", "name": "read", "arguments": {"path": "a"},
                "namespace": "n", "partialJson": "{", "index": 1,
            },
        ],
        "usage": usage(), "stopReason": "deferred", "timestamp": 1, "responseId": "r",
        "rawStopReason": "x", "endTurn": false, "diagnostics": [{"type": "t", "timestamp": 1}],
    });
    let reply = json!({"type": "message", "message": reply});
    put(text, "00000005", Some("00000004"), reply);
    let result = json!({
        "role": "toolResult", "toolCallId": "c|i", "toolName": "read", "isError": false,
        "content": [{"type": "text", "text": "t"}], "usage": {}, "addedToolNames": ["x"],
        "timestamp": 1,
    });
    let result = json!({"type": "message", "message": result});
    put(text, "00000006", Some("00000005"), result);
    let custom = json!({
        "type": "custom_message", "customType": "system_warning", "content": "careful",
        "display": true, "details": {"a": null},
    });
    put(text, "00000007", Some("00000006"), custom);
    let label = json!({"type": "label", "targetId": "00000004"});
    put(text, "00000008", Some("00000007"), label);
    let data = json!({"type": "custom", "customType": "subagent_arbitration", "data": null});
    put(text, "00000009", Some("00000008"), data);
    put(
        text,
        "0000000a",
        Some("00000009"),
        json!({"type": "tree_note", "deep": {"a": [1.0]}}),
    );
    let info = json!({"type": "session_info", "name": "theirs"});
    put(text, "0000000b", Some("0000000a"), info);

    let (_folder, path) = stored(text);
    let mut resumed = SessionStore::open(&path).unwrap();
    assert_eq!(
        ids(&resumed),
        ["00000004", "00000005", "00000006", "00000007"]
    );
    let AgentMessage::Assistant(reply) = &resumed.context[1].message else {
        panic!("{:?}", resumed.context[1])
    };
    assert_eq!(reply.content.len(), 2);
    let header = &resumed.header;
    assert_eq!(
        (header.id.as_str(), header.agent_type.as_deref()),
        ("0199", Some("Explore"))
    );
    assert_eq!(resumed.model.as_ref().unwrap().id, "claude-2");
    assert_eq!(resumed.thinking, Some(ThinkingLevel::High));
    assert_eq!(resumed.name.as_deref(), Some("theirs"));
    let [system, block] = &resumed.warnings[..] else {
        panic!("{:?}", resumed.warnings)
    };
    assert!(
        system.contains("line 4") && system.contains("system"),
        "{system}"
    );
    assert!(
        block.contains("line 6") && block.contains("providerNative"),
        "{block}"
    );

    // What is not understood is not touched, and what follows hangs on it.
    resumed.store.append_message(&user("on")).unwrap();
    let after = fs::read_to_string(&path).unwrap();
    let added = after.strip_prefix(text.as_str()).unwrap();
    assert!(added.contains(r#""parentId":"0000000b""#), "{added}");
}

#[test]
fn a_compaction_of_others_is_read() {
    let mut text = first_line() + "\n";
    let text = &mut text;
    let say = |what: &str| json!({"type": "message", "message": sample::user(what)});
    put(text, "a", None, say("old"));
    put(text, "b", Some("a"), say("kept"));
    let compaction = json!({
        "type": "compaction", "summary": "s", "firstKeptEntryId": "b", "tokensBefore": 7.0,
        "details": {"readFiles": []}, "fromHook": null,
    });
    put(text, "c", Some("b"), compaction);
    let lost = json!({"type": "compaction", "summary": "t", "firstKeptEntryId": "gone"});
    put(text, "d", Some("c"), lost);
    let (_folder, path) = stored(text);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["d"]);
    assert_eq!(resumed.warnings.len(), 1, "{:?}", resumed.warnings);
    drop(resumed);

    let without = text.lines().take(4).collect::<Vec<_>>().join("\n");
    let (_folder, path) = stored(&without);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["c", "b"]);
    assert_eq!(resumed.warnings, Vec::<String>::new());
}

#[test]
fn older_versions_are_brought_to_today_s_and_kept() {
    let hook = json!({
        "role": "hookMessage", "customType": "rules", "content": "be kind", "display": false,
        "timestamp": 1,
    });
    let first =
        json!({"type": "session", "id": "old", "timestamp": "t", "cwd": "/w", "modelId": "m"});
    let mut second = first.clone();
    second["version"] = json!(2);
    let without_ids = [
        json!({"type": "message", "timestamp": "t", "message": sample::user("one")}),
        json!({"type": "message", "timestamp": "t", "message": hook}),
        json!({
            "type": "compaction", "timestamp": "t", "summary": "s", "firstKeptEntryIndex": 2,
            "tokensBefore": 1,
        }),
        json!({"type": "message", "timestamp": "t", "message": sample::user("two")}),
    ];
    let with_ids = [
        json!({"type": "message", "id": "a", "parentId": null, "message": hook}),
        json!({"type": "message", "id": "b", "parentId": "a", "message": sample::user("two")}),
    ];
    for (version, header, entries, count) in [
        (1, &first, &without_ids[..], 3),
        (2, &second, &with_ids[..], 2),
    ] {
        let mut text = line(header);
        for entry in entries {
            text += &line(entry);
        }
        let half = "{\"type\":";
        let (folder, path) = stored(&format!("{text}{half}"));
        assert_eq!(read_header(&path).unwrap().id, "old");
        let shown = crate::session::entries(&path).unwrap();
        let on_path = shown.filter(|line| line.as_ref().unwrap().on_path);
        assert_eq!(on_path.count(), entries.len() + 1);

        let resumed = SessionStore::open(&path).unwrap();
        assert_eq!(resumed.context.len(), count);
        let roles: Vec<_> = resumed.context.iter().map(|e| e.message.kind()).collect();
        assert_eq!(roles[count - 2..], ["custom", "user"]);
        assert_eq!(resumed.warnings.len(), 2, "{:?}", resumed.warnings);
        let error = SessionStore::open(&path).unwrap_err();
        assert!(matches!(error, SessionError::InUse { .. }), "{error}");
        let context = resumed.context.clone();
        drop(resumed);

        let backup = format!("s.jsonl.v{version}.bak");
        assert_eq!(names(&folder), ["s.jsonl", "s.jsonl.cut", &backup]);
        assert_eq!(
            fs::read_to_string(folder.path().join(backup)).unwrap(),
            text
        );
        let again = SessionStore::open(&path).unwrap();
        assert_eq!(again.context, context);
        assert_eq!(again.warnings, Vec::<String>::new());
        assert_eq!(names(&folder).len(), 3);
    }
}

#[test]
fn a_newer_version_is_read_as_far_as_it_goes() {
    let newer = first_line().replace("\"version\":3", "\"version\":4");
    let (_folder, path) = stored(&format!("{newer}\n{}\n", said("a", "none", "one")));
    let before = fs::read(&path).unwrap();
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["a"]);
    assert!(
        resumed.warnings[0].contains("version 4"),
        "{:?}",
        resumed.warnings
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}
