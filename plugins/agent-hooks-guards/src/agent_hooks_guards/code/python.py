"""Python code: the processes it starts, its files, its network, read from its tree without running it."""

from __future__ import annotations

import re

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.values import Data

# Code without any of these only computes, and prints nothing.
_LEADS_OUT = re.compile(r"import|open|exec|eval|print|input|__|file|globals|locals|vars|getattr|[^\x00-\x7f]")


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Return what Python code would do.

    ``labels``: where it comes from. ``arguments``: ``sys.argv``. ``stdin``: its input, if that is known. ``variables``:
    the known variables of the environment.
    """
    del language
    if _LEADS_OUT.search(text) is None:
        return Found()
    from .python_expressions import parse
    from .python_findings import TooMuchError
    from .python_names import TABLE
    from .python_walk import Walk

    tree = parse(text)
    is_harmful = re.search(rf"\b(?:{'|'.join(TABLE.harmful)})", text) is not None
    if tree is None:
        return Found(doubts=["it is no Python that can be read"] if is_harmful else [])
    walk = Walk(arguments, labels, stdin, variables or {})
    walk.has_choices = "else" in text
    try:
        walk.run(tree)
    except (TooMuchError, RecursionError, MemoryError):
        walk.may_print()
        if is_harmful:
            walk.found.doubts.append("the code does more than is looked at")
    walk.found.output = walk.output()
    return walk.found
