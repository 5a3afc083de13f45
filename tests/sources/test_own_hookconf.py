"""``hookconf.py`` of the user and of the machine's owner: live for every event, without trust, and of their rank."""

from __future__ import annotations

import os

import pytest

from agent_hooks import HookContext, HookManager, ToolCall, load
from agent_hooks.sources import files as sources
from agent_hooks.sources.precedence import stricter
from projects import HOOKCONF, Project, toml
from tables import tables

TABLES = tables(__file__)

WHOLE = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(priority=9)
def before_tool_use(tool_call):
    if tool_call.command == "make":
        return HookOutcome.update(tool_args={"command": "make -n"})

@hookimpl(specname="before_tool_use", priority=5)
def allowed(tool_call):
    return HookOutcome.allow()

@hookimpl(specname="before_tool_use")
def asking(tool_call):
    return HookOutcome.ask("May it?")
"""


@pytest.fixture(autouse=True)
def _directory_without_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """The machine's folder, as if it were root's alone."""
    monkeypatch.setattr(sources, "_other_writer", lambda *_: "")
    (tmp_path / "managed").mkdir()
    return tmp_path / "managed"


def ask(manager: HookManager, command: str = "ls", tool: str = "Bash", cwd: str = "/", **args):
    call = ToolCall(tool, args or {"command": command})
    return manager.hooks().dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd=cwd))


def test_the_users_is_live_everywhere_and_may_rewrite_and_allow(config):
    (config / "hookconf.py").write_text(WHOLE)
    manager = load(plugins=())
    assert manager.findings == []
    outcome = ask(manager, "make", cwd="/somewhere/else")
    assert (outcome.decision, dict(outcome.tool_args)) == ("allow", {"command": "make -n"})
    hooks = [hook for hook in manager.describe("before_tool_use") if hook.name != "agent_hooks.protection"]
    assert {(hook.source, hook.scope, hook.plugin) for hook in hooks} == {("user", None, str(config / "hookconf.py"))}


def test_the_machines_ranks_as_managed_and_only_its_own_file_goes_on_without_it(config, machine):
    path = machine / "hookconf.py"
    path.write_text(HOOKCONF.format(reason="the machine says no"))
    (config / "hookconf.py").write_text(WHOLE)
    (config / "agent-hooks.toml").write_text(f"disabled = ['{path}']\n")
    manager = load(plugins=())
    assert {hook.source for hook in manager.describe() if hook.plugin == str(path)} == {"managed"}
    assert ask(manager).reason == "the machine says no"
    (machine / "agent-hooks.toml").write_text(f"disabled = ['{path}']\n")
    assert ask(load(plugins=())).decision == "allow"


def test_its_hooks_are_registered_after_the_settings_beside_it_and_before_a_projects(config, tmp_path):
    project = Project(tmp_path)
    project.write({"hookconf.py": HOOKCONF, "agent-hooks.toml": toml(["true"])}).trust()
    (config / "agent-hooks.toml").write_text(toml(["true"]))
    (config / "hookconf.py").write_text(HOOKCONF)
    hooks = [hook for hook in load(project.root, plugins=()).describe("before_tool_use") if hook.source != "managed"]
    places = [config / "agent-hooks.toml", config / "hookconf.py", project.at("agent-hooks.toml")]
    assert [hook.plugin for hook in hooks] == [*map(str, places), project.at("hookconf.py")]


def test_modules_that_it_names_are_plugins_of_their_own(config):
    (config / "hookconf.py").write_text('agent_hooks_plugins = ["rules.shell", "rules.lost"]\n')
    (config / "rules").mkdir()
    (config / "rules" / "shell.py").write_text(HOOKCONF.format(reason="inner"))
    manager = load(plugins=())
    assert f"{config / 'hookconf.py'}:rules/shell.py" in {hook.plugin for hook in manager.describe()}
    (finding,) = manager.findings
    assert finding.message.endswith(f"'rules.lost', but there is no {config / 'rules' / 'lost.py'}.")
    assert ask(manager).blocks


@pytest.mark.parametrize(
    ("code", "line", "problem"),
    [
        ("from agent_hooks import hookimpl\n\n1 / 0\n", 3, "ZeroDivisionError"),
        ("def f(:\n", 1, "SyntaxError"),
        ("from agent_hooks import hookimpl\n@hookimpl\ndef before_tool_usee(): ...\n", 2, "before_tool_use"),
    ],
)
def test_a_broken_one_denies_and_names_line_and_remedy(config, code, line, problem):
    path = config / "hookconf.py"
    path.write_text(code)
    manager = load(plugins=())
    (finding,) = manager.findings
    assert (finding.path, finding.line) == (str(path), line)
    assert problem in finding.message
    assert finding.remedy == f"Repair it, or go on without it: disabled = ['{path}'] in your own agent-hooks.toml."
    outcome = ask(manager)
    assert outcome.blocks
    assert f"{path}:{line}" in outcome.reason
    (config / "agent-hooks.toml").write_text(f"disabled = ['{path}']\n")
    assert not ask(load(plugins=())).blocks


def test_a_list_of_modules_that_is_not_written_out_denies(config):
    (config / "hookconf.py").write_text("agent_hooks_plugins = [*()]\n")
    manager = load(plugins=())
    assert ask(manager).blocks
    assert "must be one list of names" in manager.findings[0].message


# -- whose it is -------------------------------------------------------------------------------------------------------


def of_the_file(config):
    return config / "hookconf.py"


def of_its_folder(config):
    return config


def of_the_folder_above(config):
    return config.parent


def of_the_folder_with_the_link_to_it(config):
    links = config.parent / "links"
    links.mkdir()
    config.rename(config.parent / "dotfiles")
    (links / "config").symlink_to(config.parent / "dotfiles")
    config.symlink_to(links / "config")
    return links


@pytest.mark.skipif(os.name == "nt", reason="it has no such permissions")
@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("choose", [of_the_file, of_its_folder, of_the_folder_above, of_the_folder_with_the_link_to_it])
def test_one_that_others_could_change_is_not_run_and_denies_with_the_remedy(config, choose, mode):
    marker = config.parent / "has_run"
    (config / "hookconf.py").write_text(f"__import__('os').mkdir({str(marker)!r})\n")
    place = choose(config)
    os.chown(place, -1, 5) if os.geteuid() == 0 else None  # a group of root is root's
    place.chmod(place.stat().st_mode | mode)
    manager = load(plugins=())
    (finding,) = manager.findings
    assert finding.path == str(config / "hookconf.py")
    assert f"somebody else can change {place}" in finding.message
    assert finding.remedy == f"Look at it, then type: chmod go-w {place}."
    assert finding.remedy in ask(manager).reason
    assert not marker.exists()
    place.chmod(place.stat().st_mode & ~0o022)
    assert load(plugins=()).findings == []
    assert marker.exists()


@pytest.mark.skipif(os.name == "nt", reason="it has no such permissions")
def test_one_of_another_account_is_not_run(config, monkeypatch):
    path = config / "hookconf.py"
    path.write_text("1 / 0\n")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1000)
    if path.stat().st_uid == 0:  # root's own count for everybody
        os.chown(path, 2000, -1)
    (finding,) = load(plugins=()).findings
    assert "somebody else can change" in finding.message
    assert f"sudo chown -h {os.geteuid()} " in finding.remedy


def test_that_of_a_folder_from_the_environment_only_tightens_where_the_account_has_its_own(config, tmp_path):
    (config / "hookconf.py").write_text(WHOLE)
    moved = [*sources.HookconfSource("user", str(config)).load()]
    assert [file.source for files in stricter([moved, []]) for file in files] == ["user"]
    assert [file.source for files in stricter([moved, moved]) for file in files] == ["project", "user"]


# -- agents ------------------------------------------------------------------------------------------------------------

WRITES = TABLES["writes"]


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("exists", [False, True])
def test_an_agent_can_neither_create_nor_write_it(config, machine, tmp_path, monkeypatch, way, exists):
    monkeypatch.setattr("agent_hooks.system.folders.managed_dir", lambda: str(machine))
    if exists or "link" in way:
        (tmp_path / "dotfiles").mkdir()
        (tmp_path / "dotfiles" / "rules.py").write_text("x = 1\n")
        (config / "hookconf.py").symlink_to(tmp_path / "dotfiles" / "rules.py")
    else:
        config.rmdir()
        machine.rmdir()
    tool, args = WRITES[way]
    named = {key: value.format(config=config, machine=machine, folder=tmp_path) for key, value in args.items()}
    outcome = ask(load(plugins=()), tool=tool, **named)
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")
