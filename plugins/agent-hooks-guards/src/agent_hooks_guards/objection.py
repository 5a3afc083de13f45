"""What a guard has against something: which rule it is, why, and what to do instead."""

from __future__ import annotations

from agent_hooks import HookOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LEVELS = ("relaxed", "standard", "strict")


class Objection:
    """``decision``: ``deny`` or ``ask``. ``rule``: its id, with which it can be named in settings. ``reason``: one
    sentence, why; ``instead``: what to do instead.
    """

    __slots__ = ("decision", "instead", "reason", "rule")

    def __init__(self, decision: str, rule: str, reason: str, instead: str = "") -> None:
        self.decision = decision
        self.rule = rule
        self.reason = reason
        self.instead = instead

    def __str__(self) -> str:
        """What is said, without the secrets that it would repeat."""
        from .secret_scan import without_secrets

        said = f"{self.reason} {self.instead}" if self.instead else self.reason
        return f"{without_secrets(said)} [{self.rule}]"


def outcome(objections: Iterable[Objection]) -> HookOutcome | None:
    """Return what all of these come to: the first deny, else one question for all asks; None without any."""
    asks: list[Objection] = []
    for each in objections:
        if each.decision == "deny":
            return HookOutcome.deny(str(each))
        asks.append(each)
    return HookOutcome.ask("\n\n".join(dict.fromkeys(map(str, asks)))) if asks else None
