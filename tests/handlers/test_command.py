"""The handler ``command``: what a command is run with, and what its answer becomes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from select import select
from typing import Any

import pytest
from pydantic import ValidationError

from agent_hooks.errors import HandlerError, RegistrationError, TrustError
from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.handlers.command import CommandHandler
from agent_hooks.handlers.command_config import CommandConfig
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import FrozenDict
from agent_hooks.trust.scripts import HookCommand
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter

# Prints what it was given, as a context for the model.
TELL = "import json, os, sys; print(json.dumps({'context': json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)])}))"


def children():
    """The processes that this one has started and not waited for, where the system tells."""
    lists = Path("/proc/self/task").glob("*/children")
    return {pid for each in lists for pid in each.read_text().split()}


@pytest.fixture(autouse=True)
def own_machine(tmp_path, monkeypatch):
    """Neither this machine's home nor anything left over."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("AGENT_HOOKS_DEPTH", raising=False)
    before, children_before = len(os.listdir("/dev/fd")), children()
    yield
    assert len(os.listdir("/dev/fd")) == before
    assert children() <= children_before


def entry(**fields) -> HookEntry:
    facts = {"event": HookEvent.BEFORE_TOOL_USE, "type": "command", "path": "/p/agent-hooks.toml", "line": 3}
    return HookEntry(**{**facts, **fields})


def context(command: str = "ls", **fields) -> HookContext:
    return HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": command}), **fields)


def hook(config: dict[str, Any], **fields):
    return CommandHandler().bind(CommandConfig(**config), entry(**fields))


def run(config: dict[str, Any], ctx: HookContext | None = None, **fields):
    return hook(config, **fields)(ctx or context())


def told(config: dict[str, Any] | None = None, ctx: HookContext | None = None, **fields):
    """The arguments, directory and environment of a command."""
    config = {"command": [sys.executable, "-S", "-c", TELL], **(config or {})}
    if fields.get("form", "toml") != "toml":  # where only Claude Code's own keys are read
        program = TELL.replace("'context': json", "'hookSpecificOutput': {'additionalContext': json")
        config["command"][3] = program.replace("})", "}})")
    return json.loads(run(config, ctx, **fields).context)


# -- what it is told -------------------------------------------------------------------------------------------------


def test_the_event_comes_on_stdin_and_in_the_environment():
    letters = '$(printf %s "$line" | tr -cd a-z)'
    script = f'read -r line; test "$line" = "$HOOK_INPUT" && echo "{letters}" >&2 && exit 2'
    outcome = run({"command": script}, context("rm everything"))
    assert outcome.decision == "deny"
    assert "rmeverything" in outcome.reason


def test_an_event_that_is_too_large_for_the_environment_comes_on_stdin_alone():
    script = 'echo "{\\"context\\": \\"$(wc -c) ${HOOK_INPUT-unset} $HOOK_INPUT_TRUNCATED\\"}"'
    outcome = run({"command": script}, context("x" * 5_000_000))
    size, *rest = outcome.context.split()
    assert int(size) > 5_000_000
    assert rest == ["unset", "1"]


def test_nothing_of_an_event_is_ever_part_of_a_command(tmp_path):
    canary = tmp_path / "canary"
    ctx = context(f"$(touch {canary}); `touch {canary}`; ${{tool_input.command}}", cwd=str(tmp_path))
    for config in (
        {"command": "echo ${tool_input.command} $ARGUMENTS >/dev/null"},
        {"command": "echo", "args": ["${tool_input.command}"]},
    ):
        run(config, ctx, form="claude")
    assert not canary.exists()


@pytest.mark.parametrize("text", ["ünïcödé \U0001f600", "half a character \ud800", "nul \0", 'quotes " and \\'])
def test_any_text_arrives(text):
    script = "import json, sys; sys.exit(ascii(json.load(sys.stdin)['tool_input']['command']) != sys.argv[1] and 2)"
    assert run({"command": [sys.executable, "-S", "-c", script, ascii(text)]}, context(text)) is None


# -- forms of a command ----------------------------------------------------------------------------------------------


def test_a_list_is_a_program_and_its_arguments_and_no_shell_sees_them():
    arguments, *_ = told({"command": [sys.executable, "-S", "-c", TELL, "$HOME; exit 2", "*", ""]})
    assert arguments == ["$HOME; exit 2", "*", ""]


def test_with_args_the_text_is_a_program_and_no_shell_sees_it(tmp_path):
    program = tmp_path / "a program"
    program.write_text('#!/bin/sh\necho "{\\"systemMessage\\": \\"$#: $1\\"}"\n')
    program.chmod(0o755)
    outcome = run({"command": str(program), "args": ["a b; exit 2"]})
    assert outcome.metadata == {"system_message": "1: a b; exit 2"}


@pytest.mark.parametrize(
    "config", [{"command": "A=2; exit $A"}, {"command": "[[ a == a* ]] && exit 2", "shell": "bash"}]
)
def test_a_text_is_for_a_shell(config):
    assert run(config).decision == "deny"


def test_powershell_is_called_with_its_own_kind_of_variables(monkeypatch, tmp_path):
    shell = tmp_path / "pwsh"
    shell.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >&2\nexit 2\n')
    shell.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    outcome = run({"command": "& ${CLAUDE_PROJECT_DIR}/x.ps1", "shell": "powershell"})
    assert outcome.reason.splitlines() == [
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        "& ${env:CLAUDE_PROJECT_DIR}/x.ps1",
    ]


@pytest.mark.parametrize(("config", "problem"), TABLES["wrong_fields"])
def test_a_wrong_field_is_refused_by_name(config, problem):
    with pytest.raises(ValidationError, match=problem):
        CommandConfig(**config)
    assert CommandConfig(command="x", statusMessage="Checking").timeout == 60


# -- where it runs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "source", "config", "cwd", "expected"), TABLES["places"])
def test_each_format_has_its_own_place_to_run(form, source, config, cwd, expected, tmp_path):
    for folder in ("here", "project/sub/tools"):
        (tmp_path / folder).mkdir(parents=True)
    places = {"project_dir": str(tmp_path / "project"), "directory": str(tmp_path / "project/sub")}
    found = told(config, context(cwd=str(tmp_path / cwd)), form=form, source=source, **places)
    assert Path(found[1]) == tmp_path / expected


def skills_script(tmp_path: Path, *places: str, **fields):
    """The outcome of a skill's relative script that says which of the files ``places`` it is."""
    folders = {"project_dir": str(tmp_path / "project"), "directory": str(tmp_path / "project/skills/deploy")}
    scripts = [tmp_path / "project" / place / "scripts/check.sh" for place in places]
    (tmp_path / "project/skills/deploy").mkdir(parents=True)
    for place, script in zip(places, scripts, strict=True):
        script.parent.mkdir(parents=True)
        script.write_text(f"#!/bin/sh\necho {place}; exit 2")
        script.chmod(0o755)
    made = {**folders, "form": "skill", "source": "skill", "config": {"command": "./scripts/check.sh"}, **fields}
    found = HookCommand(entry(**made)).scripts()
    assert set(found) == set(map(str, scripts)), "what was looked at"
    trusted = FrozenDict({path: digest(Path(path)) for path in found})
    return made, trusted


def hook_of_skill(made: dict[str, Any], scripts):
    return CommandHandler().bind(CommandConfig(**made["config"]), entry(**made, scripts=scripts))


@pytest.mark.parametrize(("place", "other"), [("skills/deploy", "."), (".", "skills/deploy")])
def test_the_script_of_a_skill_that_was_looked_at_is_the_one_that_runs(tmp_path, place, other):
    made, trusted = skills_script(tmp_path, place)
    asked = hook_of_skill(made, trusted)
    assert asked(context()).reason == place
    later = tmp_path / "project" / other / "scripts/check.sh"
    later.parent.mkdir(parents=True)
    later.write_text("#!/bin/sh\nexit 0")
    later.chmod(0o755)
    assert asked(context()).reason == place
    assert hook_of_skill(made, trusted)(context()).reason == place


def test_of_two_scripts_of_one_name_a_skills_own_runs(tmp_path):
    made, trusted = skills_script(tmp_path, "skills/deploy", ".")
    for scripts in (trusted, FrozenDict()):
        assert hook_of_skill(made, scripts)(context()).reason == "skills/deploy"


def test_a_skill_may_name_its_script_from_the_top_of_the_project(tmp_path):
    config = {"command": "skills/deploy/scripts/check.sh"}
    made, trusted = skills_script(tmp_path, "skills/deploy", config=config)
    assert hook_of_skill(made, trusted)(context()).reason == "skills/deploy"


def test_agents_and_what_is_in_no_directory_have_no_folder_of_their_own(tmp_path):
    agents = tmp_path / ".claude/agents"
    agents.mkdir(parents=True)
    found = told(form="skill", source="skill", project_dir=str(tmp_path), directory=str(agents))
    assert Path(found[1]) == tmp_path
    assert told({}, context())[1] == str(Path.cwd())


# -- its environment -------------------------------------------------------------------------------------------------


def test_the_environment_is_what_is_allowed_and_no_more(monkeypatch):
    for name in "SECRET GITHUB_TOKEN LC_ALL AGENT_HOOKS_DISABLE LANG PYTHONPATH HOOK_INPUT".split():
        monkeypatch.setenv(name, "C")
    environment = told(permits=Permits(env=("GITHUB_TOKEN", "NOT_SET")))[2]
    assert not {"SECRET", "PYTHONPATH", "NOT_SET"} & environment.keys()
    assert {"PATH", "HOME", "LANG", "LC_ALL", "AGENT_HOOKS_DISABLE", "GITHUB_TOKEN"} <= environment.keys()
    assert json.loads(environment["HOOK_INPUT"])["tool"] == "Bash"


def test_a_users_own_variables_are_added(monkeypatch):
    assert told({"env": {"COLOUR": "red", "HOME": "/h"}})[2].items() >= {"COLOUR": "red", "HOME": "/h"}.items()


@pytest.mark.parametrize(
    ("key", "value", "fields"),
    [
        ("env", {"PATH": "/evil"}, {"source": "project"}),
        ("env", {"PATH": "/evil"}, {"form": "claude"}),
        ("env", {"PATH": "/evil"}, {"form": "skill", "source": "skill"}),
        ("cwd", "/", {"form": "claude"}),
        ("cwd", "/", {"form": "skill"}),
    ],
)
def test_only_the_users_own_toml_may_set_variables_and_only_toml_the_directory(key, value, fields):
    with pytest.raises(RegistrationError, match=f"'{key}'"):
        hook({"command": "x", key: value}, **fields)


def test_a_script_finds_the_project_by_claude_codes_name(tmp_path):
    (tmp_path / "check.sh").write_text("exit 2")
    place = {"form": "claude", "project_dir": str(tmp_path)}
    assert run({"command": 'sh "$CLAUDE_PROJECT_DIR"/check.sh'}, **place).decision == "deny"  # type: ignore[arg-type]
    assert run({"command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/check.sh"]}, **place).decision == "deny"  # type: ignore[arg-type]
    assert told(ctx=context(project_dir="/some/project"))[2]["CLAUDE_PROJECT_DIR"] == "/some/project"
    assert told(ctx=context(cwd=str(tmp_path)))[2]["CLAUDE_PROJECT_DIR"] == str(tmp_path)


def test_a_plugin_finds_its_folder_and_one_for_its_data(tmp_path, monkeypatch):
    root = tmp_path / "plugin"
    arguments, _, environment = told(
        {"command": [sys.executable, "-S", "-c", TELL, "${CLAUDE_PLUGIN_ROOT}/x", "$CLAUDE_PLUGIN_ROOT"]},
        plugin_root=str(root),
    )
    assert arguments == [f"{root}/x", "$CLAUDE_PLUGIN_ROOT"]
    assert environment["CLAUDE_PLUGIN_ROOT"] == str(root)
    data = Path(environment["CLAUDE_PLUGIN_DATA"])
    assert data.is_dir()
    assert data.parent == tmp_path / "state" / "plugin-data"
    assert "CLAUDE_PLUGIN_ROOT" not in told()[2]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "file"))
    with pytest.raises(HandlerError, match="no place for the data"):
        run({"command": "true"}, plugin_root="/plugin")


def test_hooks_that_call_each_other_are_stopped(monkeypatch):
    assert told()[2]["AGENT_HOOKS_DEPTH"] == "1"
    monkeypatch.setenv("AGENT_HOOKS_DEPTH", "2")
    assert told()[2]["AGENT_HOOKS_DEPTH"] == "3"
    monkeypatch.setenv("AGENT_HOOKS_DEPTH", "3")
    with pytest.raises(HandlerError, match="call each other"):
        run({"command": "true"})
    monkeypatch.setenv("AGENT_HOOKS_DEPTH", "many")
    assert told()[2]["AGENT_HOOKS_DEPTH"] == "1"


# -- what its end becomes --------------------------------------------------------------------------------------------


def test_its_output_is_read_by_the_contract_of_its_file():
    assert run({"command": "echo text"}, form="claude") is None
    with pytest.raises(HandlerError, match="no JSON object"):
        run({"command": "echo text"})


@pytest.mark.parametrize(("config", "message"), TABLES["failures"])
@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
def test_what_is_no_answer_is_a_failure_in_every_format(config, message, form):
    with pytest.raises(HandlerError, match=message):
        run(config, form=form)


@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
@pytest.mark.parametrize(
    "command",
    [
        "head -c 1100000 /dev/zero | tr '\\0' x; echo no >&2; exit 2",
        "echo no >&2; head -c 1100000 /dev/zero | tr '\\0' x >&2; exit 2",
        'printf \'{"decision": "allow", "reason": "\'; head -c 1100000 /dev/zero | tr \'\\0\' x; echo no >&2; exit 2',
    ],
)
def test_exit_code_2_denies_however_much_is_printed(command, form):
    outcome = run({"command": command}, form=form)
    assert outcome.decision == "deny"
    assert 0 < len(outcome.reason) <= 10_000


@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
def test_long_errors_do_not_change_an_answer(form):
    printed = '{"decision": "deny", "reason": "no"}'
    outcome = run({"command": f"echo '{printed}'; head -c 300000 /dev/zero >&2"}, form=form)
    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert run({"command": "head -c 300000 /dev/zero >&2"}, form=form) is None


@pytest.mark.parametrize("printed", ['{"decision": "deny"}', "{", "text"])
def test_the_decision_of_an_async_command_is_ignored(printed):
    assert run({"command": f"echo '{printed}'; exit 2"}, is_async=True) is None


def test_a_command_is_run_anew_each_time(tmp_path):
    counted = hook({"command": f"echo >>{tmp_path}/count"})
    counted(context())
    counted(context())
    assert (tmp_path / "count").read_text() == "\n\n"


# -- in an event loop ------------------------------------------------------------------------------------------------


def test_in_an_event_loop_the_hook_is_awaited_and_runs_beside_others(tmp_path):
    async def main():
        each_waits_for_the_other = [
            hook({"command": f"cd {tmp_path}; touch {own}; until test -e {other}; do sleep 0.01; done; exit 2"})
            for own, other in (("a", "b"), ("b", "a"))
        ]
        return await asyncio.gather(*(waiting(context()) for waiting in each_waits_for_the_other))

    assert [outcome.decision for outcome in asyncio.run(main())] == ["deny", "deny"]


def test_a_hook_that_is_never_awaited_starts_nothing(tmp_path):
    async def main():
        hook({"command": f"touch {tmp_path}/canary"})(context()).close()

    asyncio.run(main())
    assert not (tmp_path / "canary").exists()


def test_a_cancelled_hook_leaves_no_process(tmp_path):
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    async def main():
        started = asyncio.Event()
        asyncio.get_running_loop().add_reader(reader, started.set)
        task = asyncio.create_task(hook({"command": f"exec 3>{tmp_path}/alive; echo here >&3; sleep 600"})(context()))
        await asyncio.wait_for(started.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert os.read(reader, 100) == b"here\n"
    assert select([reader], [], [], 30)[0]
    assert os.read(reader, 1) == b""  # no process holds the other end
    os.close(reader)


# -- scripts ---------------------------------------------------------------------------------------------------------


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def test_a_script_that_changed_since_it_was_trusted_is_not_run(tmp_path):
    script = tmp_path / "check.sh"
    script.write_text("exit 2")
    trusted = FrozenDict({str(script): digest(script)})
    assert run({"command": f"sh {script}"}, scripts=trusted).decision == "deny"
    script.write_text(f"touch {tmp_path}/canary")
    outcome = run({"command": f"sh {script}"}, scripts=trusted)
    assert outcome.decision == "deny"
    assert "check.sh has changed since it was trusted; see `agent-hooks trust --diff`" in outcome.reason
    assert "/p/agent-hooks.toml:3" in outcome.reason
    assert not (tmp_path / "canary").exists()
    script.unlink()
    assert "cannot be read: No such file" in run({"command": f"sh {script}"}, scripts=trusted).reason


def test_a_script_that_changes_while_it_runs_gives_no_answer(tmp_path):
    script = tmp_path / "check.sh"
    script.write_text('echo "exit 0" >>"$0"\nexit 0\n')
    outcome = run({"command": f"sh {script}"}, scripts=FrozenDict({str(script): digest(script)}))
    assert (outcome.decision, "has changed" in outcome.reason) == ("deny", True)


@pytest.mark.parametrize("form", ["claude", "skill"])
def test_a_changed_script_denies_whatever_a_failure_means_in_its_format(tmp_path, form):
    script = tmp_path / "check.sh"
    script.write_text("exit 0")
    trusted = FrozenDict({str(script): "0" * 64})
    assert run({"command": f"sh {script}"}, form=form, source="project", scripts=trusted).decision == "deny"


def test_a_changed_script_fails_where_nothing_can_be_denied(tmp_path):
    script = tmp_path / "check.sh"
    script.write_text("exit 0")
    trusted = FrozenDict({str(script): "0" * 64})
    with pytest.raises(TrustError, match="has changed"):
        run({"command": f"sh {script}"}, HookContext("session_end"), scripts=trusted)
