"""The environment that people would have: a venv with the built wheels, and the clients from npm's registry."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.clients import CLIENTS, installed
from e2e.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
# The folder that keeps the clients from one run to the next; without it, they are installed in a temporary one.
KEPT = os.environ.get("AGENT_HOOKS_E2E_CLIENTS", "")
PLUGIN = {
    "METADATA": "Metadata-Version: 2.1\nName: e2e-policy\nVersion: 1\n",
    "entry_points.txt": "[agent_hooks]\ne2e-policy = e2e_policy\n",
    "RECORD": "e2e_policy.py,,\n",
}


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheels of the core and the guards, and a plugin with the scenarios' rules."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True)
    python = str(folder / "bin/python")
    words = [python, "-m", "pip", "install", "--quiet", f"{ROOT}[cli]", str(ROOT / "plugins/agent-hooks-guards")]
    subprocess.run(words, check=True, timeout=900)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "e2e_policy.py").write_text((Path(__file__).parent / "policy.py").read_text())
    info = site / "e2e_policy-1.dist-info"
    info.mkdir()
    for name, text in PLUGIN.items():
        (info / name).write_text(text)
    subprocess.run([python, "-m", "compileall", "-q", str(site)], check=False, timeout=900)
    return folder


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A client's program by the client's name; skips the test, with the reason, where it cannot be installed."""
    clients = Path(KEPT) if KEPT else tmp_path_factory.mktemp("clients")
    found: dict[str, tuple[Path | None, str]] = {}

    def get(name: str) -> Path:
        if name not in found:
            found[name] = installed(CLIENTS[name], clients / name)
        path, why = found[name]
        if path is None:
            pytest.skip(why)
        return path

    return get


@pytest.fixture
def session(tmp_path: Path, environment: Path, program: Callable[[str], Path]) -> Iterator[Callable[[str], Session]]:
    """Make a home with our command installed for a client, and ask the client there."""
    made: list[Session] = []

    def make(name: str) -> Session:
        made.append(Session(CLIENTS[name], program(name), environment, tmp_path))
        return made[-1]

    assert sys.platform != "win32"
    yield make
    for each in made:
        each.restore()
