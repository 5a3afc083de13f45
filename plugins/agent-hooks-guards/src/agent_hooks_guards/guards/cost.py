"""The limit of a run's cost, at prices that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from agent_hooks import RegistrationError, SettingsError, StopReason

from .limits import Limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks import AgentState, HookContext, StopSignal, Usage

    Money = Decimal | float | str

_MILLION = 1_000_000
# Fewer decimals would round away what a step costs.
_DECIMALS = 4


@dataclass(frozen=True)
class Price:
    """The price of a million tokens, in any one currency: numbers or numeric strings.

    ``cached``: input from the provider's cache, default ``input``; ``reasoning``: output that is not shown, default
    ``output``. Raises ``RegistrationError`` unless each is an amount from 0.
    """

    input: Money
    output: Money
    cached: Money | None = None
    reasoning: Money | None = None

    def __post_init__(self) -> None:
        for kind in ("input", "output", "cached", "reasoning"):
            given = getattr(self, kind)
            if given is not None:
                object.__setattr__(self, kind, amount(f"The price of {kind} tokens", given))

    def of(self, usage: Usage) -> Decimal:
        """Return the cost of ``usage``, whose input includes cached tokens, and whose output reasoning."""
        plain_input = max(usage.input_tokens - usage.cached_tokens, 0)
        plain_output = max(usage.output_tokens - usage.reasoning_tokens, 0)
        cached = self.input if self.cached is None else self.cached
        reasoning = self.output if self.reasoning is None else self.reasoning
        parts = (
            (plain_input, self.input),
            (usage.cached_tokens, cached),
            (plain_output, self.output),
            (usage.reasoning_tokens, reasoning),
        )
        return sum((tokens * Decimal(price) for tokens, price in parts), Decimal()) / _MILLION


def amount(name: str, given: Money) -> Decimal:
    """Return ``given`` as a decimal, a float as written. Raises ``RegistrationError`` unless it is an amount from 0."""
    try:
        value = Decimal(str(given))
    except InvalidOperation:
        value = Decimal("NaN")
    if isinstance(given, bool) or not value.is_finite() or value < 0:
        raise RegistrationError(f"{name} must be an amount from 0, not {given!r}.")
    return value


class CostLimit(Limit):
    """Stops a run whose model calls, refused answers included, have cost ``max_cost``, in the currency of ``prices``.

    ``prices``: a ``Price`` by the name of a model or its beginning (``claude-opus``); the longest match counts, and
    ``*`` is any model. A used model without a price stops the run. The last step may go beyond the limit: its cost is
    not known before. Without a state there is no limit. Raises ``RegistrationError`` for an invalid amount, and without
    prices.
    """

    name = "guard:cost_limit"

    def __init__(self, max_cost: Money, prices: Mapping[str, Price]) -> None:
        self._max_cost = amount("max_cost", max_cost)
        if not prices or not all(model.strip() for model in prices):
            raise RegistrationError("prices must give a Price for a model's name or its beginning, or for '*'.")
        for model, price in prices.items():
            if not isinstance(price, Price):
                raise RegistrationError(f"The price of {model!r} must be a Price(input, output), not {price!r}.")
        # Longest first, so that the first match counts; "" is the beginning of every name.
        known = {"" if model == "*" else model: price for model, price in prices.items()}
        self._prices = sorted(known.items(), key=lambda item: len(item[0]), reverse=True)

    def cost_of(self, state: AgentState) -> Decimal:
        """Return the cost of ``state.model_usage``. Raises ``SettingsError`` for a model without a price."""
        used = [(model, usage) for model, usage in state.model_usage.items() if usage.total]
        return sum((self._price(model).of(usage) for model, usage in used), Decimal())

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``token_limit`` when the money is spent, or the cost is unknown."""
        if ctx.state is None:
            return None
        most = self._max_cost
        try:
            total = self.cost_of(ctx.state)
        except SettingsError as error:
            return self.stop(StopReason.TOKEN_LIMIT, str(error), maxCost=f"{most:f}")
        if total < most:
            return None
        decimals = max(_DECIMALS, -int(most.as_tuple().exponent))
        message = f"Cost limit reached: {total:.{decimals}f}/{most:f}"
        return self.stop(StopReason.TOKEN_LIMIT, message, totalCost=f"{total:f}", maxCost=f"{most:f}")

    def _price(self, model: str) -> Price:
        for beginning, price in self._prices:
            if model.startswith(beginning):
                return price
        named = f"the model {model!r}" if model else "a model that gave no name"
        remedy = f"give one for {model!r}, or for '*'" if model else "give one for '*'"
        raise SettingsError(f"Cost limit: there is no price for {named}, so its cost is not known: {remedy}.")
