"""The analysis of the text of a command."""

from __future__ import annotations

from agent_hooks.system.caching import lru_cache
from agent_hooks_guards.model.actions import Doubt, Inner, TooMuchError
from agent_hooks_guards.model.values import Data

from .evaluation import Evaluation
from .running import run_code
from .state import Frame, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places.paths import Place

_LONGEST_REMEMBERED = 4096  # characters


def analyse(text: str, place: Place, language: str = "sh") -> Analysis:
    """Return the actions of the command ``text`` in ``place``. ``language``: ``sh``, ``powershell`` or ``cmd``.

    Never raises: anything that cannot be analysed becomes a doubt. The result is cached for other hooks and repeated
    commands; callers must not change it.
    """
    return _remembered(text, place, language) if len(text) <= _LONGEST_REMEMBERED else _analysed(text, place, language)


def _analysed(text: str, place: Place, language: str) -> Analysis:
    if "\r" in text:
        text = text.replace("\r\n", "\n").rstrip("\r")
    walk = Evaluation(place)
    frame = Frame(State(place.cwd, place.home), text)
    try:
        if language == "sh":
            walk.code(text, frame, wants=False)
        else:
            run_code(walk, Inner(language=language, code=Data(text)), frame.command([], text), frame, None)
    except (TooMuchError, RecursionError):
        walk.analysis.doubts.append(Doubt("too-much", text[:200]))
    except Exception:  # noqa: BLE001 - an error of ours is a doubt, too
        walk.analysis.doubts.append(Doubt("unreadable", text[:200]))
    return walk.analysis


_remembered = lru_cache(maxsize=64)(_analysed)
