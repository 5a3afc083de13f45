"""Writes the stubs of the package from its hookspecs and values: ``python .ci/stubs.py``. A test compares them.

``engine/event_markers.pyi`` has the types of ``hookimpl``. Python has no type for "a function that takes any of these
arguments, by name", so there is one protocol for each set of arguments, which events share; a method also takes
``self``. ``model/fields.pyi`` has the keyword arguments of contexts and outcomes.
"""

from __future__ import annotations

import re
from inspect import signature
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING

from agent_hooks.engine import hookspecs
from agent_hooks.engine.markers import HookOptions
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import OWN_EVENTS, HookEvent
from agent_hooks.model.outcome import _DECISIONS, BRINGS, HookOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = Path(__file__).resolve().parent.parent / "src/agent_hooks"

NOTE = "# Written by .ci/stubs.py; nothing imports it at run time.\n"

FIELDS = """\
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from .events import HookEvent
from .outcome import Decision, Finding, HookOutcome, Shadowed
from .state import AgentState, Message, Step, StopSignal
from .tool_call import ErrorInfo, ToolCall, ToolExecution
"""

MARKERS = """\
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import Any, Literal, Protocol, Self, TypedDict, TypeVar, Unpack, overload

from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import Mode, OnFailure
from agent_hooks.model.state import AgentState, Step, StopSignal
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution

class _Matches(Protocol):
    def matches(self, ctx: HookContext, /) -> Any: ...

Match = str | re.Pattern[str] | Callable[[HookContext], Any] | _Matches
"""

ANSWERS = """
_Word = Literal[WORDS]
_Told = HookOutcome | HookContext | dict[str, Any] | tuple[str, Any] | _Word | Literal[True] | None
_Answer = _Told | Awaitable[_Told] | Generator[Any, HookOutcome, _Told] | AsyncGenerator[_Told, HookOutcome]
_Nothing = None | Awaitable[None] | Generator[Any, HookOutcome, None] | AsyncGenerator[None, HookOutcome]
_F = TypeVar("_F", bound=Callable[..., Any])

"""

MARKER = """
_KIND = TypeVar("_KIND", bound=BOUND)
class KIND:
    @overload
    def __call__(self, function: _KIND, /) -> _KIND: ...
    @overload
    def __call__(self, **options: Unpack[EventOptions]) -> Self: ...
"""

HOOKIMPL = """
class Hookimpl:
    @overload
    def __call__(self, function: _F, /) -> _F: ...
    @overload
    def __call__(self, **options: Unpack[MarkerOptions]) -> Callable[[_F], _F]: ...
"""


def keywords(name: str, fields: Mapping[str, str], base: str = "TypedDict") -> str:
    """Return the class of these keyword arguments, none of which need be given."""
    lines = [f"    {field}: {kind}\n" for field, kind in fields.items()]
    return f"\nclass {name}({base}, total=False):\n" + "".join(lines)


def fields_of(kind: type, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the fields of a value with their types, as written."""
    return {name: each for name, each in kind.__annotations__.items() if name[0] != "_" and name not in without}


def split(fields: dict[str, str], *names: str) -> dict[str, str]:
    """Remove these fields and return them."""
    return {name: fields.pop(name) for name in names}


def fields_stub() -> str:
    """Return the text of ``model/fields.pyi``."""
    # Conversations and signals may be lists, which are frozen.
    of_context, of_outcome = (
        {name: re.sub(r"tuple\[(Message|StopSignal), \.\.\.\]", r"Sequence[\1]", kind) for name, kind in fields.items()}
        for fields in (fields_of(HookContext, ("event",)), fields_of(HookOutcome))
    )
    # The arguments of the named constructors, and what they derive from those.
    named = split(of_context, "state", "tool_call", "name", "task", "result", "error")
    named |= split(of_context, "step", "stop_signal", "tool_execution", "was_blocked", "error_list")
    brought = split(of_outcome, *(name for name in list(of_outcome) if name in BRINGS))
    return (
        NOTE
        + FIELDS
        + keywords("FurtherFields", of_context)
        + keywords("ContextFields", named, "FurtherFields")
        + keywords("ReplacedFields", {"event": "HookEvent"}, "ContextFields")
        + keywords("BroughtFields", brought)
        + keywords("SignalledFields", {"signal": "StopSignal"}, "BroughtFields")
        + keywords("ProceedFields", split(of_outcome, "reason"), "SignalledFields")
        + keywords("OutcomeFields", of_outcome | {"decision": "Decision | str"}, "ProceedFields")
    )


def markers_stub() -> str:
    """Return the text of ``engine/event_markers.pyi``."""
    names: dict[frozenset[str], str] = {}
    protocols, markers, events = "", "", ""
    for event in (each for each in HookEvent.all() if each in OWN_EVENTS):
        spec = signature(getattr(hookspecs, event))
        arguments = ["self: Any", *(f"{each.name}: {each.annotation}" for each in spec.parameters.values())]
        answer = "_Nothing" if spec.return_annotation == "None" else "_Answer"
        bound = []
        for taken in chain.from_iterable(combinations(arguments, size) for size in range(len(arguments) + 1)):
            key = frozenset((answer, *taken))
            if key not in names:
                names[key] = f"_{len(names)}"
                parameters = ", ".join(("_", "*", *taken) if taken else "_")
                protocols += f"class {names[key]}(Protocol):\n    def __call__({parameters}) -> {answer}: ...\n"
            bound.append(names[key])
        kind = "".join(word.capitalize() for word in event.split("_"))
        markers += MARKER.replace("KIND", kind).replace("BOUND", " | ".join(bound))
        events += f"    {event}: {kind}\n"
    options = fields_of(HookOptions) | {"mode": "Mode", "on_failure": "OnFailure | None"}
    further = fields_of(HookRegistration, ("event", "action")) | {"timeout_seconds": "float | None"}
    name, match, priority = (split(further, each) for each in ("name", "match", "priority"))
    return (
        NOTE
        + MARKERS
        + keywords("EventOptions", options)
        + keywords("MarkerOptions", {"specname": "str | None", "optionalhook": "bool"}, "EventOptions")
        + keywords("FurtherOptions", further)
        + keywords("NamedOptions", name, "FurtherOptions")
        + keywords("MatchedOptions", match, "NamedOptions")
        + keywords("RegistrationOptions", priority, "MatchedOptions")
        + ANSWERS.replace("WORDS", ", ".join(f'"{word}"' for word in _DECISIONS))
        + protocols
        + markers
        + HOOKIMPL
        + events
        + "\nhookimpl: Hookimpl\n"
    )


STUBS = {PACKAGE / "model/fields.pyi": fields_stub, PACKAGE / "engine/event_markers.pyi": markers_stub}

if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
