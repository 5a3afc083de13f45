"""Redaction: the values of named fields, wherever else they occur, and secrets known by their form or position:
``curl -u ada:…``, ``mysql -p…``, ``PGPASSWORD=…``, ``Authorization: Bearer …``.

For records, where redacting too much does no harm. Variables and substitutions are no secrets.
"""

from __future__ import annotations

import re
from shlex import join

from agent_hooks import RegistrationError
from agent_hooks.model.values import Value
from agent_hooks.system.quick_json import dumps

from .secret_scan import MAX_PASSES, REDACTED, Found, as_setting, find, replaced, without_overlaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_NAME = (
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)"
)
# A shell word of quoted and plain parts, unless it starts with a variable, a substitution or a placeholder.
_WORD = r"""(?P<secret>(?!"?(?:\$[\w({]|`|<|\{\{|%\w*%))(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"|;&<>()`\\])+)"""
_SCHEME = r"(?:bearer|basic|token|digest|apikey|key)"
_VALUE = (
    rf"""(?P<secret>(?!\$[\w({{]|`|<|\{{\{{|{_SCHEME}\s)"""
    # All that is in quotes, else a word.
    r"""(?:(?<=")(?:[^"\\\n]|\\[^"\n])+(?=\\?")|(?<=')(?:[^'\\\n]|\\[^'\n])+(?=\\?')|[^\s'"|;&,`]+))"""
)
# Cookies, but not the name of a file with them.
_PAIRS = r"""'[^'=]+=[^']*'|"[^"=$]+=(?!\$)[^"]*"|[^\s'"=$|;&]+=(?!\$)[^\s'"|;&]+"""
# From the name of a program to an option of it, within one command.
_TO = r"\b[^|;&\n]{0,400}?\s"

_PATTERNS = (
    # Assignments, options with `=`, parameters of URLs.
    rf"(?i)(?<![\w$.-])[\w.-]{{0,80}}?(?:{_NAME}|_pwd)\w{{0,20}}(?:=(?!=)|\s{{0,3}}=\s{{0,3}}(?=['\"])){_WORD}",
    rf"(?i)(?<!\S)--?(?:[a-z0-9]+[-_]){{0,4}}(?:{_NAME}|pass|bearer)\s+(?!-){_WORD}",
    (
        rf"(?:\b(?:curl|curlie|wget|https?|xhs?|lftp|svn){_TO}-[a-zA-Z]{{0,8}}?[uUa]|(?<!\S)--(?:user|proxy-user|http-user|auth))"
        r"[\s=]?\s{0,4}['\"]?[^\s:'\"|;&]{0,64}:"
        r"(?P<secret>(?!\$[\w({]|%|\d+\b)[^\s'\"|;&]+)"
    ),
    rf"(?i)\b(?:proxy-)?authorization['\"]?\s{{0,4}}[:=]\s{{0,4}}['\"]?(?:{_SCHEME}\s+)?{_VALUE}",
    rf"(?i)(?<![\w${{-])(?!nopasswd)[\w-]{{0,80}}?{_NAME}\\?['\"]?\s{{0,4}}:(?![-=+?])\s{{0,4}}\\?['\"]?{_VALUE}",
    r"(?i)\bcookie\s{0,4}:\s{0,4}(?P<secret>(?!\$)[^'\"\n]+)",
    r"://[^\s:/@'\"]{0,64}:(?P<secret>(?!\$[\w({])[^\s/@'\"]+)@",
    # Short options of programs.
    rf"\b(?:mysql\w*|mariadb[\w-]*|7z\w?){_TO}-p{_WORD}",
    rf"\b(?:sshpass|twine|mongo\w*|snowsql|useradd|usermod|login){_TO}-p[\s=]{{0,4}}{_WORD}",
    rf"\b(?:redis-cli|valkey-cli){_TO}-a\s{{0,4}}{_WORD}",
    rf"\b(?:sqlcmd|bcp|zip|unzip){_TO}-P\s{{0,4}}{_WORD}",
    rf"\b(?:ldap\w+){_TO}-w\s{{0,4}}{_WORD}",
    rf"\bcurl{_TO}(?:-[a-zA-Z]{{0,8}}?b|--cookie)[\s=]?\s{{0,4}}(?P<secret>{_PAIRS})",
    rf"\bopenssl{_TO}-[kK]\s+{_WORD}",
    rf"\bopenssl{_TO}(?:-\w+\s+)?pass:{_WORD}",
    r"(?<!\S)-U\s{0,4}['\"]?[^\s%'\"]{1,64}%(?P<secret>[^\s'\"]+)",
    rf"/user:\S{{1,64}}\s+{_WORD}",
    rf"\bvault\s+login\s+(?:-\S+\s+){{0,4}}(?!\w+=){_WORD}",
    rf"(?:_authToken|aws_secret_access_key|aws_session_token)\s+{_WORD}",
    rf"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+{_WORD}",
    # Passwords on stdin.
    (
        rf"\b(?:echo|printf)\s+(?:-\w+\s+|['\"]?%s(?:\\n)?['\"]?\s+){{0,3}}{_WORD}\s*\|[^|;&\n]{{0,200}}?"
        r"(?:--password-stdin|--with-token|\bsudo\s(?:-\w+\s+)*-S|chpasswd|--passphrase-fd)"
    ),
    rf"(?:--password-stdin|--with-token|\bsudo\s[^|;&\n]{{0,100}}?-S\b[^|;&\n]{{0,200}}?|chpasswd)\s*<<<\s*{_WORD}",
)

# Each pattern needs one of these, or the program "vault".
_MARKS = frozenset("=:-|<_")

_MARKER = r"\[redacted(?:: ([a-z0-9-]{1,40}))?\]"
DEFAULT_FIELDS = tuple(
    "authorization cookie cookies credential credentials key keys passphrase passwd password passwords pwd secret "
    "secrets token tokens".split()
)
# Shorter secrets are redacted under their own key only: elsewhere they look like ordinary text.
_MIN_SECRET = 4
_MAX_SECRET = 4096
_MAX_DEPTH = 32
# Strings beside a list of arguments that may be the name of the program.
_MAX_PROGRAMS = 4


class Redaction:
    """Turns values into JSON types without secrets.

    ``fields``: the values of keys that end in one of these become ``[redacted]``, at any depth. Only letters and digits
    count, in any case: ``token`` matches ``X-Auth-Token``. ``max_length``: the characters of a string that are kept.
    Objects other than plain data become the name of their type. Raises ``RegistrationError`` for a field without a
    letter or digit, which would match every key.
    """

    def __init__(self, fields: Iterable[str], max_length: int) -> None:
        self._endings = tuple(map(_plain_key, fields))
        if "" in self._endings:
            raise RegistrationError("redact must be a list of keys, each with a letter or a digit at least.")
        self._max_length = max_length
        self._max_searched = max_length + _MAX_SECRET

    def secrets_in(self, *values: Any) -> tuple[str, ...]:
        """Return the secrets in ``values``, in each way in which other text may quote them, longest first."""
        found: set[str] = set()
        waiting = [(value, False) for value in values]
        while waiting:
            value, is_secret = waiting.pop()
            items = _items(value)
            if items is not None:
                waiting.extend((item, is_secret or self._is_redacted(key)) for key, item in items)
                value, is_secret = _command_in(value), False
            if is_secret and isinstance(value, (str, int, float)):
                found.add(str(value))
            elif isinstance(value, str):
                found.update(plain_secrets(value[: self._max_searched]))
        spellings = {spelling for each in found if len(each) >= _MIN_SECRET for spelling in _spellings(each)}
        return tuple(sorted(spellings, key=len, reverse=True))

    def text(self, text: str, secrets: Iterable[str]) -> str:
        """Return ``text`` without ``secrets`` and those known by their form or position, cut to length."""
        secrets = tuple(secrets)
        for _ in range(MAX_PASSES):  # what stands beside a secret may be seen as one afterwards only
            text, before = _without(text, secrets, self._max_searched), text
            if text == before:
                break
        # Cut afterwards, which could leave half of one.
        return text if len(text) <= self._max_length else f"{text[: self._max_length]}... ({len(text)} characters)"

    def value(self, value: Any, secrets: tuple[str, ...], depth: int = 0) -> Any:
        """Return ``value`` in JSON types, without redacted fields and secrets."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value, secrets)
        if isinstance(value, (int, float)):
            is_plain = value - value == 0 and not any(secret in str(value) for secret in secrets)
            return value if is_plain else self.text(str(value), secrets)
        items = _items(value)
        if items is None:
            return f"<{type(value).__name__}>"
        if depth >= _MAX_DEPTH:
            return "[nested too deeply]"
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.value(item, secrets, depth + 1) for _, item in items]
        return {
            self.text(str(key), secrets): REDACTED
            if self._is_redacted(key) or find(as_setting(key, item))
            else self.value(item, secrets, depth + 1)
            for key, item in items
        }

    def _is_redacted(self, key: Any) -> bool:
        return isinstance(key, str) and _plain_key(key).endswith(self._endings)


def _plain_key(key: str) -> str:
    return "".join(filter(str.isalnum, key.casefold()))


def _items(value: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return the keys and items of a container of plain data; None for anything else."""
    if isinstance(value, Value):
        value = value.as_dict()
    if isinstance(value, dict):
        return iter(value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ((None, item) for item in value)
    return None


def _command_in(value: Any) -> str:
    """Return the command line that a list of arguments is, or a program beside such a list; "" for anything else."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, (list, tuple))]
        programs = [item for item in value.values() if isinstance(item, str) and item and " " not in item]
        words = [*programs[:_MAX_PROGRAMS], *(word for each in lists for word in each)] if lists and programs else []
    else:
        words = [*value] if isinstance(value, (list, tuple)) else []
    if len(words) < 2 or not all(isinstance(word, str) for word in words):  # one word is none
        return ""
    return join(words)


def _spellings(secret: str) -> tuple[str, ...]:
    """Return the secret as it is, and as Python or JSON quote it."""
    return (secret, repr(secret)[1:-1], dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1])


def plain_secrets(text: str) -> Iterator[str]:
    """Yield the secrets in ``text`` that only their place tells, as written, unquoted, and without a name before ``=``
    or ``:``.
    """
    known = _known(text)
    for start, end in _spans(text):
        # Part of a private key would hide the rest of it from whoever looks for the whole.
        if not any(start < each.end and each.start < end for each in known):
            secret = text[start:end].strip("'\"\\")
            yield from (secret, secret.replace("\\", ""), secret.rpartition("=")[2], secret.rpartition(":")[2])


def _without(text: str, secrets: tuple[str, ...], searched: int) -> str:
    """Return ``text`` with one mark for each of ``secrets``, of the known forms and of the places, all found in the
    text as it is: where they overlap, what the first of them leaves would not be found by the others.
    """
    found = _known(text)
    for secret in secrets:
        at = text.find(secret)
        while at != -1:
            found.append(Found("", at, at + len(secret)))
            at = text.find(secret, at + len(secret))
    found += (Found("", start, end) for start, end in _spans(text[:searched]))
    return replaced(text, without_overlaps(found))


def _known(text: str) -> list[Found]:
    """Return the secrets of known forms in ``text``, and the marks in place of secrets."""
    marks = re.finditer(_MARKER, text) if "[redacted" in text else ()
    return [*find(text), *(Found(match[1] or "", *match.span()) for match in marks)]


def _spans(text: str) -> list[tuple[int, int]]:
    if _MARKS.isdisjoint(text) and "vault" not in text:
        return []  # compiling the patterns takes some milliseconds
    return sorted(match.span("secret") for pattern in _PATTERNS for match in re.finditer(pattern, text))
