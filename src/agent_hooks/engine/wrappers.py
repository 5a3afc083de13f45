"""Wrappers: hooks that run around the walks of a dispatch, and may only make its outcome stricter."""

from __future__ import annotations

from agent_hooks.errors import HookMisuseError
from agent_hooks.model.outcome import BRINGS, KEPT, PROCEED, Decision, HookOutcome

from .answers import fold, named
from .calling import complete, is_failure, matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .dispatch import Dispatch
    from .plan import Hook

_STRICTNESS = {Decision.ASK: 1, Decision.SUSPEND: 2, Decision.DENY: 3, Decision.STOP: 4}


async def opened(dispatch: Dispatch, hook: Hook, started: float) -> tuple[Any, HookOutcome | None]:
    """Run a wrapper up to its yield; return its generator, or the outcome of its failure, or neither."""
    ctx, found = dispatch.answers.ctx, len(dispatch.answers.findings)
    try:
        if not matches(hook, ctx):
            return None, None
        generator = hook.call(ctx)
        await advance(dispatch, hook, generator, None, first=True)
    except BaseException as caught:
        if not is_failure(caught):
            raise
        answer = dispatch.answers.failed(hook, caught)
        if hook.shadow:
            dispatch.answers.record_shadow(hook, answer, caught)
        dispatch.tell_executed(hook, ctx, answer, caught, started, dispatch.walk_number, found)
        return None, answer
    return generator, None


async def advance(dispatch: Dispatch, hook: Hook, generator: Any, value: Any, *, first: bool) -> Any:
    """Advance a wrapper by one step. Raises ``HookMisuseError`` for a wrong number of yields."""
    is_async = hasattr(generator, "asend")
    ended: type[Exception] = StopAsyncIteration if is_async else StopIteration  # the other one is a failure
    try:
        step = generator.asend(value) if is_async else generator.send(value)
        answer = await complete(step, hook.timeout, sync=dispatch.sync) if is_async else step
    except ended as end:
        if first:
            raise HookMisuseError("a wrapper yields once; it ended before its yield.") from None
        return getattr(end, "value", None)
    if first:
        return None
    if not is_async:
        generator.close()
        raise HookMisuseError("a wrapper yields once; it yielded twice. Return the answer instead of yielding it.")
    try:
        await complete(generator.asend(None), hook.timeout, sync=dispatch.sync)
    except StopAsyncIteration:
        return answer
    raise HookMisuseError("an async wrapper yields once, and a second time to answer; it yielded a third time.")


async def after(dispatch: Dispatch, hook: Hook, generator: Any, outcome: HookOutcome, started: float) -> HookOutcome:
    """Let a wrapper see the outcome, and keep its answer if that is stricter."""
    error: BaseException | None = None
    answer, found, ctx = PROCEED, len(dispatch.answers.findings), dispatch.answers.ctx
    try:
        returned = await advance(dispatch, hook, generator, outcome, first=False)
        given = dispatch.given_answer(hook)
        returned = returned if given is None else given
        if returned is not None and returned is not outcome:
            answer = dispatch.answers.read(hook, dispatch.answers.ctx, returned)
            dispatch.answers.refuse_new_subject(hook, answer)
    except BaseException as caught:
        if not is_failure(caught):
            raise
        error, answer = caught, dispatch.answers.failed(hook, caught)
    if hook.shadow:
        dispatch.answers.record_shadow(hook, answer, error)
    else:
        outcome = stricter(dispatch, hook, outcome, answer)
    dispatch.tell_executed(hook, ctx, answer, error, started, dispatch.walk_number, found)
    return outcome


def stricter(dispatch: Dispatch, hook: Hook, outcome: HookOutcome, answer: HookOutcome) -> HookOutcome:
    """Return the wrapper's answer if it is stricter than the outcome, else the outcome."""
    if answer.decision is Decision.ASK and outcome.decision is Decision.ASK:
        return dispatch.answers.also_asked(outcome, hook, answer)
    was, now = _STRICTNESS.get(outcome.decision, 0), _STRICTNESS.get(answer.decision, 0)
    brings = {name for name in answer._fields.keys() & BRINGS if answer._fields[name] != outcome._fields.get(name)}
    if now <= was:
        if answer.decision not in (Decision.PROCEED, outcome.decision):
            brings = {str(answer.decision), *brings}
        if brings:
            names = ", ".join(sorted(brings))
            dispatch.answers.note(
                hook,
                "contract",
                f"The wrapper '{hook.name}' may only return a stricter outcome; {names} was dropped.",
            )
        return outcome
    for name in sorted(brings - KEPT):
        dispatch.answers.note(hook, "contract", f"The wrapper '{hook.name}' may not change '{name}': that was dropped.")
    kept = HookOutcome._of({name: value for name, value in answer._fields.items() if name in KEPT})
    dispatch.answers.ctx = fold(dispatch.answers.ctx, hook.name, kept, dispatch.chain.separator)
    outcome = outcome.replace(**{name: getattr(dispatch.answers.ctx, name) for name in kept._fields})
    if answer.decision is Decision.ASK:
        return dispatch.answers.question([(hook, answer)], outcome)
    subject = dispatch.event.subject
    brought = {name: value for name, value in outcome._fields.items() if name in BRINGS and name != subject}
    decided = {"decision": answer.decision, "reason": answer.reason, "failed": answer.failed}
    decided.update(named(hook, answer.decision))
    if answer.decision is Decision.SUSPEND:
        decided["data"] = answer.data
        dispatch.answers.suspended_by = hook
    return HookOutcome._of({**brought, **decided})
