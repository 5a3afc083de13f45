"""Changes of what is installed."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from site import getsitepackages
from textwrap import dedent
from typing import TYPE_CHECKING

from .changes import change, edit, put, saying

if TYPE_CHECKING:
    from .conftest import World

HEAD = "from agent_hooks import HookOutcome, hookimpl\n"
OTHER = saying("another says no")
# A plugin in a package, with a module deep below it and rules in a file of data.
PACKAGE = {
    "__init__.py": "",
    "plugin.py": HEAD
    + dedent(
        """
        from pathlib import Path
        from .deep.below import words

        @hookimpl(match="shell")
        def before_tool_use(tool_call):
            if any(word in tool_call.command for word in words()):
                return HookOutcome.deny("the package says no")
        """
    ),
    "deep/__init__.py": "",
    "deep/below.py": dedent(
        """
        from pathlib import Path

        WORDS = ("never", )

        def words():
            return (*WORDS, *(Path(__file__).parent.parent / "words.txt").read_text().split())
        """
    ),
    "words.txt": "other",
}


def package(world: World) -> None:
    for name, text in PACKAGE.items():
        put(world.site / "deeply" / name, text)
    info = world.site / "deeply-1.0.dist-info"
    put(info / "METADATA", "Metadata-Version: 2.1\nName: deeply\nVersion: 1.0\n")
    put(info / "entry_points.txt", "[agent_hooks]\ndeeply = deeply.plugin\n")


def other(world: World) -> None:
    world.command.install(OTHER, "other")


def editable(world: World) -> None:
    """An editable install: a ``.pth`` names the folder of the source."""
    other(world)
    source = world.folder / "source"
    source.mkdir()
    shutil.move(world.site / "other_rules.py", source)
    edit_rule = (source / "other_rules.py").read_text().replace("return", 'if "forbidden" in tool_call.command: return')
    (source / "other_rules.py").write_text(edit_rule)
    put(world.site / "other.pth", f"{source}\n")


def dependency(world: World) -> None:
    """A plugin that takes its words from another distribution."""
    put(world.site / "wordlist.py", 'WORDS = ("never",)\n')
    source = """
        import wordlist

        @hookimpl(match="shell")
        def before_tool_use(tool_call):
            if any(word in tool_call.command for word in wordlist.WORDS):
                return HookOutcome.deny("the list says no")
        """
    world.command.install(source, "dependent")


@change()
def a_new_plugin(world: World) -> str:
    other(world)
    return "another says no"


@change(other)
def a_plugin_removed(world: World) -> str:
    (world.site / "other_rules.py").unlink()
    shutil.rmtree(world.site / "other-1.0.dist-info")
    return ""


@change(other)
def the_metadata_of_a_plugin_removed(world: World) -> str:
    shutil.rmtree(world.site / "other-1.0.dist-info")
    return ""


@change(other)
def the_module_of_a_plugin_removed(world: World) -> str:
    (world.site / "other_rules.py").unlink()
    return "Repair or uninstall it"


@change()
def a_plugin_upgraded(world: World) -> str:
    shutil.rmtree(world.site / "house-1.0.dist-info")
    world.command.install(saying("version 2 says no"), version="2.0")
    return "version 2 says no"


@change()
def a_plugin_upgraded_in_place(world: World) -> str:
    put(world.module, HEAD + saying("the new house says no"))
    return "the new house says no"


@change()
def a_module_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.module, '"forbidden" in', '"forbidden" !=')
    return "the house says no"


@change()
def a_module_replaced_by_one_of_the_same_size_and_time(world: World) -> str:
    before = world.module.stat()
    text = world.module.read_text().replace('"forbidden" in', '"forbidden" !=')
    new = put(world.site / "new", text)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(world.module)
    return "the house says no"


@change()
def a_module_made_unreadable(world: World) -> str:
    world.module.unlink()
    world.module.mkdir()  # no file can be unreadable for root
    return "Repair or uninstall it"


@change()
def a_module_with_a_mistake(world: World) -> str:
    put(world.module, "def\n")
    return "Repair or uninstall it"


@change(package)
def a_module_deep_below_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.site / "deeply" / "deep" / "below.py", '"never", ', '"make",  ')
    return "the package says no"


@change(package)
def a_file_of_data_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.site / "deeply" / "words.txt", "other", "make ")
    return "the package says no"


@change(package)
def a_new_module_in_place_of_a_package(world: World) -> str:
    shutil.rmtree(world.site / "deeply" / "deep")
    put(world.site / "deeply" / "deep" / "below.py", "def words():\n    return ['make']\n")
    return "the package says no"


@change(package)
def a_file_of_data_moved(world: World) -> str:
    put(world.site / "deeply" / "words.new", "make").replace(world.site / "deeply" / "words.txt")
    return "the package says no"


@change()
def an_entry_point_edited_with_the_same_size_and_time(world: World) -> str:
    put(world.site / "mouse_rules.py", HEAD + saying("the mouse says no"))
    edit(world.site / "house-1.0.dist-info" / "entry_points.txt", "house = house", "house = mouse")
    return "the mouse says no"


@change()
def entry_points_added_to_a_distribution(world: World) -> str:
    put(world.site / "late_rules.py", HEAD + saying("late, it says no"))
    put(world.site / "house-1.0.dist-info" / "entry_points.txt", "[agent_hooks]\nlate = late_rules\n")
    return "late, it says no"


def late(world: World) -> None:
    put(world.site / "late_rules.py", HEAD + saying("late, it says no"))
    put(world.site / "late-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")


@change(late)
def entry_points_of_a_distribution_that_had_none(world: World) -> str:
    put(world.site / "late-1.0.dist-info" / "entry_points.txt", "[agent_hooks]\nlate = late_rules\n")
    return "late, it says no"


@change()
def metadata_that_ask_for_a_newer_core(world: World) -> str:
    metadata = world.site / "house-1.0.dist-info" / "METADATA"
    put(metadata, f"{metadata.read_text()}Requires-Dist: agent-hooks-core>=99\n")
    return "it needs agent-hooks-core >=99"


@change(editable)
def the_source_of_an_editable_install_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.folder / "source" / "other_rules.py", '"forbidden" in', '"forbidden" !=')
    return "another says no"


@change(editable)
def a_path_file_edited(world: World) -> str:
    put(world.folder / "fork" / "other_rules.py", HEAD + saying("the fork says no"))
    put(world.site / "other.pth", f"{world.folder / 'fork'}\n")
    return "the fork says no"


@change()
def a_new_path_file(world: World) -> str:
    elsewhere = world.folder / "elsewhere"
    other(world)
    elsewhere.mkdir()
    for name in ("other_rules.py", "other-1.0.dist-info"):
        shutil.move(world.site / name, elsewhere)
    put(world.site / "elsewhere.pth", f"{elsewhere}\n")
    return "it does not count: install it"


@change(dependency)
def a_dependency_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.site / "wordlist.py", '("never",)', '("make", )')
    return "the list says no"


def warning_dependency(world: World) -> None:
    dependency(world)
    put(world.site / "wordlist.py", 'import warnings\nwarnings.warn("old")\nWORDS = ("never",)\n')
    world.environment["PYTHONWARNINGS"] = "ignore"


@change(warning_dependency)
def warnings_that_become_errors(world: World) -> str:
    world.environment["PYTHONWARNINGS"] = "error"
    return "Repair or uninstall it"


@change()
def a_module_that_takes_precedence(world: World) -> str:
    first = world.folder / "first"
    put(first / "house_rules.py", HEAD + saying("the first says no"))
    world.environment["PYTHONPATH"] = f"{first}{os.pathsep}{world.environment['PYTHONPATH']}"
    return "the first says no"


def with_an_empty_folder(world: World) -> None:
    first = world.folder / "first"
    first.mkdir()
    world.environment["PYTHONPATH"] = f"{first}{os.pathsep}{world.environment['PYTHONPATH']}"


@change(with_an_empty_folder)
def a_module_put_before_that_of_a_plugin(world: World) -> str:
    put(world.folder / "first" / "house_rules.py", HEAD + saying("the first says no"))
    return "the first says no"


@change(with_an_empty_folder)
def a_plugin_moved_to_another_folder_of_the_path(world: World) -> str:
    put(world.folder / "first" / "house_rules.py", HEAD + saying("it was moved"))
    world.module.unlink()
    return "it was moved"


@change()
def code_that_runs_at_every_start(world: World) -> str:
    put(world.site / "sitecustomize.py", "import builtins\nbuiltins.len = len\n")
    return ""


@change()
def a_plugin_disabled_by_the_environment(world: World) -> str:
    world.environment["AGENT_HOOKS_DISABLE"] = "house"
    world.event["tool_input"] = {"command": "forbidden"}
    return "AGENT_HOOKS_DISABLE is set and switches off: house."


def python_of_its_own(world: World) -> None:
    world.python = world.folder / "python" / "bin" / "python"
    world.python.parent.mkdir(parents=True)
    world.python.symlink_to(os.path.realpath(sys.executable))
    sites = Path(getsitepackages([str(world.folder / "python")])[0])
    sites.parent.mkdir(parents=True)
    sites.symlink_to(getsitepackages()[0])
    put(world.folder / "python" / "pyvenv.cfg", f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")


@change(python_of_its_own)
def the_settings_of_the_environment_edited(world: World) -> str:
    cfg = world.folder / "python" / "pyvenv.cfg"
    put(cfg, f"{cfg.read_text()}include-system-site-packages = true\n")
    return ""


@change(python_of_its_own)
def another_interpreter(world: World) -> str:
    world.python.unlink()
    shutil.copy(os.path.realpath(sys.executable), world.python)
    return ""
