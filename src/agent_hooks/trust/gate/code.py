"""What is denied of code, in the languages people write on a command line or give to a tool that runs it."""

from __future__ import annotations

import re

from .hosts import reason_against_host_in
from .packages import reason_against_packages_in
from .reasons import for_own_command, for_unclear
from .words import AWKS, EDITING, LOOKING, RUNNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .reading import Reading

_OWN_COMMAND = re.compile(
    r"""agent[-_]hooks(?:[-_]core)?(?:\.exe|\.py)?[\s'",\]\[()]+(?:-[\w=-]+[\s'",]+)*(?:trust|untrust|allow|(?:un)?install)\b"""
    r"""|uninstall[\s'",]+(?:-[\w-]+[\s'",]+)*agent[-_]hooks"""
)
_OURS = re.compile(r"agent[-_]hooks")
_DECIDING = re.compile(r"\b(?:un)?trust\b")
# Words that run another program, or code that is elsewhere.
_CALLING = re.compile(
    r"subprocess|system|popen|\bp?exec|spawn|\bp?run\b|call|output|main|load|import_module|__import__|runpy|\beval"
    r"|`|\bqx|%x|trust\(|\$\(|\bcli\b",
    re.IGNORECASE,
)
_STRING = re.compile(r"""(?<![fF])(?<![fF][rR])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_MODE = re.compile(r"""['"][rbtU]*[wax+][rbtwax+]*['"]""")
_IDENTIFIER = re.compile(r"(\.?)\b([^\W\d]\w*)")
_BOUND = re.compile(
    r"(?:^|[;\n])\s*import\s+([^\W\d]\w*)|\b(?:for|as|const|let|var|lambda)\s+([^\W\d]\w*)|(?<!\.)\b([^\W\d]\w*)\s*=(?![=>])"
)
_TAKING = re.compile(
    r"rmtree|rmSync|rm_r|rmdir|removedirs|rename|move|rimraf|remove_tree|remove_dir|clear=True|--clear"
)
# A way to open a file that is not named in a text or by a keyword: flags are numbers (`os.open`).
_MODE_UNSEEN = re.compile(r"""open\([^,()]*(?:\([^()]*\))?[^,()]*,(?!\s*['"]|\s*\w+\s*=)""")
# Parts of a path that are put together.
_JOINED = re.compile(r"""join\((\s*(?:'[^']*'|"[^"]*")(?:\s*,\s*(?:'[^']*'|"[^"]*"))+\s*)\)""")
_BETWEEN = re.compile(r"""['"]\s*,\s*['"]""")
_DIVIDED = re.compile(r"""['"]\)?\s*/\s*['"]""")
_ADDED = re.compile(r"""['"]\s*\+\s*['"]""")
# Where opening a file is never running a program.
_PLAIN_LANGUAGES = frozenset(("python", "py", "pypy", "node", "nodejs"))


def reason_against_code(reading: Reading, program: str, code: str, given: Sequence[str] = ()) -> str:
    """Return why ``program`` does not run ``code``, with the arguments ``given``; an empty string if it may."""
    if not code.strip():
        return ""
    if names_own_command(code, given) and not (program in _PLAIN_LANGUAGES and _has_only(EDITING, code)):
        return for_own_command("This code")
    if _only_looks(program, code):
        return ""
    if _CALLING.search(code) and (reason := reason_against_host_in(code)):
        return reason
    if _CALLING.search(code) and "install" in code and (reason := reason_against_packages_in(reading, code)):
        return reason
    code = _ADDED.sub("", _DIVIDED.sub("/", _JOINED.sub(lambda found: _BETWEEN.sub("/", found[1]), code)))
    if reading.protected.is_named_in(code, reading.cwd):
        return for_unclear()
    paths = reading.protected.paths_in(code)
    is_taken = _TAKING.search(code) is not None
    return next(filter(None, (reading.judge_path(path, whole=is_taken, files=False) for path in paths)), "")


def without_comments(code: str) -> str:
    """Return Python code without its comments; what is none, as it is: there a `#` may mean something else."""
    if "#" not in code:
        return code
    import ast
    import io
    import warnings
    from tokenize import COMMENT, TokenError, generate_tokens

    code = code.replace("\r\n", "\n").replace("\r", "\n")  # which ends a line, and with it a comment, in Python too
    lines = code.split("\n")
    try:
        with warnings.catch_warnings(action="ignore"):  # about its style
            ast.parse(code)
        for token in generate_tokens(io.StringIO(code).readline):
            if token.type == COMMENT:
                row = token.start[0] - 1
                lines[row] = lines[row].removesuffix(token.string)
    except (SyntaxError, TokenError, ValueError, RecursionError, MemoryError):
        return code
    return "\n".join(lines)


def names_own_command(code: str, given: Sequence[str] = ()) -> bool:
    """Whether ``code`` seems to call what decides about agents."""
    if _OWN_COMMAND.search(code):
        return True
    decides = _DECIDING.search(code) or any(map(_DECIDING.fullmatch, given))
    return bool(decides and _OURS.search(code) and _CALLING.search(code))


def _only_looks(program: str, code: str) -> bool:
    """Whether every name in ``code`` is one of those that only look at files, and nothing is opened for writing."""
    plain = code.replace("=>", " ").replace("->", " ").replace(">=", " ")
    if ">" in plain or "`" in code:
        return False
    if program in AWKS:
        return not re.search(r"system|getline|\|", code)
    return not _MODE.search(code) and not _MODE_UNSEEN.search(code) and _has_only(LOOKING, code)


def _has_only(names: frozenset[str], code: str) -> bool:
    """Whether every name in ``code``, outside its texts, is one of ``names`` or a variable of its own."""
    bare = _STRING.sub(" ", code)
    bound = {name for names in _BOUND.findall(bare) for name in names} - RUNNING
    used = _IDENTIFIER.findall(bare)
    return "`" not in bare and all(name in names or (name in bound and not dot) for dot, name in used)
