"""What Gemini CLI says of a request to its model, and what it takes in its place."""

from __future__ import annotations

import json

import pytest

from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.state import Message
from agent_hooks.wire.gemini import HOST as GEMINI
from agent_hooks.wire.qwen import HOST as QWEN
from wire.golden_files import payloads

SENT = payloads("gemini")["BeforeModel.json"]


def about(*messages):
    return GEMINI.read({**SENT, "llm_request": {**SENT["llm_request"], "messages": [*messages]}})


def test_a_request_is_read_with_the_roles_of_our_messages():
    ctx = about({"role": "model", "content": "a"}, {"role": "user", "content": "b"}, {"content": "c"}, "no message")
    assert isinstance(ctx.request, ModelRequest)
    assert (ctx.model, ctx.request.model, ctx.request.settings["topK"]) == (*["gemini-2.5-flash"] * 2, 64)
    roles = [(message.role, message.content) for message in ctx.request.messages]
    assert roles == [("assistant", "a"), ("user", "b"), ("user", "c")]


def test_a_new_request_is_written_with_the_roles_of_gemini():
    ctx = about({"role": "model", "content": "a"}, {"role": "user", "content": "b"})
    messages = [Message(role=role, content=f"by {role}") for role in ("assistant", "tool", "user")]
    new = ctx.request.replace(messages=messages)
    written = json.loads(GEMINI.write(HookOutcome(request=new), ctx).stdout)["hookSpecificOutput"]["llm_request"]
    assert (written["model"], written["config"]["topP"]) == ("gemini-2.5-flash", 0.95)
    sent = [(message["role"], message["content"]) for message in written["messages"]]
    assert sent == [("model", "by assistant"), ("user", "by tool"), ("user", "by user")]


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ({"system_prompt": "be brief"}, "it would lose the change of system_prompt"),
        ({"tools": [{"name": "t"}]}, "it would lose the change of tools"),
        ({"response_format": {"type": "json"}}, "it would lose the change of response_format"),
        ({"messages": [Message(role="user", content="one")]}, "it would keep the last messages"),
        ({"model": "gemini-pro"}, ""),
        ({"messages": [Message(role="user", content=text) for text in ("one", "two", "three")]}, ""),
    ],
)
def test_what_gemini_would_not_send_of_a_new_request_is_named(change, lost):
    request = about({"role": "user", "content": "a"}, {"role": "user", "content": "b"}).request
    assert GEMINI.lost_of_request(request, request.replace(**change)) == lost


@pytest.mark.parametrize("host", [GEMINI, QWEN], ids=["gemini", "qwen"])
def test_the_model_reads_the_content_for_it_of_a_new_result(host):
    shown = [host.shown_result(result) for result in ({"llmContent": "a", "returnDisplay": "b"}, {"other": 1}, "text")]
    assert shown == ["a", '{"other": 1}', "text"]
