"""The results of one pass over Python code: effects, programs, printed text; its input; a limit on the work."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .python_names import Scope
from .python_values import Value, is_text, items_of, labels_of, text_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

_MOST_STEPS = 50_000
MOST_STEPS_OF_A_LOOP = 4_000
_MOST_FOUND = 300
_ANY_LINES = f"{UNKNOWN}\n"


class TooMuchError(Exception):
    """The code is deeper, longer or does more than is looked at."""


class Findings:
    """The results, and what is known of the surroundings.

    ``found`` is the result; ``arguments`` is ``sys.argv``; ``labels``: where the code comes from; ``stdin``: its input,
    if that is known; ``variables``: the known variables of the environment. ``environment`` and ``cwd``: the variables
    that the code sets, and the folder that it goes to; ``contents``: of the files that it writes. ``endless``: how many
    loops without an end it is in; ``running``: which functions; ``uncalled``: functions that nothing called yet, with
    their first arguments; ``has_choices``: whether a name or a conditional expression may have several values.
    """

    def __init__(
        self, arguments: list[str], labels: frozenset[str], stdin: str | None, variables: dict[str, Data]
    ) -> None:
        self.found = Found()
        self.arguments = arguments
        self.labels = labels
        self.stdin = stdin
        self.variables = variables
        self.environment: dict[str, Value] = {}
        self.cwd: str = ""
        self.contents: dict[str, Value] = {}
        self.endless = 0
        self.scope = Scope()
        self.running: list[ast.AST] = []
        self.uncalled: dict[ast.AST, tuple[Value, list[Value]]] = {}
        self.has_choices = False
        # The work of each function, and how much was found after it.
        self.spent: dict[ast.AST, tuple[int, int]] = {}
        # The branches that conditional expressions take in this combination.
        self.taken: dict[ast.AST, bool] = {}
        self._prints: list[Data] = []
        self._steps = 0
        self._known: set[object] = set()

    def is_new(self, item: object) -> bool:
        """Whether this was not found yet."""
        if item in self._known:
            return False
        if len(self._known) > _MOST_FOUND:
            raise TooMuchError
        self._known.add(item)
        return True

    def effect(
        self, kind: str, path: str, *, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Record an effect."""
        item = (kind, path, recursive, labels, method)
        if self.is_new(item):
            self.found.effects.append(item)

    def doubt(self, text: str) -> None:
        """Record something that runs and could not be analysed."""
        if self.is_new(("doubt", text)):
            self.found.doubts.append(text)

    def path(self, value: Value) -> str:
        """Return the path that a value names."""
        text = text_of(value)
        return f"{self.cwd}/{text}" if self.cwd and not text.startswith(("/", "~")) else text

    def echo(self, value: Value) -> None:
        """Record printed text."""
        self.step(value)
        self._prints.append(Data(text_of(value), labels_of(value)))

    def may_print(self) -> None:
        """Record that anything may be printed here."""
        if not self._prints or self._prints[-1].text != _ANY_LINES:
            self._prints.append(Data(_ANY_LINES))

    def output(self) -> Data:
        """Return the printed text; code that was not seen to print may do so in a way of its own."""
        labels = self.labels.union(*(each.labels for each in self._prints))
        return Data("".join(each.text for each in self._prints) if self._prints else UNKNOWN, labels)

    def input(self, *, is_line: bool = False) -> Value:
        """Return the input, or a line of it."""
        is_known = self.stdin is not None and not (is_line and "\n" in self.stdin[:-1])
        return Value(self.stdin if is_known else UNKNOWN, frozenset((STDIN,)))

    def items(self, value: Value) -> list[Value]:
        """Return the items that iteration over a value gives; one that is not known if they are not."""
        if (value.type == "name" and value.it.startswith("sys.stdin")) or STDIN in value.labels:
            value = value if is_text(value) else self.input()
            value = wrap(text_of(value).splitlines(keepends=True), value.labels) if value.it != UNKNOWN else value
        found = items_of(value)
        return found or [Value(UNKNOWN, labels_of(value))]

    def step(self, value: Value | None = None) -> None:
        """Count work: one step, and more for a value that is long."""
        it = value.it if value is not None else ""
        self._steps += 1 + (len(it) // (64 if isinstance(it, (str, bytes)) else 8) if hasattr(it, "__len__") else 0)
        if self._steps > _MOST_STEPS:
            raise TooMuchError

    def work(self) -> tuple[int, int]:
        """Return the work so far, and how much was found."""
        return self._steps, len(self._known)

    def is_idle(self, start: tuple[int, int]) -> bool:
        """Whether a loop has gone on for long since ``start`` and found nothing new."""
        return self._steps - start[0] > MOST_STEPS_OF_A_LOOP and len(self._known) == start[1]
