"""One budget for an agent and all the agents that it starts, and those that these start."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from agent_hooks import GUARD, AgentState, HookOutcome, ModelResponse, RegistrationError, Usage, current_run
from agent_hooks_guards import CostLimit, StepsLimit, TimeLimit, TokenLimit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from typing import Any

    from agent_hooks import AgentBuilder, HookContext, StopSignal
    from agent_hooks_guards import Price
    from agent_hooks_guards.guards.limits import Limit

    Money = Decimal | float | str

# A run that is cancelled never says that it has ended: what was spent by those not heard of for longest is forgotten.
MAX_RUNS = 1_000


_BEGUN = "begun"


class _Spent:
    """What a run and all its descendants have spent: tokens by model, and the steps that they began."""

    def __init__(self, usage: Mapping[str, Usage]) -> None:
        self.usage = dict(usage)
        self.steps: set[tuple[str, int]] = set()

    def as_state(self, usage: Mapping[str, Usage]) -> AgentState:
        """Return it as a state that limits can look at; ``usage`` is what the first run itself knows to be used."""
        used = {model: max(usage.get(model, Usage()), mine, key=_total) for model, mine in self.usage.items()}
        return AgentState(model_usage={**usage, **used}, metadata={_BEGUN: len(self.steps)})


class SharedBudget:
    """A budget that a run shares with all its descendants, however many are at work at once.

    ``tokens``: input and output; ``cost``: money, with ``prices`` as in ``CostLimit``; ``steps``; ``seconds``; None is
    no limit. Once one of them is spent, no agent of the family begins another step. Steps are counted when they begin,
    so there are never more. What a step costs is known when it is made, so those that are under way may go beyond the
    limit of tokens and money. Each run of the agent has the whole budget. Of one that goes on in another process, steps
    and seconds are counted anew.

    Raises ``RegistrationError`` without any limit, and for a value that a limit refuses.
    """

    name = "shared_budget"

    def __init__(
        self,
        *,
        tokens: int | None = None,
        cost: Money | None = None,
        steps: int | None = None,
        seconds: float | None = None,
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        if prices is not None and cost is None:
            raise RegistrationError("SharedBudget has prices but no cost, so they would do nothing.")
        self._spent: OrderedDict[str, _Spent] = OrderedDict()
        self._lock = Lock()
        self._limits: list[Limit] = []
        if tokens is not None:
            self._limits.append(TokenLimit(tokens))
        if cost is not None:
            self._limits.append(CostLimit(cost, prices or {}))
        self._time = None if seconds is None else TimeLimit(seconds)
        if self._time is not None:
            self._limits.append(self._time)
        self._steps = None if steps is None else StepsLimit(steps, lambda state: int(state.metadata[_BEGUN]))
        if not self._limits and self._steps is None:
            raise RegistrationError("SharedBudget limits nothing: give tokens, cost, steps or seconds.")

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the hooks; subagents inherit them. A limit of steps takes the place of the runtime's default one."""
        if self._steps is not None and not builder.has_limits:
            builder = builder.with_limits(max_steps=None)
        return (
            builder.hook("before_execution", self.begins, priority=GUARD, name="shared_budget:begins", mode="gate")
            .hook("before_step", self.holds, priority=GUARD, name="shared_budget", mode="gate")
            .hook("before_step", self.frees, name="shared_budget:frees", mode="observe")
            .hook("after_inference", self.counts, name="shared_budget:counts", mode="observe")
            .hook("after_execution", self.ends, name="shared_budget:ends", mode="observe")
        )

    def begins(self, ctx: HookContext) -> None:
        """A run of the agent begins, and has the whole budget."""
        if _is_first():
            with self._lock:
                self._spent.pop(ctx.execution_id, None)
                self._of(ctx.execution_id, {})
            if self._time is not None:
                self._time.signal(ctx)

    def holds(self, ctx: HookContext) -> HookOutcome | None:
        """Leave a stop signal for each limit that is reached; otherwise the step counts."""
        family, usage = _family(ctx)
        with self._lock:
            spent = self._of(family, usage)
            shared = ctx.replace(execution_id=family, state=spent.as_state(usage))
            step = (ctx.execution_id, ctx.step_index)
            limits = self._limits if self._steps is None or step in spent.steps else [*self._limits, self._steps]
            signals = tuple(_ours(signal) for limit in limits if (signal := limit.signal(shared)) is not None)
            if not signals:
                spent.steps.add(step)
        return HookOutcome.proceed(signals=signals) if signals else None

    def frees(self, ctx: HookContext) -> None:
        """A step that something keeps from being made does not count."""
        outcome = ctx.outcome
        if outcome is not None and (outcome.blocks or outcome.signals):
            family, usage = _family(ctx)
            with self._lock:
                self._of(family, usage).steps.discard((ctx.execution_id, ctx.step_index))

    def counts(self, ctx: HookContext) -> None:
        """Count what an answer has used, whatever becomes of it."""
        family, known = _family(ctx)
        with self._lock:
            usage = self._of(family, known).usage
            usage[ctx.model] = usage.get(ctx.model, Usage()) + ModelResponse.of(ctx.response).usage

    def _of(self, family: str, usage: Mapping[str, Usage]) -> _Spent:
        """Return what a family has spent. The lock must be held.

        One that has come from another process, or was forgotten, has used at least what its first run knows of.
        """
        spent = self._spent.get(family)
        if spent is None:
            spent = self._spent[family] = _Spent(usage)
        self._spent.move_to_end(family)
        if len(self._spent) > MAX_RUNS:
            self._spent.popitem(last=False)
        return spent

    def ends(self, ctx: HookContext) -> None:
        """A run of the agent has ended: forget what it spent."""
        if _is_first():
            with self._lock:
                self._spent.pop(ctx.execution_id, None)
            if self._time is not None:
                self._time.signal(ctx)


def _family(ctx: HookContext) -> tuple[str, Mapping[str, Usage]]:
    """Return the id of the first run, which began it all, and what it knows to be used by model."""
    run: Any = current_run()
    while run is not None and run.parent is not None:
        run = run.parent
    if run is None:
        return ctx.execution_id, {} if ctx.state is None else ctx.state.model_usage
    return run.state.execution_id, run.state.model_usage


def _is_first() -> bool:
    run = current_run()
    return run is None or run.parent is None


def _ours(signal: StopSignal) -> StopSignal:
    return signal.replace(message=f"Shared budget: {signal.message}", source=SharedBudget.__name__)


def _total(usage: Usage) -> int:
    return usage.total
