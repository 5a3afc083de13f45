"""Text that is shown on a terminal: nothing in it is obeyed, and nothing hidden."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent_hooks
from agent_hooks.system.visible import logger_of, visible, without_controls

pytestmark = pytest.mark.interpreter


@given(st.text(alphabet=st.characters(codec=None, categories=None)))
def test_no_character_that_steers_a_terminal_is_left(text):
    seen = visible(text)
    assert seen.isprintable()
    assert {unicodedata.category(c) for c in seen}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@pytest.mark.parametrize("text", ["plain", "ö and 漢字", "a|b [c]", ""])
def test_what_can_be_seen_stays_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    "text", ["\x1b]0;title\x07", "\u202e", "\udcff", "\n", "\x7f", "\ufeff", "\u2028", "\ufe0f", "\u3164", "\u2800"]
)
def test_what_cannot_be_seen_is_an_escape(text):
    assert visible(text).isascii()
    assert visible(text).isprintable()


def test_what_is_to_stay_stays():
    assert visible("a\tb\n", keep="\t") == "a\tb\\n"


HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\xad\u115f\u3164\ufe0f\u2800"


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_reason_shows_what_is_invisible(hidden):
    assert without_controls(f"rm hook{hidden}conf.py") == f"rm hook{visible(hidden)}conf.py"


@pytest.mark.parametrize(
    "text",
    [
        *("a\n\tb", "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "Halt\xa0!", "止まれ\u3000"),
        *("⚠\ufe0f 👩\u200d💻 ❤\ufe0f\u200d🔥", "\u0915\u094d\u200d\u0937"),
    ],
)
def test_a_reason_keeps_lines_and_what_scripts_need(text):
    assert without_controls(text) == text


@pytest.mark.parametrize("name", ["agent_hooks", "agent_hooks.runtime", "agent_hooks.trace"])
def test_no_line_of_the_log_can_be_forged(caplog, name):
    caplog.set_level("DEBUG", name)
    for _ in range(2):
        logger_of(name).warning("%s failed: %d\nat %s", "/a\x1b[2J\nagent-hooks: trusted\u3164", 3, "/b")
        assert caplog.messages.pop() == "/a\\x1b[2J\n  agent-hooks: trusted\\u3164 failed: 3\n  at /b"
    assert len(logger_of(name).filters) == 1
    with pytest.raises(ValueError, match="gone") as raised:
        raise ValueError("/a\x1b[2J\nagent-hooks: trusted is gone")
    logger_of(name).warning("it failed", exc_info=raised.value)
    assert "\n  ValueError: /a\\x1b[2J\n  agent-hooks: trusted is gone" in caplog.text
    assert "\x1b" not in caplog.text


def test_all_our_loggers_are_made_there():
    root = Path(agent_hooks.__file__).parent
    used = [path.name for path in root.rglob("*.py") if re.search(r"\bgetLogger\(", path.read_text(encoding="utf-8"))]
    assert used == ["visible.py"]
