"""The effects of a program, with descriptors, links and mounts resolved."""

from __future__ import annotations

from functools import cache

from agent_hooks_guards.model.actions import Command, Effect
from agent_hooks_guards.model.values import SECRET
from agent_hooks_guards.places.paths import Simplified
from agent_hooks_guards.programs.effects import copies, effects

from .special_files import descriptor_of, is_socket, url_of_socket
from .state import followed
from .writing import keep_written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.values import Data

    from .evaluation import Evaluation
    from .frames import Frame

# These print all files of a folder.
_PACKERS = frozenset(("tar", "zip", "7z", "cpio", "dump", "pax"))


def note_effects(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Record the effects of a command, with the labels of the files that it sends or copies."""
    home = frame.state.home
    found = effects(command, home)
    if not found and command.name not in ("git", "ln"):
        return
    copied = copies(command, found)
    links = frame.state.links
    for effect in found:
        if effect.kind == "write" and effect.path.startswith(("/dev/", "/proc/")):
            _through_descriptor(effect, frame)
        if links and effect.path.startswith("/") and not _is_of_link(effect, links):
            effect.path = followed(effect.path, links)
        for path in effect.files:
            effect.labels |= walk.labels_of_file(path, frame) | walk.labels_of_folder(path, frame)
        if effect.kind == "read":
            effect.labels |= walk.labels_of_file(effect.path, frame)
        walk.analysis.effects.append(on_this_machine(effect, frame.state.mounts) if frame.state.mounts else effect)
    keep_written(walk, command, found, copied, frame)


def _through_descriptor(effect: Effect, frame: Frame) -> None:
    """Replace an open descriptor of the command by its target."""
    number = descriptor_of(effect.path)
    target = frame.state.descriptors.get(number) if number is not None else None
    if number == 1 and target is None:
        target = frame.state.output or None
    if not isinstance(target, str):
        return
    if is_socket(target):
        effect.kind, effect.path = "send", url_of_socket(target)
    elif target[:1] == "/":
        effect.path = target


def _is_of_link(effect: Effect, links: dict[str, str]) -> bool:
    """Whether the effect deletes a link, not its target."""
    return (
        effect.path in links
        and effect.command.name in ("rm", "unlink", "mv")
        and effect.kind == "delete"
        and not isinstance(effect.path, Simplified)
    )


def on_this_machine(effect: Effect, mounts: dict[str, str]) -> Effect:
    """Return ``effect``, on the folder of this machine if a container deletes files in a mount of it."""
    path = effect.path
    target = next((each for each in mounts if path == each or path.startswith(f"{each}/")), None)
    if target is None or effect.kind != "delete":
        return effect
    doer = effect.command
    command = Command(doer.program, doer.argv, doer.labels, cwd=doer.cwd, via=doer.via, fragment=doer.fragment)
    path = f"{mounts[target].rstrip('/')}{path[len(target) :]}" or "/"
    return Effect(effect.kind, path, command, effect.recursive)


@cache
def _output() -> Callable[..., Data]:
    """Return the function that knows the stdout of programs, which is seldom asked for."""
    from agent_hooks_guards.programs.outputs import output

    return output


def printed_by(walk: Evaluation, command: Command, frame: Frame) -> Data:
    """Return the stdout of a program."""

    def is_secret(path: str) -> bool:
        labels = walk.labels_of_file(path, frame)
        return SECRET in (labels | walk.labels_of_folder(path, frame) if command.name in _PACKERS else labels)

    return _output()(command, frame.state.file, is_secret)
