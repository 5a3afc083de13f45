"""Commands and servers as actions of hooks in code."""

from __future__ import annotations

import asyncio
import sys

import pytest

from agent_hooks import (
    AgentBuilder,
    CommandAction,
    HookManager,
    HookPolicy,
    HookRegistration,
    HookStack,
    HttpAction,
    RegistrationError,
    ScriptedDriver,
    hookimpl,
)
from agent_hooks.testing import make_context
from handlers.servers import DENY, answering

REFUSING = """
import json, sys
event = json.load(sys.stdin)
command = event["tool_input"]["command"]
print(json.dumps({"decision": "deny", "reason": f"not {command}"} if command.startswith("rm") else {}))
"""


def shell(command="rm -rf x", **fields):
    return make_context("before_tool_use", tool="Bash", args={"command": command}, kind="shell", **fields)


@pytest.fixture
def program(tmp_path):
    (tmp_path / "check.py").write_text(REFUSING)
    return [sys.executable, "-S", str(tmp_path / "check.py")]


def ways(action):
    """Every way in which a callable may be given, each dispatching to it."""

    class Plugin:
        @hookimpl
        def before_tool_use(self, ctx):
            return action(ctx)

    def manager(add):
        made = HookManager(load_plugins=False)
        add(made)
        return made.hooks()

    return {
        "registration": manager(lambda made: made.add(HookRegistration("before_tool_use", action, match="shell"))),
        "stack": HookStack().with_hook(action, "before_tool_use").hooks(),
        "called": manager(lambda made: made.register(Plugin())),
        "builder": AgentBuilder(plugins=())
        .with_driver(ScriptedDriver())
        .before_tool_use(action, match="shell")
        .build()
        .interceptor,
    }


@pytest.mark.parametrize("way", ["registration", "stack", "called", "builder"])
@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_command_decides_wherever_a_callable_may_be_given(program, way, colour):
    hooks = ways(CommandAction(program, timeout=30))[way]
    dispatched = hooks.dispatch_sync if colour == "sync" else lambda ctx: asyncio.run(hooks.dispatch(ctx))
    outcome = dispatched(shell())
    assert (outcome.decision, outcome.reason) == ("deny", "not rm -rf x")
    assert dispatched(shell("ls")).decision == "proceed"


def test_a_text_is_for_a_shell_and_nothing_of_the_event_is_put_into_it(tmp_path):
    action = CommandAction("cat >/dev/null; echo no >&2; exit 2", cwd=tmp_path)
    outcome = HookStack().with_hook(action, "before_tool_use").dispatch_sync(shell("$(touch owned)"))
    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert list(tmp_path.iterdir()) == []


def test_it_runs_where_the_event_is_with_the_variables_given(tmp_path):
    action = CommandAction('pwd >"$WHERE"', env={"WHERE": str(tmp_path / "out")})
    HookStack().with_hook(action, "before_tool_use").dispatch_sync(shell(cwd=str(tmp_path)))
    assert (tmp_path / "out").read_text() == f"{tmp_path}\n"


@pytest.mark.parametrize("command", ["exec sleep 60", ["/no/such/program"], "echo nonsense; exit 1"])
def test_a_command_that_fails_closes_the_gate_and_the_reason_names_it(command):
    outcome = HookStack().with_hook(CommandAction(command, timeout=0.5), "before_tool_use").dispatch_sync(shell())
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "The hook command:" in outcome.reason


def test_a_server_decides_and_headers_may_use_the_variables_that_are_named(serve, monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cr3t")
    server = serve(answering(DENY))
    headers = {"X-Team": "ops $TOKEN"}
    url = f"http://127.0.0.1:{server.port}/check"
    action = HttpAction(url, headers=headers, allowed_env_vars=["TOKEN"], timeout=30)
    for hooks in ways(action).values():
        assert hooks.dispatch_sync(shell()).reason == "Not on a Friday."
        assert asyncio.run(hooks.dispatch(shell())).reason == "Not on a Friday."
    assert {headers["x-team"] for _, headers, _ in server.requests} == {"ops s3cr3t"}


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: CommandAction(""), "CommandAction: "),
        (lambda: CommandAction([]), "CommandAction: command is a text, or a list of a program and its arguments"),
        (lambda: CommandAction(None), "CommandAction: command is a text"),  # type: ignore[arg-type]
        (lambda: CommandAction({"a": 1}), "CommandAction: command is a text"),  # type: ignore[arg-type]
        (lambda: CommandAction("x", timeout=None), "CommandAction: timeout"),  # type: ignore[arg-type]
        (lambda: CommandAction("x", timeout="x"), "CommandAction: timeout"),  # type: ignore[arg-type]
        (lambda: HttpAction("https://x.example/", timeout="x"), "HttpAction: timeout"),  # type: ignore[arg-type]
        (lambda: CommandAction("x", timeout=0), "CommandAction: timeout"),
        (lambda: HttpAction("not a url"), "HttpAction: url"),
        (lambda: HttpAction("https://x.example/", timeout=-1), "HttpAction: timeout"),
        (lambda: HttpAction("https://me:secret@x.example/"), "send them as a header"),
    ],
)
def test_what_cannot_be_run_or_asked_is_refused_where_it_is_written(make, problem):
    with pytest.raises(RegistrationError, match=problem):
        make()


def test_a_policy_without_shell_is_about_files_and_not_about_code(program):
    stack = HookStack(policy=HookPolicy(allow_shell=False)).with_hook(CommandAction(program), "before_tool_use")
    assert stack.dispatch_sync(shell()).reason == "not rm -rf x"


@pytest.mark.parametrize("make", [lambda: CommandAction("exit 2"), lambda: HttpAction("https://x.example/")])
def test_it_is_written_where_it_is_made(make):
    (hook,) = HookStack().with_hook(make(), "before_tool_use").hooks().manager.describe()
    assert hook.origin == f"{__file__}:{make.__code__.co_firstlineno}"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/usr/bin/python3", "check.py", "--token=s3cr3t"], "command:/usr/bin/python3 check.py"),
        ("curl -u ada:s3cr3t https://x.example", "command:curl"),
        ("PGPASSWORD=s3cr3t psql", "command"),
        ("./check.sh && true", "command:./check.sh"),
    ],
)
def test_the_name_of_a_command_shows_no_secret_of_it(command, name):
    (hook,) = HookStack().with_hook(CommandAction(command), "before_tool_use").hooks().manager.describe()
    assert hook.name == name
