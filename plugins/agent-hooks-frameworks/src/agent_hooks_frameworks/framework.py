"""The part that all adapters share: the hooks of an application, as a framework asks them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from warnings import warn

from agent_hooks.engine.guarded_run import GuardedRun
from agent_hooks.engine.known_tools import matched_kinds
from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.sources.loading import load

from .children import cover_children
from .kinds import check_kinds, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.plan import Hook


class AdapterWarning(UserWarning):
    """Warns of hooks that a framework cannot ask as they expect it, and of tools whose kind is unknown."""


class Framework(NamedTuple):
    """A framework, as its adapter knows it.

    ``distribution``: its name on the package index; ``extra``: that of ours which installs it. ``events``: those that
    the adapter dispatches. ``cannot``: behaviours of the conformance suite that the framework does not allow, each with
    the reason. ``tools``: the kinds of its own tools. ``fields``: where the fields of the context come from.
    """

    name: str
    distribution: str
    extra: str
    events: frozenset[str]
    cannot: Mapping[str, str] = {}
    tools: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}


# Every event of a run of an agent. The others belong to sessions, skills and hosts, which frameworks do not have.
RUN_EVENTS = frozenset(
    """
    user_input before_turn before_execution should_continue before_step before_inference after_inference before_tool_use
    on_tool_error after_tool_use after_step on_stop before_output on_error after_execution after_turn before_subagent
    after_subagent
    """.split()
)


class FrameworkHooks:
    """The hooks of an application in a framework: what each adapter's ``AgentHooks`` stands on.

    ``manager``: the hooks, default ``agent_hooks.load()``, which are those that ``agent-hooks run`` asks. ``kinds``:
    the kinds of tools by their names, such as ``{"run": "shell"}``, before all that is known of them. ``ask``: who
    answers the questions of hooks: ``"host"`` is the framework's own approval, a function ``(ctx, question)`` answers
    in its place, None leaves it to ``HookPolicy.ask_fallback``.

    Raises ``RegistrationError`` for a kind that there is not, and for a ``required`` hook on an event that the
    framework lacks. Hooks on such an event that would be gates are warned of.
    """

    framework: ClassVar[Framework]

    def __init__(
        self, manager: HookManager | None = None, *, kinds: Mapping[str, str] | None = None, ask: Ask = "host"
    ) -> None:
        if manager is not None and not isinstance(manager, HookManager):
            raise RegistrationError(f"manager= is a HookManager, as load() returns it, not {type(manager).__name__}.")
        if ask not in ("host", None) and not callable(ask):
            raise RegistrationError(f"ask={ask!r}: use 'host', None or a function (ctx, question).")
        self.manager = load() if manager is None else manager
        self.kinds = check_kinds(kinds or {})
        self.hooks: Hooks = self.manager.hooks(ask=ask)
        self._tools: dict[str, tuple[Any, str | None]] = {}  # schema or function, and kind
        self.for_children: FrameworkHooks | None = None
        self._warned: set[str] = set()
        self._checked = -1
        self._check()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the same hooks: a copy of an agent is under those of the agent."""
        return self

    def begin(self, *, parent: GuardedRun | None = None, sync: bool = False, **fields: Any) -> GuardedRun:
        """Return a new run. ``parent`` (default: the run whose tool is at work here) makes it that of a subagent."""
        self._check()
        cover_children()
        fields.setdefault("cwd", self.hooks.directory or os.getcwd())
        fields["host"] = self.framework.name
        run = GuardedRun(self.hooks, parent=parent, sync=sync, **fields)
        run.owner = self
        return run

    @classmethod
    def of(cls, run: GuardedRun) -> Self:
        """Return the hooks of a run, of this framework or another one, for an agent that it starts. What the
        application says of the kinds of its tools holds for those of the agent if it puts them under more hooks.
        """
        owner = run.owner
        if not (isinstance(owner, cls) and owner.for_children is owner):
            kinds = {name: kind for name, kind in getattr(owner, "kinds", {}).items() if kind != "other"}
            made = getattr(owner, "for_children", None)
            owner = made if isinstance(made, cls) else cls(run.hooks.manager, kinds=kinds, ask=run.hooks.ask)
            owner.for_children = owner
            if run.owner is not None:
                run.owner.for_children = owner
        return owner

    def call(
        self,
        name: str,
        args: Mapping[str, Any],
        call_id: str = "",
        *,
        schema: Mapping[str, Any] | None = None,
        function: Callable[..., Any] | None = None,
    ) -> ToolCall:
        """Return a call of a tool with its kind: as ``kinds`` has it, as the tables of known tools do, or as its
        parameters tell it, from a JSON Schema or the signature of a function. Where neither is at hand, as for an
        answer to a question, the tool keeps the kind that it has.
        """
        cover_children()
        told_by = schema if schema is not None else function
        known = self._tools.get(name)
        if known is None or (told_by is not None and known[0] != told_by):  # two agents may have tools of one name
            tools = self.framework.tools
            kind = kind_of(name, kinds=self.kinds, tools=tools, schema=schema, function=function)
            known = self._tools[name] = (told_by, kind)
            self._warn_of_unknown([name])
        return ToolCall(name, args, id=call_id, kind=known[1] or "other")

    # -- what does not fit ---------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._checked == self.manager.generation:
            return
        self._checked = self.manager.generation
        self.lacks(self.framework.name, lambda event: event not in self.framework.events)
        self._warn_of_unknown(self._tools)

    def lacks(self, what: str, is_missing: Callable[[Any], bool]) -> None:
        """Name the gates that are never asked in a framework or one of its agents, by the events that ``is_missing``.
        Raises ``RegistrationError`` for one that is required.
        """
        hooks = [hook for hook in self.manager.all_hooks() if is_missing(hook.event)]
        for hook in hooks:
            never = f"{what} has no {hook.event}: the hook {hook.name} of {hook.plugin_name} is never asked."
            if hook.options.required and hook.source != "plugin":
                raise RegistrationError(f"{never} It is required, so it cannot be left out.")
            if hook.event in RUN_EVENTS and _decides(hook):
                self._warn(never)

    def hosted(self, names: Iterable[str]) -> None:
        """Name the tools that a provider runs itself, past the gates about tool calls."""
        hosted = [*names]
        if hosted and any(hook.event == "before_tool_use" and _decides(hook) for hook in self.manager.all_hooks()):
            for name in hosted:
                self._warn(
                    f"The provider runs the tool {name!r} itself, so hooks about tool calls are not asked about it: a "
                    "hook on before_inference finds it in request.tools, and can deny the request."
                )

    def _warn_of_unknown(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if self._tools[name][1] is None]
        if unknown and (kinds := matched_kinds(self.manager.all_hooks())):
            for name in unknown:
                self._warn(
                    f"The kind of the tool {name!r} is unknown, so hooks about {', '.join(sorted(kinds))} are not "
                    f"asked about it: say kinds={{{name!r}: 'shell'}}, or 'other' if it is none of these."
                )

    def _warn(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warn(message, AdapterWarning, stacklevel=4)


def _decides(hook: Hook) -> bool:
    """Whether the hook is a gate that is awake, on an event with a closed effect."""
    when = hook.options.when
    return hook.mode != "observe" and hook.event.closed is not None and (when is None or when() is not False)
