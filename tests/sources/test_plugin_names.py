"""Plugins that files name: those that are required, switched off, kept by the machine's file, or nowhere."""

from __future__ import annotations

import pytest

from agent_hooks import HookConfigLoader, HookContext, HookManager, PluginInfo, ToolCall
from agent_hooks.sources import files
from agent_hooks.sources.plugin_problems import plugin_problems
from engine import Plugin
from projects import own_folders
from tables import tables

TABLES = tables(__file__)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folders of the user's and the machine's file, and one installed plugin, ``house``."""
    own_folders(monkeypatch, tmp_path)
    monkeypatch.setattr(files, "_other_writer", lambda *_: "")
    monkeypatch.setattr(files, "config_dirs", lambda: (str(tmp_path / "user"),))
    points = [(PluginInfo(name="house", distribution="house", entry_point="house"), Plugin)]
    monkeypatch.setattr("agent_hooks.engine.installed.found_points", lambda: points)
    monkeypatch.chdir(tmp_path)
    for name in ("managed", "user"):
        (tmp_path / name).mkdir()
    return tmp_path


def load(folders, managed="", user="", **options):
    """What is found about the names, and the status of the plugin."""
    for name, text in (("managed", managed), ("user", user)):
        (folders / name / "agent-hooks.toml").write_text(text)
    loader = HookConfigLoader(folders)
    manager = loader.load(**options)
    status = next((info.status for info in manager.plugins() if info.name == "house"), "")
    return manager, [(each.kind, each.message) for each in manager.findings], status


def is_denied(manager):
    call = ToolCall("Bash", {"command": "ls"}, kind="shell")
    return manager.hooks().dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd="/")).decision == "deny"


def test_the_machine_may_switch_off_what_it_has_settings_of(folders):
    _, found, status = load(folders, managed="disabled = ['house']\n\n[house]\nkey = 1\n")
    assert ("not-allowed" in dict(found), status) == (False, "disabled")


@pytest.mark.parametrize(("managed", "user", "kind", "said", "status", "denied"), TABLES["named"])
def test_names_of_plugins_in_files(folders, managed, user, kind, said, status, denied):
    """A name that no plugin has is none of our business where not all plugins are loaded."""
    manager, found, became = load(folders, managed=managed, user=user)
    assert [(of, message[: len(said)]) for of, message in found] == [(kind, said)]
    assert (became, is_denied(manager)) == (status, denied)
    _, found, _ = load(folders, managed=managed, user=user, load_plugins=False)
    assert "unknown-plugin" not in dict(found)


def test_a_name_that_no_installed_plugin_has_is_found(folders, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "hause")
    _, found, _ = load(folders)
    assert found == [("unknown-plugin", "AGENT_HOOKS_DISABLE names 'hause', but no installed plugin has this name.")]


def test_a_finding_about_the_machines_settings_cannot_be_ignored_by_the_user(folders):
    manager, found, _ = load(folders, managed="required = ['gone']\n")
    (gone,) = manager.findings
    manager, found, _ = load(folders, managed="required = ['gone']\n", user=f"ignore = ['{gone.id}']\n")
    assert sorted(kind for kind, _ in found) == ["not-allowed", "required"]
    assert is_denied(manager)
    manager, found, _ = load(folders, managed=f"required = ['gone']\nignore = ['{gone.id}']\n")
    assert not is_denied(manager)


@pytest.mark.parametrize("written", ["{folder}/chosen", "~/chosen"])
def test_the_machines_file_moves_the_users_configuration(folders, monkeypatch, written):
    chosen: list[str] = []
    monkeypatch.setattr(files, "choose_config_dir", chosen.append)
    monkeypatch.setattr(files, "account_home", lambda: str(folders))
    load(folders, managed=f"config_dir = '{written.format(folder=folders)}'\n")
    assert chosen[-1:] == [f"{folders}/chosen"]


def test_a_plugin_that_is_not_loaded_is_a_problem(monkeypatch):
    def broken():
        raise RuntimeError("no licence")

    points = [(PluginInfo(name=name, distribution=name, entry_point=name), broken) for name in ("one", "two")]
    points[0] = (points[0][0].replace(status="ignored", error="its metadata lie elsewhere"), broken)
    monkeypatch.setattr("agent_hooks.engine.installed.found_points", lambda: points)
    ignored, failed = plugin_problems(HookManager())
    assert (ignored.kind, failed.kind) == ("not-installed", "broken-plugin")
    assert "The plugin one was not loaded: its metadata lie elsewhere." in ignored.message
    assert "no licence" in failed.message
