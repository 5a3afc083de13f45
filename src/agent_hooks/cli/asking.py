"""The hooks' side of ``agent-hooks run``, in the process of the hooks: find them, ask them, send the answer."""

from __future__ import annotations

import os

from agent_hooks.errors import described
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tools import MAX_PATH
from agent_hooks.model.touched_paths import command_paths, further_paths, touched_paths
from agent_hooks.system import folders
from agent_hooks.system.progress import listen
from agent_hooks.wire.answer import clean

from .host_hooks import add_host_hooks, capped, hold_projects, is_forced, loads_lines, mark_round, unseen
from .start import use_site
from .time_limits import TimeLimits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.registry import HookRegistry
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.sources.loader import HookConfigLoader
    from agent_hooks.wire import Answer
    from agent_hooks.wire.host import Host

    from .start import Start
    from .supervisor import Marks

# An answer contains only the first few findings; `check` shows all of them.
_MAX_FINDINGS = 3


class Event:
    """One event of a host, and how it is to be answered.

    ``on_ask``: what becomes of a question that the host cannot put. ``deadline``: on the monotonic clock. ``begun``:
    what is known since the command began.
    """

    def __init__(self, host: Host, ctx: HookContext, on_ask: str, deadline: float, begun: Start) -> None:
        self.host = host
        self.ctx = ctx
        self.on_ask = on_ask
        self.deadline = deadline
        self.begun = begun
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
            use_site()
            loader = loader_for(event)
            manager = loader.load()
            hold_projects(ctx, manager, loader)
        ctx = ctx.replace(project_dir=ctx.project_dir or loader.project_dir)
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


# -- the answer --------------------------------------------------------------------------------------------------------


def written(event: Event, ctx: HookContext, outcome: HookOutcome, manager: HookRegistry) -> Answer:
    """Return the answer to the host: the outcome, and notes for people."""
    host, remedy = event.host, ""
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
    return answer


def without_place(reason: str, origin: str) -> str:
    """Return ``reason`` with the name of the file alone in the place of ``origin``, which is ``file:line``: where a
    policy is written is for people.
    """
    path, _, line = origin.rpartition(":")
    path = path if line.isdigit() else origin
    name = os.path.basename(path)
    return reason.replace(origin, name).replace(path, name)
