"""What other known programs send to other machines and get from them, and the files that they do it with."""

from __future__ import annotations

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS, REMOTE, UNKNOWN

from .credentials import as_login, in_address, is_carried
from .effects_files import compiled, move
from .effects_http import COMES, PRIVATE, Request, url_of
from .noting import STREAMS, inside, is_folder, is_remote, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.options import Options

    from .noting import Noting


def _git_files(noting: Noting) -> None:
    options = noting.options
    folder = options.value("-C")
    if folder:
        noting.cwd = noting.path(folder)
    subcommand = options.subcommand[:1]
    if subcommand == ("rm",) and not options.has("--cached|-n|--dry-run"):
        for word in noting.operands():
            noting.file("delete", word, recursive=options.has("-r"))
    elif subcommand == ("mv",):
        move(noting)
    elif subcommand and subcommand[0] in ("archive", "format-patch"):
        for value, _ in options.values("-o|--output|--output-directory"):
            noting.file("write", value)
    elif subcommand and subcommand[0] in ("apply", "am"):
        for word in noting.operands():
            noting.file("read", word)


def _openssl(noting: Noting) -> None:
    for value, _ in noting.options.values("-in|-key|-inkey|-CAfile|-cert|-certfile|-kfile"):
        noting.file("read", value)
    for value, _ in noting.options.values("-out|-keyout"):
        noting.file("write", value, labels=noting.input_labels)
    if noting.options.subcommand == ("s_client",) or "s_client" in noting.command.argv[1:2]:
        noting.proxies += [value for value, _ in noting.options.values("-proxy")]
        _connect(noting, noting.options.value("-connect|-host") or UNKNOWN)


def _connect(noting: Noting, address: str, labels: frozenset[str] | None = None) -> None:
    """A connection that sends the command's input, or what its words hold."""
    if labels is None:
        labels = noting.command.labels_of() | noting.input_labels
    if noting.command.stdin is not None or labels & PRIVATE:
        noting.send(address, labels=labels)
    else:
        noting.receive(address)


def _parts(text: str) -> list[str]:
    """The parts between colons, of which one may be ``[::1]``."""
    found = [""]
    depth = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == ":" and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def _host_and_port(words: list[str]) -> str:
    """The address that a host and a port in words of their own make."""
    host, *port = words[:2]
    return ":".join((f"[{host}]" if host.count(":") > 1 and host[:1] != "[" else host, *port))


def _netcat(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    noting.proxies += [value for value, _ in options.values("-x|--proxy")]
    if options.has("-l|--listen"):
        port = options.value("-p|--source-port") or (words[-1] if words else "")
        _connect(noting, f"0.0.0.0:{port}")
    elif words and options.has("-z"):
        noting.receive(_host_and_port(words))
    elif words and not options.has("-U|--unixsock"):
        _connect(noting, _host_and_port(words))


_SOCAT_FILES = frozenset(("file", "open", "gopen", "create", "creat"))


_SOCAT_LOCAL = frozenset(
    ("stdin", "stdout", "stdio", "stderr", "fd", "exec", "system", "shell", "pty", "pipe", "fifo", "unix", "tun")
)


def _socat(noting: Noting) -> None:
    words = noting.operands()
    sources = []
    # With -u data goes from the first address to the second only, with -U the other way.
    for at, word in enumerate(words[:2]):
        kind, colon, rest = word.partition(":")
        kind = kind.lower()
        path = rest.partition(",")[0].strip("\"'")
        if not colon and "/" in word:
            kind, path = "gopen", word.partition(",")[0]
        if kind not in _SOCAT_FILES:
            continue
        is_source = noting.options.has("-u") and at == 0
        is_target = kind in ("create", "creat") or (noting.options.has("-u") and at == 1)
        if not is_target:
            noting.file("read", path)
            sources.append(path)
        if not is_source:
            noting.file("write", path, append="append" in rest.split(","), labels=COMES)
    for word in words[:2]:
        kind, colon, rest = word.partition(":")
        kind = kind.lower()
        if not colon or kind in _SOCAT_FILES or kind.partition("-")[0] in _SOCAT_LOCAL:
            continue
        address = rest.partition(",")[0]
        if "listen" in kind or kind.endswith(("-l", "-recv", "-recvfrom")):
            address = f"0.0.0.0:{address}"
        elif kind.startswith(("proxy", "socks")):  # PROXY:proxy:host:port
            parts = _parts(address)
            noting.proxies.append(parts[0])
            address = ":".join(parts[-2:])
        noting.send(address, labels=noting.command.labels_of() | noting.input_labels)
        noting.effects[-1].files = tuple([noting.path(source) for source in sources])


def _ssh(noting: Noting) -> None:
    words = noting.operands()
    if words:
        # A credential among the words of the other machine's command has a rule of its own.
        labels = (noting.command.labels_of() - {CREDENTIAL}) | noting.input_labels
        _connect(noting, url_of(words[0], "ssh"), labels)
    _note_ways(noting, noting.options)


# By the name of a setting, in lower case, the option that says the same.
_SSH_SETTINGS = {"hostname": "", "proxyjump": "-J", "localforward": "-L", "remoteforward": "-R"}


def _note_ways(noting: Noting, options: Options) -> None:
    """The hosts that OpenSSH goes by, and those that it connects others to."""
    told = [(name, value) for name, value in options.given if value]
    for name, value in tuple(told):
        if name == "-o":
            key, _, setting = value.strip().replace("=", " ", 1).partition(" ")
            told.append((_SSH_SETTINGS.get(key.lower(), "-o"), setting.strip()))
    for name, value in told:
        if name in ("", "-W"):
            noting.receive(value)
        elif name == "-J":
            for each in value.split(","):
                noting.receive(url_of(each, "ssh"))
        elif name in ("-L", "-R"):
            parts = _parts(value.replace(" ", ":"))
            if len(parts) > 2:
                noting.receive(":".join(parts[-2:]))


def _remote_url(word: str) -> str:
    if "://" in word:
        return word
    host, _, path = word.partition(":")
    return f"ssh://{host}/{path.lstrip(':/')}"


def _scp(noting: Noting) -> None:
    _transfer(noting, noting.operands(), recursive=noting.options.has("-r"))
    _note_ways(noting, noting.options)


def arrives(noting: Noting, source: str, target: str, labels: frozenset[str], *, recursive: bool) -> None:
    """Note that something comes from elsewhere, under its name if the target is a folder: a file, if that has a dot."""
    name = last_name(source.rpartition(":")[2])
    is_file = "." in name.strip(".") and not source.endswith("/")
    if name and is_folder(target) and not source.endswith("/"):
        target = inside(target, name)
    noting.file("write", target, recursive=recursive and not is_file, labels=labels)


def _transfer(noting: Noting, words: list[str], *, recursive: bool) -> None:
    """Files that go from all words but the last to the last; each may be on this machine or on another one."""
    if len(words) < 2:
        return
    *sources, target = words
    local = [word for word in sources if not is_remote(word)]
    for word in sources:
        if is_remote(word):
            noting.receive(_remote_url(word))
    if is_remote(target):
        for word in local:
            noting.file("read", word, recursive=recursive)
        labels = noting.command.labels_of() | (noting.input_labels if "-" in local else NO_LABELS)
        files = tuple([noting.path(word) for word in local if word not in STREAMS])
        noting.send(_remote_url(target), labels=labels)
        noting.effects[-1].files = files
        return
    for word in local:
        noting.file("read", word, recursive=recursive)
    for word in sources:
        if is_remote(word):
            arrives(noting, word, target, COMES, recursive=recursive)
    if local:
        noting.file("write", target, recursive=recursive, sources=tuple(local))


def _rsync(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    for value, _ in options.values("-e|--rsh"):
        _note_ways(noting, parse("ssh", value.split()))
    for value, _ in options.values("--files-from|--exclude-from|--include-from"):
        noting.file("read", value)
    if options.has("-n|--dry-run|--list-only"):
        return
    _transfer(noting, words, recursive=True)
    if len(words) > 1 and not is_remote(words[-1]) and options.has("--delete*|--del"):
        noting.file("delete", words[-1], recursive=True)
    if options.has("--remove-source-files"):
        for word in words[:-1]:
            if not is_remote(word):
                noting.file("delete", word, recursive=True)


def _script_of_transfers(noting: Noting, address: str, text: str) -> None:
    """Commands of ``ftp``, ``sftp``, ``lftp``, ``smbclient``: what is put there and got from there."""
    for line in text.replace(";", "\n").splitlines():
        words = [word.strip("\"'") for word in line.split()]
        action = words[0].lower() if words else ""
        files = [word for word in words[1:] if not word.startswith("-")]
        if action in ("put", "mput", "reput", "append", "send") or (action == "mirror" and "-R" in words):
            noting.send(address, sources=files[:1] if action != "mput" else files)
        elif action in ("get", "mget", "reget", "recv", "mirror"):
            for word in files[1:2] or files[:1]:
                noting.file("write", word if files[1:2] else last_name(word), labels=COMES)


def _ftp(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    address = words[0] if words else UNKNOWN
    if noting.command.program == "sftp":
        address = address if "://" in address else _remote_url(address)
        _note_ways(noting, options)
    upload = options.value("-u") if noting.command.program == "ftp" else None
    if upload and "://" in upload:
        noting.send(upload, sources=words)
        return
    _connect(noting, address)
    if noting.command.program == "sftp" and is_remote(address := words[0] if words else ""):
        arrives(noting, address, words[1] if len(words) > 1 else "./", COMES, recursive=False)
    stdin = noting.command.stdin
    if stdin is not None:
        _script_of_transfers(noting, address, stdin.text)
    for value, _ in options.values("-c|-e|--command"):
        _script_of_transfers(noting, address, value)
    batch = options.value("-b|-f|-B")
    if batch:
        noting.file("read", batch)
    if noting.command.program == "tftp":
        _script_of_transfers(noting, address, " ".join(words[1:]))


def _put_files(noting: Noting) -> None:
    """``ncftpput`` and the like: a host, a folder there, files."""
    words = noting.operands()
    if words:
        noting.send(words[0], sources=words[2:] or words[1:])


def _objects(noting: Noting) -> None:
    """Clients of object stores: URLs for what is there, paths for what is here."""
    for value, _ in noting.options.values("--endpoint-url"):
        noting.receive(value)
    subcommand = noting.options.subcommand
    action = subcommand[-1] if subcommand else ""
    words = noting.operands()
    if not subcommand and words:
        action = words.pop(0)
    if action in ("put-object", "upload-part"):
        name = f"s3://{noting.options.value('--bucket') or UNKNOWN}/{noting.options.value('--key') or ''}"
        body = noting.options.value("--body")
        noting.send(name, sources=[body] if body else [])
        return
    if action == "get-object":
        noting.receive(f"s3://{noting.options.value('--bucket') or UNKNOWN}/{noting.options.value('--key') or ''}")
        for word in words[:1]:
            noting.file("write", word, labels=COMES)
        return
    if action == "get" and len(words) == 1:
        words.append("./")
    if action not in ("cp", "mv", "sync", "put", "get", "rsync", "copy", "move") or len(words) < 2:
        return
    recursive = action in ("sync", "rsync") or noting.options.has("--recursive|-r|-R")
    *sources, target = words
    local = [word for word in sources if "://" not in word]
    for word in sources:
        if "://" in word:
            noting.receive(word)
    if "://" in target:
        for word in local:
            noting.file("read", word, recursive=recursive)
        labels = noting.command.labels_of() | (noting.input_labels if "-" in local else NO_LABELS)
        noting.send(target, labels=labels)
        noting.effects[-1].files = tuple([noting.path(word) for word in local if word not in STREAMS])
    else:
        for word in sources:
            if "://" in word:
                arrives(noting, word, target, COMES, recursive=recursive)
        if local:
            noting.file("write", target, recursive=recursive)
        if recursive and noting.options.has("--delete|-d|--delete-unmatched-destination-objects"):
            noting.file("delete", target, recursive=True)
    if action in ("mv", "move"):
        for word in local:
            noting.file("delete", word, recursive=recursive)


def _azure(noting: Noting) -> None:
    if noting.options.subcommand[-1:] == ("download",):
        for value, _ in noting.options.values("--file|--dest"):
            noting.file("write", value, labels=COMES)


def _rclone(noting: Noting) -> None:
    words = [*noting.options.subcommand, *noting.operands()]
    action, *words = words or [""]
    if noting.options.has("-n|--dry-run"):
        return
    if action in ("copy", "copyto", "sync", "move", "moveto", "bisync"):
        _transfer(noting, words[:2], recursive=True)
        if action in ("move", "moveto"):
            for word in words[:1]:
                if not is_remote(word):
                    noting.file("delete", word, recursive=True)
        elif action == "sync":
            for word in words[1:2]:
                if not is_remote(word):
                    noting.file("delete", word, recursive=True)
    elif action in ("delete", "purge", "deletefile", "rmdirs"):
        for word in words[:1]:
            if not is_remote(word):
                noting.file("delete", word, recursive=True)
    elif action == "rcat":
        for word in words[:1]:
            _connect(noting, _remote_url(word))
    elif action == "cat":
        for word in words[:1]:
            noting.receive(_remote_url(word))


def _mail(noting: Noting) -> None:
    options = noting.options
    files = [value for value, _ in options.values("-a|-A|--attach|--attachment|-i|--body")]
    to = [*noting.operands(), *(value for value, _ in options.values("-t|--to"))]
    labels = noting.command.labels_of() | noting.input_labels
    # mutt -a a b -- to: all words before -- are files.
    if options.ended and "--" in noting.command.argv:
        end = noting.command.argv.index("--")
        files += [noting.command.argv[at] for at in options.operands if at < end]
        to = [noting.command.argv[at] for at in options.operands if at > end]
    noting.send(f"mailto:{','.join(to)}", labels=labels, sources=[word for word in files if word])


def _forge(noting: Noting) -> None:
    """``gh`` and ``glab``."""
    options = noting.options
    host = "gitlab.com" if noting.command.program == "glab" else "github.com"
    subcommand = options.subcommand
    labels = noting.command.labels_of()
    words = noting.operands()
    if subcommand[:1] in (("secret",), ("variable",), ("auth",)):
        return  # kept by the forge for its own jobs
    if subcommand[:1] == ("api",):
        request = Request(noting)
        request.method = options.value("-X|--method") or ""
        for value, _ in options.values("-F|--field|-f|--raw-field"):
            request.body()
            if value.partition("=")[2].startswith("@"):
                request.source(value.partition("=")[2][1:])
        for value, _ in options.values("--input"):
            request.body()
            request.source(value)
        request.note(f"https://api.{options.value('--hostname') or host}/{word.lstrip('/')}" for word in words[:1])
    elif subcommand in (("gist", "create"), ("snippet", "create")):
        noting.send(f"https://gist.{host}", labels=labels | noting.input_labels, sources=words)
    elif subcommand == ("release", "download"):
        folder = options.value("-D|--dir") or "./"
        for value, _ in options.values("-p|--pattern"):
            arrives(noting, value, folder, COMES, recursive=False)
        for value, _ in options.values("-O|--output"):
            noting.file("write", value, labels=COMES)
    elif subcommand == ("release", "upload"):
        noting.send(f"https://{host}", sources=words[1:])
    else:
        files = [value for value, _ in options.values("-F|--body-file|--notes-file")]
        if files or labels & PRIVATE:
            if "-" in files:
                labels |= noting.input_labels
            noting.send(f"https://{host}", labels=labels, sources=files)


_UNSETS = "--unset*|--remove-section|--edit|-e"


def _git(noting: Noting) -> None:
    _git_files(noting)
    for value, _ in noting.options.values("-c|--config"):
        key, _, setting = value.partition("=")
        if key.lower().startswith(("http.", "https.", "remote.", "core.git")) and key.lower().endswith("proxy"):
            noting.proxies.append(setting)
        elif key.lower().startswith("url.") and key.lower().endswith(".insteadof"):
            noting.proxies.append(key[4 : -len(".insteadof")])
    subcommand = noting.options.subcommand[:1]
    words = noting.operands()
    labels = _git_labels(noting) if subcommand and subcommand[0] in _WITH_ADDRESSES else NO_LABELS
    if is_carried(labels):
        for word in filter(None, map(_address_in, noting.command.argv)):
            noting.send(word, labels=labels)
    if subcommand == ("clone",):
        for word in words[:1]:
            if "://" in word or is_remote(word):
                noting.receive(word)
            folder = words[1] if len(words) > 1 else last_name(word).removesuffix(".git")
            noting.file("write", folder or UNKNOWN, recursive=True, labels=COMES)
    elif subcommand in (("fetch",), ("pull",), ("ls-remote",)):
        noting.receive(words[0] if words else "origin")
    elif subcommand in (("archive",), ("submodule",)):
        for word in (noting.options.value("--remote") or "", *words):
            if "://" in word or is_remote(word):
                noting.receive(word)
    elif subcommand == ("config",):
        name = noting.options.value("-f|--file")
        # A repository's own settings are what it changes without the option too.
        if name and not name.endswith(".git/config"):
            asks = noting.options.has("--get*|--list|-l") or (len(words) < 2 and not noting.options.has(_UNSETS))
            noting.file("read" if asks else "write", name, append=True)
    elif subcommand == ("push",):
        noting.send(words[0] if words else "origin", labels=labels)


_WITH_ADDRESSES = frozenset("clone fetch pull push remote ls-remote submodule archive config".split())


def _git_labels(noting: Noting) -> frozenset[str]:
    """Return where its words come from; credentials in remotes' URLs and in headers are logins."""
    argv = noting.command.argv
    return NO_LABELS.union(
        *(
            in_address(argv[at], found, path=True) if "://" in argv[at] else as_login(found)
            for at, found in noting.command.labels.items()
        )
    )


def _first_operand(noting: Noting) -> None:
    """A client that connects to what its first operand names: ``telnet``, ``websocat``, ``grpcurl``."""
    words = noting.operands()
    options = noting.options
    address = options.value("-c|--connect") if noting.command.program == "wscat" else None
    if address is None and words:
        address = ":".join(words[:2]) if noting.command.program == "telnet" else words[0]
    if not address:
        return
    if options.has("-d|-x|--execute"):
        noting.send(address, labels=noting.command.labels_of() | noting.input_labels)
    else:
        _connect(noting, address)


_OF_SCHEMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."


def _address_in(word: str) -> str:
    """The URL that a word ends with, "" if there is none."""
    before, separator, rest = word.partition("://")
    return before[len(before.rstrip(_OF_SCHEMES)) :] + separator + rest if separator else ""


def _named(noting: Noting) -> None:
    """A client that asks the addresses among its words: a tool for packages, one that measures a server."""
    # Those that measure a server take headers.
    headers = (
        as_login(noting.command.labels_of()) if noting.command.name in ("ab", "wrk", "hey", "siege") else NO_LABELS
    )
    for at, word in enumerate(noting.command.argv):
        if not (address := _address_in(word)):
            continue
        labels = noting.command.labels.get(at, NO_LABELS)
        if path := file_of_address(address):
            noting.file("read", path)
        elif CREDENTIAL in labels or is_carried(headers):
            noting.send(address, labels=in_address(address, labels, path=True) | headers)
        else:
            noting.receive(address)
    for value, _ in noting.options.values("--proxy|--https-proxy|--http-proxy"):
        if "://" not in value:
            noting.receive(value)


def _go(noting: Noting) -> None:
    _named(noting)
    if noting.options.subcommand[:1] == ("build",):
        compiled(noting)


def _database(noting: Noting) -> None:
    options = noting.options
    named = [value for value, _ in options.values("-h|--host|--server") if "/" not in value]
    for word in (*noting.operands(), *(value for value, _ in options.values("-d|--dbname|-u|--uri"))):
        if "://" in word:
            named.append(word)
        named += [part[5:] for part in word.split() if part.startswith("host=") and "/" not in part]
    for address in named:
        noting.receive(address)


def _lookup(noting: Noting) -> None:
    """Programs that ask a host, or others about it; a name that is asked for may carry data."""
    labels = noting.command.labels_of()
    for word in noting.operands():
        if "." not in word and ":" not in word and UNKNOWN not in word:
            continue
        if labels & PRIVATE:
            noting.send(word, labels=labels)
        else:
            noting.receive(word)


def _hand_over(noting: Noting) -> None:
    """A program that gives files, or its input, to somebody else: a paste, a drop, a message."""
    words = noting.operands()
    labels = noting.command.labels_of() | noting.input_labels
    noting.send(noting.command.program, labels=labels, sources=[word for word in words if "/" in word or "." in word])


def _publish(noting: Noting) -> None:
    options = noting.options
    sources = [value for value, _ in options.values("-f|--file")]
    labels = noting.command.labels_of() | noting.input_labels
    noting.send(options.value("-h|--host|-L|--url") or UNKNOWN, labels=labels, sources=sources)


def _logger(noting: Noting) -> None:
    host = noting.options.value("-n|--server")
    if host:
        labels = noting.command.labels_of() | noting.input_labels
        noting.send(host, labels=labels, sources=[value for value, _ in noting.options.values("-f|--file")])


def _copy_id(noting: Noting) -> None:
    for word in noting.operands()[:1]:
        noting.send(url_of(word, "ssh"), sources=[value for value, _ in noting.options.values("-i")])


def _container(noting: Noting) -> None:
    """``docker login``, ``docker cp``, ``kubectl cp``: of a copy, one side is in the container."""
    words = noting.operands()
    subcommand = noting.options.subcommand[-1:]
    if subcommand == ("login",):
        labels = as_login(noting.command.labels_of() | noting.input_labels)
        if is_carried(labels):
            noting.send((words or ["docker.io"])[0], labels=labels)
    elif subcommand == ("cp",) and len(words) > 1:
        if is_remote(words[0]):
            arrives(noting, words[0], words[1], frozenset((REMOTE,)), recursive=True)
        else:
            noting.file("read", words[0], recursive=True)


NETWORK_PROGRAMS: dict[str, Callable[[Noting], None]] = {
    **dict.fromkeys("nc ncat netcat nc.openbsd nc.traditional".split(), _netcat),
    "socat": _socat,
    **dict.fromkeys("ssh mosh autossh slogin".split(), _ssh),
    "ssh-copy-id": _copy_id,
    **dict.fromkeys("scp pscp".split(), _scp),
    "rsync": _rsync,
    **dict.fromkeys("ftp sftp lftp tftp smbclient".split(), _ftp),
    **dict.fromkeys("ncftpput ftpput".split(), _put_files),
    **dict.fromkeys("aws gsutil gcloud s3cmd s5cmd azcopy".split(), _objects),
    "az": _azure,
    "rclone": _rclone,
    **dict.fromkeys("mail mailx s-nail mutt neomutt sendmail msmtp ssmtp swaks mpack".split(), _mail),
    **dict.fromkeys("gh glab".split(), _forge),
    "git": _git,
    "go": _go,
    "openssl": _openssl,
    **dict.fromkeys("telnet websocat wscat grpcurl".split(), _first_operand),
    **dict.fromkeys("dig nslookup host drill whois ping ping6 traceroute mtr finger nmap".split(), _lookup),
    **dict.fromkeys(
        (
            "pip uv pipx poetry npm npx yarn pnpm bun gem bundle composer apt apt-get svn hg restic chromium "
            "chrome google-chrome firefox open xdg-open ab wrk hey siege GET HEAD POST"
        ).split(),
        _named,
    ),
    **dict.fromkeys(
        (
            "croc wormhole ffsend transfer pastebinit gist ix ntfy telegram-send ipfs gdrive megaput "
            "dropbox_uploader dropbox_uploader.sh qrcp onionshare haste sprunge"
        ).split(),
        _hand_over,
    ),
    **dict.fromkeys("psql mysql mariadb redis-cli valkey-cli mongosh mongo pg_isready".split(), _database),
    **dict.fromkeys("mosquitto_pub kcat".split(), _publish),
    "logger": _logger,
    **dict.fromkeys("docker podman nerdctl kubectl oc".split(), _container),
}
