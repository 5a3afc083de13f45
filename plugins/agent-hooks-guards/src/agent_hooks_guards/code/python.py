"""Python code: what it starts, what it does to files, what it sends, told from its tree without running it."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast


# Without any of these, a code has no name that leads out of itself: it can compute and print.
_LEADS_OUT = re.compile(
    r"import|open|exec|eval|compile|attr|globals|vars|locals|input|breakpoint|help|file|load|modul|builtins|"
    r"frame|meta_path|hook|__|[^\x00-\x7f]|\x00"
)
# Modules that only compute, and that lead to no other module of their own.
_MODULES = r"(?:json|sys|math|re|time|itertools|string)"
_COMPUTING = re.compile(rf"^[ \t]*import[ \t]+{_MODULES}(?:[ \t]*,[ \t]*{_MODULES})*[ \t]*(?:$|[;\n#])", re.MULTILINE)
_PRINTS = re.compile("print|write")
_HIDING = re.compile(r"getattr|globals|vars|locals|__|decode|chr\(|\\x|\[::-1\]")
_HARMFUL = re.compile(
    r"system|popen|exec|eval|subprocess|spawn|remove|unlink|rmtree|rmdir|shutil|rename|truncate|chmod|chown|open\s*\([^)]*['\"][wax]|"
    r"write_|socket|urlopen|requests|__import__|import_module|ctypes|pty|fork|kill|pickle|marshal|compile"
)


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str, stdin: str | None = None) -> Found:
    """What Python code would do.

    ``labels``: where it comes from. ``arguments``: ``sys.argv``. ``stdin``: what it reads, if that is known.
    """
    del language
    if _only_computes(text) and not _PRINTS.search(text):
        return Found()
    try:
        tree = parsed(text)
        if tree is None:
            if _HARMFUL.search(text):
                return Found(doubts=["it is no Python that can be read"])
            return Found()
        from .python_scope import Scope
        from .python_walk import TooMuchError, Walk

        walk = Walk(arguments, labels, stdin)
        try:
            walk.run_tree(tree, Scope())
            walk.run_uncalled()
        except (TooMuchError, RecursionError, MemoryError):
            walk.may_print()
            if _HARMFUL.search(text) or _HIDING.search(text):
                walk.found.doubts.append("the code does more than is looked at")
        walk.found.output = walk.output()
        return walk.found
    except (RecursionError, MemoryError):
        return Found(doubts=["the code is deeper than what is looked at"])


def _only_computes(text: str) -> bool:
    if _LEADS_OUT.search(text) is None:
        return True
    if "import" not in text:
        return False
    rest = _COMPUTING.sub("\n", text)
    return _LEADS_OUT.search(rest) is None


def parsed(text: str) -> ast.Module | None:
    """Return the tree of a code; None if it is none, not even of Python 2."""
    import ast
    import warnings

    for repair in (_unchanged, _unknown_named, _dedented, _from_python_2):
        repaired = repair(text)
        if repaired is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(repaired)
        except (SyntaxError, ValueError, OverflowError):
            text = repaired
    return None


def _unchanged(text: str) -> str:
    return text


def _unknown_named(text: str) -> str | None:
    """Where a part of the code is not known, put a name."""
    if UNKNOWN not in text:
        return None
    from .python_scope import PLACEHOLDER

    return re.sub(rf"\w*{UNKNOWN}[\w{UNKNOWN}]*", PLACEHOLDER, text)


def _dedented(text: str) -> str | None:
    from textwrap import dedent

    repaired = dedent(text.replace("\r\n", "\n").replace("\x00", "")).lstrip()
    return repaired if repaired != text else None


_REST = r"((?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[^;\n'\"])*)"  # of a statement
_PRINT = re.compile(rf"(^|[;:\n])([ \t]*)print(?:[ \t]*>>[ \t]*[\w.]+[ \t]*,)?[ \t]*(?![ \t(=.,)]){_REST}")
_EXEC = re.compile(rf"(^|[;:\n])([ \t]*)exec[ \t]+(?![ \t=(]){_REST}")
_EXCEPT = re.compile(r"\bexcept[ \t]+([\w., ()]+?),[ \t]*(\w+)[ \t]*:")
_BACKQUOTES = re.compile(r"`([^`\n]*)`")
_OCTAL = re.compile(r"\b0([0-7]+)\b(?![.\w])")
_RAISE = re.compile(r"\braise[ \t]+(\w+)[ \t]*,[ \t]*([^\n;]+)")


def _from_python_2(text: str) -> str | None:
    repaired = _PRINT.sub(r"\1\2print(\3)", text)
    repaired = _EXEC.sub(r"\1\2exec(\3)", repaired)
    repaired = _EXCEPT.sub(r"except (\1) as \2:", repaired)
    repaired = _BACKQUOTES.sub(r"repr(\1)", repaired)
    repaired = _RAISE.sub(r"raise \1(\2)", repaired)
    repaired = _OCTAL.sub(r"0o\1", repaired).replace("<>", "!=")
    return repaired if repaired != text else None
