"""Calls of Python code that send and receive: HTTP clients, sockets, mail, remote shells."""

from __future__ import annotations

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import CREDENTIAL, NETWORK, NO_LABELS, UNKNOWN
from agent_hooks_guards.programs.credentials import as_login, in_address, in_token_request, is_login_header

from .python_files import FileCall, file_labels, keep
from .python_values import Value, items_of, labels_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_expressions import Expressions


class NetworkCall(FileCall):
    """A call that sends or receives, by the kinds of python.toml."""

    def _client(self) -> Value:
        """Make a client, or note the hosts that a request goes through: its base address and its proxies."""
        for key in ("base_url", "proxy", "proxies"):
            value = self.keywords.get(key, Value({}))
            for each in value.it.values() if isinstance(value.it, dict) else (value,):
                self.walk.effect("receive", text_of(each), method="GET")
        return Value("requests", kind="name")

    def _http(self) -> Value:
        self._client()
        at = int(self.word in ("request", "stream"))
        url = self.text(at, "url")
        return _contact(self.walk, url, (self.text(0, "method") if at else self.word).upper(), self.labels_in(url))

    def labels_in(self, url: str) -> frozenset[str]:
        """Return where the parts of a request come from; credentials in its headers and its ``auth`` are logins."""
        found = NO_LABELS
        texts: list[str] = []
        for key, value in (*((str(at), each) for at, each in enumerate(self.arguments)), *self.keywords.items()):
            labels, is_dict = labels_of(value), isinstance(value.it, dict) and not value.type
            texts += map(str, value.it) if is_dict else ()
            if key == "headers" or (key == "2" and self.word == "Request"):
                for name, each in value.it.items() if is_dict else (("authorization", value),):
                    found |= as_login(labels_of(each)) if is_login_header(str(name)) else labels_of(each)
            elif key in ("auth", "cookies"):
                found |= as_login(labels)
            else:
                found |= in_address(text_of(value), labels) if CREDENTIAL in labels else labels
        return in_token_request(url, texts, found)

    def _request(self) -> Value:
        url, default = self.text(0, "url"), "GET" if self.given(1, "data") is None else "POST"
        return Value(url, self.labels_in(url), "request", self.text(5, "method", default=default).upper())

    def _urlopen(self) -> Value:
        target, data = self.value(0, "url", "fullurl"), self.given(1, "data")
        url, is_download = str(target.it) if target.type == "request" else text_of(target), self.word != "urlopen"
        if path := file_of_address(url):
            self.walk.effect("read", path)
            return Value(UNKNOWN, file_labels(self.walk, path))
        method = target.owner if target.type == "request" else "GET"
        made = _contact(self.walk, url, "POST" if data is not None and not is_download else method, self.labels())
        if not is_download:
            return made
        path = self.walk.path(self.value(1, "filename", "out"))
        if path != UNKNOWN:
            self.walk.effect("write", path)
            keep(self.walk, path, made)
        return Value((Value(path, made.labels), Value()))

    def _connect(self) -> Value:
        """Make a connection; some are only connected later."""
        host = _address(self.given(0, "address", "host", "uri", "url"), self.arguments[1:2])
        if host and self.name not in ("socket.socket", "http.client.HTTPConnection", "http.client.HTTPSConnection"):
            self.walk.effect("send", host)
        made = Value("" if self.name == "socket.socket" else host, frozenset((NETWORK,)), "connection")
        return Value((made, made)) if self.word == "open_connection" else made

    def _reconnect(self) -> Value:
        self.arguments[0].it = _address(self.given(1, "address", "hostname", "host"), self.arguments[2:3])
        self.walk.effect("send", self.arguments[0].it)
        return Value(None)

    def _send(self) -> Value:
        connection, *given = self.arguments
        address = connection.it or UNKNOWN
        labels = labels_of(*given, *self.keywords.values()) - {NETWORK}
        if self.word == "sendto":
            address = _address(given[-1], [])
        elif self.word in ("put", "upload"):
            path = self.walk.path(self.value(1, "localpath"))
            self.walk.effect("read", path)
            labels |= file_labels(self.walk, path)
        elif self.word == "request":
            url = f"{address}{self.text(2, 'url')}"
            request = NetworkCall(self.walk, "", [Value(""), *given[2:]], self.keywords)
            return _contact(self.walk, url, self.text(1, "method").upper(), request.labels_in(url))
        self.walk.effect("send", address, labels=labels)
        return Value(UNKNOWN, frozenset((NETWORK,)))

    def _resolve(self) -> Value:
        if labels := self.labels():
            self.walk.effect("send", self.text(0, "host", "qname"), labels=labels)
        return Value()


def _contact(walk: Expressions, url: str, method: str, labels: frozenset[str]) -> Value:
    """Record a request of HTTP; return its answer."""
    reads = method in ("GET", "HEAD", "OPTIONS")
    if reads:
        walk.effect("receive", url, method=method)
    if labels or not reads:
        walk.effect("send", url, labels=labels, method=method)
    return Value(UNKNOWN, frozenset((NETWORK,)))


def _address(target: Value | None, more: list[Value]) -> str:
    if target is None:
        return ""
    parts = items_of(target) if isinstance(target.it, (list, tuple)) else [target, *more]
    return ":".join(map(text_of, (parts or [])[:2]))
