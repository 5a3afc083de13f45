"""``docs/lifecycle.svg`` is what the table of events says, and it and its page show what the runtime does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import agent_hooks.runtime
from agent_hooks import AgentBuilder, HookEvent, HookOutcome, HookTriggers, ScriptedDriver, ToolCall
from pages import DOCS, script

SVG = "{http://www.w3.org/2000/svg}"


def boxes() -> dict[str, list[str]]:
    """The texts in each box of the picture, by event, from top to bottom of the file."""
    root = ET.parse(DOCS / "lifecycle.svg").getroot()
    return {group.attrib["id"]: [line.text or "" for line in group.iter(f"{SVG}text")] for group in root.iter(f"{SVG}g")
            if "id" in group.attrib}  # fmt: skip


def heard(*replies: Any, **hooks: Any) -> list[str]:
    """The events that observers hear of in one run, in order."""

    def add(a: int, b: int) -> int:
        return a + b

    events: list[str] = []
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(add)
    for event, hook in hooks.items():
        builder = builder.hook(event, hook)
    observed = builder.hook(HookTriggers.all(), lambda ctx: events.append(str(ctx.event)), mode="observe")
    observed.build().run_sync("Add.")
    return events


def test_the_picture_is_the_one_that_the_code_draws_now():
    drawn = script("lifecycle_svg").picture()
    stored = (DOCS / "lifecycle.svg").read_text(encoding="utf-8")
    assert drawn == stored, "Draw it again: python docs/lifecycle_svg.py"


def test_a_plain_run_goes_through_the_picture_from_top_to_bottom():
    first_seen = dict.fromkeys(heard(ToolCall("add", {"a": 1, "b": 2}), "It is 3."))
    down_the_middle = [name for name in script("lifecycle_svg").MAIN if "_" in name]
    assert list(first_seen) == down_the_middle


def test_the_picture_has_every_event_that_the_runtime_fires():
    """A run that fails, asks and is sent on meets them all. What else the runtime's source names is around a run, and
    the pages of sessions and subagents tell of it.
    """
    met = heard(
        ToolCall("add", {"a": "no number"}),
        OSError("no network"),
        before_tool_use=lambda ctx: HookOutcome.ask("Really?"),
        permission_request=lambda ctx: HookOutcome.allow(),
    )
    finished = heard("Done.")
    source = "".join(path.read_text(encoding="utf-8") for path in Path(agent_hooks.runtime.__path__[0]).glob("*.py"))
    named = {str(getattr(HookEvent, name)) for name in re.findall(r"HookEvent\.([A-Z]+_[A-Z_]+)\b", source)}
    assert set(met) | set(finished) == set(boxes())
    around = "".join((DOCS / page).read_text(encoding="utf-8") for page in ("sessions.md", "subagents.md"))
    assert {name for name in named - set(boxes()) if f"`{name}`" not in around} == set()


@pytest.mark.parametrize("name", boxes())
def test_a_box_says_what_its_event_says(name: str):
    event = HookEvent.parse(name)
    title, kind, decides, changes = boxes()[name]
    words = decides.replace(",", "").removeprefix("decides ").split()
    assert title == event
    assert kind in ("may refuse", "may change", "only observed")
    assert set(words) - {"or", "nothing"} == event.decisions | ({"deny"} if event.reads_deny_as else set())
    assert (kind == "only observed") == event.observe_only
    assert event.subject is None or event.subject in changes


def test_the_page_shows_the_picture_and_names_each_event_in_it():
    page = (DOCS / "lifecycle.md").read_text(encoding="utf-8")
    assert "](lifecycle.svg)" in page
    assert [name for name in boxes() if f"`{name}`" not in page] == []
