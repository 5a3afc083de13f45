"""``curl``, ``wget``, ``http`` and other clients of HTTP, and those of services: ``gh``, ``aws``, ``gsutil``.

The table ``request`` of a declaration names the options of a client by their roles: ``method``; ``head``; ``get`` (the
body goes into the URL); ``uploads`` (files that are put); ``bodies`` (``@file``, ``name=@file`` or a text), ``encoded``
(``name@file``), ``texts`` and ``files`` (whose value is a file) of the body; ``headers``; ``cookies``; ``logins``;
``kept`` (passwords that stay here); ``variables``; ``urls``; ``lists`` (files of URLs); ``hosts``, ``resolve`` and
``connect_to`` (connected to in place of the URL's host); ``proxies`` and ``settings`` (``http_proxy=…``); ``output``,
``folder`` and ``named`` (for files named like the URL; ``always``).
"""

from __future__ import annotations

import re

from agent_hooks.model.tools import file_of_address
from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.declarations import declarations
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

from .effects import COMES, PRIVATE, PRIVATE_STORES, STREAMS, inside, last_name, url_of
from .inner import alias, argument
from .transfers import arrive, transfer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

    from .effects import Noting

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
# A set in the host, `{a,b}`, and a range, `[1-9]`.
_SET = Pattern(r"(\w+://[^/{]*)\{([^/}]*)\}(.*)")
_RANGE = Pattern(r"\[\w+-\w+(?::\d+)?\]")
_URL = Pattern(r"[a-z]+://[^\s\"']+")
# The files in the values of `bodies` and `encoded`.
_FILES = Pattern(r"(?:[^=]*=)?[@<](.*)", re.DOTALL)
_ENCODED_FILES = Pattern(r"[^=]*@(.*)", re.DOTALL)
_API = {"method": "-X|--method", "bodies": "-F|--field|-f|--raw-field", "files": "--input"}
_COPIES = frozenset("cp mv sync put get rsync copy move".split())


class Request:
    """A request of an HTTP client, gathered from the options with ``roles``."""

    __slots__ = ("credentials", "kept", "labels", "method", "noting", "roles", "sends", "sources", "uploads")

    def __init__(self, noting: Noting, roles: dict[str, str]) -> None:
        self.noting = noting
        self.roles = roles
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

    def given(self, *roles: str) -> list[tuple[str, int]]:
        """Return the values of the options with some roles, and their positions."""
        return [each for role in roles for each in self.noting.options.values(self.roles.get(role, ""))]

    def values(self, role: str) -> list[str]:
        """Return the values of the options with a role."""
        return [value for value, _ in self.given(role)]

    def has(self, role: str) -> bool:
        """Whether an option with a role is given."""
        return self.noting.options.has(self.roles.get(role, ""))

    def gather(self) -> None:
        """Note the method, the body and the credentials."""
        self.method = "".join(self.values("method")[-1:]) or ("HEAD" if self.has("head") else "")
        for value in self.values("uploads"):
            self.body("PUT")
            self.uploads = True
            self.source(value)
        for role, pattern in (("bodies", _FILES), ("encoded", _ENCODED_FILES)):
            for match in filter(None, map(pattern.match, self.values(role))):
                for file in match[1].split(","):
                    self.source(file.partition(";")[0].strip('"'))
        for value in self.values("files"):
            self.source(value)
        if any(map(self.has, ("bodies", "encoded", "texts", "files"))):
            self.body("GET" if self.has("get") else "POST")
        for value in self.values("cookies"):
            if "=" not in value:
                self.sends = True
                self.source(value)
        for value in self.values("variables"):
            self.labels |= variable_labels(value[1:].partition("=")[0]) if value[:1] == "%" else NO_LABELS
        for value, at in self.given("headers"):
            if value.startswith("@"):
                self.sends = True
                self.source(value[1:])
            elif is_login_header(value.partition(":")[0]):
                self.credentials.append(at)
        self.credentials += [at for _, at in self.given("logins", "cookies")]
        signs = ["logins"] if "--aws-sigv4" in self.noting.command.argv else []
        self.kept += [at for _, at in self.given("kept", "proxies", *signs)]

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


def client(noting: Noting) -> None:
    """Note the request of a client whose options have declared roles."""
    request = Request(noting, declarations().get(noting.command.name)["request"])
    request.gather()
    words = [*noting.operands(), *request.values("urls")]
    urls = [_RANGE.sub(UNKNOWN, each) for word in words for each in _expanded(url_of(word))]
    lists = request.values("lists")
    for value in lists:
        if "://" in value:
            urls.append(value)
        else:
            noting.file("read", value)
        if value in STREAMS:
            request.labels |= noting.input_labels
            urls += _URL.findall(noting.command.stdin.text) if noting.command.stdin else []
    request.note(urls or ([UNKNOWN] if lists else []))
    request.note(_instead(request))
    noting.proxies += request.values("proxies")
    for value in request.values("settings"):
        name, _, proxy = value.partition("=")
        noting.proxies += [proxy.strip()] if name.strip().lower().endswith("_proxy") else []
    folder = "".join(request.values("folder")[-1:])
    targets = request.values("output")
    if not targets and request.method != "HEAD" and (request.has("named") or request.roles.get("named") == "always"):
        targets = [_remote_name(url) for url in urls]
    for target in targets:
        noting.file("write", inside(folder, target) if folder and target != "-" else target, labels=COMES)


def _expanded(url: str) -> list[str]:
    match = _SET.fullmatch(url)
    return [match[1] + each + match[3] for each in match[2].split(",")] if match else [url]


def _instead(request: Request) -> Iterator[str]:
    """Return the addresses that are connected to in place of a URL's host."""
    for value in request.values("resolve"):  # host:port:address,address
        _, port, addresses = (*value.split(":", 2), "", "")[:3]
        for address in filter(None, addresses.split(",")):
            yield f"http://[{address.strip('[]')}]:{port}" if ":" in address else f"http://{address}:{port}"
    for value in request.values("connect_to"):  # host:port:host:port, where a host may be [::1]
        rest, _, port = value.rpartition(":")
        host = "[" + rest.rpartition("[")[2] if rest.endswith("]") else rest.rpartition(":")[2]
        if host:
            yield f"http://{host}:{port}"
    yield from map(url_of, request.values("hosts"))


def _remote_name(url: str) -> str:
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    return last_name(path) if "/" in path.rstrip("/") else "index.html" if UNKNOWN not in url else UNKNOWN


_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PURGE", "PUT"))
# The first separator of an item is the longest that stands there.
_HTTPIE_ITEM = Pattern(r"[^:=@]*(:=@|=@|:=|==|=|@|:)([^;]*)")


def httpie(noting: Noting) -> None:
    """Note the request of ``http`` and ``xh``."""
    options = noting.options
    request = Request(noting, {"logins": "-a|--auth"})
    request.gather()
    words = [(noting.command.argv[at], at) for at in options.operands]
    if len(words) > 1 and words[0][0].upper() in _METHODS:
        request.method = words.pop(0)[0].upper()
    if not words:
        return
    url = words.pop(0)[0]
    url = url if url[:1] != ":" else f"localhost{url if url[1:2].isdecimal() else url[1:]}"
    for item, at in words:
        match = _HTTPIE_ITEM.match(item)
        mark = match[1] if match else ""
        if mark == ":" and is_login_header(item.partition(":")[0]):
            request.credentials.append(at)
        elif match and mark not in (":", "=="):
            request.body()
            if mark in (":=@", "=@", "@"):
                request.source(match[2])
    stdin = noting.command.stdin
    if stdin is not None and stdin.text and not options.has("-I|--ignore-stdin") and not words:
        request.body()
        request.labels |= stdin.labels
    is_https = noting.command.program in ("https", "xhs") or options.has("--https")
    request.note([url_of(url, "https" if is_https else "http")])
    # One for a scheme each: http:http://proxy:3128.
    noting.proxies += [value.partition(":")[2] for value, _ in options.values("--proxy")]
    target = options.value("-o|--output")
    if target or options.has("-d|--download"):
        noting.file("write", target or _remote_name(url_of(url)), labels=COMES)


def objects(noting: Noting) -> None:
    """Clients of object stores: URLs name objects, paths name files."""
    options = noting.options
    for value in noting.values("--endpoint-url"):
        noting.receive(value)
    action = options.subcommand[-1] if options.subcommand else ""
    words = noting.operands()
    if not action and words:
        action = words.pop(0)
    name = f"s3://{options.value('--bucket') or UNKNOWN}/{options.value('--key') or ''}"
    if action in ("put-object", "upload-part"):
        noting.send(name, sources=noting.values("--body"))
    elif action == "get-object":
        noting.receive(name)
        for path in words[:1]:
            noting.file("write", path, labels=COMES)
    elif action == "download":
        for path in noting.values("--file|--dest"):
            noting.file("write", path, labels=COMES)
    elif action in _COPIES:
        words += ["./"] if action == "get" and len(words) == 1 else []
        recursive = action in ("sync", "rsync") or options.has("--recursive|-r|-R")
        mirrors = recursive and options.has("--delete|-d|--delete-unmatched-destination-objects")
        transfer(noting, words, recursive=recursive, moves=action in ("mv", "move"), mirrors=mirrors)


def forge(noting: Noting) -> None:
    """``gh`` and ``glab``."""
    options = noting.options
    host = "gitlab.com" if noting.command.program == "glab" else "github.com"
    first, second, *_ = (*options.subcommand, "", "")
    words = noting.operands()
    if first in ("secret", "variable", "auth"):
        return  # kept by the forge for its own jobs
    if first == "api":
        request = Request(noting, _API)
        request.gather()
        request.note(f"https://api.{options.value('--hostname') or host}/{each.lstrip('/')}" for each in words[:1])
    elif (first, second) in (("gist", "create"), ("snippet", "create"), ("release", "upload")):
        noting.send(f"https://{host}", labels=noting.labels, sources=words[first == "release" :])
    elif (first, second) == ("release", "download"):
        for value in noting.values("-p|--pattern|-O|--output"):
            arrive(noting, value, options.value("-D|--dir") or "./", COMES, recursive=False)
    else:
        files = noting.values("-F|--body-file|--notes-file")
        labels = noting.labels if "-" in files else noting.command.labels_of()
        if files or labels & PRIVATE:
            noting.send(f"https://{host}", labels=labels, sources=files)


def run_by_gh(command: Command, options: Options) -> list[Inner]:
    """``gh alias set name text``."""
    if options.subcommand != ("alias", "set") or len(options.operands) < 2:
        return []
    return alias("gh", argument(command, options.operands[1]), is_line=options.has("-s|--shell"))
