"""Python code: the processes it starts, its files and its network, found by walking its syntax tree."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import Found

# Code without any of these only computes, and prints nothing.
_LEADS_OUT = re.compile(r"import|open|exec|eval|print|input|__|file|getattr|[^\x00-\x7f]")


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Return the effects of Python code.

    ``labels``: its origin. ``arguments``: ``sys.argv``. ``stdin``: its standard input, if known. ``variables``: the
    known variables of the environment. Code with conditions that are not known is walked twice: a name that branches
    assign has the value of the first branch in one pass, and of the last branch in the other.
    """
    del language
    if _LEADS_OUT.search(text) is None:
        return Found()
    from .python_state import TABLE, TooMuchError, parse
    from .python_walk import Walk

    tree = parse(text)
    is_harmful = re.search(rf"\b(?:{'|'.join(TABLE.harmful)})", text) is not None
    if tree is None:
        return Found(doubts=["it is no Python that can be read"] if is_harmful else [])
    walk = Walk(arguments, labels, stdin, variables or {})
    output = walk.found.output
    try:
        walk.run(tree)
        output = walk.output()
        if walk.has_choice:
            walk.restart()
            walk.run(tree)
            output = output if walk.output() == output else Data(UNKNOWN, output.labels | walk.output().labels)
    except (TooMuchError, RecursionError, MemoryError):
        output = Data(UNKNOWN, walk.output().labels)
        if is_harmful:
            walk.found.doubts.append("the code does more than is looked at")
    walk.found.output = output
    return walk.found
