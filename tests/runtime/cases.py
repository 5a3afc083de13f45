"""Rows of tables: a run of an agent, and what is true of it in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.agents import Trial, results, said, signal_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks import AgentState

FACTS: dict[str, Callable[[Trial, AgentState], Any]] = {
    "status": lambda _, state: state.status,
    "output": lambda _, state: state.output,
    "said": lambda _, state: said(state.messages),
    "texts": lambda _, state: [message.content for message in state.messages],
    "results": lambda _, state: results(state),
    "steps": lambda _, state: state.step_count,
    "tokens": lambda _, state: state.usage.total,
    "errors": lambda _, state: [error.message for error in state.errors],
    "signals": lambda _, state: [str(signal.reason) for signal in state.stop_signals],
    "reason": lambda _, state: str(signal_of(state).reason),
    "message": lambda _, state: signal_of(state).message,
    "source": lambda _, state: signal_of(state).source,
    "requests": lambda trial, _: len(trial.requests),
    "read": lambda trial, _: [[message.content for message in request.messages] for request in trial.requests],
    "events": lambda trial, _: " ".join(trial.events),
}


def hook(answer: Any = None, **options: Any) -> dict[str, Any]:
    """A hook that gives ``answer``, with the options of ``Trial.on``."""
    return {"answer": answer, **options}


class Case:
    """A run: the replies of the model, and by event the answer of a hook, a ``hook`` or a list of both."""

    def __init__(self, *replies: Any, prompt: Any = "go", policy: Any = None, tools: Any = None, **hooks: Any) -> None:
        self.trial_of = lambda: Trial(*replies, **(policy or {}), **({"tools": tools} if tools else {}))
        self.prompt = prompt
        self.hooks = hooks
        self.facts: dict[str, Any] = {}

    def gives(self, **facts: Any) -> Case:
        """What is true of the run, by the names of ``FACTS``; ``nowhere`` is what the state must not contain."""
        self.facts = facts
        return self

    def check(self) -> None:
        trial = self.trial_of()
        for event, answers in self.hooks.items():
            for answer in answers if isinstance(answers, list) else [answers]:
                trial.on(event, **(answer if isinstance(answer, dict) else hook(answer)))
        state = trial.run(self.prompt)
        facts = dict(self.facts)
        if (text := facts.pop("nowhere", None)) is not None:
            assert text not in str(state)
        assert {name: FACTS[name](trial, state) for name in facts} == facts
