"""Runs the blocks of one Markdown page and compares what they print: ``python tests/run_page.py docs/tutorial.md``.

All Python blocks of a page run, in order, in one ``__main__``, in a new folder with an empty home. A caption, the
paragraph directly above a block, says more:

```NAME```      A file's name in a code span: the block is also written to that file, before it runs if it is Python.
``Output:``     The block is what the block before it printed, which runs if it is a terminal.

So does a comment, above the caption if there is one:

``<!-- not run: REASON -->``  The block is only shown.
``<!-- run -->``              The block, in the language ``console``, is a terminal: each line ``$ COMMAND`` runs in
                              bash, and the lines up to the next one are what it prints. A command goes on after a
                              backslash. Where these lines have an answer behind ``[y/N]: ``, the command runs in a
                              terminal of its own, in which a person types it.

``...`` in what is expected stands for anything, and an indented line may be the rest of the line before it: a page
wraps what is wider than ``WIDTH``. Exit code 0: all is as the page says. 1: it is not, and the output says where.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from agent_hooks.system import ancestors
from agent_hooks.system.by_hand import AGENTS

PYTHON = ("python", "py")
NOTES = ("not run", "run")
WIDTH = 88
FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w+-]*).*\n(?P<code>(?:.*\n)*?)(?P=indent)(?P=fence) *$",
    re.MULTILINE,
)
NOTE = re.compile(r"<!-- *(?P<kind>[a-z ]+?) *(?:: *(?P<value>.*?))? *-->\s*\Z")
QUESTION = b"[y/N]: "
ANSWER = re.compile(r"\[y/N\]: (\S+)$", re.MULTILINE)
CAPTION = re.compile(r"(?P<above>\A\s*|\n\s*\n|-->\n) *(?:`(?P<file>[^`\n]+)`|(?P<word>\w+):) *\n\s*\Z")


class PageError(Exception):
    """Raised when a page cannot be read, or does not do what it says; the message begins with the page and the line."""


class Block(NamedTuple):
    """A fenced block: where its code starts, its language, its code, the note before it, and its caption."""

    line: int
    language: str
    code: str
    note: str
    file: str
    is_output: bool


def read_blocks(page: str, text: str) -> list[Block]:
    """Return the fenced blocks of ``text``. Raises ``PageError`` for a note or caption that means nothing here."""
    blocks = []
    end = 0
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start()) + 2
        above = text[end : fence.start()]
        caption = CAPTION.search(above)
        word, file = (caption["word"] or "", caption["file"] or "") if caption else ("", "")
        before = NOTE.search(above, 0, caption.end("above") if caption else len(above))
        kind, value = (before["kind"], before["value"] or "") if before else ("", "")
        if before and kind not in NOTES:
            raise PageError(f"{page}:{line - 1}: there is no note {kind!r}; the notes are {', '.join(NOTES)}.")
        if kind == "not run" and not value:
            raise PageError(f"{page}:{line - 1}: the note {kind!r} needs a value, as in <!-- {kind}: ... -->.")
        if word not in ("", "Output"):
            raise PageError(f"{page}:{line - 1}: there is no caption '{word}:'; it is 'Output:', or a file's name.")
        if fence["language"] == "pycon" and kind != "not run":
            raise PageError(f"{page}:{line - 1}: write a python block and its output; pycon blocks would not run.")
        blocks.append(Block(line, fence["language"], textwrap.dedent(fence["code"]), kind, file, bool(word)))
        end = fence.end()
    return blocks


class Page:
    """One page being run: its ``__main__`` and what the last block printed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.main = ModuleType("__main__")
        self.printed: str | None = None

    def run(self, blocks: list[Block]) -> None:
        """Run ``blocks`` in order. Raises ``PageError`` at the first that fails or prints something else."""
        sys.modules["__main__"] = self.main
        for number, block in enumerate(blocks):
            if block.is_output:
                if self.printed is None:
                    raise PageError(f"{self.name}:{block.line}: an output without a block that ran before it.")
                self.compare(block.line, block.code, self.printed)
                continue
            self.printed = None
            if block.note == "not run":
                continue
            if block.file:
                path = Path(block.file).expanduser()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.code, encoding="utf-8")
            followed = number + 1 < len(blocks) and blocks[number + 1].is_output
            if block.language in PYTHON:
                self.printed = self.run_python(block)
            elif block.note == "run" or (block.language == "console" and followed):
                self.printed = self.run_console(block)

    def run_python(self, block: Block) -> str:
        """Run the code in ``__main__`` and return what it printed."""
        # A real file, so that tracebacks and inspect can show the source.
        source = Path(tempfile.gettempdir(), f"{Path(self.name).stem}-line-{block.line}.py")
        source.write_text(block.code, encoding="utf-8")
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, str(source), "exec"), vars(self.main))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise PageError(f"{self.name}:{block.line}: the block failed.\n{traceback.format_exc()}") from error
        return printed.getvalue()

    def run_console(self, block: Block) -> str:
        """Run each ``$ `` line, compare its output with the lines after it, and return the whole output."""
        chunks = re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]
        commands = [re.split(r"(?<!\\)\n", f"{chunk}\n", maxsplit=1) for chunk in chunks]
        if not commands:
            raise PageError(f"{self.name}:{block.line}: a console block that runs needs a line that starts with '$ '.")
        printed = ""
        for command, expected in commands:
            answer = ANSWER.search(expected)
            output = run_in_terminal(command, answer[1]) if answer else run_alone(command)
            if block.note == "run":
                self.compare(block.line, expected, output)
            printed += output
        return printed

    def compare(self, line: int, expected: str, printed: str) -> None:
        """Raise ``PageError`` with a diff unless ``printed`` is what ``expected`` says, blanks at line ends aside."""
        want, got = (
            "".join(f"{row.rstrip()}\n" for row in text.strip("\n").splitlines()) for text in (expected, printed)
        )
        wrapped = re.sub(r"\\\n((?:\\ )+)", r"(?:\\n\1| )", re.escape(want))
        if not re.fullmatch(wrapped.replace(r"\.\.\.", r"[\s\S]*"), got):
            diff = "".join(
                difflib.unified_diff(want.splitlines(True), got.splitlines(True), "the page", "what it prints")
            )
            raise PageError(f"{self.name}:{line}: the output differs.\n{diff}")


def run_alone(command: str) -> str:
    """Run ``command`` in bash without a terminal and return what it prints."""
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def run_in_terminal(command: str, answer: str) -> str:
    """Run ``command`` in bash in a terminal, type ``answer`` at its question, and return what is shown."""
    process, terminal = pty.fork()
    if process == 0:
        for variable in AGENTS:  # a person types here
            os.environ.pop(variable, None)
        os.execvp("bash", ["bash", "-c", command])
    shown, is_answered = b"", False
    with contextlib.suppress(OSError):  # Linux says so at the end
        while data := os.read(terminal, 65536):
            shown += data
            if QUESTION in shown and not is_answered:
                is_answered = True
                os.write(terminal, f"{answer}\n".encode())
    os.close(terminal)
    os.waitpid(process, 0)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")


def main(name: str) -> int:
    """Run the page in the file ``name`` and return the exit code."""
    text = Path(name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder, "work"), Path(folder, "home")
        work.mkdir()
        home.mkdir()
        os.environ.update(
            HOME=str(home),
            NO_COLOR="1",
            CI="1",  # there is no terminal
            COLUMNS=str(WIDTH),
            PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        )
        for variable in [key for key in os.environ if key.startswith(("AGENT_HOOKS_", "XDG_"))]:
            del os.environ[variable]
        tempfile.tempdir = folder
        # People type the commands of the page, not below the agents of its blocks.
        ancestors.notes_dir = lambda name: name[:0]
        os.umask(0o022)  # pages show permissions
        os.chdir(work)
        sys.path[0] = str(work)
        try:
            Page(name).run(read_blocks(name, text))
        except PageError as error:
            print(error)
            return 1
        finally:
            os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
