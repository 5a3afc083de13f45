"""What a script would do: JavaScript, Perl, Ruby, PHP, Lua, Groovy, R, Julia, Tcl, AppleScript.

The walk computes what is plainly known (texts, lists, decoders, the script's own functions) and tells what the script
would run, touch or send. Nothing is run. Both ways of a condition are walked; a loop is walked as long as its condition
is known, else once.
"""

from __future__ import annotations

from .script_limits import TOO_MUCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Found

_DIALECTS = {"deno": "node", "bun": "node", "javascript": "node", "typescript": "node"}


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str, stdin: str | None = None) -> Found:
    """What a script would do.

    ``labels``: where its text comes from; ``arguments``: ``$0``, ``$1`` … of it; ``stdin``: what it reads, if that is
    known.
    """
    from .plain_scripts import scan_plain  # languages with a grammar of their own

    special = scan_plain(text, labels, language)
    if special is not None:
        return special
    from .script_state import State

    state = State(_DIALECTS.get(language, language), labels, arguments, stdin)
    try:
        state.run(text)
        state.finish()
    except RecursionError:
        state.is_sure = False
        state.doubt(TOO_MUCH)
    state.found.output = state.output()
    return state.found
