"""What runs on another machine or in a container: ``ssh``, ``docker``, ``kubectl``, the clouds' own commands for it."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command as Outer
from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import NO_LABELS, Data

from .unwrapping import joined, part, shell, split, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

REMOTE = "remote"
CONTAINER = "container"
# Settings of ssh whose value a shell of this machine runs.
_SSH_SETTINGS = frozenset("proxycommand localcommand knownhostscommand".split())


def on(host: str | None, found: list[Inner]) -> list[Inner]:
    """The same, on another machine or in a container."""
    for each in found:
        each.host = host
    return found


def ssh_settings(command: Command, options: Options, label: str) -> list[Inner]:
    """What ``-o ProxyCommand=text`` and the like run on this machine."""
    found: list[Inner] = []
    for text, at in options.values("-o"):
        name, equals, value = text.strip().partition("=")
        if not equals:
            name, _, value = text.strip().partition(" ")
        if name.strip().lower() == "remotecommand":
            found += on(REMOTE, shell(part(command, value.strip(), at), label))
        elif name.strip().lower() in _SSH_SETTINGS and value.strip().lower() != "none":
            host = command.argv[options.operands[0]] if options.operands else "host"
            text = value.strip().strip('"').replace("%h", host.rpartition("@")[2])
            found += shell(part(command, text, at), label)
    return found


def ssh(command: Command, options: Options) -> list[Inner]:
    """``ssh host words``: a shell there runs them, and without any what comes in."""
    found = ssh_settings(command, options, "ssh")
    if options.has("-V|-Q|-G") or options.value("-O") is not None:
        return found
    there = shell(joined(command, options.operands[1:]), "ssh") if not options.has("-s") else []
    if not there and options.operands and command.stdin is not None and not options.has("-N|-W|-n|-f|-s"):
        there = [Inner(language="sh", label="ssh")]
    host = command.argv[options.operands[0]] if options.operands else ""
    for each in on(REMOTE, there):
        each.root = "root@" in host or options.value("-l") == "root" or None
    return found + there


def mosh(command: Command, options: Options) -> list[Inner]:
    """``mosh host -- words``."""
    found = values_as_shell(command, options, "--ssh|--client", "mosh")
    places = [at for at in options.operands[1:] if command.argv[at] != "--"]
    return found + on(REMOTE, [Inner(words=places, label="mosh")] if places else [])


def scp(command: Command, options: Options) -> list[Inner]:
    """``scp -S program``, ``sftp -D text``, and ``!`` lines of what ``sftp`` reads."""
    found = ssh_settings(command, options, command.name)
    found += values_as_shell(command, options, "-S|-D", command.name)
    if command.name == "sftp" and command.stdin is not None:
        found += _escapes(command.stdin, "sftp")
    return found


def _escapes(data: Data, label: str) -> list[Inner]:
    """Lines that begin with ``!`` are for a shell of this machine."""
    lines = [line.strip().lstrip("-@") for line in data.text.replace(";", "\n").split("\n")]
    return [each for line in lines if line[:1] == "!" for each in shell(Data(line[1:], data.labels), label)]


def ftp(command: Command, options: Options) -> list[Inner]:
    """``!`` lines of what ``ftp`` and ``lftp`` read, ``lftp -e text``."""
    found: list[Inner] = []
    for text, at in options.values("-e|-c"):
        found += _escapes(part(command, text, at), command.name)
    if command.stdin is not None:
        found += _escapes(command.stdin, command.name)
    return found


def rsync(command: Command, options: Options) -> list[Inner]:
    """``rsync -e text``; ``--rsync-path`` is run by the other side's shell."""
    found: list[Inner] = []
    for text, at in options.values("-e|--rsh"):
        words = split(text)
        if words[:1] == ["ssh"]:  # with a host that rsync adds
            found += ssh_settings(Outer("ssh", words, _labels(words, command, at)), parse("ssh", words), "rsync")
        else:
            found += shell(part(command, text, at), "rsync")
    return found + on(REMOTE, values_as_shell(command, options, "--rsync-path", "rsync"))


def _labels(words: list[str], command: Command, at: int) -> dict[int, frozenset[str]]:
    labels = command.labels.get(at)
    return dict.fromkeys(range(len(words)), labels) if labels else {}


def rclone(command: Command, options: Options) -> list[Inner]:
    """``rclone --password-command text``."""
    return values_as_shell(command, options, "--password-command|--sftp-ssh|--metadata-mapper", "rclone")


def behind(host: str | None, skip: int, *words: str) -> Handler:
    """``words`` of a subcommand, then ``skip`` operands, then a program's words."""

    def handler(command: Command, _options: Options) -> list[Inner]:
        argv = command.argv
        at = 1
        for wanted in words:
            while at < len(argv) and argv[at][:1] == "-":
                at += 1
            if at >= len(argv) or argv[at] not in wanted.split("|"):
                return []
            at += 1
        label = f"{command.name} {' '.join(argv[at - 1 : at])}" if words else command.name
        if "--" in argv[at:]:
            return on(host, words_from(command, argv.index("--", at) + 1, label))
        places: list[int] = []
        while at < len(argv):
            if argv[at][:1] == "-" and not places:
                at += 2 if "=" not in argv[at] and argv[at] in _VALUED else 1
                continue
            places = list(range(at, len(argv)))
            break
        rest = places[skip:]
        return on(host, [Inner(words=rest, label=label)] if rest else [])

    return handler


# Options with values of programs that only have to be passed over.
_VALUED = frozenset(
    "-n --name -u --user -e --env --cwd -D --workdir -c --container -p -l -i -o -P -f -w -g -x -t -s --group"
    " --mode --project -r --root -b --bind -B --image -a --namespace --workspace-folder --config --container-id"
    " -j --setenv -E -M -H --uid --gid -job -task".split()
)


def gcloud(command: Command, options: Options) -> list[Inner]:
    """``gcloud compute ssh host --command text``."""
    if not options.subcommand or options.subcommand[-1] != "ssh":
        return []
    found = values_as_shell(command, options, "--command", "gcloud ssh")
    if options.ended and not found:
        found = shell(joined(command, [at for at in options.operands if at > command.argv.index("--")]), "gcloud ssh")
    return on(REMOTE, found)


def aws(command: Command, options: Options) -> list[Inner]:
    """``aws ssm send-command --parameters commands=…``, ``aws ecs execute-command --command text``."""
    if options.subcommand == ("ecs", "execute-command"):
        return on(CONTAINER, values_as_shell(command, options, "--command", "aws ecs"))
    if options.subcommand != ("ssm", "send-command"):
        return []
    found: list[Inner] = []
    for text, at in options.values("--parameters|--cli-input-json"):
        for each in _commands(text):
            found += shell(part(command, each, at), "aws ssm")
    return on(REMOTE, found)


def _commands(text: str) -> list[str]:
    """The commands of ``{"commands": ["…"]}`` and of ``commands=["…"]``."""
    import json

    name, equals, rest = text.partition("=")
    try:
        if equals and name.strip() == "commands":
            try:
                found = json.loads(rest)
            except ValueError:
                return [rest.strip('[]"')]
        else:
            found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(found, dict):
        found = found.get("commands") or (found.get("Parameters") or {}).get("commands")
    return (
        [each for each in found if isinstance(each, str)] if isinstance(found, list) else [str(found)] if found else []
    )


def az(command: Command, options: Options) -> list[Inner]:
    """``az vm run-command invoke --scripts text``, ``az container exec --exec-command text``."""
    found = values_as_shell(command, options, "--scripts|--exec-command", "az")
    if options.has("--scripts"):
        found += [each for at in options.operands for each in shell(word(command, at), "az")]
    return on(REMOTE, found)


def gh(command: Command, options: Options) -> list[Inner]:
    """``gh codespace ssh -- words``, ``gh alias set name '!text'``."""
    argv = command.argv
    if options.subcommand[:2] in {("codespace", "ssh"), ("cs", "ssh")}:
        return on(REMOTE, shell(joined(command, options.operands), "gh codespace ssh"))
    if options.subcommand == ("alias", "set") and len(options.operands) > 1:
        at = options.operands[1]
        if options.has("-s|--shell") or argv[at][:1] == "!":
            return shell(part(command, argv[at].lstrip("!"), at), "gh alias")
        return [texts([Data(each, command.labels.get(at, NO_LABELS)) for each in ("gh", *split(argv[at]))], "gh alias")]
    return []


def ansible(command: Command, options: Options) -> list[Inner]:
    """``ansible hosts -m shell -a text``."""
    module = (options.value("-m|--module-name") or "command").rpartition(".")[2]
    if module not in {"command", "shell", "raw", "win_shell", "win_command"}:
        return []
    found = values_as_shell(command, options, "-a|--args", f"ansible {module}")
    hosts = command.argv[options.operands[0]] if options.operands else ""
    is_here = hosts in {"localhost", "127.0.0.1"} or options.value("-c|--connection") == "local"
    return found if is_here else on(REMOTE, found)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys("ssh slogin autossh dbclient".split(), ssh),
    "mosh": mosh,
    "scp": scp,
    "sftp": scp,
    "ftp": ftp,
    "lftp": ftp,
    "rsync": rsync,
    "rclone": rclone,
    "gcloud": gcloud,
    "aws": aws,
    "az": az,
    "gh": gh,
    "ansible": ansible,
}
