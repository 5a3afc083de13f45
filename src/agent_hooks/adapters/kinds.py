"""The kind of a framework's tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RegistrationError
from agent_hooks.model.tools import KIND_OF_NAME, KINDS

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
    schema: Mapping[str, Any] | None = None,  # noqa: ARG001 - to come
    function: Callable[..., Any] | None = None,  # noqa: ARG001
) -> str | None:
    """Return the kind of a tool; None if it is unknown."""
    return kinds.get(name) or tools.get(name) or KIND_OF_NAME.get(name)
