"""Every test starts where nobody has settings, and without a key to any model."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # conformance.py, from whichever folder the tests are started
sys.path.append(str(HERE.parents[2] / "tests"))  # projects.py, runtime/

pytest.register_assert_rewrite("conformance", "runtime.lifecycle_model", "runtime.test_lifecycle")

from agent_hooks.system.by_hand import AGENTS  # noqa: E402
from installing import installing  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def _no_files_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what is configured on this machine out of the tests."""
    monkeypatch.setenv("CI", "1")  # tests have no terminal
    for variable in ("AGENT_HOOKS_CONFIG_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(variable, str(tmp_path_factory.getbasetemp() / "nobody"))
    monkeypatch.setattr(
        "agent_hooks.system.ancestors.notes_dir", lambda name: str(tmp_path_factory.getbasetemp() / name)
    )
    # Whoever runs the tests may be a coding agent, or have models at hand.
    for variable in [*os.environ]:
        if variable in AGENTS or variable.endswith("_API_KEY"):
            monkeypatch.delenv(variable)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install an adapter: a module with this source in a distribution of its own, with an entry point."""
    yield from installing(tmp_path, monkeypatch)
