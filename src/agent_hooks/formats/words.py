"""What findings call a value, and which names are alike."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def kind_of(value: Any, *, mapping: str = "an object") -> str:
    """Return in words what a value is; never the value, which may be a secret.

    ``mapping``: what the format of the file calls one.
    """
    if value == "":
        return "an empty text"
    words = {dict: mapping, list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    number = "a number" if isinstance(value, (int, float)) else "a date or time"  # only TOML has these
    return words.get(type(value), number)


def letters(name: str) -> str:
    """Return the letters and digits of ``name`` in lower case: what is left of it however it is spelt."""
    return "".join(filter(str.isalnum, name.casefold()))
