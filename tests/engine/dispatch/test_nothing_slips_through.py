"""Ways around a gate that have been tried, and do not work."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from agent_hooks import (
    HookContext,
    HookManager,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    PathMatcher,
    ToolCall,
    ToolExecution,
    hookimpl,
)
from agent_hooks.engine.matchers import DirectoryMatcher
from agent_hooks.errors import ReadOnlyError, SuspensionError
from agent_hooks.testing import make_context
from engine import messages_of, rewrite, shell

# -- changes that nobody would judge -----------------------------------------------------------------------------------


def test_a_subject_of_another_event_is_dropped(engine):
    """Else a gate that matches on the path would be looking at another file."""
    engine.says("liar", HookOutcome.update(tool_args={"file_path": "harmless"}), event="after_tool_use", priority=1)
    guard = HookRegistration(
        event="after_tool_use",
        action=lambda ctx: HookOutcome.deny("secret"),
        match=PathMatcher("**/.env"),
        name="guard",
        required=True,
    )
    engine.manager.add(guard)
    call = ToolCall("Read", {"file_path": "/srv/.env"})
    ctx = HookContext.after_tool_use(None, ToolExecution(call=call, result="KEY=1"))
    outcome = engine.dispatch(ctx)
    assert outcome.hook == "guard"
    assert [("liar" in message, "tool_args" in message) for message in messages_of(outcome)] == [(True, True)]


@pytest.mark.parametrize(
    ("event", "field", "value", "change"),
    [
        ("before_inference", "request", {"messages": ["hi"]}, lambda request: request["messages"].append("secret")),
        ("on_host_event", "payload", {"a": 1}, lambda payload: payload.update(a=2)),
        ("after_tool_use", "result", ["ok"], lambda result: result.append("evil")),
        ("before_output", "output", {"text": "hi"}, lambda output: output.pop("text")),
        ("user_input", "prompt", [{"text": "hi"}], lambda prompt: prompt[0].clear()),
    ],
)
def test_no_subject_can_be_changed_in_place(engine, event, field, value, change):
    refused = []

    @engine.hook(event, mode="observe")
    def sneaky(ctx):
        with pytest.raises(ReadOnlyError):
            change(getattr(ctx, field))
        refused.append(field)

    ctx = make_context(event, **{field: value})
    engine.dispatch(ctx)
    assert refused == [field]
    assert ctx.subject == value


def test_no_way_of_copying_a_call_makes_its_arguments_changeable():
    call = ToolCall("Bash", {"command": "ls", "names": {"a"}, "raw": bytearray(b"x")})
    for copied in (call, call.replace(args={"command": "ls"}), copy.deepcopy(call), copy.copy(call)):
        with pytest.raises(ReadOnlyError):
            copied.args["command"] = "rm -rf /"  # type: ignore[index]
    assert (type(call.args["names"]), type(call.args["raw"])) == (frozenset, bytes)
    assert type(copy.deepcopy(call.args)) is dict


def test_a_rewrite_that_is_equal_leaves_the_object_as_it_is(engine):
    """0 == False, but a gate that says so must see what will run."""
    engine.says("rewriter", HookOutcome.update(tool_args={"force": False}), priority=1)
    seen = engine.says("gate", None, mode="gate")
    outcome = engine.dispatch(make_context(tool="push", args={"force": 0}))
    assert "tool_args" not in outcome._fields
    assert seen[0].tool_args["force"] is not False


def test_a_wrapper_whose_match_comes_true_on_the_way_is_run(engine):
    class Guard:
        @hookimpl(wrapper=True, match=lambda ctx: "rm" in ctx.tool_call.command)
        def before_tool_use(self, ctx):
            outcome = yield
            assert outcome.tool_args["command"].startswith("rm")
            return HookOutcome.deny("no rm")

    engine.manager.register(Guard())
    engine.says("rewriter", rewrite("rm -rf /"), match=lambda ctx: ctx.tool_call.command == "ls")
    assert engine.dispatch(shell("ls")).reason == "no rm"
    assert engine.dispatch(shell("pwd")).decision == "proceed"


# -- what a call says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        {"command": "ls", "cmd": "rm -rf /"},
        {"command": "", "cmd": "rm -rf /"},
        {"command": ["rm", "-rf", "/", 1]},
        {"cmd": ["sh", "-c", "rm -rf /"]},
    ],
)
@pytest.mark.parametrize("name", ["Bash", "functions.shell"])
def test_a_command_cannot_hide_behind_another_argument(engine, name, args):
    @engine.hook(match="shell", mode="gate")
    def guard(ctx):
        return HookOutcome.deny("no rm") if "rm" in ctx.tool_call.command else None

    assert engine.dispatch(make_context(tool=name, args=args)).reason == "no rm"


@pytest.mark.parametrize(
    "patch",
    ["*** Delete File: .env", "*** Update File: .env\n*** Move to: env", "*** Add File: a\u2028/../.env\r"],
)
def test_a_patch_is_read_as_the_one_who_applies_it_reads_it(engine, patch):
    call = ToolCall("apply_patch", {"command": f"*** Begin Patch\n{patch}\n*** End Patch"})
    ctx = make_context("before_tool_use", tool_call=call, cwd="/repo")
    assert PathMatcher("**/.env")(ctx) or any(path.endswith("\u2028/../.env") for path in call.paths)
    deletes = any(operation.kind == "delete" for operation in call.file_operations)
    assert deletes == ("Add" not in patch)


@pytest.mark.parametrize("path", ["frozen/a\nb", "x\ny/frozen/a", "frozen/a"])
def test_a_line_break_does_not_hide_a_path(path):
    ctx = make_context(tool="Write", args={"file_path": path}, cwd="/repo")
    assert PathMatcher("**/frozen/**")(ctx)


def test_dots_behind_a_symbolic_link_are_resolved_as_the_system_does(tmp_path):
    (tmp_path / "secret" / "sub").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "link").symlink_to(tmp_path / "secret" / "sub")
    ctx = make_context(tool="Read", args={"file_path": "link/../key"}, cwd=str(tmp_path / "project"))
    assert PathMatcher(f"{tmp_path}/secret/*")(ctx)


@pytest.mark.parametrize(("cwd", "project_dir"), [("/p", ""), ("", ""), ("/p/other", "/p"), ("/p/sub/x", "")])
def test_a_shell_call_may_touch_a_directory_from_outside(cwd, project_dir):
    ctx = make_context(tool="Bash", args={"command": "rm -rf sub/x"}, cwd=cwd, project_dir=project_dir)
    assert DirectoryMatcher("/p/sub")(ctx)


# -- who may say what --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["project", "skill"])
@pytest.mark.parametrize("setting", ["ask", "open"])
def test_a_project_cannot_open_its_failures(source, setting):
    manager = HookManager(load_plugins=False, policy=HookPolicy(ask_fallback="allow"))

    def broken(ctx):
        raise OSError("gone")

    manager.add(HookRegistration(event="before_tool_use", action=broken, source=source, on_failure=setting))
    assert manager.hooks().dispatch_sync(shell()).decision == "deny"


def test_a_predicate_that_changes_its_mind_cannot_pass_off_a_gate_as_asked(engine):
    answers = iter([False, True, True])
    seen = engine.says("gate", HookOutcome.deny("no"), match=lambda ctx: next(answers), priority=1)
    engine.says("rewriter", rewrite("rm -rf /"))
    assert engine.dispatch(shell("ls")).reason == "no"
    assert len(seen) == 1


def test_an_operation_is_resumed_in_the_view_in_which_it_was_suspended(engine):
    scope = ("session", "s")
    engine.says("suspender", HookOutcome.suspend("wait"), scope=scope, priority=1)
    engine.says("denier", HookOutcome.deny("no"), scope=scope)
    token = engine.dispatch(shell(), engine.hooks.in_session("s")).token
    assert engine.manager.hooks().resume_sync(token, "allow").reason == "no"


@pytest.mark.parametrize("decision", [None, True, 1])
def test_only_a_word_or_an_outcome_resumes(engine, decision):
    engine.says("suspender", HookOutcome.suspend("wait"))
    token = engine.dispatch(shell()).token
    with pytest.raises(SuspensionError, match="Resume with 'allow', 'deny' or an outcome"):
        engine.manager.hooks().resume_sync(token, decision)


def test_a_token_does_not_hold_for_a_call_of_another_kind(engine):
    engine.says("suspender", HookOutcome.suspend("wait"))
    args = {"command": "ls"}
    token = engine.dispatch(make_context(tool_call=ToolCall("run", args, kind="shell"))).token
    other = make_context(tool_call=ToolCall("run", args, kind="other"))
    with pytest.raises(SuspensionError, match="another operation"):
        engine.manager.hooks().resume_sync(token, "allow", other)


def test_a_chain_that_was_being_compiled_during_a_registration_does_not_stay():
    """Another thread registers a gate just after this one has collected the hooks."""
    manager: Any = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: None))
    hooks = manager.hooks()
    compile_chain = manager.compile

    def interrupted(event, scopes):
        chain = compile_chain(event, scopes)
        manager.compile = compile_chain
        manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: HookOutcome.deny("late")))
        assert hooks.dispatch_sync(shell()).reason == "late"
        return chain

    manager.compile = interrupted
    hooks.dispatch_sync(shell())
    assert hooks.dispatch_sync(shell()).reason == "late"


# -- errors in odd places ----------------------------------------------------------------------------------------------


class Unspeakable(Exception):
    def __str__(self):
        raise OSError("not even this")


class Incomparable:
    def __eq__(self, other):
        raise TypeError("not comparable")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Unspeakable(), "its message cannot be read"),
        (HookOutcome(decision="ask", reason=ValueError("x")), "its reason must be text"),  # type: ignore[arg-type]
        (HookOutcome.update(state=42), "its state is 42"),  # type: ignore[arg-type]
        (HookOutcome.update(messages="abc"), "its messages is 'abc'"),  # type: ignore[arg-type]
        (HookOutcome.update(context=7), "its context is 7"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_makes_no_sense_is_the_failure_of_the_hook_that_gave_it(engine, answer, said):
    engine.says("odd", answer, priority=1)
    engine.says("victim", None)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook, outcome.failed) == ("deny", "odd", True)
    assert said in outcome.reason


def test_a_subject_that_cannot_be_compared_is_judged_again(engine):
    seen = engine.says("gate", None, event="before_output", mode="gate", priority=1)
    engine.says("rewriter", HookOutcome.update(output=Incomparable()), event="before_output")
    outcome = engine.dispatch(make_context("before_output", output=Incomparable()))
    assert len(seen) > 1
    assert outcome.decision in ("proceed", "deny")


def test_a_watcher_that_exits_and_an_asked_one_that_exits_disturb_nobody(engine):
    class Watcher:
        @hookimpl
        def agent_hooks_dispatched(self):
            raise SystemExit

    def exits(ctx, reason):
        raise SystemExit

    engine.manager.register(Watcher())
    engine.ask = exits
    engine.says("asker", HookOutcome.ask("sure?"))
    assert engine.dispatch(shell()).decision == "deny"


def test_a_decorated_async_hook_is_awaited_whatever_colour_its_decorator_has(manager):
    async def gate(ctx):
        await asyncio.sleep(0)
        return HookOutcome.deny("no")

    manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: gate(ctx)))  # noqa: PLW0108 - a plain function that returns a coroutine
    assert asyncio.run(manager.hooks().dispatch(shell())).reason == "no"


# -- an event of tools without a tool call -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"match": "shell"}, {"match": "*"}, {"mode": "gate"}, {"wrapper": True}], ids=repr
)
def test_a_call_that_is_not_there_does_not_get_past_a_gate(engine, options):
    """Neither a match on tools nor a hook that reads the arguments could see what is to be judged."""
    if "wrapper" in options:

        @engine.hook(**options)
        def gate(ctx):
            yield
    else:
        engine.says("gate", **options)
    outcome = engine.dispatch(HookContext("before_tool_use"))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "before_tool_use came without a tool call: give the context tool_call=ToolCall(name)." in outcome.reason
    assert " failed, but its caller: " in outcome.reason
    assert engine.dispatch(HookContext("before_tool_use", tool_call=None)).decision == "deny"
    assert engine.dispatch(shell("ls").replace(tool_call=None)).decision == "deny"
