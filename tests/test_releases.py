"""The four distributions of a release: one version, ranges that admit it, and a source archive of the core alone."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

import agent_hooks
from tables import tables

TABLES = tables(__file__)

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
    (urls,) = {tuple(project_of(folder)["project"]["urls"].values()) for folder in PROJECTS}
    hooks = [project_of(folder)["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"] for folder in PROJECTS]
    links = [each["replacement"].removeprefix("](") for hook in hooks for each in hook["substitutions"]]
    assert [url for url in (*urls, *links) if url != ADDRESS and not url.startswith(f"{ADDRESS}/")] == []


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


def test_the_source_archive_of_the_core_holds_only_what_is_built_from_it(archives):
    with tarfile.open(archives[ROOT]) as opened:
        names = {Path(*Path(name).parts[1:]).parts[0] for name in opened.getnames()}
    assert names == {"src", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO", ".gitignore"}


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


@pytest.fixture
def release(tmp_path):
    """A repository with one commit that can be released as v1.2.3, and what the script says against a tag."""
    script = runpy.run_path(str(ROOT / ".ci/release.py"))

    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    plugin = tmp_path / "plugins" / "one"
    (plugin / "src").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "agent-hooks-core"\nversion = "1.2.3"\n')
    (plugin / "pyproject.toml").write_text(
        '[project]\nname = "agent-hooks-one"\n[tool.hatch.version]\npath = "src/one.py"\n'
    )
    (plugin / "src" / "one.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-12-01\n")
    git("add", ".")
    git("commit", "-m", "one")

    def said(tag="v1.2.3", *, commit=True, tagged="", **files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text.replace("PLACEHOLDER", script["PLACEHOLDER"]))
        if tagged:
            git("tag", tagged)
        if commit:
            git("add", ".")
            git("commit", "--allow-empty", "-m", "two")
        return "\n".join(script["objections"](tmp_path, tag))

    return said


def test_a_commit_that_says_the_version_of_the_tag_everywhere_can_be_released(release):
    assert release() == ""
    assert release(commit=False, tagged="v1.2.3") == ""


@pytest.mark.parametrize(
    ("change", "says"),
    TABLES["each_objection_to_a_release_is_named"],
)
def test_each_objection_to_a_release_is_named(release, change, says):
    assert says in release(**change)
