"""The same hooks act alike in the runtime and in a loop of others: ``run_turn`` follows the same model of a run.

A twentieth of `AGENT_HOOKS_EXAMPLES` in the environment says how many runs are generated.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_hooks import Message, ModelRequest
from agent_hooks.errors import PromptRefusedError
from agent_hooks.model.events import HookEvent
from runtime.lifecycle_model import EVENTS, TOOLS, Hook, Lifecycle, Reply, Seen
from runtime.test_lifecycle import (
    ERROR,
    EXAMPLES,
    HOOKS,
    SCRIPTS,
    STOPS,
    limit,
    managed,
    seen_in,
    spoken,
    what_hooks_do,
    worked,
)

if TYPE_CHECKING:
    from agent_hooks import ModelResponse, ToolCall
    from agent_hooks.engine.guarded_run import GuardedRun


class Loop:
    """A loop that knows nothing of hooks: it asks a model, makes the calls, and returns the answer."""

    def __init__(self, hooks: list[Hook], replies: list[Reply]) -> None:
        self.replies = list(replies)
        self.used: list[tuple[str, dict[str, str]]] = []
        self.seen: list[Seen] = []
        self.told: list[Counter[str]] = []  # by hooks, with each request
        self.run: GuardedRun | None = None
        self.manager = managed(hooks, lambda ctx: self.seen.append(seen_in(ctx)))

    async def __call__(self, run: GuardedRun, prompt: str) -> Any:
        self.run = run
        request = ModelRequest(model="scripted", messages=(Message(role="user", content=prompt),))
        while True:
            response = (await run.model(request, self.respond)).response
            assert response is not None
            for call in response.tool_calls:
                await run.tool(call, self.work)
            if not response.tool_calls:
                return response.content

    def respond(self, request: ModelRequest) -> ModelResponse:
        self.told.append(from_hooks(str(message.content) for message in request.messages))
        reply: ModelResponse | Exception = spoken(self.replies.pop(0) if self.replies else Reply("done"))
        if isinstance(reply, Exception):
            raise reply
        return reply

    def work(self, call: ToolCall) -> str:
        if call.name not in TOOLS or set(call.args) != {"text"}:
            raise LookupError("no such tool")
        return worked(call.name, call.args["text"], self.used)


def from_hooks(texts: Any) -> Counter[str]:
    """Return what hooks have said in these texts, of which a further round's prompt may join some."""
    return Counter(part for text in texts for part in text.split("\n\n") if part.startswith("because of"))


def compare(hooks: list[Hook], replies: list[Reply]) -> None:
    model, loop = Lifecycle(), Loop(hooks, replies)
    model.run(hooks, replies, "a prompt")
    output = None
    try:
        output = asyncio.run(loop.manager.hooks().run_turn("a prompt", loop)).output
    except PromptRefusedError:
        assert model.refused
    except ConnectionError:
        assert model.status == "failed"
    assert loop.seen == model.seen
    assert (loop.used, output, len(loop.told)) == (model.used, model.output, len(model.requests))
    before: Counter[str] = Counter()
    for told, request in zip(loop.told, model.requests, strict=True):  # the model has the whole conversation
        said = from_hooks(text for role, text in request if role == "user")
        assert set(said - before) <= set(told) <= set(said)
        before = said
    if loop.run is not None:
        assert loop.run.state.status == model.status


@pytest.mark.parametrize("event", EVENTS)
def test_each_thing_that_a_hook_may_do_on_an_event(event):
    """Always and only in its second call; with all that can become of a tool call, and a model that fails."""
    calls = [(name, {"text": "a"}) for name in ("work", "flaky", "missing", "flaky")]
    tools = [Reply("let me see", calls=tuple(calls)), Reply("once more", calls=(("work", {"other": "b"}),))]
    for does in dict.fromkeys(what_hooks_do(HookEvent.parse(event))):
        for nth in (0, 2):
            for replies in (tools, [ERROR]):
                compare([limit(4), Hook("h", event, does, nth=nth)], replies)


@pytest.mark.parametrize("event", ["after_step", "should_continue", "before_step", "on_stop"])
def test_going_on_against_each_kind_of_stop(event):
    """Also beside a soft one, which alone would let the run go on."""
    soft = Hook("soft", "after_step", "signal", nth=1)
    for stop in STOPS:
        compare([limit(6), stop, Hook("on", event, "force_continue")], [])
        compare([limit(6), stop, soft, Hook("on", event, "force_continue")], [])


@settings(
    max_examples=max(50, EXAMPLES // 20),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.sampled_from([4, 6, 3, 2, 1]), HOOKS, SCRIPTS)
def test_runs_are_what_the_model_says(steps: int, hooks: list[Hook], replies: list[Reply]):
    compare([limit(steps), *(replace(hook, name=f"h{n}") for n, hook in enumerate(hooks))], replies)
