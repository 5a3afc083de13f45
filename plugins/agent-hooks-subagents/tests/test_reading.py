"""Tools that only read, and only below one folder."""

from __future__ import annotations

import asyncio
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks import RunError
from agent_hooks_subagents import read_only_tools, reading


@pytest.fixture
def root(folder):
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("import os\nprint('hello')\n")
    (folder / "src" / "deep" / "b.py").write_text("print('deep')\n")
    (folder / "notes.md").write_text("one\ntwo\nthree\n")
    return folder


def use(root, name, **args):
    tool = next(each for each in read_only_tools(str(root)) if each.name == name)
    return asyncio.run(tool.call(args))


def test_there_are_three_of_which_none_is_more_than_a_reader(root):
    assert [(tool.name, tool.kind) for tool in read_only_tools(str(root))] == [
        ("Read", "read"),
        ("Grep", "search"),
        ("Glob", "search"),
    ]


# -- what they return --------------------------------------------------------------------------------------------------


def test_a_file_is_read_with_the_numbers_of_its_lines(root):
    assert use(root, "Read", file_path="notes.md") == "1\tone\n2\ttwo\n3\tthree"
    assert use(root, "Read", file_path=str(root / "notes.md"), offset=2, limit=1) == "2\ttwo\n(1 more lines)"
    assert use(root, "Read", file_path="notes.md", offset=9) == ""


def test_a_search_names_the_file_and_the_line(root):
    assert use(root, "Grep", pattern=r"print\(") == "src/a.py:2: print('hello')\nsrc/deep/b.py:1: print('deep')"
    assert use(root, "Grep", pattern="deep", path="src", glob="b*") == "src/deep/b.py:1: print('deep')"
    assert use(root, "Grep", pattern="o", path="notes.md") == "notes.md:1: one\nnotes.md:2: two"
    assert use(root, "Grep", pattern="nowhere") == "Nothing found."


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "src/a.py\nsrc/deep/b.py"),
        ("**/*.py", "src/a.py\nsrc/deep/b.py"),
        ("src/**/*.py", "src/a.py\nsrc/deep/b.py"),
        ("src/deep/*", "src/deep/b.py"),
        ("*.txt", "Nothing found."),
    ],
)
def test_files_are_listed_by_a_glob(root, pattern, found):
    assert use(root, "Glob", pattern=pattern) == found


def test_folders_that_are_not_the_projects_own_are_passed_over(root):
    for name in (".git", "node_modules", ".venv"):
        (root / name).mkdir(exist_ok=True)
        (root / name / "x.py").write_text("print('deep')")
    assert use(root, "Glob", pattern="*.py") == "src/a.py\nsrc/deep/b.py"


# -- what they refuse --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["..", "../secret", "/etc/passwd", "src/../../secret", "a\0b", "~/x/../../.."])
def test_nothing_outside_is_read(root, path):
    (root.parent / "secret").write_text("secret")
    for name, args in (
        ("Read", {"file_path": path}),
        ("Grep", {"pattern": "s", "path": path}),
        ("Glob", {"pattern": "*", "path": path}),
    ):
        with pytest.raises(RunError, match=r"is outside of|is no path|cannot be read"):
            print(use(root, name, **args))


def test_a_link_out_of_the_folder_leads_nowhere(root):
    (root.parent / "secret").write_text("secret")
    (root / "link").symlink_to(root.parent / "secret")
    (root / "folder").symlink_to(root.parent)
    for path in ("link", "folder/secret"):
        with pytest.raises(RunError, match="is outside of"):
            use(root, "Read", file_path=path)
    assert use(root, "Grep", pattern="secret") == "Nothing found."
    assert "link" not in use(root, "Glob", pattern="*")


def test_a_link_inside_of_the_folder_is_what_it_leads_to(root):
    (root / "link").symlink_to(root / "notes.md")
    assert use(root, "Read", file_path="link", limit=1) == "1\tone\n(2 more lines)"


def test_the_folder_may_itself_be_a_link(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    assert use(tmp_path / "link", "Glob", pattern="*.md") == "notes.md"


def test_a_folder_with_a_name_that_begins_alike_is_outside(root):
    beside = root.parent / f"{root.name}-2"
    beside.mkdir()
    (beside / "x").write_text("x")
    with pytest.raises(RunError, match="is outside of"):
        use(root, "Read", file_path=f"../{beside.name}/x")


def test_a_link_that_is_put_in_place_meanwhile_is_not_followed(root, monkeypatch):
    (root.parent / "secret").write_text("secret")
    made = reading._Reading(str(root))
    path = made._inside("notes.md")
    (root / "notes.md").unlink()
    (root / "notes.md").symlink_to(root.parent / "secret")
    with pytest.raises(RunError, match=r"notes\.md cannot be read"):
        made._text(path)


def test_what_is_no_ordinary_text_is_refused(root, monkeypatch):
    os.mkfifo(root / "pipe")
    (root / "image").write_bytes(b"\x89PNG\0\0")
    (root / "big").write_bytes(b"x" * (reading.MAX_FILE_BYTES + 1))
    for path, said in (
        ("pipe", "no ordinary file"),
        ("src", "no ordinary file"),
        ("image", "no text"),
        ("big", "larger"),
        ("x", "cannot be read"),
    ):
        with pytest.raises(RunError, match=said):
            use(root, "Read", file_path=path)
    assert use(root, "Grep", pattern="PNG") == "Nothing found."


def test_a_pattern_that_could_run_for_ever_is_refused(root):
    from agent_hooks import RegistrationError

    with pytest.raises(RegistrationError, match="repeats too much"):
        use(root, "Grep", pattern="(a+)+b")


def test_a_folder_that_is_none_is_refused(tmp_path):
    for folder in ("", str(tmp_path / "nowhere")):
        with pytest.raises(RunError, match="There is no folder"):
            read_only_tools(folder)


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_output_is_bounded_and_says_what_is_not_there(root):
    (root / "long.txt").write_text("\n".join("y" * 2_000 for _ in range(1_000)))
    text = use(root, "Read", file_path="long.txt")
    assert len(text) <= reading.MAX_OUTPUT + 100
    assert text.endswith("more lines)")
    assert "(1500 more characters)" in text
    assert len(use(root, "Grep", pattern="y").splitlines()) <= reading.MAX_FOUND + 1


def test_many_finds_are_cut_and_it_says_so(root):
    (root / "many").mkdir()
    for number in range(reading.MAX_FOUND + 5):
        (root / "many" / f"{number:03}.txt").write_text("hit\n")
    for found in (use(root, "Glob", pattern="*.txt"), use(root, "Grep", pattern="hit")):
        assert len(found.splitlines()) == reading.MAX_FOUND + 1
        assert found.splitlines()[-1] == reading.NOT_ALL


def test_a_search_that_has_not_seen_everything_never_says_that_there_is_nothing(root, monkeypatch):
    monkeypatch.setattr(reading, "MAX_ENTRIES", 4)
    assert use(root, "Grep", pattern="nowhere") == reading.NOT_ALL
    assert use(root, "Glob", pattern="*.txt") == reading.NOT_ALL


def test_a_search_ends_in_time(root, monkeypatch):
    monkeypatch.setattr(reading, "MAX_SECONDS", -1.0)
    assert use(root, "Grep", pattern="nowhere") == reading.NOT_ALL


def test_of_a_very_long_line_the_beginning_is_searched(root):
    (root / "long.txt").write_text("a" * reading.MAX_SEARCHED_LINE + "b\n" + "b" * 3)
    assert use(root, "Grep", pattern="b", path="long.txt") == "long.txt:2: bbb"


@pytest.mark.parametrize(("tool", "key"), [("Glob", "pattern"), ("Grep", "glob")])
def test_a_glob_that_would_take_long_is_refused(root, tool, key):
    with pytest.raises(RunError, match="at most 500 characters"):
        use(root, tool, **{"pattern": "x", key: "[" * 100_000})


def test_the_name_of_a_file_is_one_line_of_text_whatever_it_is(root):
    (root / "two\nlines.odd").write_text("hit\n")
    with open(os.fsencode(root) + b"/no\xff text.odd", "w") as file:
        file.write("hit\n")
    assert use(root, "Glob", pattern="*.odd") == "no\\udcff text.odd\ntwo\\nlines.odd"
    assert use(root, "Grep", pattern="hit", glob="*.odd") == "no\\udcff text.odd:1: hit\ntwo\\nlines.odd:1: hit"


@given(path=st.text(alphabet="ab./~\\\0", max_size=12))
@settings(max_examples=150)
def test_whatever_the_path_nothing_outside_is_read(tmp_path_factory, path):
    top = tmp_path_factory.mktemp("top")
    for name in ("a", "b"):
        (top / name).write_text("SECRET")
    (top / "in").mkdir()
    (top / "in" / "a").symlink_to(top / "b")
    (top / "in" / "b").symlink_to(top)
    made = reading._Reading(str(top / "in"))
    for call in (made.read, lambda path: made.grep("SECRET", path)):
        try:
            assert "SECRET" not in call(path)
        except RunError:
            continue
