"""Finds passwords and tokens in commands and settings by their position: ``curl -u ada:…``, ``mysql -p…``,
``PGPASSWORD=…``, ``Authorization: Bearer …``.

For records, where redacting too much does no harm. Variables and substitutions are no secrets.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = (
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)"
)
# A shell word of quoted and plain parts, unless it starts with a variable, a substitution or a placeholder.
_WORD = r"""(?P<secret>(?!"?(?:\$[\w({]|`|<|\{\{|%\w*%))(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"|;&<>()`\\])+)"""
_SCHEME = r"(?:bearer|basic|token|digest|apikey|key)"
_VALUE = rf"""(?P<secret>(?!\$[\w({{]|`|<|\{{\{{|{_SCHEME}\s)[^\s'"|;&,`]+)"""
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


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _PATTERNS))


def plain_secrets(text: str) -> Iterator[str]:
    """Yield the secrets in ``text``, as written, unquoted, and without a name before ``=`` or ``:``."""
    for start, end in _spans(text):
        secret = text[start:end].strip("'\"\\")
        yield from (secret, secret.replace("\\", ""), secret.rpartition("=")[2], secret.rpartition(":")[2])


def without_plain_secrets(text: str, replacement: str) -> str:
    """Return ``text`` with ``replacement`` for each secret."""
    made: list[str] = []
    at = 0
    for start, end in sorted(_spans(text)):
        if start >= at:
            made += (text[at:start], replacement)
        at = max(at, end)
    return "".join((*made, text[at:])) if made else text


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _compiled():
        for match in pattern.finditer(text):
            yield match.span("secret")
