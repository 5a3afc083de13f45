"""What known programs print, as far as that is known without running them, and where it comes from."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import (
    ANYTHING,
    DECODED,
    ENDLESS,
    ENVIRONMENT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    PROCESSES,
    SECRET,
    UNKNOWN,
    Data,
)

from .credentials import variable_labels
from .formats import unescaped
from .noting import OUTPUTS
from .outputs_encodings import ENCODINGS
from .outputs_filters import FILTERS
from .outputs_setup import quoted_for_shell, sets_up_shell
from .outputs_sources import SOURCES
from .outputs_words import WORDS
from .printing import Printing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.actions import Command

__all__ = ["output", "unescaped"]


# In digits, as many as Python reads.
_LONGEST_NUMBER = 4000


def output(
    command: Command,
    files: Callable[[str], Data | None] | None = None,
    is_secret: Callable[[str], bool] | None = None,
) -> Data:
    """Return what ``command`` prints, and where that comes from.

    ``files``: what is known of a file by its absolute path, None for nothing. ``is_secret``: whether a file's path,
    absolute, is one of keys or credentials. A program that nothing is known of prints anything, which may come from its
    input and from its secret operands.
    """
    name = command.program
    tell = _TABLE.get(name)
    if tell is None:
        name = command.name
        tell = _TABLE.get(name, _anything)
    options = command.options
    if options.is_help and name not in ("echo", "printf"):
        return ANYTHING
    if sets_up_shell(command):
        return NOTHING
    told = tell(Printing(command, options, files, is_secret))
    # Most programs read as much as they want, and end.
    if ENDLESS in told.labels and (name not in _ENDLESS or options.value("count")):
        told = Data(told.text, told.labels - {ENDLESS})
    if PROCESSES in told.labels and name not in _LISTING and not _shows_all(command):
        told = Data(told.text, told.labels - {PROCESSES})
    return told


def _shows_all(command: Command) -> bool:
    """Whether a filter leaves all lines, but for a head."""
    name, words = command.name, command.argv[1:]
    if name == "grep":
        return command.options.has("-v|--invert-match")
    program = words[-1] if words else ""
    if name == "awk":
        return _AWK_OF_ALL.fullmatch(program) is not None
    return name == "sed" and "-n" not in words and (program[:1] == "s" or program == "1d")


# These go on as long as there is something to read.
_ENDLESS = frozenset("yes cat tee tr base64 base32 dd pv rev nl expand gzip".split())


# These leave of each line something.
_LISTING = frozenset("ps pgrep cut tr tail sort uniq xargs cat tee paste rev column tac echo printf".split())
_AWK_OF_ALL = re.compile(r"\s*(?:NR\s*(?:>|>=|!=)\s*[12]\s*)?\{[^/~<>=]*\}\s*")


def _processes(printing: Printing) -> Data:
    command = printing.command
    if command.program == "ps":
        is_all = _lists_all(command.argv)
    else:
        is_some = printing.options.has("-P|--parent|-t|--terminal|-g|--pgroup|-s|--session|-F|--pidfile")
        is_all = not is_some and _matches_all(printing.operands())
    return Data(UNKNOWN, frozenset((PROCESSES,))) if is_all else ANYTHING


def _matches_all(patterns: list[str]) -> bool:
    """Whether ``pgrep`` lists all, but for whose they are."""
    return not patterns or patterns[0].strip("^$") in ("", ".", ".*", ".+")


def _lists_all(argv: list[str]) -> bool:
    """Whether ``ps`` lists all processes, or all of somebody: ``-e``, ``-A``, ``ax``, ``-u name``."""
    is_all = False
    is_value = False
    for word in argv[1:]:
        letters = word.lstrip("-").partition("o")[0]
        if not is_value:
            if letters.isdecimal() or (word[:1] == "-" and letters[:1] in ("p", "C", "q", "t", "g", "G")):
                return False
            is_all = is_all or not _ALL.isdisjoint(letters) or word in ("-u", "-U", "--user")
        is_value = word.endswith("o") or word in ("-u", "-U", "--user", "--sort", "--format")
    return is_all


_ALL = frozenset("eAx")


def _anything(printing: Printing) -> Data:
    labels = printing.command.stdin.labels if printing.command.stdin is not None else NO_LABELS
    is_secret = printing.is_secret
    if is_secret is not None and any(
        is_secret(printing.path(word)) for word in printing.operands() if "/" in word or "." in word
    ):
        labels |= {SECRET}
    return Data(UNKNOWN, labels)


def _silent(printing: Printing) -> Data:
    return ANYTHING if printing.options.has("-v|--verbose") else NOTHING


def _copied(printing: Printing) -> Data:
    words = printing.operands()
    return printing.file(words[0]) if words[1:] and words[-1] in OUTPUTS else _silent(printing)


def _harmless(_: Printing) -> Data:
    """Names, numbers and lists that are nobody's secret."""
    return ANYTHING


def _labelled(*labels: str) -> Callable[[Printing], Data]:
    """Anything, with these labels and those of the input."""
    those = frozenset(labels)

    def tell(printing: Printing) -> Data:
        stdin = printing.command.stdin
        return Data(UNKNOWN, those if stdin is None else those | stdin.labels)

    return tell


def _passed(printing: Printing) -> Data:
    """A filter of which only the labels are known."""
    return Data(UNKNOWN, printing.input().labels)


def _unchanged(printing: Printing) -> Data:
    return NOTHING if printing.options.operands else printing.stdin()


def _searched(printing: Printing) -> Data:
    """The same, where the first operand is what is looked for or what is done."""
    first = 0 if printing.options.has("-e|-f|--regexp|--file|--from-file|--expression") else 1
    return Data(UNKNOWN, printing.input(first).labels)


# `env` and `$ENV` of jq's language, without a name behind.
_WHOLE_ENVIRONMENT = re.compile(r"""(?<![.\w$"'-])env(?![\w:."'\[-])|\$ENV(?![.\[\w])""")


def _queried(printing: Printing) -> Data:
    told = _searched(printing)
    words = printing.operands()
    text = quoted_for_shell(words[0]) if words and NETWORK not in told.labels else None
    if any("@base64d" in word for word in words):
        return Data(UNKNOWN, told.labels | {DECODED})
    if text is not None:
        return Data(text, told.labels)
    # Its variables, and those of the environment that it names.
    named = [name for word in words if "env" in word.lower() for name in _between_names(word)]
    labels = told.labels | printing.command.labels_of().union(*map(variable_labels, named))
    return Data(told.text, labels | {ENVIRONMENT} if words and _WHOLE_ENVIRONMENT.search(words[0]) else labels)


def _between_names(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split()


def _calculated(printing: Printing) -> Data:
    """``dc``: the bytes of a number, ``P``."""
    told = " ".join(printing.operands()) if printing.options.has("-e|--expression") else printing.input().text
    number = told.strip().removesuffix("P").strip()
    base = 10
    if number[:3] == "16i":
        number, base = number[3:].strip(), 16
    if not told.strip().endswith("P") or not number.isalnum() or len(number) > _LONGEST_NUMBER:
        return Data(UNKNOWN, printing.input().labels)
    try:
        value = int(number, base)
        return Data(value.to_bytes((value.bit_length() + 7) // 8, "big").decode(), frozenset((DECODED,)))
    except ValueError:
        return ANYTHING


_TABLE: dict[str, Callable[[Printing], Data]] = {
    **WORDS,
    **FILTERS,
    **ENCODINGS,
    **SOURCES,
    **dict.fromkeys("jq yq gojq".split(), _queried),
    "sponge": _unchanged,
    "dc": _calculated,
    "ps": _processes,
    "pgrep": _processes,
    "cp": _copied,
    **dict.fromkeys("od hexdump comm join diff tsort".split(), _passed),
    **dict.fromkeys("uudecode uncompress recode qprint basez zbase32 ascii85 age".split(), _labelled(DECODED)),
    **dict.fromkeys(
        "http https xh xhs nc ncat netcat socat ssh telnet dig nslookup host drill whois lynx w3m links elinks aria2c"
        " websocat wscat grpcurl ftp sftp lftp tftp ssh-keyscan lwp-request GET fetch".split(),
        _labelled(NETWORK),
    ),
    **dict.fromkeys(
        "true false : rm mv mkdir rmdir touch ln install chmod chown chgrp kill pkill sleep wait test [ read exit"
        " return break continue unset shift trap umask shred truncate sync unalias shopt exec source . mkfifo mknod"
        " unlink getopts disown ulimit alias pushd popd cd let".split(),
        _silent,
    ),
    **dict.fromkeys(
        "wc cksum md5sum sha1sum sha256sum sha512sum b2sum shasum md5 stat file du df whoami hostname uname nproc id"
        " arch tty logname groups users who uptime lsof free expr tput stty cmp sum jobs times"
        " lsblk locale getconf".split(),
        _harmless,
    ),
}
