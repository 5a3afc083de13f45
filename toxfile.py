"""Lets a plain ``tox`` find the Pythons that pyenv installed, whose shims answer only for those switched on, and take
the newest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tox.plugin import impl

if TYPE_CHECKING:
    from tox.config.sets import ConfigSet
    from tox.session.state import State


def pyenv_pythons() -> list[str]:
    """Return the folders of the interpreters under pyenv's root, and under that of the Python which runs tox."""
    roots = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"]
    if Path(sys.base_prefix).parent.name == "versions":
        roots.append(Path(sys.base_prefix).parent)
    found = {str(python.parent) for root in roots for python in root.glob("3.[1-9][0-9]*/bin/python")}
    return sorted(found, reverse=True)


def newest(folders: str) -> str:
    """Return the name of the newest supported Python that is in ``folders``, else of the one that runs tox."""
    for minor in range(14, 10, -1):
        found = shutil.which(f"python3.{minor}", path=folders)
        # A shim of pyenv may stand for a Python that is not switched on.
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return f"python3.{minor}"
    return f"python3.{sys.version_info.minor}"


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:  # noqa: ARG001 - the hookspec's arguments
    """Let uv, which makes the environments, look there first, and tell `tox.ini` which is the newest."""
    folders = os.pathsep.join([*pyenv_pythons(), os.environ.get("PATH", "")])
    os.environ.setdefault("UV_PYTHON_SEARCH_PATH", folders)
    os.environ.setdefault("NEWEST_PYTHON", newest(folders))
