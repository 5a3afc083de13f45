"""Plain names in matches that no known tool has."""

from __future__ import annotations

from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_names import NAMES, exact_names, host_kinds, hosts_of, meant_by
from agent_hooks.model.tools import KIND_OF_NAME, KINDS
from agent_hooks.model.values import Value

from .matchers import DirectoryMatcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext

    from .plan import Hook


class NameProblem(Value):
    """A plain name in the match of a hook on tools that no tool is known by, or that only some hosts have.

    ``kind``: ``unknown-tool`` or ``host-name``. ``path`` and ``line``: where the match is written. ``is_ours``: it
    follows our rules of match texts. ``is_error``: it is a slip of a known name, so its hook cannot be honoured.
    """

    kind: str
    name: str
    hook: str
    message: str
    remedy: str
    path: str = ""
    line: int = 0
    is_ours: bool = True
    is_error: bool = False

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{where}{self.message} {self.remedy}"


def name_problems(hook: Hook, declared: Mapping[str, int]) -> Iterator[NameProblem]:
    """Yield the problems with plain names in a match. ``declared``: further names, by the declarer's rank."""
    if hook.event.matched_by != "tool":
        return
    known = NAMES.union(name for name, rank in declared.items() if rank >= hook.rank) if declared else NAMES
    for text, is_ours in _texts_of(hook.options.match):
        names = exact_names(text) or []
        unknown = [name for name in names if name not in known and not name.startswith("mcp__")]
        path, line = getattr(hook.options.match, "match_place", None) or _place_of(hook.origin)
        facts: dict[str, Any] = {"hook": hook.name, "path": path, "line": line, "is_ours": is_ours}
        for name in unknown:
            meant = meant_by(name, known)
            is_error = bool(meant) and is_ours and len(unknown) == len(names)
            effect = "it cannot be honoured and fails where it is asked" if is_error else "it may never be asked"
            hint = f"Did you mean {meant!r}? " if meant else ""
            yield NameProblem(
                kind="unknown-tool",
                name=name,
                message=f"The hook {hook.name} matches {name!r}, but no tool is known by this name, so {effect}.",
                remedy=f"{hint}If there is such a tool, declare it: known_tools = [{name!r}] in agent-hooks.toml, or "
                f"HookManager(known_tools=[{name!r}]).",
                is_error=is_error,
                **facts,
            )
        for name in names if is_ours else ():
            for kind in host_kinds((name,)) if declared.get(name) is None else ():
                yield NameProblem(
                    kind="host-name",
                    name=name,
                    message=f"The hook {hook.name} matches {name!r}, which only {', '.join(hosts_of(name))} has. "
                    f"Elsewhere it is asked about every {kind} tool, but cannot allow one.",
                    remedy=f"Write {kind!r}.",
                    **facts,
                )


def matched_kinds(hooks: Iterable[Hook]) -> frozenset[str]:
    """Return the kinds of tools that deciding hooks on tools match by name."""
    found: set[str] = set()
    for hook in hooks:
        if hook.event.matched_by == "tool" and hook.mode != "observe":
            for text, _ in _texts_of(hook.options.match):
                names = exact_names(text) or []
                found.update(kind for name in names if (kind := name if name in KINDS else KIND_OF_NAME.get(name)))
    return frozenset(found - {"other"})


def _texts_of(match: Any) -> Iterator[tuple[str, bool]]:
    """Yield the match texts in a match, each with whether our own rules hold for it."""
    if isinstance(match, str):
        yield match, True
    elif isinstance(text := getattr(match, "match_text", None), str):
        yield text, getattr(match, "is_ours", True)
    else:
        for inner in (*getattr(match, "matchers", ()), getattr(match, "inner", None)):
            if inner is not None:
                yield from _texts_of(inner)


def _place_of(origin: str) -> tuple[str, int]:
    path, _, line = origin.rpartition(":")
    return (path, int(line)) if line.isdecimal() else (origin, 0)


def close_unknown(hooks: Iterable[Hook], declared: Mapping[str, int]) -> None:
    """Make matches with a misspelt tool name fail; restore those whose name is known by now."""
    for hook in hooks:
        if isinstance(hook.match, _Closed):
            hook.match = hook.match.match
        if hook.options.match is None:
            continue
        problem = next((found for found in name_problems(hook, declared) if found.is_error), None)
        if problem is not None:
            hook.match = _Closed(hook.match, str(problem), hook.scope)


class _Closed:
    """A match that cannot be honoured: asking it is its hook's failure, where the hook is live."""

    def __init__(self, match: Any, problem: str, scope: tuple[str, ...] | None) -> None:
        self.match = match
        self._problem = problem
        is_scoped = scope is not None and scope[0] == "directory"
        self._directory = DirectoryMatcher(*scope[1:]) if scope is not None and is_scoped else None

    def __call__(self, ctx: HookContext) -> bool:
        if self._directory is not None and not self._directory(ctx):
            return False
        raise RegistrationError(self._problem)
