"""Reads a stream from standard input and prints a summary of it: how a consumer narrows by the
discriminators, folds deltas, and lets pass what it does not know.

    python3 summary.py quipu|senpi|dreb|session
"""

import collections
import json
import sys

import dreb
import quipu
import senpi
import session

counts: collections.Counter[str] = collections.Counter()
deltas: collections.Counter[str] = collections.Counter()
roles: collections.Counter[str] = collections.Counter()
stop_reasons: collections.Counter[str] = collections.Counter()
sources: collections.Counter[str] = collections.Counter()
messages: list[dict[str, str]] = []
blocks: dict[int, str] = {}
unknown = 0


def text(message: quipu.AssistantMessage | senpi.AssistantMessage | dreb.AssistantMessage) -> str:
    whole = ""
    for block in message["content"]:
        if block["type"] == "text":
            whole += block["text"]
    return whole


def on_event(event: quipu.QuipuEvent | senpi.SenpiEvent | dreb.DrebEvent) -> None:
    counts[event["type"]] += 1
    if event["type"] == "message_start":
        if event["message"]["role"] == "assistant":
            blocks.clear()
    elif event["type"] == "message_update":
        delta = event["assistantMessageEvent"]
        if delta["type"] == "text_delta":
            deltas[delta["type"]] += 1
            index = delta["contentIndex"]
            blocks[index] = blocks.get(index, "") + delta["delta"]
        elif delta["type"] == "toolcall_end":
            deltas[delta["type"]] += 1
            assert isinstance(delta["toolCall"]["arguments"], dict)
        else:
            # Also a delta of a later version.
            deltas["?"] += 1
    elif event["type"] == "message_end":
        message = event["message"]
        roles[message["role"] if quipu.is_agent_message(message) else "?"] += 1
        if message["role"] == "assistant":
            stop_reasons[message["stopReason"]] += 1
            folded = "".join(blocks[index] for index in sorted(blocks))
            messages.append({"folded": folded, "whole": text(message)})
    elif event["type"] == "summarization_retry_attempt_start":
        if event["source"] == "compaction":
            sources[event["reason"]] += 1
        else:
            sources["?"] += 1


def on_entry(entry: session.SessionEntry) -> None:
    counts[entry["type"]] += 1
    if entry["type"] == "message":
        message = entry["message"]
        roles[message["role"] if session.is_agent_message(message) else "?"] += 1
        if message["role"] == "assistant":
            stop_reasons[message["stopReason"]] += 1


wire = sys.argv[1]
for line in sys.stdin:
    value: object = json.loads(line)
    if wire == "quipu" and quipu.is_quipu_event(value):
        on_event(value)
    elif wire == "senpi" and senpi.is_senpi_event(value):
        on_event(value)
    elif wire == "dreb" and dreb.is_dreb_event(value):
        on_event(value)
    elif wire == "session" and session.is_session_entry(value):
        on_entry(value)
    else:
        unknown += 1
summary = {
    "counts": counts,
    "unknown": unknown,
    "deltas": deltas,
    "roles": roles,
    "stopReasons": stop_reasons,
    "sources": sources,
    "messages": messages,
}
json.dump(summary, sys.stdout)
