"""Human-readable differences between trusted and present files."""

from __future__ import annotations

from agent_hooks.errors import BadJSONError
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .manifest import ManifestFile


def differing(
    before: Iterable[ManifestFile], after: Iterable[ManifestFile]
) -> Iterator[tuple[str, ManifestFile | None, ManifestFile | None]]:
    """Yield the printable path of each file that differs between two manifests, and the file in both."""
    old, new = ({(file.path, file.kind): file for file in files} for files in (before, after))
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was is None or now is None or was.facts != now.facts:
            yield visible(key[0]), was, now


def changes_between(before: Iterable[ManifestFile], after: Iterable[ManifestFile]) -> Iterator[str]:
    """Return the differences of two manifests, in sentences."""
    for path, was, now in differing(before, after):
        if was is None or now is None:
            yield f"{path} is {'new' if was is None else 'gone'}."
            continue
        if was.sha256 != now.sha256:
            yield f"{path} has changed."
        if was.mode != now.mode:
            yield f"{path} has the permissions {now.mode:04o}, which were {was.mode:04o}."
        if was.owner != now.owner:
            new, old = (f"user {each}" if each else "you" for each in (now.owner, was.owner))
            yield f"{path}, or the folder of the project, belongs to {new}, not to {old}."
        if was.real != now.real:
            yield f"{path} leads to {visible(now.real) or 'itself'}, not to {visible(was.real) or 'itself'}."


def facts_of(file: ManifestFile | None) -> str:
    """Return the facts of a file that its text does not show: kind, mode, link target and digest."""
    if file is None:
        return ""
    leads = f", of user {file.owner}" if file.owner else ""
    leads += f", leads to {visible(file.real)}" if file.real else ""
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
