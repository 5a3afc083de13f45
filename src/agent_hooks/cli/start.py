"""The start of ``agent-hooks run``: it reads the payload, and hands the event over to the warm process if there is one.

Nothing heavy is imported until nobody else answers.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from agent_hooks.system.ancestors import note_host

from .stdin import read_all, read_object
from .supervisor import NoAnswerError, Terminated, pass_on
from .warm_client import VARIABLE, hand_over, socket_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NO_SERVE = "--no-serve"
# Options of earlier versions.
IGNORED = ("--no-plan",)
# Who writes the payload later must wait for more imports: from then on, its deadline and signals must be minded.
_SECONDS = 0.05
# How long to wait for it where the warm process has the imports.
_WARM_SECONDS = 0.5
# How long to wait for it where the command line is wrong, so that nothing else is known.
_PATIENCE_SECONDS = 5.0
# Under these, hosts name the event in a payload, if they do.
_EVENT_KEYS = ("hook_event_name", "hookEventName", "hookName", "interception_point")


class Start:
    """What is known when the decision begins.

    ``at``: when it began, on the monotonic clock. ``parts``: what was read of stdin. ``payload``: the payload, if it is
    whole. ``modules``: those of ``-p``. ``problem``: why the warm process, which took the event, gave no answer.
    """

    def __init__(self) -> None:
        self.at = monotonic()
        self.parts: list[bytes] = []
        self.payload: dict[str, Any] | None = None
        self.modules: tuple[str, ...] = ()
        self.problem: NoAnswerError | Terminated | None = None

    def options(self) -> tuple[str, ...]:
        """Return the event as an option of the command, for whoever must answer and cannot read the payload again."""
        try:
            if self.payload is None and not os.isatty(0):
                self.payload = read_object(read_all(0, self.at + _PATIENCE_SECONDS, self.parts))
            payload = self.payload or {}
            return ("--event", next(str(payload[key]) for key in _EVENT_KEYS if payload.get(key)))
        except Exception:  # noqa: BLE001 - a refusal must not fail
            event = self.stop_event()
            return ("--event", event) if event else ()

    def stop_event(self) -> str:
        """Return the event of a payload that cannot be read, if all that looks like one is a stop, which a refusal
        would make another round; else an empty string.
        """
        if self.payload is not None:
            return ""
        import re

        from agent_hooks_core import load

        pattern = rf'"(?:{"|".join(_EVENT_KEYS)})"\s*:\s*"(\w+)"'
        names = re.findall(pattern, b"".join(self.parts).decode("utf-8", "replace"))
        return names[0] if names and all(map(load("agent_hooks_repair").is_stop, names)) else ""


def start(arguments: list[str]) -> Start:
    """Read the payload, and end the process with the answer if the warm process gives it."""
    begun = Start()
    note_host()
    if os.isatty(0):
        return begun
    try:
        path = "" if NO_SERVE in arguments or os.environ.get(VARIABLE) == "0" else socket_path()
        if path and os.path.lexists(path):
            payload = read_all(0, begun.at + _WARM_SECONDS, begun.parts)
            try:
                answer = hand_over(arguments, payload, begun.at)
            except (NoAnswerError, Terminated) as problem:
                begun.problem = problem
            else:
                if answer is not None:
                    os._exit(pass_on(*answer))
        begun.payload = read_object(read_all(0, begun.at + _SECONDS, begun.parts))
    except Exception as error:  # the payload is late or wrong; signals must be minded while an answer is late
        from agent_hooks.errors import WireError

        if not isinstance(error, WireError):
            raise
    return begun


def use_site() -> None:
    """Import from the environment's folders as well, if Python was started without them."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
