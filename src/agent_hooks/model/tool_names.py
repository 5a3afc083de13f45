"""The names that hosts have for their tools."""

from __future__ import annotations

from .tools import FORMER_NAMES, KIND_OF_NAME, KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_EXACT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_- ,|")
# By host, the kinds of its tools; Claude Code's, and names of shells that many have, are in ``tools``.
HOST_TOOLS: dict[str, dict[str, str]] = {
    "Claude's API": {"bash": "shell", "str_replace_based_edit_tool": "edit", "code_execution": "other"},
    "Codex": {
        **dict.fromkeys(("exec_command", "local_shell", "shell_command"), "shell"),
        "apply_patch": "edit",
        "view_image": "read",
        "web_search": "web_search",
        "spawn_agent": "subagent",
        **dict.fromkeys(("update_plan", "write_stdin"), "other"),
    },
    "Gemini CLI": {
        "run_shell_command": "shell",
        **dict.fromkeys(("read_file", "read_many_files", "read_mcp_resource"), "read"),
        "write_file": "write",
        "replace": "edit",
        **dict.fromkeys(("glob", "grep_search", "search_file_content", "list_directory"), "search"),
        "web_fetch": "fetch",
        "google_web_search": "web_search",
        "invoke_agent": "subagent",
        **dict.fromkeys(("activate_skill", "ask_user", "save_memory", "write_todos"), "other"),
    },
    "Qwen Code": {
        **dict.fromkeys(("run_shell_command", "monitor"), "shell"),
        **dict.fromkeys(("read_file", "read_many_files", "read_mcp_resource", "zoom_image"), "read"),
        "write_file": "write",
        **dict.fromkeys(("edit", "notebook_edit"), "edit"),
        **dict.fromkeys(("glob", "grep_search", "list_directory"), "search"),
        "web_fetch": "fetch",
        "web_search": "web_search",
        **dict.fromkeys(("agent", "task"), "subagent"),
        **dict.fromkeys(("ask_user_question", "save_memory", "skill", "todo_write"), "other"),
    },
    "Copilot CLI": {
        **dict.fromkeys(("bash", "powershell"), "shell"),
        "view": "read",
        "create": "write",
        **dict.fromkeys(("edit", "str_replace_editor", "apply_patch"), "edit"),
        **dict.fromkeys(("grep", "rg", "glob"), "search"),
        "web_fetch": "fetch",
        "web_search": "web_search",
        "task": "subagent",
        **dict.fromkeys(("ask_user", "report_intent", "skill", "update_todo"), "other"),
    },
    "VS Code": {
        **dict.fromkeys(("run_in_terminal", "runTerminalCommand"), "shell"),
        **dict.fromkeys(("read_file", "view_image"), "read"),
        **dict.fromkeys(("create_file", "createFile", "create_directory"), "write"),
        **dict.fromkeys(("replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file"), "edit"),
        **dict.fromkeys(("apply_patch", "editFiles", "edit_notebook_file"), "edit"),
        "deleteFile": "delete",
        **dict.fromkeys(("file_search", "grep_search", "list_dir", "ls", "semantic_search"), "search"),
        "fetch_webpage": "fetch",
        **dict.fromkeys(("agent", "runSubagent"), "subagent"),
    },
    "Cursor": {
        **dict.fromkeys(("Shell", "run_terminal_cmd"), "shell"),
        **dict.fromkeys(("StrReplace", "EditNotebook", "edit_file"), "edit"),
        **dict.fromkeys(("Delete", "delete_file"), "delete"),
        **dict.fromkeys(("SemanticSearch", "codebase_search"), "search"),
    },
    "OpenCode": {
        "bash": "shell",
        "read": "read",
        "write": "write",
        **dict.fromkeys(("edit", "multiedit", "patch", "apply_patch"), "edit"),
        **dict.fromkeys(("glob", "grep", "list"), "search"),
        "webfetch": "fetch",
        **dict.fromkeys(("websearch", "codesearch"), "web_search"),
        "task": "subagent",
        **dict.fromkeys(("question", "skill", "todoread", "todowrite"), "other"),
    },
    "Kiro": {"execute_bash": "shell", "fs_read": "read", "fs_write": "write"},
}
# Names that mean less than all tools of their kind, or that other collections of skills use for one tool alone.
_NARROW = frozenset(
    "agent codebase_search codesearch create_directory edit_notebook_file list list_dir list_directory ls monitor "
    "notebook_edit patch read_mcp_resource semantic_search SemanticSearch Shell view_image zoom_image".split()
)
_KIND_OF_HOST_NAME = {
    name: kind
    for tools in HOST_TOOLS.values()
    for name, kind in tools.items()
    if kind != "other" and name not in _NARROW
}
# Claude Code's tools that have no kind.
_FURTHER_NAMES = (
    *("AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "LSP", "NotebookRead", "SendMessage", "Skill"),
    *("SlashCommand", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskUpdate", "TodoRead", "TodoWrite"),
    *("ToolSearch", "web_search", "CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree"),
)
NAMES = frozenset(
    (*KINDS, *KIND_OF_NAME, *FORMER_NAMES, *_FURTHER_NAMES, *(name for tools in HOST_TOOLS.values() for name in tools))
)
# An edit explains the other spelling of a name of five letters, two that of a name of nine.
_LETTERS_OF_ONE_EDIT = 5
_LETTERS_OF_TWO_EDITS = 9


def exact_names(text: str) -> list[str] | None:
    """Return the plain names that a match text lists, None if it is a glob or a regular expression."""
    if not _EXACT.issuperset(text):
        return None
    return [name for part in text.replace(",", "|").split("|") if (name := part.strip())]


def host_kinds(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds that only some hosts have these names for: there, they mean every tool of the kind."""
    return frozenset(kind for name in names if name not in KINDS and (kind := _KIND_OF_HOST_NAME.get(name)))


def hosts_of(name: str) -> list[str]:
    """Return the hosts that have a tool of this name, if it is neither a kind nor one of Claude Code's."""
    known = name not in KINDS and name in _KIND_OF_HOST_NAME
    return [host for host, tools in HOST_TOOLS.items() if tools.get(name, "other") != "other"] if known else []


def meant_by(name: str, known: Iterable[str]) -> str:
    """Return the known name that ``name`` is a slip of, by case alone or by an edit or two of a long name; else ""."""
    folded = name.casefold()
    near: list[tuple[int, int, str]] = []
    for each in known:
        other = each.casefold()
        allowed = (len(each) >= _LETTERS_OF_ONE_EDIT) + (len(each) >= _LETTERS_OF_TWO_EDITS)
        if abs(len(other) - len(folded)) > allowed:
            continue
        count = 0 if other == folded else _edits(folded, other)
        if count <= allowed:
            near.append((count, _edits(name, each), each))
    return min(near)[2] if near else ""


def _edits(first: str, second: str) -> int:
    """Return how many letters must be added, left out, replaced or swapped to turn one text into the other."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        above, row = row, [i]
        for j, other in enumerate(second, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if before and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before = above
    return row[-1]
