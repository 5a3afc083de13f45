"""The fast lanes, one per colour: call the hooks that have no opinion or only add something, and hand over the rest.

They hand over to ``Dispatch.run`` at the first opinion or failure, and wherever more than plain hooks take part. Both
repeat each other but for ``await``: one definition, as a coroutine that a sync call drives, took 1.7 times as long for
five hooks without an opinion.
"""

from __future__ import annotations

from agent_hooks.model.outcome import PROCEED, HookOutcome

from .answers import conclude, fold
from .calling import drive, go_on
from .dispatch import Dispatch, Handover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext

    from .hooks import Hooks
    from .plan import Chain, Hook


def run_sync(chain: Chain, start: HookContext, view: Hooks) -> HookOutcome:
    """Settle the outcome of ``start`` without an event loop; a hook that really waits fails."""
    lane = None
    fields = start._fields
    if chain.is_plain and "was_blocked" not in fields and ("tool_call" in fields or not chain.needs_call):
        ctx, hook, matched = start, None, True
        unmet: list[Hook] = []
        rows = chain.rows
        rewrites: list[tuple[Hook, HookContext]] = []
        try:
            if chain.rows_of_tools is not None:
                rows = chain.rows_for(start, chain.rows_of_tools)
            for hook, match in rows:
                if match is not None:
                    matched = match(ctx)
                    if not matched:
                        unmet.append(hook)
                        continue
                answer = hook.call(ctx)
                if answer is not None:
                    if type(answer) is HookOutcome and answer._fields.keys() <= hook.additions:
                        before, ctx = ctx, fold(ctx, hook.name, answer, chain.separator)
                        if chain.subject in answer._fields and ctx.subject is not before.subject:
                            rewrites.append((hook, ctx))
                        continue
                    lane = Handover(ctx, rows, unmet, rewrites).at(hook, match is None or matched, answer)
                    break
            else:
                if not rewrites and not chain.observers:
                    return PROCEED if ctx is start else conclude(None, PROCEED, start, ctx)
                lane = Handover(ctx, rows, unmet, rewrites, is_done=True)
        except BaseException as error:
            lane = Handover(ctx, rows, unmet, rewrites).failed_at(hook, error)
    return drive(Dispatch(chain, start, view, sync=True).run(lane or Handover(start)))


async def run_async(chain: Chain, start: HookContext, view: Hooks) -> HookOutcome:
    """Settle the outcome of ``start``, awaiting its async hooks in the caller's own task."""
    lane = None
    fields = start._fields
    if chain.is_plain and "was_blocked" not in fields and ("tool_call" in fields or not chain.needs_call):
        ctx, hook, matched = start, None, True
        unmet: list[Hook] = []
        rows = chain.rows
        rewrites: list[tuple[Hook, HookContext]] = []
        try:
            if chain.rows_of_tools is not None:
                rows = chain.rows_for(start, chain.rows_of_tools)
            for hook, match in rows:
                if match is not None:
                    matched = match(ctx)
                    if not matched:
                        unmet.append(hook)
                        continue
                answer = hook.call(ctx)
                if hook.is_async:
                    if hook.timeout is None:
                        answer = await answer
                    else:  # no timer before the hook first waits
                        try:
                            waiting_for = answer.send(None)
                        except StopIteration as done:
                            answer = done.value
                        else:
                            answer = await go_on(answer, waiting_for, hook.timeout)
                if answer is not None:
                    if type(answer) is HookOutcome and answer._fields.keys() <= hook.additions:
                        before, ctx = ctx, fold(ctx, hook.name, answer, chain.separator)
                        if chain.subject in answer._fields and ctx.subject is not before.subject:
                            rewrites.append((hook, ctx))
                        continue
                    lane = Handover(ctx, rows, unmet, rewrites).at(hook, match is None or matched, answer)
                    break
            else:
                if not rewrites and not chain.observers:
                    return PROCEED if ctx is start else conclude(None, PROCEED, start, ctx)
                lane = Handover(ctx, rows, unmet, rewrites, is_done=True)
        except BaseException as error:
            lane = Handover(ctx, rows, unmet, rewrites).failed_at(hook, error)
    return await Dispatch(chain, start, view, sync=False).run(lane or Handover(start))
