"""Verdicts that were given before in the same session."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_hooks import HookContext
    from agent_hooks.handlers.judging import Verdict

    from .asking import Question

MAX_VERDICTS = 256


class Verdicts:
    """The last verdicts, by session and by all that the judge saw: both texts and the model. In memory alone.

    Where an event has no session, its run counts as one; an event with neither is never remembered.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Verdict] = {}

    def get(self, ctx: HookContext, model: str, question: Question) -> Verdict | None:
        """Return the verdict that was given about this question, None if there is none."""
        return self._kept.get(_key(ctx, model, question))

    def keep(self, ctx: HookContext, model: str, question: Question, verdict: Verdict) -> None:
        """Remember a verdict, and forget the oldest where there are too many."""
        key = _key(ctx, model, question)
        if not key[0]:
            return
        self._kept[key] = verdict
        while len(self._kept) > MAX_VERDICTS:
            self._kept.pop(next(iter(self._kept)), None)


def _key(ctx: HookContext, model: str, question: Question) -> tuple[str, str]:
    seen = json.dumps([model, *question.texts(nonce="")])  # the number says nothing about the event
    return ctx.session_id or ctx.execution_id, sha256(seen.encode()).hexdigest()
