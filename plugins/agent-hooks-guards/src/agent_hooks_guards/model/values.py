"""Values as they are known before anything has run: texts with holes, and where they come from."""

from __future__ import annotations

from .record import Record

# In every text: something that cannot be known from the command alone, of any length, none included.
UNKNOWN = "\ue000"

# Where a value comes from. It goes along with it through variables, pipes, files, arguments and code.
NETWORK = "network"  # somebody else's machine
REMOTE = "remote"  # what a program prints, or a file holds, where ssh, kubectl and docker cp lead
DECODED = "decoded"  # a decoder: base64, xxd, gunzip, openssl enc, a cipher
SECRET = "secret"  # noqa: S105 - a label
# a file or a store that holds keys or credentials
CREDENTIAL = "credential"  # a variable whose name says that it holds one
ENVIRONMENT = "environment"  # all variables: env, printenv, /proc/self/environ
INPUT = "input"  # a person or a device: read, /dev/tty
PROCESSES = "processes"  # all processes, or all of somebody: ps, pgrep
ENDLESS = "endless"  # what never ends: yes, /dev/zero, a loop

# Files that never end.
ENDLESS_FILES = frozenset(("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"))

NO_LABELS: frozenset[str] = frozenset()


class Data(Record):
    """A text, with ``UNKNOWN`` in it where it is not known, and where it comes from."""

    __slots__ = ("labels", "text")

    def __init__(self, text: str = "", labels: frozenset[str] = NO_LABELS) -> None:
        self.text = text
        self.labels = labels

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is unknown."""
        return UNKNOWN not in self.text


class Unset(Data):
    """The value of a variable after ``unset``: nothing, in whose place a default stands."""

    __slots__ = ()


NOTHING = Data()
ANYTHING = Data(UNKNOWN)
