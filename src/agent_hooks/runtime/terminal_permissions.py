"""Asking the person at the terminal whether something may happen: once, always in the session, or not."""

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
# The field with the subject of a question that is not about a tool.
_SUBJECTS = ("prompt", "task", "skill_name", "arguments", "model", "output", "trigger", "definition")
# The most descriptors that select() takes.
_MOST_FOR_SELECT = 1024
# In seconds: a person has no time limit.
_FOREVER = 1e9
# One terminal has one person before it, however many agents ask.
_terminal = Lock()


class TerminalPermissions:
    """A plugin that puts each question to the person at the terminal:
    ``AgentBuilder().plugin(TerminalPermissions())``.

    It shows the tool and its arguments, who asks and why, and takes an answer: once; always in this session, for
    exactly this call, if the same hooks ask for the same reason; or no, with a reason for the model. There is no time
    limit, and questions are put one after the other. If another hook has answered, or there is no terminal (``path``,
    on Windows always), it has no opinion. What it shows cannot steer the terminal; of more than ``max_characters`` the
    rest is left out, and its length told. Needs ``pip install 'agent-hooks-core[cli]'``. Raises ``RunError`` without
    it.
    """

    def __init__(self, path: str = "/dev/tty", *, max_characters: int = MAX_CHARACTERS) -> None:
        try:
            import rich  # noqa: F401 - needed once a question is put, when it is too late to say so
        except ImportError as error:
            raise RunError("TerminalPermissions needs rich: pip install 'agent-hooks-core[cli]'.") from error
        self._path = path
        self._max_characters = max_characters
        self._granted: set[str] = set()

    # Without a time limit of its own, that of the policy would hold.
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
            # A thread of its own: a person takes hours, and the loop's threads have other things to do.
            answer: HookOutcome | None = await in_thread(lambda _: self._put(ctx, wake), ctx, _FOREVER, sync=False)
            return answer
        finally:
            # If nobody wants the answer any more, the thread must not be left to read what is typed next.
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
            word, _, reason = answer.strip().partition(" ")
            if word in ("o", "once") and not reason:
                return HookOutcome.allow()
            if word in ("s", "session") and not reason and call is not None:
                self._granted.add(_key(ctx, call))
                return HookOutcome.allow()
            if word in ("d", "deny"):
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
        """Yield the lines of a text, each with its style; of one that is too long the beginning."""
        for line in text[: self._max_characters].split("\n"):
            yield "", visible(line, keep="\t")
        if len(text) > self._max_characters:
            yield "bold red", f"... and {len(text) - self._max_characters} more characters, which are not shown"


class Typed:
    """Lines typed by a person. ``wake``: a pipe; closing its other end cancels the wait."""

    def __init__(self, descriptor: int, wake: int) -> None:
        self._descriptor = descriptor
        self._wake = wake
        self._rest = b""

    def forget(self) -> None:
        """Discard input typed before the question."""
        import termios

        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def line(self) -> str | None:
        """Return the next line; None if the terminal is closed (Ctrl-D), or nobody waits any more."""
        while b"\n" not in self._rest:
            if self._wake in _ready(self._wake, self._descriptor, timeout=None):
                return None
            data = os.read(self._descriptor, 4096)
            # A program may have the terminal in raw mode, in which keys are what is read.
            if not data or b"\x03" in data or b"\x04" in data:
                return None
            self._rest += data.replace(b"\r", b"\n")
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")


def _ready(*descriptors: int, timeout: float | None = 0) -> list[int]:
    """Return those from which something can be read, or which are at their end."""
    import select

    if max(descriptors) < _MOST_FOR_SELECT:  # which knows terminals on every system
        return select.select(descriptors, [], [], timeout)[0]
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(timeout)]


def _key(ctx: HookContext, call: ToolCall) -> str:
    """Return the scope of a grant: session, call, directory, asking hooks and reason."""
    session = ctx.session_id or ctx.agent_id
    what = [session, ctx.agent_name, ctx.cwd, call.name, call.kind, plain(call.args), sorted(ctx.asked_by), ctx.reason]
    return json.dumps(what, sort_keys=True)
