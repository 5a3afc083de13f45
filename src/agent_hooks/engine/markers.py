"""The decorators of plugin authors: ``hookimpl`` marks a hook, ``hookspec`` declares an event's hookspec.

They set the attributes that pluggy's own markers set (``agent_hooks_impl``, ``agent_hooks_spec``), with our options
beside pluggy's, so a plain ``pluggy.HookimplMarker("agent_hooks")`` works as well and gets the defaults. Writing the
attribute here, instead of calling pluggy's marker, lets a plugin be imported without importing pluggy.
"""

from __future__ import annotations

from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.model.policy import FAILURES, MODES
from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, overload

    from .event_markers import Match as Match  # noqa: PLC0414 - others import it from here

    Function = TypeVar("Function", bound=Callable[..., Any])

PROJECT = "agent_hooks"
OLD_WRAPPER = "hookwrapper is pluggy's old style: use wrapper=True, and `return (yield)` in the hook."
# The answer of a match that is met, but may not allow anything.
WEAKLY = "weakly"


class HookOptions(Value):
    """The options of a hook; see ``hookimpl`` for each."""

    priority: int = 0
    match: Match | None = None
    mode: str = "transform"
    timeout: float | None = None
    on_failure: str | None = None
    required: bool = False
    shadow: bool = False
    background: bool = False
    name: str | None = None
    wrapper: bool = False
    tryfirst: bool = False
    trylast: bool = False
    when: Callable[[], bool] | None = None

    if not TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None:
            super().__init__(**fields)
            self._check()

    def _check(self) -> None:
        given = self._fields.get
        priority, mode, on_failure = given("priority", 0), given("mode", "transform"), given("on_failure")
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise RegistrationError(f"priority must be a whole number, not {priority!r}.")
        if mode not in MODES:
            raise RegistrationError(f"mode must be one of {', '.join(MODES)}, not {mode!r}.")
        if on_failure not in (None, *FAILURES):
            raise RegistrationError(f"on_failure must be one of {', '.join(FAILURES)}, not {on_failure!r}.")
        timeout: Any = given("timeout")
        if timeout is not None and (
            isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0
        ):
            raise RegistrationError(f"timeout must be a number of seconds above 0, not {timeout!r}.")
        match: Any = given("match")
        if not (match is None or isinstance(match, str) or callable(match)) and not any(
            callable(getattr(match, name, None)) for name in ("search", "matches")
        ):
            raise RegistrationError(
                f"match must be text or a predicate that takes the context, a compiled regular expression or an object "
                f"with matches(ctx), not {match!r}."
            )
        when = given("when")
        if when is not None and not callable(when):
            raise RegistrationError(f"when must be a function without arguments, not {when!r}.")
        if given("tryfirst") and given("trylast"):
            raise RegistrationError("tryfirst and trylast contradict each other: use one of them, or a priority.")
        if given("wrapper") and (mode == "observe" or given("background")):
            raise RegistrationError("a wrapper runs around the decision, so it cannot be an observer.")
        if given("background") and mode != "observe":
            raise RegistrationError('background=True is for observers: add mode="observe".')


class Hookimpl:
    """Mark a function as a hook on the event it is named after (or on ``specname``). Event aliases work as names.

    ``@hookimpl.before_tool_use`` marks a function of any name, and type checkers then know the event's arguments and
    answers. There is such a decorator for each event of agent_hooks, with all options but ``specname`` and
    ``optionalhook``.

    ``priority``: higher runs first (default 0; bands in ``agent_hooks.model.policy``). ``match``: when it is asked,
    as text, as a compiled regular expression, as a predicate on the context, or as an object with ``matches(ctx)``
    (default: always). ``mode``: ``"gate"`` decides, ``"transform"`` may also
    change the subject and the state (default), ``"observe"`` only looks, after the decision. ``timeout``: seconds; for
    a plain function it means a thread that cannot be killed. ``on_failure``: ``"closed"`` blocks, ``"ask"`` asks,
    ``"open"`` goes on (default: the event's). ``required``: its failure also counts on events that otherwise tolerate
    one, and it cannot be switched off. ``shadow``: it only reports its decision. ``background``: an
    observer that need not be waited for. ``name``: shown in reasons and logs (default ``plugin.function``).
    ``wrapper``: a generator around the decision. ``tryfirst``, ``trylast``: before or after every priority.
    ``when``: a function without arguments, asked once in a millisecond at most; while it returns False, the hook is
    left out, so that an event to which nobody else listens costs next to nothing. ``optionalhook``: no error if no
    hookspec has this name.

    Raises ``RegistrationError`` for a value that is not allowed, ``AttributeError`` for an unknown event.
    """

    __slots__ = ()

    def __call__(
        self, function: Any = None, *, specname: str | None = None, optionalhook: bool = False, **options: Any
    ) -> Any:
        """Mark ``function``, or return a decorator with these options."""
        if options.pop("hookwrapper", False):
            raise RegistrationError(OLD_WRAPPER)
        settings = HookOptions(**options)

        def mark(target: Any) -> Any:
            return marked(target, settings, specname, optionalhook=optionalhook)

        return mark if function is None else mark(function)

    def __getattr__(self, event: str) -> Callable[..., Any]:
        if event.startswith(("_", PROJECT)):  # asked of everything in a module
            raise AttributeError(event)
        from agent_hooks.model.events import OWN_EVENTS, find_event

        if event not in OWN_EVENTS:
            known = find_event(event)
            if known in OWN_EVENTS:
                hint = f"Write hookimpl.{known!s}."
            elif known is not None:
                hint = "A plugin has added it: mark a function of its name with a plain @hookimpl."
            else:
                hint = did_you_mean(event, OWN_EVENTS, "`agent-hooks events` lists them all.")
            raise AttributeError(f"hookimpl has no {event!r}. {hint}")

        def mark(function: Any = None, **options: Any) -> Any:
            return self(function, specname=event, **options)

        return mark


if TYPE_CHECKING:
    from .event_markers import hookimpl as hookimpl  # noqa: PLC0414 - a name of this module
else:
    hookimpl = Hookimpl()


def marked(target: Any, options: HookOptions, specname: str | None = None, *, optionalhook: bool = False) -> Any:
    """Mark ``target`` as a hook with these options and return it."""
    target.agent_hooks_impl = {
        "wrapper": False,  # pluggy knows only plain generators as wrappers; the engine runs both colours itself
        "hookwrapper": False,
        "optionalhook": optionalhook,
        "tryfirst": options.tryfirst,
        "trylast": options.trylast,
        "specname": specname,
        "options": options,
    }
    return target


if TYPE_CHECKING:

    @overload
    def hookspec(function: Function) -> Function: ...

    @overload
    def hookspec(
        function: None = None,
        *,
        firstresult: bool = False,
        warn_on_impl: Warning | None = None,
        warn_on_impl_args: Mapping[str, Warning] | None = None,
    ) -> Callable[[Function], Function]: ...


def hookspec(
    function: Any = None,
    *,
    firstresult: bool = False,
    historic: bool = False,
    warn_on_impl: Warning | None = None,
    warn_on_impl_args: Mapping[str, Warning] | None = None,
) -> Any:
    """Declare an event's hookspec: its name is the event, its arguments those that a hook may take.

    ``firstresult`` says that the first hook to block settles the event. ``warn_on_impl`` is the warning that a plugin
    with such a hook gets at its registration, ``warn_on_impl_args`` the warnings by argument. A plugin that adds an
    event also calls ``define_event``. Raises ``RegistrationError`` for ``historic=True``.
    """
    if historic:
        raise RegistrationError(
            "An event is never dispatched to hooks that are registered after it, so historic=True is impossible: let "
            "such plugins catch up in agent_hooks_register(manager)."
        )

    def mark(target: Any) -> Any:
        target.agent_hooks_spec = {
            "firstresult": firstresult,
            "historic": False,
            "warn_on_impl": warn_on_impl,
            "warn_on_impl_args": warn_on_impl_args,
        }
        return target

    return mark if function is None else mark(function)
