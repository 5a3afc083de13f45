"""Interprets the declarations of programs that touch files and hosts."""

from __future__ import annotations

from agent_hooks_guards.model.declarations import TOUCHES
from agent_hooks_guards.model.values import NO_LABELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.declarations import Entry

    from .noting import Noting

_ALWAYS = "always"


def touch(noting: Noting, entry: Entry) -> None:
    """Note the effects that the declaration ``entry`` lists."""
    options = noting.options
    recursive = _applies(noting, entry.get("recursive", ""))
    append = _applies(noting, entry.get("append", ""))
    operands = options.operands
    if "pattern" in entry:
        if operands and not noting.command.argv[operands[0]]:  # BSD: `sed -i '' script file`
            operands = operands[1:]
        if not options.has(entry["pattern"]):
            operands = operands[1:]
    writes = "in_place" in entry and options.has(entry["in_place"])
    reads = "looks" in entry and options.has(entry["looks"])
    for key, kind in TOUCHES.items():
        for selector in entry.get(key, "").split():
            # What is written comes from the input, as far as a declaration knows.
            if selector[0] == "-":
                for value, _ in options.values(selector):
                    noting.file(kind, value, labels=noting.input_labels if kind == "write" else NO_LABELS)
                continue
            kind = "read" if reads else "write" if writes else kind
            labels = noting.input_labels if kind == "write" else NO_LABELS
            for at in select(selector, operands):
                noting.file(kind, noting.command.argv[at], recursive=recursive, append=append, labels=labels)


def _applies(noting: Noting, options: str) -> bool:
    return options == _ALWAYS or (bool(options) and noting.options.has(options))


def select(selector: str, operands: list[int]) -> list[int]:
    """Return those of ``operands`` that a selector names."""
    if selector == "*":
        return operands
    if selector[-1] == "+":
        return operands[int(selector[:-1]) - 1 :]
    return operands[int(selector) - 1 : int(selector)]
