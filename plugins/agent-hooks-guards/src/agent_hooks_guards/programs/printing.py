"""A command that prints, and how to get at what it reads."""

from __future__ import annotations

from agent_hooks_guards.model.values import (
    ENDLESS,
    ENDLESS_FILES,
    ENVIRONMENT,
    INPUT,
    NO_LABELS,
    NOTHING,
    SECRET,
    UNKNOWN,
    Data,
)
from agent_hooks_guards.places.paths import absolute

from .formats import bounded
from .noting import STREAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options


FOLDERS_OF_PROGRAMS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/")


class Printing:
    """A command that prints, and how to get at what it reads."""

    __slots__ = ("command", "files", "is_secret", "options")

    def __init__(
        self,
        command: Command,
        options: Options,
        files: Callable[[str], Data | None] | None,
        is_secret: Callable[[str], bool] | None,
    ) -> None:
        self.command = command
        self.options = options
        self.files = files
        self.is_secret = is_secret

    def operands(self, first: int = 0) -> list[str]:
        """The words that are no options, without the ``first`` ones."""
        argv = self.command.argv
        return [argv[at] for at in self.options.operands[first:]]

    def path(self, word: str) -> str:
        """The file that a word names; what is left of ``~`` in it was quoted."""
        return absolute(f"./{word}" if word.startswith("~") else word, self.command.cwd, "")

    def stdin(self) -> Data:
        """What the command reads from its input."""
        stdin = self.command.stdin
        return Data(UNKNOWN, frozenset((INPUT,))) if stdin is None else stdin

    def file(self, word: str) -> Data:
        """What a file holds that a word names."""
        if word in STREAMS:
            return self.stdin()
        path = self.path(word)
        known = self.files(path) if self.files is not None else None
        if known is not None:
            return known
        if path == "/dev/null":
            return NOTHING
        labels = frozenset((SECRET,)) if self.is_secret is not None and self.is_secret(path) else NO_LABELS
        # A copy of a program does what the program does.
        if path.startswith(FOLDERS_OF_PROGRAMS):
            labels |= {f"file:{path}"}
        if path in ENDLESS_FILES:
            labels |= {ENDLESS}
        if path.startswith("/proc/") and path.endswith("/environ"):
            labels |= {ENVIRONMENT}
        return Data(UNKNOWN, labels)

    def input(self, first: int = 0) -> Data:
        """What the command reads: the files that its operands from ``first`` on name, or its input."""
        words = self.operands(first)
        if not words:
            return self.stdin()
        if len(words) == 1:
            return self.file(words[0])
        found = [self.file(word) for word in words]
        return Data(bounded("".join(data.text for data in found)), NO_LABELS.union(*(data.labels for data in found)))

    def filtered(self, made: str | None, data: Data, *labels: str) -> Data:
        """``made`` of ``data``; None is not known."""
        return Data(UNKNOWN if made is None else bounded(made), data.labels.union(labels))
