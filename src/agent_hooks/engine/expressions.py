"""Regular expressions that no text makes run for long, whoever wrote them."""

from __future__ import annotations

from agent_hooks.errors import RegistrationError
from agent_hooks.model.policy import TIGHTENING_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Search = Callable[[str], Any]

MAX_SUBJECT = 4096  # characters of text that an expression is tried on
# The same for one of several repetitions that is searched without RE2: its time grows with each of them.
MAX_QUICK_SUBJECT = 200
MAX_REPETITIONS = 3
# Constructs for which a project's regular expression needs RE2.
_SLOW = frozenset("(){}\\")

# Flags of ``re``, by the letters that RE2 has for them.
_FLAGS = {"i": 2, "m": 8, "s": 16}
_VERBOSE = 64

# The parts of an expression that repeat, or that hold something to repeat. Behind an `x` flag or a comment, the
# repeated part does not stand right before its repetition.
_PARTS = (
    r"(?P<plain>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<odd>\(\?(?:#|[a-zA-Z-]*x))"
    r"|(?P<open>\(\??)"
    r"|(?P<close>\))"
    r"|(?P<choice>\|)"
    r"|(?P<repetition>(?:[*+?]|\{[0-9]*,?[0-9]*\})[?+]?)"
    r"|(?P<other>.)"
)


def bounded_search(pattern: str, called: str, source: str, *, is_quick: bool, flags: int = 0) -> tuple[Search, int]:
    """Return the function that searches a text for ``pattern``, and the most characters that such a text may have.

    ``called``: its name in errors. ``is_quick``: a project or a skill may use it without RE2. Of all others, one that
    repeats a part with a repetition or a choice in it is left to RE2. ``flags``: those of ``re``. Raises
    ``RegistrationError`` if it does not compile, or needs RE2 where that is not installed or does not know it.
    """
    if flags & _VERBOSE:
        pattern, flags = _without_layout(pattern), flags & ~_VERBOSE
    if source in TIGHTENING_ONLY:
        if is_quick:
            return _python(pattern, called, flags), MAX_QUICK_SUBJECT
        search = _re2(pattern, called, flags)
        if search is None:
            raise RegistrationError(
                f"{called} is a regular expression that may run for long, which a {source} may use only with RE2, "
                "whose running time is bounded: list the names, separated by |, or install agent-hooks-core[re2]."
            )
        return search, MAX_SUBJECT
    plain = _python(pattern, called, flags)
    count, is_nested = _repetitions(pattern)
    if count <= MAX_REPETITIONS and not is_nested:
        return plain, MAX_SUBJECT if count <= 1 else MAX_QUICK_SUBJECT
    why = "is not installed: install agent-hooks-core[re2]"
    try:
        search = _re2(pattern, called, flags)
    except RegistrationError:  # it does not know all of Python's
        search, why = None, "does not know all that is in it"
    if search is not None:
        return search, MAX_SUBJECT
    if is_nested:
        raise RegistrationError(
            f"{called} repeats what has a repetition or a choice in it, so looking for it may take for ever: write it "
            f"without that. RE2, whose running time is bounded, {why}."
        )
    return plain, MAX_QUICK_SUBJECT


def is_surely_quick(pattern: str) -> bool:
    """Whether a regular expression cannot run for long on 200 characters: no groups, few repetitions."""
    return _SLOW.isdisjoint(pattern) and sum(map(pattern.count, "*+?")) <= MAX_REPETITIONS


def _without_layout(pattern: str) -> str:
    """Return a verbose expression without the blanks and comments that do not count in it."""
    import re

    parts = r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\))|\s+|#[^\n]*"
    return re.sub(parts, lambda part: part[1] or "", pattern, flags=re.DOTALL)


def _repetitions(pattern: str) -> tuple[int, bool]:
    """Return the number of repetitions in an expression, and whether one of them repeats a repetition or choice."""
    import re

    count, is_nested = 0, False
    groups = [False]  # of each that is open, whether it has one
    has_one = False  # whether the part before has one
    for part in re.finditer(_PARTS, pattern, re.DOTALL):
        what, before, has_one = part.lastgroup, has_one, False
        if what == "odd":
            return count, True
        if what == "open":
            groups.append(False)
        elif what == "close" and len(groups) > 1:
            has_one = groups.pop()
            groups[-1] = groups[-1] or has_one
        elif what in ("choice", "repetition"):
            groups[-1] = True
        if what == "repetition":
            count += 1
            is_nested = is_nested or (before and not part.group().startswith("?"))
    return count, is_nested


def _python(pattern: str, called: str, flags: int) -> Search:
    import re

    try:
        return re.compile(pattern, flags).search
    except (re.error, OverflowError) as error:
        raise RegistrationError(f"{called} is not a regular expression: {error}.") from error
    except RecursionError:
        raise RegistrationError(f"{called[:80]}... has too many brackets in each other.") from None


def _re2(pattern: str, called: str, flags: int) -> Search | None:
    """Return the RE2 module, None if it is not installed."""
    import re
    from importlib import import_module

    try:
        engine: Any = import_module("re2")
    except ImportError:
        return None
    options = engine.Options()
    options.log_errors = False  # it would write to stderr
    # Its `$` is the end of the text, and it knows no \Z.
    ours = re.sub(r"\\(.)", lambda escape: "$" if escape[1] == "Z" else escape[0], pattern, flags=re.DOTALL)
    letters = "".join(letter for letter, flag in _FLAGS.items() if flags & flag)
    ours = f"(?{letters}){ours}" if letters else ours
    try:
        return engine.compile(ours, options).search  # type: ignore[no-any-return]
    except engine.error as error:
        said = error.args[0] if error.args else error
        problem = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        raise RegistrationError(f"{called} is not a regular expression for RE2: {problem}.") from error
