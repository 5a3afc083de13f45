"""The repositories and registries that a project pushes to, by the settings of its Git repository."""

from __future__ import annotations

import os

from agent_hooks.shell.patterns import Pattern
from agent_hooks.system.paths import folders_above
from agent_hooks.trust.gate.locations import read_text
from agent_hooks_guards.model.values import UNKNOWN

from .credentials import host_of, registered_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_hooks_guards.model.actions import Command

_URL = Pattern(r"(?im)^[ \t]*(?:push)?url[ \t]*=[ \t]*(\S+)")
_SET_URL = Pattern(r"(?i)remote\.(.+)\.(?:push)?url|url\.(.+)\.(?:push)?insteadof")
_ADDRESS = Pattern(r"(?!file:)(?:\w[\w+.-]*://\S+|[^/:\s]+:\S+)")
# Registries in which anybody may have a folder of the name that their repositories have elsewhere.
_SHARED = (".docker.io", ".ghcr.io", ".quay.io", ".gcr.io", ".pkg.dev", ".amazonaws.com", ".azurecr.io", ".gitlab.com")
_PORT = Pattern(r":\d+(?=/)")


def read_git(folder: str, name: str) -> str:
    """Return a text in the ``.git`` of the repository around ``folder``, of its worktree if it is one; "" without."""
    around = (folder, *folders_above(folder)) if os.path.isabs(folder) else ()
    git = next((path for each in around if os.path.exists(path := os.path.join(each, ".git"))), "")
    if not git:
        return ""
    if os.path.isfile(git):  # a worktree names its folder
        git = os.path.join(os.path.dirname(git), read_text(git).removeprefix("gitdir:").strip())
    shared = os.path.join(git, read_text(os.path.join(git, "commondir")).strip()) if name == "config" else git
    return read_text(os.path.join(shared, name))


def _remotes(folder: str) -> list[str]:
    """Return the remotes of the repository around ``folder``, each as ``host/owner/name``."""
    return [*map(_spelled, _URL.findall(read_git(folder, "config")))]


def _spelled(url: str) -> str:
    rest = _PORT.sub("", url.rpartition("://")[2].rpartition("@")[2]).replace(":", "/", 1)
    return rest.lower().rstrip("/").removesuffix(".git")


def is_foreign(command: Command, commands: Sequence[Command]) -> bool:
    """Return whether ``command`` pushes to a repository or a registry that its project does not know.

    ``commands``: all commands of the line, of which earlier ones may set the addresses of remotes. A registry is known
    if it is of the same site as a remote or has the name of its owner; a shared one, if the image is in a folder of
    that name.
    """
    known = _remotes(command.cwd)
    if command.program == "git":
        found = map(_spelled, _pushed_to(command, commands))
        return any(UNKNOWN not in each and each not in known for each in found)
    words = [command.argv[at] for at in command.options.operands]
    if command.options.has("--push"):
        words = [value for value, _ in command.options.values("-t|--tag")]
    elif command.program == "oras":  # the image, and files
        words = [word for word in words if word != "push"][:1]
    owners = {each.split("/")[1] for each in known if "/" in each}
    sites = {registered_name(each.partition("/")[0]) for each in known} | {owner.upper() for owner in owners}
    for image in words if command.options.has("--push") else words[-1:]:
        first, *others = image.rpartition("://")[2].lower().split("/")
        host = host_of(first) if "." in first or ":" in first or first == "localhost" else ""
        is_shared = not host or f".{host}".endswith(_SHARED)
        is_known = not owners.isdisjoint((first, *others[:-1])) if is_shared else registered_name(host) in sites
        if others and not (is_known or first[:1] == UNKNOWN or host in ("localhost", "127.0.0.1", "::1")):
            return True
    return False


def _pushed_to(push: Command, commands: Sequence[Command]) -> Iterator[str]:
    """Yield the addresses that ``git push`` may push to, as far as the line names them."""
    target = push.options.value("--repo") or "".join([push.argv[at] for at in push.options.operands[:1]])
    settings = [value.partition("=")[::2] for value, _ in push.options.values("-c|--config")]
    for each in commands[: commands.index(push)] if push in commands else ():
        words = [each.argv[at] for at in each.options.operands]
        if each.program == "git" and len(words) > 1:
            is_remote = each.options.subcommand[:2] in (("remote", "add"), ("remote", "set-url"))
            settings.append((f"remote.{words[0]}.url" if is_remote else words[-2], words[-1]))
    named = [(match, value) for key, value in settings if (match := _SET_URL.fullmatch(key))]
    found = [match[2] or value for match, value in named if match[2] or target in ("", match[1])]
    yield from filter(_ADDRESS.fullmatch, [target, *found])
