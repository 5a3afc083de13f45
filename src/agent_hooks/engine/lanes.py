"""The fast lanes, one per colour: call the hooks that have no opinion or only add something, and hand over the rest.

They hand over to ``Dispatch.run`` at the first opinion or failure, and wherever more than plain hooks take part. Both
repeat each other but for ``await``: one definition, as a coroutine that a sync call drives, took 1.7 times as long for
five hooks without an opinion.
"""

from __future__ import annotations

from agent_hooks.model.outcome import PROCEED, HookOutcome

from .answers import conclude, fold, same
from .calling import LaneTimer, Rest, awaited, complete, drive, is_failure
from .dispatch import Dispatch, Handover
from .watching import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.context import HookContext

    from .dispatch import Rewrites
    from .hooks import Hooks
    from .plan import Chain, Hook


def run_sync(chain: Chain, start: HookContext, view: Hooks, watch: Watch | None = None) -> HookOutcome:
    """Settle the outcome of ``start`` without an event loop; a hook that really waits fails."""
    lane = None
    fields = start._fields
    if chain.is_plain and "was_blocked" not in fields and ("tool_call" in fields or not chain.needs_call):
        ctx, rows = start, chain.rows
        hook, matched = None, True
        unmet: tuple[Hook, ...] = ()
        rewrites: Rewrites = ()
        try:
            if chain.rows_of_tools is not None:
                rows = chain.rows_for(start, chain.rows_of_tools)
            for hook, call, match in rows:
                if match is not None:
                    matched = match(ctx)
                    if not matched:
                        unmet += (hook,)
                        continue
                answer = call(ctx)
                if answer is None:
                    continue
                if type(answer) is HookOutcome and hook.additions.issuperset(answer._fields):
                    old, ctx = ctx._fields, fold(ctx, hook.name, answer, chain.separator)
                    if chain.subject in answer._fields and ctx._fields.get(chain.holder) is not old.get(chain.holder):
                        rewrites += ((hook, ctx.held_subject),)
                    continue
                lane = Handover(start, ctx, rows, unmet, rewrites, hook).stop_at(hook, match is None or matched, answer)
                break
            else:
                if not rewrites and not chain.observers:
                    if watch is not None:
                        watch.ctx = ctx
                    return PROCEED if ctx is start else conclude(None, PROCEED, start, ctx)
                lane = Handover(start, ctx, rows, unmet, rewrites, is_done=True)
        except BaseException as error:
            lane = Handover(start, ctx, rows, unmet, rewrites, hook).fail_at(hook, error)
    return drive(finish(chain, start, view, lane or Handover(start), watch, sync=True))


def watch_sync(chain: Chain, start: HookContext, view: Hooks) -> HookOutcome:
    """Do as ``run_sync``, and tell the framework's own observers of the start and the end."""
    with Watch(chain, start, view.clock) as watch:
        watch.outcome = outcome = run_sync(chain, start, view, watch)
    return outcome


async def watch_async(chain: Chain, start: HookContext, view: Hooks) -> HookOutcome:
    """Do as ``run_async``, or ``run_timed``, and tell the framework's own observers of the start and the end."""
    with Watch(chain, start, view.clock) as watch:
        run = run_timed if chain.has_time_limits else run_async
        watch.outcome = outcome = await run(chain, start, view, watch)
    return outcome


async def run_timed(chain: Chain, start: HookContext, view: Hooks, watch: Watch | None = None) -> HookOutcome:
    """Do as ``run_async`` where async hooks have time limits: no timer before one of them first waits."""
    shared: list[Any] = []
    lane = run_async(chain, start, view, watch, shared)
    for waiting_for in lane.__await__():  # unlike `send`, it makes no exception where the lane ends
        await Rest(lane, waiting_for, LaneTimer(lane, shared))
        break
    outcome: HookOutcome = shared[-1]
    return outcome


async def run_async(
    chain: Chain, start: HookContext, view: Hooks, watch: Watch | None = None, shared: list[Any] | None = None
) -> Any:
    """Settle the outcome of ``start``, awaiting its async hooks in the caller's own task.

    ``shared`` holds the time limit of a hook that was thrown an error while it waited, and last the outcome, which is
    not returned then: only an ``await`` takes it without an exception.
    """
    outcome = lane = hook = None
    fields = start._fields
    if chain.is_plain and "was_blocked" not in fields and ("tool_call" in fields or not chain.needs_call):
        ctx, rows = start, chain.rows
        matched = True
        unmet: tuple[Hook, ...] = ()
        rewrites: Rewrites = ()
        try:
            if chain.rows_of_tools is not None:
                rows = chain.rows_for(start, chain.rows_of_tools)
            for hook, call, match in rows:
                if match is not None:
                    matched = match(ctx)
                    if not matched:
                        unmet += (hook,)
                        continue
                answer = call(ctx)
                if hook.is_async:
                    answer = await answer
                    if shared:
                        shared[0].check_answer()
                if answer is None:
                    continue
                if type(answer) is HookOutcome and hook.additions.issuperset(answer._fields):
                    old, ctx = ctx._fields, fold(ctx, hook.name, answer, chain.separator)
                    if chain.subject in answer._fields and ctx._fields.get(chain.holder) is not old.get(chain.holder):
                        rewrites += ((hook, ctx.held_subject),)
                    continue
                lane = Handover(start, ctx, rows, unmet, rewrites, hook).stop_at(hook, match is None or matched, answer)
                break
            else:
                if rewrites or chain.observers:
                    lane = Handover(start, ctx, rows, unmet, rewrites, is_done=True)
                else:
                    if watch is not None:
                        watch.ctx = ctx
                    outcome = PROCEED if ctx is start else conclude(None, PROCEED, start, ctx)
        except BaseException as error:
            counting = shared[0].ended(error) if shared else error
            lane = Handover(start, ctx, rows, unmet, rewrites, hook).fail_at(hook, counting)
    if outcome is None:
        hook = None  # from here on, each call has a timer of its own
        outcome = await finish(chain, start, view, lane or Handover(start), watch, sync=False)
    if shared is None:
        return outcome
    shared.append(outcome)
    return None


async def finish(
    chain: Chain, start: HookContext, view: Hooks, lane: Handover, watch: Watch | None, *, sync: bool
) -> HookOutcome:
    """Settle the outcome from where a lane stopped. If hooks changed the subject, the chain is walked again."""
    if lane.is_done and lane.changed_by and chain.policy.max_rechecks:
        lane = await recheck(lane, sync=sync)
    is_settled = lane.is_done and not lane.changed_by
    if is_settled and (not chain.observers or (chain.is_plainly_seen and view.on_settled is None)):
        if watch is not None:
            watch.ctx = lane.ctx
        return await look(chain, start, view, lane.ctx, sync=sync)
    return await Dispatch(chain, start, view, sync=sync).run(lane, watch)


async def look(chain: Chain, start: HookContext, view: Hooks, ctx: HookContext, *, sync: bool) -> HookOutcome:
    """Show the observers that no hook has objected; return that outcome, with the findings about those that failed."""
    outcome = conclude(None, PROCEED, start, ctx)
    seen = ctx.replace(outcome=outcome) if chain.observers else ctx
    failing: Dispatch | None = None
    for hook in chain.observers:
        try:
            if hook.match is None or hook.match(seen):
                await awaited(hook, hook.call(seen), sync=sync)
        except BaseException as error:
            if not is_failure(error):
                raise
            failing = failing or Dispatch(chain, start, view, sync=sync)
            found = len(failing.answers.findings)
            failing.answers.tolerate(hook, error)
            failing.tell_executed(hook, seen, PROCEED, error, 0.0, 0, found)
    return outcome if failing is None else failing.with_findings(outcome)


async def recheck(lane: Handover, *, sync: bool) -> Handover:
    """Ask the hooks that have not answered about exactly this subject, up to the first that has an opinion."""
    ctx, answered = lane.ctx, lane.answered
    subject, again = ctx.held_subject, ctx._with(rechecking=True)
    lane.walk, lane.changed_by = 2, []
    hook = None
    try:
        for hook, call, match in lane.rows:
            matched = True if match is None else match(ctx)
            if not matched:
                continue
            is_known = hook in answered
            if is_known and same(answered[hook], subject):
                continue
            answer = call(again if is_known else ctx)
            if hook.is_async and not sync:
                answer = await complete(answer, hook.timeout, sync=False)
            if answer is not None:
                return lane.stop_at(hook, matched, answer)
            answered[hook] = subject
    except BaseException as error:
        return lane.fail_at(hook, error)
    return lane
