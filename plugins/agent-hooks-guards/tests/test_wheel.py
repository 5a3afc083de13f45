"""The wheel has copies of the data tables."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from agent_hooks_guards.model.tables import pack_tables

ROOT = Path(__file__).parents[1]
RULES = "agent_hooks_guards/rules"


def build(target):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    return zipfile.ZipFile(wheel)


def test_a_wheel_has_a_copy_beside_the_toml_of_each_folder(tmp_path):
    with build(tmp_path) as wheel:
        names = set(wheel.namelist())
        folders = {name.rpartition("/")[0] for name in names if name.endswith(".toml")}
        assert RULES in folders
        assert {name for name in names if name.endswith(".marshal")} == {f"{each}/tables.marshal" for each in folders}
        assert wheel.read(f"{RULES}/tables.marshal") == pack_tables(str(ROOT / "src" / RULES))
