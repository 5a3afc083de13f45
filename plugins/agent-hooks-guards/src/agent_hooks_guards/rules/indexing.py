"""Rules made ready for matching: what each match tests, and where it is found."""

from __future__ import annotations

import json

from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.programs.sql import CLIENTS

from .loading import Index, RuleText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .model import Family, Match

# What costs least is asked first; `does` is whether a command does more than print its help.
_ORDER = (
    "root background endless has_input program not_program is_known host recursive append method stdin from "
    "not_from credential via not_via assigns not_assigns does file not_file url not_url subcommand not_subcommand "
    "options without operands operands_after_dashes operand not_operand address not_address path not_path text sql"
).split()
_GLOBS = {
    "program",
    "not_program",
    "operand",
    "not_operand",
    "file",
    "not_file",
    "url",
    "not_url",
    "assigns",
    "not_assigns",
}


def indexed(families: Iterable[Family], *, text: str = "safe_text") -> Index:
    """Return the rules of ``families``, ready for matching.

    ``text``: how their expressions are searched: those that somebody else wrote only in texts for which that cannot
    take long; longer ones count as found. Those of the family ``project`` by RE2.
    """
    rules: list[RuleText] = []
    matches: list[str] = []
    firsts: list[tuple[str, ...]] = []
    commands: dict[str, list[int]] = {}
    globs: dict[str, list[int]] = {}
    anywhere: list[int] = []
    effects: dict[str, list[int]] = {}
    doubts: dict[str, list[int]] = {}
    for family in families:
        for rule in family.rules:
            for match in rule.match:
                at = len(matches)
                searched = "project_text" if family.family == "project" else text
                matches.append(json.dumps([len(rules), *_tests(match, searched)]))
                firsts.append(_firsts(match))
                for effect in match.effect:
                    effects.setdefault(effect, []).append(at)
                for doubt in match.doubt:
                    doubts.setdefault(doubt, []).append(at)
                if match.effect or match.doubt:
                    continue
                for program in match.program or sorted(CLIENTS):
                    if program == "*":
                        anywhere.append(at)
                    elif "*" in program:
                        globs.setdefault(program, []).append(at)
                    else:
                        commands.setdefault(base_name(program), []).append(at)
            rules.append(RuleText(rule.id, family.family, rule.severity, rule.reason, rule.instead))
    return Index(
        rules,
        matches,
        firsts,
        _fixed(commands),
        [(_glob(program), tuple(positions)) for program, positions in globs.items()],
        tuple(anywhere),
        _fixed(effects),
        _fixed(doubts),
    )


def _fixed(positions: dict[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {key: tuple(dict.fromkeys(at)) for key, at in sorted(positions.items())}


def _firsts(match: Match) -> tuple[str, ...]:
    """The words that a command begins with for this to hold, () if that may be any."""
    words = [entry.split(" ", 1)[0].lower() for entry in match.subcommand]
    return () if any("*" in word for word in words) else tuple(dict.fromkeys(words))


def _tests(match: Match, text: str) -> list[tuple[str, Any]]:
    wanted = {key.rstrip("_"): _wanted(key, getattr(match, key)) for key in match.model_fields_set}
    if match.effect or match.doubt:
        del wanted["effect" if match.effect else "doubt"]
    else:
        wanted["does"] = True
        # The index has looked already.
        wanted.pop("program", None)
        if set(_firsts(match)) == {entry.lower() for entry in match.subcommand}:
            wanted.pop("subcommand", None)
    return [(text if key == "text" else key, wanted[key]) for key in _ORDER if key in wanted]


def _wanted(key: str, value: Any) -> Any:
    """What a test compares with, in the form that ``matching`` expects of it."""
    if key in ("url", "not_url"):
        value = [text.lower() for text in value]
    if key in ("program", "not_program"):
        value = [text if "*" in text else base_name(text) for text in value]
    if key in _GLOBS:
        return tuple(_glob(text) for text in value)
    if key in ("subcommand", "not_subcommand"):
        return tuple(tuple(_glob(word) for word in text.lower().split(" ")) for text in value)
    if key in ("options", "without"):
        return tuple(_option(text) for text in value)
    if key == "via":
        return tuple(tuple(text.split("|")) for text in value)
    if key in ("path", "not_path"):
        return tuple(tuple(text.split("&")) for text in value)
    if key in ("operands", "operands_after_dashes"):
        return (value.min, value.max)
    return tuple(value) if isinstance(value, list) else value


def _glob(text: str) -> str | tuple[str, ...]:
    """The parts between the stars; ``[*]`` is a star that is meant as such."""
    if "*" not in text:
        return text
    parts = [part.replace("\0", "*") for part in text.replace("[*]", "\0").split("*")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _option(text: str) -> tuple[str, tuple[tuple[str, str | tuple[str, ...]], ...]]:
    """The names that are enough without a value, as ``Options`` takes them, and those with one."""
    names, with_values = [], []
    for option in text.split("|"):
        name, equals, value = option.partition("=")
        if equals:
            with_values.append((name, _glob(value.lower())))
        else:
            names.append(name)
    return "|".join(names), tuple(with_values)
