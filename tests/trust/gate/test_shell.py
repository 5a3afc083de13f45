"""Shell commands: those that the gate is there for, and those that it must never be in the way of."""

from __future__ import annotations

import pytest

from tables import rows, tables

TABLES = tables(__file__)


@pytest.mark.parametrize("command", rows(TABLES["denied"]))
def test_a_command_cannot_decide_about_agents_or_write_what_does(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", rows(TABLES["allowed"]))
def test_honest_work_goes_through(guarded, command):
    assert not guarded.denies_command(command)


@pytest.mark.parametrize("command", TABLES["socket"].splitlines())
def test_nobody_takes_the_place_of_the_warm_process(guarded, command):
    serve = f"{guarded.home}/.local/state/agent-hooks/serve"
    assert guarded.denies_command(command.replace("SERVE", serve))
    assert not guarded.denies_command(command.replace("SERVE", "/tmp"))


@pytest.mark.parametrize("command", TABLES["in_folder"].splitlines())
def test_code_in_a_protected_folder_need_not_name_it(guarded, command):
    for folder in ("~/.config/agent-hooks/trust", "~/.config/agent-hooks", "~/.local/state/agent-hooks/serve"):
        (guarded.home / folder[2:]).mkdir(exist_ok=True)
        assert guarded.denies_command(command.replace("FOLDER", folder))
    assert not guarded.denies_command(command.replace("FOLDER", "~/.config"))


def test_code_in_a_protected_folder_may_read_it(guarded):
    assert not guarded.denies_command("cd ~/.config/agent-hooks && python3 -c 'print(open(\"abc\").read())'")


def test_code_is_judged_by_the_folder_in_which_it_is_called(guarded):
    code = """python3 -c 'open("abc", "w")'"""
    assert guarded.denies_command(f"cd ~/.claude && {code}")
    assert guarded.denies_command(code, cwd=str(guarded.home / ".config/agent-hooks/trust"))
    assert not guarded.denies_command(code, cwd=str(guarded.root / "src"))
