"""Explains a command to people: what it would run and touch, the rules it breaks, and how to let it through."""

from __future__ import annotations

import os
import re
import shlex
from glob import glob

from agent_hooks.trust.gate.locations import read_text
from agent_hooks_guards.guards.exceptions import is_too_wide, words_of
from agent_hooks_guards.guards.objection import reason_of
from agent_hooks_guards.guards.secret_scan import find
from agent_hooks_guards.model.actions import Effect
from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Analysis, Command, Doubt
    from agent_hooks_guards.rules.matching import Verdict

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MAX_LINES = 40
_FILE_KINDS = ("read", "write", "delete", "change", "run")
_VERBS = {
    "read": "reads",
    "write": "writes",
    "delete": "deletes",
    "change": "changes the mode or owner of",
    "run": "runs the code in",
    "send": "sends to",
    "receive": "receives from",
    "fork": "runs itself, again and again,",
}


def explain(analysis: Analysis, broken: list[tuple[str, Verdict]]) -> list[str]:
    """Return lines about the effects of a command, and about each rule that it breaks."""
    done = [*map(_command, analysis.commands), *map(_effect, analysis.effects)]
    lines = [line.replace(UNKNOWN, "…") for line in (*dict.fromkeys(done), *map(_doubt, analysis.doubts))]
    if len(lines) > _MAX_LINES:
        lines = [*lines[:_MAX_LINES], f"… and {len(lines) - _MAX_LINES} more"]
    for decision, verdict in broken:
        lines.append(f"{decision} [{verdict.rule.id}] {reason_of(verdict.rule, verdict.action)}")
        how = how_to_allow(verdict)
        if how:
            lines.append(f"  to let it through, type: {how}")
    return lines


def how_to_allow(verdict: Verdict) -> str:
    """Return the command line that writes the narrowest exception, "" if even that is too wide."""
    action = verdict.action
    if verdict.rule.family == "agent-hooks":
        return ""
    key, text = "command", words_of(verdict)
    if isinstance(action, Effect) and action.kind in _FILE_KINDS and not action.command.host:
        path = action.path
        key, text = ("path", path) if path and frozenset((UNKNOWN, *"*?[")).isdisjoint(path) else (key, text)
    if key == "path" and is_too_wide(key, text):
        return ""
    return f"agent-hooks allow {verdict.rule.id} --{key} {shlex.quote(_as_glob(text))}"


def origin_of(rule: str, further: list[str]) -> str:
    """Return the ``file:line`` of a rule of this package or of the settings files ``further``, "" if unknown."""
    rule = re.sub(r"^(path-secret|path-settings)-\w+$", r"\1", rule)
    own = sorted(glob(os.path.join(_PACKAGE, "rules", "*.toml")))
    definition = re.compile(rf"""\s*(?:id\s*=\s*["']{re.escape(rule)}["']|{re.escape(rule)}\s*=\s*\{{)""")
    for path in (*own, os.path.join(_PACKAGE, "guards", "objections.toml"), *further):
        for number, line in enumerate(read_text(path).split("\n"), 1):
            if definition.match(line):
                return f"{path}:{number}"
    return ""


def _as_glob(text: str) -> str:
    """Return the glob that matches only ``text``, with ``*`` for unknown parts and secrets."""
    for secret in reversed(find(text)):
        text = text[: secret.start] + UNKNOWN + text[secret.end :]
    return "".join(f"[{char}]" if char in "*?[" else char for char in text).replace(UNKNOWN, "*")


def _command(command: Command) -> str:
    words = " ".join(word if word == UNKNOWN else shlex.quote(word) for word in command.argv)
    via = f"  (by {', '.join(command.via)})" if command.via else ""
    where = {"remote": "on another machine, ", "container": "in a container, "}.get(command.host, "")
    return f"{where}runs {words}{via}"


def _effect(effect: Effect) -> str:
    whole = ", with all that is in it" if effect.recursive else ""
    origin = f" ({', '.join(sorted(effect.labels))})" if effect.labels else ""
    method = f" {effect.method}" if effect.method else ""
    return f"{_VERBS.get(effect.kind, effect.kind)}{method} {effect.path or 'a text'}{whole}{origin}"


def _doubt(doubt: Doubt) -> str:
    why = f"; {doubt.why}" if doubt.why else ""
    return f"cannot be analysed ({doubt.kind}{why}): {' '.join(doubt.fragment.split())}"
