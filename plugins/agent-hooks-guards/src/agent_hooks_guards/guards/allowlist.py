"""The allowlist: all other tools are denied."""

from __future__ import annotations

from fnmatch import fnmatchcase

from agent_hooks import HookOutcome
from agent_hooks.engine.matchers import text_test
from agent_hooks.model.tools import CLAUDE_NAMES, KIND_OF_NAME, KINDS, is_trusted_name

from .base import Guard, fill_in, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks import HookContext, ToolCall

MESSAGE = 'Tool "{tool}" is not on the list of permitted tools.'
_ONLY_IN_EXPRESSIONS = frozenset("\\.^$+()[]{}")


class ToolAllowlist(Guard):
    """Denies every tool that none of ``tools`` names.

    A text without characters of regular expressions is a list of names and globs, split on ``|``, ``,`` and blanks. A
    name is a tool's whole name, dots included, an alias of it, a kind (``shell``, ``read``…), or Claude Code's name for
    a kind. An alias that is Claude Code's name for another kind does not count. Globs and regular expressions must
    match a whole name or alias: a permission does not extend to longer names, to parts of dotted ones, or to kinds.
    A call that does several things, as a patch does, needs each of their kinds. A tool name with characters outside
    ``[A-Za-z0-9_.:/-]`` is never permitted, not even by ``*``.

    ``message`` and ``source`` as in ``ToolBlocklist``. Raises ``RegistrationError`` for a match text that does not
    compile.
    """

    def __init__(self, tools: str | Iterable[str], *, message: str = MESSAGE, source: str = "code") -> None:
        self._names: set[str] = set()
        self._globs: list[str] = []
        self._tests: list[Callable[[str], Any]] = []
        for text in texts("tools", tools):
            words = text.replace("|", " ").replace(",", " ").split()
            # Where every word is a name, a dot is just a dot.
            if not _ONLY_IN_EXPRESSIONS.isdisjoint(text) and not all(map(is_trusted_name, words)):
                test = text_test(f"^(?:{text})$", source)
                assert test is not None  # only "*" and nothing have no test
                self._tests.append(test)
            else:
                self._globs.extend(word for word in words if not is_trusted_name(word))
                self._names.update(word for word in words if is_trusted_name(word))
        self._message = message

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:  # noqa: ARG002 - one signature for all guards
        """Deny a tool that is not on the list."""
        return None if self._permits(call) else HookOutcome.deny(fill_in(self._message, call))

    def _permits(self, call: ToolCall) -> bool:
        if not is_trusted_name(call.name):
            return False
        # A search reads files, but a permission to read is none to search.
        operations = () if call.kind == "search" else call.file_operations
        kinds = {each.kind for each in operations} or {call.kind}
        # Permission for "Write" is none for the deletes of a patch, which hosts call so whatever it does.
        kind_of = {**KIND_OF_NAME, **dict(zip(KINDS, KINDS, strict=True))}
        aliases = [each for each in call.aliases if each not in kind_of or kinds == {kind_of[each]}]
        if any(self._permits_name(name) for name in (call.name, *aliases)):
            return True
        return all(self._permits_kind(kind, call.name) for kind in kinds)

    def _permits_name(self, name: str) -> bool:
        if name in self._names or not is_trusted_name(name):
            return name in self._names
        return any(fnmatchcase(name, glob) for glob in self._globs) or any(test(name) is True for test in self._tests)

    def _permits_kind(self, kind: str, name: str) -> bool:
        claude = CLAUDE_NAMES.get(kind, ())
        # Where the tool itself goes by Claude Code's names, "Grep" is that tool and not its sibling "Glob".
        return kind in self._names or (name not in claude and not self._names.isdisjoint(claude))
