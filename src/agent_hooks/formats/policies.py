"""The merge of the policies of several sources."""

from __future__ import annotations

from agent_hooks.model.policy import CONTRACTS, HookPolicy, strictest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

# The larger the number, the stricter the value. For other keys the application's own value counts.
_STRICTNESS: dict[str, Callable[[Any], float]] = {
    "ask_fallback": ("allow", "deny").index,
    "timeout": lambda seconds: float("-inf") if seconds is None else -seconds,
    "suspension_ttl": lambda seconds: float("-inf") if seconds is None else -seconds,
    "max_rechecks": lambda count: -count,
    "max_forced_continuations": lambda count: -count,
    "max_retries": lambda count: -count,
    "contracts": CONTRACTS.index,
    "allow_shell": lambda is_on: not is_on,
    "require_project_gates": bool,
    "shadow": lambda is_on: not is_on,
}
# Other keys would weaken the hooks of others: a short timeout or no retries ends them early, and without
# ``allow_shell`` the command hooks of the user are gone.
_FOR_PROJECTS = {"on_gate_failure": "closed", "ask_fallback": "deny", "require_project_gates": True}


def project_may_say(key: str, value: object) -> bool:
    """Whether a project may set ``key`` of the policy to ``value``: only if that tightens it."""
    return key in _FOR_PROJECTS and _FOR_PROJECTS[key] == value


def merged_policy(
    base: HookPolicy | None,
    managed: Iterable[Mapping[str, Any]],
    user: Iterable[Mapping[str, Any]],
    project: Iterable[Mapping[str, Any]],
) -> HookPolicy:
    """Merge the application's policy (``base``) with the policy tables of files.

    Precedence by key, highest first: projects, which can only tighten; managed files; the stricter of the user's files
    and the application. The strictest ``on_gate_failure`` of all counts.
    """
    # A HookPolicy has only the given fields, without defaults.
    own = {} if base is None else base._fields
    projects = [{key: value for key, value in table.items() if project_may_say(key, value)} for table in project]
    ranks = [own, *user], [*managed], projects  # each counts before those to its left
    merged = {key: value for tables in ranks for key, value in _strictest_of(tables).items()}
    on_gate_failure = strictest(*(table.get("on_gate_failure") for tables in ranks for table in tables))
    return HookPolicy(**{**merged, "on_gate_failure": on_gate_failure})


def _strictest_of(tables: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            strictness = _STRICTNESS.get(key)
            if key not in chosen or (strictness is not None and strictness(value) > strictness(chosen[key])):
                chosen[key] = value
    return chosen
