"""Hooks without their registration: rows of data, made from the hooks of a manager, and hooks made of them again."""

from __future__ import annotations

from agent_hooks.errors import AgentHooksError
from agent_hooks.model.policy import HookPolicy, ManagedSettings

from .markers import HookOptions
from .matchers import match_within
from .plan import Hook, is_by_name
from .registry import HookRegistry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent

    # Only data that can be marshalled.
    Row = dict[str, Any]
    Reference = tuple[Any, ...]


# In place of a match text: only the function knows its match.
_OF_FUNCTION = ("of the function",)


class StalePlanError(AgentHooksError):
    """Raised for a plan that does not hold any more: the hooks must be registered as usual."""


def row_of(hook: Hook, reference: Reference) -> Row | None:
    """Return ``hook`` as data, with what says where its function is; None if its match is made in code.

    A function that is itself made of data brings its options with it.
    """
    is_entry = reference[0] == "entry"
    match: Any = hook.options.match
    options = {name: value for name, value in hook.options._fields.items() if name != "when"}  # it only saves time
    if not isinstance(match, (str, type(None))):
        if not is_entry:
            return None
        match = match.match_text if getattr(match, "is_ours", False) else _OF_FUNCTION
    return {
        "event": str(hook.event),
        "options": None if is_entry else options,
        "match": match,
        "arguments": hook.arguments,
        "name": hook.name,
        "plugin_name": hook.plugin_name,
        "source": hook.source,
        "scope": hook.scope,
        "order": hook.order[2:],
        "is_async": hook.is_async,
        "entry_on_failure": hook.entry_on_failure,
        "default_on_failure": hook.default_on_failure,
        "shadow": hook.shadow,
        "default_timeout": hook.timeout,
        "reference": reference,
    }


class PlannedHooks(HookRegistry):
    """The hooks of a plan for one event of a host.

    ``rows``: see ``row_of``. ``function``: returns the function of a reference; whatever it raises means that the plan
    does not hold. The function of a hook is asked for only if its match can meet ``ctx``.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        policies: tuple[Mapping[str, Any], Mapping[str, Any]],
        function: Callable[[Reference], Callable[..., Any]],
        ctx: HookContext,
    ) -> None:
        policy, managed = (HookPolicy(**fields) for fields in policies)
        super().__init__(policy, ManagedSettings(policy=managed))
        self._rows = rows
        self._function = function
        self._ctx = ctx
        self._made: dict[HookEvent, list[Hook]] = {}

    def hooks_on(self, event: HookEvent) -> list[Hook]:
        """Return the planned hooks on ``event`` that can meet the context. Raises ``StalePlanError``."""
        if event not in self._made:
            try:
                made = [self._hook(event, row) for row in self._rows if row["event"] == event]
            except Exception as error:
                raise StalePlanError(f"The plan does not hold: {type(error).__name__}: {error}") from error
            self._made[event] = [hook for hook in made if hook is not None]
        return [*self._made[event], *super().hooks_on(event)]

    def _hook(self, event: HookEvent, row: Row) -> Hook | None:
        facts = dict(row)
        reference, given = facts.pop("reference"), facts.pop("options")
        del facts["event"]
        function, match = None, facts.pop("match")
        if match == _OF_FUNCTION:
            function = self._function(reference)
            match = function.agent_hooks_impl["options"].match  # type: ignore[attr-defined]
        match = match_within(facts["scope"], match, event.matched_by, facts["source"])
        is_of_call = event is self._ctx.event and event.matched_by == "tool"
        if is_of_call and match is not None and is_by_name(match) and not match(self._ctx):
            return None
        managed = self.policy_of("managed") if facts["source"] == "managed" else None
        function = function or self._function(reference)
        options = function.agent_hooks_impl["options"] if given is None else HookOptions(**given)  # type: ignore[attr-defined]
        return Hook(event, function, options=options, match=match, managed_policy=managed, **facts)
