"""Judges code, in the languages people write on a command line or give to a tool that runs it, by its text."""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import AWKS

from .packages import reason_against_packages_in
from .parts import SWITCHES
from .reasons import denial
from .wiring import HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .shell import Judging

_OWN_COMMAND = Pattern(
    r"""agent[-_]hooks(?:[-_]core)?(?:\.exe|\.py)?[\s'",\]\[()]+(?:-[\w=-]+[\s'",]+)*(?:trust|untrust|allow|(?:un)?install)\b"""
    r"""|uninstall[\s'",]+(?:-[\w-]+[\s'",]+)*agent[-_]hooks"""
)
# A coding agent, and what starts it without its hooks, in the texts of code.
_HOST = Pattern(rf"(?<![\w./-])(?:{'|'.join(HOSTS)})(?![\w./-])")
_SWITCH = Pattern(
    rf"{SWITCHES}|--(?:bare|dangerously|ignore-user-config|setting-sources)|features\.|CODEX_HOME|CLAUDE_CONFIG_DIR"
)
_OURS = Pattern(r"agent[-_]hooks")
_DECIDING = Pattern(r"\b(?:un)?trust\b")
# Our own code, beside which these words mean our commands: elsewhere they mean those of an installer of packages.
_OUR_CODE = Pattern(r"agent_hooks(?:_core|[./]cli|[./]__main__)")
_INSTALLING = Pattern(r"\b(?:un)?install(?:_command)?\b")
# Words that run another program, or code that is elsewhere.
_CALLING = Pattern(
    r"subprocess|system|popen|shell|\bp?exec|spawn|\bp?run\b|call|output|main|load|import_module|__import__|runpy|\beval"
    r"|`|\bqx|%x|trust\(|\$\(|\bcli\b",
    re.IGNORECASE,
)
# Words that change files, run other code, or reach names that the text does not show.
_CHANGING = Pattern(
    r"writ|unlink|remov|renam|replac|mov|cop[iy]|truncat|touch|chmod|chown|link|mkdir|\brm|rmtree|rmdir|delet|extract|append"
    r"|put|create|(?<!ast)\.dump\(|open\([^()]*(?:\([^()]*\)[^()]*)*,|\bFile\.|>|`|system|subprocess|popen|shell|exec(?!utable)|spawn|eval"
    r"|compile|getattr|setattr|globals|locals|\bvars\b|__import__|__builtins__|sys\.argv|\brun\(|call\(|clear=True|inplace"
    r"|bind\(|listen\(|UNIX_?Server|Socket::UNIX",
    re.IGNORECASE,
)
_READ_MODE = Pattern(
    r"""open\([^()]*(?:\([^()]*\)[^()]*)*,\s*(?:mode\s*=\s*)?['"][rbtU]+['"]|=>|->|>=|encoding\s*=|utf-?8"""
)
_TAKING = Pattern(r"rmtree|rmSync|rm_r|rmdir|removedirs|rename|move|rimraf|remove_tree|remove_dir|clear=True|--clear")
# Parts of a path that are put together.
_JOINED = Pattern(r"""join\((\s*(?:'[^']*'|"[^"]*")(?:\s*,\s*(?:'[^']*'|"[^"]*"))+\s*)\)""")
_BETWEEN = Pattern(r"""['"]\s*,\s*['"]""")
_DIVIDED = Pattern(r"""['"]\)?\s*/\s*['"]""")
_ADDED = Pattern(r"""['"]\s*\+\s*['"]""")


def reason_against_code(judging: Judging, program: str, code: str, given: Sequence[str] = ()) -> str:
    """Return why ``program`` does not run ``code``, with the arguments ``given``; an empty string if it may."""
    if not code.isascii():
        from unicodedata import normalize

        code = normalize("NFKC", code)  # as Python reads its names
    if not code.strip():
        return ""
    if _CALLING.search(code):
        if names_own_command(code, given):
            return denial("command", "This code")
        reason = _against_host(code) or ("install" in code and reason_against_packages_in(judging, code))
        if reason:
            return reason
    if _only_reads(program, code):
        return ""
    code = _ADDED.sub("", _DIVIDED.sub("/", _JOINED.sub(lambda found: _BETWEEN.sub("/", found[1]), code)))
    if judging.protected.is_kept(judging.cwd) or judging.protected.is_named_in(code, judging.cwd):
        return denial("unclear")
    is_taken = _TAKING.search(code) is not None
    paths = judging.protected.paths_in(code)
    return next(filter(None, (judging.judge_path(path, whole=is_taken, files=False) for path in paths)), "")


def _against_host(code: str) -> str:
    """Return why ``code`` is denied, if it seems to start a host without its hooks."""
    host = _HOST.search(code)
    return denial("host", host[0]) if host and _SWITCH.search(code) else ""


def without_comments(code: str) -> str:
    """Return Python code without its comments; other code, in which `#` may mean something else, as it is."""
    import ast
    import warnings

    try:
        with warnings.catch_warnings(action="ignore"):  # about its style
            return ast.unparse(ast.parse(code)) if "#" in code else code
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


def names_own_command(code: str, given: Sequence[str] = ()) -> bool:
    """Whether ``code`` seems to call our own command that decides about agents."""
    if _OWN_COMMAND.search(code):
        return True
    calls = _CALLING.search(code)
    decides = _DECIDING.search(code) or any(map(_DECIDING.fullmatch, given))
    if not decides and _OUR_CODE.search(code):
        decides = _INSTALLING.search(code) or any(map(_INSTALLING.fullmatch, given))
    return bool(decides and _OURS.search(code) and calls)


def _only_reads(program: str, code: str) -> bool:
    """Whether nothing in ``code`` changes files or runs other code."""
    if program in AWKS:
        return not re.search(r"system|getline|\||>", code)
    return _CHANGING.search(_READ_MODE.sub(" ", code)) is None
