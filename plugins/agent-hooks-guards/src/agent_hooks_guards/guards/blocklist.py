"""The blocklist: tools that are denied."""

from __future__ import annotations

from agent_hooks import HookOutcome

from .base import Guard, fill_in, texts, tool_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks import HookContext, ToolCall

MESSAGE = 'Tool "{tool}" is not permitted in this environment.'


class ToolBlocklist(Guard):
    """Denies the tools that any of ``tools`` matches: names, kinds (``shell``, ``read``…), Claude Code's names, globs.

    The last part of a dotted name counts too. ``message`` is the reason; ``{tool}`` in it is the tool's name.
    ``source``: whose rule it is (``"code"``; a ``"project"`` writes regular expressions only with RE2). Raises
    ``RegistrationError`` for a match text that does not compile.
    """

    def __init__(self, tools: str | Iterable[str], *, message: str = MESSAGE, source: str = "code") -> None:
        self.match_texts = texts("tools", tools)
        self._tests = [tool_test(text, source) for text in self.match_texts]
        self._message = message

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Deny a tool that is on the list."""
        if any(test(ctx) for test in self._tests):
            return HookOutcome.deny(fill_in(self._message, call))
        return None
