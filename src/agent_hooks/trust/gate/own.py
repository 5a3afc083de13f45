"""Commands that decide about agents: our own, by whatever name it is called, and those that uninstall it."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch

from .code import names_own_command
from .environment import SCRIPT_FOLDERS, SITE_NAMES
from .packages import reason_against_packages, reason_against_renewing
from .programs import is_glob, is_only_versioning, is_passive, is_unknown, name_of, programs_of
from .reasons import for_own_command, for_process
from .words import COPIERS, ENDERS, GATHERERS, LINKERS, MOVERS, SHELLS, SOURCING, WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .reading import Reading

_OURS = frozenset(("agent-hooks", "agent_hooks", "agent-hooks-core", "agent_hooks_core", "agent_hooks_core.py"))
_NAMED = re.compile(r"agent[-_]hooks(?:[-_]core)?(?![\w.-])")
_GRANTING = frozenset(("trust", "untrust", "allow", "install", "uninstall"))
_TAKING_FOLDER = frozenset("-C --directory --prefix --cwd --dir -f --file".split())  # of a repository with our name
_DECIDING = frozenset(("trust", "untrust"))
_SUBCOMMANDS = _GRANTING | {"check", "demo", "doctor", "events", "plugins", "run", "schema"}
_ONLY_SHOWS = frozenset(("--show", "--diff", "--json", "--help", "-h"))
_MODULE = re.compile(r"-m(?:pip|venv|virtualenv|uv|agent_hooks)")
_ALL_WORDS = re.compile(r"""\$[@*]|\$\{\w+\[[@*]\]\}|\$\{[@*]\}""")
_SUBSTITUTION = re.compile(r"\$\([^$`]*\)|`[^$`]*`")
# Behind what a shell puts in for parentheses that could not be read.
_BEHIND = re.compile(r"[)`][\w.]*\s+(?:un)?trust\b")
# A digest is what one trusts by.
_DIGEST = "sha256:"


def reason_against_own(reading: Reading, words: Sequence[str], upstream: str) -> str:
    """Return why a simple command is denied, if it decides about agents; ``upstream``: what it may get from a pipe."""
    words = [part for word in words for part in (("-m", word[2:]) if _MODULE.match(word) else (word,))]
    name = name_of(words[0])
    if name in COPIERS or name in LINKERS or name in MOVERS or name == "hash":
        return _against_another_name(reading, words)
    if is_passive(name) or is_only_versioning(name, words):
        return ""
    if any(name_of(word) in ENDERS for word in words) and _NAMED.search(" ".join((*words, upstream))):
        return for_process()
    if name in GATHERERS and all(is_passive(program.name) for program in programs_of(words)):
        return _against_subcommand(reading, words)
    given = [*words, *upstream.split()] if name in GATHERERS else words
    return (
        _against_subcommand(reading, given)
        or _against_unnamed(reading, words, given)
        or reason_against_packages(reading, words, upstream)
        or reason_against_renewing(reading, words)
    )


def _against_subcommand(reading: Reading, words: Sequence[str]) -> str:
    for at, word in enumerate(words):
        if not is_ours(word) or (at and words[at - 1] in _TAKING_FOLDER and "install" in words[at:]):
            continue
        rest = words[at + 1 :]
        subcommand = next((each for each in rest if each in _SUBCOMMANDS), "")
        if (
            subcommand in _GRANTING
            and not (subcommand == "trust" and _only_shows(reading, rest))
            and not _asks_help(rest)
        ):
            return for_own_command(f"`agent-hooks {subcommand}`")
        if not subcommand and any(map(is_unknown, rest)) and not _GRANTING.isdisjoint(reading.plain_words()):
            return for_own_command("This use of `agent-hooks`")
        if subcommand == "doctor" and any(each.startswith("--ignore") for each in rest):
            return for_own_command("`agent-hooks doctor --ignore`")
    return ""


def _asks_help(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[1] in ("--help", "-h")


def _only_shows(reading: Reading, words: Sequence[str]) -> bool:
    if _ONLY_SHOWS.isdisjoint(words) or any("--digest" in word for word in words):
        return False
    return not any(map(is_unknown, words)) or not any("digest" in text for text in reading.texts)


def _against_unnamed(reading: Reading, words: Sequence[str], given: Sequence[str]) -> str:
    """Judge a program of which only running the command would tell the name."""
    runs_words = name_of(words[0]) in SHELLS or words[0] in SOURCING or name_of(words[0]) in WRAPPERS
    unnamed = words if runs_words and name_of(words[0]) not in GATHERERS else words[:1]
    if any(_ALL_WORDS.search(word) or _variable_in(word) in reading.computed for word in unnamed):
        plain = reading.plain_words()
        decides = any(map(is_ours, plain)) and not _DECIDING.isdisjoint(plain)
        decides = decides or names_own_command("\n".join(reading.texts))
        return for_own_command("This use of `agent-hooks`") if decides else ""
    gathers = name_of(words[0]) in GATHERERS
    decides = any(
        word in _DECIDING for each in given for word in (each.split() if gathers or is_unknown(each) else [each])
    )
    if not decides or _only_shows(reading, given):
        return ""
    programs = [word for word in words if is_unknown(word)]
    if gathers or (words[0] in _DECIDING and _BEHIND.search(reading.texts[-1])):
        programs.append("$")
    said = [word for word in programs if _SUBSTITUTION.fullmatch(word)]  # of these it can be seen what they name
    if len(said) < len(programs):
        said.append(" ".join(reading.plain_words()))
    is_named = any(("agent" in text and "hooks" in text) or _DIGEST in text for text in said)
    return for_own_command("This use of `agent-hooks`") if is_named else ""


def _variable_in(word: str) -> str:
    found = re.match(r"\$\{?(\w+)", word)
    return found[1] if found else ""


def _against_another_name(reading: Reading, words: Sequence[str]) -> str:
    """Judge a copy of the program, or a link to it: under another name, nobody would know it again."""
    places = [word for word in words[1:] if not word.startswith("-")]
    if not any(_is_program(reading, word) for word in places):
        return ""
    target = places[-1]
    if not any(_is_program(reading, word) for word in places[:-1]):
        return "" if not is_unknown(target) else for_own_command("Writing over `agent-hooks`")
    keeps_name = is_ours(target) or target.endswith("/") or os.path.isdir(os.path.join(reading.cwd, target))
    return "" if keeps_name and name_of(words[0]) not in MOVERS else for_own_command("Another name for `agent-hooks`")


def _is_program(reading: Reading, word: str) -> bool:
    if is_unknown(word):
        return _NAMED.search(word) is not None
    folder = os.path.basename(os.path.dirname(word)).casefold()
    return is_ours(word) and (
        folder in SCRIPT_FOLDERS or folder in SITE_NAMES or os.path.isfile(os.path.join(reading.cwd, word))
    )


def is_ours(word: str) -> bool:
    """Whether ``word`` names our own command, as a program, a module or the file of one, or may turn out to do so."""
    word = word.replace("\\", "/").casefold()
    if "agent_hooks/cli/" in word or word.endswith("agent_hooks/__main__.py"):
        return True
    last = re.split("[/#]", word)[-1].lstrip(":!%@+").removeprefix("-m").removesuffix(".exe")
    name = re.split(r"[@=\[<>~]", last)[0]
    if name in _OURS or name.startswith("agent_hooks."):
        return True
    if is_glob(last):
        return ("agent" in last or "hook" in last) and fnmatch("agent-hooks", last)
    return is_unknown(word) and _NAMED.search(word) is not None
