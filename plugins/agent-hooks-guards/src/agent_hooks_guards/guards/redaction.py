"""What of a tool call may be written down: named fields are left out, and so is what stood in them wherever else it
turns up, and every secret that ``secret_scan`` knows by its form.
"""

from __future__ import annotations

from agent_hooks import RegistrationError
from agent_hooks.model.values import Value

from .plain_secrets import plain_secrets, without_plain_secrets
from .secret_scan import as_setting, find, without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

REDACTED = "[redacted]"
DEFAULT_FIELDS = (
    "authorization",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "key",
    "keys",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
)
# Shorter secrets are left out under their own key only: elsewhere they cannot be told from ordinary text.
_MIN_SECRET = 4
_LONGEST_SECRET = 4096
_MAX_DEPTH = 32
# Texts beside a list of words that may be the name of the program.
_MAX_PROGRAMS = 4
_TOO_DEEP = "[nested too deeply]"


class Redaction:
    """Makes values fit to be written down, without the secrets that ``secret_scan`` and ``plain_secrets`` find in their
    texts.

    ``fields``: the values of keys that end in one of these are replaced by ``[redacted]``, at any depth; only letters
    and digits count, and not their case: ``token`` stands for ``X-Auth-Token`` too. ``max_length``: texts are cut to so
    many characters. Objects that are not plain data are written as their type's name. Raises ``RegistrationError`` for
    a field without a letter or digit, which every key would end in.
    """

    def __init__(self, fields: Iterable[str], max_length: int) -> None:
        self._endings = tuple(map(_plain_key, fields))
        if "" in self._endings:
            raise RegistrationError("redact must be a list of keys, each with a letter or a digit at least.")
        self._max_length = max_length
        self._looked_at = max_length + _LONGEST_SECRET

    def secrets_in(self, *values: Any) -> tuple[str, ...]:
        """Return every text and number under a redacted key, in each way it may be spelled inside other text, longest
        first.
        """
        found: set[str] = set()
        waiting = [(value, False) for value in values]
        while waiting:
            value, is_secret = waiting.pop()
            items = _items(value)
            if items is not None:
                for secret in plain_secrets(_command_in(value)[: self._looked_at]):
                    found.update(_spellings(secret) if len(secret) >= _MIN_SECRET else ())
                waiting.extend((item, is_secret or self._is_redacted(key)) for key, item in items)
            elif is_secret and isinstance(value, (str, int, float)) and len(str(value)) >= _MIN_SECRET:
                found.update(_spellings(value) if isinstance(value, str) else (str(value),))
            elif isinstance(value, str):
                for each in plain_secrets(value[: self._looked_at]):
                    found.update(_spellings(each) if len(each) >= _MIN_SECRET else ())
        return tuple(sorted(found, key=len, reverse=True))

    def text(self, text: str, secrets: Iterable[str]) -> str:
        """Return ``text`` without the secrets, and without those that their form tells, cut to length."""
        for secret in secrets:  # before cutting, which could leave half of one
            text = text.replace(secret, REDACTED)
        text = without_secrets(text)
        size = len(text)
        text = without_plain_secrets(text[: self._looked_at], REDACTED)
        if size <= self._max_length:
            return text
        return f"{text[: self._max_length]}... ({size} characters)"

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
            return _TOO_DEEP
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
    """What is in a container, with its keys; None for anything that is no container of plain data."""
    if isinstance(value, Value):
        value = value.as_dict()
    if isinstance(value, dict):
        return iter(value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return ((None, item) for item in value)
    return None


def _command_in(value: Any) -> str:
    """The command that a list of words is, or a program beside a list of its words; an empty text for anything else."""
    words: list[Any] = []
    if isinstance(value, (list, tuple)):
        words = [*value]
    elif isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, (list, tuple))]
        programs = [item for item in value.values() if isinstance(item, str) and item and " " not in item]
        words = [*programs[:_MAX_PROGRAMS], *(word for each in lists for word in each)] if lists and programs else []
    if len(words) < 2 or not all(isinstance(word, str) for word in words):  # one word is none
        return ""
    from shlex import join

    return join(words)


def _spellings(secret: str) -> tuple[str, ...]:
    """The secret as it is, and as Python or JSON would quote it in a message."""
    import json

    return (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
