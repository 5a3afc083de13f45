"""Text from events on a terminal: nothing in it is obeyed."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
import termios
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.cli.terminal import shortened
from agent_hooks.system.visible import visible
from projects import HOOKCONF, settings

UNTRUSTED = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e\u200b[bold red]x[/]"
CHECK = "check before_tool_use --tool Bash --arg command=x"
LISTINGS = ("plugins", "plugins --settings", "events", CHECK, "doctor", "trust --show")
# Each listing, with a line after it.
LOOP = f"""
for words in {LISTINGS}:
    sys.argv[1:] = words.split()
    try:
        main()
    except SystemExit:
        print("-" * 50, flush=True)
"""
HOUSE = """
    @hookimpl(specname="before_tool_use", match="shell", priority=200)
    def a_long_name_for_the_narrow(tool_call):
        return HookOutcome.deny("It is " + "never " * 30 + "right.")

    def settings():
        from pydantic import BaseModel
        class House(BaseModel):
            folders_that_nobody_writes: list[str]
        return House

    @hookimpl
    def agent_hooks_settings():
        return {"house": settings}
"""
anything = st.text(alphabet=st.characters(codec=None, categories=None))


@given(anything, st.integers(3, 40))
def test_a_shortened_text_fits_and_says_that_it_was_cut(text, width):
    shown = shortened(text, width)
    assert len(shown) <= width
    assert shown == visible(" ".join(text.split())) or shown.endswith("...")


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_check_escapes_what_it_shows(command, arguments):
    command.hook("before_tool_use(tool_call)", 'HookOutcome.deny("refused " + tool_call.command)')
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


@pytest.fixture
def listed(command, project):
    """Return a function that returns the text of each listing, in a terminal of so many columns or in a pipe."""
    command.install(HOUSE)
    command.configure(f"[house]\nfolders_that_nobody_writes = {['src', 'docs', 'tests', 'examples', 'plugins'] * 3}")
    project.write({".claude/settings.json": settings("Stop", "sh x.sh " + "word " * 30), "hookconf.py": HOOKCONF})
    program = command.script.read_text().replace("__file__", repr(str(command.script)))
    words = [sys.executable, "-c", program.replace("sys.exit(main())", LOOP)]
    environment = {**command.environment, "TERM": "xterm", "NO_COLOR": "1"}

    def run(columns=0):
        ours, theirs = pty.openpty() if columns else os.pipe()
        if columns:
            termios.tcsetwinsize(theirs, (24, columns))
        process = subprocess.Popen(words, env=environment, cwd=project.root, stdin=subprocess.DEVNULL, stdout=theirs)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # Linux says so at the end of a terminal
            while data := os.read(ours, 65536):
                text += data
        os.close(ours)
        assert process.wait(30) == 0
        shown = re.sub(r"\x1b\[\d*m|[\d.]+ ms", "", text.decode().replace("\r\n", "\n"))
        return dict(zip(LISTINGS, shown.split("-" * 50 + "\n"), strict=False))

    return run


def test_listings_break_no_word_in_a_terminal_and_no_record_in_a_pipe(listed, command, project):
    def words(text):
        short_of = {f"{command.site}/": "site-packages/", f"{project.root}/": "", f"{command.home}/": "~/", ":": ""}
        for long, short in short_of.items():
            text = text.replace(long, short)
        return Counter(text.split())

    piped = listed()
    name = "house.a_long_name_for_the_narrow"
    record = ["before_tool_use", "200", "transform", "shell", name]
    assert piped["plugins"].splitlines()[-1] == "\t".join([*record, f"{command.site}/house_rules.py:3"])
    record.append("site-packages/house_rules.py:3")
    for columns in (60, 80, 120):
        shown = listed(columns)
        for listing in LISTINGS:
            wide = [line.strip() for line in shown[listing].splitlines() if len(line) > columns]
            assert [line for line in wide if " " in line] == []
            assert words(piped[listing]) - words(shown[listing]) == {}
        lines = [line.split() for line in shown["plugins"].splitlines()]
        below = {60: 2, 80: 1, 120: 0}[columns]
        stacked = [["hook:", name], ["where:", record[-1]]][2 - below :]
        assert lines[-1 - below :] == [record[: 6 - below], *stacked]
