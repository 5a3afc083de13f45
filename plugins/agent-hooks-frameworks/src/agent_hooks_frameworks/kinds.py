"""The kind of a framework's tool, by what its caller declares, its name and its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_kinds import kind_by
from agent_hooks.model.tools import KINDS

from .signatures import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def check_kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return ``kinds``. Raises ``RegistrationError`` for one that there is not."""
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise RegistrationError(f"kinds={{{name!r}: {kind!r}}}: a kind is one of {', '.join(KINDS)}.")
    return dict(kinds)


def kind_of(
    name: str,
    *,
    kinds: Mapping[str, str],
    tools: Mapping[str, str],
    schema: Mapping[str, Any] | None = None,
    function: Callable[..., Any] | None = None,
) -> str | None:
    """Return the kind of a tool; None if it is unknown.

    ``kinds``: those that the caller declares, by name. ``tools``: those of the framework's own tools. Then the name and
    the parameters decide, as ``schema`` has them, a JSON schema, or else the signature of ``function``. Raises
    ``RegistrationError`` for a kind in ``kinds`` that there is not.
    """
    if name in kinds:
        return check_kinds({name: kinds[name]})[name]
    if known := tools.get(name):
        return known
    parameters = parameters_of(schema, function)
    if parameters is None:
        return kind_by(name, None)
    return kind_by(name, frozenset(parameters.texts), are_all=parameters.are_all)
