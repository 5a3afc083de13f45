"""Whether a version satisfies a requirement, as far as plain releases go."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def unmet(distribution: str, version: str, requirements: Iterable[str]) -> str:
    """Return the first of ``requirements`` (without environment markers) that ``version`` does not meet."""
    import re

    name = distribution.replace("-", "[-_.]")
    for requirement in requirements:
        found = re.fullmatch(rf"{name}\s*(?:\[.*?\])?\s*\(?([^;()]*)\)?\s*", requirement, re.IGNORECASE)
        if found and not is_satisfied(version, found[1]):
            return f"{distribution} {found[1].strip()}"
    return ""


def is_satisfied(version: str, specifier: str) -> bool:
    """Whether ``version`` satisfies ``specifier``, by release numbers; unreadable clauses count as satisfied."""
    import operator
    import re

    tests: dict[str, Callable[[Any, Any], Any]] = {"==": operator.eq, "===": operator.eq, "!=": operator.ne}
    tests |= {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    have = _release(version)
    for clause in specifier.split(","):
        found = re.fullmatch(r"\s*(~=|===?|!=|<=?|>=?)\s*v?(\d[\w.+!-]*?)(\.\*)?\s*", clause)
        if found is None:
            continue
        want = _release(found[2])
        width = len(want) if found[3] else max(len(have), len(want))
        pair = [(*release, *(0,) * width)[:width] for release in (have, want)]
        if found[1] == "~=":
            is_met = pair[0] >= pair[1] and have[: len(want) - 1] == want[:-1]
        else:
            is_met = tests[found[1]](*pair)
        if not is_met:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, without its epoch and without a suffix such as ``rc1``."""
    import re

    found = re.match(r"\d+(?:\.\d+)*", version.rpartition("!")[2])
    return tuple(int(part) for part in found[0].split(".")) if found else ()
