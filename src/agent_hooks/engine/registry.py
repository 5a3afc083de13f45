"""What a view needs of the hooks behind it, without knowing how they were registered."""

from __future__ import annotations

from agent_hooks.errors import traceback_of
from agent_hooks.model.policy import ManagedSettings
from agent_hooks.system.visible import logger_of

from .background import Background
from .hooks import Hooks
from .plan import Chain
from .watching import NOBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.formats.findings import ConfigFinding
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import Finding
    from agent_hooks.model.policy import HookPolicy

    from .hooks import Ask, OnSettled
    from .plan import Hook
    from .suspension import Suspension
    from .watching import Watchers


class HookRegistry:
    """The registered hooks and what they share: the policy, the chains, the background and the log.

    ``generation`` counts the changes of registration; ``notes`` are sentences about all of it, for people. ``findings``
    and ``project_dir`` are those of the configuration that ``load`` read: its problems, without those that the user
    ignores, and the root of the project, an empty string without one.
    """

    def __init__(self, policy: HookPolicy, managed: ManagedSettings | None = None) -> None:
        self._policy = policy
        self.managed = managed or ManagedSettings()
        self.generation = 0
        self.background = Background(policy.max_background, self.count_tolerated)
        self.suspended: dict[str, Suspension] = {}
        self.waiting_calls: dict[tuple[str, ...], str] = {}  # place, id, name and arguments of a call: its token
        self.tolerated: dict[str, int] = {}
        self.notes: tuple[str, ...] = ()
        self.findings: list[ConfigFinding] = []
        self.project_dir = ""
        self._inserted: list[Hook] = []
        self._reported: set[tuple[str, str]] = set()

    @property
    def policy(self) -> HookPolicy:
        """The settings of the engine, fixed when the manager is made."""
        return self._policy

    def policy_of(self, source: str) -> HookPolicy:
        """Return the settings of the engine that bind hooks of ``source``."""
        return self.managed.policy if source == "managed" else self.policy

    def hooks(self, ask: Ask = None, on_settled: OnSettled = None) -> Hooks:
        """Return the view on the hooks that are always live.

        ``ask`` answers an ask that no permission hook answered: a callable ``(ctx, reason) -> bool | "host"`` (may
        be async), ``"host"`` to leave the ask in the outcome for a host that can put it, or None for the policy's
        ``ask_fallback``.
        """
        return Hooks(self, ask, on_settled=on_settled)  # type: ignore[arg-type]  # uses no more of a manager

    def hooks_on(self, event: HookEvent) -> list[Hook]:
        """Return the registered hooks on ``event``, plugin by plugin."""
        return [hook for hook in self._inserted if hook.event is event]

    def insert(self, hook: Hook) -> None:
        """Add a hook that was made ready for the engine, after all others of its order."""
        self._inserted.append(hook)
        self._changed()

    def compile(self, event: HookEvent, scopes: frozenset[tuple[str, str]] = frozenset()) -> Chain | None:
        """Return the chain of ``event`` in these scopes, or None. Raises ``UnknownHookError``."""
        hooks = [
            hook
            for hook in self.hooks_on(event)
            if hook.scope is None or hook.scope[0] == "directory" or hook.scope in scopes
        ]
        return Chain(event, hooks, self.policy, self.watchers) if hooks else None

    @property
    def watchers(self) -> Watchers:
        """The framework's own observers of dispatches."""
        return NOBODY

    def _changed(self) -> None:
        self.generation += 1

    # -- the log -------------------------------------------------------------------------------------------------------

    def count_tolerated(self, hook: Hook, error: BaseException) -> None:
        """Count a tolerated failure, and log it without its text, which may hold values of the event."""
        self.tolerate(hook.name, hook.event, error)

    def tolerate(self, name: str, event: str, error: BaseException) -> None:
        """Count and log a failure that changes nothing, of what ``name`` names."""
        self.tolerated[name] = self.tolerated.get(name, 0) + 1
        _log(f"The hook {name} failed on {event} and was passed over", error)

    def log_failure(self, what: str, ctx: HookContext, error: BaseException, effect: str) -> None:
        """Log a failure that has an effect, without its text, which may hold values of the event."""
        call = ctx.tool_call
        about = [f"tool {call.name}"] if call is not None and call.has_trusted_name else []
        about += [f"run {ctx.execution_id}"] if ctx.execution_id else []
        where = f" ({', '.join(about)})" if about else ""
        _log(f"{what} failed on {ctx.event!s}{where} and {effect}", error)

    def log_contract(self, hook: Hook, findings: Iterable[Finding]) -> None:
        """Log, once for each hook, the parts of its outcomes that were dropped."""
        messages = [finding.message for finding in findings if finding.kind == "contract"]
        if messages and hook.key not in self._reported:
            self._reported.add(hook.key)
            logger_of().warning("%s (This is logged once for each hook.)", " ".join(messages))


def _log(what: str, error: BaseException) -> None:
    """Log a failure by the kind of its error, and at DEBUG where it was raised. Its text may hold values."""
    from logging import DEBUG

    log = logger_of()
    advice = getattr(error, "advice", "")
    log.warning("%s: %s%s", what, type(error).__name__, f": {advice}" if advice else "")
    if log.isEnabledFor(DEBUG):
        log.debug("%s: %s", what, traceback_of(error))
