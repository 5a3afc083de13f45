"""The four distributions of a release: one version, ranges that admit it, and a source archive of the core alone."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

import agent_hooks

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent


def project_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    return found


PROJECTS = [ROOT, *sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))]
# Of a plugin that `agent-hooks new plugin` writes.
TEMPLATE = ROOT / "src/agent_hooks/cli/plugin_template"
VERSION = agent_hooks.__version__
ADDRESS = project_of(ROOT)["project"]["urls"]["Homepage"]


def stated_versions(folder: Path) -> set[str]:
    sources = [folder / "pyproject.toml", *(folder / "src").glob("*/__init__.py")]
    pattern = re.compile(r'^(?:version|__version__) = "(.+)"$', re.MULTILINE)
    return {version for path in sources for version in pattern.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_every_distribution_has_the_version_of_the_core(folder: Path):
    assert stated_versions(folder) == {VERSION}


@pytest.mark.parametrize("folder", [*PROJECTS[1:], TEMPLATE], ids=lambda folder: folder.name)
def test_plugins_need_the_minor_version_that_they_are_released_with(folder: Path):
    major, minor, _ = VERSION.split(".")
    expected = f">={major}.{minor},<{major}.{int(minor) + 1}"
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    needed = re.findall(r'^    "agent-hooks-[a-z]+(?:\[[a-z,]+\])?(.*?)"', text, re.MULTILINE)
    assert set(needed) == {expected}


def test_the_changelog_has_a_section_for_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{VERSION}]" in text or f"\n## [Unreleased]\n\nTowards {VERSION}" in text


def test_every_distribution_has_the_same_addresses():
    (urls,) = {repr(project_of(folder)["project"]["urls"]) for folder in PROJECTS}
    addresses = re.findall(r"https://[\w./-]+?/agent-hooks", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {*addresses} == {ADDRESS}
    assert ADDRESS in urls


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The source archive of each distribution, by its folder."""
    found = {}
    for folder in PROJECTS:
        target = tmp_path_factory.mktemp("sdist")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(target)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        (found[folder],) = target.glob("*.tar.gz")
    return found


def test_the_source_archive_of_the_core_holds_only_its_own(archives):
    with tarfile.open(archives[ROOT]) as opened:
        names = {Path(*Path(name).parts[1:]).parts[0] for name in opened.getnames()}
    assert names == {"src", "tests", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO", ".gitignore"}


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_links_in_the_metadata_lead_from_anywhere_to_the_files_of_the_version(archives, folder):
    with tarfile.open(archives[folder]) as opened:
        file = opened.extractfile(f"{archives[folder].name.removesuffix('.tar.gz')}/PKG-INFO")
        assert file is not None
        shown = file.read().decode().partition("\n\n")[2]
    readme = (folder / "README.md").read_text(encoding="utf-8")
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    assert code.findall(shown) == code.findall(readme)
    targets = re.findall(r"\]\(([^)]+)\)", code.sub("", shown))
    files = [target.removeprefix(f"{ADDRESS}/blob/v{VERSION}/") for target in targets if target.startswith(ADDRESS)]
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    assert [name for name in files if not (ROOT / name.partition("#")[0]).exists()] == []
