"""Hooks of files that another process has read and validated: the same hooks, without a parser and without pydantic."""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
from typing import Any

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, RegistrationError, ToolCall
from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.formats.entry import HookEntry, decode_entry, encode_entry
from agent_hooks.formats.skill_files import read_skill
from agent_hooks.formats.toml import read_toml
from agent_hooks.handlers.command import CommandHandler
from agent_hooks.handlers.entry_hooks import decode_hook, encode_hook
from agent_hooks.handlers.registering import register_entries
from agent_hooks.model.events import HookEvent

_TOML = """
[permits]
env = ["GIT_DIR"]
header_env = ["TOKEN"]
hosts = ["build.example"]
[[hooks.before_tool_use]]
matcher = "shell|Edit"
priority = 7
name = "mine"
on_failure = "ask"
required = true
[[hooks.before_tool_use.hooks]]
type = "command"
command = ["python3", "check.py", "--all"]
timeout = 5
cwd = "tools"
env = { A = "1" }
safe_path = false
scripts = ["more.py"]
ignore = ["log"]
[[hooks.before_tool_use.hooks]]
type = "command"
command = "check"
args = ["a b"]
[[hooks.before_tool_use]]
matcher = "^B.*h$"
shadow = true
[[hooks.before_tool_use.hooks]]
type = "command"
command = "exit 0"
shell = "bash"
statusMessage = "wait"
[[hooks.before_tool_use.hooks]]
type = "http"
url = "https://hooks.example/x?y=1"
headers = { Authorization = "Bearer $TOKEN" }
allowed_env_vars = ["TOKEN"]
timeout = 2.5
[[hooks.before_tool_use.hooks]]
type = "http"
url = "http://build.example:8080/"
[[hooks.before_tool_use]]
background = true
[[hooks.before_tool_use.hooks]]
type = "command"
command = "log"
[[hooks.ConfigChange]]
matcher = "user_settings"
[[hooks.ConfigChange.hooks]]
type = "command"
command = "notice"
"""
_CLAUDE = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a", "if": "Bash(git push *)"}]},
            {"matcher": "mcp__.*__write", "hooks": [{"type": "command", "command": "b", "once": True}]},
            {"hooks": [{"type": "command", "command": "c", "async": True}, {"type": "command", "command": "d"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "e", "if": "Bash(git"}]},
        ],
        "PreModelSwitch": [{"hooks": [{"type": "command", "command": "f", "timeout": 1}]}],
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "g"}]}],
    }
}
_AGENT = b"""---
name: reviewer
description: d
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {type: command, command: ./check.sh}
  Stop:
    - hooks:
        - {type: command, command: ./end.sh}
---
"""


def _files() -> list[HookEntry]:
    toml = read_toml(_TOML.encode(), path="/u/agent-hooks.toml", source="user")
    claude = [
        read_claude(json.dumps(_CLAUDE).encode(), path="/u/settings.json", source=source, project_dir=folder)
        for source, folder in (("user", ""), ("project", "/p"))
    ]
    agent = read_skill(_AGENT, path="/p/.claude/agents/reviewer.md", project_dir="/p", kind="agent")
    assert toml is not None
    return [entry for file in (toml, *claude, agent) for entry in file.entries]


ENTRIES = _files()


def passed_on(data):
    return marshal.loads(marshal.dumps(data))


def hooks_of(*entries: HookEntry, **types: object) -> list[Any]:
    """Return the functions of the hooks of these entries, in order."""
    return hooks_in(HookManager(load_plugins=False), *entries, **types)


def hooks_in(manager: HookManager, *entries: HookEntry, **types: object) -> list[Any]:
    """As ``hooks_of``, registered in this manager."""
    assert register_entries(manager, "file", entries, types) == []
    plugin = manager.get_plugin("file")
    return [hook for name, hook in sorted(vars(plugin).items()) if name.startswith("entry_")]


def _contexts() -> list[HookContext]:
    calls = [("Bash", "shell", {"command": "git push -f"}), ("Bash", "shell", {"command": "ls"})]
    calls += [("Edit", "edit", {"file_path": "a"}), ("mcp__x__write", "mcp", {}), ("shell_command", "shell", {})]
    about = [
        HookContext(event, tool_call=ToolCall(name, args, kind=kind), agent_name=agent, cwd="/p")
        for event in ("before_tool_use", "after_tool_use")
        for name, kind, args in calls
        for agent in ("", "reviewer")
    ]
    about += [HookContext("on_host_event", host_event=name) for name in ("PreModelSwitch", "ConfigChange", "")]
    about += [HookContext("session_start", source=source) for source in ("startup", "resume")]
    return [*about, HookContext("on_stop", name="reviewer"), HookContext("on_stop", name="other")]


@pytest.mark.parametrize("number", range(len(ENTRIES)))
def test_an_entry_comes_back_with_all_its_fields_and_its_match(number):
    entry = ENTRIES[number].replace(scripts={"/p/check.sh": "ab", "/p/missing": ""}, scope=("directory", "/p"))
    found = decode_entry(passed_on(encode_entry(entry)))
    assert found.replace(match=None) == entry.replace(match=None)
    assert (found.match is None) is (entry.match is None)
    for ctx in _contexts() if entry.match is not None else ():
        assert found.match is not None
        assert entry.match is not None
        assert found.match(ctx) == entry.match(ctx)


def test_these_entries_have_matches_of_every_kind():
    kinds = {part[0] for entry in ENTRIES for part in getattr(entry.match, "parts", ())}
    assert kinds == {"field", "if", "matcher", "text", "unclear"}


@pytest.mark.parametrize("number", range(len(ENTRIES)))
def test_a_hook_comes_back_with_its_options_its_match_and_its_names(number):
    (hook,) = hooks_of(ENTRIES[number])
    made, entry = decode_hook(passed_on(encode_hook(hook)))
    again: Any = made
    assert entry == ENTRIES[number].replace(match=entry.match)
    before, after = hook.agent_hooks_impl, again.agent_hooks_impl
    assert {**after, "options": after["options"].replace(match=None)} == {
        **before,
        "options": before["options"].replace(match=None),
    }
    assert again.agent_hooks_origin == hook.agent_hooks_origin
    matches = [each["options"].match for each in (before, after)]
    assert (matches[0] is None) is (matches[1] is None)
    if matches[0] is not None:
        assert matches[0].match_text == matches[1].match_text
        for ctx in _contexts():
            assert matches[0](ctx) == matches[1](ctx)


def _printing(answer: str, **fields: object) -> HookEntry:
    config = {"command": [sys.executable, "-c", f"import sys; sys.stdin.read(); {answer}"], **fields}
    return HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="command", config=config, path="/u/x.toml", line=3)


ASKED = {
    "denies": _printing("""print('{"decision": "deny", "reason": "not here"}')"""),
    "says nothing": _printing(""),
    "fails": _printing("sys.exit(3)"),
    "is late": _printing("import time; time.sleep(60)", timeout=0.3),
    "sees its variables": _printing("import os; sys.exit(os.environ['A'] != '1')", env={"A": "1"}),
    "prints no JSON": _printing("print('hello')"),
    "keeps its folder off the path": _printing("import os; sys.exit(os.environ['PYTHONSAFEPATH'] != '1')"),
    "wants its folder": _printing("import os; sys.exit('PYTHONSAFEPATH' in os.environ)", safe_path=False),
}
_ASK = """
import sys
sys.path[:] = {path!r}
loaded = {{*sys.modules}}
import marshal
from agent_hooks.handlers.entry_hooks import decode_hook
from agent_hooks.model.context import HookContext
from agent_hooks.model.tool_call import ToolCall
hook, entry = decode_hook(marshal.loads({data!r}))
try:
    answer = hook(HookContext("before_tool_use", tool_call=ToolCall("Bash", {{"command": "ls"}}, kind="shell")))
except Exception as error:
    answer = f"{{type(error).__name__}}: {{error}}"
print(answer)
heavy = ("pydantic", "tomllib", "typing", "inspect", "dataclasses", "asyncio", "importlib_metadata", "email", "json")
heavy += ("agent_hooks.trust.scripts", "agent_hooks.shell.parser")
print([name for name in heavy if name in {{*sys.modules}} - loaded])
"""


@pytest.mark.parametrize("name", ASKED)
def test_a_command_is_run_in_another_process_with_the_same_answer_and_few_imports(name):
    (hook,) = hooks_of(ASKED[name])
    try:
        answer = hook(HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}, kind="shell")))
    except Exception as error:  # noqa: BLE001 - compared as text
        answer = f"{type(error).__name__}: {error}"
    code = _ASK.format(path=[entry for entry in sys.path if entry], data=marshal.dumps(encode_hook(hook)))
    done = subprocess.run([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == f"{answer}\n[]\n"


def test_the_limit_of_a_policy_holds_in_the_other_process():
    manager = HookManager(load_plugins=False, policy=HookPolicy(timeout=2))
    entry = _printing("", timeout=50).replace(source="project")
    data = encode_hook(hooks_in(manager, entry)[0])
    assert data is not None
    assert (data["config"]["timeout"], data["timeout"]) == (2, 7)


def test_a_hook_that_cannot_be_made_here_is_an_error():
    (hook,) = hooks_of(ENTRIES[0])
    data = passed_on(encode_hook(hook))
    with pytest.raises(ValueError, match="There is no event 'before_lunch'"):
        decode_hook({**data, "entry": {**data["entry"], "event": "before_lunch"}})
    with pytest.raises(RegistrationError, match="'env' is for TOML of the user"):
        decode_hook({**data, "entry": {**data["entry"], "source": "project"}})


class _Other:
    def execute(self, config, ctx):
        return None


class _Derived(CommandHandler):
    def bind(self, config, entry):
        return lambda ctx: HookOutcome.deny("derived")


def test_what_is_no_data_is_not_kept():
    entry = _printing("")
    other = entry.replace(type="other", config={})
    assert encode_hook(hooks_of(other, other=_Other())[0]) is None
    assert encode_hook(hooks_of(entry, command=_Derived())[0]) is None
    assert encode_hook(hooks_of(entry.replace(match=lambda ctx: True))[0]) is None
    assert encode_entry(entry.replace(config={"x": object()})) is None
    assert encode_hook(print) is None
