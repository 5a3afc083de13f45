"""The workspace of the demo's agent: a temporary folder with a few files, and tools that cannot leave it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile

from agent_hooks.runtime.python_tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

FILES = {
    "build/old.txt": "Built long ago.\n",
    "greeting.py": 'def greet(name):\n    return "hello " + name\n',
    "notes.md": "# Wishes\n\n- greet() says: Hello, Ada!\n- delete build and ~/.cache/greeting\n",
    "pyproject.toml": """[project]
name = "greeting"
version = "1.0"
""",
    "tests.py": """import unittest

from greeting import greet


class Tests(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(greet("Ada"), "Hello, Ada!")
""",
}
SECONDS = 20.0


class Workspace:
    """A folder that exists inside its ``with`` block; ``folder``: its real path."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="agent-hooks-demo-", ignore_cleanup_errors=True)
        self.folder = os.path.realpath(self._temporary.name)
        self.write_files(FILES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._temporary.cleanup()

    def write_files(self, files: dict[str, str]) -> None:
        """Write ``files``, by path, and create their folders."""
        for path, content in files.items():
            where = self._inside(path)
            os.makedirs(os.path.dirname(where), exist_ok=True)
            with open(where, "w", encoding="utf-8") as file:
                file.write(content)

    def changes(self) -> dict[str, str]:
        """Return the change of each file by path: ``created``, ``changed``, ``deleted`` or ``unchanged``."""
        now: dict[str, bytes] = {}
        for folder, _folders, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    now[os.path.relpath(path, self.folder).replace(os.sep, "/")] = file.read()
        return {path: _change(FILES.get(path), now.get(path)) for path in sorted({*FILES, *now})}

    # -- the tools ---------------------------------------------------------------------------------------------------

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools ``list``, ``read``, ``write`` and ``shell``."""
        return (
            Tool(self.list_folder, name="list", kind="search"),
            Tool(self.read_file, name="read", kind="read"),
            Tool(self.write_file, name="write", kind="write"),
            Tool(self.run_command, name="shell", kind="shell"),
        )

    def list_folder(self, path: str = ".") -> str:
        """Return the names in a folder, those of folders with a slash."""
        entries = sorted(os.scandir(self._inside(path)), key=lambda entry: entry.name)
        return " ".join(entry.name + "/" * entry.is_dir() for entry in entries)

    def read_file(self, path: str) -> str:
        """Return the content of a file."""
        with open(self._inside(path), encoding="utf-8") as file:
            return file.read()

    def write_file(self, path: str, content: str) -> str:
        """Write a file, or replace it."""
        self.write_files({path: content})
        return f"{len(content)} characters written"

    def run_command(self, command: str) -> str:
        """Run one program in the folder, without a shell, and return its output and exit code."""
        program, *arguments = shlex.split(command) or [""]
        # No variables of the user's, and no files of Python's own in the workspace.
        path = os.environ.get("PATH", os.defpath)
        environment = {"PATH": path, "HOME": self.folder, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(  # noqa: S603 - an argument list, without a shell
            [sys.executable if program == "python" else program, *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        return f"{done.stdout.decode(errors='replace')}exit code {done.returncode}"

    def _inside(self, path: str) -> str:
        """Return the real path. Raises ``ValueError`` for one outside the folder, also through links."""
        real = os.path.realpath(os.path.join(self.folder, path))
        if os.path.commonpath((real, self.folder)) != self.folder:
            raise ValueError(f"{path!r} is outside the workspace.")
        return real


def _change(before: str | None, now: bytes | None) -> str:
    if before is None:
        return "created"
    if now is None:
        return "deleted"
    return "unchanged" if now == before.encode() else "changed"
