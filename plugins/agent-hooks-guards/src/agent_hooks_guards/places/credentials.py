"""Credentials in variables of the environment: which names hold one, and the hosts that each may be shown to.

A value keeps the name of the variable in its labels: ``credential:NAME`` where it is sent as data, ``login:NAME`` where
it is used for logging in (an authorization header, ``-u``, the user part of a URL).
"""

from __future__ import annotations

import os

from agent_hooks.system.caching import cache, lru_cache
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import CREDENTIAL, ENVIRONMENT, NO_LABELS, SECRET, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OF = "credential:"
_LOGIN = "login:"

_WEB = ("http:", "https:", "ws:", "wss:", "ftp:")
_LOWER_ENDS = ("_password", "_pass", "_token", "_secret", "_key", "_credentials")
_LOGIN_HEADERS = ("token", "key", "auth", "authorization", "secret", "password", "cookie")
# Sent in the body of a token request (RFC 6749, 2.3.1 and 6).
_OF_OAUTH = ("CLIENT_SECRET", "REFRESH_TOKEN")
_OAUTH_ENDS = ("/token", "/access_token")

_SELF_HOSTED = "+"


@cache
def _words() -> dict[str, frozenset[str]]:
    """Return the lists of words by key."""
    rows = load_tables(os.path.dirname(__file__))["credential_words"]
    return {key: frozenset(words.split()) for key, words in rows.items()}


@cache
def _table() -> dict[str, frozenset[str]]:
    """Return the hosts that a credential may be shown to, by a part of its variable's name."""
    rows = load_tables(os.path.dirname(__file__))["credential_hosts"]
    return {word: frozenset(hosts.split()) for words, hosts in rows.items() for word in words.split()}


@lru_cache(maxsize=256)
def variable_labels(name: str) -> frozenset[str]:
    """Return the labels of a variable of the environment: none unless its name says that it holds a credential.

    A name with lower-case letters does if it ends with ``_password``, ``_pass``, ``_token``, ``_secret``, ``_key`` or
    ``_credentials``.
    """
    if not name.isupper() and name.rpartition("_")[0] and name.lower().endswith(_LOWER_ENDS):
        name = name.upper()
    known = _words()
    words = name.split("_")
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in known["addresses"]:
        is_secret = before in known["databases"]
    elif last in known["plain_ends"] or (before, last) == ("NEXT", "TOKEN") or not known["plain"].isdisjoint(words):
        is_secret = False
    elif last in ("KEY", "KEYS"):
        is_secret = before not in known["plain_keys"]
    else:
        is_secret = (
            not known["secrets"].isdisjoint(words)
            or last == "PASS"
            or "_KEY_" in name
            or (last == "PWD" and before not in ("", "OLD"))
        )
    return frozenset((CREDENTIAL, _OF + name)) if is_secret or name.endswith("CONNECTION_STRING") else NO_LABELS


def is_carried(labels: Iterable[str]) -> bool:
    """Whether one of the labels is of a credential."""
    return any(label.startswith((_OF, _LOGIN)) for label in labels)


def private(labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of secrets among ``labels``."""
    return frozenset(
        each for each in labels if each in (SECRET, ENVIRONMENT, CREDENTIAL) or each.startswith((_OF, _LOGIN))
    )


def as_login(labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of the same value in a place for logging in."""
    if CREDENTIAL not in labels:
        return labels
    return frozenset(_LOGIN + each[len(_OF) :] if each.startswith(_OF) else each for each in labels - {CREDENTIAL})


def is_login_header(name: str) -> bool:
    """Whether a header of this name is one for logging in."""
    return name.strip().lower().endswith(_LOGIN_HEADERS)


def in_address(address: str, labels: frozenset[str], *, path: bool = False) -> frozenset[str]:
    """Return the labels of an address as it is sent: a login where only its user part is unknown. ``path``: where the
    path may be unknown as well.
    """
    if CREDENTIAL not in labels:
        return labels
    before, separator, rest = address.partition("://")
    authority, slash, after = (rest if separator else before).partition("/")
    user, at, host = authority.rpartition("@")
    is_login = at and UNKNOWN in user and UNKNOWN not in host and (path or UNKNOWN not in slash + after)
    return as_login(labels) if is_login else labels


def in_url(address: str, labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of a URL that a program is given: as ``in_address``, and a login where nothing is known of the
    host either.
    """
    user, _, host = address.partition("://")[2].partition("/")[0].rpartition("@")
    if UNKNOWN in user and not host.partition(":")[0].strip(UNKNOWN):
        return as_login(labels)
    return in_address(address, labels, path=True)


def in_token_request(address: str, texts: Iterable[str], labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of a request with ``texts`` in it: a client's secret in an OAuth token request is a login."""
    is_endpoint = address.startswith("https://") and address.partition("?")[0].rstrip("/").endswith(_OAUTH_ENDS)
    is_of_client = all(each.endswith(_OF_OAUTH) for each in labels if each.startswith(_OF))
    is_request = any("grant_type" in each or "code" in each for each in texts)
    return as_login(labels) if is_endpoint and is_of_client and is_request else labels


def judge_credentials(labels: frozenset[str], address: str) -> str:
    """Return where the credentials among ``labels`` would go with ``address``: ``foreign`` if one goes to a host that
    is not its own, ``unclear`` if that cannot be decided, else "".
    """
    found = ""
    for label in labels:
        is_login = label.startswith(_LOGIN)
        if is_login or label.startswith(_OF):
            verdict = _judge(label.partition(":")[2], address, is_login=is_login)
            if verdict == "foreign":
                return verdict
            found = found or verdict
    return found


def _judge(name: str, address: str, *, is_login: bool) -> str:
    from .hosts import host_kind

    words = set(name.split("_"))
    if address.startswith(UNKNOWN) and not words.isdisjoint(_words()["addresses"]):
        return ""
    host = host_of(address)
    known = _table()
    named = words.intersection(known)
    listed = [known[word] for word in named - _words()["generic"] or named]
    # `origin` is a remote whose host is not known.
    is_unknown = not host.strip(UNKNOWN) or host.endswith(UNKNOWN) or ("." not in host and ":" not in address)
    if is_unknown:
        return "" if is_login else "foreign" if listed else "unclear"
    hosts = frozenset().union(*listed)
    is_own = any(f".{host}".endswith(each) if each[0] == "." else host == each for each in hosts - {_SELF_HOSTED})
    is_connection = "://" in address and not address.lower().startswith(_WEB)
    if (
        is_login
        and is_connection
        and (not hosts or not words.isdisjoint(_words()["databases"] | _words()["database_accounts"]))
    ):
        return ""
    if is_own and (is_login or _words()["login_only"].isdisjoint(words)):
        return ""
    if not listed:
        if is_login or registered_name(host) in words - _words()["ordinary"] - _words()["secrets"] - _words()["keys"]:
            return ""
        return "unclear" if "." not in host or host_kind(host) == "private" else "foreign"
    if _SELF_HOSTED in hosts and not is_own:
        if host.partition(".")[0].upper() in words:
            return ""
        return "unclear" if is_login else "foreign"
    return "foreign"


def host_of(address: str) -> str:
    """Return the host of a URL, or of ``host:port``, without user and port, in lower case."""
    from .hosts import readings

    return readings(address)[0][1]


def registered_name(host: str) -> str:
    """Return the registered name of a host in upper case: ``ACME`` of ``api.acme.co.uk``."""
    parts = host.upper().split(".")
    at = -3 if len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in ("CO", "COM", "ORG", "NET", "AC") else -2
    return parts[at] if len(parts) >= -at else ""
