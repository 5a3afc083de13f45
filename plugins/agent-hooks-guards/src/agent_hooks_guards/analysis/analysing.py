"""A command's text in, what it would do out."""

from __future__ import annotations

from functools import lru_cache

from agent_hooks_guards.model.actions import Command, Doubt, TooMuchError
from agent_hooks_guards.model.values import Data

from .evaluation import Evaluation
from .frames import Frame
from .running import run_code
from .state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places.paths import Place

    from .state import Values

_LONGEST_REMEMBERED = 4096  # characters


def analyse(text: str, place: Place, language: str = "sh") -> Analysis:
    """Return what the command ``text`` would do in ``place``. ``language``: ``sh``, ``powershell`` or ``cmd``.

    It never raises: what could not be analysed is a doubt. What it returns is not to be changed: it is remembered for
    when the same is asked again, for several hooks, or since agents repeat themselves.
    """
    return _remembered(text, place, language) if len(text) <= _LONGEST_REMEMBERED else _analysed(text, place, language)


def _analysed(text: str, place: Place, language: str) -> Analysis:
    if "\r" in text:
        text = text.replace("\r\n", "\n").rstrip("\r")
    files: dict[str, Values] = {}
    walk = _walked(text, place, language, files)
    # Who reads from a named pipe waits for what is written to it later.
    written = {path: files[path] for path in walk.pipes if path in files}
    if written:
        walk = _walked(text, place, language, written)
    return walk.analysis


def _walked(text: str, place: Place, language: str, files: dict[str, Values]) -> Evaluation:
    walk = Evaluation(place)
    frame = Frame(State(place.cwd, place.home, files), text)
    try:
        if language == "sh":
            walk.code(text, frame, wants=False)
        else:
            run_code(walk, language, Data(text), Command("", [], cwd=place.cwd, fragment=text), frame)
    except (TooMuchError, RecursionError):
        walk.analysis.doubts.append(Doubt("too-much", text[:200]))
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        walk.analysis.doubts.append(Doubt("unreadable", text[:200]))
    return walk


_remembered = lru_cache(maxsize=64)(_analysed)
