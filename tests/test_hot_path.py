"""What the modules of every event import in turn: on each Python, because its library decides that too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from test_layers import PACKAGE

HOT_PATH = """
    model.values model.events model.tools model.state model.outcome model.context model.policy engine.markers
    engine.plan engine.dispatch engine.lanes
""".split()
HEAVY = {"typing", "dataclasses", "inspect", "asyncio", "re", "json", "enum", "functools", "logging"}


def test_importing_the_hot_path_loads_nothing_heavy():
    """What the modules import in turn counts too."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        f"import {', '.join(f'agent_hooks.{name}' for name in HOT_PATH)}\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    # Without site: a virtual environment may load anything on its own.
    command = [sys.executable, "-I", "-S", "-c", program, str(PACKAGE.parent)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "agent_hooks.engine.dispatch" in loaded
    assert HEAVY & set(loaded) == set()


@pytest.mark.parametrize(
    ("text", "is_imported"),
    [
        ("[house]\nlevel = 'strict'\n", False),
        ("[house]\nlevel = 'strict'\nwords = []\n", True),
        ("disabled = []\n[house]\nlevel = 'strict'\n", True),
    ],
)
def test_pydantic_is_imported_only_for_tables_that_need_it(tmp_path, text, is_imported):
    user, project = tmp_path / "user", tmp_path / "project"
    user.mkdir()
    project.mkdir()
    (user / "agent-hooks.toml").write_text(text)
    program = f"""
import sys
sys.path.insert(0, {str(PACKAGE.parent)!r})
from agent_hooks import hookimpl
from agent_hooks.sources import files, loader
files.config_dirs, files.managed_dir = lambda: [sys.argv[1]], lambda: sys.argv[1] + "/managed"

class Model:
    def __call__(self):
        from pydantic import BaseModel
        return BaseModel

    def accepts(self, table):
        return table.settings == {{"level": "strict"}}

class House:
    @hookimpl
    def agent_hooks_settings(self):
        return {{"house": Model()}}

configuration = loader.HookConfigLoader(sys.argv[2], near=())
manager = loader.HookManager(load_plugins=False)
manager.register(House(), "house")
loader.HookManager = lambda **_: manager
configuration.load(load_plugins=False)
print("pydantic" in sys.modules, *(finding.kind for finding in configuration.findings))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(user), str(project)],
        capture_output=True,
        text=True,
        check=True,
        cwd=project,
    )
    assert done.stdout.split() == [str(is_imported), *["wrong-settings"] * ("words" in text)]
