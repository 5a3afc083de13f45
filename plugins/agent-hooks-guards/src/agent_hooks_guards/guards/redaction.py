"""Redaction: the values of named fields, wherever else they occur, and secrets known by their form or position."""

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
                found.update((value,) if isinstance(value, str) else (str(value),))
            elif isinstance(value, str):
                found.update(plain_secrets(value[: self._max_searched]))
        spellings = {spelling for each in found if len(each) >= _MIN_SECRET for spelling in _spellings(each)}
        return tuple(sorted(spellings, key=len, reverse=True))

    def text(self, text: str, secrets: Iterable[str]) -> str:
        """Return ``text`` without ``secrets`` and those known by their form or position, cut to length."""
        for secret in secrets:  # before cutting, which could leave half of one
            text = text.replace(secret, REDACTED)
        text = without_secrets(text)
        size = len(text)
        text = without_plain_secrets(text[: self._max_searched], REDACTED)
        return text if size <= self._max_length else f"{text[: self._max_length]}... ({size} characters)"

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
    """Return the secret as it is, and as Python or JSON quote it."""
    import json

    return (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
