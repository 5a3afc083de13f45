"""The keys of ``agent-hooks.toml`` as pydantic models, and the messages for invalid tables."""

from __future__ import annotations

import re
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from agent_hooks.errors import did_you_mean

from .reader import kind_of
from .toml_lines import written_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError

    from .toml_lines import Place

Text = Annotated[str, StringConstraints(min_length=1)]
ModuleName = Annotated[str, StringConstraints(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$")]
FindingId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{12}$")]
Mode = Literal["gate", "transform", "observe"]
OnFailure = Literal["open", "ask", "closed"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def _unset(description: str, **limits: Any) -> Any:
    """Declare a key that has no default; TOML has no null."""
    return Field(default=None, description=description, json_schema_extra=_without_default, **limits)


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


class PolicyTable(_Table):
    """How the engine behaves. A project may only tighten it."""

    on_gate_failure: OnFailure = _unset("What a failing hook does on every event of gates; the strictest counts.")
    ask_fallback: Literal["deny", "allow"] = _unset("What an ask becomes when nobody can answer.")
    timeout: float = _unset("Seconds that an async hook may take.", gt=0, allow_inf_nan=False)
    max_rechecks: int = _unset("Further walks before a chain that keeps rewriting its subject is denied.", ge=0)
    max_forced_continuations: int = _unset("Rounds that hooks may force in one run.", ge=0)
    max_retries: int = _unset("How often one request or call may be made again because hooks ask for it.", ge=0)
    contracts: Literal["off", "diagnostic", "strict"] = _unset("What happens to a change that an event does not list.")
    allow_shell: bool = _unset("Whether files may bring command and http hooks at all.")
    require_project_gates: bool = _unset("Refuse to start where the hooks of a project are not trusted.")
    shadow: bool = _unset("Every hook only reports what it would have decided.")
    context_separator: str = _unset("What stands between the context of two hooks.")
    max_background: int = _unset("Background observers that may be at work at once.", ge=1)
    suspension_ttl: float = _unset("Seconds for which a suspended operation can be resumed.", gt=0, allow_inf_nan=False)


class PermitsTable(_Table):
    """Permissions of handlers, set by the user and the machine's owner."""

    env: list[Text] = Field([], description="Names of further environment variables that commands get.")
    header_env: list[Text] = Field([], description="Environment variables that headers of requests may use.")
    hosts: list[Text] = Field([], description="Hosts that requests may go to although their address is not public.")


class TelemetryTable(_Table):
    """Reports to OpenTelemetry from applications that load this file."""

    spans: Literal["decided", "all", "none"] = _unset("Of which dispatches there are spans.")
    content: bool = _unset("Report reasons, and arguments and results of tools, which may hold secrets.")


class ServeTable(_Table):
    """The warm process, which only saves time."""

    start: bool = Field(True, description="An event starts it if none runs.")


class TrustTable(_Table):
    """What the commands for people ask for."""

    unattended: bool = Field(False, description="They may run without a terminal, as in scripts of the user.")


class HandlerTable(BaseModel):
    """One handler: its type, and the keys of that type."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)

    type: Text = Field(description="The handler's type: command, http, or one that a plugin brings.")


class MatcherOptions(_Table):
    """The matcher and the mode of the handlers below."""

    matcher: str = Field("*", description="Which calls: names, globs, or a regular expression.")
    mode: Mode = Field(
        "gate", description="What they may do: decide, also change the subject (not from a project), or only look."
    )
    priority: int = Field(0, description="Higher runs first.")
    on_failure: OnFailure = _unset("What a failure does (default: the event's). A project may only say closed.")
    required: bool = Field(
        False, description="A failure also counts where it is tolerated otherwise, and nothing switches them off."
    )
    shadow: bool = Field(False, description="They only report what they would have decided (not from a project).")
    background: bool = Field(False, description='They need not be waited for; with mode = "observe".')
    name: Text = _unset("Shown in reasons and logs.")

    @model_validator(mode="after")
    def _only_observers_in_the_background(self) -> MatcherOptions:
        if self.background and self.mode != "observe":
            raise ValueError('background = true is for observers: add mode = "observe"')
        return self


class MatcherTable(MatcherOptions):
    """A matcher and its handlers."""

    hooks: list[HandlerTable] = Field(min_length=1, description="The handlers, in order.")


class HookFile(BaseModel):
    """The settings of agent_hooks. Any table that is not named here holds the settings of the plugin of that name."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)

    disabled: list[Text] = Field([], description="Plugins to leave out (not from a project).")
    plugins: list[ModuleName] = Field(
        [], max_length=100, description="Modules of the environment to load as plugins (not from a project)."
    )
    required: list[Text] = Field([], description="Plugins that must be there (only from the machine's file).")
    config_dir: Text = _unset("The folder of the user's configuration (only from the machine's file).")
    ignore: list[FindingId] = Field([], description="Findings to live with, by id (not from a project).")
    claude_plugins: list[Text] = Field(
        [], max_length=100, description="Folders of Claude Code plugins, relative to this file."
    )
    claude_settings: bool = Field(True, description="Read Claude Code's settings files too (not from a project).")
    known_tools: list[Text] = Field([], description="Names of tools that matchers may name, besides the hosts' own.")
    policy: PolicyTable = _unset("How the engine behaves.")
    permits: PermitsTable = _unset("What handlers may do beyond the ordinary (not from a project).")
    telemetry: TelemetryTable = _unset("Report to OpenTelemetry (not from a project).")
    serve: ServeTable = _unset("The warm process of agent-hooks serve (not from a project).")
    trust: TrustTable = _unset("What the commands for people ask for (not from a project).")
    hooks: dict[str, list[MatcherTable]] = Field({}, description="By event: matchers, and the handlers of each.")


class Problem(NamedTuple):
    """A problem in a table, with its place and remedy."""

    place: Place
    message: str
    remedy: str


def problems(error: ValidationError, model: type[BaseModel], table: Any, at: Place = ()) -> list[Problem]:
    """Return the problems of ``table``, which ``model`` rejects, one for each path in it.

    ``at``: the path of the table in its file. Messages never quote values, which may be secret.
    """
    by_place: dict[Place, list[Any]] = {}
    for problem in error.errors(include_url=False):
        location = problem["loc"]
        if problem["type"] == "extra_forbidden" and _takes_any(model, location[:-1]):
            continue
        is_missing = problem["type"] == "missing"
        place = (*_written(location[:-1], table), location[-1]) if is_missing else _written(location, table)
        by_place.setdefault(place, []).append(problem)
    return [
        Problem((*at, *place), *_explained(written_key((*at, *place)), found, model))
        for place, found in by_place.items()
    ]


def _written(location: Iterable[int | str], table: Any) -> Place:
    """Return the parts of pydantic's location that exist in ``table``; the others name branches of unions."""
    place: Place = ()
    for part in location:
        keys = table if isinstance(table, dict) else range(len(table)) if isinstance(table, list) else ()
        if part in keys:
            table = table[part]
            place = (*place, part)
    return place


def _takes_any(model: type[BaseModel], location: Place) -> bool:
    """Whether the table at ``location`` says that it takes keys of any name."""
    return any(each.model_config.get("extra") == "allow" for each in _models_at(model, location))


def _models_at(model: type[BaseModel], location: Place) -> list[type[BaseModel]]:
    """Return the models that the table at pydantic's ``location`` may have, by the annotations on the way there."""
    found: list[Any] = [model]
    for part in location:
        if branch := [each for each in found if getattr(each, "__name__", "") == part]:
            found = branch
            continue
        inner = []
        for each in found:
            if isinstance(each, type) and issubclass(each, BaseModel):
                named = (field.annotation for name, field in each.model_fields.items() if part in (field.alias, name))
                inner += [alternative for annotation in named for alternative in _alternatives(annotation)]
            else:  # of a list, dict or tuple, what is in it
                inner += [alternative for inside in get_args(each) for alternative in _alternatives(inside)]
        found = inner
    return [each for each in found if isinstance(each, type) and issubclass(each, BaseModel)]


def _alternatives(annotation: Any) -> list[Any]:
    """Return the types of a union, without what is annotated to them."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [alternative for each in get_args(annotation) for alternative in _alternatives(each)]
    return [annotation]


def _explained(key: str, found: list[Any], model: type[BaseModel]) -> tuple[str, str]:
    """Return the message and the remedy of a problem."""
    first = found[0]
    kind = first["type"]
    if kind == "extra_forbidden":
        models = _models_at(model, first["loc"][:-1])
        names = [field.alias or name for each in models for name, field in each.model_fields.items()]
        known = f" Those there are: {', '.join(names)}." if names else ""
        return f"{key} is not a key here.{known}", did_you_mean(str(first["loc"][-1]), names, "Remove it.")
    if kind == "missing":
        return f"{key} is missing.", "Add it."
    if kind in ("model_type", "dict_type"):
        return f"{key} must be a table, not {kind_of(first['input'], mapping='a table')}.", "Correct it."
    messages = [problem["msg"].removeprefix("Value error, ") for problem in found]
    messages = [message.replace("valid array", "valid list") for message in messages]  # as JSON calls it
    if not all(message.startswith("Input should ") for message in messages):
        return ": ".join(filter(None, (key, f"{'; '.join(messages)}."))), "Correct it."
    message = f"{key} must {' or '.join(message.removeprefix('Input should ') for message in messages)}"
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return f"{message}.", did_you_mean(str(first["input"]), words, "Correct it.")
    if kind.endswith("_type"):
        message += f", not {kind_of(first['input'], mapping='a table')}"
    return f"{message}.", "Correct it."
