"""Scripts that run as the bytes that were read: which, and that they find the world as they would by their path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, strategies

from agent_hooks.errors import HandlerError
from agent_hooks.handlers.interpreters import plain_words, with_script_bytes
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter

PYTHON = sys.executable
# What a script can know of itself, and of what is around it.
PYTHON_SCRIPT = """\
#!/usr/bin/env python3
from __future__ import annotations
import json, os, sys
from pathlib import Path
import helper
here = Path(__file__).resolve().parent
with open(Path(__file__).with_name("written.txt"), "a") as file:
    file.write("x")
def self_aware() -> Unknown: return __name__
known = {
    "argv": sys.argv, "file": __file__, "path": sys.path[0], "cwd": os.getcwd(), "name": self_aware(),
    "helper": helper.__file__, "config": (here.parent / "config.json").read_text(), "stdin": sys.stdin.read(),
    "globals": sorted(set(globals()) - {"__loader__", "__cached__"}), "main": sys.modules["__main__"].__file__,
    "flags": [sys.flags.dont_write_bytecode, sys.flags.optimize], "listed": len(list(here.parent.rglob("*.json"))),
}
print(json.dumps(known))
sys.exit(3)
"""
SHELL_SCRIPT = """\
#!/bin/sh
here="$(cd "$(dirname "$0")" && pwd)"
printf x >> "$here/written.txt"
. "$here/lib.sh"
printf '%s|' "$0" "$#" "$@" "$PWD" "$here" "$LIB" "$-" "$(cat "$here/../config.json")" "$(cat)"
cd "$(dirname "$0")/.." && grep -rl deep . && find . -name '*.json'
exit 3
"""


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "a project"
    for name, content in {
        "hooks/x.py": PYTHON_SCRIPT,
        "hooks/x.sh": SHELL_SCRIPT,
        "hooks/helper.py": "",
        "hooks/lib.sh": "LIB=lib\n",
        "config.json": "{}",
        "src/deep/data.json": "deep",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(0o755)
    for suffix in ("py", "sh"):
        (root / f"link.{suffix}").symlink_to(f"hooks/x.{suffix}")
    return root


def words_of(row: list[str]) -> list[str]:
    return [PYTHON if word == "PYTHON" else word for word in row]


def done(words, project: Path, descriptors=()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=project,
        pass_fds=descriptors,
        input="told",
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{Path(PYTHON).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
    )


def scripts(project: Path) -> dict[str, bytes]:
    """All that was read of a project."""
    return {str(file): file.read_bytes() for file in project.rglob("*") if file.is_file()}


@pytest.mark.parametrize("row", TABLES["by_path"], ids=" ".join)
def test_a_script_finds_the_world_as_it_does_when_it_runs_by_its_path(row, project):
    words = words_of(row)
    by_path = done(words, project)
    with with_script_bytes(words, scripts(project), str(project)) as (made, descriptors):
        assert len(descriptors) == 1
        as_bytes = done(made, project, descriptors)
    assert by_path.returncode == 3, by_path.stderr
    assert as_bytes.returncode == 3, as_bytes.stderr
    if by_path.stdout.startswith("{"):
        assert json.loads(as_bytes.stdout) == json.loads(by_path.stdout)
    else:
        assert without_flags(as_bytes.stdout) == without_flags(by_path.stdout)
    (written,) = project.rglob("written.txt")
    assert written.read_text() == "xx"


def without_flags(told: str) -> list[str]:
    """What a shell script told, but for ``c`` in ``$-``: this is how the bytes are given to it."""
    parts = told.split("|")
    place = parts.index("lib") + 1
    return [*parts[:place], parts[place].replace("c", ""), *parts[place + 1 :]]


@pytest.mark.parametrize("row", TABLES["of_the_file"], ids=" ".join)
def test_what_becomes_of_the_file_does_not_matter(row, project):
    words = words_of(row)
    expected = done(words, project).returncode
    with with_script_bytes(words, scripts(project), str(project)) as (made, descriptors):
        (project / "hooks" / "x.py").write_text("raise SystemExit(9)")
        (project / "hooks" / "x.sh").unlink()
        assert done(made, project, descriptors).returncode == expected == 3


@pytest.mark.parametrize("row", TABLES["stays_as_it_is"], ids=" ".join)
def test_what_is_not_plainly_a_script_of_python_or_a_shell_stays_as_it_is(row, project):
    words = words_of(row)
    (project / "hooks" / "self.sh").write_text('#!/bin/bash\ncd "$(dirname "${BASH_SOURCE[0]}")"\n')
    (project / "hooks" / "uv.py").write_text("#!/usr/bin/env -S uv run --script\n")
    with zipfile.ZipFile(project / "hooks" / "tool.pyz", "w") as archive:
        archive.writestr("__main__.py", "")
    with with_script_bytes(words, scripts(project), str(project)) as (made, descriptors):
        assert (made, descriptors) == (words, ())


def test_a_script_that_is_not_executable_is_not_run_as_a_program(project):
    read = scripts(project)
    (project / "hooks" / "x.sh").chmod(0o644)
    with (
        pytest.raises(HandlerError, match=r"x\.sh is not executable"),
        with_script_bytes(["hooks/x.sh"], read, str(project)),
    ):
        pass
    with with_script_bytes(["sh", "hooks/x.sh"], read, str(project)) as (made, descriptors):
        assert done(made, project, descriptors).returncode == 3


def test_relative_words_start_where_this_process_is_if_nothing_is_said(project, monkeypatch):
    monkeypatch.chdir(project)
    with with_script_bytes(["sh", "hooks/x.sh"], scripts(project), None) as (_, descriptors):
        assert descriptors


def test_on_linux_nobody_can_write_to_what_is_given(project):
    with with_script_bytes(["sh", "hooks/x.sh"], scripts(project), str(project)) as (_, (descriptor,)):
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"exit 0", 0)
        again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
        with pytest.raises(PermissionError):
            os.write(again, b"exit 0")
        os.close(again)
        assert os.pread(descriptor, 100_000, 0).decode() == SHELL_SCRIPT


def test_where_there_are_no_files_in_memory_one_without_a_name_does(project, monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    for words in (["sh", "hooks/x.sh"], [PYTHON, "hooks/x.py"]):
        with with_script_bytes(words, scripts(project), str(project)) as (made, descriptors):
            assert done(made, project, descriptors).returncode == 3


def test_nothing_is_left_open_also_if_the_run_fails(project):
    before = os.listdir("/dev/fd")
    with pytest.raises(ZeroDivisionError), with_script_bytes(["sh", "hooks/x.sh"], scripts(project), str(project)):
        raise ZeroDivisionError
    assert os.listdir("/dev/fd") == before


# -- texts for a shell -------------------------------------------------------------------------------------------------

VARIABLES = {"ROOT": "/a project", "HERE": "/here"}


@pytest.mark.parametrize(
    ("text", "expected"), TABLES["a_text_that_is_one_program_with_its_arguments_is_told_from_more"]
)
def test_a_text_that_is_one_program_with_its_arguments_is_told_from_more(text, expected):
    assert (plain_words(text, VARIABLES) or "") == expected


def test_a_text_of_many_variables_is_no_program():
    assert plain_words('"' + "$aaaaaaaaaaaa" * 5_000, VARIABLES) is None


@given(strategies.text("ab/$HERO{}'\"\\ \t=;&|<>()*?[]~#!`-.,", min_size=1, max_size=30))
def test_words_are_what_a_shell_makes_of_them(text):
    words = plain_words(text, VARIABLES)
    if words is None:
        return
    told = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\0' {text}"], env=VARIABLES, capture_output=True, check=True, cwd="/"
    )
    assert told.stdout.decode().split("\0")[:-1] == words
