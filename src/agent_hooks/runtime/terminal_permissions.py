"""Permission questions to the person at the terminal: allow once, always in this session, or deny."""

from __future__ import annotations

import json
import os
from threading import Lock
from typing import TYPE_CHECKING

from agent_hooks.engine.calling import in_event_loop, in_thread
from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.values import plain
from agent_hooks.system.visible import visible

from .boundaries import notify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

MAX_CHARACTERS = 4000
# Fields with the subject of a question that is not about a tool call.
_SUBJECTS = ("prompt", "task", "skill_name", "arguments", "model", "output", "trigger", "definition")
# The limit of file descriptors for select().
_SELECT_LIMIT = 1024
# Seconds: a person has no time limit.
_FOREVER = 1e9
# All agents share one terminal and one person.
_terminal = Lock()


class TerminalPermissions:
    """A plugin that puts each question to the person at the terminal:
    ``AgentBuilder().plugin(TerminalPermissions())``.

    It shows the tool and its arguments, the asking hooks and the reason, and reads an answer: allow once; allow always
    in this session, for exactly this call, if the same hooks ask for the same reason; or deny, with a reason for the
    model. There is no time limit, and questions are put one after the other. If another hook has answered, or there is
    no terminal (``path``; never on Windows), it has no opinion. Its output cannot control the terminal; text beyond
    ``max_characters`` is omitted, with a note of its length. Needs ``pip install 'agent-hooks-core[cli]'``. Raises
    ``RunError`` without it.
    """

    def __init__(self, path: str = "/dev/tty", *, max_characters: int = MAX_CHARACTERS) -> None:
        try:
            import rich  # noqa: F401 - needed for a question, when it is too late to fail
        except ImportError as error:
            raise RunError("TerminalPermissions needs rich: pip install 'agent-hooks-core[cli]'.") from error
        self._path = path
        self._max_characters = max_characters
        self._granted: set[str] = set()

    # Without its own time limit, that of the policy would apply.
    @hookimpl(mode="gate", trylast=True, timeout=_FOREVER)
    async def permission_request(self, ctx: HookContext) -> HookOutcome | None:
        """Return the person's answer."""
        import asyncio

        if any(outcome.decision in ("allow", "deny") for _, outcome in ctx.previous_results):
            return None
        return await self._answer(ctx) if in_event_loop() else asyncio.run(self._answer(ctx))

    async def _answer(self, ctx: HookContext) -> HookOutcome | None:
        if not self._has_terminal():
            return None
        if not self._is_granted(ctx):
            await notify(ctx, "permission_prompt", ctx.reason)
        wake, woken = os.pipe()
        try:
            # A separate thread: an answer may take hours, and must not block a thread of the loop's pool.
            answer: HookOutcome | None = await in_thread(lambda _: self._put(ctx, wake), ctx, _FOREVER, sync=False)
            return answer
        finally:
            # A thread left behind after a cancellation would read the next input of the person.
            os.close(woken)

    def _has_terminal(self) -> bool:
        try:
            descriptor = os.open(self._path, os.O_RDWR | getattr(os, "O_NOCTTY", 0))
        except OSError:
            return False
        try:
            return os.isatty(descriptor)
        finally:
            os.close(descriptor)

    def _is_granted(self, ctx: HookContext) -> bool:
        return ctx.tool_call is not None and _key(ctx, ctx.tool_call) in self._granted

    def _put(self, ctx: HookContext, wake: int) -> HookOutcome | None:
        """Put the question after earlier ones. ``wake``: the end of a pipe; closing the other end cancels."""
        try:
            while not _terminal.acquire(timeout=0.05):
                if _ready(wake):
                    return None
            try:
                if _ready(wake):
                    return None
                if self._is_granted(ctx):
                    return HookOutcome.allow()
                with open(self._path, "r+b", buffering=0) as terminal, open(self._path, "w", encoding="utf-8") as out:
                    return self._ask(ctx, Typed(terminal.fileno(), wake), out)
            except OSError:  # the terminal is gone
                return None
            finally:
                _terminal.release()
        finally:
            os.close(wake)

    def _ask(self, ctx: HookContext, typed: Typed, out: TextIO) -> HookOutcome | None:
        from rich.console import Console
        from rich.text import Text

        console = Console(file=out, markup=False, emoji=False, highlight=False, soft_wrap=True)
        for style, line in self._lines(ctx):
            console.print(Text(line, style))
        call = ctx.tool_call
        choices = "[o]nce, [d]eny" if call is None else "[o]nce, always in this [s]ession, [d]eny"
        typed.forget()
        while True:
            console.print(f"{choices}: ", end="")
            out.flush()
            answer = typed.line()
            if answer is None:
                console.print()
                return HookOutcome.deny("Nobody answered.")
            choice, _, reason = answer.strip().partition(" ")
            if choice in ("o", "once") and not reason:
                return HookOutcome.allow()
            if choice in ("s", "session") and not reason and call is not None:
                self._granted.add(_key(ctx, call))
                return HookOutcome.allow()
            if choice in ("d", "deny"):
                if not reason:
                    console.print("Why (for the model; empty for no reason): ", end="")
                    out.flush()
                    reason = typed.line() or ""
                return HookOutcome.deny(reason.strip() or "The person at the terminal refused.")

    def _lines(self, ctx: HookContext) -> Iterator[tuple[str, str]]:
        """Yield the lines of the question, each with its style."""
        asked_by = ", ".join(ctx.asked_by) or "nobody in particular"
        heading = f"{ctx.agent_name or 'An agent'} needs permission (asked for by {asked_by})"
        yield "bold yellow", visible(heading[: self._max_characters])
        for style, line in self._cut(ctx.reason):
            yield style, f"  why: {line}"
        call = ctx.tool_call
        subject = {"tool": call.name, "kind": call.kind} if call is not None else {}
        if ctx.cwd:
            subject["directory"] = ctx.cwd
        for name, value in subject.items():
            for style, line in self._cut(visible(value, keep="\t")):
                yield style, f"  {name}: {line}"
        about = call.args if call is not None else {name: ctx.get(name) for name in _SUBJECTS if ctx.get(name)}
        text = json.dumps(plain(about), indent=2, ensure_ascii=False)
        for style, line in self._cut(text):
            yield style or "bold", f"  {line}"

    def _cut(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the lines of a text, each with its style; only the start of a long text."""
        for line in text[: self._max_characters].split("\n"):
            yield "", visible(line, keep="\t")
        if len(text) > self._max_characters:
            yield "bold red", f"... and {len(text) - self._max_characters} more characters, which are not shown"


class Typed:
    """Input lines from a person. ``wake``: a pipe; closing its other end cancels the wait."""

    def __init__(self, descriptor: int, wake: int) -> None:
        self._descriptor = descriptor
        self._wake = wake
        self._rest = b""

    def forget(self) -> None:
        """Discard input typed before the question."""
        import termios

        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def line(self) -> str | None:
        """Return the next line; None if the terminal is closed (Ctrl-D) or the wait was cancelled."""
        while b"\n" not in self._rest:
            if self._wake in _ready(self._wake, self._descriptor, timeout=None):
                return None
            data = os.read(self._descriptor, 4096)
            # A program may have put the terminal into raw mode, where Ctrl-C and Ctrl-D are characters.
            if not data or b"\x03" in data or b"\x04" in data:
                return None
            self._rest += data.replace(b"\r", b"\n")
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")


def _ready(*descriptors: int, timeout: float | None = 0) -> list[int]:
    """Return the descriptors that are readable or at their end."""
    import select

    if max(descriptors) < _SELECT_LIMIT:  # select() supports terminals on every system
        return select.select(descriptors, [], [], timeout)[0]
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(timeout)]


def _key(ctx: HookContext, call: ToolCall) -> str:
    """Return the scope of a grant: session, call, directory, asking hooks and reason."""
    session = ctx.session_id or ctx.agent_id
    scope = [session, ctx.agent_name, ctx.cwd, call.name, call.kind, plain(call.args), sorted(ctx.asked_by), ctx.reason]
    return json.dumps(scope, sort_keys=True)
