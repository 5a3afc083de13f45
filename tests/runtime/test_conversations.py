"""Conversations survive killed processes once saved, and two writers never share one."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, Message, Step, StopReason, StopSignal, Suspended, ToolCall, ToolExecution, Usage
from agent_hooks.errors import StoreError
from agent_hooks.runtime.conversations import FileConversations, MemoryConversations

if TYPE_CHECKING:
    from pathlib import Path

CALL = ToolCall("echo", {"text": "ä\u2028\n"}, id="c1")
RICH = AgentState(
    agent_id="a",
    execution_id="e",
    execution_count=3,
    status="completed",
    system_prompt="Be brief.",
    metadata={"role": "guest", "deep": {"list": [1, None, 2.5]}},
    messages=(
        Message(role="user", content="Hello\nthere"),
        Message(role="assistant", tool_calls=(CALL,)),
        Message(role="tool", content="\ud800", name="echo", tool_call_id="c1", metadata={"is_error": True}),
        Message(role="assistant", content=["any", {"json": True}]),
    ),
    steps=(Step(index=0, model="m", executions=(ToolExecution(call=CALL, result="x"),), usage=Usage(input_tokens=3)),),
    model_usage={"m": Usage(input_tokens=3)},
    stop_signals=(StopSignal(reason=StopReason.COMPLETED, message="done"),),
    output="done",
)


def said(*texts: str) -> AgentState:
    return AgentState(status="completed", messages=tuple(Message(role="user", content=text) for text in texts))


def texts(state: AgentState | None) -> list[Any]:
    assert state is not None
    return [message.content for message in state.messages]


def saved(folder: Path, *states: AgentState, session_id: str = "s") -> Path:
    """Save the states one after the other, and return the file."""
    store = FileConversations(folder)

    async def save() -> None:
        for state in states:
            await store.save(session_id, state)
        await store.release(session_id)

    asyncio.run(save())
    return folder / os.path.basename(store.path(session_id))


def loaded(folder: Path, session_id: str = "s") -> AgentState | None:
    """What another process would read."""
    store = FileConversations(folder)

    async def load() -> AgentState | None:
        try:
            return await store.load(session_id)
        finally:
            await store.release(session_id)

    return asyncio.run(load())


WAITING = RICH.replace(status="suspended", suspended=Suspended(token="t", event="before_tool_use", decision="ask"))


@pytest.mark.parametrize("make", [MemoryConversations, FileConversations])
@pytest.mark.parametrize("state", [RICH, WAITING], ids=["ended", "waiting"])
def test_what_was_saved_is_loaded_whole_and_nothing_is_none(
    make: Any, state: AgentState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))
    store = make()

    async def main() -> None:
        assert await store.load("s") is None
        await store.save("s", state)
        await store.release("s")
        assert await store.load("s") == state
        assert await store.load("another") is None

    asyncio.run(main())


@pytest.mark.parametrize("changed", [("other", "two"), ("one",), (), ("one", "2", "three")])
def test_a_conversation_that_was_changed_is_written_anew_and_whole(tmp_path: Path, changed: tuple[str, ...]):
    saved(tmp_path, said("one", "two"), said(*changed))
    assert texts(loaded(tmp_path)) == list(changed)
    assert sorted(os.listdir(tmp_path)) == ["s.jsonl", "s.jsonl.lock"]


@pytest.mark.parametrize("missing", [1, 10, 100])
def test_a_file_that_was_cut_off_is_an_error_and_stays_as_it_is(tmp_path: Path, missing: int):
    file = saved(tmp_path, said("one", "two"))
    cut = file.read_bytes()[:-missing]
    file.write_bytes(cut)
    with pytest.raises(StoreError, match=r"s\.jsonl:\d: This line of the conversation is damaged"):
        loaded(tmp_path)
    assert file.read_bytes() == cut


@pytest.mark.parametrize("torn", [b'{"message": {"ro', b"\x00\x00", b'{"message":{"role":"user","content":"lost"}}\n'])
def test_what_a_killed_writer_left_is_dropped_before_the_next_lines(tmp_path: Path, torn: bytes):
    file = saved(tmp_path, said("one"))
    file.write_bytes(file.read_bytes() + torn)
    assert texts(loaded(tmp_path)) == ["one"]
    store = FileConversations(tmp_path)

    async def go_on() -> None:
        state = await store.load("s")
        assert state is not None
        await store.save("s", state.with_messages(Message(role="user", content="two")))
        await store.release("s")

    asyncio.run(go_on())
    assert texts(loaded(tmp_path)) == ["one", "two"]


@pytest.mark.parametrize(
    ("line", "damage"),
    [
        (2, b"{not json}"),
        (2, b'"text"'),
        (2, b'{"message":{"nonsense":1}}'),
        (2, b'{"state":{},"messages":7}'),
        (3, b'{"state":{"no such field":1},"messages":1}'),
        (3, b""),
        (1, b'{"version":1}'),
    ],
)
def test_damage_inside_a_file_is_an_error_that_names_file_and_line(tmp_path: Path, line: int, damage: bytes):
    file = saved(tmp_path, said("one"), said("one", "two"))
    lines = file.read_bytes().split(b"\n")
    lines[line - 1] = damage
    file.write_bytes(b"\n".join(lines))
    with pytest.raises(StoreError, match=rf"s\.jsonl:{line}: .*damaged") as caught:
        loaded(tmp_path)
    assert "one" not in str(caught.value), "what people said is not in an error"


def test_a_file_of_another_version_is_an_error_after_which_the_conversation_is_free_again(tmp_path: Path):
    file = saved(tmp_path, said("one"))
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"version":1', b'"version":2'))
    store = FileConversations(tmp_path)
    with pytest.raises(StoreError, match="another version"):
        asyncio.run(store.load("s"))
    file.write_bytes(whole)
    assert texts(loaded(tmp_path)) == ["one"]


def test_the_file_of_another_session_is_not_taken_for_ones_own(tmp_path: Path):
    """Some file systems do not tell upper from lower case."""
    os.rename(saved(tmp_path, said("one"), session_id="ABC"), tmp_path / "abc.jsonl")
    with pytest.raises(StoreError, match="another session"):
        loaded(tmp_path, "abc")


@pytest.mark.parametrize(
    "session_id", ["../../etc/passwd", "..", ".", "/abs", "a/b\\c", "a\0b", "C123:17.5", "ünï", "\ud800", "%2e%2e"]
)
def test_no_id_leads_out_of_the_folder(tmp_path: Path, session_id: str):
    folder = tmp_path / "inner" / "conversations"
    saved(folder, said(session_id.encode("ascii", "replace").decode()), session_id=session_id)
    assert loaded(folder, session_id) is not None
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == sorted(os.listdir(folder))


@pytest.mark.parametrize("session_id", ["", "x" * 201, "ü" * 40])
def test_an_id_that_cannot_name_a_file_is_an_error(tmp_path: Path, session_id: str):
    with pytest.raises(StoreError, match="cannot name a conversation"):
        loaded(tmp_path, session_id)


def test_different_ids_have_different_files(tmp_path: Path):
    ids = ["a", "a.jsonl", "a.jsonl.lock", "a.jsonl.new", "a/", "a%2F", "A b", "A+b"]
    for session_id in ids:
        saved(tmp_path, said(session_id), session_id=session_id)
    assert [texts(loaded(tmp_path, session_id)) for session_id in ids] == [[session_id] for session_id in ids]


def test_nobody_else_can_read_a_conversation(tmp_path: Path):
    before = os.umask(0)
    try:
        file = saved(tmp_path / "made", said("one"), said("changed"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700


def test_by_default_conversations_are_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))
    assert FileConversations().path("s") == str(tmp_path / "conversations" / "s.jsonl")


@pytest.mark.parametrize("is_file", [False, True])
def test_a_conversation_has_one_session_at_a_time(tmp_path: Path, is_file: bool):
    first = FileConversations(tmp_path) if is_file else MemoryConversations()
    second = FileConversations(tmp_path) if is_file else first

    async def main() -> None:
        await first.load("s")
        with pytest.raises(StoreError, match="in use by another session"):
            await second.load("s")
        await second.load("another")
        await first.release("s")
        await second.load("s")
        with pytest.raises(StoreError, match="in use"):
            await first.load("s")

    asyncio.run(main())


PROGRAM = """
    import asyncio, sys
    from agent_hooks.runtime.conversations import FileConversations
    from agent_hooks.model.state import AgentState, Message

    async def main():
        store = FileConversations(sys.argv[1])
        state = await store.load("s") or AgentState()
        number = len(state.messages) and int(state.messages[-1].content)
        print("loaded", number, flush=True)
        while True:
            number += 1
            state = state.with_messages(Message(role="user", content=str(number)))
            if number % 7 == 0:  # as a compaction does
                state = state.replace(messages=state.messages[-3:])
            await store.save("s", state)
            print("saved", number, flush=True)

    asyncio.run(main())
"""


def killed_after(folder: Path, acknowledged: int, delay: float) -> tuple[int, int]:
    """Let a process save, kill it, and return the state that it loaded and the last one that it reported as saved."""
    program = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = int(process.stdout.readline().split()[1])
        for _ in range(acknowledged):
            process.stdout.readline()
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.kill()
        rest = process.stdout.read().split("\n")
    last = [line for line in rest if line.startswith("saved ") and line.split()[1].isdigit()]
    return found, int(last[-1].split()[1]) if last else found + acknowledged


def test_a_process_that_is_killed_loses_nothing_that_it_has_acknowledged(tmp_path: Path):
    acknowledged = 0
    for round_ in range(24):
        found, last = killed_after(tmp_path, round_ % 5, delay=0.0007 * (round_ % 11))
        # One more may have been saved than it came to say.
        assert acknowledged <= found <= acknowledged + 1
        acknowledged = last
        state = loaded(tmp_path)
        if state is not None:
            numbers = [int(text) for text in texts(state)]
            assert numbers == list(range(numbers[0], numbers[-1] + 1))
            assert last <= numbers[-1] <= last + 1
    assert acknowledged > 24


def test_what_cannot_be_written_leaves_what_was_saved_before_and_nothing_besides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    store = FileConversations(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    async def main() -> None:
        await store.save("s", said("one"))
        with pytest.raises(StoreError, match=r"s\.jsonl has something in it that cannot be written as JSON"):
            await store.save("s", said("one").replace(output=10**5000))  # more digits than Python reads
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            for state in (said("one", "two"), said("changed")):
                with pytest.raises(StoreError, match="No space left"):
                    await store.save("s", state)
        await store.release("s")
        assert sorted(os.listdir(tmp_path)) == ["s.jsonl", "s.jsonl.lock"]
        await store.save("s", said("one", "three"))
        await store.release("s")

    asyncio.run(main())
    assert texts(loaded(tmp_path)) == ["one", "three"]


def test_a_session_that_is_cancelled_while_it_waits_for_a_conversation_does_not_take_it(tmp_path: Path):
    first, second = FileConversations(tmp_path), FileConversations(tmp_path, timeout=30)

    async def main() -> None:
        await first.load("s")
        waiting = asyncio.create_task(second.load("s"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        await first.release("s")
        assert await first.load("s") is None
        await first.release("s")

    asyncio.run(main())
