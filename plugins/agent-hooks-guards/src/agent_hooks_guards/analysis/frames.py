"""The context of a walk: the current shell state, the text being parsed, and the targets of redirections."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Inner
    from agent_hooks_guards.model.values import Data

    from .evaluation import Evaluation
    from .state import State

# Their inner commands run in the current shell.
_IN_THIS_SHELL = frozenset(("eval", "source", ".", "command", "builtin", "exec", "time", "noglob", "nocorrect", "trap"))


class Frame:
    """The context of a node: the shell's state, the text it was parsed from, its stdin and the wrappers around it."""

    __slots__ = ("background", "endless", "is_alone", "running", "state", "stdin", "text", "unknown", "via")

    def __init__(self, state: State, text: str) -> None:
        self.state = state
        self.text = text
        self.stdin: Data | None = None
        self.via: tuple[str, ...] = ()
        self.background = False
        self.endless = False
        # The active functions and scripts, to detect recursion.
        self.running: tuple[str, ...] = ()
        self.is_alone = True
        # The labels of the unknown parts of `text`.
        self.unknown = NO_LABELS

    def copy(self, *, state: State | None = None) -> Frame:
        """Return an independent frame; it shares the state unless another ``state`` is given."""
        new = Frame.__new__(Frame)
        new.state = self.state if state is None else state
        new.text, new.stdin, new.via = self.text, self.stdin, self.via
        new.background, new.endless, new.running = self.background, self.endless, self.running
        new.is_alone, new.unknown = self.is_alone, self.unknown
        return new

    def command(
        self,
        program: str,
        argv: list[str],
        fragment: str,
        labels: dict[int, frozenset[str]] | None = None,
        assignments: dict[str, Data] | None = None,
        stdin: Data | None = None,
    ) -> Command:
        """Return a command that runs in this frame."""
        state = self.state
        where = (state.cwd, self.via, state.host, state.root)
        return Command(program, argv, labels, assignments, stdin, *where, fragment, self.background, self.endless)


class Redirected:
    """The descriptors of a command: data for input, paths for outputs. 1 and 2 are absent if not redirected."""

    __slots__ = ("appends", "named", "stdin", "targets")

    def __init__(self, stdin: Data | None) -> None:
        self.stdin = stdin
        self.targets: dict[int | str, str] = {}
        self.named: dict[int | str, Data | str] = {}
        self.appends: set[str] = set()


def frame_of(walk: Evaluation, each: Inner, command: Command, frame: Frame) -> Frame:
    """Return the frame of an inner command or code of ``command``."""
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
            # A variable that names an inner program does not apply to that program again.
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
