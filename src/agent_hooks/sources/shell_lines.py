"""The lines of shell in the text of skills and commands, which hosts run without a tool call when they load the text.

Sources: code.claude.com/docs/en/skills, opencode.ai/docs/commands, geminicli.com/docs/cli/custom-commands, the clients.
"""

from __future__ import annotations

import os
import re

from agent_hooks.errors import SettingsError
from agent_hooks.model.tools import SKILL_TOOLS, texts_with_roles
from agent_hooks.model.touched_paths import touched_paths
from agent_hooks.system.folders import claude_dir, read_regular
from agent_hooks.system.paths import folders_above
from agent_hooks.trust.gate.locations import read_text
from agent_hooks.trust.gate.parts import texts_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks.model.context import HookContext

    Line = tuple[str, str, str]

# Where Claude Code and OpenCode find texts with !`line` and ```! blocks, and Gemini CLI and Qwen Code with !{line}.
_PLACES = re.compile(
    r"(?:\.claude|\.agents|opencode)/(?:.*/)?(?:skills?|commands?|agents?)\b|opencode\.jsonc?\b"
    r"|\.(?P<braces>gemini|qwen)/(?:.*/)?commands\b"
)
_TICKS = re.compile(r"```!\s*([\s\S]*?)\n?```|!`([^`]+)`")
_ESCAPE = re.compile(r"\\(?:u|U0000)([0-9a-fA-F]{4})")  # of TOML
_ARGUMENT = re.compile(r"\$ARGUMENTS(?:\[(\d+)\])?|\$(\d)")
_NAME = re.compile(r"^name:\s*['\"]?(.*?)['\"]?\s*$", re.MULTILINE)
_POWERSHELL = re.compile(r"^shell:\s*['\"]?powershell", re.MULTILINE)
_MAX_BYTES = 1024 * 1024
# Files in a folder of skills or commands. Where there are more, the one that is called may be among the rest.
_MAX_FILES = 5000


def loaded_lines(ctx: HookContext) -> list[Line]:
    """Return the lines that the event of ``ctx`` has the host run or keep: the shell tool, the line, its place.

    Raises ``OSError`` and ``SettingsError`` if a file that may have such lines cannot be read.
    """
    call, given = ctx.tool_call, ctx.payload or {}
    if call is not None and call.name.lower() not in SKILL_TOOLS:
        return [*_written(ctx)]
    name, arguments = given.get("command_name"), given.get("command_args")
    if call is not None:
        name = call.args.get("skill") or call.args.get("name") or call.args.get("command")
        name, _, rest = str(name or "").strip().lstrip("/").partition(" ")
        arguments = call.args.get("args") or rest
    return [line for path in _files(ctx, str(name or "")) for line in _lines_of(path, str(arguments or ""))]


def _written(ctx: HookContext) -> Iterator[Line]:
    """Yield the lines in the texts that a call writes into a place of skills or commands."""
    call = ctx.tool_call
    assert call is not None
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "").rstrip("/")
    paths = (f"{ctx.cwd}/ {call.command}",) if call.kind == "shell" else touched_paths(ctx)
    for path in (each.replace("\\", "/") for each in paths):
        found = _PLACES.search(path.replace(f"{moved}/", ".claude/") if moved else path)
        if found is not None:
            read, where = _braced if found["braces"] else _ticked, call.name if call.kind == "shell" else path
            before = read_text(path, ctx.cwd) if call.kind == "edit" else ""
            texts = [text for text, _ in texts_with_roles(call.args)]
            texts += texts_after(call, path, before) if before else ()  # an edit may complete a line that was there
            known = {*read(before)}
            yield from (("Bash", line, where) for text in texts for line in read(text) if line not in known)
            return


def _lines_of(path: str, arguments: str) -> Iterator[Line]:
    text = read_regular(path, _MAX_BYTES).decode("utf-8", "replace")
    tool = "PowerShell" if _POWERSHELL.search(text[: text.find("\n---", 3)]) else "Bash"
    words = arguments.split()

    def filled(found: re.Match[str]) -> str:
        number = found[1] or found[2]
        return arguments if number is None else " ".join(words[int(number) :][:1])

    yield from ((tool, _ARGUMENT.sub(filled, line), path) for line in _ticked(text))


def _files(ctx: HookContext, name: str) -> Iterator[str]:
    """Yield the files that may be the skill or command ``name``: of the user, of the folders above the working one, and
    of plugins for ``plugin:name``. Its last part names the file or the skill's folder, or stands in the frontmatter.
    """
    own, wanted = claude_dir(), name.rpartition(":")[2].lower()
    folders = [folder for each in filter(None, (ctx.cwd, ctx.project_dir)) for folder in (each, *folders_above(each))]
    bases = dict.fromkeys(filter(None, (own, *(os.path.join(folder, ".claude") for folder in folders))))
    tops = [os.path.join(base, kind) for base in bases for kind in ("skills", "commands")]
    for path in (path for top in (*tops, os.path.join(own, "plugins") * (":" in name)) for path in _texts_below(top)):
        folder, file = os.path.split(path)
        stem = os.path.basename(folder) if file.lower() == "skill.md" else file[:-3]
        if wanted in (stem.lower(), _name_in(path)):
            yield path


def _texts_below(top: str) -> Iterator[str]:
    known: set[str] = set()
    count = 0
    for folder, folders, files in os.walk(top, followlinks=True) if top else ():
        if (real := os.path.realpath(folder)) in known:  # a link to a folder above
            folders.clear()
            continue
        known.add(real)
        count += 1 + len(files)
        if count > _MAX_FILES:
            raise SettingsError(f"{top} has more than {_MAX_FILES} files: remove some.")
        yield from (os.path.join(folder, file) for file in files if file.lower().endswith(".md"))


def _name_in(path: str) -> str:
    found = _NAME.search(read_text(path)[:4096])
    return found[1].lower() if found is not None else ""


def _ticked(text: str) -> Iterator[str]:
    yield from ((found[1] or found[2] or "").strip() for found in _TICKS.finditer(text.replace("\\`", "`")))


def _braced(text: str) -> Iterator[str]:
    text, end = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text), 0
    while (start := text.find("!{", end)) >= 0:
        depth, end = 1, start + 2
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[start + 2 : end - (not depth)].strip()
