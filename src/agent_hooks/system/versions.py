"""Whether a version satisfies a requirement, as far as plain releases go."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


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
    import re

    have = _release(version)
    for clause in specifier.split(","):
        found = re.fullmatch(r"\s*(~=|===?|!=|<=?|>=?)\s*v?(\d[\w.+!-]*?)(\.\*)?\s*", clause)
        if found is None:
            continue
        operator, wanted, is_prefix = found.groups()
        want = _release(wanted)
        begins = have[: len(want)] == want
        same = begins if is_prefix else _trim(have) == _trim(want)
        is_met = {
            "~=": _trim(have) >= _trim(want) and have[: len(want) - 1] == want[:-1],
            "==": same,
            "===": same,
            "!=": not same,
            "<": _trim(have) < _trim(want),
            "<=": _trim(have) <= _trim(want),
            ">": _trim(have) > _trim(want),
            ">=": _trim(have) >= _trim(want),
        }
        if not is_met[operator]:
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, without its epoch and without a suffix such as ``rc1``."""
    import re

    found = re.match(r"\d+(?:\.\d+)*", version.rpartition("!")[2])
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _trim(release: tuple[int, ...]) -> tuple[int, ...]:
    while release and release[-1] == 0:
        release = release[:-1]
    return release
