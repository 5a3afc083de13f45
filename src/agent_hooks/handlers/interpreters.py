"""Running a script as the bytes that were read, whatever becomes of its file meanwhile.

The interpreter gets the bytes as an open descriptor without a name, and the script's path only to say what it is
called: `$0`, `__file__`, what it imports and what it looks for beside itself stay what they are. A private copy of the
file would be found at another place: links to what is beside it make up for some of that, but `cd "$(dirname "$0")/.."`
and then `git diff`, `find` or `grep -r` would see links in place of the project, and let through what they are there to
find. `bash /dev/fd/N` has the wrong `$0`, and `bash -c TEXT` shows all of the script to everybody who lists processes.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import NamedTuple

from agent_hooks.errors import HandlerError
from agent_hooks.shell import syntax
from agent_hooks.shell.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class _Interpreter(NamedTuple):
    """What is done with a kind of interpreter.

    ``flags``: options before the script that do not change what it is. ``program``: what runs the script in the
    descriptor ``{}``, its name and arguments being the program's own. ``unlike``: with these in it, a script may notice
    the difference, and runs by its path.
    """

    names: re.Pattern[str]
    flags: re.Pattern[str]
    program: str
    unlike: tuple[bytes, ...]


_PYTHON = """\
def _():
    import os, sys
    del sys.argv[0]
    with os.fdopen({}, "rb") as file:
        code = file.read()
    if sys.path[:1] == [""]:
        sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
    globals()["__file__"] = os.path.join(os.getcwd(), sys.argv[0])
    return compile(code, sys.argv[0], "exec", 0, True)
exec(globals().pop("_")())
"""
# A NUL: an archive or a compiled file, which Python runs as well.
_INTERPRETERS = (
    _Interpreter(
        re.compile(r"(python|pypy)[0-9.]*"), re.compile(r"-([bBdEIOPqRsSuv]+|[WX].+)"), _PYTHON, unlike=(b"\0",)
    ),
    _Interpreter(
        re.compile("sh|bash|dash"), re.compile("-[abefhuvx]+"), ". /dev/fd/{}", (b"\0", b"BASH_SOURCE", b"FUNCNAME")
    ),
)

_BARE = re.compile(r"[\w./:=@%+,-]+", re.ASCII)


@contextmanager
def given(
    words: Sequence[str], scripts: Mapping[str, bytes], directory: str | None
) -> Iterator[tuple[Sequence[str], tuple[int, ...]]]:
    """Give the interpreter that ``words`` run the bytes of its script, if they run one of ``scripts`` that way.

    ``scripts``: by absolute path, what was read. ``directory``: where relative paths start. What is given: the words to
    run instead, and the descriptors that they need; the same words and none if there is nothing to give. Which it is
    depends on the words and the bytes alone, never on what is in the file system by then. Raises ``HandlerError`` if
    the program is a script that may not be executed.
    """
    found = None if sys.platform == "win32" else _script_of(words, scripts, directory)
    if found is None:
        yield words, ()
        return
    before, after, program, code = found
    descriptor = _descriptor_of(code)
    try:
        yield [*before, "-c", program.format(descriptor), *after], (descriptor,)
    finally:
        os.close(descriptor)


def plain_words(text: str, variables: Mapping[str, str]) -> list[str] | None:
    """Return the words of a command line, None if it is more than one program and its arguments.

    ``variables``: those that the shell would know; with any other it is more.
    """
    text = text.strip(" \t\n")
    # Shells differ about these.
    if not text or any(sign in text for sign in ("\\", "$'", '$"')):
        return None
    items = parse(text).items
    node = items[0].node if len(items) == 1 else None
    if not isinstance(node, syntax.Simple) or node.assignments or node.redirects or items[0].background:
        return None
    if (node.start, node.end) != (0, len(text)):  # `! x`, or a comment
        return None
    words = [_value_of(word, variables) for word in node.words]
    known = [word for word in words if word is not None]
    return known if len(known) == len(words) else None


def _value_of(word: syntax.Word, variables: Mapping[str, str]) -> str | None:
    """Return the value of a word, None if only a shell knows it."""
    value = ""
    for part in word:
        if isinstance(part, str):
            value += part
            continue
        text, is_quoted = (part.text, False) if isinstance(part, syntax.Bare) else (None, False)
        if isinstance(part, syntax.Parameter) and not part.operator and part.index is None:
            text, is_quoted = variables.get(part.name), part.quoted
        # Without quotes, a shell would split it, or look for files.
        if text is None or not (is_quoted or _BARE.fullmatch(text)):
            return None
        value += text
    return value


def _script_of(
    words: Sequence[str], scripts: Mapping[str, bytes], directory: str | None
) -> tuple[Sequence[str], Sequence[str], str, bytes] | None:
    """Return the interpreter with its options, the script with its arguments, what runs it, and its bytes."""

    def path_of(word: str) -> str:
        return os.path.normpath(os.path.join(directory or os.getcwd(), word))

    first = path_of(words[0]) if "/" in words[0] else ""
    if first in scripts:
        words = [*_shebang(scripts[first]), *words]
    place = 1 if os.path.basename(words[0]) == "env" else 0
    called = os.path.basename(words[place]) if place < len(words) else ""
    kind = next((each for each in _INTERPRETERS if each.names.fullmatch(called)), None)
    if kind is None:
        return None
    place += 1
    while place < len(words) and kind.flags.fullmatch(words[place]):
        place += 1
    path = path_of(words[place]) if place < len(words) else ""
    code = scripts.get(path)
    if code is None or any(each in code for each in kind.unlike):
        return None
    if path == first and not os.access(path, os.X_OK):
        raise HandlerError(f"its command could not be started: {path} is not executable")
    return words[:place], words[place:], kind.program, code


def _shebang(code: bytes) -> list[str]:
    """Return the interpreter of a script and its one argument, as a kernel reads them; nothing without a first line."""
    line = code.partition(b"\n")[0]
    return os.fsdecode(line[2:].strip(b" \t")).split(None, 1) if line.startswith(b"#!") else []


def _descriptor_of(code: bytes) -> int:
    """Return a descriptor from which ``code`` can be read, of a file that no folder has."""
    if not hasattr(os, "memfd_create"):
        from tempfile import TemporaryFile

        with TemporaryFile() as file:
            file.write(code)
            file.seek(0)
            return os.dup(file.fileno())
    import fcntl

    descriptor = os.memfd_create("agent-hooks script", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(code)
        file.seek(0)
    # Not even through /proc can another program of this user change it from here on.
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
