"""The allowlist: no other tools are ever used."""

from __future__ import annotations

from agent_hooks import HookOutcome
from agent_hooks.matchers import text_test
from agent_hooks.tools import CLAUDE_NAMES, is_trusted_name

from .guard import Guard, texts, worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks import HookContext, ToolCall

MESSAGE = 'Tool "{tool}" is not on the list of permitted tools.'
_ONLY_IN_EXPRESSIONS = frozenset("\\.^$+()[]{}")


class ToolAllowlist(Guard):
    """Denies every tool that none of ``tools`` names.

    A text without ``*``, ``?`` or a regular expression's characters is a list of names (split on ``|``, ``,`` and
    blanks), each meant whole, dots included. A name is a tool's own, an alias of it, a kind (``shell``, ``read``…), or
    Claude Code's name for a kind. Globs and regular expressions are tried on the tool's own name and aliases only, and
    must cover all of it: a permission does not stretch to a longer name, to a part of a dotted one, or to a kind it
    happens to meet. A call that does several things, as a patch does, needs each of their kinds. A tool name with
    characters outside ``[A-Za-z0-9_.:/-]`` is never on the list, not even for ``*``.

    ``message`` and ``source`` as in ``ToolBlocklist``. Raises ``RegistrationError`` for a match text that does not
    compile.
    """

    def __init__(self, tools: str | Iterable[str], *, message: str = MESSAGE, source: str = "code") -> None:
        self._names: set[str] = set()
        self._tests: list[Callable[[str], Any]] = []
        for text in texts("tools", tools):
            words = text.replace("|", " ").replace(",", " ").split()
            if all(map(is_trusted_name, words)):
                self._names.update(words)
            else:
                self._tests.append(_whole_name_test(text, source))
        self._message = message

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:  # noqa: ARG002 - one signature for all guards
        """Deny a tool that is not on the list."""
        return None if self._permits(call) else HookOutcome.deny(worded(self._message, call))

    def _permits(self, call: ToolCall) -> bool:
        if not is_trusted_name(call.name):
            return False
        if any(self._permits_name(name) for name in (call.name, *call.aliases)):
            return True
        # A search reads files, but a permission to read is none to search.
        operations = () if call.kind == "search" else call.file_operations
        return all(self._permits_kind(kind, call.name) for kind in {call.kind, *(each.kind for each in operations)})

    def _permits_name(self, name: str) -> bool:
        return is_trusted_name(name) and (name in self._names or any(test(name) is True for test in self._tests))

    def _permits_kind(self, kind: str, name: str) -> bool:
        claude = CLAUDE_NAMES.get(kind, ())
        # Where the tool itself goes by Claude Code's names, "Grep" is that tool and not its sibling "Glob".
        return kind in self._names or (name not in claude and not self._names.isdisjoint(claude))


def _whole_name_test(text: str, source: str) -> Callable[[str], Any]:
    is_expression = not _ONLY_IN_EXPRESSIONS.isdisjoint(text)
    test = text_test(f"^(?:{text})$" if is_expression else text, source)
    return test if test is not None else lambda _name: True
