"""What moves the user's settings to another place takes none of the account's own gates away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.sources import files as sources
from agent_hooks.system import folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Done

    from .conftest import Victim

GATE = "echo 'not here' >&2; exit 2"


@pytest.fixture
def moved(victim: Victim) -> dict[str, dict[str, str]]:
    """The environments that lead to another folder of settings, by name."""
    other = victim.folder / "other"
    (other / ".config").mkdir(parents=True)
    return {
        "AGENT_HOOKS_CONFIG_DIR": {"AGENT_HOOKS_CONFIG_DIR": str(other / "settings")},
        "XDG_CONFIG_HOME": {"XDG_CONFIG_HOME": str(other / ".config")},
        "HOME": {"HOME": str(other)},
        "all": {"HOME": str(other), "XDG_CONFIG_HOME": str(other), "AGENT_HOOKS_CONFIG_DIR": str(other / "settings")},
    }


WAYS = pytest.mark.parametrize("way", ["AGENT_HOOKS_CONFIG_DIR", "XDG_CONFIG_HOME", "HOME", "all"])


def configure_other(victim: Victim, environment: dict[str, str], text: str) -> None:
    """Write the settings of the folder that the environment leads to."""
    other = victim.folder / "other"
    folder = other / "settings" if "AGENT_HOOKS_CONFIG_DIR" in environment else other / ".config" / "agent-hooks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent-hooks.toml").write_text(text)


def refuses(victim: Victim, *options: str, **environment: str) -> bool:
    done = asked(victim, *options, env=environment, cwd=victim.repo)
    return done.exit_code == 2 and "not here" in done.stderr


def asked(victim: Victim, *options: str, command: str = "make", **further: Any) -> Done:
    payload = {**victim._payload("PreToolUse", None, {}), "tool_input": {"command": command}}
    return victim.agent_hooks.answer("codex", payload, *options, **further)


def trust_gate(victim: Victim) -> None:
    victim.write("agent-hooks.toml", victim.table(GATE))
    victim.trust()


OWN: dict[str, Callable[[Victim], object]] = {
    "settings": lambda victim: victim.agent_hooks.configure(victim.table(GATE)),
    "claude_codes_settings": lambda victim: victim.write_own(".claude/settings.json", victim.hooks(GATE)),
    "trusted_project": trust_gate,
}


@WAYS
@pytest.mark.parametrize("own", OWN)
def test_a_gate_of_the_account_holds_wherever_the_environment_leads(victim: Victim, moved, way: str, own: str):
    OWN[own](victim)
    assert refuses(victim, **moved[way])
    assert refuses(victim, **moved[way], CLAUDE_CONFIG_DIR=str(victim.folder / "other"))


@WAYS
def test_a_gate_of_the_other_folder_holds_as_well(victim: Victim, moved, way: str):
    configure_other(victim, moved[way], victim.table(GATE))
    assert refuses(victim, **moved[way])
    victim.agent_hooks.configure(victim.table("exit 0"))
    assert refuses(victim, **moved[way])


BY_COMMAND = ["claude_settings = false", "policy.timeout = 0.001", "policy.shadow = true", "policy.allow_shell = false"]
BY_PLUGIN = ['disabled = ["house"]', "policy.on_gate_failure = 'open'", "policy.shadow = true", "disabled = 1"]


@pytest.mark.parametrize(
    ("loosening", "is_plugin"), [*((each, False) for each in BY_COMMAND), *((each, True) for each in BY_PLUGIN)]
)
def test_settings_of_the_other_folder_loosen_none_of_the_accounts(
    victim: Victim, moved, loosening: str, is_plugin: bool
):
    victim.agent_hooks.configure("disabled = []\n")
    if is_plugin:
        victim.install("@hookimpl\ndef before_tool_use(tool_call):\n    raise ValueError('not here')\n")
    else:
        victim.write_own(".claude/settings.json", victim.hooks(GATE))
    configure_other(victim, moved["HOME"], loosening)
    assert refuses(victim, **moved["HOME"])


def test_stricter_settings_of_the_other_folder_hold(victim: Victim, moved):
    victim.agent_hooks.configure("policy.on_gate_failure = 'open'\n")
    victim.install("@hookimpl\ndef before_tool_use(tool_call):\n    raise ValueError('not here')\n")
    assert not refuses(victim)
    configure_other(victim, moved["HOME"], "policy.on_gate_failure = 'closed'\n")
    assert refuses(victim, **moved["HOME"])


def test_a_folder_in_the_command_line_replaces_both(victim: Victim, moved):
    victim.agent_hooks.configure(victim.table(GATE))
    empty = victim.folder / "empty"
    assert not refuses(victim, "--config-dir", str(empty))
    assert not refuses(victim, "--config-dir", str(empty), **moved["all"])
    empty.mkdir()
    (empty / "agent-hooks.toml").write_text(victim.table(GATE))
    victim.agent_hooks.configure("")
    assert refuses(victim, "--config-dir", str(empty))


def test_a_folder_in_the_command_line_is_absolute(victim: Victim):
    done = asked(victim, "--config-dir", "settings")
    assert done.exit_code == 2
    assert "must be an absolute path, not 'settings'" in done.stderr


def test_without_an_entry_of_the_account_the_home_folder_counts(victim: Victim):
    script = victim.script.read_text()
    victim.script.write_text(script.replace("lambda uid: pwd.struct", "lambda uid: {}[uid] and pwd.struct"))
    victim.agent_hooks.configure(victim.table(GATE))
    assert refuses(victim)
    assert refuses(victim, AGENT_HOOKS_CONFIG_DIR=str(victim.folder / "other"))
    assert not refuses(victim, HOME=str(victim.folder / "other"))


def test_the_same_folder_by_another_name_is_read_once(victim: Victim):
    victim.agent_hooks.configure(victim.table("echo once >> ../once; exit 0"))
    link = victim.folder / "link"
    link.symlink_to(victim.home)
    asked(victim, env={"HOME": str(link)}, cwd=victim.repo)
    assert (victim.folder / "once").read_text() == "once\n"


@WAYS
def test_agents_do_not_write_the_accounts_settings_wherever_the_environment_leads(victim: Victim, moved, way: str):
    target = victim.agent_hooks.config / "agent-hooks.toml"
    assert asked(victim, command=f"echo > {target}", env=moved[way], cwd=victim.repo).denies


PROJECT_FILES = [".claude/settings.json", ".claude/settings.local.json"]


@pytest.mark.parametrize("path", PROJECT_FILES)
@pytest.mark.parametrize(
    "name",
    ["HOME", "XDG_CONFIG_HOME", "AGENT_HOOKS_CONFIG_DIR", "AGENT_HOOKS_DISABLE", "CLAUDE_CONFIG_DIR", "PYTHONPATH"],
)
def test_doctor_names_variables_of_project_files_that_lead_elsewhere(victim: Victim, path: str, name: str):
    victim.write(path, {"env": {name: "/tmp/elsewhere", "DEBUG": "1"}})
    done = victim.command("doctor")
    assert done.exit_code == 1
    assert name in done.said
    assert path in done.said
    assert "DEBUG" not in done.said


def test_doctor_is_content_with_other_variables_of_project_files(victim: Victim):
    victim.write(PROJECT_FILES[0], {"env": {"NODE_ENV": "test", "PYTHONUNBUFFERED": "1"}})
    assert victim.command("doctor").exit_code == 0


@pytest.mark.parametrize("written", ["~/.config/agent-hooks", "{folder}/pinned"])
def test_the_machine_pins_the_users_folder(victim: Victim, monkeypatch: pytest.MonkeyPatch, written: str):
    managed = victim.folder / "managed"
    managed.mkdir()
    (managed / "agent-hooks.toml").write_text(f"config_dir = '{written.format(folder=victim.folder)}'\n")
    monkeypatch.setattr(sources, "managed_dir", lambda: str(managed))
    monkeypatch.setattr(sources, "_other_writer", lambda _: "")
    monkeypatch.setattr(sources, "account_home", lambda: str(victim.home))
    monkeypatch.setattr(folders, "_chosen", ())
    folder = victim.home / ".config/agent-hooks" if written[0] == "~" else victim.folder / "pinned"
    folder.mkdir(parents=True)
    (folder / "agent-hooks.toml").write_text(victim.table(GATE))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(victim.folder / "other"))
    folders.choose_config_dir(str(victim.folder / "other"))
    assert victim.asked().reason == "not here"


@pytest.mark.parametrize("source", ["user", "project"])
def test_only_the_machine_pins_the_users_folder(victim: Victim, source: str):
    text = "config_dir = '/tmp/elsewhere'\n" + victim.table(GATE)
    if source == "user":
        victim.agent_hooks.configure(text)
    else:
        victim.write("agent-hooks.toml", text)
        victim.trust()
    assert refuses(victim)
    assert "config_dir" in victim.command("doctor").said
