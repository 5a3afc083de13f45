"""Permission questions to the person at the terminal: allow once, always in this session, or deny."""

from __future__ import annotations

import asyncio
import json
import os
from threading import Lock
from typing import TYPE_CHECKING, TextIO

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.values import plain
from agent_hooks.system.visible import visible

from .session_events import notify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

MAX_CHARACTERS = 4000
# Fields with the subject of a question that is not about a tool call.
_SUBJECTS = ("prompt", "task", "skill_name", "arguments", "model", "output", "trigger", "definition")
# Seconds: a person has no time limit.
_FOREVER = 1e9
# Seconds between two looks at the terminal. Unlike a thread that waits for input, a pause can be cancelled.
_POLL_SECONDS = 0.05
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
        if any(outcome.decision in ("allow", "deny") for _, outcome in ctx.previous_results):
            return None
        return await self._answer(ctx) if in_event_loop() else asyncio.run(self._answer(ctx))

    async def _answer(self, ctx: HookContext) -> HookOutcome | None:
        try:
            descriptor = os.open(self._path, os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return None
        with os.fdopen(descriptor, "rb", buffering=0) as typed:
            if not typed.isatty():
                return None
            if not self._is_granted(ctx):
                await notify(ctx, "permission_prompt", ctx.reason)
            while not _terminal.acquire(blocking=False):  # noqa: ASYNC110 - agents may run in several threads
                await asyncio.sleep(_POLL_SECONDS)
            try:
                if self._is_granted(ctx):  # perhaps by the answer to an earlier question
                    return HookOutcome.allow()
                with open(self._path, "w", encoding="utf-8") as out:  # noqa: ASYNC230 - a terminal opens at once
                    return await self._ask(ctx, typed, out)
            except OSError:  # the terminal is gone
                return None
            finally:
                _terminal.release()

    def _is_granted(self, ctx: HookContext) -> bool:
        return ctx.tool_call is not None and _key(ctx, ctx.tool_call) in self._granted

    async def _ask(self, ctx: HookContext, typed: FileIO, out: TextIO) -> HookOutcome:
        import termios

        from rich.console import Console
        from rich.text import Text

        console = Console(file=out, markup=False, emoji=False, highlight=False, soft_wrap=True)
        for style, line in self._lines(ctx):
            console.print(Text(line, style))
        call = ctx.tool_call
        choices = "[o]nce, [d]eny" if call is None else "[o]nce, always in this [s]ession, [d]eny"
        termios.tcflush(typed, termios.TCIFLUSH)  # input typed before the question is no answer
        while True:
            answer = await _line(typed, f"{choices}: ", out)
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
                reason = reason or await _line(typed, "Why (for the model; empty for no reason): ", out) or ""
                return HookOutcome.deny(reason.strip() or "The person at the terminal refused.")

    def _lines(self, ctx: HookContext) -> Iterator[tuple[str, str]]:
        """Yield the lines of the question, each with its style."""
        asked_by = ", ".join(ctx.asked_by) or "nobody in particular"
        heading = f"{ctx.agent_name or 'An agent'} needs permission (asked for by {asked_by})"
        yield "bold yellow", visible(heading[: self._max_characters])
        call = ctx.tool_call
        subject = {} if call is None else {"tool": call.name, "kind": call.kind}
        place = {"directory": ctx.cwd} if ctx.cwd else {}
        for name, value in {"why": ctx.reason, **subject, **place}.items():
            for style, line in self._cut(value if name == "why" else visible(value, keep="\t")):
                yield style, f"  {name}: {line}"
        about = call.args if call is not None else {name: ctx.get(name) for name in _SUBJECTS if ctx.get(name)}
        for style, line in self._cut(json.dumps(plain(about), indent=2, ensure_ascii=False)):
            yield style or "bold", f"  {line}"

    def _cut(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the lines of a text, each with its style; only the start of a long text."""
        for line in text[: self._max_characters].split("\n"):
            yield "", visible(line, keep="\t")
        if len(text) > self._max_characters:
            yield "bold red", f"... and {len(text) - self._max_characters} more characters, which are not shown"


async def _line(typed: FileIO, prompt: str, out: TextIO) -> str | None:
    """Return the next line that a person types; None if the terminal is closed (Ctrl-C, Ctrl-D)."""
    out.write(prompt)
    out.flush()
    line = b""
    while b"\n" not in line:
        data = typed.read(4096)
        if data is None:  # nothing is typed yet
            await asyncio.sleep(_POLL_SECONDS)
            continue
        # A program may have put the terminal into raw mode, where Ctrl-C and Ctrl-D are characters.
        if not data or b"\x03" in data or b"\x04" in data:
            return None
        line += data.replace(b"\r", b"\n")
    return line.partition(b"\n")[0].decode("utf-8", "replace")


def _key(ctx: HookContext, call: ToolCall) -> str:
    """Return the scope of a grant: session, call, directory, asking hooks and reason."""
    session = ctx.session_id or ctx.agent_id
    scope = [session, ctx.agent_name, ctx.cwd, call.name, call.kind, plain(call.args), sorted(ctx.asked_by), ctx.reason]
    return json.dumps(scope, sort_keys=True)
