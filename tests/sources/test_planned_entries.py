"""Hooks of files in a compiled plan: the same decisions as from the files, and none after a change."""

from __future__ import annotations

import json
import marshal
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookConfigLoader, HookContext, ToolCall
from agent_hooks.sources.planned import hooks_of
from agent_hooks.sources.planning import CannotPlanError, make_plan
from agent_hooks.sources.plugin_settings import restore_tables
from agent_hooks.system.stamps import changed
from agent_hooks.trust.trust_store import TrustStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DENY = """import sys; print('{"decision": "deny", "reason": "' + sys.argv[1] + '"}')"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with the user's and a project's folder, and no installed plugin."""
    for name in ("home", "config", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(tmp_path / "managed"))
    monkeypatch.setattr("agent_hooks.engine.installed._scan", dict)
    monkeypatch.setattr("agent_hooks.engine.installed._scanned", None)
    for module in ("sitecustomize", "usercustomize"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    yield tmp_path
    restore_tables(None)


def entry(reason: str, matcher: str = "", event: str = "before_tool_use") -> str:
    command = json.dumps([sys.executable, "-c", _DENY, reason])
    return (
        f"[[hooks.{event}]]\nmatcher = {json.dumps(matcher)}\n[[hooks.{event}.hooks]]\n"
        f'type = "command"\ncommand = {command}\n'
    )


def calls(folder: Path) -> list[HookContext]:
    made = [("Bash", "shell", {"command": "ls"}), ("Read", "read", {"file_path": "a"}), ("x", "other", {})]
    return [
        HookContext("before_tool_use", tool_call=ToolCall(name, args, kind=kind), cwd=str(cwd))
        for name, kind, args in made
        for cwd in (folder / "project", folder)
    ]


def planned(plan: dict[str, Any], ctx: HookContext) -> tuple[str, str, str]:
    outcome = hooks_of(plan, ctx, ()).hooks().dispatch_sync(ctx)
    return str(outcome.decision), outcome.reason, outcome.origin


def loaded(place: Path, ctx: HookContext) -> tuple[str, str, str]:
    restore_tables(None)
    outcome = HookConfigLoader(place / "project").load().hooks().dispatch_sync(ctx)
    return str(outcome.decision), outcome.reason, outcome.origin


def plan_of(place: Path) -> dict[str, Any]:
    plan: dict[str, Any] = marshal.loads(marshal.dumps(make_plan([str(place / "project")], (), claude_settings=True)))
    return plan


def test_hooks_of_files_decide_from_a_plan_as_from_their_files(place):
    (place / "config" / "agent-hooks.toml").write_text(entry("no shell", "shell") + entry("no x", "^x$"))
    (place / "project" / "agent-hooks.toml").write_text(entry("no reading", "Read"))
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}}
    (place / "project" / ".claude").mkdir()
    (place / "project" / ".claude" / "settings.json").write_text(json.dumps(settings))
    store = TrustStore()
    store.trust(store.discover(place / "project"))
    plan = plan_of(place)
    assert [row["reference"][0] for row in plan["rows"]].count("entry") == 4
    expected = [loaded(place, ctx) for ctx in calls(place)]
    assert [planned(plan, ctx) for ctx in calls(place)] == expected
    assert {reason for _, reason, _ in expected} >= {"no shell", "no reading", "no x"}


@pytest.mark.parametrize(
    "change",
    ["script", "new script", "missing script", "settings", "gone", "repository"],
)
def test_a_change_of_what_a_command_runs_ends_the_plan(place, change):
    """The gate over settings and hooks protects the scripts of commands, as far as they are known."""
    script = place / "home" / "check.sh"
    settings = place / "config" / "agent-hooks.toml"
    toml = f'[[hooks.before_tool_use]]\n[[hooks.before_tool_use.hooks]]\ntype = "command"\ncommand = "sh {script}"\n'
    settings.write_text(toml)
    if change != "missing script":
        script.write_text("exit 0\n")
    plan = plan_of(place)
    assert not any(changed(plan["seen"]))
    if change == "new script":
        os.replace(_written(place / "home" / "other.sh", "exit 1\n"), script)
    elif change == "settings":
        settings.write_text(toml + "\n# changed\n")
    elif change == "gone":
        script.unlink()
    elif change == "repository":
        (place / "config" / ".git").mkdir()
    else:
        script.write_text("exit 3\n")
        os.chmod(script, 0o700)
    assert any(changed(plan["seen"]))


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_an_entry_of_a_handler_type_of_others_is_loaded_each_time(place, monkeypatch):
    class Other:
        def execute(self, config, ctx):
            return None

    toml = '[[hooks.before_tool_use]]\n[[hooks.before_tool_use.hooks]]\ntype = "other"\n'
    (place / "config" / "agent-hooks.toml").write_text(toml)
    monkeypatch.setattr("agent_hooks.handlers.types._installed", lambda: {"other": Other})
    with pytest.raises(CannotPlanError, match="is no function of a module"):
        plan_of(place)
