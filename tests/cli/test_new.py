"""``agent-hooks new plugin``: files that work, under no name that is taken, and never in place of others."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from itertools import chain, combinations
from pathlib import Path

import pytest

from agent_hooks.cli.commands import commands
from agent_hooks.cli.new import PARTS, make_plugin
from agent_hooks.testing import check_plugin
from commands import Command
from run_page import read_blocks

PAGE = Path(__file__).parent.parent.parent / "docs" / "writing-a-plugin.md"
VARIANTS = [*chain.from_iterable(combinations(PARTS, size) for size in range(len(PARTS) + 1))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(name: str, *parts: str) -> int:
    return make_plugin(name, parts=parts, commands=commands.commands)


def texts(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


@pytest.mark.parametrize("parts", VARIANTS, ids="+".join)
def test_each_plugin_has_its_files_and_hooks_without_mistakes(folder, monkeypatch, parts):
    assert make("a-rule", *parts) == 0
    files = texts(folder / "a-rule")
    modules = {Path(path).stem for path in files if path.startswith("src/") and path.endswith(".py")}
    assert modules == {"__init__", *parts}
    assert ("tests/conftest.py" in files) == bool({*parts} & {"settings", "handler"})
    assert {".gitignore", "README.md", "pyproject.toml", "src/a_rule/py.typed", "tests/test_a_rule.py"} < {*files}
    assert not [path for path, text in files.items() if "no-frobs" in text or "no_frobs" in text or "end -->" in text]
    for path, text in files.items():
        if path.endswith(".py"):
            compile(text, path, "exec")
    monkeypatch.syspath_prepend(folder / "a-rule" / "src")
    try:
        plugin = import_module("a_rule")
        check_plugin(plugin)
        assert ("agent_hooks_commands" in vars(plugin)) == ("command" in parts)
        assert ("agent_hooks_handler_types" in vars(plugin)) == ("handler" in parts)
        assert ("agent_hooks_settings" in vars(plugin)) == ("settings" in parts)
    finally:
        for module in [name for name in sys.modules if name.partition(".")[0] == "a_rule"]:
            del sys.modules[module]


def test_the_command_says_what_it_wrote_and_what_to_type_next(tmp_path):
    command = Command(tmp_path)
    made = command("new", "plugin", "a_rule", "--with", "settings,command,handler")
    lines = made.stdout.splitlines()
    written = [line.strip() for line in lines[1 : lines.index("It has one rule: agents do not run frob. Type next:")]]
    assert (made.exit_code, {*written}) == (0, {f"a_rule/{path}" for path in texts(tmp_path / "a_rule")})
    assert lines[len(written) + 2] == "  cd a_rule"
    assert max(map(len, lines)) <= 80

    again = command("new", "plugin", "a_rule")
    assert (again.exit_code, again.said) == (1, "agent-hooks: a_rule is there already, and stays as it is.\n")
    wrong = command("new", "plugin", "another", "--with", "comand")
    assert (wrong.exit_code, wrong.stderr.splitlines()[-1]) == (
        2,
        "Error: --with knows no 'comand': it takes settings, command, handler.",
    )
    assert not (tmp_path / "another").exists()


def test_lines_with_the_longest_name_fit_88_columns(folder):
    assert make("n" * 40, *PARTS) == 0
    lines = [line for path, text in texts(folder).items() if path.endswith(".py") for line in text.splitlines()]
    assert max(map(len, lines)) <= 88


@pytest.mark.parametrize(
    "name",
    [
        *("", "No-Frobs", "no--frobs", "no-frobs-", "1st", "a.b", "../a", "a/b", "a b", "ä", "a\n", "a" * 41),
        # A word of Python, modules of its library, of ours and of what these need, a command and a key of ours.
        *("class", "json", "agent-hooks", "agent_hooks_core", "pydantic-core", "check", "telemetry"),
    ],
)
def test_a_name_that_is_none_or_is_taken_is_refused_in_one_sentence(folder, capsys, name):
    assert make(name) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("agent-hooks: ")
    assert error.count("\n") == error.count(". ") + 1 == error.count(".\n") == 1
    assert os.listdir(folder) == []


def test_the_name_of_an_installed_plugin_is_refused(tmp_path):
    command = Command(tmp_path)
    command.install("", "house")
    said = command("new", "plugin", "house").said
    assert said == "agent-hooks: 'house' is taken by the plugin house, which is installed: choose another name.\n"
    assert not (tmp_path / "house").exists()


def test_a_file_that_cannot_be_written_leaves_nothing_behind(folder, capsys, monkeypatch):
    def full(path: str, **_options: object) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr("agent_hooks.cli.new.os.makedirs", full)
    assert make("a-rule") == 1
    assert capsys.readouterr().err.endswith("cannot be written: No space left on device.\n")
    assert os.listdir(folder) == []


def test_the_page_shows_the_files_as_they_are_written(folder):
    blocks = read_blocks(PAGE.name, PAGE.read_text(encoding="utf-8"))
    shown = [(block.file, block.code) for block in blocks if block.file]
    written = []
    for number, parts in enumerate([(), ("settings",), tuple(PARTS)]):
        assert make("no-frobs", *parts) == 0
        written.append(texts(folder / "no-frobs"))
        (folder / "no-frobs").rename(folder / str(number))
    plain, with_settings, full = written
    first = dict(reversed(shown))
    assert {path: first.get(path, "") for path in plain} == plain
    expected = ({plain.get(path), with_settings.get(path, full[path])} for path, _ in shown)
    assert [path for (path, text), right in zip(shown, expected, strict=True) if text not in right] == []
    assert {path for path, _ in shown} | {"src/no_frobs/py.typed"} == {*full}
    excerpts = [block.code for block in blocks if not block.file and block.language != "console"]
    assert [each for each in excerpts if not any(each in text for text in full.values())] == []
