"""Every error agent_hooks raises, in one small tree."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .formats.findings import ConfigFinding
    from .model.state import AgentState, StopSignal


class AgentHooksError(Exception):
    """Base of all errors of this package."""


class RegistrationError(AgentHooksError, ValueError):
    """Raised when a plugin, a hook or a match cannot be registered as it is written.

    It is a ``ValueError`` and a ``pluggy.PluginValidationError``: importing the manager adds that base. ``plugin`` is
    the plugin, if one is being registered.
    """

    plugin: object = None

    def __init__(self, *args: object) -> None:
        Exception.__init__(self, *args)  # pluggy's error takes the plugin as its first argument


class UnknownHookError(RegistrationError):
    """Raised when a hook names an event that no hookspec declares."""


class PluginLoadError(AgentHooksError):
    """Raised when an installed plugin cannot be imported or registered."""


class PriorityConflictError(AgentHooksError):
    """Raised when two deciding hooks of different plugins share an event, a priority and a match."""


class UnknownEventError(AgentHooksError, ValueError):
    """Raised when a name is neither an event nor an alias of one."""


class InvalidOutcomeError(AgentHooksError):
    """Raised when what a hook returned is not an outcome, or not one its event accepts."""


class HookMisuseError(AgentHooksError):
    """Raised when a hook breaks the calling protocol: a wrapper that yields twice, a hook that waits in a sync call."""


class HookTimeoutError(AgentHooksError):
    """Raised when a hook does not answer within its timeout."""


class ReadOnlyError(AgentHooksError, TypeError):
    """Raised when something immutable (a context, its arguments, an outcome) is changed in place."""


class DirectCallError(AgentHooksError):
    """Raised when an event is called through ``manager.hook`` instead of being dispatched."""


class SuspensionError(AgentHooksError):
    """Raised when a suspended operation cannot be resumed: unknown or used token, or another subject."""


class SettingsError(AgentHooksError):
    """Raised when settings are wrong; the message names the file, the key and what is allowed.

    ``origin``: where they are written, as ``file:line``. A refusal that comes of this error has that origin.
    ``findings``: a ``ConfigFinding`` for each mistake in the table of a plugin.
    """

    def __init__(self, message: str = "", origin: str = "", findings: Sequence[ConfigFinding] = ()) -> None:
        super().__init__(message)
        self.origin = origin
        self.findings = findings


class BadJSONError(AgentHooksError, ValueError):
    """Raised when a text is not JSON that every reader would read alike; the message fits behind "it"."""


class HandlerError(AgentHooksError):
    """Raised when a handler gets no usable answer: its program cannot be started, is late, or answers nonsense.

    The message becomes part of the reason, which the acting model reads. ``advice`` is for the operator alone: it is
    logged, and is in the findings of the outcome.
    """

    def __init__(self, message: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class TrustError(AgentHooksError):
    """Raised when something of a project would be needed that nobody has trusted; the message says what to type."""


class StoreError(AgentHooksError):
    """Raised when the store of counters cannot be read or written; the message names the file and the remedy.

    ``state`` is the state of the run that was to wait and could not be kept, else None.
    """

    def __init__(self, message: str = "", state: AgentState | None = None) -> None:
        super().__init__(message)
        self.state = state


class WireError(AgentHooksError):
    """Raised when what a host sent cannot be read as an event."""


class RunError(AgentHooksError):
    """Raised when an agent cannot be built or run as it is put together; the message names the part and the remedy."""


class RunFailedError(RunError):
    """Raised when a run failed, by ``AgentState.raise_for_error``; the message is what went wrong."""


class RefusedError(RunError):
    """Raised when a hook refuses what would happen at a boundary: an agent, a prompt, a turn, a skill. The message is
    the reason, ``event`` the name of the event that refused.
    """

    event = ""

    def __init__(self, message: str = "", event: str = "") -> None:
        super().__init__(message)
        self.event = event or self.event


class PromptRefusedError(RefusedError):
    """Raised when a hook refuses the prompt of a run; nothing of the run has happened."""

    event = "user_input"


class SubagentError(RunError):
    """Raised when a subagent is not started or does not end well; the message is for the model that wanted it."""


class SubagentDeniedError(SubagentError):
    """Raised when hooks keep a subagent from being started, or its result back."""


class DriverError(RunError):
    """Raised when a driver has no answer to give."""


class ToolArgumentsError(RunError):
    """Raised when the arguments of a tool call are not those that the tool takes; the model is told."""


class RunStoppedError(RunError):
    """Raised when hooks stop the run of a loop that is not ours. ``signal``: a ``StopSignal`` that says why."""

    def __init__(self, signal: StopSignal) -> None:
        super().__init__(signal.message)
        self.signal = signal


class StopRunError(RunError):
    """Raised when a tool or a driver wants the run to stop; by them. The message is the reason, ``context`` the numbers
    behind it, ``source`` who wants it (default: the tool or the model).
    """

    def __init__(self, message: str = "", *, source: str = "", **context: object) -> None:
        super().__init__(message)
        self.source = source
        self.context = context


def described(error: BaseException) -> str:
    """Return an error in one sentence."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def traceback_of(error: BaseException) -> str:
    """Return where an error and its causes were raised, without their messages: those may hold values of an event."""
    from traceback import format_tb

    parts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(parts) < 10:
        parts.append(f"{type(current).__name__}, raised at:\n{''.join(format_tb(current.__traceback__))}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "caused by ".join(parts)


# What people write, by what it is called here.
_CALLED = {
    "allow": {"accept", "approve", "permit", "whitelist"},
    "ask": {"confirm", "prompt"},
    "command": {"cmd", "run", "shell"},
    "deny": {"block", "blocklist", "forbid", "reject"},
    "instead": {"alternative", "hint", "suggestion"},
    "operand": {"arg", "args", "argument"},
    "options": {"flag", "flags", "switch"},
    "program": {"binary", "cmd", "executable", "tool"},
    "reason": {"description", "message", "why"},
    "severity": {"decision", "level", "verdict"},
    "timeout": {"limit", "seconds"},
    "without": {"except", "unless"},
}


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, cutoff: float = 0.0) -> str:
    """Return the sentence that names the nearest of ``known`` to a wrong ``name``, or ``otherwise`` if none is near:
    one that means the same, one that begins so, or one of almost the same letters; the latter alone with a ``cutoff``.
    """
    from difflib import get_close_matches

    names = [*known]
    near = [each for each in names if not cutoff and name in _CALLED.get(each, ())]
    near = near or [each for each in names if not cutoff and len(name) > 2 and each.startswith(name)]
    near = near or get_close_matches(name, names, n=1, cutoff=cutoff or 0.5)
    return f"Did you mean {near[0]!r}?" if near else otherwise
