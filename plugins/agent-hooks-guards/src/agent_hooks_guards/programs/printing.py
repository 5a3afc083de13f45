"""The input of a command that prints: its operands, its files, its stdin."""

from __future__ import annotations

from agent_hooks_guards.model.declarations import declarations
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

_FOLDERS_OF_PROGRAMS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/")


class Printing:
    """A command, with access to what its stdout is made of.

    ``files`` returns the known content of an absolute path, or None; ``is_secret`` tells whether one holds keys or
    credentials.
    """

    __slots__ = ("command", "files", "is_secret", "options")

    def __init__(
        self, command: Command, files: Callable[[str], Data | None] | None, is_secret: Callable[[str], bool] | None
    ) -> None:
        self.command = command
        self.options = command.options
        self.files = files
        self.is_secret = is_secret

    @property
    def words(self) -> list[str]:
        """The operands, subcommands excluded."""
        return [self.command.argv[at] for at in self.options.operands]

    @property
    def inputs(self) -> list[str]:
        """The operands without the pattern or the script in front of them."""
        pattern = declarations().get(self.command.name).get("pattern")
        return self.words if pattern is None or self.options.has(pattern) else self.words[1:]

    def path(self, word: str) -> str:
        """Return the absolute path of a file; a ``~`` that is left in ``word`` was quoted."""
        return absolute(f"./{word}" if word.startswith("~") else word, self.command.cwd, "")

    def stdin(self) -> Data:
        """Return the standard input."""
        stdin = self.command.stdin
        return Data(UNKNOWN, frozenset((INPUT,))) if stdin is None else stdin

    def file(self, word: str) -> Data:
        """Return the content of a file."""
        if word in STREAMS:
            return self.stdin()
        path = self.path(word)
        known = self.files(path) if self.files is not None else None
        if known is not None:
            return known
        if path == "/dev/null":
            return NOTHING
        labels = frozenset((SECRET,)) if self.is_secret is not None and self.is_secret(path) else NO_LABELS
        # A copy of a program does the same as the program.
        if path.startswith(_FOLDERS_OF_PROGRAMS):
            labels |= {f"file:{path}"}
        if path in ENDLESS_FILES:
            labels |= {ENDLESS}
        if path.startswith("/proc/") and path.endswith("/environ"):
            labels |= {ENVIRONMENT}
        return Data(UNKNOWN, labels)

    def input(self) -> Data:
        """Return the content of the files that the operands name, or the standard input."""
        words = self.inputs
        if len(words) < 2:
            return self.file(words[0]) if words else self.stdin()
        found = [self.file(word) for word in words]
        return Data(bounded("".join(data.text for data in found)), NO_LABELS.union(*(data.labels for data in found)))
