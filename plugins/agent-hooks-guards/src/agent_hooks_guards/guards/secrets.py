"""The secrets guard: keeps keys and tokens out of tool calls, and out of the results that a model reads."""

from __future__ import annotations

from functools import partial
from itertools import islice

from agent_hooks import GUARD, HookOutcome, hookimpl
from agent_hooks.engine.calling import InTurns
from agent_hooks.model.snapshot import Snapshot
from agent_hooks.model.values import written
from agent_hooks_guards.places.kinds import is_settings_secret

from .base import Guard, check_choice, tool_test
from .calls import READING_KINDS, is_long
from .objection import DECISIONS, Objection, object_to
from .secret_scan import Found, as_setting, find, find_in_turns, marks_in_turns, redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from agent_hooks import HookContext, ToolCall
    from agent_hooks.engine.markers import Match

_SENDING_KINDS = frozenset(("fetch", "web_search", "mcp"))
_MAX_DEPTH = 64
_MAX_REPORTED = 5  # secrets of one call

_RESULTS = ("redact", "deny", "allow")
_NOTICE = "Secrets were taken out of the {} of this tool: {}. Go on without them."


class SecretsGuard(Guard):
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
        self._sends = check_choice("sends", sends, DECISIONS)
        self._commands = check_choice("commands", commands, DECISIONS)
        self._writes = check_choice("writes", writes, DECISIONS)
        self._results = check_choice("results", results, _RESULTS)
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
    def after_tool_use(self, ctx: HookContext) -> HookOutcome | InTurns | None:
        """Take secrets out of the result, or withhold it."""
        if is_long(result := ctx.held_subject):
            return InTurns(self.clean_in_turns(ctx, result))
        return self._judge(*self._cleaned(ctx, result))

    def clean_in_turns(self, ctx: HookContext, result: Any) -> Generator[None, None, HookOutcome | None]:
        """Do the same with a long result, piece by piece."""
        kinds: list[str] = []
        if self._results == "allow" or not self._test(ctx):
            return None
        if isinstance(result, str):
            found = yield from find_in_turns(result)
            kinds.extend(each.kind for each in found)
            result = redacted(result, found)
        else:
            result = result.copy() if type(result) is Snapshot else result
            marks = yield from marks_in_turns(_strings_in(result))
            result = _clean(result, kinds, partial(find, marks=marks)) if marks else result
        return self._judge(result, ", ".join(dict.fromkeys(kinds)))

    def _judge(self, result: Any, found: str) -> HookOutcome | None:
        if found and self._results == "deny":
            return HookOutcome.deny(str(object_to("secret-result", found=found)))
        return HookOutcome.proceed(result=result, context=_NOTICE.format("result", found)) if found else None

    @hookimpl(priority=GUARD, mode="transform", on_failure="closed")
    def on_tool_error(self, ctx: HookContext) -> HookOutcome | None:
        """Take secrets out of the text of an error."""
        text, found = self._cleaned(ctx, ctx.error_text)
        return HookOutcome.proceed(error_text=text, context=_NOTICE.format("error", found)) if found else None

    def _cleaned(self, ctx: HookContext, value: Any) -> tuple[Any, str]:
        """Return ``value`` without secrets, and their kinds as a list for people."""
        kinds: list[str] = []
        if self._results != "allow" and self._test(ctx):
            value = _clean(value, kinds)
        return value, ", ".join(dict.fromkeys(kinds))


def _objections(decision: str, rule: str, args: Any) -> list[Objection]:
    if decision == "allow":
        return []
    found = [f"{kind} in {where}" for kind, where in islice(_secrets_in(args), _MAX_REPORTED)]
    return [object_to(rule, decision=decision, found="; ".join(found))] if found else []


def _secrets_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the kind and the position of each secret in the arguments: the names that lead to it, and its line."""
    waiting = [(value, name)]
    while waiting:
        item, name = waiting.pop()
        if isinstance(item, str):
            for each in find(item):
                line = item.count("\n", 0, each.start) + 1
                yield each.kind, (name or "the arguments") + (f", line {line}" if line > 1 else "")
        elif isinstance(item, dict):
            # With its key, where that may mark a secret.
            below = (
                (as_setting(key, each) or each, f"{name}.{key}" if name else str(key)) for key, each in item.items()
            )
            waiting.extend(below)
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend((each, name) for each in item)


def _strings_in(value: Any) -> Iterator[str]:
    """Yield the texts in ``value`` that ``_clean`` searches."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is str:
            yield item
        elif item is None or kind is int or kind is float or kind is bool:
            continue
        elif isinstance(item, dict):
            for key, each in item.items():
                yield as_setting(key, each)
                waiting += (key, each)
        elif isinstance(item, list) or type(item) is tuple:
            waiting.extend(item)
        else:
            yield written(item)


def _clean(value: Any, kinds: list[str], search: Callable[[str], list[Found]] = find, depth: int = 0) -> Any:
    """Return ``value`` without the secrets that ``search`` finds, and add their kinds to ``kinds``. Other objects than
    plain data become strings if they hold any.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth < _MAX_DEPTH:
        if isinstance(value, dict):
            return {
                _clean(key, kinds, search, depth + 1): _clean_item(key, item, kinds, search, depth)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [_clean(item, kinds, search, depth + 1) for item in value]
        if type(value) is tuple:
            return tuple(_clean(item, kinds, search, depth + 1) for item in value)
    text = value if isinstance(value, str) else written(value)
    found = search(text)
    kinds.extend(each.kind for each in found)
    return redacted(text, found) if found else value


def _clean_item(key: Any, item: Any, kinds: list[str], search: Callable[[str], list[Found]], depth: int) -> Any:
    setting = as_setting(key, item)
    found = search(setting) if setting else []
    if found and not search(item):
        kinds.append(found[0].kind)
        return redacted(item, [Found(found[0].kind, 0, len(item))])
    return _clean(item, kinds, search, depth + 1)
