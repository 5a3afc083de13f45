"""Files of which only a part is protected: which part, and whether a call that writes the file changes it."""

from __future__ import annotations

import re

from agent_hooks.model.tools import patch_text, texts_with_roles
from agent_hooks.shell.patterns import Pattern

from .locations import read_text
from .reasons import FRONTMATTER, STARTUP, TABLE, WIRING, denial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

OURS = r"agent[-_]hooks"
# Settings that switch a host's hooks off.
SWITCHES = (
    r"disableAllHooks|enableHooks|hooksConfig|chat\.\w*[hH]ook|hookFilesLocations|useHooks"
    r"""|(?:codex_)?hooks["']?\s*[=:]\s*(?:false|\[\]|\{\}|null)"""
)
# Lines that start a host without its hooks, or with other settings.
_STARTING = (
    r"(?:\b|\\[nt])(?:CODEX_HOME|CLAUDE_CONFIG_DIR|CLAUDE_CODE_SIMPLE|COPILOT_HOME|QWEN_HOME|GEMINI_CLI_\w+|OPENCODE_(?:CONFIG\w*|PURE)|AGENT_HOOKS_\w+)[\"']?(?:\s*=|\s)"
    r"|disableAllHooks|(?:claude|codex)\b.*(?:--bare|hooks?=|--dangerously)"
)
_WHOLE_KEYS = ("content", "file_text", "fileText", "text", "body", "new_source", "contents")
_PAIRS = (("old_string", "new_string"), ("oldString", "newString"), ("old_str", "new_str"), ("oldText", "newText"))
# As a key of a block, of a flow, as an explicit key, or spelled with escapes.
_YAML = r"""^[ \t]*["']?hooks["']?[ \t]*:|[{,]\s*["']?hooks["']?\s*:|\?\s*["']?hooks\b|\\[xuU][0-9a-fA-F]{2}"""
_HOOKS_IN_YAML = Pattern(_YAML, re.MULTILINE)
_MENTIONED = {
    TABLE: r"tool[^A-Za-z0-9]{0,12}agent_hooks|\\[uU][0-9a-fA-F]{4}",
    FRONTMATTER: rf"""hooks["']?\s*:|{_YAML}""",
    # By `trusted_hash` Codex knows whom it may run. Letters that are written as escapes may be any of these.
    WIRING: rf"{OURS}|{SWITCHES}|trusted_hash|\\[uU](?:0000)?00[4-7][0-9a-fA-F]",
    STARTUP: _STARTING,
}
_FRONTMATTER = Pattern(r"\ufeff?---[ \t]*\r?\n(.*?)(?:^(?:---|\.\.\.)[ \t\r]*$|\Z)", re.DOTALL | re.MULTILINE)
_SECTION = Pattern(r"^[ \t]*\*\*\* (Add|Update|Delete) File:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_HUNK = Pattern(r"^@@.*$", re.MULTILINE)


def part_of(protection: str, text: str) -> Any:
    """Return the protected part of a file that holds ``text``; something false if it has none.

    Raises ``ValueError`` for text that cannot be parsed and may have it.
    """
    if protection == FRONTMATTER:
        found = _FRONTMATTER.match(text)
        return found[1] if found and _HOOKS_IN_YAML.search(found[1]) else ""
    if protection == STARTUP:
        return [line for line in text.split("\n") if re.search(_STARTING, line)]
    if protection == WIRING:
        return _wiring_of(text) if mentions_part(WIRING, text) else None
    if "agent_hooks" not in text and "\\" not in text:  # a key may also be written with escapes
        return None
    from tomllib import loads

    tool = loads(text).get("tool")
    return tool.get("agent_hooks") if isinstance(tool, dict) else None


def _wiring_of(text: str) -> Any:
    """Return the hooks in the settings of a host."""
    if text.lstrip().startswith("{"):
        import json

        data = json.loads("\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//")))
    else:
        from tomllib import TOMLDecodeError, loads

        try:
            data = loads(text)
        except TOMLDecodeError:
            return text  # a program, as some hosts have them
    return {
        key: value
        for key, value in data.items()
        if "hook" in key.casefold()
        or key in ("features", "projects", "tools")
        or (key in ("chat", "profiles", "settings") and "hook" in str(value).casefold())
    }


def mentions_part(protection: str, text: str) -> bool:
    """Return whether ``text``, put somewhere into a file, might make or change its protected part."""
    return re.search(_MENTIONED[protection], text, re.MULTILINE) is not None


def reason_against_part(call: ToolCall, part: str, path: str, cwd: str, trusted: bytes | None) -> str:
    """Return why ``call`` may not write ``path``; ``trusted``: the canonical bytes of its table as it was trusted."""
    before = read_text(path, cwd)
    afters = texts_after(call, path, before)
    try:
        was = part_of(part, before)
    except ValueError:
        return _against_repair(part, path, before, afters, trusted)
    if not afters:
        return denial("unseen part", path, part) if was or mentions_part(part, text_of(call)) else ""
    try:
        return denial("part", path, part) if any(part_of(part, after) != was for after in afters) else ""
    except ValueError:
        return denial("unseen part", path, part)


def _against_repair(part: str, path: str, before: str, afters: list[str], trusted: bytes | None) -> str:
    """Judge an edit of a file with the conflicts of a merge: it may restore the table that was trusted."""
    from agent_hooks.formats.toml import canonical

    if part == TABLE and afters and (trusted is not None or not mentions_part(TABLE, before)):
        try:
            if all(canonical(part_of(TABLE, after) or {}) == (trusted or b"") for after in afters):
                return ""
        except ValueError:
            pass
    return denial("conflict", path, part)


def text_of(call: ToolCall) -> str:
    """Return all strings in the arguments of a call, its patch as a text."""
    return "\n".join((call.content, *(text for text, _ in texts_with_roles(call.args))))


def texts_after(call: ToolCall, path: str, before: str) -> list[str]:
    """Return the texts that the file at ``path`` may hold after the call: several, if several arguments could be the
    ones that count; nothing if that cannot be said.
    """
    operations = [operation.kind for operation in call.file_operations if operation.path == path]
    if call.kind == "delete" or operations == ["delete"]:
        return [""]
    if operations and call.name.endswith("apply_patch"):
        return _patched(patch_text(call.name, call.args), path, before)
    found = [text for key in _WHOLE_KEYS if isinstance(text := call.args.get(key), str)]
    edits = call.args.get("edits")
    several = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, (list, tuple)) else []
    for changes in ([call.args], several):
        after = before
        pairs = [(c[o], c[n], c.get("replace_all")) for c in changes for o, n in _PAIRS if o in c and n in c]
        for old, new, everywhere in pairs:
            if not isinstance(old, str) or not isinstance(new, str) or (old and old not in after):
                return []
            after = after.replace(old, new, -1 if everywhere else 1) if old else new + after
        found += [after] if pairs else []
    return found


def _patched(patch: str, path: str, before: str) -> list[str]:
    """Return the text of ``path`` after an ``apply_patch``, as a list; an empty one if that cannot be said."""
    text, sections = before, _SECTION.split(patch)
    if path not in sections[2::3]:  # another file is moved there
        return []
    for kind, name, body in zip(sections[1::3], sections[2::3], sections[3::3], strict=True):
        if name != path:
            continue
        if kind == "Delete" or "*** Move to:" in body:
            return []
        if kind == "Add":
            text = "".join(f"{line[1:]}\n" for line in body.split("\n") if line.startswith("+"))
            continue
        for hunk in _HUNK.split(body):
            lines = [line for line in hunk.removeprefix("\n").split("\n") if not line.startswith("***")]
            if not any(line[:1] in ("+", "-") for line in lines):
                continue
            lines = lines[:-1] if not lines[-1] else lines
            old, new = ("\n".join(line[1:] for line in lines if line[:1] in ("", " ", mark)) for mark in "-+")
            if not old.strip() or text.count(old) != 1:
                return []
            text = text.replace(old, new)
    return [text]
