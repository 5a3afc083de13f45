"""Differences between trusted files and the present ones, for people."""

from __future__ import annotations

from agent_hooks.errors import BadJSONError
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .manifest import ManifestFile


def changes_between(before: tuple[ManifestFile, ...], after: tuple[ManifestFile, ...]) -> Iterator[str]:
    """Return the differences of two manifests, in sentences."""
    old = {(file.path, file.kind): file for file in before}
    new = {(file.path, file.kind): file for file in after}
    for key in sorted(old.keys() | new.keys()):
        path = visible(key[0])
        if key not in old:
            yield f"{path} is new."
        elif key not in new:
            yield f"{path} is gone."
        else:
            was, now = old[key], new[key]
            if was.sha256 != now.sha256:
                yield f"{path} has changed."
            if was.mode != now.mode:
                yield f"{path} has the permissions {now.mode:04o}, which were {was.mode:04o}."
            if was.real != now.real:
                yield f"{path} leads to {visible(now.real) or 'itself'}, not to {visible(was.real) or 'itself'}."


def facts_of(file: ManifestFile | None) -> str:
    """Return the facts of a file that its text does not show."""
    if file is None:
        return ""
    leads = f", leads to {visible(file.real)}" if file.real else ""
    kept = "" if file.part or not file.sha256 else f", sha256 {file.sha256}"
    return f"({file.kind}, mode {file.mode:04o}{leads}{kept})"


def lines_of(file: ManifestFile | None) -> list[str]:
    """Return the lines of a file's part for readers; that of settings is one line of JSON, which nobody could read."""
    if file is None or not file.part:
        return []
    text = file.part.decode("utf-8", "backslashreplace")
    if file.kind in ("settings", "skill"):
        text = _spread(text)
    return [visible(line, keep="\t") for line in text.removesuffix("\n").split("\n")]


def _spread(text: str) -> str:
    import json

    from agent_hooks.system.strict_json import read_json

    try:
        return json.dumps(read_json(text), indent=2, ensure_ascii=False)
    except BadJSONError:  # a file that cannot be read is its own part
        return text
