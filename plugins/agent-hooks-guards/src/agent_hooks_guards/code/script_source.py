"""The tokens of a script with the tools to walk through them, and the table of its language's calls."""

from __future__ import annotations

import os
import re
from functools import cache

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.places.credentials import private

from .script_tokens import GROUP, GROUP_END, JOIN, Token, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.values import Data

Slice = tuple[int, int]
# By function name the owners and kinds.
Kinds = dict[str, list[tuple[str, str]]]

# Statements that begin with these, or that these modify.
_STOPS = frozenset("if unless while until for foreach or and do then end rescue else elsif as in of not".split())
KEYWORDS = _STOPS | frozenset(
    "elseif switch case catch return function sub def class fn try finally begin when typeof throw yield await new"
    " delete".split()
)
# Owners that may be left out.
_NEUTRAL = frozenset(
    "CORE main POSIX Kernel Object self globalThis global window this _G _ENV default const_get".split()
)
# Kinds of calls that only compute a value.
VALUES = frozenset("same join path replace translate decoder home base64 hex reverse".split())
_WORD = re.compile(r"[\w-]+")
_CLOSERS = (")", "]", "}", GROUP_END)


class Language(Record):
    """A table of ``scripts.toml``."""

    __slots__ = ("arguments", "concat", "environment", "members", "sections")

    def __init__(
        self,
        members: list[str],
        concat: list[str],
        environment: list[str],
        arguments: list[str],
        calls: list[dict[str, str]],
    ) -> None:
        self.members = frozenset(members)
        self.concat = frozenset((*concat, JOIN))
        self.environment = frozenset(environment)
        self.arguments = frozenset(arguments)
        self.sections = calls


@cache
def languages() -> dict[str, Language]:
    """Return the tables of ``scripts.toml`` by language."""
    return {name: Language(**table) for name, table in load_tables(os.path.dirname(__file__))["scripts"].items()}


@cache
def _kinds(language: str, sections: tuple[int, ...]) -> Kinds:
    found: Kinds = {}
    for at in sections:
        for kind, names in languages()[language].sections[at].items():
            for name in names.split() if kind != "needs" else ():
                owner, _, last = name.rpartition(".")
                found.setdefault(last, []).append((owner.rpartition(".")[2], kind))
    return found


class Call(Record):
    """A call: the ``name`` and ``owner`` of the function, where its chain of names starts, where the name stands, where
    the call stops, and its arguments.
    """

    __slots__ = ("arguments", "at", "name", "owner", "start", "stop")

    def __init__(self, name: str, owner: str, start: int, at: int, stop: int, arguments: list[Slice]) -> None:
        self.name = name
        self.owner = owner
        self.start = start
        self.at = at
        self.stop = stop
        self.arguments = arguments


class Binding(Record):
    """An assignment: its right side and operator (``item``: the items of a list in turn, ``.name``: a member)."""

    __slots__ = ("at", "operator", "start", "stop")

    def __init__(self, at: int, operator: str, start: int, stop: int) -> None:
        self.at = at
        self.operator = operator
        self.start = start
        self.stop = stop


class Context(Record):
    """The outside of a script: its ``$0``, ``$1`` …, variables of the environment and standard input."""

    __slots__ = ("arguments", "labels", "stdin", "variables")

    def __init__(
        self, labels: frozenset[str], arguments: list[str], variables: dict[str, Data], stdin: str | None
    ) -> None:
        self.labels = labels
        self.arguments = arguments
        self.variables = variables
        self.stdin = stdin


class Source:
    """The tokens of a script, its variables and its calls."""

    def __init__(self, text: str, language: str, context: Context) -> None:
        self.language = language
        self.context = context
        self.own = private(context.labels)
        self.tokens = tokens(text, language)
        self.size = len(self.tokens)
        self._texts = {at: token.text for at, token in enumerate(self.tokens) if token.kind != "string"}
        self.table = languages()[language]
        self.kinds = self._kinds()
        self.bindings: dict[str, list[Binding]] = {}
        self.aliases: dict[str, str] = {}
        self.calls: dict[int, Call] = {}
        self.stops: dict[tuple[str, ...], dict[int, int]] = {}  # by position within an expression, where it stops
        self.functions: dict[str, list[str]] = {}  # parameters of the functions of the script

    def _kinds(self) -> Kinds:
        """Return by function name the owners and kinds that count in this code."""
        mentioned = {
            word for token in self.tokens if token.kind in ("name", "string") for word in _WORD.findall(token.text)
        }
        computed = any(self._is_computed_import(at) for at in range(self.size))
        sections = [
            at
            for at, section in enumerate(self.table.sections)
            if "needs" not in section or computed or not mentioned.isdisjoint(section["needs"].split())
        ]
        return _kinds(self.language, tuple(sections))

    def _is_computed_import(self, at: int) -> bool:
        return (
            self.text(at) in ("require", "getBuiltinModule")
            and self.text(at + 1) == "("
            and (self.kind(at + 2) != "string" or self.text(at + 3) != ")")
        )

    def text(self, at: int) -> str:
        """The text of a token that is no string; "" for others."""
        return self._texts.get(at, "")

    def kind(self, at: int) -> str:
        """The kind of a token."""
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def is_member(self, at: int) -> bool:
        """Whether the name at ``at`` belongs to the value in front of it."""
        return self.text(at - 1) in self.table.members

    def after(self, at: int) -> int:
        """The index behind the token at ``at``, or behind the bracket that it opens."""
        return max(self.tokens[at].close, at) + 1

    def split(self, start: int, stop: int, separators: tuple[str, ...] = (",",)) -> list[Slice]:
        """Cut at separators outside of brackets."""
        found = []
        at = first = start
        while at < stop:
            if self.text(at) in separators:
                found.append((first, at))
                first = at + 1
            at = self.after(at)
        found.append((first, stop))
        return [(one, other) for one, other in found if one < other]

    def starts_operand(self, at: int) -> bool:
        """Whether the token at ``at`` can begin an argument without parentheses."""
        token = self.tokens[at]
        if token.kind == "operator":
            return token.text == GROUP or (
                token.spaced
                and token.text in ("[", "\\", "*", ":", "->", "{", "%", "@", "::", "&")
                and not (token.text != "{" and self.tokens[at + 1].spaced if at + 1 < self.size else True)
            )
        return token.kind != "name" or (token.spaced and token.text not in _STOPS)

    def stop_of(self, start: int, separators: tuple[str, ...] = (",", ";")) -> int:
        """Where the expression at ``start`` stops."""
        at = start
        stops = self.stops.setdefault(separators, {})
        passed = []
        while at < self.size and at not in stops:
            token = self.tokens[at]
            if token.kind == "operator" and token.text in (*separators, *_CLOSERS):
                break
            if (
                token.kind == "name"
                and token.text in _STOPS
                and at > start
                and self.text(at - 1) not in self.table.members
            ):
                break
            if at > start and token.kind != "operator" and self.language != "perl" and self._is_new_line(at, token):
                break
            if at > start:
                passed.append(at)
            at = self.after(at)
        stop = stops.get(at, min(at, self.size))
        stops.update(dict.fromkeys(passed, stop))
        return stop

    def _is_new_line(self, at: int, token: Token) -> bool:
        """Whether a statement ends without a semicolon in front of the token at ``at``."""
        before = self.tokens[at - 1]
        ends = before.kind != "operator" or before.text in _CLOSERS
        if self.language == "lua":
            return ends and token.kind == "name" and before.text not in ("not", "return", "local")
        return ends and token.newline

    def _is_pattern(self, call: Call) -> bool:
        """Whether a method is one of a regular expression."""
        starts = [each.start for each in self.bindings.get(call.owner, ())] or [call.at - 2]
        return any(self.kind(at) == "pattern" or self.text(at + 1) == "RegExp" for at in starts)

    def kind_of(self, call: Call) -> str:
        """What the function of ``call`` does; "" if it is not in the table."""
        name, owner = call.name, call.owner
        if self.language == "node" and self._is_pattern(call):
            return ""
        if call.at < self.size and not owner:
            alias = self.aliases.get(name, name)
            owner, _, name = alias.rpartition(".")
        if self.language == "php":
            name, owner = name.lower(), owner.lower()
        entries = self.kinds.get(name, [])
        plain = "" if owner in _NEUTRAL else owner
        for wanted, kind in entries:
            if wanted == plain or (not wanted and kind in VALUES):
                return kind
        for wanted, kind in entries:
            if wanted == "*":
                return kind
        return next((kind for wanted, kind in self.kinds.get("*", ()) if wanted == plain), "")
