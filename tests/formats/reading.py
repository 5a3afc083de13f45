"""Compares what was read from a file with a case of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.model.values import plain
from engine import shell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks.formats.read_file import ReadFile


def check_case(file: ReadFile, case: Mapping[str, Any]) -> None:
    """Compare the facts of entries and findings that ``case`` names; an empty text stands for None.

    ``says`` of a finding is a part of its text. ``asked``: shell commands, with the answer of the entry's match
    and fields of the context.
    """
    if "settings" in case:
        assert plain(file.settings) == case["settings"]
    for found, expected in ((file.entries, case.get("entries", [])), (file.findings, case.get("findings", []))):
        assert len(found) == len(expected), found
        for item, facts in zip(found, expected, strict=True):
            assert {name: _fact(item, name, value) for name, value in facts.items()} == facts
    for command, answer, *fields in case.get("asked", []):
        (entry,) = file.entries
        ctx = shell(command, **{"cwd": "/repo", **(fields[0] if fields else {})})
        assert (entry.match is None or entry.match(ctx)) == answer


def _fact(item: object, name: str, expected: Any) -> Any:
    if name == "says":
        return expected if expected in str(item) else str(item)
    value = plain(getattr(item, name))
    return "" if value is None else value
