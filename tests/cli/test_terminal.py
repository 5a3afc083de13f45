"""Text from events on a terminal: nothing in it is obeyed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.cli.terminal import shortened
from agent_hooks.system.visible import visible

UNTRUSTED = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e\u200b[bold red]x[/]"
anything = st.text(alphabet=st.characters(codec=None, categories=None))


@given(anything, st.integers(3, 40))
def test_a_shortened_text_fits_and_says_that_it_was_cut(text, width):
    shown = shortened(text, width)
    assert len(shown) <= width
    assert shown == visible(" ".join(text.split())) or shown.endswith("...")


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_check_escapes_what_it_shows(command, arguments):
    command.install("""
        @hookimpl
        def before_tool_use(tool_call):
            return HookOutcome.deny("refused " + tool_call.command)
    """)
    done = command("check", "before_tool_use", "--tool", "Bash", "--arg", f"command={UNTRUSTED}", *arguments)
    assert done.exit_code == 1
    assert "\\x1b[2J" in done.stdout or "\\u001b[2J" in done.stdout
    assert "[bold red]x[/]" in done.stdout
    assert all(c.isprintable() or c == "\n" for c in done.stdout)


def test_plugins_escapes_what_a_broken_plugin_says(command):
    command.install(f"raise RuntimeError({UNTRUSTED!r})")
    done = command("plugins")
    assert "[bold red]x[/]" in done.stdout
    assert all(c.isprintable() or c == "\n" for c in done.stdout)
