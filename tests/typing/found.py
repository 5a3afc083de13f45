"""mypy and pyright find the mistakes in ``mistakes.py``: ``pytest tests/typing/found.py``, in ``tox -e types``.

The name of the file keeps it from being collected where there are no type checkers.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

MISTAKES = Path(__file__).parent / "mistakes.py"
ROOT = MISTAKES.parent.parent.parent


@pytest.mark.parametrize("checker", [("mypy", "--no-error-summary"), ("pyright",)], ids=lambda checker: checker[0])
def test_a_type_checker_reports_the_wrong_lines_and_no_others(checker: tuple[str, ...]) -> None:
    run = subprocess.run([*checker, str(MISTAKES)], cwd=ROOT, capture_output=True, text=True, check=False)
    found = {int(line) for line in re.findall(r"mistakes\.py:(\d+)(?::\d+)?(?: -|:) error", run.stdout)}
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if line.endswith("  # wrong")}, run.stdout
