"""Checks and builds a release of the distributions.

``check TAG``: whether the commit can be released as the version of the tag; prints each objection. ``build FOLDER``:
builds all sdists and wheels twice and compares them byte for byte. ``install FOLDER``: installs the wheels into a fresh
environment, the sdists into another, and asks for the plugins and adapters. ``api TAG``: whether public names are as at
that tag. ``build`` and ``install`` need uv, ``api`` needs griffe.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from datetime import date
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
# Stands for the address of the repository until there is one.
PLACEHOLDER = "repository.invalid"


def run(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return its output. Raises ``CalledProcessError`` if it fails."""
    given = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=given, check=True, stdout=subprocess.PIPE, text=True).stdout


def versions(root: Path) -> dict[str, str]:
    """Return the version of each distribution by its name."""
    found = {}
    for path in [root / "pyproject.toml", *sorted(root.glob("plugins/*/pyproject.toml"))]:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
        version = settings["project"].get("version")
        if version is None:
            module = path.parent / settings["tool"]["hatch"]["version"]["path"]
            version = re.findall(r'^__version__ = "(.+)"$', module.read_text(encoding="utf-8"), re.MULTILINE)[0]
        found[settings["project"]["name"]] = version
    return found


def objections(root: Path, tag: str) -> Iterator[str]:
    """Yield what speaks against a release of the commit that is checked out as ``tag``."""
    for name, version in versions(root).items():
        if tag != f"v{version}":
            yield f"{name} has the version {version}, and the tag is {tag}."
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## \[{re.escape(tag.removeprefix('v'))}\] - (\S+)$", changelog, re.MULTILINE)
    try:
        date.fromisoformat(heading[1] if heading else "")
    except ValueError:
        yield f"CHANGELOG.md has no section `## [{tag.removeprefix('v')}] - YYYY-MM-DD`."
    found = subprocess.run(
        ["git", "grep", "-lF", PLACEHOLDER, "--", ".", ":!.ci/release.py"],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    for name in found.stdout.splitlines():
        yield f"{name} has the placeholder of the repository's address, {PLACEHOLDER}."
    if changes := run("git", "status", "--porcelain", cwd=root):
        yield f"The tree is not that of the commit:\n{changes.rstrip()}"
    if (
        run("git", "tag", "--list", tag, cwd=root)
        and tag not in run("git", "tag", "--points-at", "HEAD", cwd=root).split()
    ):
        yield f"The tag {tag} is of another commit."


def check(tag: str) -> int:
    """Print the objections; return 1 if there are any, else 0."""
    found = [*objections(ROOT, tag)]
    print("\n".join(found) or f"{tag} can be released.")
    return int(bool(found))


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by its name."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def build(folder: str) -> int:
    """Build everything into the new ``folder``, and once more elsewhere; return 1 unless that is the same, else 0."""
    Path(folder).mkdir(parents=True)
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    command = ("uv", "build", "--quiet", "--all-packages", "--no-create-gitignore", "--out-dir")
    with tempfile.TemporaryDirectory() as second:
        # What the times and the order of sets depend on is not the same the second time.
        run(*command, os.path.abspath(folder), SOURCE_DATE_EPOCH=epoch, TZ="UTC", PYTHONHASHSEED="1")
        run(*command, second, SOURCE_DATE_EPOCH=epoch, TZ="Asia/Kathmandu", PYTHONHASHSEED="2")
        made, again = digests(Path(folder)), digests(Path(second))
    for name, digest in made.items():
        print(f"{digest}  {name}{'' if again.get(name) == digest else '  which is another one the second time'}")
    expected = 2 * len(versions(ROOT))
    if len(made) != expected:
        print(f"These are {len(made)} files, and not {expected}.")
    return int(made != again or len(made) != expected)


def points(group: str) -> set[str]:
    """Return the names of the entry points of a group in the plugins of this repository."""
    read = (tomllib.loads(path.read_text(encoding="utf-8")) for path in ROOT.glob("plugins/*/pyproject.toml"))
    return {name for settings in read for name in settings["project"].get("entry-points", {}).get(group, {})}


# Prints the adapters that can be imported.
ADAPTERS = """
from agent_hooks.frameworks import installed_adapters
print(*(each.name for each in installed_adapters() if each.load().takes(each) is False))
"""


def install(folder: str) -> int:
    """Install what was built into fresh environments; return 1 if a plugin is not active in one, or an adapter not to
    be had, else 0.
    """
    is_missing = False
    for kind in ("*.whl", "*.tar.gz"):
        files = [str(path.resolve()) for path in sorted(Path(folder).glob(kind))]
        with tempfile.TemporaryDirectory() as temporary:
            python = os.path.join(temporary, "bin", "python")
            run("uv", "venv", "--quiet", "--python", sys.executable, temporary)
            run("uv", "pip", "install", "--quiet", "--python", python, *files, cwd=Path(temporary))
            # `-I`: not the package of this checkout.
            listed = run(python, "-I", "-m", "agent_hooks", "plugins", cwd=Path(temporary))
            adapters = {*run(python, "-I", "-c", ADAPTERS, cwd=Path(temporary)).split()}
        active = {line.split()[0] for line in listed.splitlines() if line.endswith("active")}
        print(f"{kind}: {len(files)} installed; plugins: {', '.join(sorted(active))}.")
        print(f"{kind}: adapters: {', '.join(sorted(adapters))}.")
        is_missing = is_missing or not (points("agent_hooks") <= active and points("agent_hooks.adapters") <= adapters)
    return int(is_missing)


def api(tag: str) -> int:
    """Print what has been broken of the public names since ``tag``; return 1 if there is any, else 0."""
    griffe = import_module("griffe")
    before = griffe.load_git("agent_hooks", ref=tag, repo=ROOT, search_paths=["src"])
    after = griffe.load("agent_hooks", search_paths=[ROOT / "src"])
    packages = (before, before["testing"])
    members = [member for package in packages for member in package.members.values()]
    # A name that is imported there is public where it is defined.
    public = {
        getattr(member, "target_path", member.path) for member in members if not isinstance(member, griffe.Module)
    }
    found = [
        each.explain(griffe.ExplanationStyle.ONE_LINE)
        for each in griffe.find_breaking_changes(before, after)
        if any(f"{each.obj.path}.".startswith(f"{name}.") for name in public if name.startswith("agent_hooks."))
    ]
    print("\n".join(map(str, found)) or f"Nothing public was broken since {tag}.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit({"check": check, "build": build, "install": install, "api": api}[sys.argv[1]](*sys.argv[2:]))
