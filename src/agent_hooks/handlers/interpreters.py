"""Run a script from the bytes that were checked, even if its file changes meanwhile.

The interpreter gets the bytes as an open descriptor without a name, and the script's path as its name: `$0`,
`__file__`, imports and files beside the script work as usual. A private copy would have another path: links to its
neighbours help in part, but after `cd "$(dirname "$0")/.."` a `git diff`, `find` or `grep -r` would see links in place
of the project, and miss the findings that it is there for. `bash /dev/fd/N` has the wrong `$0`, and `bash -c TEXT`
shows the whole script in the list of processes.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager

from agent_hooks.errors import HandlerError
from agent_hooks.shell import syntax
from agent_hooks.shell.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


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
# Kinds of interpreters: their names, the options before a script that leave it the script, code that runs the script in
# the descriptor ``{}`` with the name and arguments of the program. With the bytes a script may notice the difference.
_INTERPRETERS = (
    # A NUL marks an archive or a compiled file, which Python runs as well.
    (re.compile(r"(python|pypy)[0-9.]*"), re.compile(r"-([bBdEIOPqRsSuv]+|[WX].+)"), _PYTHON, (b"\0",)),
    (
        re.compile("sh|bash|dash"),
        re.compile("-[abefhuvx]+"),
        ". /dev/fd/{}",
        (b"\0", b"BASH_SOURCE", b"FUNCNAME"),
    ),
)

_BARE = re.compile(r"[\w./:=@%+,-]+", re.ASCII)


@contextmanager
def with_script_bytes(
    argv: Sequence[str], scripts: Mapping[str, bytes], directory: str | None
) -> Iterator[tuple[Sequence[str], tuple[int, ...]]]:
    """Yield an argv that runs the bytes of the script in ``argv``, and the descriptors that it needs.

    Yields ``argv`` itself and no descriptors unless it runs one of ``scripts`` with an interpreter known here. That
    depends on the arguments and the bytes alone, never on the file system. ``scripts``: the bytes by absolute path.
    ``directory``: the base of relative paths. Raises ``HandlerError`` if the program is a script without the permission
    to execute it.
    """
    found = None if sys.platform == "win32" or not scripts else _script_of(argv, scripts, directory)
    if found is None:
        yield argv, ()
        return
    before, after, program, code = found
    descriptor = _descriptor_of(code)
    try:
        yield [*before, "-c", program.format(descriptor), *after], (descriptor,)
    finally:
        os.close(descriptor)


def plain_words(text: str, variables: Mapping[str, str]) -> list[str] | None:
    """Return the tokens of a command line, None if it is more than one program and its arguments.

    ``variables``: those whose values are known; a command line with any other variable gives None.
    """
    text = text.strip(" \t\n")
    items = parse(text).items
    node = items[0].node if len(items) == 1 and not items[0].background else None
    if not isinstance(node, syntax.Simple) or node.assignments or node.redirects:
        return None
    is_unclear = any(sign in text for sign in ("\\", "$'", '$"'))  # shells disagree about these
    if is_unclear or (node.start, node.end) != (0, len(text)):  # `! x`, or a comment
        return None
    values = [_value_of(word, variables) for word in node.words]
    return None if None in values else [value or "" for value in values]


def _value_of(word: syntax.Word, variables: Mapping[str, str]) -> str | None:
    """Return the value of a token, None if only a shell knows it."""
    value = ""
    for part in word:
        text = part if isinstance(part, str) else part.text if isinstance(part, syntax.Bare) else None
        is_quoted = isinstance(part, str)
        if isinstance(part, syntax.Parameter) and not part.operator and part.index is None:
            text, is_quoted = variables.get(part.name), part.quoted
        # A shell would split an unquoted value, or expand it to file names.
        if text is None or not (is_quoted or _BARE.fullmatch(text)):
            return None
        value += text
    return value


def _script_of(
    argv: Sequence[str], scripts: Mapping[str, bytes], directory: str | None
) -> tuple[Sequence[str], Sequence[str], str, bytes] | None:
    """Return the interpreter with its options, the script with its arguments, the code that runs it, and its bytes."""

    def path_of(argument: str) -> str:
        return os.path.normpath(os.path.join(directory or os.getcwd(), argument))

    first = path_of(argv[0]) if "/" in argv[0] else ""
    if first in scripts:
        argv = [*_shebang(scripts[first]), *argv]
    index = 1 if os.path.basename(argv[0]) == "env" else 0
    called = os.path.basename(argv[index]) if index < len(argv) else ""
    kind = next((kind for kind in _INTERPRETERS if kind[0].fullmatch(called)), None)
    if kind is None:
        return None
    _, flags, program, unlike = kind
    index += 1
    while index < len(argv) and flags.fullmatch(argv[index]):
        index += 1
    path = path_of(argv[index]) if index < len(argv) else ""
    code = scripts.get(path)
    if code is None or any(each in code for each in unlike):
        return None
    if path == first and not os.access(path, os.X_OK):
        raise HandlerError(f"its command could not be started: {path} is not executable")
    return argv[:index], argv[index:], program, code


def _shebang(code: bytes) -> list[str]:
    """Return the interpreter of a script and its one argument, as a kernel reads them; nothing without a first line."""
    line = code.partition(b"\n")[0]
    return os.fsdecode(line[2:].strip(b" \t")).split(None, 1) if line.startswith(b"#!") else []


def _descriptor_of(code: bytes) -> int:
    """Return a descriptor to read ``code`` from, of a file without a path."""
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
    # The seals keep other programs of this user from changing it through /proc.
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
