"""Claude Code's `if`: one permission rule that selects the tool calls of a handler.

Sources: https://code.claude.com/docs/en/hooks#common-fields and https://code.claude.com/docs/en/permissions
"""

from __future__ import annotations

from agent_hooks.engine.markers import WEAKLY
from agent_hooks.errors import RegistrationError
from agent_hooks.model.touched_paths import further_paths, touched_paths

from .matcher_rules import tool_call_of, tool_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from typing import Any

    from agent_hooks.engine.matchers import Predicate
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

    Specified = Callable[[HookContext, ToolCall], Any]

# Rules for editing and reading hold for every tool that does it, whatever its name.
_APPLIES_TO_KINDS = {"Edit": frozenset({"write", "edit", "delete"}), "Read": frozenset({"read", "search"})}
_FILE_TOOLS = frozenset(
    {*_APPLIES_TO_KINDS, "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Grep", "Glob", "LS"}
)
_SUBAGENT_KEYS = ("subagent_type", "agent_type")

_MAX_LENGTH = 10_000  # characters of a command; Claude Code parses no longer ones either
# Programs that run another one. Claude Code looks past these, and past no others.
_WRAPPERS = frozenset("timeout nice stdbuf time nohup command builtin noglob xargs".split())


def claude_if(rule: str, root: str = "") -> Predicate:
    """Return the predicate for the permission rule ``rule``: ``Tool`` or ``Tool(specifier)``.

    ``root``: the base of paths that begin with ``/``: the folder of the project or of the user's settings. Specifiers
    of shell, file, fetch and subagent tools are evaluated. An undecidable rule is a weak match. Raises
    ``RegistrationError`` for an invalid rule.
    """
    tool, specifier = _parsed(rule)
    specified = _specified(tool, specifier, root) if specifier is not None else None

    def applies(ctx: HookContext) -> Any:
        call = tool_call_of(ctx)
        if call is None:
            return False
        met = _is_for(tool, call)
        if not met or specified is None:
            return met
        found = specified(ctx, call)
        return WEAKLY if found and met == WEAKLY else found

    return applies


def _parsed(rule: str) -> tuple[str, str | None]:
    """Return the tool's name, and the specifier, None for all calls of the tool."""
    from itertools import accumulate

    tool, bracket, rest = rule.strip().partition("(")
    tool = tool.strip()
    is_name = tool.isascii() and tool.replace("*", "a").replace("-", "a").replace(".", "a").isidentifier()
    specifier = rest[:-1].strip()
    signs = specifier.replace("\\(", "").replace("\\)", "")
    # If a bracket closes before it opens, this is no single rule.
    closes_early = min(accumulate((sign == "(") - (sign == ")") for sign in signs), default=0) < 0
    if not is_name or (bracket and not rest.endswith(")")) or closes_early:
        raise RegistrationError(f"{rule!r} is not a permission rule: write one `Tool` or `Tool(specifier)`.")
    return tool, specifier if specifier not in ("", "*", ":*") else None


def _is_for(tool: str, call: ToolCall) -> Any:
    """Return whether a rule for ``tool`` is one for ``call``: True, False or ``WEAKLY``."""
    operations = {operation.kind for operation in call.file_operations} or {call.kind}
    if operations & _APPLIES_TO_KINDS.get(tool, frozenset()):
        return True
    parts = call.name.split("__")  # a rule may name the server of an MCP tool, as in mcp__github
    server = "__".join(parts[:2]) if parts[0] == "mcp" and len(parts) > 2 else ""
    if any(_is_like(tool, name) for name in (*tool_names(call), server)):
        return True
    return WEAKLY if any(_is_like(tool, name) for name in call.weak_names) else False


def _specified(tool: str, specifier: str, root: str) -> Specified:
    if tool == "Bash":
        return _command_rule(specifier)
    if tool in _FILE_TOOLS:
        return _path_rule(specifier, root)
    if tool == "WebFetch" and specifier.startswith("domain:"):
        return _domain_rule(specifier.removeprefix("domain:"))
    if tool in ("Agent", "Task") and ":" not in specifier:
        return lambda _, call: _known([call.args.get(key) for key in _SUBAGENT_KEYS], lambda name: name == specifier)
    return lambda *_: WEAKLY


def _known(values: Sequence[Any], test: Callable[[str], bool]) -> Any:
    """Return whether any string of ``values`` meets ``test``, ``WEAKLY`` if there is none."""
    texts = [value for value in values if isinstance(value, str) and value]
    return any(map(test, texts)) if texts else WEAKLY


# -- commands ----------------------------------------------------------------------------------------------------------


def _command_rule(specifier: str) -> Specified:
    import re

    # `cmd:*` is the older way to write `cmd *`; both mean the command alone, too.
    pattern = f"{specifier[:-2]} *" if specifier.endswith(":*") else specifier
    whole, bare = _expression(pattern), _expression(pattern.removesuffix(" *"))
    # The rule names arguments, too, which an expansion may hide.
    named = re.sub(r"\\.", "", pattern.removesuffix(" *"))
    is_specific = len(named.split()) > 1 or "*" in named

    def fits(text: str) -> bool:
        return bool(whole.match(text) or bare.match(text))

    def matches(_: HookContext, call: ToolCall) -> Any:
        line = CommandLine(call.command)
        if any(fits(text) for words in line.commands for text in _spellings(words)):
            return True
        if not call.command.strip() or not line.is_clear:
            return WEAKLY
        if line.expands and is_specific:
            return True
        # Whether the program of a command is only known at run time.
        is_hidden = any(not {"$", "`"}.isdisjoint(_spellings(words)[-1].split(" ")[0]) for words in line.commands)
        is_quoted = any(fits(text) for words in line.unquoted for text in _spellings(words)[-1:])
        return WEAKLY if is_hidden or is_quoted or fits(call.command.strip()) else False

    return matches


class CommandLine:
    """The simple commands of a command line.

    ``commands``: the tokens of each in their spelling, without assignments and redirections; substitutions contain
    commands of their own. ``unquoted``: the same without quotes and escapes. ``expands``: whether there are parameters
    or substitutions. ``is_clear``: whether the whole line could be parsed.
    """

    def __init__(self, text: str) -> None:
        from agent_hooks.shell import syntax
        from agent_hooks.shell.parser import parse
        from agent_hooks.shell.walk import literal, nodes

        found = list(nodes(parse(text))) if len(text) <= _MAX_LENGTH else [syntax.Unreadable(text)]
        simple = sorted((node for node in found if isinstance(node, syntax.Simple)), key=lambda node: node.start)
        expanding = (syntax.Parameter, syntax.Substitution, syntax.Arithmetic)
        self.commands = [node.raw for node in simple if node.raw]
        self.unquoted = [[literal(word) or "" for word in node.words] for node in simple if node.raw]
        self.expands = any(isinstance(node, expanding) for node in found)
        self.is_clear = not any(isinstance(node, syntax.Unreadable) for node in found)


def _spellings(words: Sequence[str]) -> list[str]:
    """Return the command in its spelling, and without each of its wrappers."""
    from agent_hooks.shell.programs import command_start

    found = [" ".join(words)]
    while words[0] in _WRAPPERS and not (words[0] in ("command", "xargs") and words[1:2] and words[1].startswith("-")):
        words = words[command_start(words) :]
        if not words:
            break
        found.append(" ".join(words))
    return found


def _expression(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern with stars; ``\*``, ``\(``, ``\)`` and ``\\`` are the characters."""
    import re
    from fnmatch import translate

    escape = lambda found: found[1] if found[1] and found[1] != "*" else f"[{found[1] or found[0]}]"  # noqa: E731
    # What `translate` makes of stars takes time in proportion to the text.
    return re.compile(translate(re.sub(r"\\([*()\\])|[?\[]", escape, pattern)))


# -- paths -------------------------------------------------------------------------------------------------------------


def _path_rule(specifier: str, root: str) -> Specified:
    anchor, pattern = _anchored(specifier, root)
    is_clear = "\\" not in specifier and not specifier.startswith("!")

    def matches(ctx: HookContext, call: ToolCall) -> Any:
        from os.path import isabs

        from agent_hooks.system.paths import real_path

        of_call = ctx if ctx.tool_call is call else ctx.replace(tool_call=call)
        paths = touched_paths(of_call)
        top = ctx.cwd if anchor is None else anchor
        if not is_clear or not paths or (not top and any(map(isabs, paths))):
            return WEAKLY
        tops = {top, real_path(top)} if top else {""}
        if any(_is_below(each, pattern, path) for each in tops for path in paths):
            return True
        further = further_paths(of_call)
        return WEAKLY if any(_is_below(each, pattern, path) for each in tops for path in further) else False

    return matches


def _anchored(specifier: str, root: str) -> tuple[str | None, str]:
    """Return the base folder of the pattern of a file rule, None for the current one, and the relative pattern."""
    if specifier.startswith("//"):
        return "/", specifier.lstrip("/")
    if specifier.startswith("~/"):
        from os.path import expanduser

        return expanduser("~"), specifier[2:]
    if specifier.startswith("/"):
        return root, specifier[1:]
    pattern = specifier.removeprefix("./")
    # As in .gitignore: a name alone is found at any depth.
    is_name = "/" not in pattern.rstrip("/") and pattern == specifier
    return None, f"**/{pattern}" if is_name else pattern


def _is_below(top: str, pattern: str, path: str) -> bool:
    """Whether ``pattern`` matches ``path`` or a folder above it, below ``top``."""
    path = path.replace("\\", "/")
    if top:
        folder = top.replace("\\", "/").rstrip("/") + "/"
        if not path.startswith(folder):
            return False
        path = path[len(folder) :]
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    wanted = [part for part, before in zip(parts, ("", *parts), strict=False) if not part == before == "**"]
    used = {0}  # the possible numbers of matched pattern parts after each name of the path
    for name in (*path.split("/"), None):
        used |= {at + 1 for at in used if wanted[at : at + 1] == ["**"]}  # which may match no name at all
        if len(wanted) in used or name is None:
            break
        following = {at + 1 for at in used if wanted[at] != "**" and _is_like(wanted[at], name)}
        used = following.union(at for at in used if wanted[at] == "**")
    return len(wanted) in used


def _is_like(pattern: str, name: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern) if not {"*", "?", "["}.isdisjoint(pattern) else name == pattern


# -- addresses ---------------------------------------------------------------------------------------------------------


def _domain_rule(domain: str) -> Specified:
    wanted = domain.strip().lower().rstrip(".")
    if "*" in wanted.removeprefix("*."):
        return lambda *_: WEAKLY

    def fits(url: str) -> bool:
        host = _host(url)
        return host.endswith(wanted[1:]) if wanted.startswith("*.") else host == wanted

    return lambda _, call: _known(call.url.split("\n"), fits)


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").rstrip(".")
    except ValueError:
        return ""
