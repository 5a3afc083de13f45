"""``ssh``, ``scp``, ``sftp``, ``rsync``, ``rclone``: programs that work on another machine or copy to and from one."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command as Outer
from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS, UNKNOWN, Data

from .connections import parts_of_address
from .noting import COMES, STREAMS, inside, is_folder, is_remote, last_name, url_of
from .unwrapping import joined, part, shell, split, values_as_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

# Settings of ssh whose value a shell of this machine runs.
_SSH_COMMANDS = frozenset("proxycommand localcommand knownhostscommand".split())
# The options that settings of ssh, in lower case, stand for.
_SSH_SETTINGS = {"hostname": "", "proxyjump": "-J", "localforward": "-L", "remoteforward": "-R"}
_PUTS = frozenset("put mput reput append send".split())
_GETS = frozenset("get mget reget recv mirror".split())


def _settings(options: Options) -> list[tuple[str, str, int]]:
    """Return the names, in lower case, the values and the positions of the settings of ``-o``."""
    found = []
    for text, at in options.values("-o"):
        name, _, value = text.strip().replace("=", " ", 1).partition(" ")
        found.append((name.lower(), value.strip(), at))
    return found


def _ssh(noting: Noting) -> None:
    words = noting.operands()
    if words:
        # Credentials in the command line of the other machine have a rule of their own.
        labels = (noting.command.labels_of() - {CREDENTIAL}) | noting.input_labels
        noting.connect(url_of(words[0], "ssh"), labels)
    _note_hops(noting, noting.options)


def _note_hops(noting: Noting, options: Options) -> None:
    """Note the hosts that OpenSSH goes by, and those that it connects others to."""
    given = [(name, value) for name, value in options.given if value]
    given += [(_SSH_SETTINGS[name], value) for name, value, _ in _settings(options) if name in _SSH_SETTINGS]
    for name, value in given:
        if name in ("", "-W"):
            noting.receive(value)
        elif name == "-J":
            for each in value.split(","):
                noting.receive(url_of(each, "ssh"))
        elif name in ("-L", "-R"):
            parts = parts_of_address(value.replace(" ", ":"))
            if len(parts) > 2:
                noting.receive(":".join(parts[-2:]))


def _commands_of_settings(command: Command, options: Options) -> list[Inner]:
    found: list[Inner] = []
    for name, value, at in _settings(options):
        if name == "remotecommand":
            found += _there(shell(part(command, value, at), "ssh"))
        elif name in _SSH_COMMANDS and value.lower() != "none":
            host = command.argv[options.operands[0]] if options.operands else "host"
            text = value.strip('"').replace("%h", host.rpartition("@")[2])
            found += shell(part(command, text, at), "ssh")
    return found


def _there(found: list[Inner]) -> list[Inner]:
    for each in found:
        each.host = "remote"
    return found


def _run_by_ssh(command: Command, options: Options) -> list[Inner]:
    """Return the command line behind the host, which a shell there runs; without one that shell reads the input."""
    found = _commands_of_settings(command, options)
    if options.has("-V|-Q|-G") or options.value("-O") is not None:
        return found
    there = shell(joined(command, options.operands[1:]), "ssh") if not options.has("-s") else []
    if not there and options.operands and command.stdin is not None and not options.has("-N|-W|-n|-f|-s"):
        there = [Inner(language="sh", label="ssh")]
    host = command.argv[options.operands[0]] if options.operands else ""
    for each in _there(there):
        each.root = "root@" in host or options.value("-l") == "root" or None
    return found + there


def _run_by_scp(command: Command, options: Options) -> list[Inner]:
    found = _commands_of_settings(command, options) + values_as_shell(command, options, "-S|-D", command.name)
    given = [part(command, text, at) for text, at in options.values("-e|-c")]
    return found + [inner for data in (command.stdin, *given) if data for inner in _escapes(data, command.name)]


def _escapes(data: Data, label: str) -> list[Inner]:
    """Return the lines that begin with ``!``, which a shell of this machine runs."""
    lines = [line.strip().lstrip("-@") for line in data.text.replace(";", "\n").split("\n")]
    return [each for line in lines if line[:1] == "!" for each in shell(Data(line[1:], data.labels), label)]


def _url(word: str) -> str:
    if "://" in word:
        return word
    host, _, path = word.partition(":")
    return f"ssh://{host}/{path.lstrip(':/')}"


def arrive(noting: Noting, source: str, target: str, labels: frozenset[str], *, recursive: bool) -> None:
    """Note that something comes from elsewhere, under its name if the target is a folder: a file, if that has a dot."""
    name = last_name(source.rpartition(":")[2])
    is_file = "." in name.strip(".") and not source.endswith("/")
    if name and is_folder(target) and not source.endswith("/"):
        target = inside(target, name)
    noting.file("write", target, recursive=recursive and not is_file, labels=labels)


def transfer(noting: Noting, words: list[str], *, recursive: bool) -> None:
    """Note files that go from all ``words`` but the last to the last; each may be here or on another machine."""
    if len(words) < 2:
        return
    *sources, target = words
    local = [word for word in sources if not _is_away(word)]
    away = [word for word in sources if _is_away(word)]
    for word in away:
        noting.receive(_url(word))
    for word in local:
        noting.file("read", word, recursive=recursive)
    if _is_away(target):
        labels = noting.command.labels_of() | (noting.input_labels if "-" in local else NO_LABELS)
        noting.send(_url(target), labels=labels)
        noting.effects[-1].files = tuple([noting.path(word) for word in local if word not in STREAMS])
        return
    for word in away:
        arrive(noting, word, target, COMES, recursive=recursive)
    if local:
        noting.file("write", target, recursive=recursive, sources=tuple(local))


def _is_away(word: str) -> bool:
    return is_remote(word) or "://" in word


def _scp(noting: Noting) -> None:
    transfer(noting, noting.operands(), recursive=noting.options.has("-r"))
    _note_hops(noting, noting.options)


def _rsync(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    for value in noting.values("-e|--rsh"):
        _note_hops(noting, parse("ssh", value.split()))
    for value in noting.values("--files-from|--exclude-from|--include-from"):
        noting.file("read", value)
    if options.has("-n|--dry-run|--list-only"):
        return
    transfer(noting, words, recursive=True)
    if len(words) > 1 and not is_remote(words[-1]) and options.has("--delete*|--del"):
        noting.file("delete", words[-1], recursive=True)
    for word in words[:-1] if options.has("--remove-source-files") else ():
        if not is_remote(word):
            noting.file("delete", word, recursive=True)


def _run_by_rsync(command: Command, options: Options) -> list[Inner]:
    found: list[Inner] = []
    for text, at in options.values("-e|--rsh"):
        words = split(text)
        if words[:1] == ["ssh"]:  # with a host that rsync adds
            labels = dict.fromkeys(range(len(words)), command.labels[at]) if at in command.labels else {}
            found += _commands_of_settings(Outer("ssh", words, labels), parse("ssh", words))
        else:
            found += shell(part(command, text, at), "rsync")
    return found + _there(values_as_shell(command, options, "--rsync-path", "rsync"))


def _ftp(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    address = words[0] if words else UNKNOWN
    is_sftp = noting.command.program == "sftp"
    if is_sftp:
        address = _url(address)
        _note_hops(noting, options)
    upload = options.value("-u") if noting.command.program == "ftp" else None
    if upload and "://" in upload:
        noting.send(upload, sources=words)
        return
    noting.connect(address)
    if is_sftp and words and is_remote(words[0]):
        arrive(noting, words[0], words[1] if len(words) > 1 else "./", COMES, recursive=False)
    stdin = noting.command.stdin
    for text in (*([stdin.text] if stdin else ()), *noting.values("-c|-e|--command")):
        _note_script(noting, address, text)
    for value in noting.values("-b|-f|-B"):
        noting.file("read", value)


def _note_script(noting: Noting, address: str, text: str) -> None:
    """Note the files that commands of ``ftp``, ``sftp`` and ``smbclient`` put to ``address`` and get from there."""
    for line in text.replace(";", "\n").splitlines():
        action, *words = [word.strip("\"'") for word in line.split()] or [""]
        files = [word for word in words if not word.startswith("-")]
        if action.lower() in _PUTS or (action == "mirror" and "-R" in words):
            noting.send(address, sources=files if action == "mput" else files[:1])
        elif action.lower() in _GETS:
            for word in files[1:2] or files[:1]:
                noting.file("write", word if files[1:2] else last_name(word), labels=COMES)


def _rclone(noting: Noting) -> None:
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    if noting.options.has("-n|--dry-run"):
        return
    local = [word for word in words[:2] if not is_remote(word)]
    if action in ("copy", "copyto", "sync", "move", "moveto", "bisync"):
        transfer(noting, words[:2], recursive=True)
        if action in ("move", "moveto"):
            local = [word for word in local if word == words[0]]
        else:
            local = [word for word in local if word != words[0] and action == "sync"]
    elif action not in ("delete", "purge", "deletefile", "rmdirs"):
        local = []
    for word in local:
        noting.file("delete", word, recursive=True)
    for word in words[:1] if action == "rcat" else ():
        noting.connect(_url(word))


def _copy_key(noting: Noting) -> None:
    for word in noting.operands()[:1]:
        noting.send(url_of(word, "ssh"), sources=noting.values("-i"))


def _generate_key(noting: Noting) -> None:
    options = noting.options
    name = options.value("-f")
    if name is None:
        return
    if options.has("-y|-l|-e|-B|-F|-i|-H"):
        noting.file("read", name)
    elif options.has("-R"):
        noting.file("write", name, append=True)
    else:
        noting.file("write", name)
        noting.file("write", f"{name}.pub")


EFFECTS = {
    "ssh": _ssh,
    "autossh": _ssh,
    "mosh": _ssh,
    "scp": _scp,
    "rsync": _rsync,
    **dict.fromkeys("sftp ftp lftp smbclient".split(), _ftp),
    "rclone": _rclone,
    "ssh-copy-id": _copy_key,
    "ssh-keygen": _generate_key,
}
INNER = {
    "ssh": _run_by_ssh,
    "autossh": _run_by_ssh,
    **dict.fromkeys("scp sftp ftp lftp smbclient".split(), _run_by_scp),
    "rsync": _run_by_rsync,
}
