"""The same hooks act alike wherever an agent runs: a table of hooks and replies, compared with one model of a run.

Where a framework differs is in ``DIFFERS``, and on the page of the frameworks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hosting import Call

from runtime.lifecycle_model import Hook, Lifecycle, Reply
from runtime.test_lifecycle import limit, managed, worked

if TYPE_CHECKING:
    from hosting import Host

    from agent_hooks.model.context import HookContext

ANSWER = [Reply("one"), Reply("two"), Reply("three"), Reply("four")]
WORK = [Reply("", calls=(("work", {"text": "a"}),)), *ANSWER]
TWO = [Reply("", calls=(("work", {"text": "a"}), ("work", {"text": "b"}))), *ANSWER]
BROKEN = [Reply("", calls=(("broken", {"text": "a"}),)), *ANSWER]
FLAKY = [Reply("", calls=(("flaky", {"text": "a"}),)), *ANSWER]
ERROR = [Reply(raises="error"), *ANSWER]


def hook(event: str, does: str, nth: int = 0, **fields: Any) -> Hook:
    return Hook(f"{event}-{does}", event, does, nth=nth, **fields)


ONCE_MORE = hook("on_stop", "force_continue", 1)
SETS: dict[str, tuple[list[Hook], list[Reply]]] = {
    "nothing": ([], WORK),
    "two calls": ([], TWO),
    "a prompt is refused": ([hook("user_input", "deny")], ANSWER),
    "a prompt stops the run": ([hook("user_input", "stop")], ANSWER),
    "a run is stopped before it": ([hook("before_execution", "stop")], ANSWER),
    "a run is stopped before it, and goes on": ([hook("before_execution", "stop"), ONCE_MORE], ANSWER),
    "should_continue stops at once": ([hook("should_continue", "stop", 1)], WORK),
    "should_continue stops after a step": ([hook("should_continue", "stop", 2)], WORK),
    "should_continue stops the round that was forced": ([hook("should_continue", "stop", 2), ONCE_MORE], ANSWER),
    "should_continue forces a round": ([hook("should_continue", "force_continue", 2)], ANSWER),
    "should_continue fails": ([hook("should_continue", "raise", 1)], ANSWER),
    "before_step stops at once": ([hook("before_step", "stop", 1)], ANSWER),
    "before_step stops at once, and the run goes on": ([hook("before_step", "stop", 1), ONCE_MORE], ANSWER),
    "before_step stops after a step": ([hook("before_step", "stop", 2)], WORK),
    "before_step stops the round that was forced": ([hook("before_step", "stop", 2), ONCE_MORE], ANSWER),
    "a request is denied": ([hook("before_inference", "deny")], ANSWER),
    "a request is denied, and the run goes on": ([hook("before_inference", "deny", 1), ONCE_MORE], ANSWER),
    "a request of the round that was forced is denied": ([hook("before_inference", "deny", 2), ONCE_MORE], ANSWER),
    "a response is withheld": ([hook("after_inference", "deny")], ANSWER),
    "a response is withheld, and the run goes on": ([hook("after_inference", "deny", 1), ONCE_MORE], ANSWER),
    "a response is asked for again": ([hook("after_inference", "retry", 1)], ANSWER),
    "a response is asked for too often": ([hook("after_inference", "retry")], [*ANSWER, *ANSWER]),
    "a response stops the run": ([hook("after_inference", "stop", 1)], ANSWER),
    "a response with calls stops the run": ([hook("after_inference", "stop", 1)], WORK),
    "a call is denied": ([hook("before_tool_use", "deny")], WORK),
    "a call stops the run": ([hook("before_tool_use", "stop", 1)], TWO),
    "a call stops the run, which goes on": ([hook("before_tool_use", "stop", 1), ONCE_MORE], TWO),
    "a result is withheld": ([hook("after_tool_use", "deny")], WORK),
    "a result stops the run": ([hook("after_tool_use", "stop", 1)], WORK),
    "a call is made again": ([hook("after_tool_use", "retry", 1)], WORK),
    "a failed call is made again": ([hook("on_tool_error", "retry", 1)], FLAKY),
    "a failed call stops the run": ([hook("on_tool_error", "stop", 1)], BROKEN),
    "a call fails": ([], BROKEN),
    "a step stops the run": ([hook("after_step", "stop", 1)], WORK),
    "a step forces a round": ([hook("after_step", "force_continue", 1)], ANSWER),
    "a step signals a limit": ([hook("after_step", "signal", 1, reason="steps_limit"), ONCE_MORE], WORK),
    "a step signals softly": ([hook("after_step", "signal", 1, reason="unknown"), ONCE_MORE], WORK),
    "a round is forced": ([ONCE_MORE], ANSWER),
    "rounds are forced for ever": ([hook("on_stop", "force_continue")], [*ANSWER, *ANSWER]),
    "a limit of steps ends forced rounds": ([limit(2), hook("on_stop", "force_continue")], ANSWER),
    "an answer is withheld": ([hook("before_output", "deny")], ANSWER),
    "an answer stops the run": ([hook("before_output", "stop")], ANSWER),
    "an answer is changed": ([hook("before_output", "rewrite")], ANSWER),
    "the model fails": ([], ERROR),
    "the model fails, and is asked again": ([hook("on_error", "retry", 1)], ERROR),
    "the model fails, and no round is forced": ([ONCE_MORE], ERROR),
}

_AT_ONCE = {"two calls": "The calls of one turn are made at the same time."}
_STOPPED = {"a request of the round that was forced is denied": "A run that hooks stop ends with an error."}
_FAILED = {"a call fails": "An error of a tool ends the run."}
_NOT_CAUGHT = {**_FAILED, "a failed call stops the run": _FAILED["a call fails"]}
# By the name of the framework.
DIFFERS: dict[str, dict[str, str]] = {
    "Microsoft Agent Framework": {**_AT_ONCE, **_STOPPED},
    "Google ADK": _FAILED,
    "LangChain": {**_AT_ONCE, **_STOPPED, **_NOT_CAUGHT},
    "OpenAI Agents SDK": {**_AT_ONCE, **_STOPPED},
    "pydantic-ai": {**_AT_ONCE, **_STOPPED, **_NOT_CAUGHT},
    "Strands": {**_AT_ONCE, **_STOPPED},
}


def tools() -> list[Any]:
    """Return the tools of the model of a run."""
    used: list[tuple[str, dict[str, str]]] = []

    def work(text: str) -> str:
        """Work."""
        return worked("work", text, used)

    def broken(text: str) -> str:
        """Fail."""
        return worked("broken", text, used)

    def flaky(text: str) -> str:
        """Fail each other time."""
        return worked("flaky", text, used)

    return [work, broken, flaky]


def reply(said: Reply) -> Any:
    if said.raises:
        return ConnectionError("no answer")
    calls = [Call(name, dict(args), f"call-{place}") for place, (name, args) in enumerate(said.calls)]
    return calls or said.text


class SameRun:
    """A comparison for each set: inherit it with a ``host``, in front of ``Behaviours``."""

    host: Host

    @pytest.mark.parametrize("name", SETS)
    def test_hooks_act_as_in_the_runtime(self, name: str, request: pytest.FixtureRequest):
        reason = DIFFERS.get(self.host.framework.name, {}).get(name)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
        hooks, replies = SETS[name]
        seen: list[tuple[str, str]] = []

        def look(ctx: HookContext) -> None:
            assert ctx.outcome is not None
            seen.append((str(ctx.event), str(ctx.outcome.decision)))

        manager = managed(hooks, look)
        model = Lifecycle()
        model.run(hooks, replies, "Go.")
        ran = self.host.run(list(map(reply, replies)), tools(), manager=manager)
        assert seen == [(each.event, each.decision) for each in model.seen]
        assert (ran.output, len(ran.seen)) == (model.output, len(model.requests))
