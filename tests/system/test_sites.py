"""Which folders of the import path count as installed, and which a project has brought."""

from __future__ import annotations

import os
import site
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import agent_hooks
from agent_hooks.system import sites

OURS = str(Path(agent_hooks.__file__).resolve().parent.parent)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An environment of its own in a project, with a folder of an editable install, and a folder outside."""
    made = SimpleNamespace(
        root=tmp_path.resolve(),
        project=tmp_path.resolve() / "project",
        site=tmp_path.resolve() / "project/.venv/site-packages",
        source=tmp_path.resolve() / "project/src",
        editable=tmp_path.resolve() / "project/editable",
        other=tmp_path.resolve() / "other",
    )
    for folder in (made.site, made.source, made.editable, made.other):
        folder.mkdir(parents=True)
    (made.site / "house.pth").write_text(f"\nimport something\n{made.editable}\n")
    monkeypatch.setattr(sys, "prefix", str(made.project / ".venv"))
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(made.site)])
    monkeypatch.setattr(site, "ENABLE_USER_SITE", False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name in ("_sites", "_projects", "_left_out"):
        monkeypatch.setattr(sites, name, getattr(sites, name))
    monkeypatch.chdir(made.project)
    return made


def installed(folder: object) -> bool:
    return sites.is_installed(str(folder))


def test_elsewhere_metadata_below_the_working_directory_or_at_a_relative_entry_do_not_count(folders, caplog):
    assert not installed(folders.source)
    assert f"the metadata in {folders.source} do not count as installed" in caplog.text
    assert not installed("../other")
    for folder in (folders.site, folders.editable, folders.other, OURS):
        assert installed(folder), folder


def test_the_root_as_working_directory_is_no_project(folders, monkeypatch):
    monkeypatch.chdir(folders.root.anchor)
    assert installed(folders.source)


def test_in_the_command_only_site_folders_count(folders):
    sites.restrict([str(folders.project)])
    assert [installed(folder) for folder in (folders.site, OURS)] == [True, True]
    assert [installed(folder) for folder in (folders.editable, folders.source, folders.other)] == [False] * 3


def test_the_command_imports_nothing_that_a_project_puts_on_the_path(folders, monkeypatch):
    below = (folders.site / "vendored", folders.source, folders.editable, folders.other)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, below)))
    sys.path[:] = ["", "src", *map(str, below), str(folders.project / "named by the program")]
    sites.restrict([str(folders.project)])
    vendored, source, editable, other = map(str, below)
    assert sys.path == [vendored, editable, other, str(folders.project / "named by the program")]
    assert sites.search_path() == [*sys.path, "", "src", source], "they are still searched, to report them"


@pytest.mark.parametrize(
    ("enabled", "base", "where", "counts"),
    [
        (True, None, "other", True),
        (True, "set", "other", False),
        (False, None, "other", False),
        (True, None, "source", False),
    ],
)
def test_the_users_site_folder_counts_unless_a_variable_or_a_project_made_it(
    folders, monkeypatch, enabled, base, where, counts
):
    monkeypatch.setattr(site, "ENABLE_USER_SITE", enabled)
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(getattr(folders, where)))
    monkeypatch.delenv("PYTHONUSERBASE", raising=False)
    if base:
        monkeypatch.setenv("PYTHONUSERBASE", base)
    sites.restrict([str(folders.project)])
    assert installed(getattr(folders, where)) == counts


def test_a_module_is_stray_in_a_folder_of_the_path_that_is_no_part_of_the_environment(folders):
    sys.path += map(str, (folders.site, folders.editable, folders.source))
    assert sites.stray_folder(str(folders.source / "package/module.py"), 2) == str(folders.source)
    assert sites.stray_folder(str(folders.source / "module.py"), 1) == str(folders.source)
    for file, levels in (
        (folders.site / "module.py", 1),
        (folders.editable / "module.py", 1),
        (os.__file__, 1),
        (folders.other / "module.py", 1),  # not on the path: another finder's
        ("", 0),
    ):
        assert sites.stray_folder(str(file), levels) == "", file


def test_files_of_a_plugin_lie_in_a_project_unless_they_are_of_an_environment_in_it(folders):
    source, own = str(folders.source / "plugin.py"), str(folders.site / "plugin.py")
    assert not sites.lies_in_project(source), "outside the command, nobody has said where projects are"
    sites.restrict([str(folders.project)])
    assert sites.lies_in_project(None, own, source)
    assert not sites.lies_in_project(own, str(folders.other / "plugin.py"), os.__file__, None)


def test_the_stamps_of_the_path_change_with_its_folders_the_restriction_and_the_working_directory(folders, monkeypatch):
    sys.path[:] = [str(folders.other), str(folders.root / "missing")]
    seen = [sites.path_stamps()]
    assert sites.path_stamps() == seen[0]
    os.utime(folders.other, ns=(0, 0))
    seen.append(sites.path_stamps())
    (folders.root / "missing").mkdir()
    seen.append(sites.path_stamps())
    monkeypatch.chdir(folders.root)
    seen.append(sites.path_stamps())
    sites.restrict([])
    seen.append(sites.path_stamps())
    assert len(set(seen)) == len(seen)


def test_a_working_directory_that_is_gone_is_no_project(folders, monkeypatch):
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    assert installed(folders.source)
