"""Builds the plugins of this repository as wheels and installs them beside the core that is installed already.

``install`` leaves all of them installed, ``remove`` none. ``test`` installs one at a time with the plugins of this
repository that it depends on, runs its own tests against the installed wheel, and removes them again, so that no
plugin's tests see hooks of one that it does not need; further arguments go to pytest. ``types`` checks the types of
each plugin's tests; further arguments go to mypy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

# What pytest exits with if no test has the marks that are asked for.
_NO_TESTS = 5
PLUGINS = Path(__file__).resolve().parent.parent / "plugins"


def pip(*args: str) -> None:
    """Run pip in this environment. Raises ``CalledProcessError`` if it fails."""
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *args], check=True)


@cache  # another plugin may need it too
def build(plugin: Path, into: Path) -> str:
    """Build the wheel of the plugin in the folder ``plugin`` and return its path."""
    target = into / plugin.name
    # The build backend is installed here: an environment for each build would take longer than the build.
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(target), str(plugin))
    (wheel,) = target.glob("*.whl")
    return str(wheel)


def needed(plugin: Path) -> list[Path]:
    """Return the folders of the plugins of this repository that the plugin depends on, and its own."""
    project = tomllib.loads((plugin / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w.-]", dependency)[0] for dependency in project["dependencies"]}
    others = [PLUGINS / name for name in sorted(names) if (PLUGINS / name).is_dir()]
    return [*(each for other in others for each in needed(other)), plugin]


def passes(plugin: Path, into: Path, options: list[str]) -> bool:
    """Build and install the plugin and what it needs, run its tests from its own folder, remove them again; return
    whether all went well.
    """
    print(f"--- {plugin.name}", flush=True)
    installed = list(dict.fromkeys(needed(plugin)))
    try:
        pip("install", *[build(each, into) for each in installed])
    except subprocess.CalledProcessError:
        return False
    # Not `python -m pytest`, which would put the folder on the path; the configuration is the repository's.
    config = PLUGINS.parent / "pyproject.toml"
    command = ["pytest", "-c", str(config), "--rootdir", str(plugin), "-o", "pythonpath=tests", "tests", *options]
    passed = subprocess.run(command, cwd=plugin, check=False).returncode in (0, _NO_TESTS)
    pip("uninstall", "--yes", *[each.name for each in installed])
    return passed


def has_right_types(plugin: Path, options: list[str]) -> bool:
    """Check the types of the plugin's tests, each plugin's by itself: files of two may have one name."""
    print(f"--- {plugin.name}", flush=True)
    path = os.pathsep.join(map(str, (plugin / "tests", *(each / "src" for each in needed(plugin)))))
    command = ["mypy", *options, str(plugin / "tests")]
    return (
        subprocess.run(command, cwd=PLUGINS.parent, env={**os.environ, "MYPYPATH": path}, check=False).returncode == 0
    )


def main(action: str, *options: str) -> int:
    """Do ``action``, ``install``, ``remove``, ``test`` or ``types``, for every plugin; return the exit code."""
    plugins = sorted(path.parent for path in PLUGINS.glob("*/pyproject.toml"))
    if not plugins:
        print(f"There is no plugin with a pyproject.toml in {PLUGINS}.")
        return 1
    if action == "remove":
        pip("uninstall", "--yes", *[plugin.name for plugin in plugins])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if action == "install":
            pip("install", *[build(plugin, Path(folder)) for plugin in plugins])
            return 0
        if action == "types":
            failed = [plugin.name for plugin in plugins if not has_right_types(plugin, [*options])]
        else:
            failed = [plugin.name for plugin in plugins if not passes(plugin, Path(folder), [*options])]
    if failed:
        print(f"Failed: {', '.join(failed)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
