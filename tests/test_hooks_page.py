"""``docs/hooks.md`` holds every hook: its sentence, names, arguments and decisions, exactly as the code has them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent_hooks.engine import hookspecs
from agent_hooks.model.events import COMMON_CHANGES, HookEvent, find_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAGE = Path(__file__).parent.parent / "docs" / "hooks.md"
SPECS: dict[str, Callable[..., object]] = {
    name: value for name, value in vars(hookspecs).items() if hasattr(value, "agent_hooks_spec")
}


def sections() -> dict[str, str]:
    """What stands under each third-level heading of the page, by heading."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^### `(\w+)`\n+(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return {heading: body.strip() for heading, body in found}


def code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def as_documented(name: str) -> str:
    """The section that the page must have for the hookspec called ``name``."""
    spec = SPECS[name]
    arguments = inspect.signature(spec).parameters.values()
    lines = [inspect.getdoc(spec) or "", ""]
    event = find_event(name)
    if event is not None:
        lines.append(f"- Also called: {code(event.aliases)}")
    if arguments:
        lines.append(f"- Arguments: {code(f'{argument.name}: {argument.annotation}' for argument in arguments)}")
    if event is not None:
        lines.append(f"- Subject: {code([event.subject]) if event.subject else 'none'}")
        lines.append(f"- Decisions: {decisions(event)}")
        if event.changes:
            own = sorted(event.changes - COMMON_CHANGES - {event.subject})
            lines.append(
                f"- May bring: {code([*([event.subject] if event.subject else []), *own, *sorted(COMMON_CHANGES)])}"
            )
        lines.append(f"- A failed gate: {event.closed_means}")
        lines.append(f"- Matched by: {event.matched_by}")
    return "\n".join(lines).strip()


def decisions(event: HookEvent) -> str:
    if event.observe_only:
        return "none, it only observes"
    said = code(sorted(event.decisions)) or "none"
    if event.reads_deny_as:
        said += f"; `deny` reads as `{event.reads_deny_as}`"
    return said + ("; every hook is asked" if event.asks_all else "")


def test_the_page_has_a_section_for_every_hookspec_and_no_other():
    assert sorted(sections()) == sorted(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_a_hookspec_is_documented_as_it_is(name: str):
    assert sections().get(name) == as_documented(name)
