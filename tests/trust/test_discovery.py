"""What a project brings: found, read as bytes, and never run."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent_hooks
from agent_hooks.formats.hookconf import NAMED_MODULES
from agent_hooks.trust import discovery as reading
from agent_hooks.trust import search
from agent_hooks.trust.discovery import MAX_BYTES, discover
from agent_hooks.trust.project_files import is_marked, project_root
from projects import alter
from tables import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks.trust.manifest import Project

HOOKCONF = "from agent_hooks import hookimpl\n\n@hookimpl\ndef before_tool_use(ctx):\n    return None\n"
TOML = """
[[hooks.before_tool_use]]
matcher = "shell"
[[hooks.before_tool_use.hooks]]
type = "command"
command = ["python3", "hooks/check.py"]
"""
CLAUDE = """{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
  {"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/check.sh"}]}]}}"""
SKILL = """---
{"name": "deploy", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}
---
"""
QUIET = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
CONTENTS = {"TOML": TOML, "HOOKCONF": HOOKCONF, "QUIET": QUIET, "SKILL": SKILL}
TABLES = tables(__file__)
SEARCHES = pytest.mark.parametrize("is_near", [False, True], ids=["everywhere", "near"])
ENVIRONMENTS = pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history", ".git/HEAD", ".git"])


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def root(tmp_path):
    """The root of an empty project, a real path."""
    made = tmp_path.resolve() / "repo"
    (made / ".git").mkdir(parents=True)
    return made


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below ``root``, with their folders."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = CONTENTS.get(content, content) if isinstance(content, str) else content
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def paths(project: Project, kind: str = "") -> list[str]:
    """The paths of the manifest, of one kind if it is given."""
    return [file.path for file in project.files if kind in ("", file.kind)]


def kinds(project: Project) -> list[tuple[str, bool]]:
    """The kinds of the findings, and whether they block."""
    return [(finding.kind, finding.blocks) for finding in project.findings]


# -- the root ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLES["roots"].values(), ids=TABLES["roots"])
def test_the_root_of_a_folder_is_the_nearest_one_that_is_marked_as_a_real_path(tmp_path, case):
    write(tmp_path, dict.fromkeys(case["files"], ""))
    (tmp_path / "link").symlink_to(tmp_path / case["from"])
    root = str(tmp_path.resolve() / case["root"])
    assert project_root(tmp_path / case["from"]) == project_root(tmp_path / "link") == root
    assert is_marked(root) == case.get("marked", True)
    assert not is_marked(str(tmp_path))


def test_the_home_folder_and_what_is_above_it_are_no_roots_of_what_is_in_it(tmp_path, monkeypatch):
    home = tmp_path.resolve() / "home"
    write(home, {"work/x.py": "", ".git/HEAD": "", ".claude/settings.json": "{}"})
    write(tmp_path, {"pyproject.toml": "", ".git/HEAD": ""})
    monkeypatch.setenv("HOME", str(home))
    assert project_root(home / "work") == str(home / "work")
    assert project_root(home) == str(home)


def test_a_folder_where_everybody_may_put_things_is_no_root_of_what_is_in_it(tmp_path):
    shared = tmp_path.resolve() / "shared"
    write(shared, {"agent-hooks.toml": "", "mine/x.py": ""})
    shared.chmod(0o1777)
    assert project_root(shared / "mine") == str(shared / "mine")
    assert project_root(shared) == str(shared)


# -- where files are found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLES["found"].values(), ids=TABLES["found"])
def test_what_a_project_brings_is_found_where_an_event_looks(root, case):
    write(root, case["files"])
    for name, target in case.get("links", {}).items():
        (root / name).symlink_to(target.replace("ROOT", str(root)))
    near = [path.replace("ROOT", str(root)) for path in case["near"]] if "near" in case else None
    project = discover(root, near=near)
    assert paths(project) == case.get("paths", [])
    assert [[*kind] for kind in kinds(project)] == case.get("findings", [])


def test_each_hookconf_has_its_folder_and_its_code(root):
    write(root, {"hookconf.py": HOOKCONF, "b/c/hookconf.py": HOOKCONF})
    confs = [(conf.directory, conf.code) for conf in discover(root).confs]
    assert confs == [(str(root), HOOKCONF.encode()), (str(root / "b" / "c"), HOOKCONF.encode())]


@pytest.mark.parametrize("folder", sorted(search.LEFT_OUT))
@SEARCHES
def test_what_is_not_the_projects_own_is_left_out(root, folder, is_near):
    write(root, {f"{folder}/hookconf.py": HOOKCONF, f"{folder}/deep/hookconf.py": HOOKCONF})
    assert paths(discover(root, near=[f"{folder}/x.py", f"{folder}/deep/x.py"] if is_near else None)) == []


@ENVIRONMENTS
@SEARCHES
def test_environments_and_projects_of_their_own_are_left_out(root, mark, is_near):
    write(root, {"inner/hookconf.py": HOOKCONF, "inner/deep/hookconf.py": HOOKCONF, f"inner/{mark}": ""})
    assert paths(discover(root, near=["inner/deep/x.py"] if is_near else None)) == []


def test_known_paths_are_looked_at_as_well(root):
    write(root, {f"{folder}hookconf.py": HOOKCONF for folder in ("", "a/", "z/y/")})
    known = paths(discover(root))
    assert paths(discover(root, near=["b/x.py"], known=known)) == known


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a\0b", "x" * 5000, "a/" * 3000, "", ".", "hookconf.py/x"])
def test_near_paths_may_be_anything(root, path):
    write(root, {"hookconf.py": HOOKCONF})
    assert paths(discover(root, near=[path])) == ["hookconf.py"]


NAMES = st.sampled_from(["a", "b", "node_modules", ".claude", "agents"])
FOLDERS = st.lists(NAMES, max_size=3).map(lambda parts: "".join(f"{part}/" for part in parts))
OURS = {"hookconf.py": HOOKCONF, "HookConf.py": HOOKCONF, "agent-hooks.toml": "[policy]\ntimeout = 5\n"}
OURS |= {"SKILL.md": SKILL, "x.md": SKILL, ".claude/settings.json": CLAUDE, ".claude/settings.local.json": CLAUDE}
PLACED = st.lists(st.tuples(FOLDERS, st.sampled_from([*OURS])), max_size=8)
MARKS = st.lists(
    st.tuples(FOLDERS, st.sampled_from([".git", "pyvenv.cfg", "conda-meta/history"])).map("".join), max_size=3
)
TOUCHED = st.lists(st.tuples(FOLDERS, st.sampled_from([*OURS, "x.py"])).map("".join), max_size=3)


@settings(max_examples=60)
@given(PLACED, MARKS, TOUCHED)
def test_an_event_finds_the_whole_manifest_again_whatever_it_touches_and_no_mark_takes_anything_out(files, marks, near):
    with TemporaryDirectory() as folder:
        write(Path(folder), {f"{where}{name}": OURS[name] for where, name in files})
        whole = discover(folder)
        assert discover(folder, near=near, known=paths(whole)).digest == whole.digest
        write(Path(folder), dict.fromkeys(marks, ""))
        assert discover(folder, known=paths(whole)).digest == whole.digest
        assert discover(folder, near=[], known=paths(whole)).digest == whole.digest


@settings(max_examples=30)
@given(PLACED, MARKS)
def test_the_whole_search_and_that_of_an_event_agree_about_what_is_the_projects_own(files, marks):
    with TemporaryDirectory() as folder:
        write(Path(folder), {f"{where}{name}": OURS[name] for where, name in files} | dict.fromkeys(marks, ""))
        near = [str(path) for path in Path(folder).rglob("*")]
        assert discover(folder, near=near).digest == discover(folder).digest


@ENVIRONMENTS
@SEARCHES
def test_whatever_lies_beside_claudes_settings_they_count(root, mark, is_near):
    write(root, {".claude/settings.json": CLAUDE, ".claude/skills/x/SKILL.md": SKILL, f".claude/{mark}": ""})
    near = ["x.py", ".claude/skills/x/y"]
    assert paths(discover(root, near=near if is_near else None)) == [
        ".claude/settings.json",
        ".claude/skills/x/SKILL.md",
    ]


@SEARCHES
def test_an_environment_is_not_searched_because_a_program_of_it_is_known(root, is_near):
    write(root, {".venv/pyvenv.cfg": "", ".venv/bin/check": "", ".venv/SKILL.md": SKILL, ".venv/hookconf.py": HOOKCONF})
    write(root, {"agent-hooks.toml": TOML.replace("hooks/check.py", ".venv/bin/check")})
    project = discover(root)
    assert set(paths(project)) == {"agent-hooks.toml", ".venv/bin/check"}
    near = [".venv/bin/x"] if is_near else None
    assert discover(root, near=near, known=paths(project)).digest == project.digest


def test_another_spelling_of_a_name_is_not_read_but_told(root):
    write(root, {"HookConf.py": HOOKCONF, "a/AGENT-HOOKS.toml": TOML, ".Claude/Settings.json": CLAUDE})
    write(root, {"settings.json": "{}", "b/.claude/settings.json/x": ""})
    project = discover(root)
    assert paths(project) == []
    assert {(f.kind, os.path.relpath(f.path, root)) for f in project.findings} == {
        ("misspelt", "HookConf.py"),
        ("misspelt", "a/AGENT-HOOKS.toml"),
        ("misspelt", ".Claude/Settings.json"),
    }
    assert "is not written hookconf.py" in next(f.message for f in project.findings if "HookConf" in f.path)


def test_a_folder_that_cannot_be_searched_is_told(root, monkeypatch):
    write(root, {"a/hookconf.py": HOOKCONF, "b/hookconf.py": HOOKCONF})
    scandir = os.scandir

    def refuse(folder):
        if folder == str(root / "a"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    write(root, {"a/in/hookconf.py": HOOKCONF})
    project = discover(root)
    assert paths(project) == ["a/hookconf.py", "b/hookconf.py"]  # which an event would find
    assert [str(finding) for finding in project.findings] == [
        (
            f"{root}/a: The folder cannot be searched for hooks: Permission denied. "
            "Make it readable, or ignore this if there are none."
        )
    ]


def test_a_tree_without_end_is_searched_from_the_outside_and_not_for_ever(root, monkeypatch):
    monkeypatch.setattr(search, "MAX_FOLDERS", 3)
    write(root, {f"{folder}/hookconf.py": HOOKCONF for folder in ("a", "b", "a/c", "a/d")})
    project = discover(root)
    assert paths(project) == ["a/hookconf.py", "b/hookconf.py"]
    assert "more than 3 folders" in project.findings[0].message


# -- what counts as a file ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hookconf.py", "agent-hooks.toml", ".claude/settings.json"])
@SEARCHES
def test_a_link_out_of_the_project_does_not_count_and_blocks(root, tmp_path, name, is_near):
    write(tmp_path, {"outside": HOOKCONF})
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(tmp_path / "outside")
    project = discover(root, near=() if is_near else None)
    assert (paths(project), project.confs, project.reads) == ([], (), ())
    assert kinds(project) == [("not-honoured", True)]
    assert "leads out of the project" in project.findings[0].message


def test_a_link_inside_the_project_counts_with_where_it_leads(root):
    write(root, {"conf/a.py": HOOKCONF})
    (root / "hookconf.py").symlink_to("conf/a.py")
    assert [(file.path, file.real) for file in discover(root).files] == [("hookconf.py", "conf/a.py")]


def test_a_pipe_is_not_waited_for(root):
    os.mkfifo(root / "hookconf.py")
    project = discover(root)
    assert kinds(project) == [("not-honoured", True)]
    assert "not a regular file" in project.findings[0].message


def test_a_file_that_is_too_large_blocks(root):
    write(root, {"hookconf.py": b"#" * (MAX_BYTES + 1), "a/hookconf.py": b"#" * MAX_BYTES})
    project = discover(root)
    assert paths(project) == ["a/hookconf.py"]
    assert kinds(project) == [("not-honoured", True)]
    assert "larger than 1 MiB" in project.findings[0].message


def test_a_script_that_two_commands_of_one_line_need_is_refused_once(root):
    write(root, {"check.sh": "exit"})
    os.truncate(root / "check.sh", reading.MAX_SCRIPT_BYTES + 1)
    command = '{"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/check.sh"}'
    write(root, {".claude/settings.json": f'{{"hooks": {{"PreToolUse": [{{"hooks": [{command}, {command}]}}]}}}}'})
    assert kinds(discover(root)) == [("not-honoured", True)]


def test_a_file_name_that_is_not_unicode_is_found(root):
    folder = os.fsencode(root) + b"/\xff"
    os.mkdir(folder)
    with open(folder + b"/hookconf.py", "wb") as file:
        file.write(HOOKCONF.encode())
    project = discover(root)
    assert paths(project) == ["\udcff/hookconf.py"]
    assert project.digest.startswith("sha256:")


# -- nothing is run ----------------------------------------------------------------------------------------------------


WATCH = """
import os, sys
seen = []
def audit(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect"):
        seen.append(event)
    if event == "exec" and args[0].co_filename.startswith(sys.argv[1]):
        seen.append(f"exec {args[0].co_filename}")
    if event == "open" and isinstance(args[0], str) and isinstance(args[2], int):
        if args[2] & (os.O_WRONLY | os.O_RDWR) and args[0].startswith(sys.argv[1]):
            seen.append(f"write {args[0]}")
sys.dont_write_bytecode = True
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.project_files import project_root
sys.addaudithook(audit)
project = discover(project_root(sys.argv[1]))
print(len(project.files), project.gates, seen)
"""


def test_finding_runs_nothing_and_writes_nothing(root):
    canary = "open('canary', 'w').close()\n"
    write(root, {"hookconf.py": f"agent_hooks_plugins = ['policies']\n{canary}{HOOKCONF}", "policies.py": canary})
    write(root, {"sitecustomize.py": canary, "json.py": canary, "yaml.py": canary, "agent_hooks/__init__.py": canary})
    write(root, {"agent-hooks.toml": TOML, "SKILL.md": SKILL, "check.sh": canary, ".claude/settings.json": CLAUDE})
    source = str(Path(agent_hooks.__file__).parent.parent)
    command = [sys.executable, "-P", "-c", WATCH, str(root)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=root, env={**os.environ, "PYTHONPATH": source}
    )
    count, gates, seen = done.stdout.split(maxsplit=2)
    assert (int(count) >= 5, int(gates), seen.strip()) == (True, 3, "[]")
    assert not (root / "canary").exists()


def test_a_hookconf_alone_needs_no_parser(root):
    """An event of such a project must cost next to nothing: each is a process of its own."""
    write(root, {"hookconf.py": HOOKCONF, "pyproject.toml": "[project]\nname = 'agent'\n", "SKILL.md": "# No hooks"})
    program = (
        "import sys; from agent_hooks.trust.discovery import discover; "
        "print(len(discover(sys.argv[1], near=['a/x']).files)); "
        "print(*{'ast', 'asyncio', 'pydantic', 're', 'tomllib', 'yaml', 'pluggy', 'inspect'} & set(sys.modules))"
    )
    source = str(Path(agent_hooks.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r}); {program}", str(root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == ["1", "", ""]


# -- modules that a hookconf names -------------------------------------------------------------------------------------


def named(names: object) -> str:
    return f"agent_hooks_plugins = {names!r}\n"


def test_modules_that_a_hookconf_names_are_part_of_the_manifest_and_of_its_directory(root):
    write(root, {"a/hookconf.py": named(["policies.shell", "more"]), "a/more.py": HOOKCONF})
    write(root, {"a/policies/shell.py": named(["inner"]), "a/policies/inner.py": named(["inner", "inner"])})
    project = discover(root)
    assert paths(project, "hookconf") == ["a/hookconf.py"]
    assert paths(project, "module") == ["a/policies/shell.py", "a/more.py", "a/policies/inner.py"]
    top = str(root / "a" / "hookconf.py")
    assert [(conf.name, conf.modules) for conf in project.confs] == [
        (top, ("policies.shell", "more")),
        (f"{top}:policies/shell.py", ("inner",)),
        (f"{top}:more.py", ()),
        (f"{top}:policies/inner.py", ("inner", "inner")),
    ]
    assert {conf.directory for conf in project.confs} == {str(root / "a")}


def test_a_module_that_two_directories_name_is_live_in_both(root):
    write(root, {"hookconf.py": named(["a.shared"]), "a/hookconf.py": named(["shared"]), "a/shared.py": HOOKCONF})
    project = discover(root)
    assert paths(project, "module") == ["a/shared.py"]
    shared = [conf for conf in project.confs if conf.path.endswith("shared.py")]
    assert [conf.directory for conf in shared] == [str(root), str(root / "a")]
    assert len({conf.name for conf in shared}) == 2


@pytest.mark.parametrize(("text", "told"), TABLES["unfound"]["rows"])
def test_modules_that_cannot_be_found_without_running_anything_block(root, text, told):
    write(root, {"hookconf.py": text, "a.py": ""})
    project = discover(root)
    assert told in project.findings[0].message
    assert project.findings[0].blocks
    assert not (root / "canary").exists()


@pytest.mark.parametrize("code", ["def broken(:\n", "(" * 5000, "-" * 200_000 + "1", "x = '\0'\n", b"\xff\xfe\n"])
def test_a_hookconf_that_cannot_be_parsed_is_part_of_the_manifest_and_counts_as_a_gate(root, code):
    code = code.encode() if isinstance(code, str) else code
    write(root, {"hookconf.py": b"#" + NAMED_MODULES.encode() + b"\n" + code})
    project = discover(root)
    assert paths(project) == ["hookconf.py"]
    assert project.gates == 1


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_are_read_with_their_place_in_the_project(root):
    write(root, {"agent-hooks.toml": TOML, "a/agent-hooks.toml": TOML})
    project = discover(root)
    outer, inner = (read.entries[0] for read in project.reads)
    assert paths(project, "settings") == ["agent-hooks.toml", "a/agent-hooks.toml"]
    assert [outer.source, outer.project_dir, outer.directory, outer.scope] == ["project", str(root), str(root), None]
    assert (inner.directory, inner.scope) == (str(root / "a"), ("directory", str(root / "a"), str(root)))
    assert outer.path == str(root / "agent-hooks.toml")


@pytest.mark.parametrize(("name", "text"), TABLES["misplaced"]["rows"])
def test_a_file_that_only_has_hooks_in_the_wrong_place_is_a_part_of_the_manifest(root, name, text):
    write(root, {name: text})
    project = discover(root)
    assert paths(project, "settings") == [name]
    (finding,) = project.reads[0].findings
    assert (finding.path, finding.line > 0, finding.blocks) == (str(root / name), True, True)


def test_claude_settings_belong_to_the_folder_that_has_them(root):
    write(root, {".claude/settings.json": CLAUDE, "pkg/.claude/settings.local.json": CLAUDE})
    project = discover(root, near=["pkg/x.py"])
    outer, inner = (read.entries[0] for read in project.reads)
    assert paths(project, "settings") == [".claude/settings.json", "pkg/.claude/settings.local.json"]
    assert (outer.project_dir, outer.scope) == (str(root), None)
    assert (inner.project_dir, inner.scope) == (str(root / "pkg"), ("directory", str(root / "pkg"), str(root)))


def test_the_hooks_of_a_claude_plugin_have_its_root(root):
    write(root, {"agent-hooks.toml": 'claude_plugins = ["./tools/p"]', "tools/p/hooks/hooks.json": CLAUDE})
    assert discover(root).reads[1].entries[0].plugin_root == str(root / "tools" / "p")


def test_settings_that_cannot_be_read_are_part_of_the_manifest(root):
    write(root, {"agent-hooks.toml": "= nonsense"})
    project = discover(root)
    assert [(file.path, file.part) for file in project.files] == [("agent-hooks.toml", b"= nonsense")]
    assert [finding.blocks for read in project.reads for finding in read.findings] == [True]


def test_skills_and_agents_with_hooks_are_kept_apart(root):
    write(root, {"skills/deploy/SKILL.md": SKILL, ".claude/agents/checker.md": SKILL})
    project = discover(root)
    assert paths(project, "skill") == [".claude/agents/checker.md", "skills/deploy/SKILL.md"]
    assert [len(read.entries) for read in project.skills] == [1, 1]
    assert project.reads == ()


def test_a_skill_that_cannot_be_read_stops_nothing_but_itself(root):
    os.mkfifo(root / "SKILL.md")
    assert kinds(discover(root)) == [("not-honoured", False)]


# -- scripts -----------------------------------------------------------------------------------------------------------


def test_scripts_are_part_of_the_manifest_and_their_digests_of_the_entries(root):
    write(root, {"agent-hooks.toml": TOML, "hooks/check.py": "print()\n"})
    (root / "hooks" / "check.py").chmod(0o755)
    project = discover(root)
    digest = sha256(b"print()\n").hexdigest()
    assert [(file.path, file.mode, file.sha256) for file in project.files if file.kind == "script"] == [
        ("hooks/check.py", 0o755, digest)
    ]
    assert project.reads[0].entries[0].scripts == {str(root / "hooks" / "check.py"): digest}


def test_modules_of_the_project_that_python_code_imports_are_scripts(root):
    names = ("tools/__init__.py", "tools/__main__.py", "rules.py", "json.py", "other.py")
    command = "python3 -m tools; python3 -c 'import json, rules'"
    toml = f'[[hooks.before_tool_use]]\nhooks = [{{ type = "command", command = "{command}" }}]\n'
    write(root, {"agent-hooks.toml": toml, **dict.fromkeys(names, ""), "rules.py": "import other\n"})
    assert sorted(paths(discover(root), "script")) == sorted(names), "json.py would replace Python's own"
    (root / "agent-hooks.toml").write_text(toml.replace("python3 -m tools; ", "").replace(", rules", ""))
    assert paths(discover(root), "script") == [], "its folder is left out of Python's path"


def test_what_a_script_in_the_syntax_of_another_python_imports_is_covered(root):
    script = "print 'no Python of today'\nimport rules, json\nif x:\n    from lib import (a,  # first\n        b)\n"
    toml = '[[hooks.before_tool_use]]\nhooks = [{ type = "command", command = "python3 hooks/gate.py" }]\n'
    names = ("hooks/rules.py", "hooks/lib/a.py", "hooks/lib/b.py")
    write(root, {"agent-hooks.toml": toml, "hooks/gate.py": script, **dict.fromkeys(names, "")})
    assert {*names} < {*paths(discover(root), "script")}


def test_a_script_that_is_not_there_is_known_and_protected(root):
    write(root, {"agent-hooks.toml": TOML})
    before = discover(root)
    later = str(root / "hooks" / "check.py")
    assert before.reads[0].entries[0].scripts == {later: ""}  # no bytes have this digest
    assert later in before.protected
    assert [finding.kind for finding in before.findings] == ["missing"]


def test_a_file_that_a_command_writes_is_not_protected(root):
    write(root, {"agent-hooks.toml": TOML.replace('["python3", "hooks/check.py"]', '"cat >> calls.txt"')})
    assert str(root / "calls.txt") not in discover(root).protected


def test_a_large_program_in_the_project_is_hashed_but_not_kept(root):
    content = b"\x7fELF" * (MAX_BYTES // 2)
    write(root, {"agent-hooks.toml": TOML, "hooks/check.py": content})
    script = next(file for file in discover(root).files if file.kind == "script")
    assert (script.sha256, script.part) == (sha256(content).hexdigest(), b"")


def test_a_script_that_is_too_large_to_be_trusted_blocks_on_its_event(root, monkeypatch):
    monkeypatch.setattr(reading, "MAX_SCRIPT_BYTES", MAX_BYTES)
    write(root, {"agent-hooks.toml": TOML, "hooks/check.py": b"#" * (MAX_BYTES + 1)})
    project = discover(root)
    (finding,) = project.findings
    assert (finding.event, finding.matcher, finding.blocks) == ("before_tool_use", "shell", True)
    assert str(root / "hooks" / "check.py") in finding.message
    assert project.reads[0].entries == ()  # it must not run either, whatever the user ignores


def test_of_a_large_program_outside_only_the_place_counts(root, tmp_path):
    """An environment's ``python`` is such a link; to read it for each event would cost more than the event."""
    write(tmp_path, {"python3": b"\x7fELF" * MAX_BYTES, "python4": b"\x7fELF" * MAX_BYTES})
    write(root, {"agent-hooks.toml": TOML.replace('"python3"', '".venv/bin/python"'), ".venv/pyvenv.cfg": ""})
    write(root, {"hooks/check.py": ""})
    (root / ".venv" / "bin").mkdir()
    (root / ".venv" / "bin" / "python").symlink_to(tmp_path / "python3")
    before = discover(root)
    script = next(file for file in before.files if file.kind == "script")
    assert (script.path, script.real, script.sha256) == (".venv/bin/python", str(tmp_path.resolve() / "python3"), "")
    assert list(before.reads[0].entries[0].scripts) == [str(root / "hooks/check.py")]
    (root / ".venv" / "bin" / "python").unlink()
    (root / ".venv" / "bin" / "python").symlink_to(tmp_path / "python4")
    assert discover(root).digest != before.digest


def test_a_small_script_to_which_a_link_leads_out_of_the_project_is_hashed(root, tmp_path):
    write(tmp_path, {"shared.py": "print()\n"})
    write(root, {"agent-hooks.toml": TOML, "hooks/x": ""})
    (root / "hooks" / "check.py").symlink_to(tmp_path / "shared.py")
    script = next(file for file in discover(root).files if file.kind == "script")
    assert (script.path, script.real) == ("hooks/check.py", str(tmp_path.resolve() / "shared.py"))
    assert script.part == b"print()\n"


def test_a_script_outside_the_project_that_cannot_be_read_blocks_on_its_event(root):
    write(root, {"agent-hooks.toml": f"{TOML}scripts = ['../gone.py']\n", "hooks/check.py": ""})
    project = discover(root)
    (finding,) = project.findings
    assert (finding.event, finding.blocks) == ("before_tool_use", True)
    assert str(root.parent / "gone.py") in finding.message
    assert project.reads[0].entries == ()  # it may be written later, and has no digest


def test_a_script_of_several_hooks_is_in_the_manifest_once(root):
    write(root, {"agent-hooks.toml": TOML, "a/agent-hooks.toml": TOML.replace("hooks/check.py", "../hooks/check.py")})
    write(root, {"hooks/check.py": "print()\n"})
    project = discover(root)
    assert paths(project, "script") == ["hooks/check.py"]
    assert len({str(entry.scripts) for read in project.reads for entry in read.entries}) == 1


def test_a_file_may_be_both_settings_and_script(root):
    write(root, {"agent-hooks.toml": TOML.replace("hooks/check.py", "agent-hooks.toml")})
    found = [(file.path, file.kind) for file in discover(root).files]
    assert found == [("agent-hooks.toml", "script"), ("agent-hooks.toml", "settings")]


# -- the digest --------------------------------------------------------------------------------------------------------


def test_the_digest_is_bound_to_the_root(tmp_path):
    for name in ("one", "two"):
        write(tmp_path, {f"{name}/hookconf.py": HOOKCONF})
    assert discover(tmp_path / "one").digest != discover(tmp_path / "two").digest
    (tmp_path / "link").symlink_to("one")
    assert discover(tmp_path / "link").digest == discover(tmp_path / "one").digest


@pytest.mark.parametrize("case", TABLES["digests"].values(), ids=TABLES["digests"])
def test_the_digest_changes_with_all_that_has_a_meaning_here(root, case):
    alter(root, case, partial(write, root))
    before = discover(root).digest
    alter(root, case["change"], partial(write, root))
    assert (discover(root).digest != before) is case.get("changes", True)


def test_what_is_found_is_protected_also_where_links_lead(root):
    write(root, {"conf.py": HOOKCONF, "a/hookconf.py": HOOKCONF})
    (root / "hookconf.py").symlink_to("conf.py")
    assert set(discover(root).protected) == {str(root / name) for name in ("hookconf.py", "conf.py", "a/hookconf.py")}


def test_the_gates_are_the_hooks_that_would_decide(root):
    code = """
        from agent_hooks import hookimpl
        import agent_hooks

        @hookimpl(match="shell")
        def before_tool_use(ctx): ...

        class Rules:
            @agent_hooks.hookimpl
            async def PreToolUse(self, ctx): ...

        @hookimpl(mode="observe")
        def before_inference(ctx): ...

        @hookimpl(specname="notification")
        def told(ctx): ...

        @hookimpl
        def session_end(ctx): ...

        def before_step(ctx): ...
    """
    write(root, {"hookconf.py": textwrap.dedent(code), "agent-hooks.toml": TOML})
    assert discover(root).gates == 3


@pytest.mark.parametrize("moved", [False, True], ids=["in the home folder", "moved"])
@pytest.mark.parametrize("near", [None, []], ids=["everywhere", "near"])
def test_the_users_own_claude_folder_marks_no_project_and_is_none_of_its_files(tmp_path, monkeypatch, moved, near):
    home = tmp_path.resolve() / "home"
    place = home / "elsewhere" if moved else home
    write(place, {".claude/settings.json": CLAUDE, ".claude/agents/x.md": SKILL, "work/x.py": ""})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    if moved:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place / ".claude"))
    assert not is_marked(str(place))
    assert project_root(place / "work") == str(place / "work")
    project = discover(place, near=near)
    assert (project.files, project.reads, project.skills) == ((), (), ())


def test_a_claude_folder_that_is_not_the_users_is_the_projects(root, monkeypatch):
    write(root, {".claude/settings.json": CLAUDE})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "relative")  # which is told where the user's are read
    assert is_marked(str(root))
    assert paths(discover(root)) == [".claude/settings.json"]


@pytest.mark.parametrize(("command", "kind", "told"), TABLES["uncovered"]["rows"])
def test_what_a_trust_in_a_command_does_not_cover_is_told_and_blocks_nothing(root, command, kind, told):
    write(root, {"agent-hooks.toml": TOML.replace('["python3", "hooks/check.py"]', f'"{command}"')})
    project = discover(root)
    (finding,) = project.findings
    assert (finding.kind, finding.blocks, finding.path) == (kind, False, str(root / "agent-hooks.toml"))
    assert (finding.line, finding.event, finding.matcher) == (
        project.reads[0].entries[0].line,
        "before_tool_use",
        "shell",
    )
    assert told in finding.message
    assert f"{root}/agent-hooks.toml:{finding.line}: " in str(finding)
    assert len(project.reads[0].entries) == 1
