"""The view that an application calls: the live hooks of one place, session and skill. Immutable."""

from __future__ import annotations

from time import perf_counter

from agent_hooks.errors import HookMisuseError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, Decision, HookOutcome, read_answer

from .calling import drive, in_event_loop
from .dispatch import Dispatch
from .lanes import run_async, run_sync, run_timed, watch_async, watch_sync

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from typing import Any, Literal

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.inference import ModelRequest
    from agent_hooks.model.state import Answered
    from agent_hooks.model.tool_call import ToolCall

    from .foreign_calls import Ending, ModelUse, ToolUse
    from .guarded_run import GuardedRun
    from .manager import HookManager
    from .plan import Chain, Hook
    from .suspension import IsAbout, Key, Suspension
    from .watching import Watchers

    Answer = bool | Literal["host"]
    Ask = Callable[[HookContext, str], Answer | Awaitable[Answer]] | Literal["host"] | None
    OnSettled = Callable[[HookOutcome], None] | None
    Run = Callable[[ToolCall], Any]
    Resume = tuple[str, str | HookOutcome] | None
    Errors = tuple[type[BaseException], ...]


_NONE = -1  # no generation: each chain is looked up with that of the parent


class Hooks:
    """The live hooks, as seen from one directory, session and set of skills.

    ``await hooks.dispatch(ctx)`` asks them about what is happening; ``dispatch_sync`` does so without an event loop.
    Views are made by ``HookManager.hooks()`` and widened with ``in_session``, ``with_skill`` and ``at``, each of which
    returns a new one.
    """

    clock = staticmethod(perf_counter)

    def __init__(
        self,
        manager: HookManager,
        ask: Ask = None,
        scopes: frozenset[tuple[str, str]] = frozenset(),
        directory: str = "",
        on_settled: OnSettled = None,
        parent: Hooks | None = None,
    ) -> None:
        self.manager = manager
        self.ask = ask
        self.scopes = scopes
        self.directory = directory
        self.on_settled = on_settled
        self.parent = parent
        # The generation, the chains that hold until the next, and those with conditions, which are asked each time.
        generation = manager.generation if parent is None else _NONE
        self._compiled: tuple[int, dict[str, Chain | None], dict[str, Chain]] = (generation, {}, {})
        self._own = None if parent is None else Hooks(manager, ask, scopes, directory, on_settled)
        self._inherited: dict[str, tuple[tuple[Any, ...], Chain | None]] = {}

    def in_session(self, session_id: str) -> Hooks:
        """Return the view of this session: its hooks are live as well, those of another session are not."""
        others = frozenset(scope for scope in self.scopes if scope[0] != "session")
        return self._like(scopes=others | {("session", session_id)})

    def with_skill(self, name: str) -> Hooks:
        """Return the view in which this skill's hooks are live as well."""
        return self._like(scopes=self.scopes | {("skill", name)})

    def asking(self, ask: Ask) -> Hooks:
        """Return the view in which ``ask`` answers asks that no permission hook answered."""
        return self._like(ask=ask)

    def at(self, directory: str) -> Hooks:
        """Return the view from ``directory``, which stands in where an event has no ``cwd`` of its own."""
        return self._like(directory=directory)

    def under(self, parent: Hooks) -> Hooks:
        """Return the view of a subagent of a run with the view ``parent``: the hooks of that are asked as well, and
        its ``ask``: the child's own could approve a question of a parent's gate.
        """
        return self._like(parent=parent, ask=parent.ask, directory=self.directory or parent.directory)

    def _like(self, **changes: Any) -> Hooks:
        same = {name: getattr(self, name) for name in ("ask", "scopes", "directory", "on_settled", "parent")}
        return Hooks(self.manager, **{**same, **changes})

    # -- dispatch ----------------------------------------------------------------------------------------------------

    def chain(self, event: HookEvent | str) -> Chain | None:
        """Return the event's compiled chain, None if nobody listens."""
        generation, chains, conditional = self._compiled
        if generation != self.manager.generation:
            if self.parent is not None:
                return self._chain_under(self.parent, event)
            # Taken before compiling: a chain of an older generation must never end up among those of a newer one.
            generation, chains, conditional = self._compiled = (self.manager.generation, {}, {})
        if conditional and event in conditional:
            return conditional[event].awake()
        try:
            return chains[event]
        except KeyError:
            chain = self.manager.compile(HookEvent.parse(event), self.scopes)
            if chain is None or not chain.conditions:
                chains[event] = chain
                return chain
            conditional[event] = chain
            return chain.awake()

    def _chain_under(self, parent: Hooks, event: HookEvent | str) -> Chain | None:
        from .inheriting import inherited_chain

        assert self._own is not None
        above, own = parent.chain(event), self._own.chain(event)
        parts = (above, own, self.manager.generation, parent.manager.generation)
        known = self._inherited.get(event)
        if known is None or known[0] != parts:
            chain = inherited_chain(HookEvent.parse(event), above, own, self.manager, self.watchers)
            known = self._inherited[event] = (parts, chain)
        return known[1]

    def listens(self, event: HookEvent | str) -> bool:
        """Whether any live hook listens to ``event``: ask before building a context that nobody will read."""
        return self.chain(event) is not None

    def dispatch(self, ctx: HookContext) -> Coroutine[Any, Any, HookOutcome]:
        """Dispatch ``ctx`` and return the outcome; hooks' errors never propagate. Raises ``UnknownHookError``."""
        chain = self.chain(ctx._fields["event"])
        if chain is None:
            return _proceed()
        if chain.is_watched:
            return watch_async(chain, self._placed(ctx) if self.directory else ctx, self)
        run = run_timed if chain.has_time_limits else run_async
        return run(chain, self._placed(ctx) if self.directory else ctx, self)

    def dispatch_sync(self, ctx: HookContext) -> HookOutcome:
        """Dispatch without an event loop. An async hook that really waits fails with ``HookMisuseError``."""
        chain = self.chain(ctx._fields["event"])
        if chain is None:
            return PROCEED
        if chain.is_watched:
            return watch_sync(chain, self._placed(ctx) if self.directory else ctx, self)
        return run_sync(chain, self._placed(ctx) if self.directory else ctx, self)

    def run_sync(self, ctx: HookContext) -> HookOutcome:
        """Do the same in an event loop of its own. Raises ``HookMisuseError`` where one already runs."""
        import asyncio

        if in_event_loop():
            raise HookMisuseError("An event loop is running here: use `await hooks.dispatch(ctx)` instead of run_sync.")
        return asyncio.run(self._to_the_end(ctx))

    async def _to_the_end(self, ctx: HookContext) -> HookOutcome:
        outcome = await self.dispatch(ctx)
        await self.join()
        return outcome

    def _placed(self, ctx: HookContext) -> HookContext:
        return ctx if ctx.cwd or not self.directory else ctx.replace(cwd=self.directory)

    async def join(self, timeout: float = 10.0, execution_id: str = "") -> int:
        """Wait up to ``timeout`` seconds for background observers; return the number that did not finish."""
        return await self.manager.background.join(timeout, execution_id)

    def join_sync(self, timeout: float = 10.0) -> int:
        """Do the same for observers started by sync calls."""
        return self.manager.background.join_sync(timeout)

    # -- loops of others ---------------------------------------------------------------------------------------------

    async def call_tool(
        self, call: ToolCall, run: Run, *, resume: Resume = None, passed: Errors = (), **fields: Any
    ) -> ToolUse:
        """Make a tool call under its hooks, and return the result as they judged it.

        ``run``, sync or async, gets the call with the arguments that hooks settled, and returns the tool's result. It
        is not called if hooks block the call, and called again if they request a retry, at most
        ``HookPolicy.max_retries`` times. Hooks judge its errors, except for those of the types ``passed``, which are
        raised: a framework's own way to interrupt a run. ``fields`` are fields of ``HookContext`` such as
        ``session_id``, ``cwd`` and ``state``.

        If a hook suspends the call, or asks and the view leaves the answer to the host, the result is blocked and has a
        ``token``. The same call and fields with ``resume=(token, decision)`` go on from there, as ``resume`` does.
        """
        from .foreign_calls import ForeignCall, ForeignLoop

        return await ForeignCall(call, ForeignLoop(self, fields, sync=False, resume=resume), run, passed).make()

    def call_tool_sync(
        self, call: ToolCall, run: Run, *, resume: Resume = None, passed: Errors = (), **fields: Any
    ) -> ToolUse:
        """Do the same without an event loop. Raises ``HookMisuseError`` if ``run`` is async. Async hooks run in the
        event loop of one thread of the process; without anyio, which that needs, they raise the same error.
        """
        from .foreign_calls import ForeignCall, ForeignLoop

        return drive(ForeignCall(call, ForeignLoop(self, fields, sync=True, resume=resume), run, passed).make())

    async def call_model(
        self, request: ModelRequest, run: Callable[[ModelRequest], Any], *, resume: Resume = None, **fields: Any
    ) -> ModelUse:
        """Send a request to a model under its hooks, and return the response as they judged it.

        ``run``, sync or async, gets the request as hooks settled it, and returns a ``ModelResponse``, text or tool
        calls. It is not called if hooks block the request, and called again if they request a retry, of a response or
        of an error, at most ``HookPolicy.max_retries`` times; other errors of ``run`` are raised. ``resume`` and
        ``fields`` are those of ``call_tool``.
        """
        from .foreign_calls import ForeignLoop, ForeignRequest

        return await ForeignRequest(request, ForeignLoop(self, fields, sync=False, resume=resume), run).make()

    def call_model_sync(
        self, request: ModelRequest, run: Callable[[ModelRequest], Any], *, resume: Resume = None, **fields: Any
    ) -> ModelUse:
        """Do the same without an event loop, as ``call_tool_sync`` does."""
        from .foreign_calls import ForeignLoop, ForeignRequest

        return drive(ForeignRequest(request, ForeignLoop(self, fields, sync=True, resume=resume), run).make())

    async def run_turn(self, prompt: Any, run: Callable[[GuardedRun, Any], Any], **fields: Any) -> Ending:
        """Run a loop on a prompt under its hooks, and return its output as they judged it.

        ``run(turn, prompt)``, sync or async, is the loop: it makes its requests with ``turn.model``, its tool calls
        with ``turn.tool``, and returns its answer. Hooks may refuse the prompt, which raises ``PromptRefusedError``,
        and request another round, in which ``run`` gets their reason as the prompt. ``fields`` are those of
        ``call_tool``.
        """
        from .guarded_run import GuardedRun
        from .turns import run_turn

        return await run_turn(GuardedRun(self, **fields), prompt, run)

    @property
    def has_async_ask(self) -> bool:
        """Whether ``ask`` is an async function."""
        from inspect import iscoroutinefunction

        called = getattr(type(self.ask), "__call__", None)  # noqa: B004 - of an object that is one
        return iscoroutinefunction(self.ask) or iscoroutinefunction(called)

    # -- suspension --------------------------------------------------------------------------------------------------

    async def resume(self, token: str, decision: str | HookOutcome, ctx: HookContext | None = None) -> HookOutcome:
        """Answer a suspended operation: a fresh dispatch in which the hook that suspended it answers so, and all others
        are asked again. Answers given to it before hold as well, each for exactly the subject that it was about.

        ``decision`` is ``"allow"``, ``"deny"`` or an outcome. ``ctx`` is the operation as it now is (default: as it
        was); it must be about the session, agent, working directory, call and subject of the suspended one. A token
        works once, but still holds where the dispatch was cancelled. Raises ``SuspensionError``.
        """
        return await self._resume(token, decision, ctx, sync=False)

    def resume_sync(self, token: str, decision: str | HookOutcome, ctx: HookContext | None = None) -> HookOutcome:
        """Do the same without an event loop."""
        return drive(self._resume(token, decision, ctx, sync=True))

    async def _resume(
        self, token: str, decision: str | HookOutcome, ctx: HookContext | None, *, sync: bool
    ) -> HookOutcome:
        kept, given, now = self._resumption(token, decision, ctx)
        view = self._like(scopes=kept.view.scopes, directory=kept.view.directory)
        try:
            outcome = await view.redispatch(now, given, kept.record.called, sync=sync)
        except BaseException:
            self.manager.suspended[token] = kept
            raise
        return view.keep_asked(now, outcome, given, kept.record.called) if outcome.decision is Decision.ASK else outcome

    async def redispatch(
        self,
        ctx: HookContext,
        given: tuple[Answered, ...],
        called: Iterable[Key],
        *,
        sync: bool = False,
        is_about: IsAbout | None = None,
    ) -> HookOutcome:
        """Ask all hooks about an operation that had to wait, with the answers ``given`` to it so far.

        ``called`` are the keys of the hooks that were called about it before: for them ``ctx.rechecking`` is true.
        ``is_about(subject, of_answer)`` tells whether an answer is about this subject (default: exactly this).
        """
        from .suspension import is_exactly

        chain = self.chain(ctx.event)
        dispatch = None
        outcome = PROCEED
        if chain is not None:
            dispatch = Dispatch(chain, ctx, self, sync=sync)
            dispatch.know(given, frozenset(called), is_about or is_exactly)
            outcome = await dispatch.watched()
        if outcome.blocks:
            return outcome
        # A refusal stands even if the hook that wanted it is gone, or was not reached.
        refusals = [each.answer for each in given if each.answer.blocks and not (dispatch and dispatch.has_heard(each))]
        return refusals[0] if refusals else outcome

    def _resumption(
        self, token: str, decision: str | HookOutcome, ctx: HookContext | None
    ) -> tuple[Suspension, tuple[Answered, ...], HookContext]:
        from .suspension import answered, check_age

        kept = self.manager.suspended.get(token)
        if kept is None:
            check_age(_since(token), self.manager.policy.suspension_ttl)
            raise SuspensionError("Nothing is suspended under this token, or it was already resumed.")
        check_age(kept.record.created_at, self.manager.policy.suspension_ttl)
        if not isinstance(decision, (str, HookOutcome)):
            raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome, not {decision!r}.")
        now = kept.start if ctx is None else kept.view._placed(ctx)
        if not kept.is_about(now):
            raise SuspensionError(
                "The token belongs to another operation: its session, agent, working directory, call or subject is not "
                "the same."
            )
        given = answered(kept.record, HookOutcome.proceed() if decision == "allow" else read_answer(decision))
        if self.manager.suspended.pop(token, None) is None:
            raise SuspensionError("The operation was resumed by someone else at the same moment.")
        return kept, given, now

    # -- used by the dispatch ------------------------------------------------------------------------------------------

    def keep_asked(
        self, ctx: HookContext, asked: HookOutcome, given: tuple[Answered, ...] = (), called: Iterable[Key] = ()
    ) -> HookOutcome:
        """Return a question that is left to the application with the token that resumes its operation."""
        chain = self.chain(ctx.event)
        if chain is not None:
            called = {*called, *(hook.key for hook in (*chain.wrappers, *chain.deciders))}
        ctx = self._placed(ctx)
        subject = asked._fields.get(ctx.event.subject or "", ctx.held_subject)
        return self.keep_suspended(ctx, asked, ("", ""), subject, given, called)

    def keep_suspended(self, start: HookContext, outcome: HookOutcome, *about: Any) -> HookOutcome:
        """Remember a suspended operation, of which ``about`` is for its record; return the outcome with the token."""
        from .suspension import Suspension, record_of

        record = record_of(start, outcome, *about)
        waiting, ttl = self.manager.suspended, self.manager.policy.suspension_ttl
        for token, other in list(waiting.items()):  # the oldest first
            if ttl is None or other.record.created_at >= record.created_at - ttl:
                break
            waiting.pop(token, None)
        waiting[record.token] = Suspension(record, start, self)
        return outcome.replace(token=record.token)

    def count_tolerated(self, hook: Hook, error: BaseException) -> None:
        """Count a failure that stopped nothing, and log it without its text, which may hold values of the event."""
        owner: Hooks = self
        if self.parent is not None:
            from .inheriting import generations_above

            for _ in range(generations_above(hook)):
                assert owner.parent is not None
                owner = owner.parent
        owner.manager.count_tolerated(hook, error)

    @property
    def watchers(self) -> Watchers:
        """The framework's own observers, those of a parent too."""
        own = self.manager.watchers
        return own if self.parent is None else own.joined(self.parent.watchers)


async def _proceed() -> HookOutcome:
    return PROCEED


def _since(token: str) -> float:
    """Return when a token was made, in seconds since the epoch; infinity for what is none."""
    made = str(token).rpartition(".")[2]
    try:
        return float(int(made, 16))
    except ValueError:
        return float("inf")
