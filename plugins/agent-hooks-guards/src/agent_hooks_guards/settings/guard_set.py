"""The shell, path, secrets and egress guards and the injection warning, made from all settings files together."""

from __future__ import annotations

from agent_hooks.engine.calling import InTurns
from agent_hooks.model.tools import ADDRESS_KEYS, HOST_KEYS, possible_paths
from agent_hooks.system.caching import cached_property, lru_cache
from agent_hooks_guards.guards.calls import HOST_KINDS, READING_KINDS, analyses_of, commands_of, is_long
from agent_hooks_guards.guards.objection import Objection, object_to, outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, ToolCall
    from agent_hooks_guards.guards.base import Guard
    from agent_hooks_guards.guards.egress import EgressGuard
    from agent_hooks_guards.guards.injection import InjectionWarning
    from agent_hooks_guards.guards.path import PathGuard
    from agent_hooks_guards.guards.secrets import SecretsGuard
    from agent_hooks_guards.guards.shell import ShellGuard
    from agent_hooks_guards.model.actions import Analysis, Effect
    from agent_hooks_guards.places.paths import Place
    from agent_hooks_guards.rules.indexing import Index
    from agent_hooks_guards.rules.matching import Verdict

    from .build import FileGuards
    from .layers import Layer

    Analyses = list[tuple[Analysis, Place]]
    Turns = Generator[None, None, HookOutcome | None]

_MIN_SECRET = 20  # characters of a word of every secret that is not part of an address
# The types of values that neither are nor hold a string.
_NO_STRINGS = frozenset({int, float, bool, type(None)})
_MAX_COMMAND = 1024 * 1024  # characters
# Keys under which hosts are looked for, whatever their values are.
_NAMING_KEYS = HOST_KEYS.union(ADDRESS_KEYS)
_LOGIN_OPTIONS = "-u|--user|--proxy-user|--oauth2-bearer"


class GuardSet:
    """The guards of some settings files together, each made when first needed."""

    def __init__(self, files: Sequence[FileGuards] = ()) -> None:
        self._files = files

    @cached_property
    def shell(self) -> list[ShellGuard]:
        """One shell guard per layer."""
        if not self._files:
            from agent_hooks_guards.guards.shell import ShellGuard

            return [ShellGuard()]
        return [guard for layer in self._layers if (guard := _make_shell_guard(layer)) is not None]

    @cached_property
    def paths(self) -> list[PathGuard]:
        """One path guard per layer that configures one."""
        from agent_hooks_guards.guards.path import PathGuard

        return [PathGuard(**table) for table in self._tables("paths")]

    @cached_property
    def egress(self) -> list[EgressGuard]:
        """One egress guard per layer that configures one, for tools."""
        from agent_hooks_guards.guards.egress import EgressGuard

        return [EgressGuard(**table) for table in self._tables("egress")]

    @cached_property
    def shell_egress(self) -> list[EgressGuard]:
        """The same for commands, which reach private networks every day."""
        from agent_hooks_guards.guards.egress import EgressGuard

        tables = self._tables("egress")
        implied = ("ask" if table.get("level") == "strict" else "allow" for table in tables)
        return [EgressGuard(**{"private": private, **table}) for private, table in zip(implied, tables, strict=True)]

    @cached_property
    def secrets(self) -> SecretsGuard:
        """The one secrets guard: the strictest decisions of all layers."""
        from agent_hooks_guards.guards.secrets import SecretsGuard

        return SecretsGuard(**self._layers[0].tables.get("secrets", {}))

    @cached_property
    def injection(self) -> list[InjectionWarning]:
        """One warning for each match that settings ask for."""
        if not self._files:
            return []
        from agent_hooks_guards.guards.injection import InjectionWarning

        from .layers import injection_matches

        matches = injection_matches(self._files)
        return [InjectionWarning(**({"match": match} if match else {})) for match in matches]

    @cached_property
    def _layers(self) -> list[Layer]:
        from .layers import layers

        return layers(self._files)

    def _tables(self, name: str) -> list[dict[str, Any]]:
        return [layer.tables[name] for layer in self._layers if name in layer.tables]


def guard_set(files: Sequence[FileGuards]) -> GuardSet:
    """Return the guards of ``files``."""
    return _guard_set(tuple([each for each in files if each.tables or each.rank == "user"]) if files else ())


# By the identities of the files, which are made anew when they change.
@lru_cache(maxsize=32)
def _guard_set(files: tuple[FileGuards, ...]) -> GuardSet:
    return GuardSet(files)


def judge(ctx: HookContext, call: ToolCall, files: Sequence[FileGuards]) -> HookOutcome | None:
    """Judge a tool call by the guards of ``files``."""
    commands = commands_of(call)

    def decide(files: Sequence[FileGuards]) -> HookOutcome | None:
        guards = guard_set(files)
        if not (commands or _concerned(ctx, call, guards)):
            return None
        return outcome(_objections(ctx, call, guards, commands))

    found = _attribute(decide(files), files, decide)
    if found is None or sum(len(text) for text, _ in commands) > _MAX_COMMAND:
        return found
    guards = guard_set(files)
    broken = _broken_rules(guards, analyses_of(ctx, call, commands), ctx.created_at) if commands else []
    return _with_remedy(found, [*_objections(ctx, call, guards, commands)], broken, files)


def _with_remedy(
    found: HookOutcome, objections: list[Objection], broken: list[tuple[str, Verdict]], files: Sequence[FileGuards]
) -> HookOutcome:
    """Add, for people, the place of the rule that decided, and the commands that let exactly this through."""
    from .explaining import how_to_allow, origin_of

    rules = [each.rule for each in objections if each.decision == found.decision]
    origin = origin_of(rules[0], [each.path for each in files]) if rules else ""
    lines: list[str] = []
    ways = [*dict.fromkeys(how_to_allow(verdict) for _, verdict in broken)]
    named = {verdict.rule.id for _, verdict in broken}
    settings = dict.fromkeys(each.setting for each in objections if each.rule not in named)
    # Where an exception is too wide, or another objection has none, nothing helps; nor do two lines of one table.
    if all((*ways, *settings)) and len({each.partition("\n")[0] for each in settings}) == len(settings):
        lines += ["To let exactly this through, type in a terminal:", *ways] if ways else []
        lines += ["To let exactly this through, write into your agent-hooks.toml:", *settings] if settings else []
    place = {f"place of {rules[0]}": origin} if origin else {}
    return found.replace(metadata={"for_people": "\n".join(lines), **place})


def clean(ctx: HookContext, files: Sequence[FileGuards]) -> HookOutcome | InTurns | None:
    """Redact secrets in a tool's result or error, and warn of results that try to instruct the model."""
    guards = guard_set(files)
    if ctx.event == "on_tool_error":
        return guards.secrets.on_tool_error(ctx) if any_string(ctx.error_text, may_hold_secret) else None
    result = ctx.held_subject
    if not (is_long(result) or guards.injection or any_string(result, may_hold_secret)):
        return None
    work = InTurns(_clean_in_turns(ctx, result, files))
    return work if is_long(result) else work.at_once()


def _clean_in_turns(ctx: HookContext, result: Any, files: Sequence[FileGuards]) -> Turns:
    guards = guard_set(files)
    found = None
    if is_long(result) or any_string(result, may_hold_secret):
        found = yield from guards.secrets.clean_in_turns(ctx, result)
        if found is not None and found.decision.is_blocking:
            return _attribute(
                found, files, lambda files: InTurns(guard_set(files).secrets.clean_in_turns(ctx, result)).at_once()
            )
    for guard in guards.injection:
        warning = yield from guard.warn_in_turns(ctx, result)
        if found is None:
            found = warning
        elif warning is not None and warning.context not in found.context:
            found = found.replace(context=f"{found.context}\n\n{warning.context}")
    return found


def explanation(ctx: HookContext, files: Sequence[FileGuards]) -> list[str] | None:
    """Explain, in lines for people, the effects of a call's commands and the objections; None without commands."""
    call = ctx.tool_call
    if call is None or not (commands := commands_of(call)):
        return None
    from agent_hooks_guards.guards.secret_scan import find, without_secrets

    from .explaining import explain

    analyses = analyses_of(ctx, call, commands)
    guards = guard_set(files)
    lines = explain(analyses[0][0], _broken_rules(guards, analyses, ctx.created_at))
    further = (*_effect_objections(guards, analyses), *_argument_objections(ctx, call, guards))
    lines += (f"{each.decision} [{each.rule}] {each.reason} {each.instead}".rstrip() for each in further)
    # A shell splits a private key without quotes into words, and each is a command or an operand of its own.
    words = {word for text, _ in commands for each in find(text) for word in text[each.start : each.end].split()}
    return [
        " ".join("[redacted]" if word in words else word for word in line.split(" "))
        for line in map(without_secrets, lines)
    ]


def _attribute(
    found: HookOutcome | None,
    files: Sequence[FileGuards],
    decide: Callable[[Sequence[FileGuards]], HookOutcome | None],
) -> HookOutcome | None:
    """Add the files of projects to the reason of an outcome that they have changed."""
    if found is None:
        return None
    origins = [each.origin for each in files if each.rank == "project" and each.tables]
    if origins:
        others = decide([each for each in files if each.rank != "project"])
        if others is None or (others.decision, others.reason) != (found.decision, found.reason):
            from .build import with_origin

            return found.replace(reason=with_origin(found.reason, ", ".join(origins)))
    return found


# -- a call ------------------------------------------------------------------------------------------------------------


def _objections(
    ctx: HookContext, call: ToolCall, guards: GuardSet, commands: list[tuple[str, str]]
) -> Iterator[Objection]:
    if commands:
        yield from _command_objections(ctx, call, guards, commands)
    yield from _argument_objections(ctx, call, guards)


def _argument_objections(ctx: HookContext, call: ToolCall, guards: GuardSet) -> Iterator[Objection]:
    for guard in _concerned(ctx, call, guards):
        yield from guard.objections(ctx, call)


def _concerned(ctx: HookContext, call: ToolCall, guards: GuardSet) -> list[Guard]:
    """Return the guards that have something to judge in the arguments; for most calls none needs to be imported."""
    found: list[Guard] = []
    args, kind = call.args, call.kind
    if call.paths or (kind != "shell" and possible_paths(args, ctx.cwd)):
        found += guards.paths
    if kind in READING_KINDS:
        return found
    is_notable = any_string(args, _is_notable)
    if kind in HOST_KINDS and (not _NAMING_KEYS.isdisjoint(args) or (is_notable and any_string(args, _has_colon))):
        found += guards.egress
    if is_notable and any_string(args, may_hold_secret):
        found.append(guards.secrets)
    return found


def _command_objections(
    ctx: HookContext, call: ToolCall, guards: GuardSet, commands: list[tuple[str, str]]
) -> Iterator[Objection]:
    from agent_hooks_guards.guards.shell import objection

    if guards.shell and sum(len(text) for text, _ in commands) > _MAX_COMMAND:
        yield object_to("unanalysable-size")
        return
    analyses = analyses_of(ctx, call, commands)
    for decision, verdict in _broken_rules(guards, analyses, ctx.created_at):
        yield objection(decision, verdict)
    yield from _effect_objections(guards, analyses)


def _broken_rules(guards: GuardSet, analyses: Analyses, at: float) -> list[tuple[str, Verdict]]:
    from agent_hooks_guards.guards.shell import rank

    found = [
        each
        for analysis, place in analyses
        for guard in guards.shell
        for each in guard.broken(analysis, place, at)
        if not _may_read(guards, each[1], place)
    ]
    return sorted(found, key=rank)


def _may_read(guards: GuardSet, verdict: Verdict, place: Place) -> bool:
    """Return whether a rule is about reading a file that ``allow_read`` names, in every layer with a shell guard."""
    if verdict.rule.family != "secrets-read" or getattr(verdict.action, "kind", "") != "read":
        return False
    path = getattr(verdict.action, "path", "")
    return len(guards.paths) >= len(guards.shell) and all(each.may_read(path, place) for each in guards.paths)


def _effect_objections(guards: GuardSet, analyses: Analyses) -> Iterator[Objection]:
    """Yield the objections of the other guards to the effects of commands."""
    # Targets of links first: they say more than the paths as written.
    for effect, place in ((effect, place) for analysis, place in reversed(analyses) for effect in analysis.effects):
        found = []
        if effect.kind in ("send", "receive"):
            found = [egress.objection(effect.path) for egress in guards.shell_egress]
        elif effect.kind != "run":
            found = [paths.effect_objection(effect, place) for paths in guards.paths]
        yield from (each for each in found if each is not None)
        if effect.kind == "send" and any_string(sent := _sent_strings(effect), may_hold_secret):
            yield from guards.secrets.sending_objections(sent)


def _sent_strings(effect: Effect) -> dict[str, str]:
    """Return the data that a command sends, as far as it is spelled out, without credentials for the host."""
    command = effect.command
    login = command.options.value(_LOGIN_OPTIONS)
    words = (word for word in command.argv[1:] if word != login and not _is_header(word))
    stdin = command.stdin
    return {"the words": "\n".join(words), "the input": stdin.text if stdin is not None else ""}


def _is_header(word: str) -> bool:
    name, colon, value = word.partition(":")
    return bool(colon) and value[:1] == " " and name.replace("-", "").isalnum()


def any_string(value: Any, test: Callable[[str], bool]) -> bool:
    """Return whether ``test`` holds for a string in ``value``, or ``value`` holds anything but plain data."""
    waiting: list[Iterable[Any]] = [(value,)]
    while waiting:
        items = waiting.pop()
        for item in items:  # results may have millions: the common types are told apart at once
            kind = type(item)
            if kind is str:
                if test(item):
                    return True
            elif kind in _NO_STRINGS:
                continue
            elif isinstance(item, dict):
                waiting += (item, item.values())
            elif isinstance(item, (list, tuple, set, frozenset)):
                waiting.append(item)
            elif test(item) if isinstance(item, str) else not isinstance(item, (bool, int, float)):
                return True
    return False


def _has_colon(text: str) -> bool:
    return ":" in text


def _is_notable(text: str) -> bool:
    """Return whether ``text`` may be an address or hold a secret, so that it must be looked at closely."""
    return ":" in text or (len(text) >= _MIN_SECRET and may_hold_secret(text))


def may_hold_secret(text: str) -> bool:
    """Return whether a secret may be in ``text``: a cheap test before the guard is imported."""
    return "://" in text or (len(text) >= _MIN_SECRET and max(map(len, text.split()), default=0) >= _MIN_SECRET)


# -- making guards -----------------------------------------------------------------------------------------------------


def _make_shell_guard(layer: Layer) -> ShellGuard | None:
    """Make the shell guard of a layer; None if it has nothing to decide."""
    table = layer.tables.get("shell", {"level": "off"})
    level, choices = table.get("level", "standard"), table.get("rules", {})
    further = _make_index(layer)
    if level == "off" and not layer.at_least and further is None:
        return None
    from agent_hooks_guards.guards.shell import ShellGuard

    if not (choices or layer.at_least or layer.exceptions or further):
        return ShellGuard(level)
    from agent_hooks_guards.guards.exceptions import RuleException
    from agent_hooks_guards.rules.indexing import known_names

    names = known_names()
    if level == "off":  # rules that other files add hold all the same
        level, choices = "standard", {**dict.fromkeys(names, "off"), **choices}
    names |= {name for rule in further.rules for name in (rule.id, rule.family)} if further else set()
    return ShellGuard(
        level,
        choices={name: choice for name, choice in choices.items() if name in names},
        at_least={name: choice for name, choice in layer.at_least.items() if name in names},
        exceptions=[RuleException(**each) for each in layer.exceptions if each["rule"] in names],
        rules=further,
    )


def _make_index(layer: Layer) -> Index | None:
    """Index the rules of settings files; None without any."""
    if not layer.rules:
        return None
    from agent_hooks_guards.rules.indexing import index_rules

    return index_rules(layer.rules)
