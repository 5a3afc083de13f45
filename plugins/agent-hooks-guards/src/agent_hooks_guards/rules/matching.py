"""Which rules a command breaks."""

from __future__ import annotations

import re

from agent_hooks_guards.model.record import Record
from agent_hooks_guards.places.links import linked_kinds
from agent_hooks_guards.places.paths import absolute
from agent_hooks_guards.programs.credentials import judge_credentials

from .programs import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from agent_hooks_guards.model.actions import Analysis, Command, Doubt, Effect
    from agent_hooks_guards.model.options import Options
    from agent_hooks_guards.places.paths import Place

    from .loading import Index, RuleText

    # A text, or the parts between the `*` of a glob.
    Glob = str | Sequence[str]


# Programs, each as it is run, whose matches are kept at hand; and as many of what has effects.
_MAX_NAMES = 1024
# In a subcommand: any word, and any number of words.
_ANY_WORD = ["", ""]
_ANY_WORDS = ["", "", ""]


class Verdict(Record):
    """A rule that something breaks. ``fragment``: the part of the command that does it. ``action``: what does it."""

    __slots__ = ("action", "fragment", "rule")

    def __init__(self, rule: RuleText, fragment: str, action: Command | Effect | Doubt) -> None:
        self.rule = rule
        self.fragment = fragment
        self.action = action


def judge(analysis: Analysis, rules: Index, place: Place) -> list[Verdict]:
    """Return what breaks a rule, in the order in which it was met; each rule once for a fragment and a path in it."""
    found: dict[tuple[int, str, str], Verdict] = {}
    views: dict[int, _View] = {}
    kinds_of = _KindsOf(place)
    for command in analysis.commands:
        view = views[id(command)] = _View(command, kinds_of)
        for number, tests in _candidates(view, rules):
            if _holds(view, None, tests):
                fragment = command.fragment
                found.setdefault((number, fragment, ""), Verdict(rules.rules[number], fragment, command))
    for effect in analysis.effects:
        doer = effect.command
        view = views.get(id(doer)) or views.setdefault(id(doer), _View(doer, kinds_of))
        is_ = kinds_of(effect.path, doer.host)
        key_of = (effect.kind, view.name, is_)
        candidates = rules.by_doer.get(key_of)
        if candidates is None:
            candidates = _by_doer(key_of, view, effect, rules)
        for number, tests in candidates:
            if _holds(view, effect, tests):
                key = (number, doer.fragment, effect.path)
                found.setdefault(key, Verdict(rules.rules[number], doer.fragment, effect))
    for doubt in analysis.doubts:
        for at in rules.doubts.get(doubt.kind, ()):
            number, tests = rules.ready.get(at) or _ready(at, rules)
            if number not in rules.skipped and _holds(None, doubt, tests):
                key = (number, doubt.fragment, "")
                found.setdefault(key, Verdict(rules.rules[number], doubt.fragment, doubt))
    return list(found.values())


def severity_decision(severity: str, level: str) -> Literal["deny", "ask"] | None:
    """Return what a broken rule of this severity leads to at ``relaxed``, ``standard`` or ``strict``."""
    if severity == "high":
        return "deny"
    if severity == "unknown" or (severity == "medium" and level != "relaxed") or level == "strict":
        return "ask"
    return None


def like(text: str, glob: Glob) -> bool:
    """Whether ``text`` is like a glob in which ``*`` is any text: a text without any, or the parts between them."""
    if isinstance(glob, str):
        return text == glob
    first, *middle, last = glob
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class _KindsOf:
    """What paths and addresses are, each looked at once."""

    __slots__ = ("_addresses", "_known", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self._known: dict[tuple[str, str], frozenset[str]] = {}
        self._addresses: dict[str, frozenset[str]] = {}

    def __call__(self, path: str, host: str) -> frozenset[str]:
        found = self._known.get((path, host))
        if found is None:
            found = self._known[path, host] = linked_kinds(path, self.place, host)
        return found

    def address(self, address: str) -> frozenset[str]:
        """What the host of an address is."""
        found = self._addresses.get(address)
        if found is None:
            from agent_hooks_guards.guards.egress import address_kinds

            found = self._addresses[address] = address_kinds(address)
        return found


class _View:
    """A command as rules look at it: what they ask for is worked out when the first one asks."""

    __slots__ = ("_found", "_operand_kinds", "_sql", "_words", "command", "kinds_of", "name")

    def __init__(self, command: Command, kinds_of: _KindsOf) -> None:
        self.command = command
        self.kinds_of = kinds_of
        self.name = command.name
        self._words: list[str] | None = None
        self._operand_kinds: list[frozenset[str]] | None = None
        self._sql: frozenset[str] | None = None
        self._found: dict[re.Pattern[str], bool] = {}

    def has_text(self, pattern: re.Pattern[str]) -> bool:
        """Whether the expression is found in a text of the command: searched once, however many effects ask."""
        found = self._found.get(pattern)
        if found is None:
            found = self._found[pattern] = any(map(pattern.search, _searched(self.command)))
        return found

    @property
    def options(self) -> Options:
        return self.command.options

    @property
    def operands(self) -> list[str]:
        argv = self.command.argv
        return [argv[at] for at in self.options.operands]

    @property
    def words(self) -> list[str]:
        """The words of the subcommand and the operands, in lower case."""
        if self._words is None:
            self._words = [word.lower() for word in (*self.options.subcommand, *self.operands)]
        return self._words

    @property
    def operand_kinds(self) -> list[frozenset[str]]:
        if self._operand_kinds is None:
            command, home = self.command, self.kinds_of.place.home
            self._operand_kinds = [
                self.kinds_of(absolute(word, command.cwd, home), command.host) for word in self.operands
            ]
        return self._operand_kinds

    @property
    def sql(self) -> frozenset[str]:
        if self._sql is None:
            from agent_hooks_guards.programs.sql import kinds as sql_kinds

            self._sql = sql_kinds(self.command, self.options)
        return self._sql


def _candidates(view: _View, rules: Index) -> list[tuple[int, Any]]:
    """The matches about commands that may hold: by the program's name and how it is run, then by the first word after
    it.
    """
    command = view.command
    key = (
        view.name,
        command.host,
        command.root,
        command.background,
        command.endless,
        command.stdin is None,
        not command.assignments,
    )
    by_word = rules.by_word.get(key)
    # Who only asks for help does nothing.
    if (by_word is not None and not by_word) or view.options.is_help:
        return []
    if by_word is None:
        by_word = _by_word(key, view, rules)
    if len(by_word) <= 1:
        return by_word.get("", [])
    words = view.words
    return by_word.get(words[0], by_word[""]) if words else by_word[""]


def _by_word(key: tuple[Any, ...], view: _View, rules: Index) -> dict[str, list[tuple[int, Any]]]:
    """The matches for a program, run like this, by the first word after it; "" for those that may begin with any, which
    are among the others, too.
    """
    name = view.name
    told = _TOLD_BY_COMMAND if view.command.assignments else _TOLD_BY_COMMAND | {_assigns, _not_assigns}
    positions = [*rules.any_command, *rules.commands.get(name, ())]
    for glob, more in rules.globs:
        if like(name, glob):
            positions += more
    matches = {at: match for at in positions if (match := _left(at, told, view, None, rules)) is not None}
    firsts = {word for at in matches for word in rules.firsts[at]}
    found = {"": [match for at, match in matches.items() if not rules.firsts[at]]} if matches else {}
    for word in firsts:
        found[word] = [match for at, match in matches.items() if not rules.firsts[at] or word in rules.firsts[at]]
    if len(rules.by_word) < _MAX_NAMES:
        rules.by_word[key] = found
    return found


def _by_doer(key: tuple[str, str, frozenset[str]], view: _View, effect: Effect, rules: Index) -> list[tuple[int, Any]]:
    """The matches about an effect of this kind, by this program, on a path of these kinds, with the tests that are
    left.
    """
    matches = (_left(at, _TOLD_BY_KEY, view, effect, rules) for at in rules.effects.get(effect.kind, ()))
    found = [match for match in matches if match is not None]
    if len(rules.by_doer) < _MAX_NAMES:
        rules.by_doer[key] = found
    return found


def _left(
    at: int, told: frozenset[Any], view: _View, effect: Effect | None, rules: Index
) -> tuple[int, list[Any]] | None:
    """A match with the tests that are left when those in ``told`` hold; None if they do not, or nobody asks for it.

    They are looked at once for all that have the same name, or key.
    """
    number, tests = rules.ready.get(at) or _ready(at, rules)
    if number in rules.skipped or not _holds(view, effect, [each for each in tests if each[0] in told]):
        return None
    return number, [each for each in tests if each[0] not in told]


def _ready(at: int, rules: Index) -> tuple[int, Any]:
    """The position of a match's rule, and its tests as functions."""
    import json

    number, *tests = json.loads(rules.matches[at])
    ready = [(_TESTS[name], _PREPARED[name](wanted) if name in _PREPARED else wanted) for name, wanted in tests]
    rules.ready[at] = found = (number, ready)
    return found


def _holds(view: Any, told: Effect | Doubt | None, tests: Any) -> bool:
    for test, wanted in tests:  # noqa: SIM110 - all() with a generator takes twice as long
        if not test(view, told, wanted):
            return False
    return True


class _Globs:
    """Globs by what is to be compared: whole texts, how one begins or ends, what is in it, or all of the glob.
    ``are_texts``: there are no others than whole texts.
    """

    __slots__ = ("are_texts", "beginnings", "endings", "others", "parts", "texts")

    def __init__(self, globs: Iterable[Glob]) -> None:
        self.texts: set[str] = set()
        self.beginnings: tuple[str, ...] = ()
        self.endings: tuple[str, ...] = ()
        self.parts: list[str] = []
        self.others: list[Sequence[str]] = []
        for glob in globs:
            if isinstance(glob, str):
                self.texts.add(glob)
            elif len(glob) == 2 and not glob[1]:
                self.beginnings += (glob[0],)
            elif len(glob) == 2 and not glob[0]:
                self.endings += (glob[1],)
            elif len(glob) == 3 and not glob[0] and not glob[2]:
                self.parts.append(glob[1])
            else:
                self.others.append(glob)
        self.are_texts = not (self.beginnings or self.endings or self.parts or self.others)


def _one_like(texts: Sequence[str], globs: _Globs) -> bool:
    if not globs.texts.isdisjoint(texts):
        return True
    if globs.are_texts:
        return False
    for text in texts:
        if text.startswith(globs.beginnings) or text.endswith(globs.endings):
            return True
        for part in globs.parts:
            if part in text:
                return True
        for glob in globs.others:
            if like(text, glob):
                return True
    return False


def _is_one_of(is_: frozenset[str], wanted: Iterable[Iterable[str]]) -> bool:
    return any(is_.issuperset(each) for each in wanted)


def _path(view: _View, effect: Effect | None, wanted: Any) -> bool:
    if effect is not None:
        return _is_one_of(view.kinds_of(effect.path, view.command.host), wanted)
    return any(_is_one_of(each, wanted) for each in view.operand_kinds)


def _subcommand(view: _View, _: Effect | None, wanted: Any) -> bool:
    anywhere, by_place, by_first, others = wanted
    words = view.words
    if not words:
        return False
    if _one_like(words, anywhere):
        return True
    for word, globs in zip(words, by_place, strict=False):
        if _one_like((word,), globs):
            return True
    for each in by_first.get(words[0], ()):
        if _begin_with(words, 1, each, 1):
            return True
    for each in others:  # noqa: SIM110 - as above
        if _begin_with(words, 0, each, 0):
            return True
    return False


def _sorted_out(wanted: Any) -> tuple[_Globs, list[_Globs], dict[str, list[Any]], list[Any]]:
    """Apart, the words of which one is enough, anywhere (there are many such as `** delete`) or in its place
    (`delete`, `* delete`), and by the first word those that begin with one.
    """
    anywhere: list[Glob] = []
    by_place: list[list[Glob]] = []
    by_first: dict[str, list[Any]] = {}
    others = []
    for each in wanted:
        *before, last = each
        if before == [_ANY_WORDS]:
            anywhere.append(last)
        elif all(word == _ANY_WORD for word in before) and last != _ANY_WORDS:
            by_place += [[] for _ in range(len(each) - len(by_place))]
            by_place[len(before)].append(last)
        elif isinstance(each[0], str):
            by_first.setdefault(each[0], []).append(each)
        else:
            others.append(each)
    return _Globs(anywhere), [_Globs(globs) for globs in by_place], by_first, others


def _begin_with(words: list[str], at: int, wanted: Sequence[Glob], first: int) -> bool:
    """Whether the words from ``at`` on begin with those that are ``wanted`` from ``first`` on."""
    for index in range(first, len(wanted)):
        if wanted[index] == _ANY_WORDS:
            return any(_begin_with(words, start, wanted, index + 1) for start in range(at, len(words)))
        if at >= len(words) or not like(words[at], wanted[index]):
            return False
        at += 1
    return True


def _options(view: _View, _: Effect | None, wanted: Any) -> bool:
    options = view.options
    for each in wanted:  # noqa: SIM110 - as above
        if not _given(options, each):
            return False
    return True


def _without(view: _View, _: Effect | None, wanted: Any) -> bool:
    options = view.options
    for each in wanted:  # noqa: SIM110 - as above
        if _given(options, each):
            return False
    return True


def _given(options: Options, wanted: Any) -> bool:
    """Whether one of the alternatives is given: names without values, and with ones like a glob."""
    if not options.given:
        return False
    names, with_values = wanted
    if names and options.has(names):
        return True
    for name, globs in with_values.items():
        if _one_like([value.lower() for value, _ in options.values(name)], globs):
            return True
    return False


def _by_name(wanted: Any) -> list[tuple[str, dict[str, _Globs]]]:
    """For each alternative the names without values, and by name the globs of those with one."""
    found = []
    for names, with_values in wanted:
        globs: dict[str, list[Glob]] = {}
        for name, glob in with_values:
            globs.setdefault(name, []).append(glob)
        found.append((names, {name: _Globs(each) for name, each in globs.items()}))
    return found


def _behind_dashes(view: _View, _: Effect | None, wanted: Any) -> bool:
    argv = view.command.argv
    at = argv.index("--") if view.options.ended and "--" in argv else len(argv)
    return _is_count(sum(position > at for position in view.options.operands), wanted)


def _via(view: _View, _: Effect | None, wanted: Any) -> bool:
    names = {part for each in view.command.via for part in (each, each.partition(" ")[0])}
    return all(not names.isdisjoint(alternatives) for alternatives in wanted)


def _text(view: _View, _: Effect | None, wanted: Any) -> bool:
    return view.has_text(wanted)


def _safe_text(view: _View, _: Effect | None, wanted: Any) -> bool:
    # None: the text is too long to tell.
    return any(wanted.found_in(text) is not False for text in _searched(view.command))


def _searched(command: Command) -> list[str]:
    """The texts that an expression is searched in."""
    # A redirection has no words of its own; what it is part of has.
    words = command.argv[1:] if command.argv else [command.fragment]
    return words if command.stdin is None else [*words, command.stdin.text]


def _safe_pattern(text: str, source: str = "user") -> Any:
    from agent_hooks_guards.guards.patterns import SafePattern

    return SafePattern(text, source)


def _labels(view: _View, told: Effect | Doubt | None, wanted: Any) -> bool:
    labels = view.command.labels_of(0) if told is None else told.labels
    return not labels.isdisjoint(wanted)


def _assigns(view: _View, _: Effect | None, wanted: Any) -> bool:
    return bool(view.command.assignments) and _one_like(
        [f"{name}={value.text}" for name, value in view.command.assignments.items()], wanted
    )


def _not_assigns(view: _View, effect: Effect | None, wanted: Any) -> bool:
    return not _assigns(view, effect, wanted)


def _operands(view: _View, _: Effect | None, wanted: Any) -> bool:
    return _is_count(len(view.options.operands), wanted)


def _is_count(count: int, wanted: Any) -> bool:
    least, most = wanted
    return count >= least and (most is None or count <= most)


def _stdin(view: _View, _: Effect | None, wanted: Any) -> bool:
    stdin = view.command.stdin
    return stdin is not None and not stdin.labels.isdisjoint(wanted)


# Each is given the command, what is told of it (an effect, a doubt or nothing), and what is wanted.
_TESTS: dict[str, Callable[[_View, Any, Any], bool]] = {
    "program": lambda view, _, wanted: _one_like((view.name,), wanted),
    "not_program": lambda view, _, wanted: not _one_like((view.name,), wanted),
    "is_known": lambda view, _, wanted: is_known(view.name) == wanted,
    "host": lambda view, _, wanted: view.command.host in wanted,
    "root": lambda view, _, wanted: view.command.root == wanted,
    "background": lambda view, _, wanted: view.command.background == wanted,
    "endless": lambda view, _, wanted: view.command.endless == wanted,
    "has_input": lambda view, _, wanted: (view.command.stdin is not None) == wanted,
    "via": _via,
    "not_via": lambda view, _, wanted: not _via(view, None, (wanted,)),
    "assigns": _assigns,
    "not_assigns": _not_assigns,
    "stdin": _stdin,
    "recursive": lambda _, effect, wanted: effect.recursive == wanted,
    "append": lambda _, effect, wanted: effect.append == wanted,
    "method": lambda _, effect, wanted: effect.method in wanted,
    "from": _labels,
    "not_from": lambda view, effect, wanted: not _labels(view, effect, wanted),
    "credential": lambda _, effect, wanted: judge_credentials(effect.labels, effect.path) in wanted,
    "does": lambda view, _, __: not view.options.is_help,
    "subcommand": _subcommand,
    "not_subcommand": lambda view, _, wanted: not _subcommand(view, None, wanted),
    "options": _options,
    "without": _without,
    "operands": _operands,
    "operands_after_dashes": _behind_dashes,
    "operand": lambda view, _, wanted: _one_like(view.operands, wanted),
    "not_operand": lambda view, _, wanted: not _one_like(view.operands, wanted),
    "file": lambda _, effect, wanted: _one_like((effect.path,), wanted),
    "not_file": lambda _, effect, wanted: not _one_like((effect.path,), wanted),
    "url": lambda _, effect, wanted: _one_like((effect.path.lower(),), wanted),
    "not_url": lambda _, effect, wanted: not _one_like((effect.path.lower(),), wanted),
    "address": lambda view, effect, wanted: not view.kinds_of.address(effect.path).isdisjoint(wanted),
    "not_address": lambda view, effect, wanted: not view.kinds_of.address(effect.path).issubset(wanted),
    "path": _path,
    "not_path": lambda view, effect, wanted: not _path(view, effect, wanted),
    "text": _text,
    "safe_text": _safe_text,
    "project_text": _safe_text,
    "sql": lambda view, _, wanted: not view.sql.isdisjoint(wanted),
}

_PREPARED: dict[str, Callable[[Any], Any]] = {
    "subcommand": _sorted_out,
    "not_subcommand": _sorted_out,
    "options": _by_name,
    "without": _by_name,
    "text": re.compile,
    "safe_text": _safe_pattern,
    "project_text": lambda text: _safe_pattern(text, "project"),
    **dict.fromkeys(
        "program not_program operand not_operand file not_file url not_url assigns not_assigns".split(), _Globs
    ),
}
_TOLD_BY_NAME = frozenset(_TESTS[name] for name in ("program", "not_program", "is_known"))
# What all commands have in common for which `_candidates` has the same key.
_TOLD_BY_COMMAND = _TOLD_BY_NAME.union(
    _TESTS[name] for name in ("host", "root", "background", "endless", "has_input", "does")
)
_TOLD_BY_KEY = _TOLD_BY_NAME | {_TESTS["path"], _TESTS["not_path"]}
