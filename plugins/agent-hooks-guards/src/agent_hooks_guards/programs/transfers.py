"""``ssh``, ``rsync``, ``nc``, ``docker``: programs that connect or copy to another machine, or work in a container."""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS, REMOTE, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, is_carried

from .effects import COMES, STREAMS, inside, is_folder, is_remote, last_name, url_of
from .inner import items, joined, part, shell, shells, texts, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .effects import Noting

# The parts of `port:host:port`, of which one may be `[::1]`.
_PARTS = Pattern(r"\[[^\]]*\]|[^:\s]+")
_PUTS = frozenset("put mput reput append send".split())
_GETS = frozenset("get mget reget recv mirror".split())
# A line that a shell of this machine runs.
_ESCAPED_LINE = Pattern(r"(?:^|[;\n])[-@\s]*!([^;\n]*)")
_HOST_SETTING = Pattern(r"\s*(?:hostname|proxyjump)[\s=]+(\S+)", re.IGNORECASE)
_FORWARD_SETTING = Pattern(r"\s*(?:local|remote)forward[\s=]+(.+)", re.IGNORECASE)
_SOCAT_FILES = frozenset(("file", "open", "gopen", "create", "creat"))
_SOCAT_LOCAL = frozenset(
    ("stdin", "stdout", "stdio", "stderr", "fd", "exec", "system", "shell", "pty", "pipe", "fifo", "unix", "tun")
)
# The programs that images start with the arguments behind their names.
_STARTED = {name: name for name in "curl flyway helm kubectl liquibase mc rclone restic terraform terragrunt".split()}
_STARTED |= {"aws-cli": "aws", "opentofu": "tofu"}


def ssh(noting: Noting) -> None:
    """Note the connection of ``ssh``."""
    words = noting.operands()
    if words:
        # Credentials in the command line of the other machine have a rule of their own.
        labels = (noting.command.labels_of() - {CREDENTIAL}) | noting.input_labels
        noting.connect(url_of(words[0], "ssh"), labels)
    _note_hops(noting)


def _note_hops(noting: Noting) -> None:
    """Note the hosts that OpenSSH goes by, and those that it connects others to."""
    settings = filter(None, map(_HOST_SETTING.match, noting.values("-o")))
    for value in [*noting.values("-J"), *(match[1] for match in settings)]:
        for host in value.split(","):
            noting.receive(url_of(host, "ssh"))
    for value in noting.values("-W"):
        noting.receive(value)
    forwards = filter(None, map(_FORWARD_SETTING.match, noting.values("-o")))
    for value in [*noting.values("-L|-R"), *(match[1] for match in forwards)]:
        parts = _PARTS.findall(value)
        if len(parts) > 2:
            noting.receive(":".join(parts[-2:]))


def run_by_ssh(command: Command, options: Options) -> list[Inner]:
    """Return the command line behind the host, which a shell there runs; without one that shell reads the input."""
    if options.has("-V|-Q|-G|-s") or options.value("-O") is not None:
        return []
    found = shell(joined(items(command, options.operands[1:])), "ssh")
    if not found and options.operands and command.stdin is not None and not options.has("-N|-W|-n|-f"):
        found = [Inner(language="sh", label="ssh")]
    host = command.argv[options.operands[0]] if options.operands else ""
    for each in found:
        each.host = "remote"
        each.root = "root@" in host or options.value("-l") == "root" or None
    return found


def run_by_clients(command: Command, _options: Options) -> list[Inner]:
    """Return the lines for ``sftp`` and the like that begin with ``!``."""
    given = values(command, "-e|-c|--command") + ([command.stdin] if command.stdin is not None else [])
    return shells(
        [Data(line, data.labels) for data in given for line in _ESCAPED_LINE.findall(data.text)], command.name
    )


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


def transfer(noting: Noting, words: list[str], *, recursive: bool, moves: bool = False, mirrors: bool = False) -> None:
    """Note files that go from all ``words`` but the last to the last; each may be here or on another machine.

    ``moves``: the sources are deleted; ``mirrors``: files of the target that no source has are.
    """
    if len(words) < 2:
        return
    *sources, target = words
    local = [word for word in sources if not is_away(word)]
    away = [word for word in sources if is_away(word)]
    for word in away:
        noting.receive(_url(word))
    for word in local:
        noting.file("read", word, recursive=recursive)
    if is_away(target):
        labels = noting.command.labels_of() | (noting.input_labels if "-" in local else NO_LABELS)
        noting.send(_url(target), labels=labels)
        noting.effects[-1].files = tuple([noting.path(word) for word in local if word not in STREAMS])
    else:
        for word in away:
            arrive(noting, word, target, COMES, recursive=recursive)
        if local:
            noting.file("write", target, recursive=recursive, sources=tuple(local))
    for word in [*(local if moves else []), *([target] if mirrors and not is_away(target) else [])]:
        noting.file("delete", word, recursive=recursive)


def is_away(word: str) -> bool:
    """Whether an operand is on another machine."""
    return is_remote(word) or "://" in word


def scp(noting: Noting) -> None:
    """Note the files that ``scp`` copies."""
    transfer(noting, noting.operands(), recursive=noting.options.has("-r"))
    _note_hops(noting)


def rsync(noting: Noting) -> None:
    """Note the files that ``rsync`` copies and deletes."""
    options = noting.options
    if not options.is_in_force("-n|--dry-run|--list-only"):
        mirrors, moves = options.has("--delete*|--del"), options.has("--remove-source-files")
        transfer(noting, noting.operands(), recursive=True, moves=moves, mirrors=mirrors)


def ftp(noting: Noting) -> None:
    """Note the files that ``sftp`` and the like transfer."""
    words = noting.operands()
    address = words[0] if words else UNKNOWN
    if noting.command.program == "sftp":
        address = _url(address)
        _note_hops(noting)
        if words and is_remote(words[0]):
            arrive(noting, words[0], words[1] if len(words) > 1 else "./", COMES, recursive=False)
    noting.connect(address)
    stdin = noting.command.stdin
    for text in (*([stdin.text] if stdin else ()), *noting.values("-c|-e|--command")):
        _note_script(noting, address, text)
    if noting.command.program == "ftp":
        for value in noting.values("-u"):
            noting.send(value, sources=words)


def _note_script(noting: Noting, address: str, text: str) -> None:
    """Note the files that commands of ``ftp``, ``sftp`` and ``smbclient`` put to ``address`` and get from there."""
    for line in re.split("[;\n]", text):
        action, *words = [word.strip("\"'") for word in line.split() if word[:1] != "-"] or [""]
        if action.lower() in _PUTS or (action == "mirror" and "-R" in line):
            noting.send(address, sources=words if action == "mput" else words[:1])
        elif action.lower() in _GETS and words:
            noting.file("write", words[1] if len(words) > 1 else last_name(words[0]), labels=COMES)


def rclone(noting: Noting) -> None:
    """Note the files that ``rclone`` copies and deletes."""
    action, *words = [*noting.options.subcommand, *noting.operands()] or [""]
    if noting.options.is_in_force("-n|--dry-run"):
        return
    if action in ("copy", "copyto", "sync", "move", "moveto", "bisync"):
        moves = action in ("move", "moveto")
        transfer(noting, words[:2], recursive=True, moves=moves, mirrors=action == "sync")
    elif action in ("delete", "purge", "deletefile", "rmdirs"):
        for word in words[:2]:
            if not is_remote(word):
                noting.file("delete", word, recursive=True)
    elif action == "rcat" and words:
        noting.connect(_url(words[0]))


def copy_key(noting: Noting) -> None:
    """Note the key that ``ssh-copy-id`` sends."""
    for word in noting.operands()[:1]:
        noting.send(url_of(word, "ssh"), sources=noting.values("-i"))


def generate_key(noting: Noting) -> None:
    """Note the files of ``ssh-keygen``."""
    name = noting.options.value("-f") or ""
    kind = "read" if noting.options.has("-y|-l|-e|-B|-F|-i|-H") else "write"
    for each in (name, f"{name}.pub") if name and kind == "write" else (name,):
        noting.file(kind, each)


def netcat(noting: Noting) -> None:
    """Note the connection of ``nc``."""
    options = noting.options
    words = noting.operands()
    noting.proxies += noting.values("-x|--proxy")
    if options.has("-l|--listen"):
        noting.connect(f"0.0.0.0:{options.value('-p|--source-port') or (words[-1] if words else '')}")
    elif words and not options.has("-U|--unixsock"):
        host = f"[{words[0]}]" if words[0].count(":") > 1 and words[0][:1] != "[" else words[0]
        address = ":".join((host, *words[1:2]))
        if options.has("-z"):
            noting.receive(address)
        else:
            noting.connect(address)


def socat(noting: Noting) -> None:
    """Note the files and connections of ``socat``."""
    sources = []
    addresses = []
    one_way = noting.options.has("-u")  # from the first address to the second only
    for at, word in enumerate(noting.operands()[:2]):
        kind, colon, rest = word.partition(":")
        kind, path = kind.lower(), rest.partition(",")[0].strip("\"'")
        if not colon and "/" in word:
            kind, path = "gopen", word.partition(",")[0]
        if kind in _SOCAT_FILES:
            if kind not in ("create", "creat") and not (one_way and at == 1):
                noting.file("read", path)
                sources.append(path)
            if not (one_way and at == 0):
                noting.file("write", path, append="append" in rest.split(","), labels=COMES)
        elif colon and kind.partition("-")[0] not in _SOCAT_LOCAL:
            if "listen" in kind or kind.endswith(("-l", "-recv", "-recvfrom")):
                path = f"0.0.0.0:{path}"
            elif kind.startswith(("proxy", "socks")):  # PROXY:proxy:host:port
                parts = _PARTS.findall(path)
                noting.proxies += parts[:1]
                path = ":".join(parts[-2:])
            addresses.append(path)
    for address in addresses:
        noting.send(address, labels=noting.labels)
        noting.effects[-1].files = tuple([noting.path(source) for source in sources])


def openssl(noting: Noting) -> None:
    """Note the connection of ``openssl s_client``."""
    if "s_client" in noting.command.argv[1:2]:
        noting.proxies += noting.values("-proxy")
        noting.connect(noting.options.value("-connect|-host") or UNKNOWN)


def client(noting: Noting) -> None:
    """A client that connects to its first operand: ``telnet``, ``websocat``, ``grpcurl``."""
    program, words = noting.command.program, noting.operands()
    words = noting.values("-c|--connect") if program == "wscat" else words[: 2 if program == "telnet" else 1]
    if words and noting.options.has("-d|-x|--execute"):
        noting.send(":".join(words), labels=noting.labels)
    elif words:
        noting.connect(":".join(words))


def docker(command: Command, options: Options) -> list[Inner]:
    """``docker run image arguments``, ``docker exec container arguments``, also of compose, podman and nerdctl."""
    name = options.subcommand[-1] if options.subcommand else ""
    if name not in {"run", "exec", "create", "debug"}:
        return []
    label = f"docker {name}"
    found = _started(command, options, name, label) + shells(values(command, "--health-cmd"), label)
    mounts = _mounts(options)
    for inner in found:
        inner.host = "container"
        inner.mounts = {target.rstrip("/"): source for source, target in mounts if target != "/"}
        inner.cwd = options.value("-w|--workdir") or ("/" if name == "run" else None)
        inner.clears_environment = True
        for text, at in options.values("-e|--env"):
            key, equals, value = text.partition("=")
            inner.assignments = {**inner.assignments, key: part(command, value if equals else UNKNOWN, at)}
    return found


def _started(command: Command, options: Options, name: str, label: str) -> list[Inner]:
    """Return the programs that are started in the container."""
    rest = items(command, options.operands[1:])
    found = [texts(rest, label)] if rest else []
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


def container_effects(noting: Noting) -> None:
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
