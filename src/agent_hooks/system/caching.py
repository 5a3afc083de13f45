"""``cache``, ``lru_cache`` and ``cached_property`` as in ``functools``, whose import takes 2 ms of a cold decision."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cache, cached_property, lru_cache
    from typing import Any, TypeVar

    Result = TypeVar("Result")
else:
    try:
        from _functools import _lru_cache_wrapper
    except ImportError:  # another Python
        from functools import cache, cached_property, lru_cache
    else:

        def lru_cache(maxsize: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            """Return a decorator, as there."""

            def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
                found = _lru_cache_wrapper(function, maxsize, False, _counts)
                for name in ("__module__", "__name__", "__qualname__", "__doc__"):
                    setattr(found, name, getattr(function, name))
                found.__wrapped__ = function
                return found

            return decorate

        def _counts(*counts: int | None) -> tuple[int | None, ...]:
            return counts

        cache = lru_cache(None)

        class cached_property:  # noqa: N801 - the name that it has there
            """A property that is computed once for each object, as there."""

            def __init__(self, function: Callable[[Any], Any]) -> None:
                self._function = function
                self.__doc__ = function.__doc__

            def __set_name__(self, owner: type, name: str) -> None:
                self._name = name

            def __get__(self, instance: Any, owner: type | None = None) -> Any:
                if instance is None:
                    return self
                found = instance.__dict__[self._name] = self._function(instance)
                return found


# Characters of a name; results for longer ones are not kept, since names come from models.
LONGEST_NAME = 200


def cache_by_name(maxsize: int) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """Return a decorator that keeps the results of a function of a name for the names used last."""

    def decorate(function: Callable[[str], Result]) -> Callable[[str], Result]:
        kept = lru_cache(maxsize)(function)
        return lambda name: kept(name) if len(name) <= LONGEST_NAME else function(name)

    return decorate


__all__ = ["cache", "cache_by_name", "cached_property", "lru_cache"]
