"""The session: one conversation of one agent in turns, with the events around its runs."""

from __future__ import annotations

import logging
import os
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agent_hooks.errors import RefusedError, RunError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.state import AgentState, Usage

from .agent import AgentRuntime, in_own_loop
from .boundaries import Boundaries, check_parts, in_session, refusal
from .compaction import Compaction, Thresholds, without_prompt
from .current import check_asyncio
from .loop import AgentRun
from .messages import messages_from
from .pausing import Resumption, closed
from .run_states import active_skill, with_skill
from .session_start import open_session
from .skill_activation import SessionSkills, skill_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Any, Self

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.sources.skills import Skill

    from .compaction import Compactor
    from .conversations import ConversationStore

logger = logging.getLogger("agent_hooks.runtime")


class SessionRunner:
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
        check_parts(agent, store, compactor, skills)
        thresholds = Thresholds(compact_at, compact_at_tokens)
        if not isinstance(session_id or "", str):
            raise RunError(f"A session id is a text, not {session_id!r:.80}.")
        self.session_id = session_id or agent.session_id or os.urandom(8).hex()
        hooks = in_session(agent.interceptor, self.session_id)
        self.agent = agent._with(hooks=hooks, session_id=self.session_id, scope=agent.scope if scope is None else scope)
        self.state = AgentState()
        self._store = store
        self._config = config
        self._skills = SessionSkills(skills, self.session_id, are_trusted=trusted_skills, agents=agent.skills)
        self._boundaries = Boundaries(self.agent)
        self._compaction = Compaction(self._boundaries, thresholds, compactor, self._warn)
        self._open: AsyncExitStack | None = None
        self._is_at_work = False
        self._end_reason = "other"
        self._is_kept = store is not None  # False if a hook refused to load the stored conversation
        self._settled = self.state  # the last state that was saved, or refused to be
        self._spent = self._boundaries.spent  # by summaries and hooks, not yet added to the state

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
                self._open = await open_session(self)
        except BaseException:
            self.state = before
            raise
        self._settled = self.state  # messages of hooks alone are not worth saving
        return self.state

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close("other" if error is None else "error")

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
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer: call session.resume(decision) or abandon().")
            self.state = await self._compaction.shorten_if_too_long(self.state)
            return await self._turn(self._run(prompt))

    async def resume(self, decision: str | HookOutcome) -> AgentState:
        """Answer the question of the turn and continue it, in this process or another one.

        ``decision`` and errors are as in ``AgentRuntime.resume``; ``RefusedError`` if the answer refuses the prompt or
        the turn.
        """
        with self._at_work():
            paused = self.state.suspended
            if paused is None:
                raise SuspensionError("The session does not wait for an answer: send a prompt.")
            answer = Resumption(paused, decision, self.agent.store)
            return await self._turn(self._run(paused.prompt, answer))

    async def abandon(self) -> AgentState:
        """Give up the turn that waits, as ``AgentRuntime.abandon`` does, and return the state.

        It also helps after a process that used the answer up and ended before it saved the turn: the record of the call
        then states that its effect is unknown. Raises ``SuspensionError`` if no turn waits.
        """
        with self._at_work():
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

    def _run(self, prompt: Any, answer: Resumption | None = None) -> AgentRun:
        run = AgentRun(self.agent, self.state, prompt, answer, in_turn=True, skill=self.active_skill)
        run.compact = partial(self._compaction.shorten_if_too_long, in_turn=True)
        return run

    async def _turn(self, run: AgentRun) -> AgentState:
        before, skill = self.state, self.active_skill
        try:
            await run.run_to_end()
        except RefusedError:
            earlier = before.model_usage if before.suspended is not None else {}
            self._spent += [
                (model, usage - earlier.get(model, Usage())) for model, usage in run.state.model_usage.items()
            ]
            if before.suspended is not None:
                # The answer is used up and the operation refused, so nothing waits any more.
                # A prompt that waited at user_input is not in the conversation yet.
                is_received = before.suspended.event == HookEvent.BEFORE_TURN
                left = without_prompt(before) if is_received else before
                self.state = left.replace(suspended=None, status="stopped")
                self._count_spent()
                await self._save()
            else:
                self._count_spent()
            raise
        except SuspensionError:
            # After an answer that does not fit, the turn still waits.
            if before.suspended is None:
                self._apply_run(run, skill)
            raise
        except BaseException:
            self._apply_run(run, skill)
            raise
        self._apply_run(run, skill)
        if self.state.suspended is not None:
            await self.notify("agent_needs_input", self.state.suspended.reason)
            await self._save()
        elif run.prompt is not None and self.state.messages == before.messages:
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
        about = {} if skill is None else {"skill": skill}
        count, status = len(self.state.messages), self.state.status
        await self._tell(HookEvent.AFTER_TURN, message_count=count, status=status, **about)
        await self.notify("agent_completed", f"{self.agent.name}: {status}")
        await self._save()

    # -- the conversation --------------------------------------------------------------------------------------------

    async def compact(self, instructions: str = "") -> AgentState:
        """Replace all but the last exchange by a summary, and return the state. ``instructions``: for the summary.

        Nothing happens if there is nothing to shorten, or a hook refuses it. Raises ``SuspensionError`` while a turn
        waits; if there is no summary, ``RunError`` and the errors of the driver or the compactor.
        """
        with self._at_work():
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer, and goes on with the conversation as it is.")
            try:
                self.state = await self._compaction.shorten(self.state, "manual", instructions)
            finally:
                self._count_spent()
            await self._save()
            return self.state

    def _count_spent(self) -> None:
        for model, usage in self._spent:
            self.state = self.state.with_model_usage(model, usage)
        self._spent.clear()

    async def save(self) -> AgentState:
        """Save the conversation now, and return the state; after each turn this happens anyway.

        A refusal by a hook is logged and fires ``notification``. Raises ``StoreError`` if it cannot be saved.
        """
        with self._at_work():
            await self._save()
            return self.state

    async def _save(self) -> None:
        if self._store is None or not self._is_kept:
            return
        count = len(self.state.messages)
        outcome = await self._ask(HookEvent.BEFORE_CONVERSATION_SAVE, message_count=count)
        self._count_spent()
        if outcome.blocks:
            self._settled = self.state
            await self._warn("conversation_not_saved", str(refusal(HookEvent.BEFORE_CONVERSATION_SAVE, outcome)))
            return
        self._add_brought(outcome)
        await self._store.save(self.session_id, self.state)
        self._settled = self.state
        await self._tell(HookEvent.AFTER_CONVERSATION_SAVE, message_count=len(self.state.messages))

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
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer: call session.resume(decision) or abandon().")
            text = self._skills.text(name, arguments)
            about = {"skill": name, "skill_name": name, "arguments": arguments}
            outcome = await self._gate(HookEvent.BEFORE_SKILL_ACTIVATION, **about)
            self.state = with_skill(self.state.with_messages(skill_message(name, text)), name)
            self._add_brought(outcome)
            await self._tell(HookEvent.AFTER_SKILL_ACTIVATION, **about, result=text)
            return self.state

    # -- dispatching -------------------------------------------------------------------------------------------------

    async def notify(self, kind: str, message: str) -> None:
        """Fire ``notification``. ``kind``: the subject that hooks match; ``message``: for a person."""
        await self._tell(HookEvent.NOTIFICATION, notification_type=kind, message=message)

    def answer(self, event: str, decision: str | HookOutcome) -> None:
        """Answer an operation that was refused because it waits. Once it is tried again, its hooks run again, and the
        one that asked or suspended gets the answer. Raises ``SuspensionError`` if nothing waits at ``event``.
        """
        self._boundaries.answer(event, decision)

    async def _tell(self, event: HookEvent, **about: Any) -> None:
        await self._boundaries.tell(event, self.state, **about)

    async def _ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        return await self._boundaries.ask(event, self.state, **about)

    async def _gate(self, event: HookEvent, **about: Any) -> HookOutcome:
        outcome = await self._ask(event, **about)
        if outcome.blocks:
            raise refusal(event, outcome)
        return outcome

    def _add_brought(self, outcome: HookOutcome) -> None:
        """Add messages and context of hooks to the conversation."""
        if messages := messages_from(outcome):
            self.state = self.state.with_messages(*messages)

    async def _warn(self, kind: str, message: str, error: str = "") -> None:
        logger.warning("agent_hooks: session %s: %s%s", self.session_id, kind, f": {error}" if error else "")
        await self.notify(kind, message)

    # -- one operation at a time -------------------------------------------------------------------------------------

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        if self._open is None:
            raise RunError("This session has not begun, or has ended: use `async with SessionRunner(...)`, or start().")
        with self._alone():
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

    def start_sync(self) -> AgentState:
        """Call ``start`` in an event loop of its own. Raises ``HookMisuseError`` where one already runs."""
        return in_own_loop(self.start(), "await session.start()")

    def send_sync(self, prompt: Any) -> AgentState:
        """Call ``send`` in an event loop of its own."""
        return in_own_loop(self.send(prompt), "await session.send(...)")

    def resume_sync(self, decision: str | HookOutcome) -> AgentState:
        """Call ``resume`` in an event loop of its own."""
        return in_own_loop(self.resume(decision), "await session.resume(...)")

    def activate_sync(self, name: str, arguments: str = "") -> AgentState:
        """Call ``activate`` in an event loop of its own."""
        return in_own_loop(self.activate(name, arguments), "await session.activate(...)")

    def compact_sync(self, instructions: str = "") -> AgentState:
        """Call ``compact`` in an event loop of its own."""
        return in_own_loop(self.compact(instructions), "await session.compact(...)")

    def close_sync(self, reason: str = "other") -> AgentState:
        """Call ``close`` in an event loop of its own."""
        return in_own_loop(self.close(reason), "await session.close()")

    def __enter__(self) -> Self:
        self.start_sync()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close_sync("other" if error is None else "error")
