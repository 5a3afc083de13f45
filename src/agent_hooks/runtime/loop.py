"""The loop: one run of an agent, event by event."""

from __future__ import annotations

from logging import DEBUG
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.lifecycle import Lifecycle, context_of, final_status
from agent_hooks.engine.messages import UNRELEASED, with_cut_step
from agent_hooks.engine.suspension import Paused
from agent_hooks.errors import StoreError, SuspensionError, traceback_of
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, WAITING
from agent_hooks.model.state import Message, Step, StopSignal, Usage

from .current import CURRENT, Caller, acting_as, check_asyncio, framework_run
from .defaults import DEFAULT_EVENTS, DefaultChains
from .inference import infer
from .interceptors import checked_outcome, finished, in_skill, inheriting
from .log import logger
from .pausing import pause, remember
from .run_states import active_skill, answer_of, fresh, limit_signal, with_answer, with_skill, with_tools
from .tool_calls import ToolCalls
from .watched_runs import watched

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence

    from agent_hooks.engine.guarded_run import GuardedRun
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState, Suspended

    from .agent import AgentRuntime
    from .pausing import Resumption


class AgentRun(Lifecycle):
    """One run of an agent: an async iterator over its states, one for each completed step, the last at the end.

    ``state`` is always the last consistent state, also after cancellation: it can be run again. ``in_turn``: the run is
    a turn of a session, so ``before_turn`` is dispatched; ``skill`` is the name of the active skill.
    """

    def __init__(
        self,
        agent: AgentRuntime,
        state: AgentState,
        prompt: Any = None,
        resumption: Resumption | None = None,
        *,
        in_turn: bool = False,
        skill: str | None = None,
        parent: AgentRun | GuardedRun | None = None,
    ) -> None:
        super().__init__()
        parent = framework_run() if parent is None else parent
        self.agent, self.max_forced = agent, agent.policy.max_forced_continuations
        self.max_retries = agent.policy.max_retries
        self.hooks = agent.interceptor
        self.defaults = DefaultChains()
        self.parent = parent
        self.in_turn = in_turn
        self.spent: list[tuple[str, Usage]] = []  # by hooks and tools, not yet added to the state
        self.in_hook, self.in_step = Caller(self, self.spent), Caller(self, self.spent, is_step=True)
        self.prompt = prompt
        self.resumption = resumption
        self.answered: Resumption | None = None  # until the operation that waits for it starts
        self.waits_again: Resumption | None = None  # until the run is suspended for the same operation again
        self.paused: Suspended | None = None  # where in a step to resume
        self.compact: Callable[[AgentState], Awaitable[AgentState]] | None = None  # shortens a long conversation
        self.failures: dict[str, None] = {}  # of the model and of tools, by kind, in order
        if resumption is None:
            self.state: AgentState = fresh(state, agent.agent_id, is_new=prompt is not None)
        else:
            self.state = state.replace(status="in_progress", suspended=None)
            self.paused, self.forced = resumption.paused, resumption.paused.forced
        self.fields = agent.context_fields(self.state)
        self.fields.update(parent_agent_id=self.state.parent_agent_id, execution_id=self.state.execution_id)
        skill = active_skill(state) if skill is None and resumption is not None else skill
        if skill is not None:
            self.hooks = in_skill(agent.interceptor, skill)
            self.fields["skill"] = skill
        if parent is not None:
            self.inherit_from(parent)
        self._states = watched(self, self._run())

    def inherit_from(self, parent: AgentRun | GuardedRun) -> None:
        """Make the run a subagent: in the session and the project of its parent, under the parent's gates."""
        self.hooks = inheriting(self.hooks, parent.hooks)
        self.state = self.state.replace(parent_agent_id=parent.state.agent_id)
        self.fields.update(parent_agent_id=parent.state.agent_id, depth=parent.depth + 1)
        names = ("session_id", "project_dir", "scope", "skill", *(() if self.agent.identity.cwd else ("cwd",)))
        self.fields.update({name: parent.fields[name] for name in names if parent.fields.get(name)})

    @property
    def at_work(self) -> AgentRun:
        """What agents that a tool of the run starts belong to."""
        return self

    def __aiter__(self) -> AsyncIterator[AgentState]:
        return self._states

    async def run_to_end(self) -> AgentState:
        """Run to the end, and return the last state."""
        async for _state in self._states:
            pass
        return self.state

    async def _run(self) -> AsyncGenerator[AgentState]:
        check_asyncio()
        shown, resumption = self.state.step_count, self.resumption
        try:
            if await self.begin():
                while self.paused is not None or await self.start_step():
                    # A step is shown once the next one has started: hooks have to release the last answer first.
                    if self.state.step_count > shown:
                        shown = self.state.step_count
                        yield self.state
                    await self.run_step()
                await self.finish()
        except Paused as paused:
            self.count_spent()
            try:
                self.state = remember(self.agent.store, paused, self.state)
            except StoreError as error:
                self.state = error.state or self.state
                raise
        except GeneratorExit:
            raise
        except BaseException as error:
            self.note_interruption(is_cancelled=not isinstance(error, Exception))
            raise
        finally:
            if resumption is not None:
                resumption.end()
        await finished(self.hooks, self.state.execution_id)
        yield self.state

    # -- the parts of a run ------------------------------------------------------------------------------------------

    async def begin(self) -> bool:
        """Receive the prompt and start the run; return False if a hook stops it first. Raises ``RefusedError``."""
        paused = self.paused
        if paused is not None and paused.event not in (HookEvent.USER_INPUT, HookEvent.BEFORE_TURN):
            if paused.is_inside and self.resumption is not None:
                self.resumption.check_inside(self.state, self.fields["session_id"])
            return True
        self.paused = None
        is_resumed_turn = paused is not None and paused.event == HookEvent.BEFORE_TURN
        await self.receive(None if is_resumed_turn else self.prompt, is_turn=self.in_turn or is_resumed_turn)
        if self.state.status == "stopped":
            return False
        await self.ask(HookEvent.BEFORE_EXECUTION)
        return True

    def limit(self) -> StopSignal | None:
        """Return the signal of the limit of steps, if it is reached."""
        made, most = self.state.step_count, self.agent.max_steps
        return None if most is None or made < most else limit_signal(made, most)

    async def prepare(self) -> None:
        """Shorten a long conversation; before the first step the session did."""
        if self.compact is not None and self.state.step_count:
            self.state = await self.compact(self.state)

    def add(self, *messages: Message) -> None:
        """Add messages to the conversation."""
        self.state = self.state.with_messages(*messages)

    async def run_step(self) -> None:
        """Run the step that has started, or resume it; ``after_step`` follows in every case."""
        paused, self.paused, self.is_stopping = self.paused, None, False
        step = self.state.current_step if paused is not None else None
        step = await self.make_step(step or Step._of({"index": self.state.step_count}), paused)
        self.state = self.state._with(current_step=step)
        try:
            await self.ask(HookEvent.AFTER_STEP, step=step)
        except BaseException:
            self.state = with_cut_step(self.state, step)
            raise
        step = self.state.current_step or step
        self.state = self.state.replace(current_step=None) if step.is_blank else self.state.with_step(step)

    async def make_step(self, step: Step, paused: Suspended | None) -> Step:
        """Ask the model, run the tools it calls, and return the step with the results."""
        self.state = self.state._with(current_step=step)
        tools: ToolCalls | None = None
        try:
            if step.message is None:
                step = await infer(self, step, paused)
                self.state = self.state._with(current_step=step)
            if step.message is not None and step.message.tool_calls:
                tools = ToolCalls(self, step.message.tool_calls, paused)
                await tools.make()
                step = with_tools(step, tools, tools.settled)
            if self.resumption is not None:
                raise SuspensionError("The operation that waited for this answer is not in the state any more.")
            return step
        except Paused as pausing:
            settled = tools.settled if tools is not None else ()
            step = with_tools(step, tools, settled) if tools is not None else self.state.current_step or step
            self.state = self.state._with(current_step=step)
            raise Paused(pausing.suspended.replace(settled=settled, forced=self.forced), pausing.operation) from None
        except BaseException as error:
            # The results of tools and the usage are recorded even if there is no response.
            step = with_tools(step, tools, tools.cut_short()) if tools is not None else self.state.current_step or step
            if isinstance(error, SuspensionError) or not is_failure(error):
                self.state = with_cut_step(self.state, step)
                raise
            return await self.fail(step, error)

    async def finish(self) -> None:
        """Release the answer, dispatch ``after_execution``, and set the final status."""
        if (answer := answer_of(self.state)) is not None:
            output, reason = await self.released(answer.content)
            if output is not answer.content:  # the change or refusal applies to the conversation too
                self.state = with_answer(self.state, reason if output is None else output)
            self.state = self.state.replace(output=output)
        await self.conclude()
        self.state = self.state.replace(status=final_status(self.state))
        if not self.in_turn:
            self.state = with_skill(self.state, None)
        if self.state.status == "failed":
            kinds = ", ".join(self.failures or dict.fromkeys(error.type for error in self.state.errors))
            logger.warning("agent_hooks: the run %s of %r failed: %s", self.state.execution_id, self.agent.name, kinds)

    # -- skills ------------------------------------------------------------------------------------------------------

    def enter_skill(self, name: str) -> None:
        """Make a skill the active one until the end of the run: its hooks are live, and the state names it."""
        self.hooks = in_skill(self.hooks, name)
        self.fields["skill"] = name
        self.state = with_skill(self.state, name)

    # -- failing -----------------------------------------------------------------------------------------------------

    async def fail(self, step: Step, error: BaseException) -> Step:
        """Mark the run as failed, and return the step with the error."""
        is_told = error is self.told
        if not is_told:
            await self.try_recover(error)
        part = f"model {self.agent.driver.model}" if is_told else f"step {step.index}"
        self.note_failure(part, error)
        return step.replace(errors=(*step.errors, self.end_with(error)))

    def note_failure(self, part: str, error: BaseException) -> None:
        """Record the type of an error for the log, and log its traceback at DEBUG; its message may hold values."""
        self.failures[f"{part}: {type(error).__name__}"] = None
        if logger.isEnabledFor(DEBUG):
            logger.debug("agent_hooks: the run %s: %s: %s", self.state.execution_id, part, traceback_of(error))

    def note_interruption(self, *, is_cancelled: bool) -> None:
        """Make the state runnable again, without an answer that no hook has released."""
        self.count_spent()
        if is_cancelled:
            self.add_signal(StopSignal.user_requested("The run was cancelled.", source="AgentRun"))
            self.state = self.state.replace(status="stopped", current_step=None)
        is_released = self.state.output is not None or not self.hooks.listens(HookEvent.BEFORE_OUTPUT)
        if not is_released and answer_of(self.state) is not None:
            self.state = with_answer(self.state, UNRELEASED)

    # -- dispatching -------------------------------------------------------------------------------------------------

    async def ask(self, event: HookEvent, *, may_resume: bool = True, **about: Any) -> HookOutcome:
        """Dispatch an event and apply its outcome. ``may_resume``: it may be the operation that waits for an answer."""
        resumption = self.resumption if may_resume else None
        if resumption is not None and (resumption.paused.event != event or resumption.paused.is_inside):
            resumption = None
        self.count_spent()
        defaults = self.agent.default_hooks  # those that the interceptor lacks
        if defaults is not None and defaults.listens(event):
            with acting_as(self.in_hook):
                first = await defaults.dispatch(self.context(event, **about))
            self.apply(event, first)
            if first.blocks:
                return first
        if resumption is None:
            is_settled = event in DEFAULT_EVENTS and self.defaults.settle(self, event, about.get("step"))
            if is_settled or not self.hooks.listens(event):
                return PROCEED
        ctx = context_of(event, self.fields, about, self.state)
        token = CURRENT.set(self.in_hook)  # in `acting_as`, this takes twice as long
        try:
            if resumption is not None:
                self.resumption = None
                outcome = await resumption.dispatch(self.hooks, ctx)
                if outcome.decision in WAITING:
                    self.waits_again = resumption
                else:
                    self.answered = resumption
                    if event is not HookEvent.BEFORE_TOOL_USE or outcome.blocks:  # a tool is called later
                        self.start_answered()
            else:
                outcome = await self.hooks.dispatch(ctx)
        finally:
            CURRENT.reset(token)
        if outcome is not PROCEED:
            checked_outcome(outcome, self.hooks, event)
            # If the operation waits, its hooks run again when it resumes, and return all this again.
            if outcome.decision not in WAITING:
                self.apply(event, outcome)
        self.count_spent()
        return outcome

    def count(self, model: str, used: Usage, step: Step) -> None:
        """Record a response, and what the model used in fact."""
        self.state = self.state.with_model_usage(model, used)._with(current_step=step)

    def count_spent(self) -> None:
        """Add model usage of hooks and tools to the state."""
        for model, usage in self.spent:
            self.state = self.state.with_model_usage(model, usage)
        self.spent.clear()

    def context(self, event: HookEvent, **about: Any) -> HookContext:
        """Return the context for hooks: the current state of the run."""
        return context_of(event, self.fields, about, self.state)

    def pause(
        self, event: HookEvent, outcome: HookOutcome, *, made: int = 0, hints: Sequence[Message] = (), **about: Any
    ) -> Paused:
        """Return the exception to raise for an operation that has to wait, and was done ``made`` times before."""
        earlier, self.waits_again = self.waits_again, None
        return pause(self.context(event, **about), outcome, self.hooks, earlier, made=made, hints=tuple(hints))

    def start_answered(self) -> None:
        """Use up the answers to the operation that now starts. Raises ``SuspensionError``."""
        answered, self.answered = self.answered, None
        if answered is not None:
            answered.start()
