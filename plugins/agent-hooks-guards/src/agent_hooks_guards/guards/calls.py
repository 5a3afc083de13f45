"""Strings, commands and code in tool calls: where commands run, and their effects."""

from __future__ import annotations

import os

from agent_hooks.model.snapshot import Snapshot
from agent_hooks.model.tools import COMMAND_KEYS, WORKDIR_KEYS, command_in, is_flat, texts_in
from agent_hooks.system.caching import lru_cache
from agent_hooks.system.paths import real_path
from agent_hooks.trust.gate.calls import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, ToolCall
    from agent_hooks_guards.model.actions import Analysis, Effect
    from agent_hooks_guards.places.paths import Place

_TYPED_KEYS = frozenset(("chars", "input", "keystrokes"))
# Keys that hold a command, code or SQL in any tool, whatever its name is.
_SURE_COMMAND_KEYS = frozenset((*COMMAND_KEYS, "argv"))
_SURE_CODE_KEYS = frozenset(("code", "cell_source", "function"))
_SURE_SQL_KEYS = frozenset(("sql", "sql_query", "sqlquery", "sql_statement", "sqltext"))
_SQL_KEYS = _SURE_SQL_KEYS | {"query", "queries", "statement", "statements"}
_CODE_KEYS = _SURE_CODE_KEYS.union(
    "source source_code sourcecode python_code cell cells snippet program expression statements".split()
)
# The same for a tool that is named after a language.
_LANGUAGE_TOOL_KEYS = _CODE_KEYS | {*COMMAND_KEYS, "commands", "input", "query"}
_LANGUAGE_KEYS = ("language", "lang", "runtime", "kernel")
_TELLING_KEYS = _SURE_COMMAND_KEYS | _SURE_CODE_KEYS | _SQL_KEYS | frozenset(_LANGUAGE_KEYS)
# Every harmful statement has one of these: texts without any need not be looked at.
_SQL_WORDS = (
    *("DROP", "DELETE", "TRUNCATE", "ALTER", "UPDATE", "GRANT", "REMOVE", "SUPERUSER", "SYSADMIN", "SHUTDOWN", "PURGE"),
    *("PROGRAM", "XP_", "SP_", "SYS_", "OUTFILE", "DUMPFILE", "WRITEFILE", "EXPORT", "EXTENSION", "OVERWRITE", "COPY"),
    *("EXEC", "RESET", "\\", "\n."),
)
# A tool with one of these or `sql` in its name takes SQL under any of `_SQL_KEYS`.
_SQL_NAMES = frozenset(
    "postgres pg mariadb db database supabase neon snowflake bigquery duckdb neo4j cypher execute migration".split()
)
# Verbs in the names of tools. The rules of the family `tools` tell what they destroy; the rest is asked at `strict`.
_DEEDS = frozenset(
    "delete drop destroy purge wipe erase truncate terminate flush flushall flushdb decommission nuke deprovision "
    "remove send merge publish transfer revoke uninstall reset empty clear".split()
)
_TAKING_NAMES = frozenset("delete remove erase trash move rename rm mv rmdir unlink".split())
_FILE_NAMES = frozenset(
    "file files folder folders directory directories dir path paths tree rm mv rmdir unlink".split()
)
# Keys whose values name the verb, and the kind of object that a tool is about.
_DEED_KEYS = ("action", "operation")
_OBJECT_KEYS = (*_DEED_KEYS, "kind", "resource", "resource_type", "resourcetype", "object_type")
_SHELL_NAMES = frozenset("bash shell sh zsh terminal cmd console powershell pwsh".split())
_RUNNING_NAMES = _SHELL_NAMES | frozenset("exec execute run command".split())
_CODE_NAMES = frozenset("exec execute run eval evaluate interpreter repl sandbox notebook kernel".split())
_TYPING_NAMES = ("stdin", "terminal", "send_key", "keystroke")
_LANGUAGES = {
    **dict.fromkeys(("bash", "shell", "sh", "zsh"), "sh"),
    **dict.fromkeys(("powershell", "pwsh"), "powershell"),
    **dict.fromkeys(("python", "python3", "py", "ipython", "jupyter", "pyodide"), "python"),
    **dict.fromkeys(("node", "nodejs", "javascript", "js", "typescript", "ts", "deno", "bun"), "node"),
    **{name: name for name in ("ruby", "perl", "php", "lua", "julia", "go", "rust", "java")},
}
# A line of a notebook with a command for a shell, or other magic; its result may be assigned.
_MAGIC = r"^([ \t]*)(?:[\w, ]+=[ \t]*)?(?:!+(.*)|%(?:(?:sx|system) (.*)|.*))$"
# Magic that times or captures what stands behind it, with its options.
_AROUND_CODE = r"^([ \t]*)%%?(?:time|timeit|prun|memit|capture)\b(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]*"
# Other magic of whole cells, but for the languages and shells that run the rest.
_OTHER_CELLS = rf"\A(?:\s*%%(?!!|(?:script|system|sx|{'|'.join(_LANGUAGES)})\b).*\n)+"
_NODE_NAMES = ("require(", "process.", "Deno.", "Bun.")
# Tools with these words in their names look something up and run nothing.
_LOOKUP_NAMES = frozenset(
    "search find lookup list filter docs documentation explain describe format lint fix review markdown validate "
    "parse analyze check scan compile".split()
)
# Tools with these keep or send a text for people.
_PROSE_NAMES = frozenset("comment message note notes gist snippet draft issue post".split())
# Kinds of tools whose arguments may name hosts, and those whose arguments go nowhere.
HOST_KINDS = frozenset(("fetch", "web_search", "mcp", "other"))
READING_KINDS = frozenset(("read", "search", "delete"))
# Characters of a text, and items of a container, that are searched in one piece.
_LONG = 65_536
_MANY = 5000
_FILE_EFFECTS = frozenset(("read", "write", "change", "delete", "run"))


def commands_of(call: ToolCall) -> list[tuple[str, str]]:
    """Return each command line or piece of code that a call gives to a shell or an interpreter, with its language."""
    kind = call.kind
    if kind not in ("shell", "other", "mcp"):
        return []
    args, name, is_shell = _lowered(call.args), _tool_name(call.name), kind == "shell"
    acts = name.acts or any(str(args[key]).lower() in _DEEDS for key in _DEED_KEYS if key in args)
    deeds = [(f"tool: '{_deed(args, name)}'", "sh")] if acts and not is_shell else []
    if not (is_shell or name.may_run) and is_flat(args) and args.keys().isdisjoint(_TELLING_KEYS):
        return deeds
    runs = is_shell or name.is_running
    commands = [] if (name.is_lookup or name.is_prose) and not runs else [*_commands_in(args, is_sure=runs)]
    if not runs:  # `{"command": "What's new?"}` is none for a shell
        commands = [text for text in commands if _is_shell_line(text)]
    if name.language == "python":  # as are its commands, if no shell would read them
        commands = [text for text in commands if _is_shell_line(text) or not _is_python(text)]
    if name.is_typing:  # the input of an open terminal
        commands += _strings_under(args, _TYPED_KEYS)
    found = [(name.database + "\n".join(filter(None, commands)), name.shell)] if commands else []
    if not name.is_lookup:
        found += _codes(args, name, is_shell=is_shell)
        found += _statements(args, name)
    return [*(each for each in dict.fromkeys(found) if each[0].strip()), *deeds]


class _ToolName:
    """What the name of a tool says: that it runs commands or code, types into a terminal or looks something up; its
    ``language``, if it has one, and its ``shell``. ``may_run``: it may run something, whatever its arguments are.
    """

    def __init__(self, name: str) -> None:
        lower, tail = name.lower(), name.rpartition("__")[2]
        words = frozenset((*words_of(name), *words_of(lower)))
        self.words = " ".join(words_of(lower if tail.isupper() else name))
        languages = (_LANGUAGES[word] for word in sorted(words) if word in _LANGUAGES and word not in _SHELL_NAMES)
        self.language = next(languages, "")
        self.is_shell = not words.isdisjoint(_SHELL_NAMES)
        self.is_running = not words.isdisjoint(_RUNNING_NAMES)
        self.is_typing = any(each in lower for each in _TYPING_NAMES)
        # Without the name of its server; who runs something does not only look at it.
        own = frozenset(words_of(tail) + words_of(tail.lower()))
        self.is_lookup = own.isdisjoint(_RUNNING_NAMES) and not own.isdisjoint(_LOOKUP_NAMES)
        self.is_prose = own.isdisjoint(_RUNNING_NAMES) and not own.isdisjoint(_PROSE_NAMES)
        self.takes_sql = "sql" in lower or not words.isdisjoint(_SQL_NAMES)
        self.acts = not words.isdisjoint(_DEEDS)
        # Beginnings of commands for the database that it names.
        self.sql_client = "sql: -e" if words.isdisjoint(("mysql", "mariadb")) else "mysql -e"
        self.database = "" if words.isdisjoint(("redis", "valkey")) else "redis-cli "
        self.takes_code = bool(self.language) or not words.isdisjoint(_CODE_NAMES)
        self.may_run = self.is_running or self.is_typing or self.takes_code  # shells run
        is_cmd = lower.rpartition("_")[2] in ("cmd", "cmd.exe")
        self.shell = "powershell" if "powershell" in lower or "pwsh" in lower else "cmd" if is_cmd else "sh"


_tool_name = lru_cache(maxsize=64)(_ToolName)


def takes_files(name: str) -> bool:
    """Whether the name of a tool says that it deletes or moves files."""
    words = frozenset(words_of(name))
    return not (words.isdisjoint(_TAKING_NAMES) or words.isdisjoint(_FILE_NAMES))


def _lowered(value: Any) -> Any:
    """Return arguments with their keys in lower case, at any depth."""
    if isinstance(value, dict):
        return {key if key in COMMAND_KEYS else str(key).lower(): _lowered(each) for key, each in value.items()}
    return [*map(_lowered, value)] if isinstance(value, (list, tuple)) else value


def _commands_in(args: Mapping[str, Any], *, is_sure: bool) -> Iterator[str]:
    """Yield the command lines in ``args``. ``is_sure``: the tool is known to run them."""
    if is_sure or not _SURE_COMMAND_KEYS.isdisjoint(args):
        yield command_in(args) or texts_in(args, ("argv",))
    for key, value in args.items():
        for inner in value if isinstance(value, (list, tuple)) else (value,):
            if key != "commands" and isinstance(inner, dict):
                yield from _commands_in(inner, is_sure=is_sure)


def _statements(args: Mapping[str, Any], name: _ToolName) -> Iterator[tuple[str, str]]:
    """Yield SQL as the command of a client; under keys that mean other texts as well, only if it is surely SQL."""
    for keys, is_sure in ((_SURE_SQL_KEYS, True), (_SQL_KEYS - _SURE_SQL_KEYS, name.takes_sql)):
        for text in () if name.is_prose else _strings_under(args, keys, between=";\n"):
            upper = text.upper()
            if not any(word in upper for word in _SQL_WORDS):
                continue
            from agent_hooks_guards.programs.sql.statements import is_sql

            if is_sure or is_sql(text):
                quoted = text.replace("'", "'\\''")
                yield f"{name.sql_client} '{quoted}'", "sh"


def _deed(args: Mapping[str, Any], name: _ToolName) -> str:
    """Return the words of the tool's name, and the kind of object that it is called for."""
    kinds = (text for key in _OBJECT_KEYS if isinstance(text := args.get(key), str) and text.isalnum())
    return " ".join((name.words, *map(str.lower, kinds)))


def _codes(args: Mapping[str, Any], name: _ToolName, *, is_shell: bool) -> Iterator[tuple[str, str]]:
    given = [text.lower() for key in _LANGUAGE_KEYS if isinstance(text := args.get(key), str)]
    asked = next((_LANGUAGES[text] for text in given if text in _LANGUAGES), "")
    runs_code = bool(asked or is_shell or name.is_shell or name.takes_code)
    if name.is_prose and not runs_code:
        return
    keys = _LANGUAGE_TOOL_KEYS if name.language else _CODE_KEYS if runs_code else _SURE_CODE_KEYS
    language = asked or name.language or (name.shell if name.is_shell or (is_shell and not name.takes_code) else "")
    for code in _strings_under(args, keys):
        is_line = is_shell and not language and _is_shell_line(code)
        if is_line:  # `execute(code)` may be a shell or an interpreter
            yield code, name.shell
        if language not in ("python", ""):
            yield code, language
        elif not is_line or _is_python(code):
            yield from _notebook_cell(code, language)


@lru_cache(maxsize=16)  # several guards ask about one call
def _notebook_cell(code: str, language: str) -> list[tuple[str, str]]:
    """Return the code of a notebook cell, and its command lines; without ``language`` it may not be Python."""
    import re

    code = re.sub(_OTHER_CELLS, "", re.sub(_AROUND_CODE, r"\1", code, flags=re.MULTILINE))
    first, _, rest = code.lstrip().partition("\n")
    if first.startswith("%%"):
        return [(rest, _LANGUAGES.get((first[2:].split() or [""])[0], "sh"))]
    if _is_python(code):
        # `require('fs').rmSync('/')` is valid in both languages.
        is_both = not language and any(name in code for name in _NODE_NAMES)
        return [*([(code, "node")] if is_both else []), (code, "python")]
    commands = re.findall(_MAGIC, code, re.MULTILINE)
    if not commands:
        return [(code, language or "node")]
    # Each magic line becomes `pass`, so that its block stays valid.
    plain = re.sub(_MAGIC, r"\1pass", code, flags=re.MULTILINE)
    return [("\n".join(filter(None, (shell or magic for _, shell, magic in commands))), "sh"), (plain, "python")]


def _is_shell_line(text: str) -> bool:
    from agent_hooks.shell.parser import parse
    from agent_hooks.shell.syntax import Unreadable
    from agent_hooks.shell.walk import nodes

    return not any(isinstance(node, Unreadable) for node in nodes(parse(text)))


def _is_python(code: str) -> bool:
    import ast
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _strings_under(value: Any, keys: frozenset[str], *, is_one: bool = False, between: str = "\n") -> list[str]:
    """Return the strings under ``keys`` at any depth, a list of lines as one string, with ``between`` them."""
    if isinstance(value, str):
        return [value] if is_one else []
    if isinstance(value, dict):
        items = [(key in keys, item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        if is_one and value and all(isinstance(item, str) for item in value):
            return [between.join(item.rstrip("\n") for item in value)]
        items = [(is_one, item) for item in value]
    else:
        return []
    return [text for one, item in items for text in _strings_under(item, keys, is_one=one, between=between)]


def place_of(ctx: HookContext, call: ToolCall) -> Place:
    """Return where a call runs: in its own working directory if it names one, else in the event's."""
    from agent_hooks_guards.places.links import folders_of
    from agent_hooks_guards.places.paths import Place, absolute

    home = os.path.expanduser("~")
    here, project = folders_of(ctx, home)
    given = [value for key in WORKDIR_KEYS if isinstance(value := call.args.get(key), str) and value]
    cwd = absolute(given[0], here, home) if given else here
    if project != cwd and not cwd.startswith(f"{project.rstrip('/')}/"):
        # A workspace reached by a symbolic link is the same one.
        real, real_project = real_path(cwd), real_path(project)
        if real == real_project or real.startswith(f"{real_project.rstrip('/')}/"):
            return Place(real, home, real_project)
    return Place(cwd, home, project)


def analyses_of(ctx: HookContext, call: ToolCall, commands: Sequence[tuple[str, str]]) -> list[tuple[Analysis, Place]]:
    """Analyse the ``commands_of(call)``, each with its place; last, their effects behind symbolic links, if any."""
    if not commands:
        return []
    from agent_hooks_guards.analysis.analysing import analyse

    place = place_of(ctx, call)
    found = [(analyse(text, place, language), place) for text, language in commands]
    linked = [effect for analysis, _ in found if analysis.effects for effect in _linked_effects(analysis, place)]
    if not linked:
        return found
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places import links
    from agent_hooks_guards.places.paths import Place

    # A workspace reached by a link is the same workspace.
    real_place = Place(*map(links.real_path, (place.cwd, place.home, place.project)))
    return [*found, (Analysis(effects=linked), real_place)]


def _linked_effects(analysis: Analysis, place: Place) -> list[Effect]:
    """Return the effects on files that a symbolic link puts elsewhere, with the real path."""
    from agent_hooks_guards.model.actions import Effect
    from agent_hooks_guards.places import links

    found = []
    here = place.cwd.rstrip("/") + "/"
    known: dict[tuple[str, str, bool], list[str]] = {}
    for effect in analysis.effects:
        path = effect.path
        if effect.kind not in _FILE_EFFECTS or effect.command.host or path[:1] != "/":
            continue
        key = (path, getattr(path, "written", ""), effect.kind == "delete")
        if key not in known:
            elsewhere = [real for real in links.real_paths(path, is_deleted=key[2]) if real != path]
            real_here = links.real_path(place.cwd).rstrip("/") + "/" if elsewhere else here
            known[key] = [real for real in elsewhere if real != path.replace(here, real_here, 1)]
        rest = (effect.command, effect.recursive, effect.append, effect.labels, effect.method, effect.files)
        found += [Effect(effect.kind, real, *rest) for real in known[key]]
    return found


def is_long(value: Any) -> bool:
    """Return whether a result is to be searched piece by piece, as far as its first level tells."""
    kind = type(value)
    if kind is str or kind is Snapshot:
        return kind is Snapshot or len(value) > _LONG
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return False
    return len(value) > _MANY or any(type(each) is str and len(each) > _LONG for each in value)


def leaves(value: Any) -> Iterator[Any]:
    """Yield everything in ``value`` that is not a container of plain data, at any depth; keys are left out."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)
        else:
            yield item
