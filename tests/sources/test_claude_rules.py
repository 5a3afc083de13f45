"""What several settings files of Claude Code say of each other."""

from __future__ import annotations

import json
import time

import pytest

from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.formats.read_file import is_claude_settings
from agent_hooks.formats.toml import read_toml
from agent_hooks.sources.claude_rules import _is_allowed, settled, without_claude_settings
from projects import settings, toml
from tables import tables

TABLES = tables(__file__)

HTTP = {"type": "http", "url": "https://hooks.example.com/x"}


def claude(source, *handlers, name="settings.json", project_dir=None, plugin_root="", **top):
    """A settings file of Claude Code."""
    project_dir = project_dir if project_dir is not None else "/repo" if source == "project" else ""
    return read_claude(
        settings("PreToolUse", *handlers, **top).encode(),
        path=f"/{source}{project_dir}/{name}",
        source=source,
        project_dir=project_dir,
        plugin_root=plugin_root,
    )


def what_runs(*files):
    """The rank and the command of every entry that is left."""
    return [
        (entry.source, entry.config.get("command") or entry.config.get("url"))
        for file in settled(list(files))
        for entry in file.entries
    ]


@pytest.mark.parametrize(("files", "runs"), TABLES["files"])
def test_what_files_say_of_each_other(files, runs):
    made = [
        claude(file["source"], *file.get("hooks", []), **file.get("of", {}), **file.get("top", {})) for file in files
    ]
    assert [" ".join(each) for each in what_runs(*made)] == runs


@pytest.mark.parametrize("changes", TABLES["differences"])
def test_entries_that_differ_in_anything_both_run(changes):
    other = {"type": "command", "command": "a.sh", **changes}
    once = "once" in changes  # it means nothing in settings
    assert len(what_runs(claude("user", other), claude("project", "a.sh"))) == (1 if once else 2)


def test_the_same_command_at_another_event_or_matcher_is_another_entry():
    hook = {"type": "command", "command": "a.sh"}
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [hook]}, {"matcher": "Write", "hooks": [hook]}],
        "PostToolUse": [{"matcher": "Bash", "hooks": [hook, hook]}],
    }
    file = read_claude(json.dumps({"hooks": hooks}).encode(), path="/user/settings.json", source="user")
    assert len(what_runs(file)) == 3


# -- switched off ------------------------------------------------------------------------------------------------------


def test_what_is_switched_off_is_told_and_stops_nothing():
    wrong = {"type": "command", "command": "x", "if": 5}
    file = claude("project", "own.sh", wrong)
    assert file.findings[0].blocks
    (found, _) = settled([file, claude("user", disableAllHooks=True)])
    assert [(finding.kind, finding.blocks) for finding in found.findings] == [
        ("not-honoured", False),
        ("switched-off", False),
    ]
    assert str(found.findings[1]).startswith("/project/repo/settings.json: ")
    assert found.findings[1].message == "Its hooks do not run, because /user/settings.json says disableAllHooks."


def test_our_own_files_are_not_switched_off():
    ours = read_toml(toml(["x"]).encode(), path="/user/agent-hooks.toml", source="user")
    files = [ours, claude("managed", disableAllHooks=True, allowManagedHooksOnly=True)]
    assert [entry.type for entry in settled(files)[0].entries] == ["command"]


# -- which host runs them ----------------------------------------------------------------------------------------------


def test_claude_codes_own_settings_are_told_from_what_else_has_its_format():
    plugin = claude("user", "a", plugin_root="/plugin")
    offered = claude("plugin", "a")
    ours = read_toml(toml(["x"]).encode(), path="/user/agent-hooks.toml", source="user")
    assert [is_claude_settings(file) for file in (claude("user", "a"), claude("project"), plugin, offered, ours)] == [  # type: ignore[arg-type]
        True,
        True,
        False,
        False,
        False,
    ]
    assert without_claude_settings([claude("user", "a"), plugin, offered, ours]) == [plugin, offered, ours]  # type: ignore[list-item]


def test_an_unreadable_file_of_claude_code_is_claude_codes():
    file = read_claude(b"{", path="/repo/.claude/settings.json", source="project", project_dir="/repo")
    assert file.findings[0].blocks
    assert without_claude_settings([file]) == []


# -- said twice --------------------------------------------------------------------------------------------------------


def test_an_entry_with_scripts_of_a_project_is_not_the_users():
    file = claude("project", "a.sh")
    (entry,) = file.entries
    looked_after = file.replace(entries=(entry.replace(scripts={"/repo/a.sh": "0" * 64}),))
    assert len(what_runs(claude("user", "a.sh"), looked_after)) == 2
    assert len(what_runs(looked_after, looked_after)) == 1


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["managed", "user", "project"])
def test_a_request_to_an_address_on_no_list_is_refused_with_its_place(source):
    file = claude(source, HTTP, allowedHttpHookUrls=["https://other.example.com/*"])
    (found,) = settled([file])
    (finding,) = found.findings
    assert found.entries == ()
    assert (finding.kind, finding.blocks, finding.event) == ("not-allowed", True, "before_tool_use")
    assert "no list of allowedHttpHookUrls allows" in finding.message
    assert finding.line > 0


def test_a_list_of_claude_code_holds_for_our_files_too_also_when_its_hooks_are_switched_off():
    text = toml("", handler='type = "http"\nurl = "https://hooks.example.com/x"')
    ours = read_toml(text.encode(), path="/user/agent-hooks.toml", source="user")
    lists = claude("user", allowedHttpHookUrls=[], disableAllHooks=True)
    (found, _) = settled([ours, lists])  # type: ignore[list-item]
    assert (found.entries, found.findings[0].kind) == ((), "not-allowed")


def test_a_project_cannot_widen_what_headers_may_use():
    given = {**HTTP, "headers": {"X": "$A $B $C"}, "allowedEnvVars": ["A", "B", "C"]}
    user = claude("user", given, httpHookAllowedEnvVars=["A", "B"])
    project = claude("project", {**given, "timeout": 3}, httpHookAllowedEnvVars=["B", "C"])
    entries = [entry for file in settled([user, project]) for entry in file.entries]
    assert [entry.config["allowedEnvVars"] for entry in entries] == [["A", "B"], ["B"]]


@pytest.mark.parametrize(("pattern", "url", "is_allowed"), TABLES["stars"])
def test_a_star_stands_for_anything_and_in_a_host_for_a_part_of_it(pattern, url, is_allowed):
    assert _is_allowed(url, [pattern]) is is_allowed


def test_a_pattern_of_many_stars_is_quick():
    started = time.perf_counter()
    assert not _is_allowed("https://a.example/" + "a" * 20_000, ["https://a.example/" + "*a" * 30 + "*b"])
    assert time.perf_counter() - started < 10
