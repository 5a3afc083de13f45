"""A hook that asks a language model whether an event is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks import HookAction, RegistrationError
from agent_hooks.engine.origins import ORIGIN, origin_of_making, shortened

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import Driver, HookContext, HookOutcome
    from agent_hooks.formats.entry import HookEntry

    from .verdicts import Verdicts


class PromptHook(HookAction):
    """A rule in plain words, and a model that judges events by it: a gate for any event with something to decide.

    ``PromptHook("Is this command harmless?")``, as a hook of ``AgentBuilder`` or the action of a ``HookRegistration``.
    A no is a deny, with the model's reason; at a stop it sends the agent on. Whatever is no clear answer is a failure
    of the hook: ``on_failure`` of its registration says what becomes of that.

    ``driver``: who is asked; else ``model`` (``"openai:…"``, ``"haiku"``), else what the ``preset`` stands for.
    ``timeout``: seconds for the answer. ``cache``: within a session, ask only once about what looks the same in every
    respect. ``continue_on_block``: False ends the run with a tool call that is refused. Raises ``RegistrationError``
    for settings that do not fit.
    """

    mode = "gate"

    def __init__(
        self,
        prompt: str,
        *,
        model: str | None = None,
        preset: str = "fast",
        driver: Driver | None = None,
        timeout: float = 30.0,
        cache: bool = False,
        continue_on_block: bool = True,
    ) -> None:
        if not prompt.strip():
            raise RegistrationError("prompt: a judge needs a rule to judge by.")
        if not 0 < timeout < float("inf"):
            raise RegistrationError(f"timeout: a number of seconds above 0, not {timeout!r}.")
        if model is not None and driver is not None:
            raise RegistrationError("model: the driver has a model; give one of them.")
        if model is not None:
            from agent_hooks.runtime.judges import model_id

            model_id(model)  # whose it is must be known before it is needed
        self.prompt = prompt
        self.__name__ = f"prompt:{shortened(prompt)}"  # its name unless it gets one
        setattr(self, ORIGIN, origin_of_making(self))
        self.model = model
        self.preset = preset
        self.driver = driver
        self.timeout = timeout
        self.continue_on_block = continue_on_block
        self._verdicts: Verdicts | None = None
        if cache:
            from .verdicts import Verdicts

            self._verdicts = Verdicts()

    def execute(self, ctx: HookContext) -> Any:
        """Return what the model's verdict decides: at once, or where an event loop runs as an awaitable.

        Raises ``HandlerError`` where there is no verdict.
        """
        from agent_hooks.formats.entry import HookEntry

        return self.judge(HookEntry(event=ctx.event, type="prompt", source="code"), ctx)

    def judge(self, entry: HookEntry, ctx: HookContext) -> Any:
        """Do the same for the entry of a file."""
        import asyncio

        from agent_hooks.engine.calling import in_event_loop

        return self._later(entry, ctx) if in_event_loop() else asyncio.run(self._judged(entry, ctx))

    async def _later(self, entry: HookEntry, ctx: HookContext) -> HookOutcome | None:
        import asyncio

        await asyncio.sleep(0)  # a sync dispatch gives up here, before anything was asked
        return await self._judged(entry, ctx)

    async def _judged(self, entry: HookEntry, ctx: HookContext) -> HookOutcome | None:
        from agent_hooks.handlers.judging import STOPS, TOO_LONG, check_judged, event_shown, is_too_long, outcome_of
        from agent_hooks.runtime.judges import judge_driver

        from .asking import Question, ask
        from .settings import PromptsSettings

        check_judged(entry)
        event = event_shown(entry, ctx)
        if is_too_long(event):
            return outcome_of(TOO_LONG, entry, ctx)
        driver = self.driver or judge_driver(self.model, self.preset, ctx, PromptsSettings)
        question = Question(self.prompt, event, may_be_impossible=ctx.event in STOPS)
        verdict = self._verdicts.get(ctx, driver.model, question) if self._verdicts is not None else None
        if verdict is None:
            verdict = await ask(driver, question, self.timeout)
            if self._verdicts is not None:
                self._verdicts.keep(ctx, driver.model, question, verdict)
        return outcome_of(verdict, entry, ctx, ends_turn=not self.continue_on_block)
