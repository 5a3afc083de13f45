"""What Python code sends and receives: HTTP clients, sockets, mail, remote shells, databases."""

from __future__ import annotations

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import CREDENTIAL, NETWORK, NO_LABELS, UNKNOWN
from agent_hooks_guards.programs.credentials import as_login, in_address, in_token_request, is_login_header

from .python_files import read_labels, written
from .python_values import Value, constant, items_of, labels_of, name, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_call import Call
    from .python_walk import Walk

_NETWORK = frozenset((NETWORK,))
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
# The modules whose functions and clients have the methods of HTTP.
CLIENTS = frozenset("requests httpx aiohttp urllib3 httplib2 grequests treq cloudscraper requests_html".split())
# Where requests go, or go by, besides what they name.
_WAYS = frozenset(("base_url", "proxies", "proxy", "proxy_url"))
_VERBS = frozenset("get post put patch delete head options".split())
_MAKING = frozenset(
    "Session session Client AsyncClient ClientSession PoolManager ProxyManager Http HTTPSession HTMLSession "
    "create_scraper".split()
)


def contacted(walk: Walk, address: str, method: str, labels: frozenset[str]) -> Value:
    """Note that something is sent to, or asked of, an address."""
    if method in _READING:
        walk.effect("receive", address, method=method)
        if labels:
            walk.effect("send", address, labels=labels, method=method)
    else:
        walk.effect("send", address, labels=labels, method=method)
    return unknown(_NETWORK)


def http(call: Call) -> Value | None:
    """Call something of an HTTP client's module; None for what sends nothing."""
    word = call.name.rpartition(".")[2]
    for key in _WAYS.intersection(call.keywords):
        _note_ways(call.walk, call.keywords[key])
    if word in _MAKING:
        return name(call.name.partition(".")[0])
    if word in ("request", "stream", "urlopen") and len(call.arguments) + len(call.keywords) > 1:
        if call.name.startswith("httplib2"):
            return contacted(
                call.walk, call.text(0, "uri"), call.text(1, "method", default="GET").upper(), call.labels()
            )
        url = call.text(1, "url")
        return contacted(call.walk, url, call.text(0, "method").upper(), _request_labels(call, url))
    if word in _VERBS:
        url = call.text(0, "url")
        return contacted(call.walk, url, word.upper(), _request_labels(call, url))
    if word in ("ws_connect", "websocket_connect"):
        return _connect(call)
    return None


def _request_labels(call: Call, url: str) -> frozenset[str]:
    """Return where a request's parts come from; credentials in its headers and its ``auth`` are logins."""
    found = NO_LABELS
    texts: list[str] = []
    for key, value in (*((str(at), each) for at, each in enumerate(call.arguments)), *call.keywords.items()):
        labels = labels_of(value)
        if CREDENTIAL not in labels:
            found |= labels
        elif key in ("auth", "cookies"):
            found |= as_login(labels)
        elif key == "headers" or (key == "2" and value.kind == "dict" and call.name.endswith("Request")):
            found |= _header_labels(value)
        else:
            found |= in_address(text_of(value), labels)
        if value.kind == "dict":
            texts += map(str, value.it)
    return in_token_request(url, texts, found)


def _header_labels(headers: Value) -> frozenset[str]:
    if headers.kind != "dict":
        return as_login(labels_of(headers))
    return NO_LABELS.union(
        *(
            as_login(labels_of(value)) if is_login_header(str(key)) else labels_of(value)
            for key, value in headers.it.items()
        )
    )


def _note_ways(walk: Walk, value: Value) -> None:
    """Note the hosts that others are reached through."""
    for each in value.it.values() if value.kind == "dict" else (value,):
        walk.effect("receive", text_of(each), method="GET")


def _proxies(call: Call) -> Value:
    if (found := call.given(0, "proxies")) is not None:
        _note_ways(call.walk, found)
    return unknown()


def _request(call: Call) -> Value:
    """``urllib.request.Request``."""
    data = call.given(1, "data")
    method = call.text(5, "method", default="GET" if data is None else "POST")
    url = call.text(0, "url")
    return Value("request", url, _request_labels(call, url), method)


def request_method(call: Call, request: Value, method: str) -> Value:
    """Call a method of a ``urllib.request.Request``."""
    if method in ("add_header", "add_unredirected_header"):
        labels = labels_of(call.value(1, "val"))
        request.labels |= as_login(labels) if is_login_header(call.text(0, "key")) else labels
        return constant(None)
    return unknown(request.labels)


def _urlopen(call: Call) -> Value:
    target = call.value(0, "url", "fullurl")
    data = call.given(1, "data")
    if target.kind == "request":
        labels = target.labels | call.labels()
        return contacted(call.walk, target.it, target.parts.upper() if data is None else "POST", labels)
    if path := file_of_address(text_of(target)):
        call.walk.effect("read", path)
        return unknown(read_labels(call.walk, path))
    return contacted(call.walk, text_of(target), "GET" if data is None else "POST", call.labels())


def _download(call: Call) -> Value:
    """``urlretrieve``, ``wget.download``."""
    result = contacted(call.walk, call.text(0, "url"), "GET", labels_of(call.value(0, "url")))
    if call.given(1, "filename", "out") is not None:
        path = call.path(1, "filename", "out")
        call.walk.effect("write", path)
        written(call.walk, path, result)
        return Value("tuple", [constant(path), unknown()])
    return Value("tuple", [Value("constant", f"/tmp/{UNKNOWN}", _NETWORK), unknown()])  # noqa: S108 - where it lands


def _address(value: Value) -> str:
    items = items_of(value) if value.kind in ("tuple", "list") else None
    return ":".join(map(text_of, items[:2])) if items else text_of(value)


def _socket(call: Call) -> Value:
    del call
    return Value("socket", "", _NETWORK, {"address": UNKNOWN})


def _connect(call: Call) -> Value:
    """Something is connected to as it is made."""
    word = call.name.rpartition(".")[2]
    if word == "open_connection":
        host = f"{call.text(0, 'host')}:{call.text(1, 'port')}"
    elif word in (
        "Telnet",
        "HTTPConnection",
        "HTTPSConnection",
        "SMTP",
        "SMTP_SSL",
        "FTP",
        "FTP_TLS",
        "Connection",
        "remote",
    ):
        host = call.text(0, "host") + (f":{call.text(1, 'port')}" if call.given(1, "port") is not None else "")
    else:
        host = _address(call.value(0, "address", "uri", "url"))
    if host and word not in ("HTTPConnection", "HTTPSConnection"):
        call.walk.effect("send", host)
    made = Value("socket", "", _NETWORK, {"address": host or UNKNOWN})
    return Value("tuple", [made, made]) if word == "open_connection" else made


def _socket_pair(call: Call) -> Value:
    """A socket made of another: wrapped, listening."""
    found = call.given(0, "sock")
    return found if found is not None and found.kind == "socket" else _socket(call)


def sent(walk: Walk, socket: Value, value: Value) -> None:
    """Note that a value is sent to where a socket is connected."""
    walk.effect("send", socket.parts["address"], labels=labels_of(value) - _NETWORK)


def socket_method(call: Call, socket: Value, method: str) -> Value:
    """Call a method of a socket, or of what is like one: a client of mail or FTP, a connection of HTTP or SSH."""
    walk, parts = call.walk, socket.parts
    if method in ("connect", "connect_ex", "set_tunnel"):
        first = call.value(0, "address", "hostname", "host")
        if first.kind in ("tuple", "list"):
            parts["address"] = _address(first)
        else:
            parts["address"] = text_of(first) + (
                f":{call.text(1, 'port')}" if call.given(1, "port") is not None else ""
            )
        walk.effect("send", parts["address"])
    elif method in (
        "send",
        "sendall",
        "sendto",
        "sendmsg",
        "write",
        "writelines",
        "send_bytes",
        "sendline",
        "putrequest",
    ):
        if method == "sendto" and len(call.arguments) > 1:
            parts["address"] = _address(call.arguments[-1])
        sent(walk, socket, Value("list", call.arguments[:1]))
    elif method == "sendfile":
        sent(walk, socket, call.value(0))
    elif method in ("request", "send_request"):
        url = f"{parts['address']}{call.text(1, 'url')}"
        contacted(walk, url, call.text(0, "method").upper(), _request_labels(call, url))
    elif method in ("sendmail", "send_message", "login_and_send") or method in ("storbinary", "storlines"):
        walk.effect("send", parts["address"], labels=call.labels())
    elif method in ("exec_command", "run", "sudo", "execute", "exec_cmd"):
        from .python_processes import shell

        shell(walk, call.value(0, "command"))
    elif method in ("put", "putfo", "upload", "get", "getfo"):
        if method in ("put", "upload"):
            path = call.path(0, "localpath", "local")
            walk.effect("read", path)
            walk.effect("send", parts["address"], labels=read_labels(walk, path))
        elif method == "get" and call.given(1, "localpath", "local") is not None:
            path = call.path(1, "localpath", "local")
            walk.effect("write", path)
            written(walk, path, unknown(_NETWORK))
    elif method in (
        "fileno",
        "makefile",
        "dup",
        "detach",
        "open_sftp",
        "open_session",
        "get_transport",
        "accept",
        "invoke_shell",
        "wrap_socket",
        "__enter__",
        "makefile_stdin",
    ):
        return Value("tuple", [socket, unknown()]) if method == "accept" else socket
    elif method in ("recv_into", "readinto"):
        return unknown()
    elif method in ("bind", "listen", "settimeout", "setsockopt", "close", "set_missing_host_key_policy"):
        return constant(None)
    return unknown(_NETWORK)


def _resolve(call: Call) -> Value:
    """A name is looked up: the name itself is sent."""
    labels = call.labels()
    if labels:
        call.walk.effect("send", call.text(0, "host", "qname"), labels=labels)
    return unknown()


def _database(call: Call) -> Value:
    """A connection to a database: its statements are told as those of the database's own program."""
    program = {"psycopg2": "psql", "psycopg": "psql", "asyncpg": "psql", "sqlalchemy": "psql", "pg8000": "psql"}
    first = call.name.partition(".")[0]
    words = [program.get(first, "mysql"), "-c" if first in program else "-e"]
    return Value("database", words)


def _redis(call: Call) -> Value:
    del call
    return Value("redis", None)


def database_method(call: Call, database: Value, method: str) -> Value:
    """Call a method of a database's connection or cursor."""
    from .python_processes import start

    if database.kind == "redis":
        if method in ("flushall", "flushdb", "shutdown"):
            start(call.walk, [constant("redis-cli"), constant(method.upper())])
        elif method == "execute_command":
            start(call.walk, [constant("redis-cli"), *call.arguments])
        return unknown()
    if method in ("execute", "executemany", "executescript", "fetch", "fetchrow", "fetchval", "exec_driver_sql"):
        statement = call.value(0, "sql", "query", "statement", "operation")
        start(call.walk, [*map(constant, database.it), statement])
        return unknown()
    return database if method in ("cursor", "connect", "begin", "connection", "__enter__", "acquire") else unknown()


NETWORK_CALLS: dict[str, Callable[[Call], Value]] = {
    "urllib.request.Request": _request,
    "urllib.request.ProxyHandler": _proxies,
    "urllib.request.urlopen": _urlopen,
    "urllib.urlopen": _urlopen,
    "urllib.request.urlretrieve": _download,
    "urllib.urlretrieve": _download,
    "wget.download": _download,
    "socket.socket": _socket,
    "paramiko.SSHClient": _socket,
    "paramiko.client.SSHClient": _socket,
    "paramiko.Transport": _connect,
    "fabric.Connection": _connect,
    "ssl.wrap_socket": _socket_pair,
    "socket.fromfd": _socket_pair,
    **dict.fromkeys(
        "socket.create_connection asyncio.open_connection telnetlib.Telnet http.client.HTTPConnection "
        "http.client.HTTPSConnection smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP ftplib.FTP_TLS "
        "websocket.create_connection websockets.connect websockets.sync.client.connect asyncssh.connect "
        "pwn.remote".split(),
        _connect,
    ),
    **dict.fromkeys(
        "socket.gethostbyname socket.getaddrinfo socket.gethostbyname_ex dns.resolver.resolve".split(), _resolve
    ),
    **dict.fromkeys(
        "psycopg2.connect psycopg.connect asyncpg.connect pg8000.connect pymysql.connect MySQLdb.connect "
        "mysql.connector.connect sqlalchemy.create_engine".split(),
        _database,
    ),
    **dict.fromkeys(
        "redis.Redis redis.StrictRedis redis.from_url redis.Redis.from_url redis.asyncio.Redis".split(), _redis
    ),
}
