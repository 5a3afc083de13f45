"""The session: one conversation of one agent in turns, with the events around its runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from agent_hooks.errors import RefusedError, RunError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import WAITING
from agent_hooks.model.state import AgentState, Message
from agent_hooks.sources.skills import Skill

from .agent import AgentRuntime, checked_state
from .compaction import Compaction, without_prompt
from .conversations import FileConversations
from .current import check_asyncio, in_own_loop
from .interceptors import finished
from .log import logger
from .loop import AgentRun
from .pausing import Resumption, closed
from .run_states import active_skill, with_skill
from .session_events import SessionEvents, in_session, refusal
from .skill_activation import SessionSkills, skills_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.model.outcome import HookOutcome

    from .compaction import Compactor
    from .conversations import ConversationStore


class SessionRunner(SessionEvents):
    """Runs an agent in turns over one conversation, and dispatches the events around the turns.

    ``async with SessionRunner(agent) as session: state = await session.send("Hello.")``; without ``async``, ``with``
    and ``send_sync``. ``session_id`` (default: the agent's, or a new one) names the conversation. ``store`` persists it
    (default: not at all). ``scope``: a string that hooks see as ``ctx.scope`` (default: the agent's). ``skills`` are
    ``Skill`` objects, and paths as in ``AgentBuilder.with_skills``: their hooks are live while the session runs;
    ``trusted_skills``: you vouch for the files. ``config`` is passed to hooks on ``setup``. A conversation of
    ``compact_at`` messages or ``compact_at_tokens`` tokens is shortened before the next turn, and before the next step
    of a long turn, by ``compactor(messages, instructions)``, which returns a summary (default: the agent's model
    writes it). Tokens are those reported by the model, else estimated as one for four bytes.

    ``state`` is the current conversation. Raises ``RunError`` for settings that do not fit.
    """

    def __init__(
        self,
        agent: AgentRuntime,
        *,
        session_id: str = "",
        scope: str | None = None,
        store: ConversationStore | None = None,
        skills: Iterable[Skill | str | os.PathLike[str]] = (),
        trusted_skills: bool = False,
        config: Any = None,
        compact_at: int | None = None,
        compact_at_tokens: int | None = None,
        compactor: Compactor | None = None,
    ) -> None:
        _check(agent, store, skills, session_id)
        self.session_id = session_id or agent.session_id or os.urandom(8).hex()
        hooks = in_session(agent.interceptor, self.session_id)
        own = agent.identity.replace(session_id=self.session_id)
        super().__init__(agent._with(hooks=hooks, identity=own if scope is None else own.replace(scope=scope)))
        self._store = store
        self._config = config
        found = [(each, trusted_skills) for skill in skills for each in skills_in(skill)]
        self._skills = SessionSkills(found, self.session_id, is_text_trusted=trusted_skills, agents=agent.skills)
        self._compaction = Compaction(self, compact_at, compact_at_tokens, compactor)
        self._open: AsyncExitStack | None = None
        self._is_at_work = False
        self._end_reason = "other"
        self._is_kept = store is not None  # False if a hook refused to load the stored conversation
        self._settled = self.state  # the last state that was saved, or refused to be

    def __repr__(self) -> str:
        state = self.state
        how = state.status if self._open is not None else "closed"
        return f"<SessionRunner {self.session_id!r} of {self.agent.name!r}: {how}, {len(state.messages)} messages>"

    # -- starting and ending -----------------------------------------------------------------------------------------

    async def start(self) -> AgentState:
        """Start the session: load the stored conversation, if any, and return the state.

        Raises ``RefusedError`` if a hook refuses it, ``StoreError`` if the conversation cannot be read, and the errors
        of ``register_skill``.
        """
        if self._open is not None:
            raise RunError("This session has begun already.")
        check_asyncio()
        before = self.state
        try:
            with self._alone():
                async with AsyncExitStack() as undo:
                    await self._begin(undo)
                    self._open = undo.pop_all()
        except BaseException:
            self.state = before
            raise
        self._settled = self.state  # messages of hooks alone are not worth saving
        return self.state

    async def _begin(self, undo: AsyncExitStack) -> None:
        """Register the skills, load the conversation and dispatch the events; ``undo`` gets the clean-up."""
        self._end_reason = "error"
        self._skills.register(self.agent.interceptor)
        undo.callback(self._skills.unregister)
        self.agent = self.agent._with(tools=self._skills.with_tool(self.agent.tools.values()))
        await self._ask(HookEvent.SETUP, config=self._config, trigger="init")
        definition = {"name": self.agent.name, "model": self.agent.driver.model, "tools": list(self.agent.tools)}
        outcomes = [await self._gate(HookEvent.BEFORE_AGENT, definition=definition)]
        undo.push_async_callback(finished, self.agent.interceptor, "")
        undo.push_async_callback(self._ask, HookEvent.AFTER_AGENT, definition=definition)
        is_loaded = self._store is not None and await self._load(self._store, outcomes, undo)
        for outcome in outcomes:
            self._add_brought(outcome)
        undo.push_async_callback(lambda: self._ask(HookEvent.SESSION_END, end_reason=self._end_reason))
        source = "resume" if is_loaded else "startup"
        path = self._store.path(self.session_id) if isinstance(self._store, FileConversations) else ""
        outcome = await self._ask(HookEvent.SESSION_START, source=source, transcript_path=path)
        if outcome.state is not None:
            self._adopt(outcome.state)
        if outcome.blocks:
            self._end_reason = "refused"
            raise refusal(HookEvent.SESSION_START, outcome)
        self._add_brought(outcome)

    def _adopt(self, state: AgentState) -> None:
        """Take the fields of the conversation from a state that hooks return."""
        fields = {name: getattr(state, name) for name in ("messages", "metadata", "system_prompt", "response_format")}
        messages = fields["messages"] if isinstance(fields["messages"], tuple) else (None,)
        if all(isinstance(message, Message) for message in messages) and isinstance(fields["metadata"], Mapping):
            self.state = self.state.replace(**fields)
        else:
            logger.warning("agent_hooks: the state brought on session_start is none, and is dropped.")

    async def _load(self, store: ConversationStore, outcomes: list[HookOutcome], undo: AsyncExitStack) -> bool:
        """Load the stored conversation unless hooks refuse it; return whether there was one."""
        outcome = await self._ask(HookEvent.BEFORE_CONVERSATION_LOAD)
        outcomes.append(outcome)
        if outcome.decision in WAITING:
            raise refusal(HookEvent.BEFORE_CONVERSATION_LOAD, outcome)
        # Saving would replace the stored conversation by one without its history.
        self._is_kept = not outcome.blocks
        if outcome.blocks:
            self.state = AgentState()
            why = f"The stored conversation was not read, and this one is not saved: {outcome.reason}"
            await self._warn("conversation_not_loaded", why)
            return False
        stored = await store.load(self.session_id)
        undo.push_async_callback(store.release, self.session_id)
        if stored is not None:
            self.state = checked_state(stored)
            skill = self.active_skill
            if skill is not None and self.state.suspended is not None:
                self._skills.check(skill)
            elif skill is not None and not self._skills.has(skill):
                self.state = with_skill(self.state, None)
                await self._warn("skill_gone", f"The session has no skill {skill!r} any more, so it is not active.")
        await self._ask(HookEvent.AFTER_CONVERSATION_LOAD, message_count=len(self.state.messages))
        return stored is not None

    async def close(self, reason: str = "other") -> AgentState:
        """End the session, saving unsaved changes, and return its last state. ``reason`` is passed to hooks on
        ``session_end``. Do nothing if it has ended. Raises ``StoreError`` if the conversation cannot be saved; the
        session has ended even then.
        """
        with self._alone():
            if self._open is None:
                return self.state
            opened, self._open, self._end_reason = self._open, None, reason
            async with opened:
                self._count_spent()
                if self.state is not self._settled:
                    await self._save()
            return self.state

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close("other" if raised[0] is None else "error")

    # -- turns -------------------------------------------------------------------------------------------------------

    async def send(self, prompt: Any) -> AgentState:
        """Run the agent on ``prompt`` in this conversation, and return the state, as ``AgentRuntime.run`` does.

        A turn that waits for an answer ends with the status ``suspended``: see ``resume``. Raises
        ``RefusedError`` if a hook refuses the prompt (``PromptRefusedError``) or the turn; the conversation is then
        unchanged. Raises ``StoreError`` if it cannot be saved; the turn is then in ``state``, and saved with the next.
        """
        if prompt is None:
            raise RunError("There is nothing to send: a prompt is None.")
        with self._at_work():
            self.state = await self._compaction.shorten_if_too_long(self.state)
            return await self._turn(prompt)

    async def resume(self, decision: str | HookOutcome) -> AgentState:
        """Answer the question of the turn and continue it, in this process or another one.

        ``decision`` and errors are as in ``AgentRuntime.resume``; ``RefusedError`` if the answer refuses the prompt or
        the turn.
        """
        with self._at_work(may_wait=True):
            paused = self.state.suspended
            if paused is None:
                raise SuspensionError("The session does not wait for an answer: send a prompt.")
            return await self._turn(paused.prompt, Resumption(paused, decision, self.agent.store))

    async def abandon(self) -> AgentState:
        """Give up the turn that waits, as ``AgentRuntime.abandon`` does, and return the state.

        It also helps after a process that used the answer up and ended before it saved the turn: the record of the call
        then states that its effect is unknown. Raises ``SuspensionError`` if no turn waits.
        """
        with self._at_work(may_wait=True):
            paused = self.state.suspended
            try:
                self.state = self.agent.abandon(self.state)
            except SuspensionError:
                if paused is None:
                    raise
                # The session holds the conversation alone, so no other process continues the run.
                why = "The run was given up; whether it had gone on with an answer is not known."
                self.state = closed(self.state, paused.replace(made=max(paused.made, 1)), why)
            await self._finish_turn()
            return self.state

    async def _turn(self, prompt: Any, answer: Resumption | None = None) -> AgentState:
        before, skill = self.state, self.active_skill
        run = AgentRun(self.agent, before, prompt, answer, in_turn=True, skill=skill)
        run.compact = partial(self._compaction.shorten_if_too_long, in_turn=True)
        try:
            await run.run_to_end()
        except RefusedError:
            if before.suspended is None:
                self._spent += run.state.model_usage.items()
                self._count_spent()
                raise
            # The answer is used up and the operation refused, so nothing waits any more.
            # A prompt that waited at user_input is not in the conversation yet.
            left = without_prompt(before) if before.suspended.event == HookEvent.BEFORE_TURN else before
            self.state = left.replace(suspended=None, status="stopped", model_usage=run.state.model_usage)
            self._count_spent()
            await self._save()
            raise
        except BaseException as error:
            # After an answer that does not fit, the turn still waits.
            if before.suspended is None or not isinstance(error, SuspensionError):
                self._apply_run(run, skill)
            raise
        self._apply_run(run, skill)
        if self.state.suspended is not None:
            await self.notify("agent_needs_input", self.state.suspended.reason)
            await self._save()
        elif prompt is not None and self.state.messages == before.messages:
            await self._save()  # stopped at the prompt: there was no turn
        else:
            await self._finish_turn()
        return self.state

    def _apply_run(self, run: AgentRun, skill: str | None) -> None:
        """Adopt the state of a run."""
        # A run that activated a skill names it in its fields; a refused prompt leaves the skill unchanged.
        self.state = with_skill(run.state, run.fields.get("skill", skill))
        self._compaction.is_measured = True
        self._count_spent()

    async def _finish_turn(self) -> None:
        skill, self.state = self.active_skill, with_skill(self.state, None)
        about: dict[str, Any] = {} if skill is None else {"skill": skill}
        status = self.state.status
        await self._ask(HookEvent.AFTER_TURN, message_count=len(self.state.messages), status=status, **about)
        await self.notify("agent_completed", f"{self.agent.name}: {status}")
        await self._save()

    # -- the conversation --------------------------------------------------------------------------------------------

    async def compact(self, instructions: str = "") -> AgentState:
        """Replace all but the last exchange by a summary, and return the state. ``instructions``: for the summary.

        Nothing happens if there is nothing to shorten, or a hook refuses it. Raises ``SuspensionError`` while a turn
        waits; if there is no summary, ``RunError`` and the errors of the driver or the compactor.
        """
        with self._at_work():
            try:
                self.state = await self._compaction.shorten(self.state, "manual", instructions)
            finally:
                self._count_spent()
            await self._save()
            return self.state

    async def save(self) -> AgentState:
        """Save the conversation now, and return the state; after each turn this happens anyway.

        A refusal by a hook is logged and fires ``notification``. Raises ``StoreError`` if it cannot be saved.
        """
        with self._at_work(may_wait=True):
            await self._save()
            return self.state

    async def _save(self) -> None:
        if self._store is None or not self._is_kept:
            return
        outcome = await self._ask(HookEvent.BEFORE_CONVERSATION_SAVE, message_count=len(self.state.messages))
        self._count_spent()
        if outcome.blocks:
            self._settled = self.state
            await self._warn("conversation_not_saved", str(refusal(HookEvent.BEFORE_CONVERSATION_SAVE, outcome)))
            return
        self._add_brought(outcome)
        await self._store.save(self.session_id, self.state)
        self._settled = self.state
        await self._ask(HookEvent.AFTER_CONVERSATION_SAVE, message_count=len(self.state.messages))

    # -- skills ------------------------------------------------------------------------------------------------------

    @property
    def active_skill(self) -> str | None:
        """The name of the skill that was activated last, until the end of the next turn."""
        return active_skill(self.state)

    async def activate(self, name: str, arguments: str = "") -> AgentState:
        """Activate a skill of the session: its text, with ``arguments``, joins the conversation, and until the end of
        the next turn ``ctx.skill`` is its name. It replaces an active one.

        Raises ``RefusedError`` if a hook refuses it, ``RunError`` for an unknown skill or one without text,
        ``TrustError`` for the text of an untrusted file, and ``SuspensionError`` while a turn waits.
        """
        with self._at_work():
            text = self._skills.text(name, arguments)
            about: dict[str, Any] = {"skill": name, "skill_name": name, "arguments": arguments}
            outcome = await self._gate(HookEvent.BEFORE_SKILL_ACTIVATION, **about)
            message = Message(role="user", content=text, metadata={"source": "skill", "skill": name})
            self.state = with_skill(self.state.with_messages(message), name)
            self._add_brought(outcome)
            await self._ask(HookEvent.AFTER_SKILL_ACTIVATION, **about, result=text)
            return self.state

    # -- one operation at a time -------------------------------------------------------------------------------------

    @contextmanager
    def _at_work(self, *, may_wait: bool = False) -> Iterator[None]:
        if self._open is None:
            raise RunError("This session has not begun, or has ended: use `async with SessionRunner(...)`, or start().")
        with self._alone():
            if self.state.suspended is not None and not may_wait:
                raise SuspensionError("The session waits for an answer: call session.resume(decision) or abandon().")
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._is_at_work:
            raise RunError("This session is in the middle of something: wait for that first.")
        self._is_at_work = True
        try:
            yield
        finally:
            self._is_at_work = False

    # -- without an event loop ---------------------------------------------------------------------------------------

    start_sync = in_own_loop(start)
    send_sync = in_own_loop(send)
    resume_sync = in_own_loop(resume)
    activate_sync = in_own_loop(activate)
    compact_sync = in_own_loop(compact)
    close_sync = in_own_loop(close)

    def __enter__(self) -> Self:
        self.start_sync()
        return self

    def __exit__(self, *raised: object) -> None:
        self.close_sync("other" if raised[0] is None else "error")


def _check(agent: Any, store: Any, skills: Any, session_id: Any) -> None:
    """Raise ``RunError`` for an unsuitable agent, store, list of skills or id."""
    if not isinstance(agent, AgentRuntime):
        built = " Call build() on the builder." if callable(getattr(agent, "build", None)) else ""
        raise RunError(f"A session runs an AgentRuntime, not {agent!r:.80}.{built}")
    lacking = [name for name in ("load", "save", "release") if not callable(getattr(store, name, None))]
    if store is not None and (lacking or isinstance(store, type)):
        raise RunError(f"{store!r:.80} is no ConversationStore: it needs the async methods load, save and release.")
    if isinstance(skills, (str, os.PathLike, Skill)):
        raise RunError(f"skills is a list: SessionRunner(agent, skills=[{skills!r:.80}]).")
    if not isinstance(session_id or "", str):
        raise RunError(f"A session id is a text, not {session_id!r:.80}.")
