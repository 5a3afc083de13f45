"""The answer to a host, with text that every host can read."""

from __future__ import annotations

from agent_hooks.model.values import Value, plain
from agent_hooks.system.quick_json import dumps, loads
from agent_hooks.system.visible import without_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Claude Code cuts a string at 10,000 UTF-16 units, which is how JavaScript counts.
MAX_UNITS = 9_900
CUT = "\n[... cut by agent-hooks]"


class Answer(Value):
    """The stdout (one JSON object or empty), stderr and exit code of a command hook."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


def tidy(text: str) -> str:
    """Return ``text`` with lone surrogates replaced: they are no Unicode text, and Codex's JSON reader refuses them."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean(text: str) -> str:
    """Return ``text`` without controls and lone surrogates, for people."""
    return tidy(without_controls(text).strip())


def trimmed(text: str) -> str:
    """Return ``text`` without controls, cut with a marker where it is longer than a host reads."""
    text = without_controls(text)
    if len(text) <= MAX_UNITS // 2:  # whatever its characters
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * MAX_UNITS:
        return text
    return units[: 2 * MAX_UNITS].decode("utf-16-le", "replace") + CUT


def joined(*texts: str) -> str:
    """Return the texts that say something, with blank lines between them."""
    return "\n\n".join(stripped for text in texts if (stripped := text.strip()))


def as_text(value: Any) -> str:
    """Return ``value`` as a model can read it: text as it is, nothing as an empty string, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return dumps(plain(value), ensure_ascii=False)


def encode(body: dict[str, Any]) -> str:
    """Return ``body`` as one compact object in ASCII, or an empty string for an empty body."""
    if not body:
        return ""
    text = tidy(dumps(plain(body), ensure_ascii=False, allow_nan=False))
    return dumps(loads(text), compact=True)
