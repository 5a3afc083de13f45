"""What a piece of code that a command carries would do: its processes, its files, its network."""

from __future__ import annotations

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.values import ANYTHING, UNKNOWN

# In a value's labels: read from the file of this path. Whether that is a secret is for who knows the places.
FILE = "file:"
# In a value's labels: read from the input of the command that runs the code.
STDIN = "stdin"

# The longest code that is looked at, in characters.
LONGEST_CODE = 256 * 1024

_MODULES = {
    **{name: name for name in ("python", "awk", "sed", "make")},
    **dict.fromkeys("node perl ruby php lua".split(), "scripts"),
    **dict.fromkeys(("vim", "ed"), "editors"),
    **dict.fromkeys("other applescript c crystal go groovy java julia r rust tcl".split(), "other"),
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.values import Data


class Found(Record):
    """What a code would do, as far as it can be told without running it.

    ``shells``: texts it gives to a shell. ``programs``: the words of what it starts without a shell, ``UNKNOWN`` in
    them where they are not known. ``effects``: kind, path (or URL), whether recursive, labels, method: as in
    ``Effect``, the path not yet absolute; the method of a ``write`` that keeps what is there is ``append``. ``codes``:
    texts it runs as code, with their language. ``doubts``: what could not be analysed and runs something. ``files``:
    what it writes, by path. ``origins``: where words of ``programs`` come from, by the program's and the word's
    position. ``inputs``: what programs read, by their position. ``output``: what it prints.
    """

    __slots__ = ("codes", "doubts", "effects", "files", "inputs", "origins", "output", "programs", "shells")

    def __init__(self, doubts: list[str] | None = None) -> None:
        self.shells: list[Data] = []
        self.programs: list[list[str]] = []
        self.effects: list[tuple[str, str, bool, frozenset[str], str]] = []
        self.codes: list[tuple[str, Data]] = []
        self.doubts = [] if doubts is None else doubts
        self.files: dict[str, Data] = {}
        self.origins: dict[tuple[int, int], frozenset[str]] = {}
        self.inputs: dict[int, Data] = {}
        self.output = ANYTHING


def scan(
    language: str,
    code: Data,
    arguments: list[str],
    stdin: Data | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Return what ``code`` would do. Never raises.

    ``arguments``: ``$0``, ``$1`` … of it; ``stdin``: its input; ``variables``: of its environment, as far as they are
    known.
    """
    module = _MODULES.get(language)
    if module is None:
        return Found(doubts=[f"code in {language or 'an unknown language'} is not looked at"])
    if len(code.text) > LONGEST_CODE:
        return Found(doubts=["the code is longer than what is looked at"])
    if code.text == UNKNOWN:
        return Found(doubts=["the code is not known"])
    from importlib import import_module

    text = stdin.text if stdin is not None and stdin.is_known else None
    scanner = import_module(f"{__name__}.{module}")
    try:
        found: Found = scanner.scan(code.text, code.labels, arguments, language, text, variables)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return Found(doubts=["the code could not be looked at"])
    return found
