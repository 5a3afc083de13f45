"""What a file holds after an ``apply_patch``."""

from __future__ import annotations

from agent_hooks.model.tools import patch_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.model.tool_call import ToolCall


def patched(call: ToolCall, path: str, before: str) -> str | None:
    """Return the text of ``path`` after ``call``; None where the patch leaves open what it will be."""
    sections: list[tuple[str, str, list[str]]] = []
    for line in patch_text(call.name, call.args).split("\n"):
        mark, is_file, name = line.strip(" \t\r").partition(" File:")
        if is_file and mark in ("*** Add", "*** Update", "*** Delete"):
            sections.append((mark, name.strip(" \t"), []))
        elif sections:
            sections[-1][2].append(line)
    text = before
    own = [(mark, lines) for mark, name, lines in sections if name == path]
    for mark, lines in own:
        if mark == "*** Delete" or any(line.startswith("*** Move to:") for line in lines):
            return None
        if mark == "*** Add":
            text = "\n".join(line[1:] for line in lines if line.startswith("+")) + "\n"
            continue
        for hunk in _hunks(lines):
            old = "\n".join(line[1:] for line in hunk if line[:1] in ("", " ", "-"))
            new = "\n".join(line[1:] for line in hunk if line[:1] in ("", " ", "+"))
            if not old.strip() or text.count(old) != 1:
                return None
            text = text.replace(old, new)
    return text if own else None


def _hunks(lines: list[str]) -> list[list[str]]:
    hunks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        elif not line.startswith("***"):
            hunks[-1].append(line)
    return [hunk for hunk in hunks if any(line[:1] in ("+", "-") for line in hunk)]
