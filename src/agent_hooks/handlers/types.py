"""Handler types: the makers of hooks from files, found by the ``type`` of an entry."""

from __future__ import annotations

from functools import partial

from agent_hooks.engine.origins import origin_of_fault
from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.system.progress import report

from .entry_hooks import OWN_TYPES, own_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pydantic import BaseModel

    from agent_hooks.engine.manager import HookManager

# Deprecated: a plugin in the group `agent_hooks` offers its types by the hook `agent_hooks_handler_types`.
GROUP = "agent_hooks.handlers"


def handler_types(manager: HookManager) -> dict[str, Any]:
    """Return the handler types by name; of two with one name, the later counts.

    First our own, then the entry points of the deprecated group ``agent_hooks.handlers``, then the types of the
    manager's plugins (``agent_hooks_handler_types``), then ``manager.handler_types``. Each is an object, a class, or a
    function that returns the object when it is needed.
    """
    known: dict[str, Any] = {name: partial(own_type, name) for name in OWN_TYPES} | _installed()
    for impl in manager.hook.agent_hooks_handler_types.get_hookimpls():
        report(f"agent_hooks_handler_types of the plugin {impl.plugin_name!r}")
        try:
            offered: Any = impl.function()
            known.update(offered or {})
        except Exception as error:
            raise RegistrationError(
                f"The plugin {impl.plugin_name!r} cannot say which handler types it offers: {error!r} in "
                f"{origin_of_fault(impl.function, error)}."
            ) from error
    report("")
    return {**known, **manager.handler_types}


def find_type(name: str, known: Mapping[str, Any]) -> Any:
    """Return the handler type ``name``. Raises ``RegistrationError`` naming the known ones."""
    if name not in known:
        hint = did_you_mean(name, known, PROVIDERS.get(name, ""))
        raise RegistrationError(
            " ".join(filter(None, (f"there is no handler type {name!r}.", hint, f"Known are {', '.join(known)}.")))
        )
    found = known[name]
    report(f"the import of the handler type {name!r}")
    try:
        if not hasattr(found, "execute") and callable(found):
            found = found()
        if isinstance(found, type):
            found = found()
    except Exception as error:
        raise RegistrationError(f"the handler type {name!r} cannot be had: {type(error).__name__}: {error}") from error
    report("")
    if not callable(getattr(found, "execute", None)):
        raise RegistrationError(f"the handler type {name!r} is {found!r}, which has no execute(config, ctx)")
    return found


def read_config(handler: Any, config: Mapping[str, Any]) -> Any:
    """Return the fields of an entry as the handler takes them. Raises ``RegistrationError`` naming each wrong one."""
    from agent_hooks.model.values import thaw

    model = getattr(handler, "config", None)
    fields = thaw(config)
    if model is None:
        return fields
    from pydantic import ValidationError

    try:
        return model.model_validate(fields)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RegistrationError("; ".join(_problem(each, model) for each in found)) from None


def _problem(problem: Mapping[str, Any], model: type[BaseModel]) -> str:
    name = ".".join(map(str, problem["loc"])) or "it"
    if problem["type"] != "extra_forbidden":
        return f"{name}: {problem['msg'].removeprefix('Value error, ')}"
    known = [field.alias or each for each, field in model.model_fields.items()]
    return f"{name}: it has no such field. {did_you_mean(name, known, 'These are ' + ', '.join(known) + '.')}"


PROVIDERS = {
    "agent": "The plugin `subagents` brings it: `pip install agent-hooks-subagents`.",
    "prompt": "The plugin `prompts` brings it: `pip install agent-hooks-prompts`.",
    "subagent": "The plugin `subagents` brings it: `pip install agent-hooks-subagents`.",
    "mcp_tool": "It is not supported here.",
}


def _installed() -> dict[str, Any]:
    """Return the handler types of the entry points, each loaded when a file needs it."""
    from agent_hooks.engine.entry_points import distributions
    from agent_hooks.system.sites import is_installed, search_path

    found = [each for each in distributions(search_path(), GROUP) if is_installed(each.folder)]
    return {name: load for each in reversed(found) for name, _, load in each.points}  # the first on the path counts
