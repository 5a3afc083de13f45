"""The hooks of a plan that holds, for one event."""

from __future__ import annotations

import os
import sys

from agent_hooks.engine.origins import ORIGIN
from agent_hooks.engine.planned import PlannedHooks, StalePlanError
from agent_hooks.model.tools import MAX_PATH
from agent_hooks.system.paths import folders_above, real_path
from agent_hooks.trust.project_files import record_name
from agent_hooks.trust.search import Search

from .plugin_settings import restore_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from agent_hooks.model.context import HookContext

    Plan = dict[str, Any]


class MoreHooksError(StalePlanError):
    """Raised where a plan holds, but does not know all hooks of an event."""


def hooks_of(plan: Plan, ctx: HookContext, near: Iterable[str]) -> PlannedHooks:
    """Return the hooks of a plan that holds, for an event that touches the paths in ``near``.

    Raises ``MoreHooksError`` if there may be more hooks near these, and anything for a plan that is damaged.
    """
    if not any(row["reference"][0] == "protection" for row in plan["rows"]):
        raise ValueError("the gate that protects all this is missing")
    check_near(plan, tuple(near))
    restore_tables(plan["tables"])
    return PlannedHooks(plan["rows"], plan["policies"], _finder(plan), ctx)


def check_near(found: dict[str, Any], near: Sequence[str]) -> None:
    """Raise ``MoreHooksError`` unless a search near these paths finds what ``surroundings`` has found."""

    def refuse(*_finding: str) -> None:
        raise MoreHooksError("The search near the paths of the event has findings.")

    for root, known, files in found["projects"]:
        now = Search(root, known, refuse).on_the_way((*found["folders"], *near, *known))
        more = [path for path in now if path not in files]
        if len(now) - len(more) != len(files) or any(map(_may_have_hooks, (os.path.join(root, path) for path in more))):
            raise MoreHooksError(f"The project {root} has hooks near the paths of the event.")
    if found["trusts"]:
        around = {folder for path in near for folder in (path, *folders_above(path)) if len(folder) <= MAX_PATH}
        others = {real_path(folder) for folder in around}.difference(found["roots"])
        if not found["trusts"].isdisjoint(map(record_name, others)):
            raise MoreHooksError("A path of the event is in another trusted project.")


def _may_have_hooks(path: str) -> bool:
    from agent_hooks.trust.discovery import may_have_hooks

    return may_have_hooks(path)


def _finder(plan: Plan) -> Callable[[tuple[Any, ...]], Callable[..., Any]]:
    """Return what finds the function of a reference."""
    gates: list[Any] = []
    files, further, tables, scripts, project = plan["protection"]

    def ask_gate(ctx: HookContext) -> Any:
        if not gates:
            from agent_hooks.trust.gate import Protection

            gates.append(Protection(files, further=further, tables=tables, scripts=scripts, project=project))
        return gates[0].before_tool_use(ctx)

    def find(reference: tuple[Any, ...]) -> Callable[..., Any]:
        kind, *where = reference
        if kind == "protection":
            # It is asked last, and made only then: most of what is denied never reaches it.
            setattr(ask_gate, ORIGIN, where[0])
            return ask_gate
        if kind == "entry":
            from agent_hooks.handlers.entry_hooks import decode_hook

            return decode_hook(where[0])[0]
        if kind == "hookconf":
            from agent_hooks.trust.manifest import ConfFile

            from .hookconfs import load_hookconf

            return getattr(load_hookconf(ConfFile(**where[0])), where[1])  # type: ignore[no-any-return]
        module, name, path = where
        __import__(module)
        if getattr(sys.modules[module], "__file__", None) != path:
            raise ImportError(f"{module} is not that of {path}")
        return getattr(sys.modules[module], name)  # type: ignore[no-any-return]

    return find
