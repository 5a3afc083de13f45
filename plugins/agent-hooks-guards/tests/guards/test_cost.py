"""The limit of what a run costs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import stop_of

from agent_hooks import AgentState, HookContext, HookManager, RegistrationError, SettingsError, Step, Usage
from agent_hooks_guards import CostLimit, Price

OPUS, SONNET, ANY = Price(15, 75, cached="1.50"), Price(3, 15), Price(1, 1)


def state_of(*used):
    """A state in which these models have used so much."""
    state = AgentState()
    for model, usage in used:
        state = state.with_model_usage(model, usage)
    return state


def test_each_kind_of_token_has_its_price():
    """Cached tokens are part of the input, reasoning of the output."""
    price = Price(input=10, output="20", cached=Decimal(1), reasoning=0.5)
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=500_000, reasoning_tokens=100_000)
    assert price.of(usage) == Decimal("14.45")


def test_cached_input_costs_what_input_does_and_reasoning_what_output_does_unless_said():
    usage = Usage(input_tokens=100, cached_tokens=40, output_tokens=50, reasoning_tokens=10)
    assert Price(10_000, 20_000).of(usage) == Price(10_000, 20_000, cached=10_000, reasoning=20_000).of(usage) == 2


def test_a_float_is_taken_as_it_is_written():
    assert sum((Price(0.1, 0).of(Usage(input_tokens=1_000_000)) for _ in range(3)), Decimal()) == Decimal("0.3")


tokens = st.integers(0, 10**9)
prices = st.decimals(0, 1000, places=4)


@given(st.lists(st.builds(Usage, input_tokens=tokens, output_tokens=tokens)), st.builds(Price, prices, prices))
def test_the_cost_of_a_run_is_exactly_that_of_all_its_tokens(usages, price):
    limit = CostLimit(1, {"m": price})
    all_of_it = sum(usages, Usage())
    assert limit.cost_of(state_of(*[("m", usage) for usage in usages])) == price.of(all_of_it)


@given(
    usage=st.builds(Usage, input_tokens=tokens, output_tokens=tokens, cached_tokens=tokens, reasoning_tokens=tokens),
    price=st.builds(Price, prices, prices, prices, prices),
)
def test_no_usage_costs_less_than_nothing(usage, price):
    """Not even where a provider counts more cached tokens than input."""
    assert price.of(usage) >= 0


def test_the_longest_beginning_of_a_models_name_has_the_price():
    limit = CostLimit(1, {"*": ANY, "claude": SONNET, "claude-opus": OPUS})
    million = Usage(input_tokens=1_000_000)
    for model, cost in (("claude-opus-4-5", 15), ("claude-sonnet", 3), ("gpt", 1), ("opus", 1), ("", 1)):
        assert limit.cost_of(state_of((model, million))) == cost


def test_the_limit_is_reached_at_its_amount_and_says_all_there_is_to_know():
    manager = HookManager(load_plugins=False)
    manager.register(CostLimit("0.50", {"claude": SONNET}))
    below = state_of(("claude-a", Usage(input_tokens=160_000)))
    assert manager.hooks().dispatch_sync(HookContext.before_step(below)).signals == ()
    state = state_of(("claude-a", Usage(input_tokens=160_000)), ("claude-b", Usage(output_tokens=2_667)))
    (signal,) = manager.hooks().dispatch_sync(HookContext.before_step(state)).signals
    assert (signal.reason, signal.message, signal.source) == (
        "token_limit",
        "Cost limit reached: 0.5200/0.50",
        "CostLimit",
    )
    assert signal.context == {"totalCost": "0.520005", "maxCost": "0.50"}


@pytest.mark.parametrize(("most", "stops"), [("0.00003", True), ("0.000031", False), (0, True)])
def test_small_amounts_are_told_apart(most, stops):
    outcome = CostLimit(most, {"*": SONNET}).handle(HookContext.before_step(state_of(("m", Usage(input_tokens=10)))))
    assert (outcome is not None) == stops
    if most == "0.00003":
        assert stop_of(outcome).message == "Cost limit reached: 0.00003/0.00003"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt", "no price for the model 'gpt', so its cost is not known: give one for 'gpt', or for '*'."),
        ("", "no price for a model that gave no name, so its cost is not known: give one for '*'."),
    ],
)
def test_a_model_without_a_price_stops_the_run_and_says_what_to_do(model, said):
    limit, state = CostLimit(100, {"claude": SONNET}), state_of((model, Usage(output_tokens=1)))
    with pytest.raises(SettingsError, match="there is no price"):
        limit.cost_of(state)
    signal = stop_of(limit.handle(HookContext.before_step(state)))
    assert (signal.reason, signal.source, signal.context) == ("token_limit", "CostLimit", {"maxCost": "100"})
    assert signal.message == f"Cost limit: there is {said}"


def test_only_what_the_models_used_is_priced_and_not_what_the_steps_say():
    state = state_of(("claude", Usage(input_tokens=1_000_000)))
    state = state.with_step(Step(model="gpt", usage=Usage(input_tokens=5))).replace(usage=Usage(input_tokens=5))
    assert CostLimit(1, {"claude": SONNET}).cost_of(AgentState.from_dict(state.as_dict())) == 3


def test_a_model_that_used_nothing_needs_no_price():
    assert CostLimit(1, {"claude": SONNET}).handle(HookContext.before_step(state_of(("gpt", Usage())))) is None


def test_without_a_state_there_is_nothing_to_say():
    assert CostLimit(0, {"*": ANY}).handle(HookContext("before_step")) is None


@pytest.mark.parametrize("wrong", [-1, "-0.01", "a", "nan", "inf", True, None, [1]])
def test_what_is_no_amount_is_refused(wrong):
    with pytest.raises(RegistrationError, match="max_cost must be an amount from 0, not"):
        CostLimit(wrong, {"*": ANY})
    with pytest.raises(RegistrationError, match="The price of output tokens must be an amount from 0, not"):
        Price(1, wrong if wrong is not None else "")


@pytest.mark.parametrize("prices", [{}, {" ": ANY}])
def test_a_limit_needs_prices(prices):
    with pytest.raises(RegistrationError, match=r"prices must give a Price\(input, output\)"):
        CostLimit(1, prices)


def test_a_price_must_be_one():
    with pytest.raises(RegistrationError, match=r"prices must give a Price\(input, output\) .* not \{.gpt.: 3\}"):
        CostLimit(1, {"gpt": 3})  # type: ignore[dict-item]
