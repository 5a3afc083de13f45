"""The guards that hold wherever this plugin is installed, as settings files make them."""

from __future__ import annotations

from functools import cached_property

from agent_hooks.model.tools import HOST_KEYS, possible_paths
from agent_hooks_guards.guards.commands_of_calls import commands_of, place_of
from agent_hooks_guards.guards.objection import Objection, outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, ToolCall
    from agent_hooks_guards.guards.egress import EgressGuard
    from agent_hooks_guards.guards.injection import InjectionWarning
    from agent_hooks_guards.guards.path import PathGuard
    from agent_hooks_guards.guards.secrets import SecretsGuard
    from agent_hooks_guards.guards.shell import ShellGuard
    from agent_hooks_guards.model.actions import Analysis, Command, Effect
    from agent_hooks_guards.places.paths import Place
    from agent_hooks_guards.rules.indexing import Index
    from agent_hooks_guards.rules.matching import Verdict

    from .build import ProjectGuards
    from .tightening import Layer

_MAX_KNOWN = 32
_HOST_KINDS = frozenset(("fetch", "web_search", "mcp", "other"))
_SECRETLESS_KINDS = frozenset(("read", "search", "delete"))
# Every secret has a word that is at least so long, or is part of an address.
_SHORTEST_SECRET = 20  # characters
_LONGEST_COMMAND = 1024 * 1024  # characters
_ON_FILES = frozenset(("read", "write", "change", "delete", "run"))
_OPERATIONS = {"read": "read", "write": "write", "change": "write", "delete": "delete"}
_LOGINS = "-u|--user|--proxy-user|--oauth2-bearer"

# By the settings that they come from, which are made anew when their file changes.
_known: dict[tuple[int, ...], tuple[Sequence[ProjectGuards], Standing]] = {}


class Standing:
    """The guards of all settings together, each made when it is first needed. ``told``: what the files say."""

    def __init__(self, told: Sequence[ProjectGuards] = ()) -> None:
        self._told = told

    @cached_property
    def shell(self) -> list[ShellGuard]:
        """Who manages the machine has a guard of their own, which nobody loosens."""
        return [guard for layer in self._layers if (guard := _shell_guard(layer)) is not None]

    @cached_property
    def paths(self) -> list[PathGuard]:
        """As of ``shell``."""
        from agent_hooks_guards.guards.path import PathGuard

        return [PathGuard(**_without_none(layer.tables["paths"])) for layer in self._layers if "paths" in layer.tables]

    @cached_property
    def egress(self) -> list[EgressGuard]:
        """As of ``shell``: for tools that reach hosts."""
        from agent_hooks_guards.guards.egress import EgressGuard

        return [EgressGuard(**table) for table in self._egress_tables()]

    @cached_property
    def shell_egress(self) -> list[EgressGuard]:
        """The same for what commands reach, where networks of one's own are daily work."""
        from agent_hooks_guards.guards.egress import EgressGuard

        tables = self._egress_tables()
        implied = ("ask" if table.get("level") == "strict" else "allow" for table in tables)
        return [EgressGuard(**{"private": private, **table}) for private, table in zip(implied, tables, strict=True)]

    @cached_property
    def secrets(self) -> SecretsGuard:
        """One: of two, the stricter answers would count."""
        from agent_hooks_guards.guards.secrets import SecretsGuard

        return SecretsGuard(**self._layers[0].tables.get("secrets", {}))

    @cached_property
    def injection(self) -> list[InjectionWarning]:
        """None unless somebody asked for it."""
        if not self._told:
            return []
        from agent_hooks_guards.guards.injection import InjectionWarning

        from .tightening import injection_matches

        return [InjectionWarning(**({"match": match} if match else {})) for match in injection_matches(self._told)]

    @cached_property
    def _layers(self) -> list[Layer]:
        from .tightening import layers

        return layers(self._told)

    def _egress_tables(self) -> list[dict[str, Any]]:
        return [_without_none(layer.tables["egress"]) for layer in self._layers if "egress" in layer.tables]


def standing(projects: Sequence[ProjectGuards]) -> Standing:
    """Return the guards that hold where the files say ``projects``."""
    told = [each for each in projects if each.standing or each.rank == "user"]
    key = tuple(map(id, told))
    known = _known.get(key)
    if known is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        known = _known[key] = (told, Standing(told))  # what is kept with it keeps its key its own
    return known[1]


def judge(ctx: HookContext, call: ToolCall, projects: Sequence[ProjectGuards]) -> HookOutcome | None:
    """Return what the standing guards say about a tool call; ``projects``: what settings files say."""

    def decide(told: Sequence[ProjectGuards]) -> HookOutcome | None:
        return outcome(_objections(ctx, call, standing(told)))

    return _attributed(decide(projects), projects, decide)


def _attributed(
    found: HookOutcome | None,
    projects: Sequence[ProjectGuards],
    decide: Callable[[Sequence[ProjectGuards]], HookOutcome | None],
) -> HookOutcome | None:
    """Return an outcome that names the files of projects, if it would be another one without them."""
    origins = [each.origin for each in projects if each.rank == "project" and each.standing]
    if found is None or not origins:
        return found
    others = decide([each for each in projects if each.rank != "project"])
    if others is not None and (others.decision, others.reason) == (found.decision, found.reason):
        return found
    from .build import with_origin

    return found.replace(reason=with_origin(found.reason, ", ".join(origins)))


def clean(ctx: HookContext, projects: Sequence[ProjectGuards]) -> HookOutcome | None:
    """Take secrets out of the result of a tool or of its error, and warn of what tries to instruct a model."""
    held = standing(projects)
    found = None
    if ctx.event == "on_tool_error":
        return held.secrets.on_tool_error(ctx) if _any_text(ctx.error_text, _may_hold_secret) else None
    if _any_text(ctx.result, _may_hold_secret):
        found = held.secrets.after_tool_use(ctx)
        if found is not None and found.decision.is_blocking:
            return _attributed(found, projects, lambda told: standing(told).secrets.after_tool_use(ctx))
    warnings = [each for guard in held.injection if (each := guard.after_tool_use(ctx)) is not None]
    if not warnings:
        return found
    context = "\n\n".join(dict.fromkeys(each.context for each in (found, *warnings) if each is not None))
    return (warnings[0] if found is None else found).replace(context=context)


def explanation(ctx: HookContext, projects: Sequence[ProjectGuards]) -> list[str] | None:
    """Return, in lines for people, what the command of a tool call would do and what the guards have against it; None
    if it has none.
    """
    call = ctx.tool_call
    commands = commands_of(call) if call is not None else []
    if call is None or not commands:
        return None
    from agent_hooks_guards.guards.secret_scan import without_secrets

    from .explaining import explain

    read = _read(ctx, call, commands)
    held = standing(projects)
    lines = explain(read[0][0], _broken(held, read, ctx.created_at))
    further = (*_of_effects(held, read), *_of_arguments(ctx, call, held))
    lines += (f"{each.decision} [{each.rule}] {each.reason} {each.instead}".rstrip() for each in further)
    return [*map(without_secrets, lines)]


# -- a call ------------------------------------------------------------------------------------------------------------


def _objections(ctx: HookContext, call: ToolCall, held: Standing) -> Iterator[Objection]:
    if commands := commands_of(call):
        yield from _of_command(ctx, call, held, commands)
    yield from _of_arguments(ctx, call, held)


def _of_arguments(ctx: HookContext, call: ToolCall, held: Standing) -> Iterator[Objection]:
    if call.paths or (call.kind != "shell" and possible_paths(call.args, ctx.cwd)):
        for paths in held.paths:
            yield from paths.objections(ctx, call)
    if call.kind in _HOST_KINDS and (
        call.url or not HOST_KEYS.isdisjoint(call.args) or _any_text(call.args, _may_be_address)
    ):
        for egress in held.egress:
            yield from egress.objections(ctx, call)
    if call.kind not in _SECRETLESS_KINDS and _any_text(call.args, _may_hold_secret):
        yield from held.secrets.objections(ctx, call)


def _read(ctx: HookContext, call: ToolCall, commands: list[tuple[str, str]]) -> list[tuple[Analysis, Place]]:
    """Return what the commands of a call would do, and where; then, if symbolic links lead elsewhere, what they do
    there.
    """
    from agent_hooks_guards.analysis.analysing import analyse

    place = place_of(ctx, call)
    found = [(analyse(text, place, language), place) for text, language in commands]
    real = [effect for analysis, _ in found if analysis.effects for effect in _real_effects(analysis, place)]
    if not real:
        return found
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places.links import real_path
    from agent_hooks_guards.places.paths import Place

    # Where the workspace is reached by a link, it is the same workspace.
    there = Place(*map(real_path, (place.cwd, place.home, place.project)))
    return [*found, (Analysis(effects=real), there)]


def _of_command(
    ctx: HookContext, call: ToolCall, held: Standing, commands: list[tuple[str, str]]
) -> Iterator[Objection]:
    from agent_hooks_guards.guards.shell import objection

    if held.shell and sum(len(text) for text, _ in commands) > _LONGEST_COMMAND:
        reason = (
            "The command is longer than 1 MiB, which is more than a shell is given, and nobody could look through it."
        )
        yield Objection(
            "deny", "unanalysable-size", reason, "Instead: Put data into a file, or do it in several steps."
        )
        return
    read = _read(ctx, call, commands)
    for decision, verdict in _broken(held, read, ctx.created_at):
        yield objection(decision, verdict)
    yield from _of_effects(held, read)


def _broken(held: Standing, read: list[tuple[Analysis, Place]], at: float) -> list[tuple[str, Verdict]]:
    from agent_hooks_guards.guards.shell import rank

    found = [each for analysis, place in read for guard in held.shell for each in guard.broken(analysis, place, at)]
    return sorted(found, key=rank)


def _real_effects(analysis: Analysis, place: Place) -> list[Effect]:
    """The effects that are on another file than they name, because a symbolic link is on the way there."""
    from agent_hooks_guards.model.actions import Effect
    from agent_hooks_guards.places.links import real_path, real_paths

    found = []
    here, real_here = place.cwd.rstrip("/") + "/", real_path(place.cwd).rstrip("/") + "/"
    for effect in analysis.effects:
        path = effect.path
        if effect.kind not in _ON_FILES or effect.command.host or path[:1] != "/":
            continue
        found += [
            Effect(
                effect.kind,
                real,
                effect.command,
                effect.recursive,
                effect.append,
                effect.labels,
                effect.method,
                effect.files,
            )
            for real in real_paths(path, is_deleted=effect.kind == "delete")
            if real not in (path, path.replace(here, real_here, 1))
        ]
    return found


def _of_effects(held: Standing, read: list[tuple[Analysis, Place]]) -> Iterator[Objection]:
    """Yield what the other guards have against what a command does."""
    # Where it leads by links tells more than how it is written.
    for effect, place in ((effect, place) for analysis, place in reversed(read) for effect in analysis.effects):
        if effect.kind in _OPERATIONS:
            if not effect.command.host:
                yield from _of_file(held, effect, place)
            continue
        if effect.kind in ("send", "receive"):
            for egress in held.shell_egress:
                found = egress.objection(effect.path)
                if found is not None:
                    yield found
        if effect.kind == "send" and _any_text(sent := _sent(effect), _may_hold_secret):
            yield from held.secrets.against_sending(sent)


def against_writing(ctx: HookContext, call: ToolCall, path: str) -> Iterator[Objection]:
    """Yield what there is against a call that changes or deletes the file ``path``, by its arguments or its command."""
    from agent_hooks_guards.guards.path import PathGuard, names
    from agent_hooks_guards.places.links import real_path

    guard = PathGuard("off", protect=[path, real_path(path)])
    yield from guard.objections(ctx, call)
    for analysis, place in _read(ctx, call, commands_of(call)):
        for effect in analysis.effects:
            if effect.kind in _OPERATIONS and not effect.command.host:
                named = path if names(effect.path, path) else effect.path
                found = guard.protected(_OPERATIONS[effect.kind], named, place, is_recursive=effect.recursive)
                if found is not None:
                    yield found


def _of_file(held: Standing, effect: Effect, place: Place) -> Iterator[Objection]:
    operation = _OPERATIONS[effect.kind]
    for paths in held.paths:
        if paths.has_patterns:
            found = paths.protected(operation, effect.path, place, is_recursive=effect.recursive)
            if found is not None:
                yield found


def _sent(effect: Effect) -> dict[str, str]:
    """What a command sends, as far as it is spelled out: not what says to the host who is there."""
    command: Command = effect.command
    login = command.options.value(_LOGINS)
    words = (word for word in command.argv[1:] if word != login and not _is_header(word))
    stdin = command.stdin
    return {"the words": "\n".join(words), "the input": stdin.text if stdin is not None else ""}


def _is_header(word: str) -> bool:
    name, colon, value = word.partition(":")
    return bool(colon) and value[:1] == " " and name.replace("-", "").isalnum()


# Most calls have nothing that a guard must be imported for.
def _any_text(value: Any, test: Callable[[str], bool]) -> bool:
    """Whether the test holds for any text in ``value``, or there is something in it that is no plain data."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if test(item):
                return True
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)
        elif item is not None and not isinstance(item, (bool, int, float)):
            return True
    return False


def _may_be_address(text: str) -> bool:
    return ":" in text


def _may_hold_secret(text: str) -> bool:
    if "://" in text:
        return True
    return len(text) >= _SHORTEST_SECRET and max(map(len, text.split()), default=0) >= _SHORTEST_SECRET


# -- making guards -----------------------------------------------------------------------------------------------------


def _shell_guard(layer: Layer) -> ShellGuard | None:
    """The shell guard of a layer; None if it has nothing to say."""
    table = layer.tables.get("shell")
    further = _further(layer)
    if table is None and further is None:
        return None
    from agent_hooks_guards.guards.shell import ShellGuard

    level, choices = (table or {}).get("level", "standard"), (table or {}).get("rules", {})
    if not (choices or layer.at_least or layer.exceptions or further) and level != "off":
        return ShellGuard(level)
    from agent_hooks_guards.rules.indexing import known_names

    names = known_names()
    if table is None or level == "off":
        if not layer.at_least and further is None:
            return None
        # What others add holds all the same.
        level, choices = "standard", {**dict.fromkeys(names, "off"), **choices}
    names |= {name for rule in further.rules for name in (rule.id, rule.family)} if further else set()
    return ShellGuard(
        level,
        choices={name: choice for name, choice in choices.items() if name in names},
        at_least={name: choice for name, choice in layer.at_least.items() if name in names},
        exceptions=[_exception(each) for each in layer.exceptions if each["rule"] in names],
        rules=further,
    )


def _exception(table: Mapping[str, Any]) -> Any:
    from .exceptions import RuleException

    return RuleException(**_without_none(table))


def _further(layer: Layer) -> Index | None:
    """The rules that people wrote themselves."""
    if not layer.rules:
        return None
    from agent_hooks_guards.rules.indexing import indexed
    from agent_hooks_guards.rules.model import Family

    of_rank: dict[str, list[Sequence[Any]]] = {}
    for rank, rules in layer.rules:
        of_rank.setdefault(rank, []).append(rules)
    return indexed(
        Family.model_construct(family=rank, title=f"Rules of the {rank}", rules=_once(lists))
        for rank, lists in of_rank.items()
    )


def _once(lists: Iterable[Sequence[Any]]) -> list[Any]:
    """The rules of several files, of which two may be copies of one."""
    found: list[Any] = []
    for rules in lists:
        found += [rule for rule in rules if rule not in found]
    return found


def _without_none(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
