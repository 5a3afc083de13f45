"""The secrets guard: keeps keys and tokens out of tool calls, and out of the results that a model reads."""

from __future__ import annotations

from itertools import islice

from agent_hooks import GUARD, HookOutcome, hookimpl
from agent_hooks.model.values import written
from agent_hooks_guards.places.kinds import is_settings_secret

from .base import ObjectingGuard, check_choice, tool_test
from .calls import READING_KINDS
from .objection import DECISIONS, Objection, object_to
from .secret_scan import Found, as_setting, find, redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agent_hooks import HookContext, ToolCall
    from agent_hooks.engine.markers import Match

_SENDING_KINDS = frozenset(("fetch", "web_search", "mcp"))
_MAX_DEPTH = 64
_MAX_REPORTED = 5  # secrets of one call

_RESULTS = ("redact", "deny", "allow")


class SecretsGuard(ObjectingGuard):
    """Finds secrets (see ``secret_scan``) in the arguments and results of tools.

    ``sends``: the decision about a secret in a call that sends it to others (the kinds ``fetch``, ``web_search`` and
    ``mcp``), by default ``deny``. ``commands``: in a shell command, where others can read it: ``ask``. ``writes``: in
    what is written to a file, or given to any other tool: ``ask``; files for secrets (``.env``, not ``.env.example``)
    may hold it. Each is ``deny``, ``ask`` or ``allow``. ``results``: ``redact`` replaces it by ``[redacted: kind]``, in
    errors too, before a model reads it; ``deny`` withholds the result; ``allow``. ``match``: which tools, default all;
    ``source`` as in ``ToolBlocklist``. Messages name the kind and the place of a secret, never a part of it. Raises
    ``RegistrationError`` for an invalid decision or match.
    """

    def __init__(
        self,
        *,
        sends: str = "deny",
        commands: str = "ask",
        writes: str = "ask",
        results: str = "redact",
        match: Match = "*",
        source: str = "code",
    ) -> None:
        for name, given in (("sends", sends), ("commands", commands), ("writes", writes)):
            check_choice(name, given, DECISIONS)
        check_choice("results", results, _RESULTS)
        self._sends = sends
        self._commands = commands
        self._writes = writes
        self._results = results
        self._test = tool_test(match, source)

    def objections(self, ctx: HookContext, call: ToolCall) -> list[Objection]:
        """Return the objections to secrets in the arguments of ``call``."""
        if call.kind in READING_KINDS or not self._test(ctx):
            return []
        if call.kind in _SENDING_KINDS:
            return _objections(self._sends, "secret-sent", call.args)
        if call.kind == "shell":
            return _objections(self._commands, "secret-command", call.args)
        if call.paths and all(map(is_settings_secret, call.paths)):
            return []
        return _objections(self._writes, "secret-written", call.args)

    def sending_objections(self, texts: dict[str, str]) -> list[Objection]:
        """Return the objections to sending ``texts``, each under its name, as a command may do."""
        return _objections(self._sends, "secret-sent", texts)

    @hookimpl(priority=GUARD, mode="transform", on_failure="closed")
    def after_tool_use(self, ctx: HookContext) -> HookOutcome | None:
        """Take secrets out of the result, or withhold it."""
        if self._results == "allow" or not self._test(ctx):
            return None
        kinds: list[str] = []
        result = _clean(ctx.result, kinds)
        if not kinds:
            return None
        if self._results == "deny":
            return HookOutcome.deny(str(object_to("secret-result", found=_listed(kinds))))
        return HookOutcome.proceed(result=result, context=_notice("result", kinds))

    @hookimpl(priority=GUARD, mode="transform", on_failure="closed")
    def on_tool_error(self, ctx: HookContext) -> HookOutcome | None:
        """Take secrets out of the text of an error."""
        if self._results == "allow" or not self._test(ctx) or not ctx.error_text:
            return None
        kinds: list[str] = []
        text = _clean(ctx.error_text, kinds)
        return HookOutcome.proceed(error_text=text, context=_notice("error", kinds)) if kinds else None


def _objections(decision: str, rule: str, args: Any) -> list[Objection]:
    if decision == "allow":
        return []
    found = [f"{kind} in {where}" for kind, where in islice(_secrets_in(args), _MAX_REPORTED)]
    return [object_to(rule, decision=decision, found="; ".join(found))] if found else []


def _notice(name: str, kinds: list[str]) -> str:
    return f"Secrets were taken out of the {name} of this tool: {_listed(kinds)}. Go on without them."


def _listed(kinds: list[str]) -> str:
    return ", ".join(dict.fromkeys(kinds))


def _secrets_in(args: Any) -> Iterator[tuple[str, str]]:
    """Yield the kind and the position of each secret in the arguments."""
    for name, text in _texts(args, ""):
        for each in find(text):
            line = text.count("\n", 0, each.start) + 1
            yield each.kind, f"{name}, line {line}" if line > 1 else name


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield every string in ``value`` with the names that lead to it; with its key, where that may mark a secret."""
    waiting = [(value, name)]
    while waiting:
        item, name = waiting.pop()
        if isinstance(item, str):
            yield name or "the arguments", item
        elif isinstance(item, dict):
            for key, each in item.items():
                below = f"{name}.{key}" if name else str(key)
                waiting.append((as_setting(key, each) or each, below))
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend((each, name) for each in item)


def _clean(value: Any, kinds: list[str], depth: int = 0) -> Any:
    """Return ``value`` without secrets, and add their kinds to ``kinds``. Other objects than plain data become strings
    if they hold any.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth < _MAX_DEPTH:
        if isinstance(value, dict):
            return {_clean(key, kinds, depth + 1): _clean_item(key, item, kinds, depth) for key, item in value.items()}
        if isinstance(value, list):
            return [_clean(item, kinds, depth + 1) for item in value]
        if type(value) is tuple:
            return tuple(_clean(item, kinds, depth + 1) for item in value)
    text = value if isinstance(value, str) else written(value)
    found = find(text)
    kinds.extend(each.kind for each in found)
    return redacted(text, found) if found else value


def _clean_item(key: Any, item: Any, kinds: list[str], depth: int) -> Any:
    setting = as_setting(key, item)
    found = find(setting) if setting else []
    if found and not find(item):
        kinds.append(found[0].kind)
        return redacted(item, [Found(found[0].kind, 0, len(item))])
    return _clean(item, kinds, depth + 1)
