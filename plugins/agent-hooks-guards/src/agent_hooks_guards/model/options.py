"""The arguments of a command, parsed as its program parses them: options, their values, operands, the subcommand.

The options of a program stand in its declaration. A program without one is parsed as most are: short options are
letters that may stand together, long ones have a value only behind ``=``, and ``--`` ends them.
"""

from __future__ import annotations

from agent_hooks.shell.syntax import Record
from agent_hooks.system.caching import lru_cache

from .declarations import declarations
from .grammar import DIGITS, FLAG, HELP, LAST, OPTIONAL, PAIR, TEXTS, UNLISTED, VALUE, Grammar, grammar_of, groups_of
from .names import WORDS, base_name
from .values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# In a longer bundle, repeated letters are skipped.
_LONGEST_BUNDLE = 64
_DEEPEST_SUBCOMMAND = 6
_TRUE = frozenset(("true", "1", "t", "yes", "on"))
# Before the folders of `find`.
_FIND_OPTIONS = frozenset(("-H", "-L", "-P", "-D", "-f", "-E", "-X", "-d", "-s", "-x"))


class Options(Record):
    """The arguments of a command.

    ``given``: the options in their order, with their values; bundles are split, abbreviations written in full.
    ``places``: the position in ``argv`` of each value, or of the option itself if its value is attached or missing.
    ``names``: the names of the options, ``switches``: of those that need no value. ``operands``: the positions of the
    other arguments without the subcommand.
    ``is_help``: the program only prints help or a version. ``ended``: ``--`` was among the arguments.
    ``single_dash``: the program's long options may have one dash or two.
    """

    __slots__ = ("ended", "given", "is_help", "names", "operands", "places", "single_dash", "subcommand", "switches")

    def __init__(self, *, single_dash: bool = False) -> None:
        self.given: list[tuple[str, str | None]] = []
        self.places: list[int] = []
        self.names: set[str] = set()
        self.operands: list[int] = []
        self.subcommand: tuple[str, ...] = ()
        self.is_help = False
        self.ended = False
        self.single_dash = single_dash
        self.switches: set[str] = set()

    def has(self, names: str) -> bool:
        """Whether one of ``names``, separated by ``|``, was given; ``*`` at the end of a name stands for any rest."""
        if not self.given:
            return False
        wanted, beginnings = _split_names(names, self.single_dash)
        if not beginnings:
            return not wanted.isdisjoint(self.names)
        for name in self.names:  # noqa: SIM110 - any() with a generator takes twice as long
            if name in wanted or name.startswith(beginnings):
                return True
        return False

    def is_in_force(self, names: str, valued: Mapping[str, Any] | None = None) -> bool:
        """Whether one of ``names`` is given, and no ``--no-NAME`` or other value behind it takes it back.

        A switch with a value is in force only if that is true or 1. ``valued``: the options that count with some values
        only, with the ``GlobSet`` of these in lower case.
        """
        if not (valued or self.has(names)):
            return False
        wanted, beginnings = _split_names(names, self.single_dash)
        listed = [(_split_names(each, self.single_dash), globs) for each, globs in (valued or {}).items()]
        others = frozenset[str]().union(*(full for (full, _), _ in listed))
        negations = [f"no-{name.lstrip('-')}" for name in wanted | others if name.lstrip("-")]
        found = False
        for name, value in self.given:
            is_named = name in wanted or (beginnings and name.startswith(beginnings))
            low = (value or "").lower()
            about = [globs for (full, starts), globs in listed if name in full or name.startswith(starts)]
            is_on = value is None or name not in self.switches or low in _TRUE
            if (is_named and is_on) or (value is not None and any(globs.match_any((low,)) for globs in about)):
                found = True
            elif is_named or name in others or _negates(name.lstrip("-"), negations):
                found = False
        return found

    def value(self, names: str) -> str | None:
        """Return the value of the last option among ``names`` that has one."""
        values = self.values(names)
        return values[-1][0] if values else None

    def values(self, names: str) -> list[tuple[str, int]]:
        """Return the values of the options among ``names``, and their positions in ``argv``."""
        if not self.given:
            return []
        wanted, beginnings = _split_names(names, self.single_dash)
        if not beginnings and wanted.isdisjoint(self.names):
            return []
        return [
            (value, self.places[at])
            for at, (name, value) in enumerate(self.given)
            if value is not None and (name in wanted or name.startswith(beginnings))
        ]


def _negates(name: str, negations: Iterable[str]) -> bool:
    """Whether an option negates another, in full, cut short (``no-dr``) or without the second dash (``nodry-run``)."""
    if not name.startswith("no"):
        return False
    return any(each.replace("no-", "no", 1) == name or (len(name) > 3 and each.startswith(name)) for each in negations)


@lru_cache(maxsize=4096)
def _split_names(names: str, single_dash: bool) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the options in ``names``, and the prefixes of those that end with ``*``."""
    wanted = names.split("|")
    if single_dash:
        wanted = ["-" + name.lstrip("-") if name[:1] == "-" else name for name in wanted]
    return frozenset(wanted), tuple(name[:-1] for name in wanted if name[-1:] == "*")


def parse(program: str, argv: list[str]) -> Options:
    """Parse ``argv``, the program's name first, as ``program`` does. Never raises."""
    parser = _Parser(base_name(program), argv)
    if "find" in parser.grammar.styles:
        parser.parse_expression()
    else:
        parser.parse()
    return parser.options


class _Parser:
    """Parses one ``argv``."""

    __slots__ = ("are_texts", "argv", "chain", "grammar", "is_compose", "options", "path")

    def __init__(self, name: str, argv: list[str]) -> None:
        self.argv = argv
        self.path = declarations().aliases.get(name, name)
        self.is_compose = self.path == "docker compose"
        self.grammar = grammar_of(self.path) or UNLISTED
        self.chain = [self.grammar]
        self.are_texts = False
        self.options = Options(single_dash="names" in self.grammar.styles)

    def parse(self) -> None:
        argv, options = self.argv, self.options
        groups = groups_of(self.path)
        subcommand: list[str] = []
        size = len(argv)
        at = self._parse_bundle_without_dash() if "old" in self.grammar.styles else 1
        while at < size:
            argument = argv[at]
            if argument[:1] != "-" or argument == "-":
                if groups is not None:
                    if _is_deeper(groups, subcommand, argument):
                        subcommand.append(argument)
                        self._enter(argument)
                        at += 1
                        continue
                    groups = None
                styles = self.grammar.styles
                if "keys" in styles and "=" in argument:
                    key, _, value = argument.partition("=")
                    self._add(key, value, at)
                elif "plus" in styles and argument[:1] == "+" and len(argument) > 1:
                    at = self._parse_short(at)
                elif not self.are_texts:
                    options.operands.append(at)
                    if self.grammar.stop and len(options.operands) >= self.grammar.stop:
                        break
                at += 1
                continue
            if argument == "--":
                options.ended = True
                break
            at = self._parse_option(at) + 1
        # Arguments behind `--` or the last option.
        if at < size:
            options.operands.extend(range(at + 1, size))
        options.subcommand = tuple(subcommand)
        if self.is_compose:
            options.subcommand = ("compose", *subcommand)  # docker-compose is docker compose
        if self.grammar is UNLISTED and size > 2:
            # In an unlisted program, another `--help` may be the value of an option.
            options.is_help = argv[-1] == "--help" and not options.ended

    def _enter(self, argument: str) -> None:
        """Change to the grammar of a subcommand, which the program's own options extend unless it is ``.own``."""
        self.path, found = _entered(self.path, argument)
        if found is None:
            return
        self.grammar = found
        self.chain = [found] if "own" in found.styles else [found, *self.chain]

    def _add(self, name: str, value: str | None, place: int) -> None:
        self.options.given.append((name, value))
        self.options.names.add(name)
        self.options.places.append(place)

    def _parse_option(self, at: int) -> int:
        """Parse the option at a position; return its last position, or one beyond all if it ends the options."""
        argument = self.argv[at]
        styles = self.grammar.styles
        if argument[:2] == "--" or self.options.single_dash:
            return self._parse_long(at)
        if "modes" in styles and not argument[1:].strip("rwxXst,+=-ugoa01234567") and argument.strip("-Rcfv"):
            self.options.operands.append(at)  # chmod -x file
            return at
        if self.grammar.number and argument[1:].isdigit():
            self._add(self.grammar.number, argument[1:], at)
            return at
        if "signals" in styles and (argument[1:].isdigit() or (len(argument) > 2 and argument[1:].isupper())):
            self._add("-s", argument[1:], at)
            return at
        return self._parse_short(at)

    def _kind(self, name: str) -> int | None:
        for grammar in self.chain:
            kind = grammar.kinds.get(name)
            if kind is not None:
                return kind
        return None

    def _parse_long(self, at: int) -> int:
        name, equals, attached = self.argv[at].partition("=")
        if self.options.single_dash:
            name = "-" + name.lstrip("-")
            if "folded" in self.grammar.styles:
                name = name.lower()
        kind = self._kind(name)
        if kind is None and not equals and self.options.single_dash and "letters" in self.grammar.styles:
            return self._parse_short(at)
        if kind is None:
            full = self._in_full(name)
            if full is not None:
                name = full
                kind = self._kind(name)
        if (
            kind is None
            and "valued" in self.chain[-1].styles
            and self.argv[at + 1 : at + 2]
            and self.argv[at + 1][:1] != "-"
        ):
            kind = VALUE  # of hundreds of options, nearly all have one
        return self._take(name, kind or FLAG, attached if equals else None, at)

    def _in_full(self, name: str) -> str | None:
        """Return the only long option with this prefix."""
        if len(name) < 3:
            return None
        found = [long for grammar in self.chain for long in grammar.longs if long.startswith(name)]
        if "folded" in self.grammar.styles:  # PowerShell takes the first that fits
            return found[0] if found else None
        return found[0] if len(set(found)) == 1 else None

    def _take(self, name: str, kind: int, attached: str | None, at: int) -> int:
        if kind in {FLAG, OPTIONAL, HELP}:
            self.options.switches.add(name)
            if attached is None and self.argv[at + 1 : at + 2] == ["false"]:
                attached = "false"  # some programs take it for the value
        if kind == HELP and (" " in self.path or not self.options.operands or len(self.chain) > 1):
            self.options.is_help = attached is None or attached.lower() in _TRUE
        elif _negates(name.lstrip("-"), ("no-help",)):
            self.options.is_help = False
        self.are_texts = self.are_texts or kind == TEXTS
        if kind == PAIR and at + 2 < len(self.argv):
            at += 2
            attached = self.argv[at]
        elif attached is None and kind in {VALUE, LAST} and at + 1 < len(self.argv):
            at += 1
            attached = self.argv[at]
        self._add(name, attached, at)
        if kind == LAST:
            self.options.operands.extend(range(at + 1, len(self.argv)))
            return len(self.argv)
        return at

    def _parse_short(self, at: int) -> int:
        argument = self.argv[at]
        if len(argument) > 2 and self._kind(argument) is not None:
            return self._take(argument, self._kind(argument) or FLAG, None, at)
        sign, letters = argument[0], argument[1:]
        place = 0
        while place < len(letters):
            name = sign + letters[place]
            place += 1
            if place > _LONGEST_BUNDLE and name in self.options.names:
                continue
            kind = self._kind(name)
            rest = letters[place:]
            if rest[:1] == "=" and kind in (None, FLAG, HELP):
                return self._take(name, kind or FLAG, rest[1:], at)
            if not kind:
                self._add(name, None, at)
            elif kind == DIGITS:
                is_hex = name == "-0" and rest[:1] in ("x", "X")
                digits = "0123456789xXabcdefABCDEF" if is_hex else "0123456789"
                value = rest[: len(rest) - len(rest.lstrip(digits))]
                self._add(name, value, at)
                place += len(value)
            elif kind == HELP:
                self._take(name, kind, None, at)
            else:
                equals = "=" if "equals" in self.grammar.styles else ""
                return self._take(name, kind, rest.removeprefix(equals) or None, at)
        return at

    def _parse_bundle_without_dash(self) -> int:
        """``tar czfC a.tgz folder``: the values of the letters are the next arguments, in this order."""
        argv = self.argv
        if len(argv) < 2 or argv[1][:1] in {"-", ""} or not argv[1].isalpha():
            return 1
        at = 1
        for letter in dict.fromkeys(argv[1]):
            at = self._take("-" + letter, self._kind("-" + letter) or FLAG, None, at)
        return at + 1

    def parse_expression(self) -> None:
        """Parse the arguments of ``find``: folders, tests and actions."""
        argv, options = self.argv, self.options
        size, at = len(argv), 1
        is_place = True
        while at < size:
            argument = argv[at]
            if is_place and not options.operands and (argument in _FIND_OPTIONS or argument[:2] == "-O"):
                has_value = argument in {"-D", "-f"} and at + 1 < size
                at += has_value
                self._add(argument, argv[at] if has_value else None, at)
                if has_value and argument == "-f":
                    options.operands.append(at)
            elif argument == "--" and is_place:
                options.ended = True
            elif is_place and argument[:1] != "-" and argument not in {"(", ")", "!", ","}:
                options.operands.append(at)
            else:
                is_place = False
                name = "-" + argument.lstrip("-") if argument[:2] == "--" else argument
                if name in {"-exec", "-execdir", "-ok", "-okdir"}:
                    self._add(name, argv[at + 1] if at + 1 < size else None, min(at + 1, size - 1))
                    at += 1
                    while at < size and argv[at] != ";" and not (argv[at] == "+" and argv[at - 1] == "{}"):
                        at += 1
                elif self.grammar.kinds.get(name) == VALUE and at + 1 < size:
                    at += 1
                    self._add(name, argv[at], at)
                else:
                    self._add(name, None, at)
                    options.is_help = options.is_help or name in {"-help", "-version"}
            at += 1


@lru_cache(maxsize=4096)
def _entered(program: str, argument: str) -> tuple[str, Grammar | None]:
    """Return the path of a subcommand, and its own grammar if it has one."""
    path = f"{program} {argument}"
    path = declarations().aliases.get(path, path)
    return path, grammar_of(path) or grammar_of(f"{program} *")


def _is_deeper(groups: dict[str, frozenset[str]], subcommand: list[str], argument: str) -> bool:
    """Whether an argument is the next token of the subcommand."""
    if not subcommand:
        return True
    if UNKNOWN in argument:
        return False
    known = groups.get(" ".join(subcommand))
    if known is not None:
        return not known or argument in known
    if "*2" in groups:
        return len(subcommand) < 2
    return (
        "*" in groups
        and len(subcommand) < _DEEPEST_SUBCOMMAND
        and subcommand[-1] not in WORDS["verbs"]
        and argument.islower()
        and argument.replace("-", "").isalnum()
    )
