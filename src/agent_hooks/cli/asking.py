"""The hooks' side of ``agent-hooks run``, in the process of the hooks: find them, ask them, send the answer."""

from __future__ import annotations

import os
import sys
import time

from agent_hooks.errors import described
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tools import MAX_PATH
from agent_hooks.model.touched_paths import command_paths, further_paths, touched_paths
from agent_hooks.system import folders, stamps
from agent_hooks.system.plan_file import write_plan
from agent_hooks.system.progress import listen
from agent_hooks.wire.answer import clean

from .host_hooks import add_host_hooks, capped, hold_projects, is_forced, loads_lines, mark_round, unseen
from .quick import shape_of, use_site
from .time_limits import TimeLimits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.registry import HookRegistry
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.sources.telemetry import Recorder
    from agent_hooks.wire import Answer
    from agent_hooks.wire.host import Host

    from .quick import Plan, Start
    from .supervised import Marks

# An answer contains only the first few findings; `check` shows all of them.
_MAX_FINDINGS = 3
# Of as many kinds of events a plan says that no hook is about them.
_MAX_QUIET = 64


class Event:
    """One event of a host, and how it is to be answered.

    ``on_ask``: what becomes of a question that the host cannot put. ``deadline``: on the monotonic clock. ``begun``:
    what is known of the plan. ``record``: what makes a record of the dispatch.
    """

    def __init__(self, host: Host, ctx: HookContext, on_ask: str, deadline: float, begun: Start) -> None:
        self.host = host
        self.ctx = ctx
        self.on_ask = on_ask
        self.deadline = deadline
        self.begun = begun
        self.record: Recorder | None = None
        self.folders = tuple(each for each in (ctx.project_dir, ctx.cwd) if _may_be_folder(each)) or (os.getcwd(),)

    @property
    def near(self) -> tuple[str, ...]:
        """The folders, and the paths that the event touches."""
        paths = (*touched_paths(self.ctx), *further_paths(self.ctx), *command_paths(self.ctx))
        return (*self.folders, *filter(_may_be_folder, paths))


def ask_hooks(event: Event, send: Callable[[Answer], None], marks: Marks) -> None:
    """Send the answer as soon as it is settled, and return when the observers have run too."""
    host, ctx = event.host, event.ctx
    try:
        folders.use_account()
        limits = TimeLimits(marks.mark, event.deadline)
        listen(limits.mark_loading)
        with limits.loading():
            manager, loader = _hooks_for(event)
            hold_projects(ctx, manager, event.begun.plan, loader)
            plan = event.begun.plan if loader is None else _new_plan(event, loader)
        project_dir = (plan or {})["project_dir"] if loader is None else loader.project_dir
        ctx = ctx.replace(project_dir=ctx.project_dir or project_dir)
        answer: Answer | None = None

        def settled(outcome: HookOutcome) -> None:
            nonlocal answer
            if answer is None:  # `written` counts rounds and notes, once per event
                answer = written(event, ctx, outcome, manager)
                send(answer)

        if host.rounds_have_prompts and ctx.event is HookEvent.USER_INPUT and manager.hooks().listens(ctx.event):
            ctx = ctx.replace(stop_hook_active=is_forced(ctx))
        limits.apply(manager, ctx.event, *(HookEvent.BEFORE_TOOL_USE,) * loads_lines(ctx))
        ask = asks_host(event)
        add_host_hooks(manager, host, ctx, ask)
        hooks = manager.hooks(ask, settled)
        if event.begun.recorder is not None and loader is not None and hooks.listens(ctx.event):
            event.record = event.begun.recorder(loader.files)
        if _needs_loop(hooks, ctx.event):
            import asyncio

            with asyncio.Runner() as runner:
                settled(runner.run(hooks.dispatch(ctx)))
                runner.run(hooks.join())
        else:
            settled(hooks.dispatch_sync(ctx))
            hooks.join_sync()
    except BaseException as error:  # noqa: BLE001 - the host gets an answer after any failure
        during = f", while {marks.name()} was running; repair it" if marks.name() else ""
        send(host.failure(ctx.host_event, f"agent-hooks could not ask the hooks: {described(error)}{during}"))
    else:
        if plan is not None and answer is not None:
            _keep_plan(event, plan, answer, is_new=loader is not None)


def asks_host(event: Event) -> Ask:
    """Return what answers an ask that no hook answered: the host where it can put one, else nothing."""
    host, ctx = event.host, event.ctx
    return "host" if host.can_ask(ctx) or (event.on_ask == "host" and host.approves(ctx)) else None


def _needs_loop(hooks: Hooks, event: HookEvent) -> bool:
    """Whether a hook that would be asked about ``event`` is async, those of the permission request included."""
    chains = (hooks.chain(event), hooks.chain(HookEvent.PERMISSION_REQUEST))
    hooks_of = (hook for chain in chains if chain for hook in (*chain.wrappers, *chain.deciders, *chain.observers))
    return any(hook.is_async for hook in hooks_of)


# -- where the hooks come from -----------------------------------------------------------------------------------------


def _hooks_for(event: Event) -> tuple[HookRegistry, HookConfigLoader | None]:
    """Return the hooks for an event, and what loaded them: None if they are those of the plan."""
    plan = event.begun.plan
    if plan is not None and not loads_lines(event.ctx):  # its hooks are those for the call itself
        from agent_hooks.sources.planned import MoreHooksError, hooks_of

        try:
            if plan["folders"] != event.folders:
                raise ValueError("a plan of other folders")
            stamps.hold(plan["facts"])
            planned = hooks_of(plan, event.ctx, event.near)
            for each in (event.ctx.event, HookEvent.PERMISSION_REQUEST, HookEvent.BEFORE_SUBAGENT):
                planned.hooks_on(each)  # now, when there is still another way
            from agent_hooks.system.quick_import import start_stage

            start_stage("")
            return planned, None
        except MoreHooksError:
            _forget_tables()
        except Exception:  # noqa: BLE001 - a damaged plan, in whose place a new one is kept
            _forget_tables()
            stamps.hold(None)
            event.begun.plan = None
    use_site()
    loader = loader_for(event)
    return loader.load(), loader


def _forget_tables() -> None:
    from agent_hooks.sources.plugin_settings import restore_tables

    restore_tables(None)


def loader_for(event: Event) -> HookConfigLoader:
    """Return the loader of the hooks for an event, after removing its folders from the import path."""
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.system.sites import restrict
    from agent_hooks.trust.project_files import is_marked, project_root

    restrict(filter(is_marked, map(project_root, event.folders)))
    is_read = not event.host.runs_claude_settings
    return HookConfigLoader(event.folders, near=event.near, claude_settings=is_read, modules=event.begun.modules)


def _may_be_folder(path: str) -> bool:
    """Whether a file system could have this absolute path."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # half a character
        return False
    return os.path.isabs(path) and len(path) <= MAX_PATH and "\0" not in path


def _new_plan(event: Event, loader: HookConfigLoader) -> Plan | None:
    """Return the plan of a configuration that was just loaded, None if there cannot be one.

    Before any hook is asked: what hooks do to this process must not hold for later events.
    """
    if event.begun.plan is not None or not event.begun.key:  # one that does not know what this event touches
        return None
    if event.begun.key[2] != event.folders:
        return None  # such as a relative one: the key would mean another folder in another process
    try:
        from agent_hooks.sources.planning import make_plan, rows_of

        loaded = tuple(sys.modules)
        rows_of(loader, loaded)  # before everything is loaded again, in vain
        modules = loader.modules
        plan = make_plan(event.folders, loaded, claude_settings=loader.claude_settings, modules=modules)
        # What has changed since this process began may have been imported before.
        began = time.time_ns() - int((time.monotonic() - event.begun.at) * 1e9)
        return None if stamps.is_young(plan["seen"], began) else plan
    except Exception:  # noqa: BLE001 - without a plan, the next event is loaded as this one was
        return None


def _keep_plan(event: Event, plan: Plan, answer: Answer, *, is_new: bool) -> None:
    """Keep a plan for the next event, with what this event adds to it."""
    try:
        if (_learn_quiet(event, plan, answer) | _learn_settings(plan) | _learn_facts(plan)) or is_new:
            write_plan(event.begun.key, plan)
        from agent_hooks.system.quick_import import keep_bundle

        keep_bundle()
    except Exception:  # noqa: BLE001, S110 - then the next event is loaded as this one was
        pass


def _learn_quiet(event: Event, plan: Plan, answer: Answer) -> bool:
    """Note in the plan that nobody is asked about events of this kind, and return whether that is new."""
    name, payload = event.ctx.event, event.begun.payload
    # A tool call may touch a folder with hooks of its own.
    is_quiet = event.ctx.tool_call is None and not any(row["event"] == name for row in plan["rows"])
    # A context that is not whole denies, and its shape does not tell.
    is_quiet = is_quiet and not event.host.reads_whole_contexts and not loads_lines(event.ctx)
    if not is_quiet or payload is None or len(plan["quiet"]) >= _MAX_QUIET:
        return False
    shape = shape_of(payload, event.ctx.host_event)
    is_new = shape not in plan["quiet"]
    plan["quiet"][shape] = (answer.stdout, answer.stderr, answer.exit_code)
    return is_new


def _learn_settings(plan: Plan) -> bool:
    """Take the settings that were validated meanwhile into the plan, and return whether there are new ones."""
    from agent_hooks.sources.plugin_settings import export_tables, has_new_results

    if not has_new_results():
        return False
    validated = export_tables()["validated"]  # of the tables, those of the plan hold
    plan["tables"] = {**plan["tables"], "validated": {**plan["tables"]["validated"], **validated}}
    return True


def _learn_facts(plan: Plan) -> bool:
    """Take what was found out about the plan's files into the plan, and return whether that is new."""
    known = stamps.facts().union(plan["facts"])
    is_new = len(known) > len(plan["facts"])
    plan["facts"] = tuple(sorted(known))
    return is_new


# -- the answer --------------------------------------------------------------------------------------------------------


def written(event: Event, ctx: HookContext, outcome: HookOutcome, manager: HookRegistry) -> Answer:
    """Return the answer to the host: the outcome, and notes for people."""
    host, record, remedy = event.host, event.record(ctx, outcome) if event.record is not None else "", ""
    notes: tuple[str, ...] = ()
    if host.goes_on(outcome, ctx):
        outcome, notes = capped(outcome, ctx, manager.policy.max_forced_continuations)
    if manager.notes:
        notes = (*unseen(manager.notes, ctx, is_shown=host.shows_notes(ctx)), *notes)
    if outcome.origin and not (outcome.hook or "").startswith("agent_hooks."):
        from agent_hooks.wire.host import place_of

        # The model gets the reason, and people must find the rule.
        at = place_of(outcome)
        place = f"agent_hooks: {outcome.decision} by {at}."
        if host.shows_notes(ctx) and (reason := without_place(outcome.reason, outcome.origin)) != outcome.reason:
            place, outcome = f"{place} {outcome.reason}", outcome.replace(reason=reason)
        # What is said about a rule helps nobody where another hook decided.
        is_anothers = at == outcome.origin and any(key.startswith("place of ") for key in outcome.metadata)
        if host.shows_notes(ctx) and not is_anothers:
            remedy = clean(str(outcome.metadata.get("for_people", "")))
        notes = (place, *filter(None, (remedy,)), *notes)
    notes = (*notes, *(f"agent_hooks: {finding.message}" for finding in outcome.findings[:_MAX_FINDINGS]))
    if (more := len(outcome.findings) - _MAX_FINDINGS) > 0:
        notes = (*notes, f"agent_hooks: and {more} more findings.")
    answer = host.write(outcome, ctx, notes=notes, ask=event.on_ask)
    if remedy and remedy in answer.stderr:  # a model may read that
        answer = answer.replace(stderr=answer.stderr.replace(remedy, "").rstrip())
    if host.rounds_have_prompts and host.goes_on(outcome, ctx):
        mark_round(answer, ctx)
    return answer.replace(record=record) if record else answer


def without_place(reason: str, origin: str) -> str:
    """Return ``reason`` with the name of the file alone in the place of ``origin``, which is ``file:line``: where a
    policy is written is for people.
    """
    path, _, line = origin.rpartition(":")
    path = path if line.isdigit() else origin
    name = os.path.basename(path)
    return reason.replace(origin, name).replace(path, name)
