"""Where a walk through a command is, and where the input and the outputs of a command are."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.values import Data

    from .evaluation import Evaluation
    from .state import State

# What these run, they run in the same shell.
_IN_THIS_SHELL = frozenset(("eval", "source", ".", "command", "builtin", "exec", "time", "noglob", "nocorrect", "trap"))


class Frame:
    """Where the walk is: the shell's state, the text being read, what stands around it."""

    __slots__ = ("background", "endless", "is_alone", "running", "state", "stdin", "text", "unknown", "via")

    def __init__(self, state: State, text: str) -> None:
        self.state = state
        self.text = text
        self.stdin: Data | None = None
        self.via: tuple[str, ...] = ()
        self.background = False
        self.endless = False
        # The functions and scripts that are running, for those that call themselves.
        self.running: tuple[str, ...] = ()
        self.is_alone = True
        # Where the parts of the text come from that are not known.
        self.unknown = NO_LABELS

    def copy(self, *, state: State | None = None) -> Frame:
        """Return a frame that changes apart from this one; its state only if one is given."""
        new = Frame.__new__(Frame)
        new.state = self.state if state is None else state
        new.text, new.stdin, new.via = self.text, self.stdin, self.via
        new.background, new.endless, new.running = self.background, self.endless, self.running
        new.is_alone, new.unknown = self.is_alone, self.unknown
        return new


class Redirected:
    """Where a command's input comes from and its outputs go: data, or the paths of files. 1 and 2 are absent where they
    are whatever they were.
    """

    __slots__ = ("appends", "named", "stdin", "targets")

    def __init__(self, stdin: Data | None) -> None:
        self.stdin = stdin
        self.targets: dict[int | str, str] = {}
        self.named: dict[int | str, Data | str] = {}
        self.appends: set[str] = set()


def frame_of(walk: Evaluation, each: Inner, command: Command, frame: Frame) -> Frame:
    """Return the frame of something that ``command`` runs."""
    if command.program in _IN_THIS_SHELL and command.argv[0] == command.program:
        inside = frame.copy()
        state = inside.state
    else:
        state = frame.state.copy()
        inside = frame.copy(state=state)
        state.functions, state.aliases = {}, {}
        for name, data in command.assignments.items():
            state.assign(name, data)
        if command.assignments:
            # What a variable makes a program run is not run by that variable once more.
            state.handed_down = state.handed_down.union(command.assignments) - {each.label}
    if each.label:
        inside.via = (*frame.via, each.label)
    if each.host is not None and each.host != state.host:
        state.mounts = {target: walk.path(source, frame) for target, source in each.mounts.items()}
        state.host = each.host
        state.files = {}
        state.variables, state.arrays = {}, {}
        state.cwd = state.home if each.host == "remote" else UNKNOWN
    if each.clears_environment:
        state.variables, state.arrays = {}, {}
    if not each.hands_down:
        state.handed_down = frozenset()
    for name, data in each.assignments.items():
        state.assign(name, data)
    if each.cwd is not None:
        state.cwd = walk.path(each.cwd, inside)
    if each.root is not None:
        state.root = each.root
    inside.stdin = None
    return inside
