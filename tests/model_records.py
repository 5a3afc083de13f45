"""What the model of dispatch is told: hooks as records whose answers are tables over subjects, and their ranks."""

from __future__ import annotations

from dataclasses import dataclass, fields

RANK = {"skill": 0, "project": 1, "plugin": 2, "code": 3, "user": 3, "managed": 4}
PLACE = {"first": 0, "": 1, "last": 2}
STRICTNESS = ("open", "ask", "closed")
BLOCKING = ("deny", "stop", "suspend")
AGAIN = ("force_continue", "retry")


class Brief:
    """A record that shows only what is unusual about it."""

    def __repr__(self) -> str:
        usual = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        unusual = [f"{name}={value!r}" for name, value in vars(self).items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(unusual)})"


@dataclass(frozen=True, repr=False)
class Answer(Brief):
    """A decision, or ``"raise"`` or ``"invalid"``, and what it brings; ``failed`` if it stands for a failure."""

    decision: str = "proceed"
    subject: int | None = None
    context: str = ""
    final: bool = False
    failed: bool = False

    @property
    def passes_over(self) -> bool:
        return self.decision in (*AGAIN, "skip") or self.final


@dataclass(frozen=True, repr=False)
class Hook(Brief):
    """A hook; ``match`` (True, False or ``"raise"``) and its answers are looked up by subject.

    ``again``: its answers to further calls in one dispatch, if they differ. ``own_failure``: its author's on_failure,
    ``entry_failure``: its registration's. ``weak``: it matched in a way that can never satisfy an allow.
    """

    name: str
    first: tuple[Answer, ...]
    again: tuple[Answer, ...] | None = None
    match: tuple[bool | str, ...] = (True, True, True, True)
    source: str = "code"
    mode: str = "transform"
    priority: int = 0
    place: str = ""
    shadow: bool = False
    required: bool = False
    own_failure: str | None = None
    entry_failure: str | None = None
    weak: bool = False
