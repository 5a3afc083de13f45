"""How things are timed: every side of every row in turn, round after round, and the fastest round of each counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    # Does the thing so many times and returns the seconds that took.
    Batch = Callable[[int], float]


@dataclass(frozen=True)
class Row:
    """One line of the table: ``ours`` against ``theirs``, each the name of a side, or of several whose mean counts.

    ``budget`` is the ratio to stay under, None where none was set.
    """

    what: str
    against: str
    ours: tuple[str, ...]
    theirs: str
    budget: float | None

    def measured(self, seconds: dict[str, float], missing: dict[str, str]) -> dict[str, object]:
        """Return the row as JSON-ready data, times in seconds, None where ``missing`` says why a side cannot run."""
        reasons = [missing[name] for name in (*self.ours, self.theirs) if name in missing]
        is_there = missing.keys().isdisjoint(self.ours)
        ours = sum(seconds[name] for name in self.ours) / len(self.ours) if is_there else None
        theirs = seconds.get(self.theirs)
        data = {"what": self.what, "against": self.against, "budget": self.budget, "ours": ours, "theirs": theirs}
        if reasons:
            return {**data, "ratio": None, "verdict": reasons[0]}
        ratio = ours / theirs
        verdict = "" if self.budget is None else "ok" if ratio <= self.budget else "over"
        return {**data, "ratio": ratio, "verdict": verdict}


def fastest(sides: dict[str, Batch], rounds: int, round_seconds: float) -> dict[str, float]:
    """Return the seconds that each side takes for one time, in its fastest round.

    Other work on the machine only ever adds time, and taking turns shares out what it adds: that is why the fastest
    round is compared, and never two sides that were measured one after the other.
    """
    times = {name: _enough(batch, round_seconds) for name, batch in sides.items()}
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, batch in sides.items():
            best[name] = min(best[name], batch(times[name]) / times[name])
    return best


def _enough(batch: Batch, round_seconds: float) -> int:
    """Return how many times fill a round, once the side is warm: a first time imports modules and fills caches."""
    batch(1)
    times = 1
    while (taken := batch(times)) < round_seconds / 2:
        times = max(times * 2, int(times * round_seconds / max(taken, 1e-6) / 2))
    return times


def table(rows: Iterable[dict[str, object]]) -> str:
    """Return the measured rows as text."""
    heads = ("what", "measured against", "ours", "theirs", "ratio", "budget", "")
    lines = [heads, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    what, against, *numbers, verdict = (*zip(cells, widths, strict=True),)
    left = [cell.ljust(width) for cell, width in (what, against)]
    return "  ".join([*left, *(cell.rjust(width) for cell, width in numbers), verdict[0]]).rstrip()


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    ratio, budget = row["ratio"], row["budget"]
    return (
        str(row["what"]),
        str(row["against"]),
        _duration(row["ours"]),
        _duration(row["theirs"]),
        "-" if ratio is None else f"{ratio:.2f}x",
        "-" if budget is None else f"{budget:g}x",
        str(row["verdict"]),
    )


def _duration(seconds: object) -> str:
    if not isinstance(seconds, float):
        return "-"
    for unit, size in (("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
