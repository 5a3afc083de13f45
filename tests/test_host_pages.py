"""The page of each host: its table of events is that of the code, and it says what becomes of every outcome."""

from __future__ import annotations

import pytest

from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.wire import HOSTS
from pages import DOCS, script, tables

EVENTS = script("host_events")
PAGES: dict[str, str] = EVENTS.PAGES
OUTCOMES = {"deny", "ask", "context", "stop", "force continue", "suspend", "a refused prompt", "a refused subagent"}
each_host = pytest.mark.parametrize("host", PAGES)


def test_each_host_has_a_page_that_the_overview_and_the_index_link():
    assert PAGES.keys() == WIRINGS.keys()
    for page in PAGES.values():
        assert all(f"]({page})" in (DOCS / name).read_text("utf-8") for name in ("coding-agents.md", "index.md"))


@each_host
def test_every_page_has_the_same_sections(host):
    headings = [line[3:] for line in (DOCS / PAGES[host]).read_text("utf-8").splitlines() if line.startswith("## ")]
    assert headings == ["Install", "Outcomes", "Events", "Closed and open", "Quirks"]


@each_host
def test_the_events_are_those_of_the_code(host):
    """`python docs/host_events.py` writes them."""
    assert (DOCS / PAGES[host]).read_text("utf-8") == EVENTS.updated(host)


@each_host
def test_every_outcome_has_its_row(host):
    rows = [row[0] for row in tables(PAGES[host])["Outcomes"]]
    assert {*rows} >= OUTCOMES
    assert any(row.startswith("new arguments") for row in rows)
    assert "a new or withheld result" in rows


@each_host
def test_the_outcomes_of_a_tool_call_are_those_of_the_code(host):
    cells = dict(tables(PAGES[host])["Outcomes"])
    rows = HOSTS[host].rows
    takes = next(row.takes for name in ("PreToolUse", "preToolUse", "BeforeTool") if (row := rows.get(name)))
    arguments = next(cell for outcome, cell in cells.items() if outcome.startswith("new arguments"))
    assert ("own prompt" in cells["ask"]) == ("ask" in takes)
    assert arguments.startswith("the call runs with them") == (not takes.isdisjoint(("rewrite", "args")))
    assert ("the run ends" in cells["stop"]) == ("stop" in takes)
