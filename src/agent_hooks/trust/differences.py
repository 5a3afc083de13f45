"""Human-readable differences between trusted and present files."""

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
    """Return the facts of a file that its text does not show: kind, mode, link target and digest."""
    if file is None:
        return ""
    leads = f", leads to {visible(file.real)}" if file.real else ""
    kept = "" if file.part or not file.sha256 else f", sha256 {file.sha256}"
    return f"({file.kind}, mode {file.mode:04o}{leads}{kept})"


def lines_of(file: ManifestFile | None) -> list[str]:
    """Return the lines of a file's part; the one-line JSON of settings and skills is indented."""
    if file is None or not file.part:
        return []
    text = file.part.decode("utf-8", "backslashreplace")
    if file.kind in ("settings", "skill"):
        import json
        from contextlib import suppress

        from agent_hooks.system.strict_json import read_json

        with suppress(BadJSONError):  # the part of an unreadable file is the file itself
            text = json.dumps(read_json(text), indent=2, ensure_ascii=False)
    return [visible(line, keep="\t") for line in text.removesuffix("\n").split("\n")]
