"""The criteria of a match: each key of the TOML is a test of a command, an effect or a doubt.

In the globs of rules, ``*`` stands for any characters, ``[*]`` for a star, and nothing else is special.
"""

from __future__ import annotations

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.names import base_name, is_known
from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.credentials import judge_credentials
from agent_hooks_guards.places.paths import absolute
from agent_hooks_guards.places.remotes import is_foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from agent_hooks_guards.model.actions import Command, Doubt, Effect
    from agent_hooks_guards.model.options import Options

    # A literal, or the parts between the stars.
    Glob = str | Sequence[str]
    # Takes the command, the effect or doubt (None for a command), and the value that `_CRITERIA` prepared.
    Test = Callable[[Any, Any, Any], bool]

# In a subcommand: any token, and any number of them.
_ANY_TOKEN = ("", "")
_ANY_TOKENS = ("", "", "")
# Where the part of a word begins that only the shell knows.
_UNCERTAIN = Pattern(f"[{UNKNOWN}*?[]")


def split_glob(text: str) -> Glob:
    """Return ``text`` if it has no star, otherwise the parts between its stars."""
    if "*" not in text:
        return text
    parts = [part.replace("\0", "*") for part in text.replace("[*]", "\0").split("*")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def like(text: str, glob: Glob) -> bool:
    """Whether all of ``text`` matches ``glob``."""
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


class GlobSet:
    """Globs sorted by the comparison that each needs: equality, prefix, suffix, substring, or all of ``like``."""

    __slots__ = ("has_stars", "literals", "others", "prefixes", "substrings", "suffixes")

    def __init__(self, globs: Iterable[Glob]) -> None:
        self.literals: set[str] = set()
        self.prefixes: tuple[str, ...] = ()
        self.suffixes: tuple[str, ...] = ()
        self.substrings: list[str] = []
        self.others: list[Sequence[str]] = []
        for glob in globs:
            if isinstance(glob, str):
                self.literals.add(glob)
            elif len(glob) == 2 and not glob[1]:
                self.prefixes += (glob[0],)
            elif len(glob) == 2 and not glob[0]:
                self.suffixes += (glob[1],)
            elif len(glob) == 3 and not glob[0] and not glob[2]:
                self.substrings.append(glob[1])
            else:
                self.others.append(glob)
        self.has_stars = bool(self.prefixes or self.suffixes or self.substrings or self.others)

    def match_any(self, texts: Sequence[str]) -> bool:
        """Whether one of ``texts`` matches one of the globs."""
        if not self.literals.isdisjoint(texts):
            return True
        for text in texts if self.has_stars else ():
            if text.startswith(self.prefixes) or text.endswith(self.suffixes):
                return True
            for part in self.substrings:
                if part in text:
                    return True
            for glob in self.others:
                if like(text, glob):
                    return True
        return False


class CommandView:
    """A command with the properties that criteria ask for, each computed when the first one asks.

    ``kinds_of``: returns the kinds of a path on a host. ``commands``: all of the line.
    """

    __slots__ = ("_operand_kinds", "_sql", "_tokens", "command", "commands", "home", "kinds_of", "name")

    def __init__(self, command: Command, home: str, kinds_of: Callable[[str, str], frozenset[str]]) -> None:
        self.command = command
        self.commands: Sequence[Command] = ()
        self.name = command.name
        self.home = home
        self.kinds_of = kinds_of
        self._tokens: list[str] | None = None
        self._operand_kinds: list[frozenset[str]] | None = None
        self._sql: frozenset[str] | None = None

    @property
    def operands(self) -> list[str]:
        """The operands."""
        return [self.command.argv[at] for at in self.command.options.operands]

    @property
    def tokens(self) -> list[str]:
        """The tokens of the subcommand and the operands, in lower case."""
        if self._tokens is None:
            self._tokens = [token.lower() for token in (*self.command.options.subcommand, *self.operands)]
        return self._tokens

    @property
    def operand_kinds(self) -> list[frozenset[str]]:
        """The kinds of each operand as a path."""
        if self._operand_kinds is None:
            cwd, host = self.command.cwd, self.command.host
            self._operand_kinds = [self.kinds_of(absolute(each, cwd, self.home), host) for each in self.operands]
        return self._operand_kinds

    @property
    def sql(self) -> frozenset[str]:
        """The kinds of its SQL statements."""
        if self._sql is None:
            from agent_hooks_guards.programs.sql.statements import kinds as sql_kinds

            self._sql = sql_kinds(self.command, self.command.options)
        return self._sql


def prepare(match: Mapping[str, Any], expressions: str, first: frozenset[str]) -> list[tuple[Test, Any]]:
    """Return the tests of ``match`` with their prepared values, the cheapest first.

    The program, the kind of effect and the kind of doubt are left to the index. ``expressions``: how ``text`` is
    searched: ``text``, ``safe_text`` or ``project_text``. ``first``: the ``first_tokens`` of the match.
    """
    other_names = {"text": expressions}
    if expressions != "text":  # a rule of settings: its owner wants no way around it
        other_names["subcommand"] = "uncertain_subcommand"
    keys = {other_names.get(key, key): key for key in match if key not in ("effect", "doubt")}
    if len(keys) == len(match):  # a command
        keys.pop("program", None)
        if first and not any(" " in entry for entry in match["subcommand"]):
            del keys["subcommand"]
    return [
        (_CRITERIA[name][0], _CRITERIA[name][1](match.get(keys[name]))) for name in sorted(keys, key=_COST.__getitem__)
    ]


def first_tokens(match: Mapping[str, Any]) -> frozenset[str]:
    """Return the tokens of which a command must begin with one for ``match`` to hold, none for any."""
    tokens = frozenset(entry.split(" ", 1)[0].lower() for entry in match.get("subcommand", ()))
    return frozenset() if any("*" in token for token in tokens) else tokens


def _is_one_of(kinds: frozenset[str], wanted: Iterable[Iterable[str]]) -> bool:
    return any(kinds.issuperset(each) for each in wanted)


def _path(view: CommandView, effect: Effect | None, wanted: Any) -> bool:
    if effect is not None:
        return _is_one_of(view.kinds_of(effect.path, view.command.host), wanted)
    return any(_is_one_of(each, wanted) for each in view.operand_kinds)


def _subcommand(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    anywhere, by_position, by_first, others = wanted
    tokens = view.tokens
    if not tokens:
        return False
    if anywhere.match_any(tokens):
        return True
    for token, globs in zip(tokens, by_position, strict=False):
        if globs.match_any((token,)):
            return True
    for each in (*by_first.get(tokens[0], ()), *others):  # noqa: SIM110 - any() with a generator takes twice as long
        if _begin_with(tokens, 0, each, 0):
            return True
    return False


def _uncertain_subcommand(view: CommandView, effect: Effect | None, wanted: Any) -> bool:
    certain, sequences = wanted
    return _subcommand(view, effect, certain) or any(_may_begin_with(view.tokens, each) for each in sequences)


def _may_begin_with(tokens: Sequence[str], wanted: Sequence[Glob]) -> bool:
    """Whether ``tokens`` begins with those of ``wanted`` up to one that is not known, such as ``$SUB`` or ``pu*``."""
    for token, glob in zip(tokens, wanted, strict=False):
        known = _UNCERTAIN.split(token, maxsplit=1)[0]
        if known != token:  # what is not known may be several words
            return not isinstance(glob, str) or glob.startswith(known)
        if glob == _ANY_TOKENS or not like(token, glob):
            return False
    return False


def _prepare_uncertain(texts: Sequence[str]) -> tuple[Any, list[list[Glob]]]:
    return _prepare_subcommands(texts), [[split_glob(token) for token in text.lower().split(" ")] for text in texts]


def _prepare_subcommands(texts: Iterable[str]) -> tuple[GlobSet, list[GlobSet], dict[str, list[Any]], list[Any]]:
    """Sort subcommands: one token anywhere (``** delete``), one token at a position (``delete``, ``* delete``), the
    rest by their first token, and those that begin with a glob.
    """
    anywhere: list[Glob] = []
    by_position: list[list[Glob]] = []
    by_first: dict[str, list[Any]] = {}
    others = []
    for text in texts:
        each = [split_glob(token) for token in text.lower().split(" ")]
        *before, last = each
        if before == [_ANY_TOKENS]:
            anywhere.append(last)
        elif all(token == _ANY_TOKEN for token in before) and last != _ANY_TOKENS:
            by_position += [[] for _ in range(len(each) - len(by_position))]
            by_position[len(before)].append(last)
        elif isinstance(each[0], str):
            by_first.setdefault(each[0], []).append(each)
        else:
            others.append(each)
    return GlobSet(anywhere), [GlobSet(globs) for globs in by_position], by_first, others


def _begin_with(tokens: list[str], at: int, wanted: Sequence[Glob], first: int) -> bool:
    """Whether ``tokens[at:]`` begins with tokens that match the globs ``wanted[first:]``."""
    for index in range(first, len(wanted)):
        if wanted[index] == _ANY_TOKENS:
            return any(_begin_with(tokens, start, wanted, index + 1) for start in range(at, len(tokens)))
        if at >= len(tokens) or not like(tokens[at], wanted[index]):
            return False
        at += 1
    return True


def _is_given(options: Options, wanted: tuple[str, dict[str, GlobSet]]) -> bool:
    """Whether one of the alternatives is given."""
    names, with_values = wanted
    if names and options.has(names):
        return True
    for name, globs in with_values.items():
        if globs.match_any([value.lower() for value, _ in options.values(name)]):
            return True
    return False


def _options(view: CommandView, _: Effect | None, wanted: list[tuple[str, dict[str, GlobSet]]]) -> bool:
    options = view.command.options
    return bool(options.given) and all(_is_given(options, each) for each in wanted)


def _without(view: CommandView, _: Effect | None, wanted: list[tuple[str, dict[str, GlobSet]]]) -> bool:
    options = view.command.options
    return not options.given or not any(options.is_in_force(*each) for each in wanted)


def _prepare_options(texts: Iterable[str]) -> list[tuple[str, dict[str, GlobSet]]]:
    """Split each entry into the names that are enough without a value, and the values wanted by name."""
    found = []
    for text in texts:
        names: list[str] = []
        globs: dict[str, list[Glob]] = {}
        for option in text.split("|"):
            name, equals, value = option.partition("=")
            if equals:
                globs.setdefault(name, []).append(split_glob(value.lower()))
            else:
                names.append(name)
        found.append(("|".join(names), {name: GlobSet(each) for name, each in globs.items()}))
    return found


def _operands_after_dashes(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    argv = view.command.argv
    at = argv.index("--") if view.command.options.ended and "--" in argv else len(argv)
    return _is_count(sum(position > at for position in view.command.options.operands), wanted)


def _is_count(count: int, wanted: Mapping[str, int | None]) -> bool:
    most = wanted.get("max")
    return count >= (wanted.get("min") or 0) and (most is None or count <= most)


def _via(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    names = {part for each in view.command.via for part in (each, each.partition(" ")[0])}
    return all(not names.isdisjoint(alternatives) for alternatives in wanted)


def _text(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    return any(map(wanted.search, _searched_texts(view.command)))


def _safe_text(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    # None: the text is too long to search safely.
    return any(wanted.found_in(text) is not False for text in _searched_texts(view.command))


def _searched_texts(command: Command) -> list[str]:
    """Return the texts that an expression is searched in."""
    # A redirection has no arguments of its own, only its fragment.
    tokens = command.argv[1:] if command.argv else [command.fragment]
    return tokens if command.stdin is None else [*tokens, command.stdin.text]


def _safe_pattern(text: str, source: str = "user") -> Any:
    from agent_hooks_guards.rules.patterns import SafePattern

    return SafePattern(text, source)


def _labels(view: CommandView, action: Effect | Doubt | None, wanted: Any) -> bool:
    labels = view.command.labels_of(0) if action is None else action.labels
    return not labels.isdisjoint(wanted)


def _address_kinds(effect: Effect) -> frozenset[str]:
    from agent_hooks_guards.places.hosts import address_kinds

    return address_kinds(effect.path)


def _assigns(view: CommandView, _: Effect | None, wanted: GlobSet) -> bool:
    return bool(view.command.assignments) and wanted.match_any(
        [f"{name}={value.text}" for name, value in view.command.assignments.items()]
    )


def _stdin(view: CommandView, _: Effect | None, wanted: Any) -> bool:
    stdin = view.command.stdin
    return stdin is not None and not stdin.labels.isdisjoint(wanted)


def _same(value: Any) -> Any:
    return value


def _globs(texts: Iterable[str]) -> GlobSet:
    return GlobSet(map(split_glob, texts))


def _programs(texts: Iterable[str]) -> GlobSet:
    return GlobSet(split_glob(text) if "*" in text else base_name(text) for text in texts)


def _urls(texts: Iterable[str]) -> GlobSet:
    return GlobSet(split_glob(text.lower()) for text in texts)


def _alternatives(separator: str) -> Callable[[Iterable[str]], list[list[str]]]:
    return lambda texts: [text.split(separator) for text in texts]


# By key, the cheapest first: the test, and how the value of the TOML is prepared for it. `safe_text` and `project_text`
# are `text` in the rules of users and projects.
_CRITERIA: dict[str, tuple[Test, Callable[[Any], Any]]] = {
    "root": (lambda view, _, wanted: view.command.root == wanted, _same),
    "background": (lambda view, _, wanted: view.command.background == wanted, _same),
    "endless": (lambda view, _, wanted: view.command.endless == wanted, _same),
    "has_input": (lambda view, _, wanted: (view.command.stdin is not None) == wanted, _same),
    "program": (lambda view, _, wanted: wanted.match_any((view.name,)), _programs),
    "not_program": (lambda view, _, wanted: not wanted.match_any((view.name,)), _programs),
    "is_known": (lambda view, _, wanted: is_known(view.name) == wanted, _same),
    "shown": (lambda view, _, wanted: view.command.shown == wanted, _same),
    "host": (lambda view, _, wanted: view.command.host in wanted, _same),
    "recursive": (lambda _, effect, wanted: effect.recursive == wanted, _same),
    "append": (lambda _, effect, wanted: effect.append == wanted, _same),
    "method": (lambda _, effect, wanted: effect.method in wanted, _same),
    "stdin": (_stdin, _same),
    "from": (_labels, _same),
    "not_from": (lambda view, action, wanted: not _labels(view, action, wanted), _same),
    "credential": (lambda _, effect, wanted: judge_credentials(effect.labels, effect.path) in wanted, _same),
    "via": (_via, _alternatives("|")),
    "not_via": (lambda view, _, wanted: not _via(view, None, (wanted,)), _same),
    "assigns": (_assigns, _globs),
    "not_assigns": (lambda view, _, wanted: not _assigns(view, None, wanted), _globs),
    "file": (lambda _, effect, wanted: wanted.match_any((effect.path,)), _globs),
    "not_file": (lambda _, effect, wanted: not wanted.match_any((effect.path,)), _globs),
    "url": (lambda _, effect, wanted: wanted.match_any((effect.path.lower(),)), _urls),
    "not_url": (lambda _, effect, wanted: not wanted.match_any((effect.path.lower(),)), _urls),
    "subcommand": (_subcommand, _prepare_subcommands),
    "uncertain_subcommand": (_uncertain_subcommand, _prepare_uncertain),
    "not_subcommand": (lambda view, _, wanted: not _subcommand(view, None, wanted), _prepare_subcommands),
    "options": (_options, _prepare_options),
    "without": (_without, _prepare_options),
    "operands": (lambda view, _, wanted: _is_count(len(view.command.options.operands), wanted), _same),
    "operands_after_dashes": (_operands_after_dashes, _same),
    "operand": (lambda view, _, wanted: wanted.match_any(view.operands), _globs),
    "not_operand": (lambda view, _, wanted: not wanted.match_any(view.operands), _globs),
    "address": (lambda _, effect, wanted: not _address_kinds(effect).isdisjoint(wanted), _same),
    "not_address": (lambda _, effect, wanted: not _address_kinds(effect).issubset(wanted), _same),
    "path": (_path, _alternatives("&")),
    "not_path": (lambda view, effect, wanted: not _path(view, effect, wanted), _alternatives("&")),
    "text": (_text, Pattern),
    "safe_text": (_safe_text, _safe_pattern),
    "project_text": (_safe_text, lambda text: _safe_pattern(text, "project")),
    "foreign": (lambda view, _, wanted: is_foreign(view.command, view.commands) == wanted, _same),
    "sql": (lambda view, _, wanted: not view.sql.isdisjoint(wanted), _same),
}


_COST = {key: cost for cost, key in enumerate(_CRITERIA)}


def _tests_of(keys: str) -> frozenset[Test]:
    return frozenset(_CRITERIA[key][0] for key in keys.split())


_BY_NAME = _tests_of("program not_program is_known")
# Criteria with one answer for all commands of a name in the same circumstances, for those without assignments, and for
# all effects of a kind by a program of a name on paths of a kind.
BY_COMMAND = _BY_NAME | _tests_of("host root background endless has_input")
BY_BARE_COMMAND = BY_COMMAND | _tests_of("assigns not_assigns")
BY_DOER = _BY_NAME | _tests_of("path not_path")
