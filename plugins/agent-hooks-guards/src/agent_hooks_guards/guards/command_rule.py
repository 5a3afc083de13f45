"""A rule about one program: ``git push`` is denied, however it is written."""

from __future__ import annotations

from agent_hooks import HookOutcome

from .base import Guard, check_choice, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks import HookContext, ToolCall


class CommandRule(Guard):
    """Denies a command that may run one of the programs ``program``, as ``ToolCall.may_run`` tells.

    ``subcommand``: with one of these, each one or more words (``"push"``, ``"s3 rb"``); ``flags``: with one of these
    options. ``reason``: of the denial. ``decision``: ``deny`` or ``ask``. Raises ``RegistrationError`` for a blank text
    and another decision.

    >>> from agent_hooks import ToolCall
    >>> rule = CommandRule("git", "push", reason="Pushing is for people.")
    >>> rule.judge(None, ToolCall("Bash", {"command": "git -C . push"})).reason
    'Pushing is for people.'
    """

    def __init__(
        self,
        program: str | Iterable[str],
        subcommand: str | Iterable[str] = (),
        *,
        flags: Iterable[str] = (),
        reason: str = "",
        decision: str = "deny",
    ) -> None:
        check_choice("decision", decision, ("deny", "ask"))
        subcommands = texts("subcommand", subcommand) if subcommand else ("",)
        self._commands = [(name, *words.split()) for name in texts("program", program) for words in subcommands]
        self._flags = tuple(flags)
        self._decide = HookOutcome.deny if decision == "deny" else HookOutcome.ask
        self.decision = decision
        self.names = [*map(" ".join, self._commands)]
        does = "denies" if decision == "deny" else "asks about"
        self.reason = reason or f"A rule {does} {', '.join(f'`{name}`' for name in self.names)}."

    def judge(self, ctx: HookContext | None, call: ToolCall) -> HookOutcome | None:  # noqa: ARG002 - as every guard
        """Deny a command that may run the program, or ask about it."""
        is_met = any(call.may_run(*command, flags=self._flags) for command in self._commands)
        return self._decide(self.reason) if is_met else None
