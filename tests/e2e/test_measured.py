"""The files `tests/wire/golden/*.measured.json`, recorded anew: what became of a call after a command's answer. The
stand-ins of `tests/wire` are put the same cases wherever the tests run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from e2e.session import Session

pytestmark = pytest.mark.e2e

GOLDEN = Path(__file__).parents[1] / "wire" / "golden"
FILES = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "qwen": "qwen"}
EVENTS = {"gemini": "BeforeTool"}
CASES = [(host, case) for host in FILES for case in json.loads((GOLDEN / f"{host}.measured.json").read_text())["cases"]]


@pytest.mark.parametrize(("host", "case"), CASES, ids=[f"{host}-{case['name']}" for host, case in CASES])
def test_the_client_does_what_the_file_says(host: str, case: dict[str, Any], session: Callable[[str], Session]):
    here = session(FILES[host])
    here.answer(EVENTS.get(host, "PreToolUse"), case["stdout"], case["stderr"], case["exit_code"])
    if host == "codex":  # its trust is for one command line
        here.client = here.client._replace(argv=(*here.client.argv, "--dangerously-bypass-hook-trust"))
    model = here.ask(["echo original > mark.txt"])
    assert model.requests, here.said
    mark = here.project / "mark.txt"
    assert case["effect"] == (f"ran_{mark.read_text().strip()}" if mark.exists() else "blocked"), here.said
