"""Adapters that turn state processors, stop criteria and event emitters of other frameworks into hooks."""

from __future__ import annotations

from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, Literal, cast

from agent_hooks.errors import RunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.state import AgentState

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.model.context import HookContext


class _Adapter:
    """A hook that calls ``function`` and is async if that is; named after ``adapted``."""

    def __init__(self, adapted: Any, function: Callable[..., Any]) -> None:
        self.__name__ = str(getattr(adapted, "__name__", None) or type(adapted).__name__)
        self._function = function
        self._is_async = _is_async(function)
        self.execute: Callable[[HookContext], Any] = self._run_async if self._is_async else self._run

    def _ask(self, ctx: HookContext) -> Any:
        """Return the answer of the function, or an awaitable of it."""
        return self._function(self._state_of(ctx))

    def _read(self, ctx: HookContext, answer: Any) -> HookOutcome | None:  # noqa: ARG002 - for those that decide
        """Return the outcome for the answer; an observer has no opinion."""
        return None

    def _state_of(self, ctx: HookContext) -> AgentState:
        if ctx.state is None:
            raise RunError(f"{self.__name__} needs a state, and this {ctx.event!s} comes without one.")
        return ctx.state

    def _run(self, ctx: HookContext) -> Any:
        answer = self._ask(ctx)
        return self._awaited(ctx, answer) if hasattr(answer, "__await__") else self._read(ctx, answer)

    async def _run_async(self, ctx: HookContext) -> Any:
        return await self._awaited(ctx, self._ask(ctx))

    async def _awaited(self, ctx: HookContext, answer: Any) -> HookOutcome | None:
        return self._read(ctx, await answer if hasattr(answer, "__await__") else answer)


class ProcessorHookAdapter(_Adapter):
    """A processor of the state as a hook: ``builder.process(ProcessorHookAdapter(processor))``.

    ``processor``: an object with ``process(state) -> state``, or a function of the state; sync or async. An object may
    skip states with ``can_process(state) -> bool``. None or the same state means no change. The middleware form
    ``process(state, next)`` works too: ``next(state)`` returns its argument, because the rest of the chain runs after
    this hook, on the state it returned; an async processor awaits it. ``position``: ``"after"`` or ``"before"`` the
    step; ``event`` is the event of that name, and the hook fails on events of the other side. Raises ``RunError`` for
    anything but a processor.
    """

    def __init__(self, processor: Any, position: Literal["after", "before"] = "after") -> None:
        if position not in ("after", "before"):
            raise RunError(f"A processor stands 'before' or 'after' the step, not {position!r}.")
        self.processor = processor
        self.position = position
        self.event = HookEvent.parse(f"{position}_step")
        super().__init__(processor, _function_of(processor, "process", "processor"))
        self._next: tuple[Any, ...] = ()
        self._can_process = None if self._function is processor else getattr(processor, "can_process", None)
        if _is_async(self._can_process):
            raise RunError(f"The processor {self.__name__}: can_process(state) must be a plain function.")
        try:
            accepted = signature(self._function)
            if _takes_next(accepted):
                self._next = (_unchanged_async if self._is_async else _unchanged,)
            accepted.bind(None, *self._next)
        except ValueError:  # a builtin without a signature
            return
        except TypeError as error:
            raise RunError(
                f"The processor {self.__name__} cannot be called as process(state) or process(state, next): {error}."
            ) from error

    def _ask(self, ctx: HookContext) -> Any:
        if not ctx.event.startswith(f"{self.position}_"):
            raise RunError(
                f"The processor {self.__name__} stands {self.position!r}, and {ctx.event!s} is not there: register it "
                f"on {self.event!s}."
            )
        state = self._state_of(ctx)
        is_skipped = self._can_process is not None and not self._can_process(state)
        return None if is_skipped else self._function(state, *self._next)

    def _read(self, ctx: HookContext, answer: Any) -> HookOutcome | None:
        if answer is None or answer is ctx.state:
            return None
        if not isinstance(answer, AgentState):
            raise RunError(
                f"The processor {self.__name__} returned a {type(answer).__name__}: return an AgentState, or None."
            )
        return HookOutcome.proceed(state=answer)


class CriteriaHookAdapter(_Adapter):
    """A criterion for going on as a hook: ``builder.continue_when(CriteriaHookAdapter(criterion))``.

    ``criterion``: an object with ``evaluate(state)``, or a function of the state; sync or async. True and None: no
    objection. False: stop. A ``HookOutcome`` is used as it is. The answers of InstructorPHP's criteria work too:
    ``"forbid_continuation"`` stops, ``"request_continuation"`` forces another step, ``"allow_continuation"`` and
    ``"allow_stop"`` have no opinion. Any other answer is a failure, which stops the run. Raises ``RunError`` for
    anything but a criterion.
    """

    def __init__(self, criterion: Any) -> None:
        self.criterion = criterion
        super().__init__(criterion, _function_of(criterion, "evaluate", "criterion"))

    def _read(self, ctx: HookContext, answer: Any) -> HookOutcome | None:  # noqa: ARG002 - the base's signature
        if isinstance(answer, HookOutcome):
            return answer
        if answer is None or answer is True or answer in ("allow_continuation", "allow_stop"):
            return None
        if answer is False or answer == "forbid_continuation":
            return HookOutcome.stop(f"The criterion {self.__name__} forbids another step.")
        if answer == "request_continuation":
            return HookOutcome.force_continue(f"The criterion {self.__name__} requests another step.")
        raise RunError(
            f"The criterion {self.__name__} answered {answer!r:.80}: answer True, False, None, a HookOutcome, or "
            "forbid_continuation, request_continuation, allow_continuation or allow_stop."
        )


class EventEmittingHook(_Adapter):
    """A hook that forwards its events: ``builder.hook("after_step", EventEmittingHook(bus.dispatch))``.

    ``emit`` is called with ``event_type(ctx)``, or with the context itself if there is no ``event_type``; it may be
    async. The hook only observes: results and errors of ``emit`` have no effect. Raises ``RunError`` for an ``emit`` or
    ``event_type`` that cannot be called.
    """

    mode = "observe"

    def __init__(self, emit: Callable[[Any], Any], event_type: Callable[[HookContext], Any] | None = None) -> None:
        for name, given in (("emit", emit), ("event_type", event_type or emit)):
            if not callable(given):
                raise RunError(f"EventEmittingHook: {name} must be something to call, not {given!r:.80}.")
        self.emit = emit
        self.event_type = event_type
        super().__init__(emit if event_type is None else event_type, emit)

    def _ask(self, ctx: HookContext) -> Any:
        return self.emit(ctx if self.event_type is None else self.event_type(ctx))


def _function_of(adapted: Any, method: str, role: str) -> Callable[..., Any]:
    """Return the method of this name, or the object itself if it is callable. Raises ``RunError``."""
    found = getattr(adapted, method, adapted)
    if isinstance(adapted, type) or not callable(found):
        raise RunError(
            f"{adapted!r:.80} is no {role}: give an object with {method}(state), or a function of the state."
        )
    return cast("Callable[..., Any]", found)


def _takes_next(accepted: Signature) -> bool:
    """Whether a processor is middleware: it needs a second argument, or offers to take one called ``next``."""
    ordinary = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    second = [parameter for parameter in accepted.parameters.values() if parameter.kind in ordinary][1:2]
    return any(parameter.default is Parameter.empty or parameter.name == "next" for parameter in second)


def _is_async(function: Any) -> bool:
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _unchanged(state: AgentState) -> AgentState:
    return state


async def _unchanged_async(state: AgentState) -> AgentState:
    return state
