"""Parses plain commands, in which nothing is quoted or joined: most commands are.

Without regular expressions, so that a process that sees only such a command need not load the parser.
"""

from __future__ import annotations

from .syntax import Bare, Simple

# Words that do not name a program at the start of a command.
RESERVED = frozenset(
    "if then else elif fi for select while until do done case esac function time coproc ! { } [[".split()
)
# Characters that quote, expand, redirect or join.
_SPECIAL = frozenset("|&;()<>'\"\\$`{[")
# Those that a shell expands in a word that is spelled out all the same.
_EXPANDED = frozenset("~*?")
_BLANKS = " \t\n"


def parse_plain(text: str) -> Simple | None:
    """Parse ``text`` if it is one simple command without quotes, variables, assignments, redirections, braces and
    brackets; return None for any other text.
    """
    if not _SPECIAL.isdisjoint(text) or text[:1].isspace():
        return None
    line = text.rstrip(_BLANKS)
    words = line.split()
    # A comment, an assignment, or white space that does not separate words for a shell.
    if not words or words[0] in RESERVED or "=" in words[0] or line[0] == "#" or " #" in line or "\t#" in line:
        return None
    if words != [word for word in line.replace("\t", " ").split(" ") if word]:
        return None
    if not _EXPANDED.isdisjoint(line):
        return Simple([], [[Bare(word)] for word in words], [], 0, len(line), None, words)
    return Simple([], [], [], 0, len(line), words)
