"""What a type checker has to refuse: mypy finds a comment that suppresses nothing, so each is an
error where it stands and nowhere else.
"""

import typing

import quipu

# A discriminator is a literal; other strings may have values that are not known yet.
text: quipu.TextContent = {"type": "text", "text": ""}
other: quipu.TextContent = {"type": "image", "text": ""}  # type: ignore[typeddict-item]
known: quipu.StopReason = "toolUse"
later: quipu.StopReason = "dreaming"
number: quipu.StopReason = 1  # type: ignore[assignment]

# Optional is absent, and nothing else.
missing: quipu.TextContent = {"type": "text"}  # type: ignore[typeddict-item]
null: quipu.TextContent = {
    "type": "text",
    "text": "",
    "textSignature": None,  # type: ignore[typeddict-item]
}


def route(event: quipu.SubagentArbitrationEvent) -> quipu.DispatchRoute:
    final: quipu.DispatchRoute = event["final"]  # type: ignore[assignment]
    return final


# A union narrows by its discriminator, also by the second one.
def narrow(event: quipu.QuipuEvent) -> str | None:
    event["outcome"]  # type: ignore[typeddict-item]
    if event["type"] == "stream_end":
        typing.assert_type(event, quipu.StreamEndEvent)
        return event["outcome"]
    if event["type"] == "summarization_retry_attempt_start":
        event["reason"]  # type: ignore[typeddict-item]
        if event["source"] == "compaction":
            return event["reason"]
    if event["type"] == "background_agent_event":
        return narrow(event["event"])
    return None


assert typing.get_args(quipu.QuipuEvent)
assert quipu.TextContent.__required_keys__ == {"type", "text"}
assert quipu.is_quipu_event({"type": "turn_start"})
assert not quipu.is_quipu_event({"type": ["turn_start"]})
assert not quipu.is_quipu_event("turn_start")
