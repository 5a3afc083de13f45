"""The part of ``mutants.py`` inside pytest: selects tests, and reports failures and the lines that each test runs."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


class _Follower:
    """Selects the wanted tests, in their order, and records which lines of the followed modules each of them runs."""

    def __init__(self, folder: Path) -> None:
        self.report = folder / "report"
        self.failed: list[str] = []
        self.order: list[str] = []
        self.lines: dict[str, list[str]] = defaultdict(list)
        wanted, names = json.loads((folder / "wanted").read_text(encoding="utf-8"))
        self.wanted = None if wanted is None else {test: index for index, test in enumerate(wanted)}
        self.followed = {str(folder / name): name for name in names}
        self.monitoring: Any = getattr(sys, "monitoring", None)  # new in Python 3.12
        if self.followed and self.monitoring is not None:
            tool, line = self.monitoring.PROFILER_ID, self.monitoring.events.LINE
            self.monitoring.use_tool_id(tool, "mutants")
            self.monitoring.register_callback(tool, line, self.record)
            self.monitoring.set_events(tool, line)

    def record(self, code: Any, line: int) -> Any:
        """Record, once for each test, that it runs the line; an empty name stands for imports and the collection."""
        if (name := self.followed.get(code.co_filename)) is not None:
            self.lines[f"{name}:{line}"].append(self.order[-1] if self.order else "")
        return self.monitoring.DISABLE

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the wanted tests."""
        if (wanted := self.wanted) is not None:
            items[:] = sorted((item for item in items if item.nodeid in wanted), key=lambda item: wanted[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record all lines anew for this test."""
        self.order.append(nodeid)
        if self.followed and self.monitoring is not None:
            self.monitoring.restart_events()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        self.report.write_text(json.dumps([self.failed, self.order, self.lines]), encoding="utf-8")


# Before anything imports the modules.
_FOLLOWER = _Follower(Path(__file__).parent)


def pytest_configure(config: pytest.Config) -> None:
    """Follow the tests of this run."""
    config.pluginmanager.register(_FOLLOWER)
