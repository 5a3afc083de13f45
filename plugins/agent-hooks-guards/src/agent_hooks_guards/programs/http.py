"""``curl``, ``wget``, ``aria2c``, ``http`` and other clients of HTTP."""

from __future__ import annotations

import re

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN
from agent_hooks_guards.places.credentials import (
    as_login,
    host_of,
    in_address,
    in_token_request,
    is_carried,
    is_login_header,
    variable_labels,
)

from .noting import COMES, PRIVATE, PRIVATE_STORES, STREAMS, inside, last_name, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .noting import Noting

# Methods that ask and bring nothing.
_ASKING = frozenset(("GET", "HEAD", "OPTIONS"))


_ISSUERS = tuple(
    "." + host
    for host in (
        "github.com gitlab.com googleapis.com amazonaws.com azure.com microsoftonline.com windows.net"
        " bitbucket.org gcr.io pkg.dev ghcr.io run.app openai.com anthropic.com localhost 127.0.0.1 cloudflare.com"
        " npmjs.org digitalocean.com heroku.com atlassian.net slack.com vault docker.io quay.io circleci.com"
        " sentry.io"
    ).split()
)


class Request:
    """A request of an HTTP client, gathered from its options."""

    __slots__ = ("credentials", "kept", "labels", "method", "noting", "sends", "sources", "uploads")

    def __init__(self, noting: Noting) -> None:
        self.noting = noting
        self.method = ""
        self.sends = False
        self.uploads = False
        self.sources: list[str] = []
        self.labels: frozenset[str] = NO_LABELS
        # Positions in argv of credentials for logging in.
        self.credentials: list[int] = []
        # Positions of passwords that stay here.
        self.kept: list[int] = []

    def body(self, method: str = "POST") -> None:
        """Note that the request has a body."""
        self.sends = True
        self.method = self.method or method

    def source(self, word: str) -> None:
        """Note that a file, or the input, is sent."""
        if word in STREAMS or word == ".":
            self.labels |= self.noting.input_labels
        else:
            self.sources.append(word)

    def headers(self, names: str) -> None:
        """Note the credentials in the headers of the options ``names``."""
        for value, at in self.noting.options.values(names):
            if value.startswith("@"):
                self.sends = True
                self.source(value[1:])
            elif is_login_header(value.partition(":")[0]):
                self.credentials.append(at)

    def note(self, urls: Iterable[str]) -> None:
        """Note the request to each of ``urls``."""
        noting = self.noting
        argv = noting.command.argv
        method = self.method.upper() or "GET"
        for url in urls:
            if path := file_of_address(url):
                noting.file("write" if self.uploads else "read", path)
                continue
            is_issuer = f".{host_of(url)}".endswith(_ISSUERS)
            labels = in_token_request(url, argv, self.labels).union(
                *(
                    as_login(found - PRIVATE_STORES if is_issuer else found)
                    if at in self.credentials
                    else in_token_request(url, argv, in_address(argv[at], found))
                    for at, found in noting.command.labels.items()
                    if at and at not in self.kept
                )
            )
            if self.sends or method not in _ASKING or labels & PRIVATE or is_carried(labels):
                noting.send(url, method=method, labels=labels, sources=self.sources)
            else:
                noting.receive(url, method=method)


def _curl(noting: Noting) -> None:
    options = noting.options
    request = Request(noting)
    request.method = options.value("-X|--request") or ""
    if options.has("-I|--head"):
        request.method = request.method or "HEAD"
    uploads = noting.values("-T|--upload-file")
    if uploads:
        request.body("PUT")
        request.uploads = True
    for value in uploads:
        request.source(value)
    bodies = options.values("-d|--data|--data-ascii|--data-binary|--json")
    encoded = options.values("--data-urlencode|--url-query")
    if bodies or encoded or options.has("--data-raw"):
        request.body("GET" if options.has("-G|--get") else "POST")
    for value, _ in bodies:
        if value.startswith("@"):
            request.source(value[1:])
    for value, _ in encoded:
        name, mark, file = value.partition("@")
        if mark and "=" not in name:
            request.source(file)
    forms = options.values("-F|--form")
    if forms or options.has("--form-string"):
        request.body()
    for value, _ in forms:
        content = value.partition("=")[2]
        if content.startswith(("@", "<")):
            for file in content[1:].split(","):
                request.source(file.partition(";")[0].strip('"'))
    cookie = options.value("-b|--cookie")
    if cookie and "=" not in cookie:
        request.sends = True
        request.source(cookie)
    request.headers("-H|--header")
    request.credentials += [at for _, at in options.values("-u|--user|--oauth2-bearer|-b|--cookie|-U|--proxy-user")]
    request.kept += [at for _, at in options.values(f"-E|--cert|--pass|--proxy-pass|{_PROXIES}")]
    if options.has("--aws-sigv4"):  # signs with it
        request.kept += [at for _, at in options.values("-u|--user")]
    for value in noting.values("--variable"):
        if value.startswith("%"):
            labels = variable_labels(value[1:].partition("=")[0])
            is_login = options.has("--expand-header|--expand-user|--expand-oauth2-bearer")
            request.labels |= as_login(labels) if is_login else labels
    if options.value("-K|--config") == "-":
        request.sends = True  # the configuration may name data to send
        request.labels |= noting.input_labels
    for value in noting.values("-K|--config"):
        noting.file("read", value)
    words = [*noting.operands(), *(value for value, _ in options.values("--url"))]
    urls = [url_of(each) for word in words for each in _expanded(word)] + _urls_of_input(noting, "-K|--config")
    if not urls and options.has("-K|--config"):
        urls = [UNKNOWN]
    request.note(urls)
    request.note(_instead(noting))
    for value in noting.values("--doh-url|--ipfs-gateway"):
        noting.receive(url_of(value))
    noting.proxies += noting.values(_PROXIES)
    _note_outputs(noting, urls)


def _note_outputs(noting: Noting, urls: list[str]) -> None:
    """Note the files that curl writes."""
    options = noting.options
    folder = options.value("--output-dir")
    for value in noting.values("-o|--output"):
        noting.file("write", inside(folder, value) if folder and value != "-" else value, labels=COMES)
    if options.has("-O|--remote-name|--remote-name-all"):
        for url in urls:
            noting.file("write", inside(folder or ".", _remote_name(url)), labels=COMES)
    for value in noting.values("-D|--dump-header|-c|--cookie-jar|--trace|--trace-ascii|--stderr"):
        noting.file("write", value, labels=COMES)


def _expanded(url: str) -> list[str]:
    """Return the URLs for a set in the host, ``{a,b}``; a range, ``[1-9]``, becomes ``UNKNOWN``."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    before, brace, inside = host.partition("{")
    choices, _, behind = inside.partition("}")
    hosts = [before + choice + behind for choice in choices.split(",")] if brace else [host]
    return [scheme + mark + _RANGE.sub(UNKNOWN, each) + slash + path for each in hosts]


def _urls_of_input(noting: Noting, names: str) -> list[str]:
    """Return the URLs in the standard input, if one of the options ``names`` reads its list of URLs from there."""
    stdin = noting.command.stdin
    if stdin is None or not any(value in STREAMS for value, _ in noting.options.values(names)):
        return []
    return _URL.findall(stdin.text)


_RANGE = re.compile(r"\[\w+-\w+(?::\d+)?\]")
_URL = re.compile(r"[a-z]+://[^\s\"']+")
_PROXIES = "-x|--proxy|--preproxy|--proxy1.0|--socks4|--socks4a|--socks5|--socks5-hostname"


def _instead(noting: Noting) -> Iterator[str]:
    """Return the addresses that are connected to in place of a URL's host."""
    for value in noting.values("--resolve"):
        if value[:1] != "-":
            _, _, addresses = value.partition(":")
            port, _, addresses = addresses.partition(":")
            for address in addresses.split(","):
                host = f"[{address}]" if ":" in address and address[:1] != "[" else address
                yield f"http://{host}:{port}"
    for value in noting.values("--connect-to"):
        host, port = _connected_to(value)
        if host:
            yield f"http://{host}:{port}"


def _connected_to(value: str) -> tuple[str, str]:
    """Return the last two parts of ``HOST1:PORT1:HOST2:PORT2``, whose hosts may be ``[::1]``."""
    rest, _, port = value.rpartition(":")
    if rest.endswith("]"):
        return "[" + rest.rpartition("[")[2], port
    return rest.rpartition(":")[2], port


def _remote_name(url: str) -> str:
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    return last_name(path) if "/" in path.rstrip("/") else UNKNOWN


def _wget(noting: Noting) -> None:
    options = noting.options
    request = Request(noting)
    request.method = options.value("--method") or ""
    for value in noting.values("--post-file|--body-file"):
        request.body()
        request.source(value)
    if options.has("--post-data|--body-data"):
        request.body()
    request.headers("--header")
    request.credentials += [at for _, at in options.values("--user|--password|--http-user|--http-password")]
    lists = noting.values("-i|--input-file")
    for value in [*lists, *(value for value, _ in options.values("--load-cookies"))]:
        if "://" not in value:
            noting.file("read", value)
    urls = [url_of(word) for word in [*noting.operands(), *(value for value in lists if "://" in value)]]
    urls += noting.values("-B|--base")
    urls += _urls_of_input(noting, "-i|--input-file")
    if not urls and lists:
        urls = [UNKNOWN]
    for value in noting.values("-e|--execute"):
        name, _, given = value.partition("=")
        if name.strip().lower() in ("http_proxy", "https_proxy", "ftp_proxy"):
            noting.proxies.append(given.strip())
    request.note(urls)
    for value in noting.values("-o|--output-file|-a|--append-output|--save-cookies"):
        noting.file("write", value)
    if options.has("--spider"):
        return
    folder = options.value("-P|--directory-prefix") or "."
    target = options.value("-O|--output-document")
    if target is not None:
        noting.file("write", target, labels=COMES)
    elif options.has("-r|--recursive|-m|--mirror"):
        noting.file("write", inside(folder), recursive=True, labels=COMES)
    else:
        for url in urls:
            name = _remote_name(url)
            noting.file("write", inside(folder, "index.html" if name == UNKNOWN != url else name), labels=COMES)


def _download(noting: Noting) -> None:
    """``aria2c``, ``axel``, ``yt-dlp``, a browser for the terminal."""
    options = noting.options
    request = Request(noting)
    request.headers("--header|-H")
    urls = [url_of(word) for word in noting.operands()] + _urls_of_input(noting, "-i|--input-file")
    request.note(urls)
    proxies = options.values("--all-proxy|--http-proxy|--https-proxy|--ftp-proxy|--proxy|-http-proxy|-https-proxy")
    noting.proxies += [value for value, _ in proxies]
    for value in noting.values("-i|--input-file"):
        noting.file("read", value)
    folder = options.value("-d|--dir|-P|--paths")
    target = options.value("-o|--out|--output")
    if target or folder:
        noting.file("write", inside(folder, target or UNKNOWN) if folder else target or UNKNOWN, labels=COMES)
    elif noting.command.program in ("aria2c", "axel"):
        for url in urls:
            noting.file("write", _remote_name(url), labels=COMES)


_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PURGE", "PUT"))
_HTTPIE_ITEMS = (":=@", "=@", ":=", "==", "=", "@", ":")


def _httpie(noting: Noting) -> None:
    options = noting.options
    request = Request(noting)
    words = [(noting.command.argv[at], at) for at in options.operands]
    if len(words) > 1 and words[0][0].upper() in _METHODS:
        request.method = words.pop(0)[0].upper()
    if not words:
        return
    url = words.pop(0)[0]
    if url.startswith(":"):
        port, slash, rest = url[1:].partition("/")
        url = f"localhost:{port}{slash}{rest}" if port else f"localhost{slash}{rest}"
    for item, at in words:
        # The separator is the one that stands first, the longest of those that do.
        found = [(item.find(mark), -len(mark), mark) for mark in _HTTPIE_ITEMS if mark in item]
        mark = min(found)[2] if found else ""
        value = item.partition(mark)[2] if mark else ""
        if mark == ":":
            if is_login_header(item.partition(":")[0]):
                request.credentials.append(at)
        elif mark and mark != "==":
            request.body()
            if mark in (":=@", "=@", "@"):
                request.source(value.partition(";")[0])
    stdin = noting.command.stdin
    if stdin is not None and stdin.text and not options.has("-I|--ignore-stdin") and not words:
        request.body()
        request.labels |= stdin.labels
    request.credentials += [at for _, at in options.values("-a|--auth")]
    is_https = noting.command.program in ("https", "xhs") or options.has("--https")
    request.note([url_of(url, "https" if is_https else "http")])
    # One for a scheme each: http:http://proxy:3128.
    noting.proxies += [value.partition(":")[2] for value, _ in options.values("--proxy")]
    target = options.value("-o|--output")
    if target or options.has("-d|--download"):
        noting.file("write", target or _remote_name(url_of(url)), labels=COMES)


EFFECTS = {
    "curl": _curl,
    "wget": _wget,
    "aria2c": _download,
    "yt-dlp": _download,
    "lynx": _download,
    "http": _httpie,
    "xh": _httpie,
}
