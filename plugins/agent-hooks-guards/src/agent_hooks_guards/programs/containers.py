"""``docker`` and ``nsenter``: commands in containers, and the folders of this machine that they mount."""

from __future__ import annotations

import re

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, REMOTE, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, is_carried

from .noting import is_remote
from .transfers import arrive
from .unwrapping import joined, operands_from, part, shell, texts, values_as_shell, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

# The programs that images start with the arguments behind their names.
_STARTED = {name: name for name in "curl flyway helm kubectl liquibase mc rclone restic terraform terragrunt".split()}
_STARTED |= {"aws-cli": "aws", "opentofu": "tofu"}


def _docker(command: Command, options: Options) -> list[Inner]:
    """``docker run image arguments``, ``docker exec container arguments``, also of compose, podman and nerdctl."""
    name = options.subcommand[-1] if options.subcommand else ""
    label = f"docker {name}"
    if options.subcommand == ("machine", "ssh"):
        found = shell(joined(command, options.operands[1:]), label)
        for inner in found:
            inner.host = "remote"
        return found
    if name == "unshare":
        return operands_from(command, options, 0, label)
    if name not in {"run", "exec", "create", "debug"}:
        return []
    found = _started(command, options, name, label) + values_as_shell(command, options, "--health-cmd", label)
    mounts = _mounts(options)
    for inner in found:
        inner.host = "container"
        inner.mounts = {target.rstrip("/"): source for source, target in mounts if target != "/"}
        inner.cwd = options.value("-w|--workdir") or ("/" if name == "run" else None)
        inner.clears_environment = True
        for text, at in options.values("-e|--env"):
            key, equals, value = text.partition("=")
            inner.assignments[key] = part(command, value if equals else UNKNOWN, at)
    return found + [each for inner in found for each in _on_mounts(command, mounts, inner)]


def _started(command: Command, options: Options, name: str, label: str) -> list[Inner]:
    """Return the programs that are started in the container."""
    found = operands_from(command, options, 1, label)
    rest = [word(command, at) for at in options.operands[1:]]
    entry = options.values("--entrypoint") if name != "exec" else []
    if entry and entry[-1][0]:
        text, at = entry[-1]
        return [texts([Data(text.strip('[]"'), command.labels.get(at, NO_LABELS)), *rest], label)]
    if found and name == "run":
        image = command.argv[options.operands[0]].rpartition("/")[2].partition("@")[0].partition(":")[0]
        if image in _STARTED:
            found.append(texts([Data(_STARTED[image]), *rest], label))
    elif not found and name in {"run", "exec"} and command.stdin is not None and options.has("-i|--interactive"):
        found = [Inner(language="sh", label=label)]
    return found


def _mounts(options: Options) -> list[tuple[str, str]]:
    """Return folders of this machine and where they are in the container."""
    found = []
    for text, _ in options.values("-v|--volume"):
        source, _, rest = text.partition(":")
        found.append((source, rest.partition(":")[0]))
    for text, _ in options.values("--mount"):
        fields = dict(field.partition("=")[::2] for field in text.split(","))
        if fields.get("type", "volume") == "bind":
            source = fields.get("source", fields.get("src", ""))
            found.append((source, fields.get("target", fields.get("dst", fields.get("destination", "")))))
    # A name without a slash is a volume of the engine's own.
    return [each for each in found if each[0][:1] in {"/", "~", "$", ".", UNKNOWN} and each[1][:1] == "/"]


def _on_mounts(command: Command, mounts: list[tuple[str, str]], inner: Inner) -> list[Inner]:
    """Return the same arguments once more for this machine, where they reach into folders mounted from it."""
    argv = [command.argv[at] for at in inner.words] if inner.words is not None else list(inner.argv or ())
    cwd = command.cwd
    found = []
    for source, target in mounts if argv else ():
        is_work = cwd and UNKNOWN not in cwd and f"{source}/".startswith(f"{cwd.rstrip('/')}/")
        if source[:1] == "." or is_work:
            continue
        into = [_moved(text, source, target) for text in argv]
        folder = _moved(inner.cwd or "", source, target)
        if into == argv and folder == (inner.cwd or ""):
            continue
        if argv[0].rpartition("/")[2] == "chroot" and len(into) > 2 and into[1] == source:  # all of the machine
            into = into[2:]
        found.append(Inner(argv=into, cwd=folder or None, host="", root=True, label=inner.label))
    return found


def _moved(text: str, source: str, target: str) -> str:
    """Return a text with paths of the container replaced by those of this machine."""
    target = target.rstrip("/")
    if not target or target not in text:
        return text
    folder = source.rstrip("/")
    text = re.sub(rf"(?<![\w/.-]){re.escape(target)}(?=/)", lambda _: folder, text)
    return re.sub(rf"(?<![\w/.-]){re.escape(target)}(?![\w.-])", lambda _: folder or "/", text)


def _nsenter(command: Command, options: Options) -> list[Inner]:
    """``nsenter arguments``; without any, a shell. The namespaces of the first process are the machine's."""
    found = operands_from(command, options, 0, "nsenter")
    if not found and command.stdin is not None:
        found = [Inner(language="sh", label="nsenter")]
    if options.value("-t|--target") == "1" or options.has("-a|--all"):
        for inner in found:
            inner.host = ""
            inner.root = True
    return found


def _effects(noting: Noting) -> None:
    """``docker login``, ``docker cp``, ``kubectl cp``: of a copy, one side is in the container."""
    words = noting.operands()
    subcommand = noting.options.subcommand[-1:]
    if subcommand == ("login",):
        labels = as_login(noting.labels)
        if is_carried(labels):
            noting.send((words or ["docker.io"])[0], labels=labels)
    elif subcommand == ("cp",) and len(words) > 1:
        if is_remote(words[0]):
            arrive(noting, words[0], words[1], frozenset((REMOTE,)), recursive=True)
        else:
            noting.file("read", words[0], recursive=True)


EFFECTS = {"docker": _effects, "docker compose": _effects, "kubectl": _effects}
INNER = {"docker": _docker, "docker compose": _docker, "nsenter": _nsenter}
