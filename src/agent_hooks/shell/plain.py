"""Parses plain commands, in which nothing is quoted, expanded or joined: most commands are.

One regular expression decides, so that a process that sees only such a command need not load the parser.
"""

from __future__ import annotations

import re

from .syntax import Simple

# Words that do not name a program at the start of a command.
RESERVED = frozenset(
    "if then else elif fi for select while until do done case esac function time coproc ! { } [[".split()
)
# A whole reserved word, not the start of a longer one.
IS_RESERVED = rf"(?:{'|'.join(re.escape(word) for word in sorted(RESERVED))})(?=[ \t\n;|&)]|\Z)"
# Characters that quote, expand, redirect, join, assign or match; `#` only at the start of a word.
_SPECIAL = r"\s|&;()<>'\"\\$`{~\[*?"
_PLAIN = re.compile(
    rf"(?!{IS_RESERVED})[^{_SPECIAL}=#][^{_SPECIAL}=]*+(?:[ \t]++[^{_SPECIAL}#][^{_SPECIAL}]*+)*+[ \t\n]*+"
).fullmatch


def parse_plain(text: str) -> Simple | None:
    """Parse ``text`` if it is one simple command without quotes, expansions, assignments, redirections and patterns;
    return None for any other text.
    """
    return Simple([], [], [], 0, len(text.rstrip()), text.split()) if _PLAIN(text) else None
