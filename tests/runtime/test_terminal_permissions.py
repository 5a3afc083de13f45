"""A person at a real (pseudo) terminal answers: the question, the effect of each answer, and how long it holds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentBuilder, HookContext, HookOutcome, HookPolicy, ScriptedDriver, ToolCall, tool
from agent_hooks.engine.hooks import Hooks
from agent_hooks.errors import RunError
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.runtime.subagents import run_subagent
from agent_hooks.runtime.terminal_permissions import TerminalPermissions
from agent_hooks.system.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks import AgentRuntime, AgentState
    from agent_hooks.runtime.builder import AgentBuilder as Builder

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

    def answers(self, *lines: str) -> threading.Thread:
        """Answer one question after the other with these lines, in a thread of their own."""

        def work() -> None:
            for line in lines:
                self.reads("Why (for the model" if line.startswith("because") else PROMPT)
                self.types(f"{line}\n")

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

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


def agent(person: Person | None, *replies: Any, **options: Any) -> Builder:
    path = person.path if person is not None else "/nowhere/tty"
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(run)
        .with_store(MemoryStore())
        .with_name("builder")
        .with_cwd("/")
        .before_tool_use(lambda ctx: HookOutcome.ask("Is this wise?"), name="careful")
        .plugin(TerminalPermissions(path, **options))
    )


def call(command: str = "make") -> ToolCall:
    return ToolCall("run", {"command": command})


def results(state: AgentState) -> list[str]:
    return [str(message.content) for message in state.messages if message.role == "tool"]


def test_a_person_is_shown_what_would_happen_where_who_asks_and_why(person: Person):
    thread = person.answers("o")
    state = agent(person, call("make -C /src all"), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["ran make -C /src all"]
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


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["o"], "ran make"),
        (["once"], "ran make"),
        (["s"], "ran make"),
        (["yes", "", "oh", "o now", "o"], "ran make"),
        (["d", "because it is late"], "Denied: because it is late"),
        (["d  ", "because it is late"], "Denied: because it is late"),
        (["deny Not now."], "Denied: Not now."),
    ],
)
def test_what_an_answer_does(person: Person, lines: list[str], result: str):
    thread = person.answers(*lines)
    state = agent(person, call(), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == [result]


def test_no_reason_is_needed(person: Person):
    def work() -> None:
        person.reads(PROMPT)
        person.types("d\n")
        person.reads("Why (for the model")
        person.types("\n")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    state = agent(person, call(), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["Denied: The person at the terminal refused."]


def test_always_in_this_session_holds_for_exactly_this_call_in_exactly_this_session(person: Person):
    made = agent(person, *([call(), call(), call("make install")], "Done.", call(), "Done.", call(), "Done.")).build()
    thread = person.answers("s", "d Not that.", "d Not you.")

    async def main() -> list[list[str]]:
        async with SessionRunner(made, session_id="a") as session:
            first = results(await session.send("Go."))
            second = results(await session.send("Again."))
        async with SessionRunner(made, session_id="b") as other:
            return [first, second, results(await other.send("Go."))]

    first, second, other = asyncio.run(main())
    thread.join(SECONDS)
    assert first == ["ran make", "ran make", "Denied: Not that."]
    assert second[3:] == ["ran make"]
    assert other == ["Denied: Not you."]
    assert person.shown.count("needs permission") == 3


def test_a_grant_does_not_answer_what_another_hook_asks(person: Person):
    made = agent(person, call(), "Done.", call(), "Done.").before_tool_use(
        lambda ctx: HookOutcome.ask("Really?") if ctx.state.execution_count == 2 else None, name="another"
    )
    thread = person.answers("s", "d No.")

    async def main() -> AgentState:
        async with SessionRunner(made.build()) as session:
            await session.send("Go.")
            return await session.send("Again.")

    state = asyncio.run(main())
    thread.join(SECONDS)
    assert results(state) == ["ran make", "Denied: No."]


@pytest.mark.parametrize(
    "dangerous", ["\x1b[2J\x1b[H", "\x9b31m", "\u202egpj.exe", "\x07", "\r", "\u200b", "\x1b]0;x\x07"]
)
def test_nothing_that_is_shown_can_steer_the_terminal(person: Person, dangerous: str):
    thread = person.answers("o")
    made = agent(person, call(f"ls {dangerous} -la"), "Done.")
    made = made.with_name(f"agent {dangerous}").before_tool_use(lambda ctx: HookOutcome.ask(f"Why {dangerous}?"))
    made.build().run_sync("Go.")
    thread.join(SECONDS)
    text = re.sub(r"\x1b\[[0-9;]*m", "", person.shown)  # our own colours
    assert dangerous not in text.replace("\r\n", "\n")
    assert text.count("\\") >= 3, "what is hidden is written as an escape"
    assert "-la" in text


def test_a_reason_cannot_pass_for_something_else_that_is_shown(person: Person):
    thread = person.answers("o")
    made = agent(person, call("rm -r /"), "Done.")
    made.before_tool_use(lambda ctx: HookOutcome.ask("Hm.\n  tool: harmless\n[o]nce: ")).build().run_sync("Go.")
    thread.join(SECONDS)
    assert "why:   tool: harmless" in person.shown
    assert "\n  tool: harmless" not in person.shown


def test_of_a_long_text_the_rest_is_counted(person: Person):
    thread = person.answers("o")
    agent(person, call("x" * 500), "Done.", max_characters=100).build().run_sync("Go.")
    thread.join(SECONDS)
    (hidden,) = re.findall(r"and (\d+) more characters, which are not shown", person.shown)
    assert int(hidden) == len('{\n  "command": ""\n}') + 500 - 100


def test_brackets_in_a_text_are_text(person: Person):
    thread = person.answers("o")
    agent(person, call("[bold]x[/bold] :smile:"), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert "[bold]x[/bold] :smile:" in person.shown


def test_without_a_terminal_the_next_resort_decides():
    (told,) = results(agent(None, call(), "Done.").build().run_sync("Go."))
    assert told.startswith("Denied: Is this wise? (This needs approval, and nobody could be asked. Go on without it, ")
    asked = agent(None, call(), "Done.").with_ask(lambda ctx, reason: True).build()
    assert results(asked.run_sync("Go.")) == ["ran make"]


def test_a_file_is_no_terminal(tmp_path: Any):
    file = tmp_path / "tty"
    file.write_text("o\n")
    permissions = TerminalPermissions(str(file))
    question = HookContext("permission_request", tool_call=call(), reason="May it?")
    assert asyncio.run(permissions.permission_request(question)) is None


def test_nobody_is_asked_what_a_program_has_answered(person: Person):
    made = agent(person, call(), "Done.").hook("permission_request", lambda ctx: ("deny", "A rule."))
    assert results(made.build().run_sync("Go.")) == ["Denied: A rule."]
    assert not select.select([person.master], [], [], 0)[0]


def test_a_closed_terminal_denies(person: Person):
    thread = person.answers("\x04")
    state = agent(person, call(), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["Denied: Nobody answered."]


def test_what_was_typed_before_the_question_is_no_answer(person: Person):
    person.types("o\n")
    thread = person.answers("d Too early.")
    state = agent(person, call(), "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["Denied: Too early."]


def test_a_question_about_something_else_than_a_tool(person: Person):
    thread = person.answers("s", "o")
    made = agent(person, "Hi.").hook("user_input", lambda ctx: HookOutcome.ask("Send this?"))
    assert made.build().run_sync("Hello, model.").output == "Hi."
    thread.join(SECONDS)
    assert '"prompt": "Hello, model."' in person.shown
    assert "always" not in person.shown


def test_two_questions_at_once_are_put_one_after_the_other(person: Person):
    made = [agent(person, call(f"make {name}"), "Done.").build() for name in ("one", "two")]

    async def main() -> list[AgentState]:
        return list(await asyncio.gather(*(each.run("Go.") for each in made)))

    thread = person.answers("o", "o")
    states = asyncio.run(main())
    thread.join(SECONDS)
    assert sorted(text for state in states for text in results(state)) == ["ran make one", "ran make two"]
    first, second = (person.shown.index(f'"make {name}"') for name in ("one", "two"))
    between = person.shown[min(first, second) : max(first, second)]
    assert PROMPT in between, "the second is shown once the first is answered"


def test_the_loop_goes_on_while_a_person_thinks(person: Person):
    made = agent(person, call(), "Done.").build()

    async def main() -> AgentState:
        running = asyncio.create_task(made.run("Go."))
        await asyncio.to_thread(person.reads, PROMPT)
        person.types("o\n")
        return await asyncio.wait_for(running, SECONDS)

    assert results(asyncio.run(main())) == ["ran make"]


def test_a_question_that_nobody_waits_for_any_more_reads_nothing(person: Person):
    made = agent(person, call(), "Done.", call(), "Done.").build()

    async def main() -> AgentState:
        running = asyncio.create_task(made.run("Go."))
        await asyncio.to_thread(person.reads, PROMPT)
        running.cancel()
        await asyncio.wait([running], timeout=SECONDS)
        assert running.cancelled()
        asking = asyncio.create_task(made.with_driver(ScriptedDriver(call(), "Done.")).run("Again."))
        await asyncio.to_thread(person.reads, PROMPT)
        person.types("o\n")
        return await asyncio.wait_for(asking, SECONDS)

    assert results(asyncio.run(main())) == ["ran make"]


def test_a_notification_says_that_a_person_is_asked(person: Person):
    told: list[tuple[str, str]] = []
    made = agent(person, call(), "Done.").hook(
        "notification", lambda ctx: told.append((ctx.notification_type, ctx.message)), mode="observe"
    )
    thread = person.answers("o")
    made.build().run_sync("Go.")
    thread.join(SECONDS)
    assert told == [("permission_prompt", "Is this wise?")]


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
    made = agent(person, call(), "Done.").with_policy(HookPolicy(timeout=0.05)).build()

    def work() -> None:
        person.reads(PROMPT)
        time.sleep(0.2)
        person.types("o\n")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    state = made.run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["ran make"]


def test_a_person_is_asked_without_an_event_loop_too(person: Person):
    hooks = agent(person).build().interceptor
    thread = person.answers("d Not now.")
    assert isinstance(hooks, Hooks)
    outcome = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=call(), agent_name="builder"))
    thread.join(SECONDS)
    assert (outcome.decision, outcome.reason) == ("deny", "Not now.")


def test_a_grant_does_not_answer_what_is_asked_for_another_reason(person: Person):
    reasons = iter(["Is this wise?", "This is production!"])
    made = (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(call(), "Done.", call(), "Done."))
        .with_tools(run)
        .before_tool_use(lambda ctx: HookOutcome.ask(next(reasons)), name="careful")
        .plugin(TerminalPermissions(person.path))
        .build()
    )
    thread = person.answers("s", "d No.")

    async def main() -> AgentState:
        async with SessionRunner(made) as session:
            await session.send("Go.")
            return await session.send("Again.")

    state = asyncio.run(main())
    thread.join(SECONDS)
    assert results(state) == ["ran make", "Denied: No."]


def test_a_long_reason_cannot_push_the_call_out_of_sight(person: Person):
    thread = person.answers("o")
    made = agent(person, call("make all"), "Done.", max_characters=100)
    made.before_tool_use(lambda ctx: HookOutcome.ask("because\n" * 10_000), name="wordy").build().run_sync("Go.")
    thread.join(SECONDS)
    assert "more characters, which are not shown" in person.shown
    assert person.shown.count("because") < 20
    assert '"command": "make all"' in person.shown


def test_a_terminal_in_raw_mode_gives_keys_instead_of_lines(person: Person):
    import tty

    tty.setraw(person.slave)

    def work() -> None:
        for typed in ("o\r", "\x03", "o\x04"):
            person.reads(PROMPT)
            person.types(typed)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    state = agent(person, [call("one"), call("two"), call("three")], "Done.").build().run_sync("Go.")
    thread.join(SECONDS)
    assert results(state) == ["ran one", *["Denied: Nobody answered."] * 2]


def test_a_program_with_many_open_files_can_ask_too(person: Person):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2000)), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        thread = person.answers("o")
        state = agent(person, call(), "Done.").build().run_sync("Go.")
        thread.join(SECONDS)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert results(state) == ["ran make"]


def test_however_often_a_question_is_cancelled_nothing_stays_open(person: Person):
    made = agent(person).build()

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
    told: list[str] = []
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

    def parent(path: str) -> AgentRuntime:
        made = agent(person, ToolCall("spawn", {"task": "x"}), "Done.")
        return (
            AgentBuilder(plugins=())
            .with_driver(made.build().driver)
            .with_tools(spawn)
            .before_tool_use(lambda ctx: HookOutcome.ask("Is this wise?"), match="run", name="careful")
            .hook(
                "notification", lambda ctx: told.append(f"{ctx.notification_type} of {ctx.agent_name}"), mode="observe"
            )
            .plugin(TerminalPermissions(path))
            .build()
        )

    thread = person.answers("d No.")
    assert "Denied: No." in results(parent(person.path).run_sync("Go."))[0]
    thread.join(SECONDS)
    assert told == ["permission_prompt of helper"]
    assert "nobody could be asked" in results(parent("/nowhere/tty").run_sync("Go."))[0]
