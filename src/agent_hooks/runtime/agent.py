"""The agent: a driver, tools and hooks, ready to run."""

from __future__ import annotations

import os
from inspect import signature
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.lifecycle import context_of
from agent_hooks.engine.stack import HookStack
from agent_hooks.engine.suspension import check_age
from agent_hooks.errors import RunError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import Decision
from agent_hooks.model.policy import HookPolicy
from agent_hooks.model.state import AgentState
from agent_hooks.model.values import Value
from agent_hooks.system.store import Store

from .current import CURRENT, Caller, acting_as, hooks_of, in_own_loop, shared_fields
from .defaults import DEFAULT_EVENTS, DEFAULTS
from .driver import answer_of, check_driver
from .interceptors import interceptor_of
from .loop import AgentRun
from .pausing import Resumption, abandoned, check_store, dispatch_now
from .python_tools import toolset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.plugin_info import HookInfo
    from agent_hooks.engine.registration import HookRegistration
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    from .driver import Driver
    from .interceptors import Interceptor
    from .pausing import SuspensionStore
    from .skill_activation import SessionSkills

# The default limit of one run: a model that never finishes must not cost without end.
MAX_STEPS = 100


class AgentIdentity(Value):
    """Who an agent is, and where: in every event of it.

    ``name`` is matched by hooks. ``agent_id``: empty for a new one. ``session_id``: empty outside a session. ``cwd``:
    empty for the current directory when a run starts. ``project_dir``: the root of the agent's project. ``scope``: a
    string that hooks see as ``ctx.scope``.
    """

    name: str = "agent"
    agent_id: str = ""
    session_id: str = ""
    cwd: str = ""
    project_dir: str = ""
    scope: str | None = None


class AgentRuntime:
    """An agent: it asks a model, calls tools for it, and dispatches each step of that to hooks.

    ``AgentBuilder`` builds one. ``driver`` asks the model; ``tools`` are functions or ``Tool`` objects; ``hooks`` are
    ``Hooks``, a ``HookManager``, a ``HookStack`` or another ``Interceptor``. ``defaults`` run before these, except
    those that they have under the same name. ``identity``: its name and place. ``parallel_tools`` runs the tools of one
    step concurrently. A run is stopped after ``max_steps`` steps; None is no limit. ``store`` remembers the suspended
    runs that were resumed, by default in the user's state folder. Raises ``RunError`` for parts that do not fit.
    """

    def __init__(
        self,
        driver: Driver,
        *,
        tools: Iterable[Any] = (),
        hooks: Hooks | HookManager | HookStack | Interceptor | None = None,
        defaults: Iterable[HookRegistration] = DEFAULTS,
        identity: AgentIdentity = AgentIdentity(),  # noqa: B008 - it cannot be changed
        parallel_tools: bool = False,
        max_steps: int | None = MAX_STEPS,
        policy: HookPolicy | None = None,
        store: SuspensionStore | None = None,
        skills: SessionSkills | None = None,
    ) -> None:
        self.driver = check_driver(driver)
        self.tools = toolset(tools)
        self.defaults = tuple(defaults)
        manager = getattr(hooks, "manager", hooks)
        if declare := getattr(manager, "declare_tools", None):
            declare((name for tool in self.tools.values() for name in (tool.name, *tool.aliases)), "managed")
        self.policy = policy or getattr(manager, "policy", None) or HookPolicy()
        given = HookStack((), self.policy).hooks() if hooks is None else interceptor_of(hooks)
        if identity.session_id and isinstance(given, Hooks):
            given = given.in_session(identity.session_id)
        self.interceptor = given
        for default in self.defaults:
            if not DEFAULT_EVENTS.issuperset(default.event):
                events = ", ".join(sorted(DEFAULT_EVENTS))
                raise RunError(
                    f"A default hook is one on {events}; {default.name!r} is none: give it as one of the hooks."
                )
        has = {(hook.event, hook.name) for hook in given.manager.all_hooks()} if isinstance(given, Hooks) else set()
        lacking = [one for one in self.defaults if not has.issuperset((event, one.name) for event in one.event)]
        # A policy in shadow enforces nothing, but the default behaviour of an agent must remain.
        self.default_hooks = HookStack(lacking, self.policy.replace(shadow=False)).hooks() if lacking else None
        self.identity = identity.replace(
            agent_id=identity.agent_id or os.urandom(8).hex(),
            cwd=os.path.abspath(identity.cwd) if identity.cwd else "",
        )
        self.parallel_tools = parallel_tools
        self.max_steps = checked_limit(max_steps)
        self.skills = skills
        self.store = Store() if store is None else check_store(store)
        self._schemas = tuple(tool.schema for tool in self.tools.values())

    @property
    def name(self) -> str:
        """Its name, which hooks match on events without another subject."""
        return self.identity.name

    @property
    def agent_id(self) -> str:
        """Its id, which is another for each agent that was built."""
        return self.identity.agent_id

    @property
    def session_id(self) -> str:
        """The session that it runs in; an empty string outside one."""
        return self.identity.session_id

    def __repr__(self) -> str:
        session = f" session={self.session_id!r}" if self.session_id else ""
        return f"<AgentRuntime {self.name!r} model={self.driver.model!r} tools={list(self.tools)}{session}>"

    @classmethod
    def default(cls, driver: Driver, *tools: Any) -> AgentRuntime:
        """Return an agent with its default hooks only."""
        return cls(driver, tools=tools)

    def with_interceptor(self, interceptor: Hooks | HookManager | HookStack | Interceptor) -> AgentRuntime:
        """Return the same agent with ``interceptor`` instead of its hooks; the default hooks run before it."""
        manager = getattr(interceptor, "manager", interceptor)
        return self._with(hooks=interceptor, policy=getattr(manager, "policy", None) or self.policy)

    def describe(self) -> list[HookInfo]:
        """Return the hooks in the order in which they run, event by event: the default hooks before the others. Of
        an interceptor that is no ``Hooks`` only the default hooks are known.
        """
        managers = [view.manager for view in (self.default_hooks, self.interceptor) if isinstance(view, Hooks)]
        found = [info for manager in managers for info in manager.describe()]
        order = {str(event): number for number, event in enumerate(HookEvent.all())}
        return sorted(found, key=lambda info: order[info.event])

    def with_driver(self, driver: Driver) -> AgentRuntime:
        """Return the same agent with another driver."""
        return self._with(driver=driver)

    def _with(self, **changes: Any) -> AgentRuntime:
        same = {name: getattr(self, name) for name in signature(AgentRuntime).parameters if name != "hooks"}
        return AgentRuntime(**{**same, "hooks": self.interceptor, **changes})

    # -- running -----------------------------------------------------------------------------------------------------

    async def run(self, prompt: Any = None, state: AgentState | None = None) -> AgentState:
        """Run the agent and return its last state: its ``status``, ``output``, ``messages`` and ``steps``.

        ``prompt`` is added to the conversation of ``state`` (default: a new one); without it, the state is run as it
        is. An error of the model or a tool is not raised: it makes ``status`` ``failed`` and is recorded in ``errors``
        or in a step's. A run that waits for an answer ends with the status ``suspended``: see ``resume``. Raises
        ``PromptRefusedError`` if a hook refuses the prompt, ``SuspensionError`` for a state that waits.
        """
        return await self.iterate(prompt, state).run_to_end()

    run_sync = in_own_loop(run)

    def iterate(self, prompt: Any = None, state: AgentState | None = None) -> AgentRun:
        """Return the run as an async iterator: a state for each completed step, yielded once the next one has started,
        the last at the end of the run.

        Its ``state`` is always the last consistent state, also after cancellation.
        """
        if isinstance(prompt, AgentState):
            prompt, state = None, prompt
        if prompt is None and state is None:
            raise RunError("There is nothing to run: give a prompt, a state, or both.")
        return AgentRun(self, AgentState() if state is None else checked_state(state), prompt)

    async def resume(self, state: AgentState, decision: str | HookOutcome) -> AgentState:
        """Answer the question of a suspended run and continue it; return the last state as ``run`` does.

        ``decision`` is ``"allow"``, ``"deny"`` or an outcome. All hooks run again for the operation; the one that asked
        or suspended gets the answer, for the unchanged subject only. ``state`` may come from another process, as
        ``AgentState.from_dict(json.loads(text))``, and works once. Raises ``SuspensionError`` if nothing waits, the
        answer was given before, or the operation is not the same.
        """
        return await self.iterate_from(state, decision).run_to_end()

    resume_sync = in_own_loop(resume)

    def iterate_from(self, state: AgentState, decision: str | HookOutcome) -> AgentRun:
        """Return the rest of a suspended run as an async iterator, as ``iterate`` and ``resume`` do."""
        paused = checked_state(state).suspended
        if paused is None:
            raise SuspensionError("This state does not wait for an answer: run it, or give the one that does.")
        check_age(paused.created_at, self.policy.suspension_ttl)
        return AgentRun(self, state, paused.prompt, Resumption(paused, decision, self.store))

    def abandon(self, state: AgentState) -> AgentState:
        """Give up a suspended run, and return its state, stopped: finished calls are recorded, others marked as not
        run. The state can be run again, but not be resumed. Raises ``SuspensionError`` if it does not wait, or was
        resumed.
        """
        return abandoned(checked_state(state), self.store)

    def context_fields(self, state: AgentState) -> dict[str, Any]:
        """Return the fields of a hook's context that identify the agent and its place."""
        own = self.identity
        return {
            "agent_id": state.agent_id or own.agent_id,
            "agent_name": own.name,
            "session_id": own.session_id,
            "cwd": own.cwd or os.getcwd(),
            "project_dir": own.project_dir,
            "scope": own.scope,
            "runtime": self,
        }

    def request(self, state: AgentState) -> ModelRequest:
        """Return the request for the model in this state."""
        return ModelRequest._of(  # the parts are frozen already
            {
                "model": self.driver.model,
                "system_prompt": state.system_prompt,
                "messages": state._fields.get("messages", ()),
                "tools": self._schemas,
                "response_format": state.response_format,
            }
        )

    async def ask_model(self, request: ModelRequest, ctx: HookContext) -> ModelResponse:
        """Ask the agent's model on behalf of a hook, which was given ``ctx``. The hooks that judge the requests and
        responses of a step judge these as well; neither goes into the conversation.

        ``usage`` and ``model`` of the response are always those of the driver, for the hook to add to the state
        (``with_model_usage``); a response that a hook withholds has no content and the finish reason ``withheld``.
        Raises ``RunError`` if a hook blocks the request, and the errors of the driver.
        """
        fields = shared_fields(ctx)
        caller, hooks = CURRENT.get(), hooks_of(self)
        outcome = await dispatch_now(hooks, context_of(HookEvent.BEFORE_INFERENCE, fields, {"request": request}))
        if outcome.blocks:
            raise RunError(f"A request on behalf of {ctx.event!s} was refused: {outcome.reason}")
        request = outcome._fields.get("request", request)
        with acting_as(Caller(caller.run, caller.spent)):
            answer = await answer_of(self.driver, request)
        used, model = answer.usage, answer.model or request.model
        about = {"request": request, "model": model, "response": answer}
        outcome = await dispatch_now(hooks, context_of(HookEvent.AFTER_INFERENCE, fields, about))
        if outcome.blocks or outcome.decision is Decision.RETRY:
            return ModelResponse(finish_reason="withheld", usage=used, model=model)
        return ModelResponse.of(outcome._fields.get("response", answer)).replace(usage=used, model=model)


def checked_limit(max_steps: Any) -> int | None:
    """Return ``max_steps`` if it is a valid limit. Raises ``RunError``."""
    if max_steps is not None and (type(max_steps) is not int or max_steps < 1):
        raise RunError(f"max_steps is a whole number from 1, or None for no limit, not {max_steps!r}.")
    return max_steps


def checked_state(given: Any) -> AgentState:
    """Return ``given`` if it is a state. Raises ``RunError`` with advice on reading one."""
    if isinstance(given, AgentState):
        return given
    raise RunError(f"A state is an AgentState, not {type(given).__name__}: read JSON with AgentState.from_dict(data).")
