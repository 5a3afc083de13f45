"""``agent-hooks check``: the decision of the installed hooks about one event, hook by hook."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from agent_hooks.errors import AgentHooksError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.model.tools import COMMAND_KEYS, CONTENT_KEYS, PATH_KEYS, URL_KEYS
from agent_hooks.model.values import plain
from agent_hooks.sources.loader import PROTECTION, HookConfigLoader
from agent_hooks.sources.loading import load
from agent_hooks.system.progress import report
from agent_hooks.wire import get_host
from agent_hooks.wire.host import place_of

from .extensions import explanations
from .terminal import DECISION_STYLES, apart, line_printer, print_json, prints_elsewhere, shortened, shown_path
from .watcher import Watcher, new_subject

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.plan import Hook
    from agent_hooks.model.outcome import HookOutcome

_PEM_BODY = re.compile(r"(-----BEGIN [A-Z0-9 ]+-----).*?(?=-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
NOT_EXECUTED = (
    "The tool call was not executed. Hooks ran for real, with a temporary state folder: any other side effects of "
    "theirs remain."
)
# Arguments that are texts in every agent, even if the text is valid JSON, as in `--arg command=true`.
_TEXTS = {*COMMAND_KEYS, *PATH_KEYS, *CONTENT_KEYS, *URL_KEYS, "old_string", "prompt", "description", "pattern"} - {
    "paths"
}


def show_check(
    event: str,
    *,
    tool: str,
    arguments: tuple[str, ...],
    prompt: str | None,
    cwd: str,
    agent: str,
    modules: tuple[str, ...] = (),
    as_json: bool,
) -> int:
    """Print the hooks' decision; return 0 if it may go ahead, else 1. Raises ``AgentHooksError`` for bad input."""
    cwd = os.path.abspath(cwd)
    args = dict(_argument(text) for text in arguments)
    ctx = build_context(event, tool=tool, args=args, prompt=prompt, cwd=cwd, agent=agent)
    watcher = Watcher()
    with apart(), prints_elsewhere():
        manager, ctx, outcome = decide(ctx, modules, watcher)
        explained = explanations(manager, ctx)
        report("")
    notes = dict.fromkeys((*manager.notes, *(f"agent_hooks: {finding}" for finding in manager.findings)))
    goes_ahead = not (outcome.blocks or outcome.decision == ctx.event.reads_deny_as)
    call, hooks = ctx.tool_call, manager.describe(ctx.event)
    origins = {(hook.plugin, hook.name): hook.origin for hook in hooks}
    called = {(one["plugin"], one["hook"]) for one in watcher.ran}
    skipped = {(hook.plugin_name, hook.name) for hook in manager.hooks_on(ctx.event) if _meets(hook, ctx)}
    facts: dict[str, Any] = {
        "event": str(ctx.event),
        "agent": ctx.host,
        "agent_event": ctx.host_event,
        "tool": {"name": call.name, "kind": call.kind, "args": plain(call.args)} if call else None,
        "hooks": [{**one, "origin": origins.get((one["plugin"], one["hook"]), "")} for one in watcher.ran],
        "not_asked": [
            {
                "hook": hook.name,
                "plugin": hook.plugin,
                "match": hook.match,
                "origin": hook.origin,
                "decided_by": outcome.hook if (hook.plugin, hook.name) in skipped else None,
            }
            for hook in hooks
            if (hook.plugin, hook.name) not in called and hook.plugin != PROTECTION
        ],
        "outcome": {"decision": str(outcome.decision), **outcome.replace(findings=()).as_dict()},
        "explanations": explained,
        "findings": [finding.as_dict() for finding in outcome.findings],
        "notes": [*notes],
        "goes_ahead": goes_ahead,
        "milliseconds": watcher.milliseconds,
        "executed": False,
    }
    if as_json:
        print_json(_without_keys(facts))
    else:
        _print(_without_keys(facts), _without_keys(_conclusion(ctx, outcome, goes_ahead=goes_ahead)), ctx.event.subject)
    return 0 if goes_ahead else 1


def decide(
    ctx: HookContext, modules: tuple[str, ...], *watchers: object
) -> tuple[HookManager, HookContext, HookOutcome]:
    """Ask the hooks that hold in the context's directory; return their manager, the context in its project, and the
    outcome. ``modules``: to load as plugins.
    """
    manager = load(ctx.cwd, files=HookConfigLoader(ctx.cwd, modules=modules))
    for watcher in watchers:
        manager.register(watcher, "agent-hooks check")
    ctx = ctx.replace(project_dir=manager.project_dir)
    report(f"the hooks of {ctx.event!s}")
    return manager, ctx, manager.hooks(ask="host").run_sync(ctx)


def build_context(
    event: str, *, tool: str, args: Mapping[str, Any], prompt: str | None, cwd: str, agent: str
) -> HookContext:
    """Return the context that the agent's event would have. Raises ``AgentHooksError``."""
    host = get_host(agent)
    row = host.rows.get(event)
    here = HookEvent.parse(row.event if row is not None else event)
    names = [name for name, candidate in host.rows.items() if candidate.event == here]
    fields: dict[str, Any] = {
        "host": host.name,
        "host_event": event if row is not None else next(iter(names), ""),
        "cwd": cwd,
    }
    if prompt is not None:
        fields["prompt"] = prompt
    if tool:
        fields["tool_call"] = host.call_of({}, tool, args)
    elif here.matched_by == "tool":
        raise AgentHooksError(f"{here!s} is about a tool call: say which with --tool.")
    elif args and here == HookEvent.ON_HOST_EVENT:
        fields["payload"] = args
    elif args:
        raise AgentHooksError("--arg is an argument of a tool call: say which tool with --tool.")
    return HookContext(here, **fields)


def _argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise AgentHooksError(f"--arg takes name=value, not {text!r}.")
    if name in _TEXTS:
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _print(facts: dict[str, Any], conclusion: str, subject: str | None) -> None:
    line, tool = line_printer(), facts["tool"]
    for note in facts["notes"]:
        line(note, "yellow")
    line(f"{facts['event']}  {shortened(tool['name'], 60)} ({tool['kind']})" if tool else facts["event"], "bold")
    for name, value in tool["args"].items() if tool else ():
        line(f"  {name} = {value if isinstance(value, str) else json.dumps(value)}")
    walk = 1
    for one in facts["hooks"]:
        if one["walk"] > walk:
            walk = one["walk"]
            line(f"walk {walk}: the {subject} was changed, so the hooks are asked about what it is now", "dim")
        where = f", {shown_path(one['origin'])}" if one["origin"] and one["origin"] not in one["hook"] else ""
        text = f"  {one['hook']}: {_verdict(one)}  ({one['milliseconds']:.2f} ms{where})"
        line(text, DECISION_STYLES.get(one["decision"], ""))
    for hook in facts["not_asked"]:
        by = hook["decided_by"]
        why = f"skipped, decision already made by {by}" if by else f"not asked (match {hook['match']})"
        line(f"  {hook['hook']}: {why}", "dim")
    if not facts["hooks"] and not facts["not_asked"]:
        line("  no hook listens to this event", "dim")
    for plugin, lines in facts["explanations"].items():
        line(f"  {plugin} reads it as:", "dim")
        for each in lines:
            line(f"    {each}")
    for finding in facts["findings"]:
        line(f"finding: {finding['message']}", "yellow")
    line(conclusion, "bold green" if facts["goes_ahead"] else "bold red")
    line(NOT_EXECUTED, "dim")


def _meets(hook: Hook, ctx: HookContext) -> bool:
    """Whether the match of a hook is met, or fails."""
    try:
        return hook.match is None or bool(hook.match(ctx))
    except Exception:  # noqa: BLE001 - whatever a predicate raises
        return True


def _without_keys(value: Any) -> Any:
    """Return ``value`` without the bodies of keys and certificates in PEM, for terminals and logs."""
    if isinstance(value, str):
        return _PEM_BODY.sub(r"\1[left out]", value)
    if isinstance(value, dict):
        return {_without_keys(key): _without_keys(item) for key, item in value.items()}
    return [_without_keys(item) for item in value] if isinstance(value, (list, tuple)) else value


def _verdict(one: dict[str, Any]) -> str:
    """Return the outcome of one hook as a line."""
    only_looked = "only looked: " if one["walk"] == 0 else ""
    when = "in shadow, would have said: " if one["shadow"] else only_looked
    why = f" - {one['reason']}" if one["reason"] else ""
    changed = [each for each in one["changed"] if each != "metadata" or not one["reason"]]  # notes beside a decision
    brings = f" [{', '.join(changed)}]" if changed else ""
    return f"{when}{one['decision'] or 'no opinion'}{brings}{why}"


def _conclusion(ctx: HookContext, outcome: HookOutcome, *, goes_ahead: bool) -> str:
    verb = "goes ahead" if goes_ahead else f"does not go ahead: {outcome.decision}"
    if outcome.decision is Decision.ASK:
        verb = "waits for an answer: ask"
    is_named = (outcome.hook or "").startswith("agent_hooks.") or outcome.origin in (outcome.hook or "")
    where = "" if is_named else f" ({shown_path(place_of(outcome))})"
    by = f" by {outcome.hook}{where}" if outcome.hook else ""
    why = f": {outcome.reason}" if outcome.reason else ""
    new = new_subject(outcome, ctx)
    changed = f"; {ctx.event.subject} is now {json.dumps(plain(new))}" if new is not None else ""
    return f"It {verb}{by}{why}{changed}"
