"""What runs in a container or a guest: ``docker run``, ``kubectl exec``, ``lxc exec``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from .unwrapping import joined, operands_from, part, shell, texts, values_as_shell, word, words_from
from .wrappers_remote import CONTAINER, REMOTE, on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


# The program that an image starts with the words behind its name.
_STARTED = {
    "aws-cli": "aws",
    "curl": "curl",
    "flyway": "flyway",
    "helm": "helm",
    "kubectl": "kubectl",
    "liquibase": "liquibase",
    "mc": "mc",
    "opentofu": "tofu",
    "rclone": "rclone",
    "restic": "restic",
    "terraform": "terraform",
    "terragrunt": "terragrunt",
}


def docker(command: Command, options: Options) -> list[Inner]:
    """``docker run image words``, ``docker exec container words``, also of compose, podman and nerdctl."""
    subcommand = options.subcommand
    name = subcommand[-1] if subcommand else ""
    label = f"docker {name}"
    if subcommand == ("machine", "ssh"):
        return on(REMOTE, shell(joined(command, options.operands[1:]), label))
    if subcommand == ("unshare",):
        return operands_from(command, options, 0, label)
    if name not in {"run", "exec", "create", "debug"}:
        return []
    found = operands_from(command, options, 1, label)
    entry = options.values("--entrypoint") if name != "exec" else []
    if entry and entry[-1][0]:
        text, at = entry[-1]
        program = Data(text.strip('[]"'), command.labels.get(at, NO_LABELS))
        found = [texts([program, *(word(command, place) for place in options.operands[1:])], label)]
    elif not found and name in {"run", "exec"} and command.stdin is not None and options.has("-i|--interactive"):
        found = [Inner(language="sh", label=label)]
    elif found and name == "run":
        image = command.argv[options.operands[0]].rpartition("/")[2].partition("@")[0].partition(":")[0]
        if image in _STARTED:
            words = [word(command, place) for place in options.operands[1:]]
            found.append(texts([Data(_STARTED[image]), *words], label))
    found += values_as_shell(command, options, "--health-cmd", label)
    on(CONTAINER, found)
    mounts = {target.rstrip("/"): source for source, target in _mounts(options) if target != "/"}
    for each in found:
        each.mounts = mounts
        each.cwd = options.value("-w|--workdir") or ("/" if name == "run" else None)
        each.clears_environment = True
        for text, at in options.values("-e|--env"):
            key, equals, value = text.partition("=")
            each.assignments[key] = part(command, value if equals else UNKNOWN, at)
    return found + [each for inside in found for each in _on_mounts(command, options, inside)]


def _on_mounts(command: Command, options: Options, inside: Inner) -> list[Inner]:
    """The same words once more for this machine, where they reach into what a container mounts from it."""
    argv = [command.argv[at] for at in inside.words] if inside.words is not None else list(inside.argv or ())
    if not argv:
        return []
    found = []
    for source, target in _mounts(options):
        if source[:1] == "." or not _is_delicate(source, command.cwd):
            continue
        into = [_moved(text, source, target) for text in argv]
        folder = _moved(inside.cwd or "", source, target)
        is_chroot = argv[0].rpartition("/")[2] == "chroot"
        if into == argv and folder == (inside.cwd or ""):
            continue
        if is_chroot and len(into) > 2:  # all of the mounted machine
            into = into[2:] if into[1] == source else into
        found.append(Inner(argv=into, cwd=folder or None, host="", root=True, label=inside.label))
    return found


def _mounts(options: Options) -> list[tuple[str, str]]:
    """Folders of this machine and where they are in the container."""
    found = []
    for text, _ in options.values("-v|--volume"):
        source, _, rest = text.partition(":")
        found.append((source, rest.partition(":")[0]))
    for text, _ in options.values("--mount"):
        fields = dict(field.partition("=")[::2] for field in text.split(","))
        if fields.get("type", "volume") == "bind":
            source = fields.get("source", fields.get("src", ""))
            found.append((source, fields.get("target", fields.get("dst", fields.get("destination", "")))))
    return [
        (source, target)
        for source, target in found
        if source[:1] in {"/", "~", "$", ".", UNKNOWN} and target[:1] == "/"
    ]


def _is_delicate(source: str, cwd: str) -> bool:
    """Whether a mounted folder is something else than what is worked on."""
    return not (cwd and UNKNOWN not in cwd and (source == cwd or source.startswith(cwd.rstrip("/") + "/")))


def _moved(text: str, source: str, target: str) -> str:
    """A text with paths of the container replaced by those of this machine."""
    if target == "/" or target not in text:
        return text
    target = target.rstrip("/")
    made = []
    at = 0
    while True:
        place = text.find(target, at)
        if place < 0:
            break
        end = place + len(target)
        after = text[end : end + 1]
        before = text[place - 1 : place]
        if (not after or not (after.isalnum() or after in "._-")) and not (
            before.isalnum() or before in {"/", ".", "-", "_"}
        ):
            made.append(text[at:place] + (source.rstrip("/") or ("" if after == "/" else "/")))
        else:
            made.append(text[at:end])
        at = end
    return "".join(made) + text[at:]


def kubectl(command: Command, options: Options) -> list[Inner]:
    """``kubectl exec pod -- words``, ``kubectl run name -- words``, ``kubectl debug pod -- words``."""
    name = options.subcommand[0] if options.subcommand else ""
    argv = command.argv
    if name not in {"exec", "rsh", "run", "debug", "node-shell"}:
        return []
    label = f"kubectl {name}"
    if "--" in argv:
        found = words_from(command, argv.index("--") + 1, label)
    elif name in {"exec", "rsh"}:
        found = words_from(command, options.operands[1], label) if len(options.operands) > 1 else []
    else:
        found = []
    if not found and command.stdin is not None and options.has("-i|--stdin") and name != "run":
        found = [Inner(language="sh", label=label)]
    return on(CONTAINER, found)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys("docker podman nerdctl docker-compose podman-compose".split(), docker),
    **dict.fromkeys("kubectl oc kubecolor k microk8s.kubectl".split(), kubectl),
}
