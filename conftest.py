"""What every test of this repository shares, those of the plugins included."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pathlib import Path

# A busy machine is no reason for a test to fail, so nothing here is measured by the clock.
settings.register_profile("agent_hooks", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("agent_hooks")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers more than there are processors: many tests wait for a process or a deadline."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 2


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file without a test of the mark that is asked for: importing all takes longer than these tests."""
    mark = config.option.markexpr.partition(" ")[0]
    if mark not in {"docs", "interpreter"} or not collection_path.name.startswith("test_"):
        return None
    return f"pytest.mark.{mark}" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of each later garbage collection, which takes 0.7 s with them."""
    gc.collect()
    gc.freeze()
