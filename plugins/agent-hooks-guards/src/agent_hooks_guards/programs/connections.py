"""``nc``, ``socat``, ``openssl s_client``, ``telnet`` and other programs that connect to an address."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

from .noting import COMES
from .unwrapping import part, shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

_SOCAT_FILES = frozenset(("file", "open", "gopen", "create", "creat"))
_SOCAT_LOCAL = frozenset(
    ("stdin", "stdout", "stdio", "stderr", "fd", "exec", "system", "shell", "pty", "pipe", "fifo", "unix", "tun")
)


def parts_of_address(text: str) -> list[str]:
    """Return the parts between colons, of which one may be ``[::1]``."""
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
    host, *port = words[:2]
    return ":".join((f"[{host}]" if host.count(":") > 1 and host[:1] != "[" else host, *port))


def _netcat(noting: Noting) -> None:
    options = noting.options
    words = noting.operands()
    noting.proxies += noting.values("-x|--proxy")
    if options.has("-l|--listen"):
        noting.connect(f"0.0.0.0:{options.value('-p|--source-port') or (words[-1] if words else '')}")
    elif words and options.has("-z"):
        noting.receive(_host_and_port(words))
    elif words and not options.has("-U|--unixsock"):
        noting.connect(_host_and_port(words))


def _socat(noting: Noting) -> None:
    sources = []
    words = noting.operands()[:2]
    # With -u data goes from the first address to the second only.
    for at, word in enumerate(words):
        kind, colon, rest = word.partition(":")
        kind, path = kind.lower(), rest.partition(",")[0].strip("\"'")
        if not colon and "/" in word:
            kind, path = "gopen", word.partition(",")[0]
        if kind in _SOCAT_FILES:
            one_way = noting.options.has("-u")
            if not (kind in ("create", "creat") or (one_way and at == 1)):
                noting.file("read", path)
                sources.append(path)
            if not (one_way and at == 0):
                noting.file("write", path, append="append" in rest.split(","), labels=COMES)
    for word in words:
        kind, colon, rest = word.lower().partition(":")
        if not colon or kind in _SOCAT_FILES or kind.partition("-")[0] in _SOCAT_LOCAL:
            continue
        address = rest.partition(",")[0]
        if "listen" in kind or kind.endswith(("-l", "-recv", "-recvfrom")):
            address = f"0.0.0.0:{address}"
        elif kind.startswith(("proxy", "socks")):  # PROXY:proxy:host:port
            parts = parts_of_address(address)
            noting.proxies.append(parts[0])
            address = ":".join(parts[-2:])
        noting.send(address, labels=noting.labels)
        noting.effects[-1].files = tuple([noting.path(source) for source in sources])


def _run_by_socat(command: Command, options: Options) -> list[Inner]:
    """``socat … EXEC:arguments``, ``SYSTEM:line``."""
    found: list[Inner] = []
    for at in options.operands:
        for piece in command.argv[at].split("!!"):
            kind, colon, rest = piece.partition(":")
            if colon and kind.upper() in {"EXEC", "SYSTEM", "SHELL"}:
                rest = rest.strip("'\"") if rest[:1] in {"'", '"'} else rest.partition(",")[0]
                found += shell(part(command, rest, at), "socat")
    return found


def _openssl(noting: Noting) -> None:
    for value in noting.values("-in|-key|-inkey|-CAfile|-cert|-certfile|-kfile"):
        noting.file("read", value)
    for value in noting.values("-out|-keyout"):
        noting.file("write", value, labels=noting.input_labels)
    if noting.options.subcommand == ("s_client",) or "s_client" in noting.command.argv[1:2]:
        noting.proxies += noting.values("-proxy")
        noting.connect(noting.options.value("-connect|-host") or UNKNOWN)


def _client(noting: Noting) -> None:
    """A client that connects to its first operand: ``telnet``, ``websocat``, ``grpcurl``."""
    words = noting.operands()
    options = noting.options
    address = options.value("-c|--connect") if noting.command.program == "wscat" else None
    if address is None and words:
        address = ":".join(words[:2]) if noting.command.program == "telnet" else words[0]
    if address and options.has("-d|-x|--execute"):
        noting.send(address, labels=noting.labels)
    elif address:
        noting.connect(address)


EFFECTS = {
    "nc": _netcat,
    "socat": _socat,
    "openssl": _openssl,
    **dict.fromkeys("telnet websocat wscat grpcurl".split(), _client),
}
INNER = {"socat": _run_by_socat}
