"""Objections: the rule that a call breaks, the reason, and an alternative."""

from __future__ import annotations

import os

from agent_hooks import HookOutcome
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks_guards.rules.indexing import RuleText
    from agent_hooks_guards.rules.model import Rule

LEVELS = ("relaxed", "standard", "strict")
DECISIONS = ("deny", "ask", "allow")
MAX_LENGTH = 299  # characters of a reason
_MIN_REASON = 80


class Objection:
    """``decision``: ``deny`` or ``ask``. ``rule``: its id, as settings name it. ``reason``: one sentence. ``instead``:
    an alternative. ``setting``: the lines of settings that let exactly this through, "" for none.
    """

    __slots__ = ("decision", "instead", "reason", "rule", "setting")

    def __init__(self, decision: str, rule: str, reason: str, instead: str = "") -> None:
        self.decision = decision
        self.rule = rule
        self.reason = reason
        self.instead = instead
        self.setting = ""

    def __str__(self) -> str:
        """Return the message, without secrets."""
        from .secret_scan import without_secrets

        end = f" {self.instead} [{self.rule}]" if self.instead else f" [{self.rule}]"
        return f"{_shorten(without_secrets(self.reason), MAX_LENGTH - len(end))}{without_secrets(end)}"


def object_to(key: str, /, *, decision: str = "", rule: str = "", **parts: object) -> Objection:
    """Make the objection ``key`` of ``objections.toml``, with ``parts`` filled in.

    ``decision``, ``rule``: in place of those in the file.
    """
    from agent_hooks_guards.model.tables import load_tables

    table = load_tables(os.path.dirname(__file__))["objections"][key]
    reason, instead = table["reason"], table.get("instead", "")
    for name, part in parts.items():
        text = visible(str(part))
        reason, instead = reason.replace(f"{{{name}}}", text), instead.replace(f"{{{name}}}", text)
    return Objection(decision or table["decision"], rule or table.get("rule", key), reason, instead)


def outcome(objections: Iterable[Objection]) -> HookOutcome | None:
    """Return the first deny, else one question for all asks; None without objections."""
    return settle((HookOutcome.deny if each.decision == "deny" else HookOutcome.ask)(str(each)) for each in objections)


def settle(outcomes: Iterable[HookOutcome | None]) -> HookOutcome | None:
    """Return the first outcome that blocks, else one question with all reasons; None without outcomes."""
    asked: list[HookOutcome] = []
    for each in outcomes:
        if each is not None and each.decision.is_blocking:
            return each
        asked += [] if each is None else [each]
    reasons = list(dict.fromkeys(each.reason for each in asked))
    return asked[0].replace(reason=join_reasons(reasons)) if asked else None


def worst(objections: Iterable[Objection | None]) -> Objection | None:
    """Return the first deny, else the last ask; None without objections."""
    found = [each for each in objections if each is not None]
    return next((each for each in found if each.decision == "deny"), found[-1] if found else None)


def join_reasons(reasons: list[str]) -> str:
    """Return the first reason, the others that fit, and the rules of the rest."""
    text = reasons[0]
    for at, reason in enumerate(reasons[1:], 1):
        rest = ", ".join(each[each.rfind("[") :] if each.endswith("]") else "another" for each in reasons[at:])
        if len(text) + len(reason) + 2 > MAX_LENGTH - (len(rest) if at + 1 < len(reasons) else 0):
            return f"{text}\n\nAlso: {rest}"[:MAX_LENGTH]
        text = f"{text}\n\n{reason}"
    return text


def _shorten(text: str, length: int) -> str:
    """Cut the middle out of a long ``text``: part of a path, which stands before the reason."""
    if len(text) <= length:
        return text
    length = max(length, _MIN_REASON)
    return f"{text[: length // 2]}…{text[length // 2 + 1 - length :]}"


def reason_of(rule: RuleText | Rule, action: object = None) -> str:
    """Return the reason of ``rule``, with the host that ``action`` sends to filled in."""
    if "{host}" not in rule.reason:
        return rule.reason
    from agent_hooks_guards.model.values import UNKNOWN
    from agent_hooks_guards.places.credentials import host_of

    host = host_of(getattr(action, "path", "")) if getattr(action, "kind", "") == "send" else ""
    return rule.reason.replace("{host}", visible(host) if host and UNKNOWN not in host else "another machine")
