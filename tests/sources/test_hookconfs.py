"""``hookconf.py``: the bytes that were found are the bytes that run, below their directory, and as a project's."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Thread

import pytest

import agent_hooks
from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks.errors import PluginLoadError
from agent_hooks.sources.hookconfs import load_hookconf, register_confs
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.manifest import ConfFile
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter

SOURCE = str(Path(agent_hooks.__file__).parent.parent)
DENY = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(match="{match}")
def before_tool_use(tool_call):
    return HookOutcome.deny("{reason}")
"""


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path):
    """The root of an empty project, a real path."""
    made = tmp_path.resolve() / "repo"
    (made / ".git").mkdir(parents=True)
    return made


@pytest.fixture
def manager():
    """A manager without plugins."""
    return HookManager(load_plugins=False)


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content))


def deny(reason: str, match: str = "*") -> str:
    return DENY.format(match=match, reason=reason)


def conf(path: Path, code: str | bytes) -> ConfFile:
    code = code.encode() if isinstance(code, str) else code
    return ConfFile(name=str(path), path=str(path), directory=str(path.parent), code=code)


def decision(manager: HookManager, root: Path, path: str = "x.py", *, cwd: str = "", tool: str = "Read") -> str:
    """What is decided about a tool call that touches ``path``, and why."""
    args = {"command": "ls"} if tool == "Bash" else {"file_path": str(root / path)}
    ctx = HookContext("before_tool_use", tool_call=ToolCall(tool, args), cwd=str(root / cwd), project_dir=str(root))
    outcome = manager.hooks().dispatch_sync(ctx)
    return f"{outcome.decision}: {outcome.reason}" if outcome.reason else str(outcome.decision)


# -- registering -------------------------------------------------------------------------------------------------------


def test_its_hooks_are_live_below_its_directory(root, manager):
    write(root, {"hookconf.py": deny("everywhere", "Write"), "a/hookconf.py": deny("in a", "Read")})
    assert register_confs(manager, discover(root)) == []
    assert decision(manager, root, "a/x.py") == "deny: in a"
    assert decision(manager, root, "a/b/x.py") == "deny: in a"
    assert decision(manager, root, "b/x.py") == "proceed"
    assert decision(manager, root, "b/x.py", tool="Write") == "deny: everywhere"


def test_its_hooks_are_live_where_the_working_directory_or_a_link_is_below(root, manager):
    write(root, {"a/hookconf.py": deny("in a"), "a/x.py": "", "b/y.py": ""})
    (root / "b" / "link").symlink_to(root / "a")
    register_confs(manager, discover(root))
    assert decision(manager, root, "b/y.py", cwd="a") == "deny: in a"
    assert decision(manager, root, "b/link/x.py", cwd="b") == "deny: in a"
    assert decision(manager, root, cwd="b", tool="Bash") == "deny: in a"


SHAPES = [*({name: "docs/new.md"} for name in TABLES["keys"].split()), *TABLES["shapes"]]
TEXTS = TABLES["texts"]


def asked_below(manager: HookManager, root: Path, kind: str, args: dict[str, object]) -> bool:
    """Whether a gate below ``docs`` that denies everything is asked about a tool with these arguments."""
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs" / "old notes.md").touch()
    (root / "link").symlink_to(root / "docs")
    write(root, {"docs/hookconf.py": deny("in docs")})
    assert register_confs(manager, discover(root)) == []
    given = json.loads(json.dumps(args).replace("{root}", str(root)))
    call = ToolCall("save", given, kind=kind)
    ctx = HookContext("before_tool_use", tool_call=call, cwd=str(root), project_dir=str(root))
    return bool(manager.hooks().dispatch_sync(ctx).decision == "deny")


@pytest.mark.parametrize("kind", ["write", "mcp"])
@pytest.mark.parametrize("args", SHAPES, ids=str)
def test_its_hooks_are_asked_about_a_path_under_any_key(root, manager, kind, args):
    assert asked_below(manager, root, kind, args)


@pytest.mark.parametrize("args", TEXTS, ids=str)
def test_its_hooks_are_not_asked_about_a_message_that_speaks_of_a_path(root, manager, args):
    assert not asked_below(manager, root, "other", args)


@pytest.mark.parametrize("args", [*TEXTS, {"mode": "w"}, {}], ids=str)
@pytest.mark.parametrize("kind", ["read", "write", "edit", "delete", "search"])
def test_its_hooks_are_asked_about_a_tool_of_files_that_shows_no_path(root, manager, kind, args):
    assert asked_below(manager, root, kind, args)


@pytest.mark.parametrize(("kind", "args"), TABLES["other_paths"], ids=str)
def test_its_hooks_are_not_asked_about_other_paths(root, manager, kind, args):
    assert not asked_below(manager, root, kind, args)


@pytest.mark.parametrize("kind", ["search", "delete", "other", "mcp"])
def test_its_hooks_are_asked_where_a_whole_tree_above_it_is_named(root, manager, kind):
    assert asked_below(manager, root, kind, {"path": "."})


def test_its_hooks_are_a_projects_and_can_only_tighten(root, manager):
    allow = "from agent_hooks import hookimpl\n@hookimpl\ndef before_tool_use(ctx): return {'decision': 'approve'}\n"
    write(root, {"hookconf.py": allow})
    register_confs(manager, discover(root))
    assert decision(manager, root) == "proceed"
    scope = ("directory", str(root), str(root))
    assert [(info.source, info.scope) for info in manager.describe()] == [("project", scope)]


def test_a_hook_says_where_it_is_written(root, manager):
    write(root, {"a/hookconf.py": deny("no")})
    register_confs(manager, discover(root))
    assert [info.origin for info in manager.describe()] == [f"{root}/a/hookconf.py:4"]


def test_modules_that_it_names_are_plugins_of_their_own_in_its_directory(root, manager):
    write(root, {"a/hookconf.py": "agent_hooks_plugins = ['rules.reading']", "a/rules/reading.py": deny("no reading")})
    assert register_confs(manager, discover(root)) == []
    names = [f"{root}/a/hookconf.py", f"{root}/a/hookconf.py:rules/reading.py"]
    assert [info.name for info in manager.plugins()] == names
    assert decision(manager, root, "a/x.py") == "deny: no reading"
    assert decision(manager, root, "b/x.py") == "proceed"


def test_two_projects_in_one_process_do_not_see_each_others(tmp_path):
    managers = {}
    for name in ("one", "two"):
        write(tmp_path, {f"{name}/hookconf.py": f"seen = []\n{deny(name)}"})
        project = discover(tmp_path / name)
        managers[name] = HookManager(load_plugins=False)
        register_confs(managers[name], project)
    for name, manager in managers.items():
        assert decision(manager, (tmp_path / name).resolve()) == f"deny: {name}"
    modules = [manager.get_plugin(str(tmp_path.resolve() / name / "hookconf.py")) for name, manager in managers.items()]
    assert modules[0].seen is not modules[1].seen  # type: ignore[union-attr]
    assert modules[0].__name__ != modules[1].__name__  # type: ignore[union-attr]


def test_two_projects_in_one_manager_are_kept_apart(tmp_path, manager):
    for name in ("one", "two"):
        write(tmp_path, {f"{name}/hookconf.py": deny(name)})
        assert register_confs(manager, discover(tmp_path / name)) == []
    assert decision(manager, tmp_path.resolve() / "one") == "deny: one"
    assert decision(manager, tmp_path.resolve() / "two") == "deny: two"


# -- broken ones -------------------------------------------------------------------------------------------------------


BROKEN = TABLES["broken"] | {
    "is no text": ["x = '\udcff'\n", 1, "SyntaxError"],
    "is deep": ["(" * 100_000, 1, ""],
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_denies_below_its_directory_and_breaks_no_other(root, manager, name):
    code, line, told = BROKEN[name]
    write(root, {"a/hookconf.py": deny("in a"), "b/beside.py": "", "b/x.py": ""})
    (root / "b" / "hookconf.py").write_bytes(code.encode("utf-8", "surrogateescape"))
    (finding,) = register_confs(manager, discover(root))
    assert (finding.kind, finding.path, finding.line) == ("broken", f"{root}/b/hookconf.py", line)
    assert told in finding.message
    denied = decision(manager, root, "b/x.py")
    assert denied.startswith("deny")
    assert ":0" not in denied
    assert not [info.origin for info in manager.describe() if info.origin.endswith(":0")]
    assert f"{root}/b/hookconf.py" in denied
    assert decision(manager, root, "x.py") == "proceed"
    assert decision(manager, root, "a/x.py") == "deny: in a"
    info = next(info for info in manager.plugins() if info.name.endswith("b/hookconf.py"))
    assert (info.status, info.source) == ("broken", "project")


def test_an_error_without_a_line_names_the_file_alone(root):
    with pytest.raises(PluginLoadError, match=rf"^{root}/hookconf\.py: it could not be run"):
        load_hookconf(conf(root / "hookconf.py", "x = '\0'\n"))


def test_one_that_could_not_be_run_leaves_no_module(root):
    before = set(sys.modules)
    with pytest.raises(PluginLoadError):
        load_hookconf(conf(root / "hookconf.py", "x = 1\n1 / 0\n"))
    assert not [name for name in set(sys.modules) - before if name.startswith("_agent_hooks_conf_")]


def test_a_broken_one_is_silenced_by_blocking_its_name(root, manager):
    write(root, {"hookconf.py": "raise KeyError\n"})
    register_confs(manager, discover(root))
    manager.set_blocked(f"{root}/hookconf.py")
    assert decision(manager, root) == "proceed"


def test_one_whose_name_is_blocked_is_not_run(root, manager):
    write(root, {"hookconf.py": f"open({str(root / 'canary')!r}, 'w').close()\n"})
    manager.set_blocked(f"{root}/hookconf.py")
    assert register_confs(manager, discover(root)) == []
    assert not (root / "canary").exists()


def test_an_interruption_is_passed_on(root):
    with pytest.raises(KeyboardInterrupt):
        load_hookconf(conf(root / "hookconf.py", "raise KeyboardInterrupt\n"))


def test_it_says_what_to_do_where_an_import_fails(root):
    with pytest.raises(PluginLoadError, match=rf"{root}/hookconf\.py:1: .* can be named by agent_hooks_plugins"):
        load_hookconf(conf(root / "hookconf.py", "import beside_it\n"))


# -- what runs ---------------------------------------------------------------------------------------------------------


def test_the_bytes_that_were_found_run_and_not_those_that_are_there_by_then(root, manager):
    write(root, {"hookconf.py": deny("as it was found")})
    project = discover(root)
    write(root, {"hookconf.py": "raise SystemExit('swapped')\n"})
    assert register_confs(manager, project) == []
    assert decision(manager, root) == "deny: as it was found"


def test_a_compiled_file_beside_it_is_neither_used_nor_written(root, manager):
    write(root, {"hookconf.py": "raise SystemExit('compiled')\n"})
    compiled = Path(py_compile.compile(str(root / "hookconf.py"), doraise=True, invalidation_mode=UNCHECKED))  # type: ignore[arg-type]
    stale = compiled.read_bytes()
    write(root, {"hookconf.py": deny("source")})
    assert register_confs(manager, discover(root)) == []
    assert decision(manager, root) == "deny: source"
    assert compiled.read_bytes() == stale
    compiled.unlink()
    load_hookconf(conf(root / "hookconf.py", "fresh = 1\n"))
    assert list(compiled.parent.iterdir()) == []


UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


def test_nothing_of_the_project_becomes_importable(root):
    write(root, {"hookconf.py": "import sys\npath = list(sys.path)\n", "beside.py": ""})
    before = list(sys.path)
    module = load_hookconf(discover(root).confs[0])
    assert module.path == before == sys.path
    assert not hasattr(module, "__path__")
    assert "hookconf" not in sys.modules


def test_a_process_in_the_project_imports_nothing_of_it(root):
    """Not even where the current directory is on ``sys.path``, as with ``python -c``: names are looked up elsewhere."""
    write(root, {"hookconf.py": deny("no"), "ast.py": "raise SystemExit('shadowed')\n"})
    program = (
        "from agent_hooks import HookManager\nfrom agent_hooks.trust.discovery import discover\n"
        "from agent_hooks.sources.hookconfs import register_confs\n"
        "manager = HookManager(load_plugins=False)\n"
        "project = discover('.')\nprint(project.gates, register_confs(manager, project), len(manager.describe()))\n"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, check=True)
    assert done.stdout == "1 [] 1\n"


def test_a_module_has_a_name_and_a_file_of_its_own(root):
    module = load_hookconf(conf(root / "hookconf.py", "from __future__ import annotations\nname = __name__\n"))
    assert module.name == module.__name__
    assert module.__name__.startswith("_agent_hooks_conf_")
    assert sys.modules[module.__name__] is module
    assert module.__file__ == str(root / "hookconf.py")


def test_classes_that_look_their_module_up_work(root):
    code = """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import ClassVar, get_type_hints
        from pydantic import BaseModel

        @dataclass
        class Rule:
            kinds: ClassVar[list[str]] = []
            other: Rule | None = None

        class Settings(BaseModel):
            rule: int = 1

        hints = get_type_hints(Rule)
    """
    module = load_hookconf(conf(root / "hookconf.py", textwrap.dedent(code)))
    assert module.hints["other"] == module.Rule | None
    assert module.Settings(rule=2).rule == 2


def test_the_same_bytes_run_once_in_a_process_also_in_threads(root):
    counted = f"import pathlib, time\nwith open({str(root / 'runs')!r}, 'a') as file: file.write('x')\n"
    same = conf(root / "hookconf.py", counted)
    modules = []
    threads = [Thread(target=lambda: modules.append(load_hookconf(same))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(module) for module in modules}) == 1
    assert (root / "runs").read_text() == "x"
    assert load_hookconf(same.replace(code=same.code + b"#")) is not modules[0]


def test_it_is_utf_8_whatever_encoding_is_declared(root):
    assert load_hookconf(conf(root / "hookconf.py", "# coding: latin-1\nname = 'é'\n")).name == "é"
    assert load_hookconf(conf(root / "hookconf.py", b"\xef\xbb\xbfname = 1\n")).name == 1
    assert not hasattr(load_hookconf(conf(root / "hookconf.py", "# coding: utf-7\n# +AAo-name = 1\n")), "name")
    with pytest.raises(PluginLoadError, match=r"hookconf.py:2: .* the file is not UTF-8"):
        load_hookconf(conf(root / "hookconf.py", "# coding: latin-1\nname = 'é'\n".encode("latin-1")))


def test_names_of_files_that_are_not_unicode_are_no_trouble(root):
    path = root / os.fsdecode(b"\xff") / "hookconf.py"
    assert load_hookconf(conf(path, "x = 1\n")).x == 1
