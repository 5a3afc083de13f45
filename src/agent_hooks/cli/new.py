"""``agent-hooks new plugin``: write the files of a plugin that is typed, tested and ready to be built."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib.util import find_spec
from keyword import iskeyword
from textwrap import fill

from agent_hooks.engine.installed import found_points
from agent_hooks.formats.toml import KEYS
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# The plugin `no-frobs`, with everything that a plugin may have.
_TEMPLATE = os.path.join(os.path.dirname(__file__), "plugin_template")
_FILES = (
    ".gitignore",
    "README.md",
    "pyproject.toml",
    "src/no_frobs/__init__.py",
    "src/no_frobs/py.typed",
    "tests/test_no_frobs.py",
)
# The files of each part that is left to choose.
PARTS = {
    "settings": ("src/no_frobs/settings.py", "tests/conftest.py", "tests/test_settings.py"),
    "command": ("src/no_frobs/command.py", "tests/test_command.py"),
    "handler": ("src/no_frobs/handler.py", "tests/conftest.py", "tests/test_handler.py"),
}
# Lines of a file that only plugins with a part have, or only those without it.
_SECTION = re.compile(
    r"^ *(?:#|<!--) (with|without) (\w+)(?: -->)?\n(.*?)^ *(?:#|<!--) end(?: -->)?\n", re.MULTILINE | re.DOTALL
)
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_LONGEST_NAME = 40  # lines with it stay within 88 columns
_NEXT = """\
python -m venv .venv && . .venv/bin/activate
pip install --upgrade pip
pip install --editable . --group dev
pytest
agent-hooks check before_tool_use --tool Bash --arg command='frob --all'
"""


def make_plugin(name: str, *, parts: Collection[str], commands: Collection[str]) -> int:
    """Write a plugin into a new folder ``name`` of the current one; return 1 if that is refused or fails, else 0.

    ``parts``: keys of ``PARTS``. ``commands``: the names of our own commands, which a plugin cannot have.
    """
    problem = _problem_of(name, commands)
    if problem:
        return _refuse(f"{name!r} is {problem}")
    files = dict(_contents(name, parts))
    try:
        os.mkdir(name)
    except FileExistsError:
        return _refuse(f"{name} is there already, and stays as it is.")
    except OSError as error:
        return _refuse(f"the folder {name} cannot be made: {error.strerror}.")
    try:
        for path, text in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        shutil.rmtree(name, ignore_errors=True)
        return _refuse(f"{path} cannot be written: {error.strerror}.")
    print("Written:", *files, sep="\n  ")
    print("It has one rule: agents do not run frob. Type next:", f"cd {name}", *_NEXT.splitlines(), sep="\n  ")
    return 0


def _problem_of(name: str, commands: Collection[str]) -> str:
    """Return why a plugin cannot be called so, as the end of a sentence; an empty string if it can."""
    module = name.replace("-", "_")
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        return (
            f"no name for a plugin: it has up to {_LONGEST_NAME} lower-case letters, digits and single hyphens, and "
            "begins with a letter."
        )
    if iskeyword(module):
        taken = "a word of Python"
    elif module in sys.stdlib_module_names or find_spec(module):
        taken = f"the module {module}, which is installed"
    elif name in commands:
        taken = f"the command agent-hooks {name}"
    elif name in KEYS:  # where the table of its settings would be
        taken = f"the key {name} of agent-hooks.toml"
    elif any(info.name == name for info, _ in found_points()):
        taken = f"the plugin {name}, which is installed"
    else:
        return ""
    return f"taken by {taken}: choose another name."


def _contents(name: str, parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of a plugin."""

    def section(found: re.Match[str]) -> str:
        return found[3] if (found[2] in parts) == (found[1] == "with") else ""

    def named(text: str) -> str:
        return re.sub("no[-_]frobs", lambda found: name if "-" in found[0] else name.replace("-", "_"), text)

    for path in sorted({*_FILES, *(path for part in parts for path in PARTS[part])}):
        with open(os.path.join(_TEMPLATE, path), encoding="utf-8") as file:
            text = _SECTION.sub(section, file.read())
        # A section that is left out at the end of a file leaves blank lines behind.
        yield f"{name}/{named(path)}", named(text.rstrip("\n") + "\n" if text else "")


def _refuse(problem: str) -> int:
    text = visible(f"agent-hooks: {problem}")
    if sys.stderr.isatty():
        text = fill(text, shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)
    return 1
