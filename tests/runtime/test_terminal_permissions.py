"""A person at a real (pseudo) terminal answers: the question, the effect of each answer, and how long it holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tty
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentBuilder, HookContext, HookOutcome, HookPolicy, ScriptedDriver, ToolCall, tool
from agent_hooks.engine.hooks import Hooks
from agent_hooks.errors import RunError
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.runtime.subagents import run_subagent
from agent_hooks.runtime.terminal_permissions import TerminalPermissions
from agent_hooks.system.store import MemoryStore
from runtime.agents import results
from tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks import AgentState
    from agent_hooks.runtime.builder import AgentBuilder as Builder

TABLES = tables(__file__)

SECONDS = 30.0
PROMPT = "[d]eny: "


class Person:
    """A person at a terminal, reading the output and typing."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.path = os.ttyname(self.slave)
        self.shown = ""

    def reads(self, expected: str) -> str:
        """Read until ``expected`` is shown, and return the output since the last call."""
        read, deadline = "", time.monotonic() + SECONDS
        while expected not in read:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{expected!r} was not shown, but {read!r}"
            read += os.read(self.master, 4096).decode()
        self.shown += read
        return read

    def types(self, text: str) -> None:
        os.write(self.master, text.encode())

    @contextlib.contextmanager
    def answering(self, *lines: str) -> Iterator[None]:
        """Answer one question after the other with these lines; one that says why waits to be asked why."""

        def work() -> None:
            for line in lines:
                self.reads("Why (for the model" if line.startswith("because") or not line else PROMPT)
                self.types(f"{line}\n" if line[-1:] not in ("\r", "\x03", "\x04") else line)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield
        thread.join(SECONDS)

    def close(self) -> None:
        for descriptor in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@pytest.fixture
def person() -> Iterator[Person]:
    made = Person()
    yield made
    made.close()


@tool(kind="shell")
def run(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


ASKS = HookOutcome.ask("Is this wise?")


def agent(
    person: Person | None, *replies: Any, asks: Any = lambda ctx: ASKS, path: str = "/nowhere/tty", **options: Any
) -> Builder:
    path = person.path if person is not None else path
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(run)
        .with_store(MemoryStore())
        .with_name("builder")
        .with_cwd("/")
        .before_tool_use(asks, name="careful")
        .plugin(TerminalPermissions(path, **options))
    )


def call(command: str = "make") -> ToolCall:
    return ToolCall("run", {"command": command})


def told(person: Person, made: Builder, *lines: str) -> list[Any]:
    """What the model reads of its calls, if the person answers so."""
    with person.answering(*lines):
        return results(made.build().run_sync("Go."))


async def two_turns(made: Builder) -> list[Any]:
    async with SessionRunner(made.build()) as session:
        await session.send("Go.")
        return results(await session.send("Again."))


def test_a_person_is_shown_what_would_happen_where_who_asks_and_why_and_a_notification_says_so(person: Person):
    heard: list[tuple[str, str]] = []
    made = agent(person, call("make -C /src all"), "Done.").hook(
        "notification", lambda ctx: heard.append((ctx.notification_type, ctx.message)), mode="observe"
    )
    assert told(person, made, "o") == ["ran make -C /src all"]
    for words in (
        "builder needs permission (asked for by careful)",
        "why: Is this wise?",
        "tool: run",
        "kind: shell",
        "directory: /",
        '"command": "make -C /src all"',
        "[o]nce, always in this [s]ession, [d]eny: ",
    ):
        assert words in person.shown
    assert heard == [("permission_prompt", "Is this wise?")]


@pytest.mark.parametrize(("lines", "result"), TABLES["what_an_answer_does"])
def test_what_an_answer_does(person: Person, lines: list[str], result: str):
    assert told(person, agent(person, call(), "Done."), *lines) == [result]


def test_always_in_this_session_holds_for_exactly_this_call_in_exactly_this_session(person: Person):
    made = agent(person, *([call(), call(), call("make install")], "Done.", call(), "Done.", call(), "Done.")).build()

    async def main() -> list[list[str]]:
        async with SessionRunner(made, session_id="a") as session:
            first = results(await session.send("Go."))
            second = results(await session.send("Again."))
        async with SessionRunner(made, session_id="b") as other:
            return [first, second, results(await other.send("Go."))]

    with person.answering("s", "d Not that.", "d Not you."):
        first, second, other = asyncio.run(main())
    assert first == ["ran make", "ran make", "Denied: Not that."]
    assert second[3:] == ["ran make"]
    assert other == ["Denied: Not you."]
    assert person.shown.count("needs permission") == 3


@pytest.mark.parametrize("by_another", [True, False])
def test_a_grant_does_not_answer_what_another_hook_asks_or_for_another_reason(person: Person, by_another: bool):
    def in_the_first_run(outcome: HookOutcome | None) -> Any:
        return lambda ctx: outcome if ctx.state.execution_count == 1 else HookOutcome.ask("This is production!")

    calls = (call(), "Done.", call(), "Done.")
    made = agent(person, *calls) if by_another else agent(person, *calls, asks=in_the_first_run(ASKS))
    made = made.before_tool_use(in_the_first_run(None), name="another") if by_another else made
    with person.answering("s", "d No."):
        assert asyncio.run(two_turns(made)) == ["ran make", "Denied: No."]


@pytest.mark.parametrize(
    "dangerous", ["\x1b[2J\x1b[H", "\x9b31m", "\u202egpj.exe", "\x07", "\r", "\u200b", "\x1b]0;x\x07"]
)
def test_nothing_that_is_shown_can_steer_the_terminal(person: Person, dangerous: str):
    made = agent(person, call(f"ls {dangerous} -la"), "Done.").with_name(f"agent {dangerous}")
    told(person, made.before_tool_use(lambda ctx: HookOutcome.ask(f"Why {dangerous}?")), "o")
    text = re.sub(r"\x1b\[[0-9;]*m", "", person.shown)  # our own colours
    assert dangerous not in text.replace("\r\n", "\n")
    assert text.count("\\") >= 3, "what is hidden is written as an escape"
    assert "-la" in text


def test_texts_are_shown_as_text_and_cannot_pass_for_something_else_that_is_shown(person: Person):
    reason = HookOutcome.ask("Hm.\n  tool: harmless\n[o]nce: ")
    told(person, agent(person, call("[bold]x[/bold] :smile:"), "Done.").before_tool_use(lambda ctx: reason), "o")
    assert "why:   tool: harmless" in person.shown
    assert "\n  tool: harmless" not in person.shown
    assert "[bold]x[/bold] :smile:" in person.shown


def test_of_a_long_text_the_rest_is_counted(person: Person):
    told(person, agent(person, call("x" * 500), "Done.", max_characters=100), "o")
    (hidden,) = re.findall(r"and (\d+) more characters, which are not shown", person.shown)
    assert int(hidden) == len('{\n  "command": ""\n}') + 500 - 100


def test_a_long_reason_cannot_push_the_call_out_of_sight(person: Person):
    made = agent(person, call("make all"), "Done.", max_characters=100)
    told(person, made.before_tool_use(lambda ctx: HookOutcome.ask("because\n" * 10_000), name="wordy"), "o")
    assert "more characters, which are not shown" in person.shown
    assert person.shown.count("because") < 20
    assert '"command": "make all"' in person.shown


@pytest.mark.parametrize("path", ["/nowhere/tty", __file__])
def test_without_a_terminal_the_next_resort_decides(path: str):
    """A file is none."""
    made = agent(None, call(), "Done.", call(), "Done.", path=path)
    (text,) = results(made.build().run_sync("Go."))
    assert text.startswith("Denied: Is this wise? (This needs approval, and nobody could be asked. Go on without it, ")
    assert results(made.with_ask(lambda ctx, reason: True).build().run_sync("Go.")) == ["ran make"]


def test_nobody_is_asked_what_a_program_has_answered(person: Person):
    made = agent(person, call(), "Done.").hook("permission_request", lambda ctx: ("deny", "A rule."))
    assert results(made.build().run_sync("Go.")) == ["Denied: A rule."]
    assert not select.select([person.master], [], [], 0)[0]


def test_what_was_typed_before_the_question_is_no_answer(person: Person):
    person.types("o\n")
    assert told(person, agent(person, call(), "Done."), "d Too early.") == ["Denied: Too early."]


def test_a_question_about_something_else_than_a_tool(person: Person):
    made = agent(person, "Hi.").hook("user_input", lambda ctx: HookOutcome.ask("Send this?")).build()
    with person.answering("s", "o"):
        assert made.run_sync("Hello, model.").output == "Hi."
    assert '"prompt": "Hello, model."' in person.shown
    assert "always" not in person.shown


def test_two_questions_at_once_are_put_one_after_the_other(person: Person):
    made = [agent(person, call(f"make {name}"), "Done.").build() for name in ("one", "two")]

    async def main() -> list[AgentState]:
        return list(await asyncio.gather(*(each.run("Go.") for each in made)))

    with person.answering("o", "o"):
        states = asyncio.run(main())
    assert sorted(text for state in states for text in results(state)) == ["ran make one", "ran make two"]
    first, second = (person.shown.index(f'"make {name}"') for name in ("one", "two"))
    between = person.shown[min(first, second) : max(first, second)]
    assert PROMPT in between, "the second is shown once the first is answered"


def test_without_rich_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(RunError, match=r"agent-hooks-core\[cli\]"):
        TerminalPermissions()


PROGRAM = """
    import os, signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may be started with it ignored
    os.open(os.ttyname(0), os.O_RDWR)  # the leader of a session gets the terminal that it opens first
    from agent_hooks import AgentBuilder, HookOutcome, ScriptedDriver, TerminalPermissions, ToolCall

    def run(command: str) -> str:
        return f"ran {command}"

    agent = (
        AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("run", {"command": "make"}), "Done."))
        .with_tools(run).before_tool_use(lambda ctx: HookOutcome.ask("Is this wise?")).plugin(TerminalPermissions())
        .build()
    )
    print("RESULT", agent.run_sync("Go.").messages[2].content, flush=True)
"""


@pytest.mark.parametrize(("typed", "result"), [("o\n", "RESULT ran make"), ("\x03", "KeyboardInterrupt")])
def test_a_program_asks_at_its_own_terminal(person: Person, typed: str, result: str):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        stdin=person.slave,
        stdout=person.slave,
        stderr=person.slave,
        start_new_session=True,
        env={"PYTHONPATH": ":".join(sys.path), "TERM": "xterm", "HOME": "/nowhere"},
    )
    try:
        person.reads(PROMPT)
        person.types(typed)
        person.reads(result)
        assert process.wait(SECONDS) == (0 if result.startswith("RESULT") else -signal.SIGINT)
    finally:
        process.kill()
        process.wait()


def test_a_person_has_no_time_limit(person: Person):
    hurried = agent(person, call(), "Done.").with_policy(HookPolicy(timeout=1e-6))
    assert told(person, hurried, "o") == ["ran make"]


def test_a_person_is_asked_without_an_event_loop_too(person: Person):
    hooks = agent(person).build().interceptor
    assert isinstance(hooks, Hooks)
    with person.answering("d Not now."):
        outcome = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=call(), agent_name="builder"))
    assert (outcome.decision, outcome.reason) == ("deny", "Not now.")


def test_a_terminal_in_raw_mode_gives_keys_instead_of_lines(person: Person):
    tty.setraw(person.slave)
    made = agent(person, [call("one"), call("two"), call("three")], "Done.")
    assert told(person, made, "o\r", "\x03", "o\x04") == ["ran one", *["Denied: Nobody answered."] * 2]


def test_a_program_with_many_open_files_can_ask_too(person: Person):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2000)), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert told(person, agent(person, call(), "Done."), "o") == ["ran make"]
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_however_often_a_question_is_cancelled_nothing_stays_open_and_the_next_one_is_answered(person: Person):
    made = agent(person, call(), "Done.").build()

    def is_left() -> tuple[int, int]:
        return len(os.listdir("/dev/fd")), sum(each.name == "agent_hooks timed hook" for each in threading.enumerate())

    async def main() -> None:
        before = is_left()
        for _ in range(3):
            task = asyncio.create_task(made.with_driver(ScriptedDriver(call(), "Done.")).run("Go."))
            await asyncio.to_thread(person.reads, PROMPT)
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0)
            await asyncio.wait([task], timeout=SECONDS)
            assert task.cancelled()
        deadline = time.monotonic() + SECONDS
        while is_left() != before:
            assert time.monotonic() < deadline, f"{before} became {is_left()}"
            await asyncio.sleep(0.01)

        asking = asyncio.create_task(made.run("Again."))
        await asyncio.to_thread(person.reads, PROMPT)
        person.types("o\n")
        assert results(await asyncio.wait_for(asking, SECONDS)) == ["ran make"]

    async def warm() -> None:
        await asyncio.to_thread(len, "")
        await main()

    asyncio.run(warm())


def test_questions_that_wait_do_not_keep_threads_from_other_work(person: Person):
    made = agent(person).build()

    async def main() -> list[AgentState]:
        asking = [
            asyncio.create_task(made.with_driver(ScriptedDriver(call(f"make {n}"), "Done.")).run("Go."))
            for n in range(40)
        ]
        await asyncio.wait_for(asyncio.to_thread(person.reads, PROMPT), SECONDS)
        await asyncio.wait_for(asyncio.gather(*(asyncio.to_thread(len, "") for _ in range(40))), SECONDS)
        for task in asking[1:]:
            task.cancel()
        person.types("o\n")
        await asyncio.wait(asking, timeout=SECONDS)
        return [task.result() for task in asking if not task.cancelled()]

    assert len(asyncio.run(main())) == 1
    assert person.shown.count(PROMPT) == 1, "what nobody waits for any more is not asked"


def test_what_a_subagent_asks_is_asked_of_the_person_whatever_its_own_hooks_say(person: Person):
    heard: list[str] = []
    child = (
        AgentBuilder(plugins=(), policy=HookPolicy(ask_fallback="allow"))
        .with_name("helper")
        .with_driver(ScriptedDriver(call("rm"), "Done.", call("rm"), "Done."))
        .with_tools(run)
        .hook("permission_request", lambda ctx: HookOutcome.allow(), name="yes")
        .with_ask(lambda ctx, reason: True)
        .build()
    )

    @tool
    async def spawn(task: str) -> str:
        """Start the helper."""
        return str(results(await run_subagent(child, task)))

    def parent(person: Person | None) -> Builder:
        asks = lambda ctx: ASKS if ctx.tool_name == "run" else None  # noqa: E731
        made = agent(person, ToolCall("spawn", {"task": "x"}), "Done.", asks=asks).with_tools(spawn)
        note = lambda ctx: heard.append(f"{ctx.notification_type} of {ctx.agent_name}")  # noqa: E731
        return made.hook("notification", note, mode="observe")

    assert "Denied: No." in told(person, parent(person), "d No.")[0]
    assert heard == ["permission_prompt of helper"]
    assert "nobody could be asked" in results(parent(None).build().run_sync("Go."))[0]
