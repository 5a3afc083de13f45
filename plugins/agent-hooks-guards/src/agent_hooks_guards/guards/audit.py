"""The audit trail: one line of JSON for every tool call, allowed or blocked."""

from __future__ import annotations

import os
import stat
from time import gmtime, sleep, strftime, time_ns

from agent_hooks import GUARD, OBSERVE, RegistrationError, hookimpl
from agent_hooks.errors import HookMisuseError, SettingsError
from agent_hooks.system.folders import state_dir
from agent_hooks.system.quick_json import dumps

from .objection import outcome
from .path import write_objections
from .redaction import DEFAULT_FIELDS, Redaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from agent_hooks import HookContext, HookOutcome

MAX_LENGTH = 2000
# Longer lines are not written in one piece everywhere.
MAX_LINE = 65_536
# Looks, two milliseconds apart, at a line that another process may be writing.
_TRIES = 100

# Follow no link, and do not wait for the reader of a pipe. Windows has neither flag.
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class AuditTrail:
    """Writes one line of JSON for each tool call, as an observer: after the decision, about the call as decided.

    ``path``: the file, absolute, below a home folder (``~``) or below the state folder. It is created when first
    needed, for its owner only (0600), and only appended to, each line in a single write, so that processes can share
    it. It must be an ordinary file, no symbolic link, pipe or device. ``redact``: endings of the keys whose values are
    left out of arguments and results, at any depth (see ``Redaction``). These values (of four characters or more) are
    left out of the rest of the line too, and so are the secrets that ``secret_scan`` finds, and values where commands
    take a secret (``curl -u``, ``PGPASSWORD=``). ``max_length``: characters of a string that are kept, default 2000.
    ``results``: write a second line after the call.

    As a plugin, it also denies calls that would change or delete the file.

    A line has ``time`` (UTC, ISO 8601), ``event``, ``session``, ``agent``, ``host``, ``project`` and ``cwd`` (folders),
    ``tool``, ``kind``, ``id``, ``args``; before the call also ``decision``, ``reason``, ``hook`` (which decided),
    ``failed`` (by failure rather than by policy), ``blocked`` (deny, stop, suspend; an unanswered ask is left to the
    host); after it ``blocked``, ``result``, ``error``, ``duration`` in seconds.

    Raises ``RegistrationError`` for a length below 1 and an invalid key. An ``OSError`` while writing, or a
    ``SettingsError`` where there is no home folder, is the observer's failure, which the engine reports.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        redact: Iterable[str] = DEFAULT_FIELDS,
        max_length: int = MAX_LENGTH,
        results: bool = False,
    ) -> None:
        if isinstance(redact, str):
            raise RegistrationError(f"redact must be a list of keys, not the text {redact!r}.")
        if max_length < 1:
            raise RegistrationError(f"max_length must be a number of characters from 1, not {max_length!r}.")
        self._path = os.fspath(path)
        self._redaction = Redaction(redact, max_length)
        self._results = results

    @property
    def path(self) -> str:
        """The absolute path. Raises ``SettingsError`` if it is below a home folder that does not exist."""
        path = os.path.expanduser(self._path)
        if os.path.isabs(path):
            return path
        if self._path.startswith("~"):
            raise SettingsError(f"The audit trail {self._path} names no home folder: give it an absolute path.")
        return os.path.join(state_dir(), path)

    def execute(self, ctx: HookContext) -> None:
        """Write the tool call of ``ctx``, or its result. Raises ``HookMisuseError`` without a call or a decision."""
        is_result = str(ctx.event) == "after_tool_use"
        if ctx.tool_call is None or (ctx.outcome is None and not is_result):
            raise HookMisuseError(
                "AuditTrail writes down tool calls and what was decided about them: register it on before_tool_use, "
                'with mode="observe".'
            )
        if self._results or not is_result:
            self._write(self._result(ctx) if is_result else self._call(ctx))

    @hookimpl(specname="before_tool_use", priority=GUARD, mode="gate", on_failure="closed")
    def protect(self, ctx: HookContext) -> HookOutcome | None:
        """Deny a call that would change or delete the file."""
        if ctx.tool_call is None:
            return None
        try:
            path = self.path
        except SettingsError:  # nothing is written either
            return None
        return outcome(write_objections(ctx, ctx.tool_call, path))

    @hookimpl(priority=OBSERVE, mode="observe")
    def before_tool_use(self, ctx: HookContext) -> None:
        """Write the call and its decision."""
        self.execute(ctx)

    @hookimpl(priority=OBSERVE, mode="observe")
    def after_tool_use(self, ctx: HookContext) -> None:
        """Write the call's result, if results are wanted."""
        self.execute(ctx)

    def _call(self, ctx: HookContext) -> dict[str, Any]:
        outcome = ctx.outcome
        assert outcome is not None
        secrets = self._redaction.secrets_in(ctx.tool_args)
        shadowed = [
            {**each.as_dict(), "reason": self._redaction.text(each.reason, secrets)} for each in outcome.shadowed
        ]
        return {
            **self._about(ctx, secrets),
            "decision": str(outcome.decision),
            "reason": self._redaction.text(outcome.reason, secrets),
            "hook": outcome.hook,
            "failed": outcome.failed,
            "blocked": outcome.decision.is_blocking,
            **({"shadowed": shadowed} if shadowed else {}),
        }

    def _result(self, ctx: HookContext) -> dict[str, Any]:
        execution = ctx.tool_execution
        error = execution.error if execution is not None else ctx.error
        secrets = self._redaction.secrets_in(ctx.tool_args, ctx.result)
        return {
            **self._about(ctx, secrets),
            "blocked": ctx.is_tool_execution_blocked,
            "result": self._redaction.value(ctx.result, secrets),
            "error": None if error is None else self._redaction.text(getattr(error, "message", str(error)), secrets),
            "duration": None if execution is None else execution.duration,
        }

    def _about(self, ctx: HookContext, secrets: tuple[str, ...]) -> dict[str, Any]:
        call = ctx.tool_call
        assert call is not None
        return {
            "time": _now(),
            "event": str(ctx.event),
            "session": ctx.session_id,
            "agent": ctx.agent_name or ctx.agent_id,
            "host": ctx.host,
            "project": ctx.project_dir,
            "cwd": ctx.cwd,
            "tool": self._redaction.text(call.name, ()),
            "kind": call.kind,
            "id": call.id,
            "args": self._redaction.value(call.args, secrets),
        }

    def _write(self, record: dict[str, Any]) -> None:
        line = dumps(record)
        if len(line) > MAX_LINE:
            for name in record.keys() & {"args", "result"}:
                record[name] = self._redaction.text(dumps(record[name]), ())
            line = dumps(record)
        path = self.path
        if path != os.path.expanduser(self._path):  # makedirs gives parent folders the default mode
            os.makedirs(state_dir(), mode=0o700, exist_ok=True)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, _APPEND, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(f"The audit trail {path} is not an ordinary file: move it away, or name another.")
            data = ("\n" * _is_torn(file) + line + "\n").encode("ascii")
            if os.write(file, data) != len(data):
                raise OSError(f"The audit trail {path} took only part of a line: is the disk full?")
        finally:
            os.close(file)


def _now() -> str:
    seconds, rest = divmod(time_ns(), 10**9)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{rest // 1000:06}Z"


def _is_torn(file: int) -> bool:
    """Return whether the last line was cut short, by a full disk or a limit, and is not being written right now."""
    for _ in range(_TRIES):
        size = os.fstat(file).st_size
        # The position for reading does not matter: writes go to the end.
        os.lseek(file, max(size - 1, 0), os.SEEK_SET)
        if not size or os.read(file, 1) == b"\n":
            return False
        sleep(0.002)
    return True
