"""Read a host's payload: all of stdin, bounded, as one strict JSON object."""

from __future__ import annotations

import os
import select
from time import monotonic

from agent_hooks.system.strict_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.errors import WireError

MAX_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"  # Cursor's PowerShell begins with one, or two


def read_all(descriptor: int, deadline: float, parts: list[bytes]) -> bytes:
    """Return all of ``descriptor``, after the ``parts`` that were read before, which grow meanwhile.

    Raises ``WireError`` after ``deadline`` (monotonic), and above 64 MiB.
    """
    size = sum(map(len, parts))
    poll = select.poll() if hasattr(select, "poll") else None
    if poll is not None:
        poll.register(descriptor, select.POLLIN)
    while True:
        if poll is not None and not poll.poll(max(0.0, deadline - monotonic()) * 1000):
            raise _wrong("The payload on stdin did not end in time: the host must close stdin.")
        part = os.read(descriptor, 1024 * 1024)
        if not part:
            return b"".join(parts)
        size += len(part)
        if size > MAX_BYTES:
            raise _wrong(f"The payload on stdin is longer than {MAX_BYTES // (1024 * 1024)} MiB.")
        parts.append(part)


def read_object(data: bytes) -> dict[str, Any]:
    """Parse the JSON object in ``data``, as strictly as ``strict_json`` does.

    Any depth is accepted, and so are halves of characters, because hosts cut texts in the middle of one. Raises
    ``WireError``.
    """
    while data.startswith(_BOM):
        data = data.removeprefix(_BOM)
    if not data.strip():
        raise _wrong("There is no payload on stdin; the host must write one JSON object there.")
    try:
        value = read_json(data, max_depth=None, lone_surrogates=True)
    except ValueError as error:
        raise _wrong(f"The payload on stdin {error}.") from error
    if not isinstance(value, dict):
        raise _wrong(f"The payload on stdin must be a JSON object, not {type(value).__name__}.")
    return value


def _wrong(message: str) -> WireError:
    from agent_hooks.errors import WireError  # not before: an event that no hook is about needs no error

    return WireError(message)
