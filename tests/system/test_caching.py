from __future__ import annotations

import functools

import pytest

from agent_hooks.system import caching

pytestmark = pytest.mark.interpreter


class Counting:
    """Counts how often it is called."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def doubled(self, number: int) -> int:
        """Twice a number."""
        self.calls.append(number)
        return 2 * number


@pytest.mark.parametrize("module", [caching, functools])
def test_results_are_kept_up_to_the_limit(module):
    counting = Counting()
    doubled = module.lru_cache(maxsize=2)(counting.doubled)
    assert [doubled(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert counting.calls == [1, 2, 3, 2]
    doubled.cache_clear()
    assert doubled(1) == 2
    assert counting.calls == [1, 2, 3, 2, 1]
    assert (doubled.__name__, doubled.__doc__) == ("doubled", "Twice a number.")
    assert doubled.__wrapped__ == counting.doubled


@pytest.mark.parametrize("module", [caching, functools])
def test_a_cache_keeps_everything_and_no_failure(module):
    counting = Counting()
    doubled = module.cache(counting.doubled)
    assert [doubled(number) for number in (*range(300), *range(300))] == [2 * n for n in (*range(300), *range(300))]
    assert counting.calls == [*range(300)]
    with pytest.raises(TypeError, match="unhashable"):
        doubled([])


@pytest.mark.parametrize("module", [caching, functools])
def test_a_property_is_computed_once_for_each_object(module):
    class Circle:
        computed = 0

        @module.cached_property
        def area(self) -> int:
            """How large it is."""
            Circle.computed += 1
            return 3

    first, second = Circle(), Circle()
    assert (first.area, first.area, second.area, Circle.computed) == (3, 3, 3, 2)
    assert Circle.area.__doc__ == "How large it is."
    del first.area
    assert (first.area, Circle.computed) == (3, 3)
