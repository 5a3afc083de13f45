"""The finder for our own modules: the same modules as Python's finder finds."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from importlib.machinery import PathFinder
from typing import Any

import pytest

from agent_hooks.system import quick_import, stamps

pytestmark = pytest.mark.interpreter

INSTALL = "import sys; sys.path.insert(0, sys.argv[1]); import pkg\n"
FIND = "from agent_hooks.system.quick_import import install; install('pkg')\n"
SAY = "import pkg.mod as mod; print(mod.VALUE, mod.__file__, mod.__cached__, mod.__package__, [*mod.__spec__.parent])"


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "mod.py").write_text("VALUE = 1\n")
    return folder


def run(package, program, *options):
    root = os.path.dirname(os.path.dirname(os.path.dirname(quick_import.__file__)))
    command = [sys.executable, *options, "-c", f"{INSTALL}sys.path.insert(0, {root!r})\n{program}", package.parent]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_module_is_as_python_would_import_it(package):
    expected = run(package, SAY)
    assert expected.startswith("1 ")
    assert run(package, FIND + SAY) == expected
    assert run(package, FIND + SAY) == expected  # with byte code


def test_our_own_modules_have_the_specs_of_pythons_finder():
    program = """
import agent_hooks, pkgutil, importlib
from importlib.machinery import PathFinder
from agent_hooks.system import quick_import
finder = quick_import._Finder("agent_hooks")
packages = [agent_hooks]
count = 0
for package in packages:
    for _, name, is_package in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        ours, theirs = (each.find_spec(name, package.__path__) for each in (finder, PathFinder))
        for fact in ("name", "origin", "cached", "has_location", "parent", "submodule_search_locations"):
            assert getattr(ours, fact) == getattr(theirs, fact), (name, fact)
        assert (ours.loader.name, ours.loader.path) == (theirs.loader.name, theirs.loader.path)
        assert ours.loader.get_source(name) == theirs.loader.get_source(name)
        assert ours.loader.get_code(name) == theirs.loader.get_code(name)
        count += 1
        if is_package and not name.endswith(("adapters", "drivers")):
            packages.append(importlib.import_module(name))
print(count > 100)
"""
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "True\n"
    )


def test_a_change_of_the_source_takes_effect(package):
    module = package / "mod.py"
    run(package, FIND + SAY)
    module.write_text("VALUE = 22\n")
    assert run(package, FIND + SAY).startswith("22 ")
    status = module.stat()
    module.write_text("VALUE = 33\n")
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns + 2_000_000_000))
    assert run(package, FIND + SAY).startswith("33 ")


def test_byte_code_without_a_source_is_not_loaded(package):
    run(package, FIND + SAY)
    (package / "mod.py").unlink()
    program = "try:\n    import pkg.mod\nexcept ImportError as error:\n    print(error)"
    assert run(package, FIND + program) == "No module named 'pkg.mod'\n"


@pytest.mark.parametrize(
    "content", [b"", b"garbage", bytes(16), bytes(200_000)], ids=["empty", "text", "zeros", "large"]
)
def test_damaged_byte_code_is_made_anew(package, content):
    run(package, SAY)
    (cached,) = (package / "__pycache__").glob("mod.*")
    cached.write_bytes(content)
    assert run(package, FIND + SAY).startswith("1 ")


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("kind", ["pipe", "open to all"])
def test_byte_code_in_a_pipe_or_that_everybody_may_write_is_not_read(package, kind):
    run(package, SAY)
    (cached,) = (package / "__pycache__").glob("mod.*")
    if kind == "pipe":
        cached.unlink()
        os.mkfifo(cached)
    else:
        other = package / "other.py"
        other.write_text("VALUE = 2\n")
        os.utime(other, ns=((package / "mod.py").stat().st_mtime_ns,) * 2)
        py_compile.compile(str(other), str(cached))
        cached.chmod(0o666)
    assert run(package, FIND + SAY).startswith("1 ")


def test_a_large_module_is_loaded_too(package):
    (package / "mod.py").write_text(f"VALUE = 1\nTEXT = {'x' * 300_000!r}\n")
    assert run(package, FIND + SAY).startswith("1 ")
    assert run(package, FIND + SAY).startswith("1 ")


@pytest.mark.parametrize("rival", ["mod/__init__.py", "mod/other.py", "mod.abi3.so", "mod.pyc"])
def test_a_name_that_is_not_the_sources_alone_is_left_to_python(package, rival):
    path = package / rival
    path.parent.mkdir(exist_ok=True)
    path.write_text("VALUE = 2\n")
    finder = quick_import._Finder("pkg")
    assert finder.find_spec("pkg.mod", [str(package)]) is None
    theirs = PathFinder.find_spec("pkg.mod", [str(package)])
    assert theirs is not None


@pytest.mark.parametrize("option", ["-O", "-Xpycache_prefix=/nowhere"])
def test_where_byte_code_is_another_python_finds_everything(package, option):
    program = "from agent_hooks.system import quick_import; before = [*sys.meta_path]; quick_import.install('pkg')\n"
    assert run(package, f"{program}print(before == sys.meta_path)", option) == "True\n"


def test_only_submodules_of_the_packages_are_found(package):
    finder = quick_import._Finder("pkg")
    assert finder.find_spec("pkg") is None
    assert finder.find_spec("other.mod", [str(package)]) is None
    assert finder.find_spec("pkg.missing", [str(package)]) is None
    assert finder.find_spec("pkg.mod", [str(package), str(package)]) is None
    assert finder.find_spec("pkg.mod", ["/nowhere"]) is None


def found_with(stamps, package, name):
    """The specification of a module, by a finder that was given these stamps."""
    spec: Any = quick_import._Finder("pkg", *stamps).find_spec(name, [str(package)])
    return spec


def stamps_of(package, *more):
    """The stamps of a package's folders and files, as a plan has them."""
    seen = stamps.watching(lambda: stamps.note("file", *stamps.files_below(str(package)), *map(str, more)), ())[1]
    return seen["file"]


def test_a_file_with_a_stamp_that_holds_is_not_looked_at_again(package, monkeypatch):
    run(package, SAY)
    known = stamps_of(package)
    expected = found_with((), package, "pkg.mod")
    monkeypatch.setattr(os, "stat", None)
    monkeypatch.setattr(os, "listdir", None)
    found = found_with((known,), package, "pkg.mod")
    assert (found.origin, found.cached) == (expected.origin, expected.cached)
    assert found.loader.get_code("pkg.mod").co_names == ("VALUE",)


def test_a_package_with_a_stamp_is_found_too(package):
    inner = package / "inner"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    found = found_with((stamps_of(package),), package, "pkg.inner")
    assert found.submodule_search_locations == [str(inner)]
    assert found.origin == str(inner / "__init__.py")


def test_byte_code_of_another_source_than_the_stamps_is_made_anew(package):
    run(package, SAY)
    (package / "mod.py").write_text("VALUE = 22\n")
    found = found_with((stamps_of(package),), package, "pkg.mod")
    assert 22 in found.loader.get_code("pkg.mod").co_consts


@pytest.mark.parametrize("rival", ["mod/__init__.py", "mod/other.py", "mod.abi3.so"])
def test_a_name_with_stamps_that_is_not_the_sources_alone_is_left_to_python(package, rival):
    path = package / rival
    path.parent.mkdir(exist_ok=True)
    path.write_text("VALUE = 2\n")
    assert found_with((stamps_of(package),), package, "pkg.mod") is None


def test_a_file_that_was_missing_is_searched_for(package):
    known = stamps_of(package, package / "late.py")
    (package / "late.py").write_text("")
    assert known[str(package / "late.py")] is None
    assert found_with((known,), package, "pkg.late").origin == str(package / "late.py")


# -- the bundle --------------------------------------------------------------------------------------------------------

STAGED = """
import os, sys
from agent_hooks.system import quick_import, stamps
folder = os.path.dirname(pkg.__file__)
seen = stamps.watching(lambda: stamps.note("file", *stamps.files_below(folder)), ())[1]["file"]
quick_import.install("pkg", seen)
quick_import.start_stage("first")
together = [name for name in sys.modules if name.startswith("pkg.")]
import pkg.inner.near as near
quick_import.start_stage("")
import pkg.mod as mod
facts = [[each.VALUE, each.__name__, each.__file__, each.__cached__, each.__package__] for each in (near, mod)]
specs = [[each.__spec__.origin, each.__spec__.parent, each.__spec__.loader.path] for each in (near, mod, pkg.inner)]
print(facts, specs, pkg.inner.__path__, pkg.inner.near is near, sorted(vars(pkg.inner)))
quick_import.keep_bundle()
print(together, [type(each.__spec__.loader).__name__ for each in (pkg.inner, near, mod)])
"""


@pytest.fixture
def staged(package):
    """A package with a package in it that imports its own module, and so on."""
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("from .near import VALUE\n")
    (package / "inner" / "near.py").write_text("from . import far\nVALUE = far.VALUE\n")
    (package / "inner" / "far.py").write_text("VALUE = 3\n")
    run(package, "import pkg.inner, pkg.mod")  # writes the byte code
    return package


def test_bundled_modules_are_as_python_would_import_them(staged):
    first, sources = run(staged, STAGED).splitlines()
    assert sources == "[] ['_Loader', '_Loader', '_Loader']"
    facts, bundled = run(staged, STAGED).splitlines()
    assert facts == first
    assert bundled == "['pkg.inner', 'pkg.inner.far', 'pkg.inner.near'] ['_Bundled', '_Bundled', '_Bundled']"


@pytest.mark.parametrize("name", ["mod.py", "inner/far.py", "inner/__init__.py"])
def test_an_edit_takes_effect_before_the_bundle_is_written_again(staged, name):
    run(staged, STAGED)
    path = staged / name
    status = path.stat()
    path.write_text(path.read_text().replace("1", "7").replace("3", "8").replace("import VALUE", "import  VALUE"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 2_000_000_000))
    without = run(staged, STAGED, "-B").splitlines()[0]
    assert run(staged, STAGED).splitlines()[0] == without
    assert run(staged, STAGED).splitlines()[0] == without
    assert ("[7, " in without) == (name == "mod.py")


@pytest.mark.parametrize("kind", ["empty", "text", "its end", "its start"])
def test_a_damaged_bundle_changes_nothing(staged, kind):
    expected = run(staged, STAGED).splitlines()[0]
    (bundle,) = (staged / "__pycache__").glob("*.bundle")
    whole = bundle.read_bytes()
    damaged = {
        "empty": b"",
        "text": b"garbage",
        "its end": whole[:-60] + bytes(60),
        "its start": bytes(60) + whole[60:],
    }
    bundle.write_bytes(damaged[kind])
    assert run(staged, STAGED).splitlines()[0] == expected


def test_a_module_that_fails_raises_where_it_is_imported(staged):
    run(staged, STAGED)
    (staged / "switch").touch()
    (staged / "inner" / "far.py").write_text(
        f"import os\nVALUE = 3\nif os.path.exists({str(staged / 'switch')!r}): 1 / 0\n"
    )
    (staged / "switch").unlink()
    run(staged, STAGED)
    (staged / "switch").touch()
    program = STAGED.replace(
        "import pkg.inner.near as near",
        "\ntry:\n    import pkg.inner.near\nexcept ZeroDivisionError:\n    print('as usual'); sys.exit()",
    )
    assert run(staged, program) == "as usual\n"


def test_no_bundle_is_written_where_python_keeps_no_byte_code(staged):
    run(staged, STAGED, "-B")
    assert not [*(staged / "__pycache__").glob("*.bundle*")]
