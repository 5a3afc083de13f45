"""One turn of a loop that is written around its hooks, from the prompt to the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RunStoppedError

from .calling import is_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from .foreign_calls import Ending
    from .guarded_run import GuardedRun


async def run_turn(turn: GuardedRun, prompt: Any, run: Callable[[GuardedRun, Any], Any]) -> Ending:
    """Run a loop to its end, see ``Hooks.run_turn``."""
    with turn.active():
        try:
            prompt = await turn.start(prompt)
        except RunStoppedError:
            return await turn.end(None, may_continue=False)
        while True:
            try:
                output = run(turn, prompt)
                output = await output if hasattr(output, "__await__") else output
            except RunStoppedError:
                return await turn.end(None, may_continue=False)
            except BaseException as error:
                if not is_failure(error) or not await turn.fail(error):
                    raise
                continue
            ending = await turn.end(output)
            if ending.again is None:
                return ending
            prompt = ending.again
