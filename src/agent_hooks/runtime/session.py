"""The session: one conversation of one agent, turn by turn, with the events around its runs."""

from __future__ import annotations

import logging
import os
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agent_hooks.engine.calling import is_failure
from agent_hooks.errors import RefusedError, RunError, SuspensionError, traceback_of
from agent_hooks.model.events import HookEvent
from agent_hooks.model.state import AgentState, Message, Usage
from agent_hooks.model.values import written
from agent_hooks.sources.skills import Skill

from .agent import AgentRuntime, checked_state, in_own_loop
from .boundaries import Boundaries, in_session, refusal
from .compaction import (
    Thresholds,
    checked_summary,
    divided,
    divided_turn,
    summarised,
    summary_in,
    summary_message,
    without_prompt,
)
from .conversations import FileConversations
from .interceptors import finished
from .loop import AgentRun, check_asyncio
from .messages import hook_message
from .pausing import WAITING, Resumption, closed
from .skill_activation import SessionSkills, skill_message
from .skill_state import active_skill, with_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Any, Self

    from agent_hooks.model.outcome import HookOutcome

    from .compaction import Compactor
    from .conversations import ConversationStore

logger = logging.getLogger("agent_hooks.runtime")

# What of a state hooks may bring where there is no run.
_BROUGHT = ("messages", "metadata", "system_prompt", "response_format")


class SessionRunner:
    """Runs an agent in turns over one conversation, and lets hooks decide about what happens around them.

    ``async with SessionRunner(agent) as session: state = await session.send("Hello.")``; without ``async``, ``with``
    and ``send_sync``. ``session_id`` (default: the agent's, or a new one) names the conversation. ``store`` keeps it
    (default: nobody). ``scope`` is what hooks see as ``ctx.scope`` (default: the agent's). ``skills`` are ``Skill``
    objects, and paths as in ``AgentBuilder.with_skills``: their hooks are live while the session runs;
    ``trusted_skills`` says that you answer for the files. ``config`` is what hooks of ``setup`` are shown. A
    conversation of ``compact_at`` messages or ``compact_at_tokens`` tokens is shortened before the next turn, and
    before the next step of a long one, by ``compactor(messages, instructions)``, which returns a summary (default: the
    agent's model writes it). Tokens are those that the model reports, else one for four bytes.

    ``state`` is the conversation as it now is. Raises ``RunError`` for settings that do not fit.
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
        _check_parts(agent, store, compactor, skills)
        if compact_at is not None and (type(compact_at) is not int or compact_at < 2):
            raise RunError(f"compact_at is a number of messages from 2, not {compact_at!r}.")
        if compact_at_tokens is not None and (type(compact_at_tokens) is not int or compact_at_tokens < 1):
            raise RunError(f"compact_at_tokens is a number of tokens from 1, not {compact_at_tokens!r}.")
        if not isinstance(session_id or "", str):
            raise RunError(f"A session id is a text, not {session_id!r:.80}.")
        self.session_id = session_id or agent.session_id or os.urandom(8).hex()
        hooks = in_session(agent.interceptor, self.session_id)
        self.agent = agent._with(hooks=hooks, session_id=self.session_id, scope=agent.scope if scope is None else scope)
        self.state = AgentState()
        self._store = store
        self._config = config
        self._thresholds = Thresholds(compact_at, compact_at_tokens)
        self._is_measured = False  # whether what the last step has reported is the size of the conversation
        self._compactor = compactor
        self._skills = SessionSkills(skills, self.session_id, are_trusted=trusted_skills, agents=agent.skills)
        self._boundaries = Boundaries(self.agent)
        self._open: AsyncExitStack | None = None
        self._is_at_work = False
        self._end_reason = "other"
        self._is_kept = store is not None  # not where the stored conversation could not be read
        self._settled = self.state  # saved, or kept from being saved
        self._spent = self._boundaries.spent  # on summaries, and by hooks, since the last turn

    def __repr__(self) -> str:
        state = self.state
        how = state.status if self._open is not None else "closed"
        return f"<SessionRunner {self.session_id!r} of {self.agent.name!r}: {how}, {len(state.messages)} messages>"

    # -- beginning and ending ----------------------------------------------------------------------------------------

    async def start(self) -> AgentState:
        """Begin the session: read the stored conversation, if there is one, and return the state.

        Raises ``RefusedError`` if a hook refuses it, ``StoreError`` if the conversation cannot be read, and what
        ``register_skill`` raises.
        """
        if self._open is not None:
            raise RunError("This session has begun already.")
        check_asyncio()
        before = self.state
        try:
            with self._alone():
                await self._starts()
        except BaseException:
            self.state = before
            raise
        self._settled = self.state  # what hooks had to say is worth nothing without a turn
        return self.state

    async def _starts(self) -> None:
        self._end_reason = "error"
        async with AsyncExitStack() as undo:
            self._skills.register(self.agent.interceptor)
            undo.callback(self._skills.unregister)
            self.agent = self.agent._with(tools=self._skills.with_tool(self.agent.tools.values()))
            self._boundaries.agent = self.agent
            await self._tell(HookEvent.SETUP, config=self._config, trigger="init")
            definition = {
                "name": self.agent.name,
                "model": self.agent.driver.model,
                "tools": list(self.agent.tools),
            }
            said = [await self._gate(HookEvent.BEFORE_AGENT, definition=definition)]
            undo.push_async_callback(finished, self.agent.interceptor, "")
            undo.push_async_callback(self._tell, HookEvent.AFTER_AGENT, definition=definition)
            source = "startup"
            if self._store is not None:
                outcome = await self._ask(HookEvent.BEFORE_CONVERSATION_LOAD)
                said.append(outcome)
                if await self._loads(self._store, outcome, undo):
                    source = "resume"
            for outcome in said:
                self._hears(outcome)
            undo.push_async_callback(self._ends)
            await self._begins(source)
            self._open = undo.pop_all()

    async def _loads(self, store: ConversationStore, outcome: HookOutcome, undo: AsyncExitStack) -> bool:
        """Read the stored conversation, if hooks let it be read; return whether there was one."""
        if outcome.decision in WAITING:
            raise refusal(HookEvent.BEFORE_CONVERSATION_LOAD, outcome)
        # What is stored must not be replaced by a conversation that does not know of it.
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
            await self._goes_on_in_skill()
        await self._tell(HookEvent.AFTER_CONVERSATION_LOAD, message_count=len(self.state.messages))
        return stored is not None

    async def _goes_on_in_skill(self) -> None:
        """See that the session has the skill that was active. Raises ``RunError`` where a turn of it waits."""
        skill = self.active_skill
        if skill is None:
            return
        if self.state.suspended is not None:
            self._skills.check(skill)
        elif not self._skills.has(skill):
            self.state = with_skill(self.state, None)
            await self._warn("skill_gone", f"The session has no skill {skill!r} any more, so it is not active.")

    async def _begins(self, source: str) -> None:
        store = self._store
        path = store.path(self.session_id) if isinstance(store, FileConversations) else ""
        outcome = await self._ask(HookEvent.SESSION_START, source=source, transcript_path=path)
        if outcome.state is not None:
            try:
                self.state = self.state.replace(**_brought(outcome.state))
            except (TypeError, ValueError) as error:
                why = type(error).__name__
                logger.warning("agent_hooks: the state brought on session_start is none, and is dropped: %s", why)
        if outcome.blocks:
            self._end_reason = "refused"
            raise refusal(HookEvent.SESSION_START, outcome)
        self._hears(outcome)

    async def _ends(self) -> None:
        await self._tell(HookEvent.SESSION_END, end_reason=self._end_reason)

    async def close(self, reason: str = "other") -> AgentState:
        """End the session, and return its last state; what was not saved is saved first. ``reason`` is what hooks of
        ``session_end`` are told. Nothing happens if it has ended. Raises ``StoreError`` if the conversation cannot be
        saved; the session has ended all the same.
        """
        with self._alone():
            if self._open is None:
                return self.state
            opened, self._open, self._end_reason = self._open, None, reason
            async with opened:
                self._counts_spent()
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
        """Let the agent work on ``prompt`` in this conversation, and return the state, as ``AgentRuntime.run`` does.

        A turn that has to wait for an answer ends with the status ``suspended``: see ``resume``. Raises
        ``RefusedError`` if a hook refuses the prompt (``PromptRefusedError``) or the turn; then the conversation is as
        it was. Raises ``StoreError`` if it cannot be saved; then the turn is in ``state``, and saved with the next.
        """
        if prompt is None:
            raise RunError("There is nothing to send: a prompt is None.")
        with self._at_work():
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer: call session.resume(decision) or abandon().")
            self.state = await self._compacts_by_itself(self.state, is_measured=self._is_measured)
            return await self._turn(self._run(prompt))

    async def resume(self, decision: str | HookOutcome) -> AgentState:
        """Answer what the turn waits for and go on with it, also in another process than the one in which it began.

        ``decision`` is as in ``AgentRuntime.resume``, which says what is raised; ``RefusedError`` if that is the end of
        the prompt or of the turn.
        """
        with self._at_work():
            paused = self.state.suspended
            if paused is None:
                raise SuspensionError("The session does not wait for an answer: send a prompt.")
            answer = Resumption(paused, decision, self.agent.store)
            return await self._turn(self._run(paused.prompt, answer))

    async def abandon(self) -> AgentState:
        """Give up the turn that waits, as ``AgentRuntime.abandon`` does, and return the state.

        That is also the way out where the answer was used up and the process ended before the turn could be saved: the
        model is then told that nobody knows what the call did. Raises ``SuspensionError`` if no turn waits.
        """
        with self._at_work():
            paused = self.state.suspended
            try:
                self.state = self.agent.abandon(self.state)
            except SuspensionError:
                if paused is None:
                    raise
                # Nobody else has this conversation, so nobody goes on with it.
                why = "The run was given up; whether it had gone on with an answer is not known."
                self.state = closed(self.state, paused.replace(made=max(paused.made, 1)), why)
            await self._ends_turn()
            return self.state

    def _run(self, prompt: Any, answer: Resumption | None = None) -> AgentRun:
        run = AgentRun(self.agent, self.state, prompt, answer, in_turn=True, skill=self.active_skill)
        run.compact = partial(self._compacts_by_itself, is_measured=True, in_turn=True)
        return run

    async def _turn(self, run: AgentRun) -> AgentState:
        before, skill = self.state, self.active_skill
        try:
            async for _state in run:
                pass
        except RefusedError:
            earlier = before.model_usage if before.suspended is not None else {}
            self._spent += [
                (model, usage - earlier.get(model, Usage())) for model, usage in run.state.model_usage.items()
            ]
            if before.suspended is not None:
                # The answer is used up, and what waited for it is refused: nothing waits any more.
                # A prompt that waited itself was not in the conversation yet.
                is_let_in = before.suspended.event == HookEvent.BEFORE_TURN
                left = without_prompt(before) if is_let_in else before
                self.state = left.replace(suspended=None, status="stopped")
                self._counts_spent()
                await self._save()
            else:
                self._counts_spent()
            raise
        except SuspensionError:
            # An answer that does not fit takes nothing away: the turn still waits.
            if before.suspended is None:
                self._takes(run, skill)
            raise
        except BaseException:
            self._takes(run, skill)
            raise
        self._takes(run, skill)
        if self.state.suspended is not None:
            await self._notify("agent_needs_input", self.state.suspended.reason)
            await self._save()
        elif run.prompt is not None and self.state.messages == before.messages:
            await self._save()  # stopped at the prompt: there was no turn
        else:
            await self._ends_turn()
        return self.state

    def _takes(self, run: AgentRun, skill: str | None) -> None:
        """Take the state that a run has come to."""
        # A run that activates a skill says so itself; a prompt that was refused leaves it as it was.
        self.state = with_skill(run.state, run.place.get("skill", skill))
        self._is_measured = True
        self._counts_spent()

    async def _ends_turn(self) -> None:
        skill, self.state = self.active_skill, with_skill(self.state, None)
        about = {} if skill is None else {"skill": skill}
        count, status = len(self.state.messages), self.state.status
        await self._tell(HookEvent.AFTER_TURN, message_count=count, status=status, **about)
        await self._notify("agent_completed", f"{self.agent.name}: {status}")
        await self._save()

    # -- the conversation --------------------------------------------------------------------------------------------

    async def compact(self, instructions: str = "") -> AgentState:
        """Replace all but the last exchange by a summary, and return the state. ``instructions`` say what matters.

        Nothing happens where there is nothing to shorten, or a hook refuses it. Raises ``SuspensionError`` while a turn
        waits, and ``RunError`` and whatever the driver or the compactor raises if there is no summary.
        """
        with self._at_work():
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer, and goes on with the conversation as it is.")
            try:
                self.state = await self._compacts(self.state, "manual", instructions)
            finally:
                self._counts_spent()
            await self._save()
            return self.state

    def _counts_spent(self) -> None:
        for model, usage in self._spent:
            self.state = self.state.with_model_usage(model, usage)
        self._spent.clear()

    async def _compacts_by_itself(self, state: AgentState, *, is_measured: bool, in_turn: bool = False) -> AgentState:
        """Return the state with a conversation that is shortened if it is too long and that is possible."""
        if not self._thresholds.is_reached(state, is_measured=is_measured):
            return state
        try:
            return await self._compacts(state, "auto", "", in_turn=in_turn)
        except BaseException as error:
            if not is_failure(error):
                raise
            self._thresholds.failed(state)
            why = f"It cannot be shortened: {type(error).__name__}: {written(error)}".removesuffix(": ")
            await self._warn("conversation_not_compacted", why, type(error).__name__)
            if logger.isEnabledFor(logging.DEBUG):
                logger.debug("agent_hooks: session %s: %s", self.session_id, traceback_of(error))
            return state

    async def _compacts(
        self, state: AgentState, trigger: str, instructions: str, *, in_turn: bool = False
    ) -> AgentState:
        """Return the state with the conversation shortened, if there is anything to shorten and no hook refuses it."""
        old, before, after = divided_turn(state.messages) if in_turn else (*divided(state.messages), ())
        if not old or (trigger == "auto" and not self._thresholds.is_worth(old)):
            return state
        about = {
            "message_count": len(state.messages),
            "trigger": trigger,
            "payload": {"custom_instructions": instructions or None},
        }
        outcome = await self._boundaries.ask(HookEvent.BEFORE_COMPACT, state, **about)
        if outcome.blocks:
            await self._keeps_back(HookEvent.BEFORE_COMPACT, "conversation_not_compacted", outcome)
            return state
        wanted = "\n\n".join(filter(None, (instructions, outcome.context)))
        if self._compactor is None:
            ctx = self._boundaries.context(HookEvent.BEFORE_COMPACT, state, **about)
            response = await summarised(self.agent, ctx, old, wanted)
            self._spent.append((response.model, response.usage))
            summary = summary_in(response)
        else:
            made: Any = self._compactor(old, wanted)
            summary = checked_summary(await made if hasattr(made, "__await__") else made)
        shown = summary_message(summary)
        messages = (*before, shown, *after) if in_turn else (shown, *before)
        state = state.replace(messages=messages)
        self._thresholds.succeeded()
        self._is_measured = False
        await self._boundaries.tell(HookEvent.AFTER_COMPACT, state, message_count=len(messages), trigger=trigger)
        return state

    async def save(self) -> AgentState:
        """Save the conversation now, and return the state; after each turn that is done without being asked for.

        A hook that refuses it is logged and told (``notification``). Raises ``StoreError`` if it cannot be saved.
        """
        with self._at_work():
            await self._save()
            return self.state

    async def _save(self) -> None:
        if self._store is None or not self._is_kept:
            return
        count = len(self.state.messages)
        outcome = await self._ask(HookEvent.BEFORE_CONVERSATION_SAVE, message_count=count)
        self._counts_spent()
        if outcome.blocks:
            self._settled = self.state
            await self._keeps_back(HookEvent.BEFORE_CONVERSATION_SAVE, "conversation_not_saved", outcome)
            return
        self._hears(outcome)
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
        the next turn ``ctx.skill`` is its name. Another one that is active is not any more.

        Raises ``RefusedError`` if a hook refuses it, ``RunError`` for a skill that the session does not have or that
        has no text, ``TrustError`` for the text of a file if the application does not answer for it, and
        ``SuspensionError`` while a turn waits.
        """
        with self._at_work():
            if self.state.suspended is not None:
                raise SuspensionError("The session waits for an answer: call session.resume(decision) or abandon().")
            text = self._skills.text(name, arguments)
            about = {"skill": name, "skill_name": name, "arguments": arguments}
            outcome = await self._gate(HookEvent.BEFORE_SKILL_ACTIVATION, **about)
            self.state = with_skill(self.state.with_messages(skill_message(name, text)), name)
            self._hears(outcome)
            await self._tell(HookEvent.AFTER_SKILL_ACTIVATION, **about, result=text)
            return self.state

    # -- telling and asking ------------------------------------------------------------------------------------------

    async def notify(self, kind: str, message: str) -> None:
        """Fire ``notification``: ``kind`` is what matches are tried on, ``message`` is for a person."""
        await self._notify(kind, message)

    def answer(self, event: str, decision: str | HookOutcome) -> None:
        """Answer what was refused with the words that it waits: the same, tried again, is asked about anew, and the
        hook that asked or suspended gets the answer. Raises ``SuspensionError`` if nothing waits at ``event``.
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

    def _hears(self, outcome: HookOutcome) -> None:
        """Let the model know what hooks had to say."""
        said = (hook_message(outcome.context),) if outcome.context else ()
        if outcome.messages or said:
            self.state = self.state.with_messages(*outcome.messages, *said)

    async def _keeps_back(self, event: HookEvent, kind: str, outcome: HookOutcome) -> None:
        await self._warn(kind, str(refusal(event, outcome)))

    async def _warn(self, kind: str, why: str, error: str = "") -> None:
        logger.warning("agent_hooks: session %s: %s%s", self.session_id, kind, f": {error}" if error else "")
        await self._notify(kind, why)

    async def _notify(self, kind: str, message: str) -> None:
        await self._tell(HookEvent.NOTIFICATION, notification_type=kind, message=message)

    # -- one thing at a time -----------------------------------------------------------------------------------------

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        if self._open is None:
            raise RunError("This session has not begun, or has ended: use `async with SessionRunner(...)`, or start().")
        with self._alone():
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._check_is_free()
        self._is_at_work = True
        try:
            yield
        finally:
            self._is_at_work = False

    def _check_is_free(self) -> None:
        if self._is_at_work:
            raise RunError("This session is in the middle of something: wait for that first.")

    # -- without an event loop ---------------------------------------------------------------------------------------

    def start_sync(self) -> AgentState:
        """Do what ``start`` does, in an event loop of its own. Raises ``HookMisuseError`` where one already runs."""
        return in_own_loop(self.start(), "await session.start()")

    def send_sync(self, prompt: Any) -> AgentState:
        """Do what ``send`` does, in an event loop of its own."""
        return in_own_loop(self.send(prompt), "await session.send(...)")

    def resume_sync(self, decision: str | HookOutcome) -> AgentState:
        """Do what ``resume`` does, in an event loop of its own."""
        return in_own_loop(self.resume(decision), "await session.resume(...)")

    def activate_sync(self, name: str, arguments: str = "") -> AgentState:
        """Do what ``activate`` does, in an event loop of its own."""
        return in_own_loop(self.activate(name, arguments), "await session.activate(...)")

    def compact_sync(self, instructions: str = "") -> AgentState:
        """Do what ``compact`` does, in an event loop of its own."""
        return in_own_loop(self.compact(instructions), "await session.compact(...)")

    def close_sync(self, reason: str = "other") -> AgentState:
        """Do what ``close`` does, in an event loop of its own."""
        return in_own_loop(self.close(reason), "await session.close()")

    def __enter__(self) -> Self:
        self.start_sync()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close_sync("other" if error is None else "error")


def _brought(state: AgentState) -> dict[str, Any]:
    """Return what a state from a hook brings. Raises ``TypeError`` or ``ValueError`` if no conversation can have it."""
    if not all(isinstance(message, Message) for message in state.messages):
        raise TypeError("its messages are no Message objects")
    dict(state.metadata)
    return {name: getattr(state, name) for name in _BROUGHT}


def _check_parts(agent: Any, store: Any, compactor: Any, skills: Any) -> None:
    """Raise ``RunError`` for what is no agent, store, compactor or list of skills, saying what it should be."""
    if not isinstance(agent, AgentRuntime):
        built = " Call build() on the builder." if callable(getattr(agent, "build", None)) else ""
        raise RunError(f"A session runs an AgentRuntime, not {agent!r:.80}.{built}")
    lacking = [name for name in ("load", "save", "release") if not callable(getattr(store, name, None))]
    if store is not None and (lacking or isinstance(store, type)):
        raise RunError(f"{store!r:.80} is no ConversationStore: it needs the async methods load, save and release.")
    if compactor is not None and not callable(compactor):
        raise RunError(
            f"compactor is called with (messages, instructions) and returns a summary: {compactor!r:.80} is not."
        )
    if isinstance(skills, (str, os.PathLike, Skill)):
        raise RunError(f"skills is a list: SessionRunner(agent, skills=[{skills!r:.80}]).")
