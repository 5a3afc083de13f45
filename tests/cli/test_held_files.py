"""Files that are held open: every change of one, and of the way to it, shows."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from agent_hooks.cli import held_files
from agent_hooks.cli.held_files import HeldFiles, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.interpreter,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no resident process"),
]


def replaced(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    os.replace(new, path)


def edited(path: Path) -> None:
    status = path.stat()
    path.write_text("b")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def moved(top: Path) -> None:
    top.rename(top.with_name("away"))
    (top / "inner").mkdir(parents=True)
    (top / "inner" / "a.py").write_text("a")


def led_elsewhere(link: Path) -> None:
    other = link.with_name("other.py")
    other.write_text("a")
    link.unlink()
    link.symlink_to(other)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is edited, and its time set back": lambda top: edited(top / "inner" / "a.py"),
    "another file takes its place": lambda top: replaced(top / "inner" / "a.py"),
    "a file is removed": lambda top: (top / "inner" / "a.py").unlink(),
    "a missing file appears": lambda top: (top / "inner" / "missing.txt").write_text(""),
    "a folder around it is replaced": moved,
    "a link leads elsewhere": lambda top: led_elsewhere(top / "link.py"),
    "the target of a link is edited": lambda top: edited(top / "target.py"),
    "a file comes into a folder of the path": lambda top: (top / "path" / "new.pth").write_text(""),
    "a folder of the path appears": lambda top: (top / "later").mkdir(),
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    made = tmp_path / "top"
    (made / "inner").mkdir(parents=True)
    (made / "path").mkdir()
    for name in ("inner/a.py", "inner/b.py", "target.py"):
        (made / name).write_text("a")
    (made / "link.py").symlink_to("target.py")
    return made


@pytest.fixture
def held(top: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldFiles]:
    monkeypatch.setattr(held_files, "_YOUNG_NS", -(10**12))  # as if all that had been made long ago
    names = ("inner/a.py", "inner/b.py", "inner/missing.txt", "link.py")
    folders = {str(top / name): stamp_of(str(top / name)) for name in ("path", "later")}
    made = HeldFiles({str(top / name): stamp_of(str(top / name)) for name in names}, folders)
    yield made
    made.close()


@pytest.mark.parametrize("name", CHANGES)
def test_it_shows_that(name: str, top: Path, held: HeldFiles):
    assert held.are_same()
    assert held.are_same()
    CHANGES[name](top)
    assert not held.are_same()


def test_what_has_changed_since_its_stamp_was_taken_is_not_the_same(top: Path, held: HeldFiles):
    path = str(top / "inner" / "a.py")
    stamp = stamp_of(path)
    edited(top / "inner" / "a.py")
    assert not HeldFiles({path: stamp}, {}).are_same()


def test_a_folder_that_has_just_changed_is_not_relied_on(top: Path):
    path = str(top / "inner" / "a.py")
    assert not HeldFiles({path: stamp_of(path)}, {}).are_same()


def test_nothing_is_held_open_by_a_process_with_few_descriptors(top: Path, held: HeldFiles, monkeypatch):
    import resource

    assert held.are_same()
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (8, 8))
    path = str(top / "inner" / "a.py")
    assert not HeldFiles(dict.fromkeys([path, "b", "c"], stamp_of(path)), {}).are_same()
