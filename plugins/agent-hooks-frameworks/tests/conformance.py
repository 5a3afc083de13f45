"""The behaviours that hooks have in every framework; a framework that lacks one says why in its ``cannot``.

``test_stand_in.py`` runs them where no framework is installed, the files of the frameworks with ``-m frameworks``.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hosting import Call, Child, Host

from agent_hooks import (
    HookManager,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    PromptRefusedError,
    RefusedError,
    RunStoppedError,
    StopReason,
    StopSignal,
    load,
)
from agent_hooks_frameworks.framework import AdapterWarning
from projects import Project

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TESTS = [str(HERE), str(ROOT / "tests")]
DELETE = {"command": "rm -rf build"}
LIST = {"command": "ls"}
ONCE = (Call("shell", DELETE, "call-9"), "done")
TWICE = ([Call("run_it", {"command": "rm a"}, "call-8"), Call("run_it", {"command": "rm b"}, "call-9")], "done")


class Shell:
    """A tool that runs nothing, and remembers its calls."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def tool(self) -> Callable[..., Any]:
        def shell(command: str) -> str:
            """Run a command."""
            self.commands.append(command)
            if command == "fail":
                raise ValueError("no such file")
            return f"ran {command}"

        return shell

    def nameless(self) -> Callable[..., Any]:
        """Return the tool under a name that tells nothing."""

        def run_it(command: str) -> str:
            """Run it."""
            self.commands.append(command)
            return f"ran {command}"

        return run_it


def managed(*hooks: HookRegistration, **policy: Any) -> HookManager:
    manager = HookManager(load_plugins=False, policy=HookPolicy(**policy))
    for hook in hooks:
        manager.add(hook)
    return manager


def on(event: str, action: Callable[..., Any], **options: Any) -> HookRegistration:
    return HookRegistration(event, action, **options)


def denies_rm(ctx: Any) -> HookOutcome | None:
    return HookOutcome.deny("not here") if "rm" in ctx.tool_args["command"] else None


def asks_rm(ctx: Any) -> HookOutcome | None:
    return HookOutcome.ask("really?") if "rm" in ctx.tool_args["command"] else None


def suspends_rm(ctx: Any) -> HookOutcome | None:
    return HookOutcome.suspend("needs a ticket") if "rm" in ctx.tool_args["command"] else None


def named_as_hosted(name: str, run: Callable[[HookManager], Any]) -> None:
    """Show that a tool of the provider is named once, and stands in the request, which a hook can deny."""
    seen: list[str] = []

    def deny(ctx: Any) -> HookOutcome:
        seen.extend(each["name"] for each in ctx.request.tools)
        return HookOutcome.deny("no tools of others")

    manager = managed(on("before_inference", deny), on("before_tool_use", denies_rm))
    with pytest.warns(AdapterWarning, match=f"provider runs the tool '{name}' itself") as warned, suppress(Exception):
        run(manager)
    assert (len([each for each in warned if each.category is AdapterWarning]), seen) == (1, [name])


class Behaviours:
    """The suite without a page: inherit it with a ``host``."""

    host: Host

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not hasattr(cls, "host"):
            return
        cannot = dict(cls.host.framework.cannot)
        for name in [name for name in dir(cls) if name.startswith("test_")]:
            reason = cannot.pop(name.removeprefix("test_").replace("_", " "), None)
            if reason is not None:
                inherited = getattr(cls, name)

                def expected(self: Any, *args: Any, _test: Any = inherited, **kwargs: Any) -> None:
                    _test(self, *args, **kwargs)

                expected.__signature__ = __import__("inspect").signature(inherited)  # type: ignore[attr-defined]
                setattr(cls, name, pytest.mark.xfail(reason=reason, strict=True)(expected))
        assert not cannot, f"No behaviours of the suite: {list(cannot)}"

    def run(self, script: Any, *tools: Any, **options: Any) -> Any:
        ran = self.host.run(script, list(tools), **options)
        if ran.error is not None:  # shown with a failure
            print(f"The run raised {ran.error!r}")
        return ran

    def ends_with(self, ran: Any, error: type[Exception], why: str) -> None:
        """Show that the run raised an error that says why, if the framework's runs do."""
        if self.host.raises:
            assert isinstance(ran.error, error)
            assert why in str(ran.error)

    def named(self, tool: str) -> str:
        """Return the name that the framework has for a tool."""
        return str(getattr(self.host, "named", str)(tool))

    # -- tool calls --------------------------------------------------------------------------------------------------

    def test_an_unguarded_agent_runs_its_tools(self):
        shell = Shell()
        ran = self.run([Call("shell", DELETE), "done"], shell.tool())
        assert (ran.output, shell.commands) == ("done", ["rm -rf build"])

    def test_a_denied_call_is_not_made_and_the_model_reads_why(self):
        shell = Shell()
        ran = self.run([Call("shell", DELETE), "done"], shell.tool(), manager=managed(on("before_tool_use", denies_rm)))
        assert shell.commands == []
        assert "not here" in ran.seen[1]
        assert ran.output == "done"

    def test_arguments_are_rewritten(self):
        shell = Shell()
        hook = on("before_tool_use", lambda ctx: HookOutcome.with_args({"command": "ls -l"}))
        ran = self.run([Call("shell", LIST), "done"], shell.tool(), manager=managed(hook))
        assert shell.commands == ["ls -l"]
        assert "ran ls -l" in ran.seen[1]

    def test_a_result_is_replaced(self):
        hook = on("after_tool_use", lambda ctx: HookOutcome.update(result="three files"))
        ran = self.run([Call("shell", LIST), "done"], Shell().tool(), manager=managed(hook))
        assert "three files" in ran.seen[1]
        assert "ran ls" not in ran.seen[1]

    def test_a_result_is_withheld(self):
        hook = on("after_tool_use", lambda ctx: HookOutcome.deny("a secret is in it"))
        ran = self.run([Call("shell", LIST), "done"], Shell().tool(), manager=managed(hook))
        assert "a secret is in it" in ran.seen[1]
        assert "ran ls" not in ran.seen[1]

    def test_context_reaches_the_model(self):
        hooks = [
            on("before_tool_use", lambda ctx: HookOutcome.update(context="before it")),
            on("after_tool_use", lambda ctx: HookOutcome.update(context="after it")),
        ]
        ran = self.run([Call("shell", LIST), "done"], Shell().tool(), manager=managed(*hooks))
        assert all(text in ran.seen[1] for text in ("ran ls", "before it", "after it"))

    def test_a_retry_makes_the_call_again(self):
        shell, results = Shell(), ["try again", None]
        hook = on("after_tool_use", lambda ctx: HookOutcome.retry("stale") if results.pop(0) else None)
        self.run([Call("shell", LIST), "done"], shell.tool(), manager=managed(hook))
        assert shell.commands == ["ls", "ls"]

    def test_an_error_of_a_tool_is_reworded(self):
        hook = on("on_tool_error", lambda ctx: HookOutcome.update(error_text=f"It says: {ctx.error_text}"))
        ran = self.run([Call("shell", {"command": "fail"}), "done"], Shell().tool(), manager=managed(hook))
        assert "It says: no such file" in ran.seen[1]

    def test_a_hook_that_crashes_denies(self):
        shell = Shell()

        def crash(ctx: Any) -> None:
            raise RuntimeError("boom")

        ran = self.run([Call("shell", LIST), "done"], shell.tool(), manager=managed(on("before_tool_use", crash)))
        assert shell.commands == []
        assert ran.output == "done"

    def test_a_hook_that_takes_too_long_denies(self):
        shell = Shell()

        async def wait(ctx: Any) -> None:
            await asyncio.Event().wait()

        hook = on("before_tool_use", wait, timeout=0.05)
        ran = self.run([Call("shell", LIST), "done"], shell.tool(), manager=managed(hook))
        assert shell.commands == []
        assert "no answer after 0.05 s" in ran.seen[1]

    def test_parallel_calls_are_judged_one_by_one(self):
        shell = Shell()
        script = [[Call("shell", DELETE, "one"), Call("shell", LIST, "two")], "done"]
        ran = self.run(script, shell.tool(), manager=managed(on("before_tool_use", denies_rm)))
        assert shell.commands == ["ls"]
        assert "not here" in ran.seen[1]
        assert "ran ls" in ran.seen[1]

    def test_observers_see_blocked_calls(self):
        blocked: list[bool] = []
        hooks = [
            on("before_tool_use", denies_rm),
            on("after_tool_use", lambda ctx: blocked.append(ctx.was_blocked), mode="observe"),
        ]
        self.run([[Call("shell", DELETE), Call("shell", LIST)], "done"], Shell().tool(), manager=managed(*hooks))
        assert sorted(blocked) == [False, True]

    # -- kinds -------------------------------------------------------------------------------------------------------

    def test_a_tool_has_the_kind_that_its_arguments_tell(self):
        shell, commands = Shell(), [f"rm {number}" for number in range(3)]
        denied: list[str] = []

        def deny(ctx: Any) -> HookOutcome:
            denied.append(ctx.tool_call.command)
            return HookOutcome.deny("no")

        script = [*(Call("run_it", {"command": command}) for command in commands), "done"]
        ran = self.run(script, shell.nameless(), manager=managed(on("before_tool_use", deny, match="Bash")))
        assert (shell.commands, denied, ran.output) == ([], commands, "done")

    def test_a_tool_has_the_kind_that_the_application_says(self):
        made: list[str] = []
        hook = on("before_tool_use", lambda ctx: HookOutcome.deny("no"), match="shell")

        def perform(what: str) -> str:
            """Do it."""
            made.append(what)
            return "did it"

        self.run([Call("perform", {"what": "ls"}), "done"], perform, manager=managed(hook), kinds={"perform": "shell"})
        assert made == []

    def test_a_tool_of_unknown_kind_is_named_once(self):
        hook = on("before_tool_use", lambda ctx: None, match="shell")

        def perform(target: str) -> str:
            """Do it."""
            return "did it"

        script = [Call("perform", {"target": "x"}), Call("perform", {"target": "y"}), "done"]
        with pytest.warns(AdapterWarning, match=f"kind of the tool '{self.named('perform')}' is unknown") as warned:
            self.run(script, perform, manager=managed(hook))
        assert len([each for each in warned if each.category is AdapterWarning]) == 1

    # -- questions ---------------------------------------------------------------------------------------------------

    def asked(self, hook: HookRegistration, answer: bool, tmp_path: Path) -> tuple[Shell, Any, Any]:
        shell, manager = Shell(), managed(hook)
        ran = self.run([Call("shell", DELETE, "call-9"), "done"], shell.tool(), manager=manager, tmp_path=tmp_path)
        assert (ran.output, ran.waiting, shell.commands) == (None, ["call-9"], [])
        then = self.host.resume(ran.paused, answer, ["done"], [shell.tool()], manager=manager, tmp_path=tmp_path)
        return shell, then, manager

    def test_a_question_is_put_and_approved(self, tmp_path: Path):
        counted: list[str] = []

        def hook(ctx: Any) -> HookOutcome | None:
            if not ctx.rechecking:
                counted.append(ctx.tool_name)
            return asks_rm(ctx)

        shell, then, _ = self.asked(on("before_tool_use", hook), True, tmp_path)
        assert shell.commands == ["rm -rf build"]
        assert "ran rm" in then.seen[-1]
        assert then.output == "done"
        assert counted == [self.named("shell")]

    def test_a_question_is_put_and_rejected(self, tmp_path: Path):
        shell, then, _ = self.asked(on("before_tool_use", asks_rm), False, tmp_path)
        assert shell.commands == []
        assert then.output == "done"

    def test_two_questions_in_one_turn(self, tmp_path: Path):
        for answer in (False, True):
            shell, manager = Shell(), managed(on("before_tool_use", asks_rm, match="shell"))
            ran = self.run(list(TWICE), shell.nameless(), manager=manager, tmp_path=tmp_path)
            assert (ran.output, shell.commands) == (None, [])
            tools: Any = [shell.nameless()]
            then = self.host.resume(ran.paused, answer, ["done"], tools, manager=manager, tmp_path=tmp_path)
            assert (then.output, sorted(shell.commands)) == ("done", ["rm a", "rm b"] if answer else [])

    def test_two_questions_in_one_turn_are_answered_in_another_process(self, tmp_path: Path):
        for answer in (False, True):
            output, commands = self.elsewhere("asks_rm", tmp_path, answer=answer, script=TWICE, tool="nameless")
            assert (output, sorted(commands)) == ("done", ["rm a", "rm b"] if answer else [])

    def test_a_suspended_call_goes_on(self, tmp_path: Path):
        hook = on("before_tool_use", lambda ctx: HookOutcome.suspend("needs a ticket"))
        shell, then, _ = self.asked(hook, True, tmp_path)
        assert (shell.commands, then.output) == (["rm -rf build"], "done")

    def test_an_approval_does_not_open_another_gate(self, tmp_path: Path):
        answers = [None]

        def later(ctx: Any) -> HookOutcome | None:
            return HookOutcome.deny("not any more") if not answers else answers.pop()

        shell, manager = Shell(), managed(on("before_tool_use", asks_rm), on("before_tool_use", later))
        ran = self.run([Call("shell", DELETE, "call-9"), "done"], shell.tool(), manager=manager, tmp_path=tmp_path)
        then = self.host.resume(ran.paused, True, ["done"], [shell.tool()], manager=manager, tmp_path=tmp_path)
        assert shell.commands == []
        assert "not any more" in then.seen[-1]

    def test_a_question_is_answered_in_another_process(self, tmp_path: Path):
        assert self.elsewhere("asks_rm", tmp_path) == ["done", ["rm -rf build"]]

    def test_a_suspended_call_goes_on_in_another_process(self, tmp_path: Path):
        assert self.elsewhere("suspends_rm", tmp_path) == ["done", ["rm -rf build"]]

    def elsewhere(
        self, hook: str, tmp_path: Path, *, answer: bool = True, script: Any = ONCE, tool: str = "tool"
    ) -> Any:
        manager = managed(on("before_tool_use", globals()[hook], match="shell"))
        ran = self.run(list(script), getattr(Shell(), tool)(), manager=manager, tmp_path=tmp_path)
        program = (
            "import json, sys\n"
            f"sys.path[:0] = {TESTS!r}\n"
            f"from {type(self.host).__module__} import {type(self.host).__qualname__} as Made\n"
            f"from conformance import Shell, {hook} as hook, managed, on\n"
            "from pathlib import Path\n"
            "shell, paused = Shell(), json.load(sys.stdin)\n"
            f"then = Made().resume(paused, {answer}, ['done'], [shell.{tool}()], tmp_path=Path(sys.argv[1]),\n"
            "                     manager=managed(on('before_tool_use', hook, match='shell')))\n"
            "print(json.dumps([then.output, shell.commands]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            input=json.dumps(ran.paused),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def test_a_function_answers_questions_at_once(self):
        shell, asked = Shell(), []

        def person(ctx: Any, question: str) -> bool:
            asked.append(question)
            return True

        hook = on("before_tool_use", asks_rm)
        ran = self.run([Call("shell", DELETE), "done"], shell.tool(), manager=managed(hook), ask=person)
        assert (shell.commands, ran.output) == (["rm -rf build"], "done")
        assert len(asked) == 1

    # -- the run -----------------------------------------------------------------------------------------------------

    def test_a_stop_of_a_call_ends_the_run(self):
        shell = Shell()
        hook = on("before_tool_use", lambda ctx: HookOutcome.stop("enough"))
        ran = self.run([Call("shell", DELETE), "done"], shell.tool(), manager=managed(hook))
        assert shell.commands == []
        assert len(ran.seen) == 1
        assert ran.output != "done"
        self.ends_with(ran, RunStoppedError, "enough")

    def test_a_run_stops_at_a_limit_of_steps(self):
        shell = Shell()

        def limit(state: Any) -> HookOutcome | None:
            if state.step_count < 2:
                return None
            return HookOutcome.signal(StopSignal(reason=StopReason.STEPS_LIMIT, message="two steps are enough"))

        script = [Call("shell", LIST), Call("shell", LIST), Call("shell", LIST), "done"]
        ran = self.run(script, shell.tool(), manager=managed(on("before_step", limit)))
        assert shell.commands == ["ls", "ls"]
        assert len(ran.seen) == 2

    def test_another_round_is_forced(self):
        repeats: list[bool] = []

        def once_more(ctx: Any) -> HookOutcome | None:
            repeats.append(ctx.stop_hook_active)
            return None if ctx.stop_hook_active else HookOutcome.force_continue("run the tests first")

        ran = self.run(["done", "tested"], Shell().tool(), manager=managed(on("on_stop", once_more)))
        assert ran.output == "tested"
        assert "run the tests first" in ran.seen[1]
        assert repeats == [False, True]

    def test_forced_rounds_have_an_end(self):
        hook = on("on_stop", lambda ctx: HookOutcome.force_continue("again"))
        ran = self.run(["1", "2", "3", "4", "5"], Shell().tool(), manager=managed(hook, max_forced_continuations=2))
        assert (ran.output, len(ran.seen)) == ("3", 3)

    def test_a_prompt_is_refused(self):
        hook = on("user_input", lambda prompt: HookOutcome.deny("no such words") if "xyzzy" in str(prompt) else None)
        ran = self.run(["done"], Shell().tool(), manager=managed(hook), prompt="the word is xyzzy")
        assert (ran.output, ran.seen) == (None, [])
        self.ends_with(ran, PromptRefusedError, "no such words")

    def test_a_prompt_is_rewritten(self):
        hook = on("user_input", lambda prompt: HookOutcome.update(prompt=str(prompt).replace("xyzzy", "[number]")))
        ran = self.run(["done"], Shell().tool(), manager=managed(hook), prompt="the word is xyzzy")
        assert "the word is [number]" in ran.seen[0]
        assert "xyzzy" not in ran.seen[0]

    def test_context_of_a_prompt_reaches_the_model(self):
        hook = on("user_input", lambda ctx: HookOutcome.update(context="it is Tuesday"))
        ran = self.run(["done"], Shell().tool(), manager=managed(hook), prompt="What day is it?")
        assert "it is Tuesday" in ran.seen[0]
        assert "What day is it?" in ran.seen[0]

    def test_an_answer_is_withheld(self):
        hook = on("before_output", lambda output: HookOutcome.deny("it has a secret") if "s3cret" in output else None)
        ran = self.run(["the s3cret"], Shell().tool(), manager=managed(hook))
        assert "s3cret" not in str(ran.output)
        self.ends_with(ran, RefusedError, "it has a secret")

    def test_an_answer_is_changed(self):
        hook = on("before_output", lambda output: HookOutcome.update(output=output.replace("s3cret", "[hidden]")))
        ran = self.run(["the s3cret"], Shell().tool(), manager=managed(hook))
        assert ran.output == "the [hidden]"

    # -- the model ---------------------------------------------------------------------------------------------------

    def test_context_of_a_request_reaches_the_model(self):
        hook = on("before_inference", lambda ctx: HookOutcome.update(context="answer in French"))
        ran = self.run(["fait"], Shell().tool(), manager=managed(hook))
        assert "answer in French" in ran.seen[0]

    def test_the_messages_of_a_request_are_changed(self):
        def hide(request: Any) -> HookOutcome:
            changed = [m.replace(content=str(m.content).replace("xyzzy", "[number]")) for m in request.messages]
            return HookOutcome.update(request=request.replace(messages=tuple(changed)))

        ran = self.run(["done"], Shell().tool(), manager=managed(on("before_inference", hide)), prompt="it is xyzzy")
        assert "it is [number]" in ran.seen[0]
        assert "xyzzy" not in ran.seen[0]

    def test_a_request_is_not_sent(self):
        hook = on("before_inference", lambda ctx: HookOutcome.deny("over budget"))
        ran = self.run(["done"], Shell().tool(), manager=managed(hook))
        assert (ran.output == "done", ran.seen) == (False, [])

    def test_a_response_is_withheld(self):
        shell = Shell()
        hook = on("after_inference", lambda ctx: HookOutcome.deny("nonsense"))
        ran = self.run([Call("shell", LIST), "done"], shell.tool(), manager=managed(hook))
        assert (shell.commands, len(ran.seen)) == ([], 1)
        assert ran.output != "done"

    def test_a_response_is_asked_for_again(self):
        def judge(response: Any) -> HookOutcome | None:
            return HookOutcome.retry("be polite") if response.content == "no" else None

        ran = self.run(["no", "gladly"], Shell().tool(), manager=managed(on("after_inference", judge)))
        assert ran.output == "gladly"
        assert "be polite" in ran.seen[1]

    def test_hooks_see_the_conversation(self):
        seen: list[list[str]] = []
        hook = on("before_inference", lambda request: seen.append([m.role for m in request.messages]), mode="observe")
        self.run([Call("shell", LIST), "done"], Shell().tool(), manager=managed(hook))
        assert [roles[-1] for roles in seen] == ["user", "tool"]
        assert "assistant" in seen[1]

    def test_hooks_hear_of_an_error_of_the_model(self):
        heard: list[str] = []
        hook = on("on_error", lambda error: heard.append(str(error)))
        ran = self.run([ConnectionError("no line")], Shell().tool(), manager=managed(hook))
        assert ran.output is None
        assert any("no line" in text for text in heard)

    def test_the_tokens_of_the_model_are_counted(self):
        used: list[int] = []
        hook = on("before_step", lambda state: used.append(sum(each.total for each in state.model_usage.values())))
        self.run([Call("shell", LIST), "done"], Shell().tool(), manager=managed(hook))
        assert used[0] == 0
        assert used[1] > 0

    # -- events and places -------------------------------------------------------------------------------------------

    def test_a_run_has_its_events_in_order_under_one_session(self):
        heard: list[Any] = []
        names = (
            "user_input before_execution before_step before_inference after_inference before_tool_use after_tool_use "
            "after_step on_stop before_output after_execution"
        )
        manager = managed(*(on(name, heard.append, mode="observe", name=name) for name in names.split()))
        self.run([Call("shell", LIST, "call-9"), "done"], Shell().tool(), manager=manager)
        expected = (
            "user_input before_execution before_step before_inference after_inference before_tool_use after_tool_use "
            "after_step before_step before_inference after_inference after_step on_stop before_output after_execution"
        )
        known = self.host.framework.events
        assert [str(ctx.event) for ctx in heard] == [name for name in expected.split() if name in known]
        assert len({(ctx.session_id, ctx.execution_id) for ctx in heard}) == 1
        assert heard[0].session_id
        assert {ctx.cwd for ctx in heard} == {str(Path.cwd())}
        assert {ctx.tool_call.id for ctx in heard if ctx.tool_call} == {"call-9"}

    # -- streams and sync calls --------------------------------------------------------------------------------------

    def test_a_stream_is_under_the_same_hooks(self):
        shell = Shell()
        hooks = managed(on("before_tool_use", denies_rm))
        ran = self.run([Call("shell", DELETE), "done"], shell.tool(), manager=hooks, stream=True)
        assert shell.commands == []
        assert "not here" in ran.seen[1]
        assert "".join(ran.chunks).endswith("done")
        # An answer that nobody judges comes in the same pieces as without hooks.
        live, bare = (self.run(["one two"], manager=manager, stream=True) for manager in (hooks, None))
        assert live.chunks == bare.chunks

    def test_a_stream_shows_nothing_that_is_withheld(self):
        hook = on("before_output", lambda output: HookOutcome.deny("it has a secret") if "s3cret" in output else None)
        ran = self.run(["the s3cret"], Shell().tool(), manager=managed(hook), stream=True)
        assert "s3cret" not in "".join(ran.chunks) + str(ran.output)
        hide = on("before_output", lambda output: HookOutcome.update(output=output.replace("s3cret", "[hidden]")))
        ran = self.run(["the s3cret"], manager=managed(hide), stream=True)
        assert ("".join(ran.chunks) in ("", "the [hidden]"), ran.output) == (True, "the [hidden]")

    def test_a_sync_call_asks_async_hooks(self):
        if not self.host.has_sync:
            pytest.skip(f"{self.host.framework.name} has no sync calls.")
        shell, threads = Shell(), []

        async def hook(ctx: Any) -> HookOutcome | None:
            await asyncio.sleep(0)
            threads.append(threading.current_thread())
            return denies_rm(ctx)

        script = [[Call("shell", DELETE), Call("shell", LIST)], "done"]
        ran = self.run(script, shell.tool(), manager=managed(on("before_tool_use", hook)), sync=True)
        assert (shell.commands, ran.output) == (["ls"], "done")
        assert len(threads) == 2

    # -- agents started by tools -------------------------------------------------------------------------------------

    def child(self, shell: Shell) -> Child:
        return Child("helper", [Call("shell", DELETE), "helped"], [shell.tool()])

    def test_a_gate_of_the_root_stops_a_tool_of_a_child(self):
        shell, depths = Shell(), []

        def gate(ctx: Any) -> HookOutcome | None:
            depths.append((ctx.tool_name, ctx.depth))
            return denies_rm(ctx) if ctx.tool_name == self.named("shell") else None

        manager = managed(on("before_tool_use", gate))
        ran = self.run([Call("helper", {"task": "tidy"}), "done"], manager=manager, child=self.child(shell))
        assert shell.commands == []
        assert ran.output == "done"
        assert depths == [(self.named("helper"), 0), (self.named("shell"), 1)]

    def test_a_child_is_denied(self):
        shell = Shell()
        hook = on("before_subagent", lambda name, task: HookOutcome.deny("no helpers"))
        script = [Call("helper", {"task": "tidy"}), "done"]
        ran = self.run(script, manager=managed(hook), child=self.child(shell))
        assert shell.commands == []
        assert "no helpers" in ran.seen[1]

    # -- files and trust ---------------------------------------------------------------------------------------------

    def test_files_of_a_project_hold_once_trusted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        project = Project(tmp_path).write({"hookconf.py": HOOKCONF})
        monkeypatch.chdir(project.root)
        for trusted, expected in ((False, ["rm -rf build"]), (True, [])):
            shell = Shell()
            if trusted:
                project.trust()
            manager = load(plugins=())
            assert bool(manager.findings) is not trusted
            self.run([Call("shell", DELETE), "done"], shell.tool(), manager=manager)
            assert shell.commands == expected


class Conformance(Behaviours):
    """The suite of a published framework: inherit it with a ``host``."""

    def test_the_page_shows_the_unguarded_agent_and_the_line_that_changes_it(self):
        page = ROOT / "docs" / f"{self.host.framework.extra}.md"
        command = [sys.executable, str(ROOT / "tests" / "run_page.py"), str(page)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(TESTS)}  # the model of a page may be that of the tests
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


HOOKCONF = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(match="shell")
def before_tool_use(tool_call):
    return HookOutcome.deny("the project says no")
"""
