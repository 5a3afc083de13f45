"""What is said where a host would not run the hooks, or run them twice."""

from __future__ import annotations

import json

import pytest

from agent_hooks.cli.wiring import cautions as module
from agent_hooks.cli.wiring.cautions import cautions
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.sources.files import ClaudeSource

OURS = {"type": "command", "command": "/env/bin/python -I -S /site/agent_hooks_core.py run --agent x"}
FLAT = json.dumps({"version": 1, "hooks": {"Stop": [OURS]}})
GROUPS = json.dumps({"hooks": {"Stop": [{"hooks": [OURS]}]}})


def told(home, host, *, project=False):
    wiring = WIRINGS[host]
    path = wiring.path(str(home.project) if project else "")
    return "\n".join(cautions(wiring, path, str(home.project)))


def write(home, name, text):
    path = home.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("host", WIRINGS)
def test_nothing_is_said_where_all_is_well(home, host):
    wiring = WIRINGS[host]
    home.write(host, FLAT if wiring.shape == "entries" else GROUPS)
    assert told(home, host) == ""


@pytest.mark.parametrize(
    ("host", "file", "text", "event"),
    [
        ("claude-code", ".claude/plugins/cache/tt/mm/1/mod.js", "on('classic.PreToolUse', allow)", "PreToolUse"),
        ("claude-code", ".claude/plugins/cache/tt/mm/1/hooks/hooks.json", '{"hooks": {"Stop": []}}', "Stop"),
        ("claude-code", "project/.claude/mods/mm/index.mjs", 'on("classic.Stop", x)', "Stop"),
        ("claude-code", ".claude/skills/mm/.claude-plugin/plugin.json", '{"hooks": {"Stop": []}}', "Stop"),
        ("claude-code", "project/.claude/skills/mm/hooks/mod.js", "on('tool.call', allow)", "tool.call"),
        ("copilot", "project/.github/extensions/x/extension.mjs", "{'preToolUse': f}", "preToolUse"),
        ("codex", ".codex/plugins/cache/x/hooks.json", '{"hooks": {"PreToolUse": []}}', "PreToolUse"),
        ("gemini", ".gemini/extensions/x/hooks/hooks.json", '{"hooks": {"BeforeTool": []}}', "BeforeTool"),
        ("qwen", ".qwen/extensions/x/hooks/hooks.json", '{"hooks": {"PreToolUse": []}}', "PreToolUse"),
        ("copilot", ".copilot/installed-plugins/a/x/hooks.json", '{"hooks": {"preToolUse": []}}', "preToolUse"),
        ("cursor", ".cursor/plugins/x/hooks.json", '{"hooks": {"beforeShellExecution": []}}', "beforeShellExecution"),
        ("opencode", ".config/opencode/plugin/x.js", '({"tool.execute.before": f})', "tool.execute.before"),
    ],
)
def test_what_hooks_the_same_events_is_named(monkeypatch, home, host, file, text, event):
    """Only files that may be hooks use up what is looked at."""
    monkeypatch.setattr("agent_hooks.cli.wiring.cautions._MOST_FILES", 1)
    file = write(home, file, text)
    write(home, f"{file.parent.relative_to(home.path)}/node_modules/a/index.js", text)
    write(home, ".claude/plugins/marketplaces/a/hooks.json", text)
    write(home, f"{file.parent.relative_to(home.path)}/README.md", text)
    assert told(home, host) == f"{file} hooks {event} too, and may answer before our hooks: look at what it does."


def test_a_mod_that_does_not_spell_its_events_is_named(home):
    file = write(home, ".claude/plugins/cache/tt/mm/1/hooks/hooks.json", '{"modules": ["./mod.js"]}')
    write(home, ".claude/plugins/cache/tt/mm/1/hooks/mod.js", "on('classic.Pre' + 'ToolUse', allow)")
    said = f"{file} loads modules, which may answer before our hooks: look at what they do."
    assert told(home, "claude-code") == said


@pytest.mark.parametrize(
    ("host", "file", "text", "switch"),
    [
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude-code", "project/.claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false", "features.hooks"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false} /* why */}', "hooksConfig.enabled"),
        ("gemini", "project/.gemini/settings.json", '{"tools": {"enableHooks": false}}', "tools.enableHooks"),
        ("qwen", ".qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("copilot", ".copilot/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("copilot", ".copilot/hooks/agent-hooks.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ],
)
def test_a_switch_that_turns_hooks_off_is_named_with_its_file(home, host, file, text, switch):
    path = write(home, file, text)
    said = told(home, host)
    assert f"{path} switches all hooks off ({switch})" in said
    write(home, file, text.replace("true", "null").replace("false", "true"))
    assert told(home, host) == ""


def test_an_administrator_who_allows_managed_hooks_alone_is_named(home, monkeypatch):
    file = write(home, "managed/managed-settings.json", '{"allowManagedHooksOnly": true}')
    monkeypatch.setattr(module, "ClaudeSource", lambda source: ClaudeSource(source, str(file.parent)))
    assert f"{file} allows the administrator's hooks alone" in told(home, "claude-code")
    (file.parent / "managed-settings.d").mkdir()
    dropped = file.parent / "managed-settings.d" / "10.json"
    file.rename(dropped)
    assert f"{dropped} allows the administrator's hooks alone" in told(home, "claude-code")


@pytest.mark.parametrize(
    ("hooks", "problem"),
    [
        ({"hooks": {"Stop": [{"hooks": [OURS, {"type": "http", "url": "http://x"}]}]}}, "a hook of the type http"),
        ({"modules": ["./x.ts"], "hooks": {"Stop": [{"hooks": [OURS]}]}}, "has the keys modules"),
    ],
)
def test_what_makes_codex_read_no_hooks_at_all_is_told(home, hooks, problem):
    home.write("codex", json.dumps(hooks))
    assert problem in told(home, "codex")


def test_a_project_that_codex_does_not_trust_is_told(home):
    home.write("codex", GROUPS, project=True)
    assert f"Codex does not trust {home.project}" in told(home, "codex", project=True)
    write(home, ".codex/config.toml", f'[projects."{home.project}"]\ntrust_level = "trusted"\n')
    assert told(home, "codex", project=True) == ""


def test_hooks_in_both_files_of_a_host_run_twice_but_not_in_claude_code(home):
    for host in ("codex", "claude-code"):
        home.write(host, GROUPS)
        home.write(host, GROUPS, project=True)
    assert f"{home.file('codex', project=True)} has our hooks too, so Codex runs them twice" in told(home, "codex")
    assert told(home, "claude-code") == ""


def test_the_hosts_that_also_run_the_settings_of_claude_code_are_named(home):
    home.write("copilot", FLAT)
    project = home.write("claude-code", GROUPS, project=True)
    for host in ("copilot", "claude-code"):
        assert f"Copilot and VS Code run {project} as well as their own hooks" in told(home, host)
    shared = write(home, "project/.claude/settings.json", GROUPS)
    assert f"Copilot and VS Code run {shared} as well as their own hooks" in told(home, "copilot")
    user = home.write("claude-code", GROUPS)
    assert f"VS Code runs {user}" not in told(home, "claude-code")
    (home.path / ".vscode").mkdir()
    assert f"VS Code runs {user} as well as its own hooks" in told(home, "vscode")
    assert "chat.hookFilesLocations" in told(home, "claude-code")
    home.write("cursor", FLAT)
    assert f"If Cursor is set to include third-party hooks, it runs {user} too" in told(home, "cursor")
    assert "Copilot" not in told(home, "cursor")
