"""A text for a shell, as far as it can be read without running it: which programs it starts, and with what words."""

from __future__ import annotations

import re
from bisect import bisect_left

from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What stands for the top of the repository, a name that no shell has for a variable.
TOP = ":top"
_TOP_WRITTEN = "$(git rev-parse --show-toplevel)"
_GIT_TOP = re.compile(r"\$\(\s*git\s+rev-parse\s+--show-toplevel\s*\)|`\s*git\s+rev-parse\s+--show-toplevel\s*`")
_PWD = re.compile(r"\$\(\s*pwd\s*\)|`\s*pwd\s*`")
_WITH_DEFAULT = re.compile(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|PWD):?[-=?](?:[^{}]|\{[^{}]*\})*\}")

# What a shell computes, and what it does not where a quote or a backslash says so.
COMPUTED = re.compile(r"\$[\w{(*@…]|[`*?\[]")
_SPECIAL = "$`*?["
_HIDDEN = {ord(each): chr(0xE000 + place) for place, each in enumerate(_SPECIAL)}
_SEEN_AGAIN = {ord(hidden): chr(each) for each, hidden in _HIDDEN.items()}
# `$(…)`, and what `<(…)` makes a file of.
_INNER = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")
_HERE = re.compile(r"""<<-?[ \t]*(['"\\]?)([\w.-]+)""")
_NO_INNER = re.compile(r"[<>](?=\()")
_EXPANDED = re.compile(r"\$[\w{(@*]|`")
MAX_DEPTH = 5
_MAX_SHOWN = 100

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{"})


class Simple(Value):
    """One program with its arguments, what it assigns before it, the files that it reads and writes by ``<`` and ``>``,
    the texts that it reads by ``<<<``, and what ends those that it reads by ``<<``.
    """

    words: list[str]
    assigned: list[str]
    reads: list[str]
    writes: list[str]
    texts: list[str]
    heres: list[str]


class Here(Value):
    """The lines that ``<<`` gives to a program, the text before them on its line, and what ends them."""

    line: str
    body: str
    delimiter: str
    is_quoted: bool

    @property
    def inner(self) -> list[str]:
        """The commands within it whose output a shell puts in their place."""
        return [] if self.is_quoted else without_inner(_NO_INNER.sub(r"\g<0> ", self.body))[1]

    @property
    def is_computed(self) -> bool:
        """Whether a shell puts something in the place of a part of it."""
        return not self.is_quoted and _EXPANDED.search(self.body) is not None


def plain(text: str) -> str:
    """Return a text for a shell with the folders that are known written as mere variables."""
    text = _PWD.sub("${PWD}", _GIT_TOP.sub(f"${{{TOP}}}", text))
    return _WITH_DEFAULT.sub(r"${\1}", text)


def with_quoted_hidden(text: str) -> tuple[str, list[Here]]:
    """Return a text for a shell in which what its quotes make harmless is hidden from it, without comments, and with
    each line a command; and what ``<<`` takes out of it.
    """
    made: list[str] = []
    heres: list[Here] = []
    waiting: list[re.Match[str]] = []
    quote = previous = ""
    place = line = 0
    lines: dict[str, list[tuple[int, int]]] = {}
    if "<<" in text:
        for found in re.finditer(r"^\t*(.*)$", text, re.MULTILINE):
            lines.setdefault(found[1], []).append(found.span())
    while place < len(text):
        each = shown = text[place]
        place += 1
        if each == "\\" and quote != "'":
            shown += text[place : place + 1].translate(_HIDDEN)
            place += 1
        elif quote:
            if each == quote:
                quote = ""
            elif quote == "'" or each not in "$`":
                shown = each.translate(_HIDDEN)
        elif each in "'\"":
            quote = each
        elif each == "#" and (not previous or previous.isspace() or previous in ";&|("):
            end = text.find("\n", place)
            place = end if end >= 0 else len(text)
            shown = ""
        elif (
            each == "<"
            and previous != "<"
            and text[place : place + 2] != "<<"
            and (here := _HERE.match(text, place - 1))
        ):
            waiting.append(here)
        elif each == "\n":
            shown = ";"
            for begin in waiting:
                ends = lines.get(begin[2], [])
                after = bisect_left(ends, (place, 0))
                if after < len(ends):
                    start, end = ends[after]
                    said, body = "".join(made[line:]), text[place:start]
                    heres.append(Here(line=said, body=body, delimiter=begin[2], is_quoted=bool(begin[1])))
                    place = min(end + 1, len(text))
            waiting.clear()
            line = len(made)
        made.append(shown)
        previous = each
    return "".join(made), heres


def without_inner(text: str) -> tuple[str, list[str]]:
    """Return a text for a shell, each command within it replaced by ``$…``, and these commands."""
    inner: list[str] = []

    def taken(found: re.Match[str]) -> str:
        inner.append(unhidden(found[1] or found[2] or ""))
        return "$…"

    for _ in range(MAX_DEPTH):
        text, count = _INNER.subn(taken, text)
        if not count:
            break
    return text, inner


def simple_commands(text: str) -> Iterator[Simple]:
    """Yield the commands of a text that has no others within it."""
    words: list[str] = []
    files: dict[str, list[str]] = {}
    target, depth = "", 0
    for word in shell_words(text):
        if word.strip("();<>|&"):
            (files.setdefault(target, []) if target else words).append(word)
            target = ""
        elif word in ("&&", "||") and _is_test(words):
            continue
        elif "<" in word or ">" in word:
            target = ">" if ">" in word else word if word in ("<<", "<<<") else "<"
            if words and words[-1].isdecimal():  # `2>`
                words.pop()
                target = "3<<" if target == "<<" else target
        else:
            depth += word.count("(") - word.count(")")
            if depth < 0:  # the end of a pattern of `case`
                words, depth = words[:-1], 0
            yield _simple(words, files)
            words, files, target = [], {}, ""
    yield _simple(words, files)


def _is_test(words: list[str]) -> bool:
    """Whether the words begin a ``[[ … ]]`` that has not ended."""
    first = next((word for word in words[:5] if word not in _KEYWORDS), "")
    return first == "[[" and words[-1] != "]]"


def _simple(words: list[str], files: dict[str, list[str]]) -> Simple:
    start = 0
    while start < len(words) and (words[start] in _KEYWORDS or ASSIGNMENT.match(words[start])):
        start += 1
    assigned = [word for word in words[:start] if word not in _KEYWORDS]
    reads, writes, texts, heres = (files.get(each, []) for each in ("<", ">", "<<<", "<<"))
    heres = [each.removeprefix("-") for each in heres]
    return Simple(words=words[start:], assigned=assigned, reads=reads, writes=writes, texts=texts, heres=heres)


def hidden(word: str) -> str:
    """Return a word of which no shell would compute anything."""
    return word.translate(_HIDDEN)


def unhidden(word: str) -> str:
    """Return a word as it was before its quoted characters were hidden."""
    return word.translate(_SEEN_AGAIN)


def quoted(word: str) -> str:
    """Return a word for a message."""
    word = unhidden(word).replace("$…", "$(…)").replace(f"${{{TOP}}}", _TOP_WRITTEN)
    return f"`{word if len(word) <= _MAX_SHOWN else f'{word[:_MAX_SHOWN]}…'}`"


def shell_words(command: str) -> list[str]:
    """Return the words of a text for a shell, and what parts its commands."""
    from shlex import shlex

    command = command.replace("`", " ")
    lexer = shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed, in the eyes of shlex
        return command.split()
