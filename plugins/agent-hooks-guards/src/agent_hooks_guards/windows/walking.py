"""What the walks through PowerShell and cmd have in common: what they found, and what files hold by then."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Doubt, Effect
from agent_hooks_guards.model.values import NO_LABELS, SECRET, Data
from agent_hooks_guards.places.kinds import kinds
from agent_hooks_guards.places.paths import Place


class WindowsWalk:
    """``commands``, ``effects``, ``doubts``: what was found, in the order in which it was met."""

    def __init__(self, cwd: str, home: str) -> None:
        self.cwd = cwd
        self.home = home
        self.commands: list[Command] = []
        self.effects: list[Effect] = []
        self.doubts: list[Doubt] = []
        self.files: dict[str, Data] = {}  # written on the way

    def absolute(self, path: str) -> str:
        """Return the path as it is from the folder that the walk is in."""
        raise NotImplementedError

    def doubt(self, kind: str, fragment: str, labels: frozenset[str] = NO_LABELS) -> None:
        """Tell what could not be analysed, once."""
        doubt = Doubt(kind, fragment[:500], labels)
        if doubt not in self.doubts:
            self.doubts.append(doubt)

    def add(
        self,
        kind: str,
        path: str,
        command: Command,
        *,
        recursive: bool = False,
        append: bool = False,
        labels: frozenset[str] = NO_LABELS,
        method: str = "",
    ) -> None:
        """Tell an effect."""
        if kind in ("read", "write", "delete", "change") or (kind == "run" and path and "://" not in path):
            path = self.absolute(path)
        self.effects.append(Effect(kind, path, command, recursive, append, labels, method))

    def keep(self, path: str, content: Data) -> None:
        """Remember what a file was given."""
        self.files[self.absolute(path).lower()] = content

    def kept(self, path: str) -> Data | None:
        """What a file was given on the way."""
        return self.files.get(self.absolute(path).lower()) if path else None


def settled(effects: list[Effect], cwd: str, home: str) -> list[Effect]:
    """``effects``, with ``secret`` for labels of files that hold one."""
    place = Place(cwd, home)
    for effect in effects:
        files = [label for label in effect.labels if label.startswith("file:")]
        if files:
            is_secret = any("secret" in kinds(label[5:], place) for label in files)
            effect.labels = effect.labels.difference(files) | ({SECRET} if is_secret else NO_LABELS)
    return effects
