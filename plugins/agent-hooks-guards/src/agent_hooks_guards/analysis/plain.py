"""Reads the plain commands, of which nothing is quoted, expanded or joined: most are.

What they are is known from one expression, so that a process per call need not load what reads all others.
"""

from __future__ import annotations

import re

from .syntax import Simple

# What is no command's name at the beginning of one.
RESERVED = frozenset(
    "if then else elif fi for select while until do done case esac function time coproc ! { } [[".split()
)
# A reserved word, not the beginning of another word.
IS_RESERVED = rf"(?:{'|'.join(re.escape(word) for word in sorted(RESERVED))})(?=[ \t\n;|&)]|\Z)"
# What quotes, expands, redirects, joins, assigns or is a pattern; a comment only begins a word.
_MEANS = r"\s|&;()<>'\"\\$`{~\[*?"
_PLAIN = re.compile(
    rf"(?!{IS_RESERVED})[^{_MEANS}=#][^{_MEANS}=]*+(?:[ \t]++[^{_MEANS}#][^{_MEANS}]*+)*+[ \t\n]*+"
).fullmatch


def read_plain(text: str) -> Simple | None:
    """Reads a command that is one simple command in which nothing is quoted, expanded, assigned, redirected or a
    pattern: its words are what stands between the blanks. None for all others.
    """
    return Simple([], [], [], 0, len(text.rstrip()), text.split()) if _PLAIN(text) else None
