"""What the modules of every event import in turn: on each Python, because its library decides that too."""

from __future__ import annotations

import subprocess
import sys

from test_layers import HEAVY, HOT_PATH, PACKAGE


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
