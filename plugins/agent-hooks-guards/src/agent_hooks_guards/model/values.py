"""Values before a command runs: texts with unknown parts, and labels for their origins."""

from __future__ import annotations

from agent_hooks.shell import syntax

# A part of a text that does not follow from the command alone, of any length, maybe empty.
UNKNOWN = syntax.UNKNOWN

# Labels: the origins of a value, kept through variables, pipes, files, arguments and code.
NETWORK = "network"  # another machine, over the network
REMOTE = "remote"  # the output of a program or a file on another machine: ssh, kubectl, docker cp
DECODED = "decoded"  # a decoder: base64, xxd, gunzip, openssl enc, a cipher
SECRET = "secret"  # noqa: S105 - a label
# a file or a store that holds keys or credentials
PERSONAL = "personal"  # a database's dump, a file in which a shell or an agent keeps all that it was told
CREDENTIAL = "credential"  # a variable whose name says that it holds one
ENVIRONMENT = "environment"  # all variables: env, printenv, /proc/self/environ
MOVED = "moved"  # in the command itself: what a folder that is deleted was just given
INPUT = "input"  # a person or a device: read, /dev/tty
PROCESSES = "processes"  # all processes, or all of a user: ps, pgrep
ENDLESS = "endless"  # endless output: yes, /dev/zero, a loop

# Files that never end.
ENDLESS_FILES = frozenset(("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"))

NO_LABELS: frozenset[str] = frozenset()

CONTENT = "the content of"  # what is deleted of a file that stays


class Data(syntax.Record):
    """A text with ``UNKNOWN`` for its unknown parts, and the labels of its origins."""

    __slots__ = ("labels", "text")

    def __init__(self, text: str = "", labels: frozenset[str] = NO_LABELS) -> None:
        self.text = text
        self.labels = labels

    @property
    def is_known(self) -> bool:
        """Whether all of the text is known."""
        return UNKNOWN not in self.text


class Unset(Data):
    """The value of a variable after ``unset``: empty, and replaced by defaults."""

    __slots__ = ()


NOTHING = Data()
ANYTHING = Data(UNKNOWN)
