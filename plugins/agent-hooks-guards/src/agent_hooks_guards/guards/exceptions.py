"""Exceptions from rules: narrow, and until a day."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from time import localtime, strftime

from agent_hooks import RegistrationError
from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.kinds import kinds
from agent_hooks_guards.places.paths import Place, absolute
from agent_hooks_guards.places.remotes import read_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date
    from typing import Any

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.rules.matching import Verdict


class RuleException:
    """Lets commands break the rule ``rule`` (an id, or a family's name) if all given conditions hold.

    ``command``: a glob for the command without wrappers, its words separated by single blanks (``git push --force*``).
    ``path``: a glob for the path that is read, written or deleted; for a rule about a command, its working directory.
    ``branch``: a glob for every branch that a git command names, or for the current branch. ``until``: the last day, in
    this machine's time zone, or its text in ISO 8601. ``reason``: a note.

    Paths are compared absolute, with ``~`` for the home folder; ``**`` and ``*`` are the same. Raises
    ``RegistrationError`` unless one of ``command``, ``path`` and ``branch`` is given.
    """

    def __init__(
        self,
        rule: str,
        *,
        command: str = "",
        path: str = "",
        branch: str = "",
        until: date | str | None = None,
        reason: str = "",
    ) -> None:
        if not (command or path or branch):
            raise RegistrationError(
                f"The exception from {rule!r} must be for a command, a path or a branch; to switch the rule off, "
                f'say so in the rules of the shell guard: {{ {rule} = "off" }}.'
            )
        self.rule = rule
        self.command = command
        self.path = path
        self.branch = branch
        self.until = until
        self.reason = reason

    def covers(self, verdict: Verdict, place: Place, at: float | None = None) -> bool:
        """Return whether ``verdict`` passes. ``at``: the time of the call, in seconds since the epoch; None: now."""
        rule = verdict.rule
        # Days in ISO 8601 sort as texts do.
        today = strftime("%Y-%m-%d", localtime(at))
        if self.rule not in (rule.id, rule.family) or (self.until is not None and today > str(self.until)):
            return False
        command: Any = getattr(verdict.action, "command", verdict.action)
        if self.command and not fnmatchcase(words_of(verdict), self.command):
            return False
        if self.path and not self._covers_path(verdict, command, place):
            return False
        names = branches_of(command) if self.branch else []
        return not self.branch or (bool(names) and all(fnmatchcase(name, self.branch) for name in names))

    def _covers_path(self, verdict: Verdict, command: Command, place: Place) -> bool:
        path: str = getattr(verdict.action, "path", "") or getattr(command, "cwd", UNKNOWN)
        glob = absolute(self.path, place.cwd, place.home)
        # Nobody has looked at an unknown path, at several paths, or at another machine's.
        is_open = UNKNOWN in path or not frozenset("*?[").isdisjoint(path) or getattr(command, "host", "") != ""
        return not is_open and (fnmatchcase(path, glob) or (glob.endswith("/**") and path == glob[:-3]))


def is_too_wide(key: str, glob: str) -> bool:
    """Return whether ``glob`` matches nearly everything; as a ``path``, also whether it is a whole machine or home."""
    if not any(char.isalnum() for char in glob):
        return True
    if key != "path":
        return False
    home, here = os.path.expanduser("~"), os.getcwd()
    return not kinds(absolute(glob, here, home), Place(here, home, here)).isdisjoint(("root", "home"))


def words_of(verdict: Verdict) -> str:
    """Return the words of a verdict's command, separated by single blanks, as exceptions name it."""
    command = getattr(verdict.action, "command", verdict.action)
    argv = getattr(command, "argv", None)
    return " ".join(argv) if argv else verdict.fragment


def branches_of(command: Command) -> list[str]:
    """Return the branches that a git command names, else the current one; none if it is not git, is not known, or
    touches more than branches.
    """
    if getattr(command, "program", "") != "git" or command.host:
        return []
    options = command.options
    named = [command.argv[at] for at in options.operands]
    if options.subcommand[:1] == ("push",):
        if options.has("--all|--mirror|--tags|--prune"):
            return []
        named = [name.lstrip("+").rpartition(":")[2] for name in named[1:]]
    elif options.subcommand[:1] != ("branch",):
        named = []
    return [name.removeprefix("refs/heads/") for name in named] or _checked_out(command.cwd)


def _checked_out(folder: str) -> list[str]:
    """Return the branch that is checked out in the repository around ``folder``, if there is one."""
    head = read_git(folder, "HEAD").strip()
    return [head.removeprefix("ref: refs/heads/")] if head.startswith("ref: refs/heads/") else []
