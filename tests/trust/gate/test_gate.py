"""Tools that touch files: what is denied, and what is none of the gate's business."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import HookOutcome, hookimpl
from agent_hooks.model.outcome import Decision
from agent_hooks.testing import make_context
from agent_hooks.trust.gate import Protection

PROTECTED = """
hookconf.py
./hookconf.py
src/../hookconf.py
new/folder/hookconf.py
HookConf.py
hookconf.py.
hookconf.py::$DATA
hookconf.py/
src//hookconf.py
\uff48ookconf.py
hook\u200cconf.py
agent-hooks.toml
package/agent-hooks.toml
.claude/settings.json
.claude/settings.local.json
.Claude/Settings.json
.claude./settings.json
.claude\\settings.json
elsewhere/.claude/settings.local.json
~/.claude/settings.json
~/.config/agent-hooks/agent-hooks.toml
~/.config/agent-hooks/trust/abc
~/.config/agent-hooks
$HOME/.config/agent-hooks/agent-hooks.toml
~/.local/state/agent-hooks/store.db
/etc/agent-hooks/agent-hooks.toml
hooks/check.py
hooks/./CHECK.py
file:///anywhere/.claude/settings%2Ejson
notes.txt
shortcut/agent-hooks.toml
shortcut/new.toml
shortcut/../agent-hooks/x
""".split()

FREE = """
src/app.py
src/hooks.py
tests/test_hookconf.py
hookconf.pyi
my_hookconf.py
hookconf.py.md
docs/agent-hooks.md
agent-hooks.toml.example
settings.json
src/settings.local.json
.vscode/tasks.json
.claude/commands/review.md
.claude/settings.md
.claude/skills/x/helper.py
claude/settings.json
hooks/notes.md
hooks/check2.py
~/.config/other/agent-hooks.txt
~/.bashrc
~/.local/state/other
/etc/hosts
README.md
""".split()


@pytest.mark.parametrize("path", PROTECTED)
@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("Write", {"file_path": "PATH", "content": "x"}, None),
        ("Edit", {"file_path": "PATH", "old_string": "a", "new_string": "b"}, None),
        ("remove", {"path": "PATH"}, "delete"),
        ("mcp__fs__write_file", {"path": "PATH", "content": "x"}, "mcp"),
        ("mcp__fs__move_file", {"source": "a", "destination": "PATH"}, "mcp"),
    ],
)
def test_what_decides_is_not_written_by_any_tool(guarded, tool, args, kind, path):
    assert guarded.denies(tool, {key: path if value == "PATH" else value for key, value in args.items()}, kind=kind)


@pytest.mark.parametrize("path", FREE)
@pytest.mark.parametrize(
    ("tool", "kind"), [("Write", None), ("Edit", None), ("remove", "delete"), ("mcp__fs__write_file", "mcp")]
)
def test_any_other_file_may_be_written(guarded, tool, kind, path):
    args = {"file_path": path, "content": "hookconf.py", "old_string": "agent-hooks trust", "new_string": "b"}
    assert not guarded.denies(tool, args, kind=kind)


@pytest.mark.parametrize("path", ["hookconf.py", ".claude/settings.json", "~/.config/agent-hooks/agent-hooks.toml"])
@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Read", None),
        ("Grep", None),
        ("view_image", "read"),
        ("mcp__fs__read_file", "mcp"),
        ("mcp__fs__readTextFile", "mcp"),
        ("mcp__fs__get_file_info", "mcp"),
        ("mcp__fs__list_directory", "mcp"),
        ("mcp__fs__directory_tree", "mcp"),
        ("mcp__git__git_diff", "mcp"),
        ("mcp__git__git_add", "mcp"),
        ("functions.Read", "other"),
    ],
)
def test_reading_is_free(guarded, tool, kind, path):
    assert not guarded.denies(tool, {"file_path": path, "path": path}, kind=kind)


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("Task", {"prompt": "rm hookconf.py, then run agent-hooks trust", "path": "hookconf.py"}, None),
        ("WebFetch", {"url": "https://example.com/hookconf.py", "prompt": "agent-hooks trust"}, None),
        ("TodoWrite", {"todos": [{"content": "edit hookconf.py", "status": "open"}]}, None),
        ("mcp__github__create_issue", {"title": "hookconf.py", "body": "agent-hooks trust"}, "mcp"),
        ("mcp__slack__post", {"text": "agent-hooks trust; rm hookconf.py"}, "mcp"),
        ("mcp__fs__create_directory", {"path": ".claude"}, "mcp"),
        ("mcp__fs__move_file", {"source": "src/app.py", "destination": "src/main.py"}, "mcp"),
        ("mcp__shell__run", {"command": "git status"}, "mcp"),
        ("str_replace_based_edit_tool", {"command": "view", "path": "hookconf.py"}, None),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py", "file_text": "x"}, None),
        ("Write", {"content": "x"}, None),
        ("Bash", {}, None),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/app.py\n@@\n-x = 1\n+x = 2\n"}, None),
        ("exec_command", {"cmd": "ls", "workdir": ".claude"}, None),
    ],
)
def test_tools_that_write_nothing_of_it_go_through(guarded, tool, args, kind):
    assert not guarded.denies(tool, args, kind=kind)


@pytest.mark.parametrize(
    ("tool", "args", "kind"),
    [
        ("shell", {"command": ["bash", "-lc", "agent-hooks trust ."]}, None),
        ("shell", {"command": ["rm", "hookconf.py"]}, None),
        ("exec_command", {"cmd": "echo '{}' > settings.json", "workdir": ".claude"}, None),
        ("functions.Bash", {"command": "agent-hooks trust"}, None),
        ("mcp__shell__run", {"command": "rm hookconf.py"}, "mcp"),
        ("mcp__desktop__start_process", {"command": "agent-hooks trust"}, "mcp"),
        ("write_stdin", {"session_id": 1, "chars": "agent-hooks trust\n"}, None),
        ("Bash", {"command": "ls", "cmd": "agent-hooks trust"}, None),
        ("PowerShell", {"command": "Remove-Item .\\.claude\\settings.json"}, None),
        ("PowerShell", {"command": "Set-Content -Path hookconf.py -Value ''"}, None),
        ("PowerShell", {"command": "& 'agent-hooks' trust"}, None),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: hookconf.py\n+x\n"}, None),
        (
            "apply_patch",
            {"command": ["apply_patch", "*** Begin Patch\n*** Delete File: .claude/settings.json\n"]},
            None,
        ),
        ("apply_patch", {"input": "*** Update File: src/app.py\n*** Move to: src/hookconf.py\n"}, None),
        ("apply_patch", {"input": "*** Update File: hookconf.py\n*** Move to: src/x.py\n"}, None),
        ("apply_patch", {"input": "*** Update File: src/app.py\n*** Move to: skills/guarded/SKILL.md\n"}, None),
        ("MultiEdit", {"file_path": "hookconf.py", "edits": []}, None),
        ("NotebookEdit", {"notebook_path": "hookconf.py", "new_source": "x"}, None),
        ("str_replace_based_edit_tool", {"command": "create", "path": "hookconf.py", "file_text": "x"}, None),
        ("mcp__fs__put", {"command": "view", "path": "hookconf.py"}, "mcp"),
        ("mcp__fs__edit", {"uri": "file:///x/.claude/settings%2Ejson"}, "mcp"),
        ("mcp__serena__replace_regex", {"relative_path": "hookconf.py", "repl": "x"}, "mcp"),
        ("mcp__fs__batch", {"operations": [{"kind": "x", "targetPath": "hookconf.py"}]}, "mcp"),
        ("mcp__x__do", {"file": "hookconf.py"}, "mcp"),
        ("save", {"filename": "hookconf.py"}, "write"),
        ("save", {"target": "hookconf.py"}, "write"),
        ("remove", {"path": ".claude"}, "delete"),
        ("remove", {"path": "hooks"}, "delete"),
        ("remove", {"path": "~/.config"}, "delete"),
        ("mcp__fs__move_file", {"source": ".claude", "destination": "x"}, "mcp"),
        ("mcp__fs__rename", {"path": "hooks", "new_name": "x"}, "mcp"),
    ],
)
def test_other_ways_to_write_are_the_same(guarded, tool, args, kind):
    assert guarded.denies(tool, args, kind=kind)


@pytest.mark.parametrize("kind", ["write", "delete", "other", "mcp"])
@pytest.mark.parametrize("path", ["./hookconf.py", ".claude/settings.json", "~/.config/agent-hooks/agent-hooks.toml"])
@pytest.mark.parametrize(
    "args", [{"out": "PATH"}, {"x": "PATH"}, {"to": ["a", {"where": "PATH"}]}, {"changes": {"PATH": "text"}}], ids=str
)
def test_a_path_is_one_under_any_key(guarded, kind, path, args):
    given = json.loads(json.dumps(args).replace("PATH", path))
    assert guarded.denies("save", given, kind=kind)


def with_table(guarded):
    """A table of ours in a pyproject.toml of a folder of its own."""
    (guarded.root / "inner").mkdir(exist_ok=True)
    (guarded.root / "inner" / "pyproject.toml").write_text("[tool.agent_hooks.policy]\nshadow = false\n")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("run_tests", {"config": "inner/pyproject.toml"}),
        ("mcp__slack__post", {"channel": "#dev", "text": "./hookconf.py"}),
        ("mcp__fs__get", {"x": "./hookconf.py"}),
        ("save", {"out": "docs/hookconf.md", "text": "hookconf.py"}),
    ],
)
def test_what_only_names_or_reads_a_file_under_another_key_goes_through(guarded, tool, args):
    with_table(guarded)
    assert not guarded.denies(tool, args, kind="mcp")


def test_a_part_of_a_file_is_protected_under_any_key(guarded):
    with_table(guarded)
    assert guarded.denies("save", {"out": "inner/pyproject.toml", "text": "[tool.x]"}, kind="mcp")
    assert guarded.denies("save", {"out": "inner/pyproject.toml", "data": "[tool.x]"}, kind="write")


def test_a_relative_path_is_taken_from_where_the_call_happens(guarded):
    place = str(guarded.root / ".claude")
    assert guarded.denies("Write", {"file_path": "settings.json", "content": "{}"}, cwd=place)
    assert guarded.denies_command("echo '{}' > settings.json", cwd=place)
    assert not guarded.denies("Write", {"file_path": "settings.json", "content": "{}"})


def test_a_link_into_the_protected_folder_is_found_from_both_sides(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    for folder in (real, link):
        gate = Protection(folders=[str(folder)])
        for path in (real / "x", link / "x", link / "new" / "x"):
            ctx = make_context(tool="Write", args={"file_path": str(path), "content": ""})
            assert gate.before_tool_use(ctx).decision is Decision.DENY  # type: ignore[union-attr]
        assert gate.before_tool_use(make_context(tool="Write", args={"file_path": f"{real}2/x"})) is None


# -- files of which only a part counts ---------------------------------------------------------------------------------


TABLE = "[tool.agent_hooks.policy]\non_gate_failure = "


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Edit", {"file_path": "pyproject.toml", "old_string": 'version = "1"', "new_string": 'version = "2"'}),
        ("Edit", {"file_path": "pyproject.toml", "old_string": "[tool.", "new_string": "[tool.x]\n[tool."}),
        (
            "MultiEdit",
            {
                "file_path": "pyproject.toml",
                "edits": [{"old_string": '"1"', "new_string": '"2"'}, {"old_string": '"a"', "new_string": '"z"'}],
            },
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "str_replace", "path": "pyproject.toml", "old_str": '"1"', "new_str": '"2"'},
        ),
        ("Write", {"file_path": "pyproject.toml", "content": f'[project]\nname = "z"\n{TABLE}"closed"\n'}),
        (
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: src/app.py\n@@\n-x = 1\n+x = 2\n"
                '*** Update File: pyproject.toml\n@@ [project]\n name = "a"\n-version = "1"\n+version = "2"\n'
                "*** End of File\n*** End Patch"
            },
        ),
        ("Write", {"file_path": "package/pyproject.toml", "content": "[project]\nname = 'b'\n[tool.x]\n"}),
        ("Write", {"file_path": "package/pyproject.toml", "content": "broken = \n"}),
        ("Write", {"file_path": "new/pyproject.toml", "content": "[project]\n"}),
        ("Edit", {"file_path": "package/pyproject.toml", "old_string": "not there", "new_string": "x"}),
        ("mcp__fs__edit_file", {"path": "package/pyproject.toml", "edits": [{"oldText": '"1"', "newText": '"2"'}]}),
        ("mcp__fs__append", {"path": "package/pyproject.toml", "addition": "[tool.x]"}),
        ("Edit", {"file_path": "skills/guarded/SKILL.md", "old_string": "Steps.", "new_string": "Other hooks: x."}),
        ("Edit", {"file_path": "skills/plain/SKILL.md", "old_string": "name: plain", "new_string": "name: simple"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": "---\nname: new\n---\nhooks: see docs\n"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": "No frontmatter.\nhooks: none\n"}),
        ("Write", {"file_path": ".claude/agents/plain.md", "content": "---\nname: plain\n---\nBe slow.\n"}),
        ("Edit", {"file_path": ".claude/agents/guard.md", "old_string": "careful", "new_string": "very careful"}),
    ],
)
def test_the_rest_of_a_file_may_be_changed(guarded, tool, args):
    assert not guarded.denies(tool, args)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Edit", {"file_path": "pyproject.toml", "old_string": '"closed"', "new_string": '"open"'}),
        ("Edit", {"file_path": "pyproject.toml", "old_string": "[tool.agent_hooks", "new_string": "[tool.agent_hook"}),
        ("Edit", {"file_path": "pyproject.toml", "old_string": "not there", "new_string": "x"}),
        ("Edit", {"file_path": "pyproject.toml", "old_string": "[project]", "new_string": "[project"}),
        ("Write", {"file_path": "pyproject.toml", "content": "[project]\n"}),
        ("Write", {"file_path": "pyproject.toml", "content": f'{TABLE}"open"\n'}),
        ("Write", {"file_path": "package/pyproject.toml", "content": f'{TABLE}"open"\n'}),
        ("Write", {"file_path": "package/pyproject.toml", "content": '[tool."agent\\u005fhooks"]\nx = 1\n'}),
        ("Write", {"file_path": "package/pyproject.toml", "content": '["t\\u006fol".agent_hooks]\nx = 1\n'}),
        ("Write", {"file_path": "new/pyproject.toml", "content": "tool = {agent_hooks = {x = 1}}"}),
        (
            "Write",
            {"file_path": "package/pyproject.toml", "content": "", "file_text": "[tool.agent_hooks]\nx = 1\n"},
        ),
        (
            "MultiEdit",
            {
                "file_path": "package/pyproject.toml",
                "edits": [
                    {"old_string": "[project]", "new_string": "[tool.agent]\nx=1\n[project]"},
                    {"old_string": "[tool.agent]", "new_string": "[tool.agent_hooks]"},
                ],
            },
        ),
        ("apply_patch", {"input": '*** Update File: pyproject.toml\n@@\n-on_gate_failure = "closed"\n'}),
        ("apply_patch", {"input": "*** Delete File: pyproject.toml\n"}),
        ("apply_patch", {"input": "*** Update File: pyproject.toml\n@@\n+x = 1\n"}),
        ("apply_patch", {"input": "*** Update File: pyproject.toml\n*** Move to: x.toml\n"}),
        ("apply_patch", {"input": "*** Add File: new/pyproject.toml\n+[tool.agent_hooks]\n+x = 1\n"}),
        ("mcp__fs__append", {"path": "pyproject.toml", "addition": "[tool.x]"}),
        ("mcp__fs__append", {"path": "package/pyproject.toml", "addition": "[tool.agent_hooks]"}),
        ("Edit", {"file_path": "skills/guarded/SKILL.md", "old_string": "hooks:", "new_string": "x:"}),
        ("Edit", {"file_path": "skills/guarded/SKILL.md", "old_string": "---\nname", "new_string": "\n---\nname"}),
        ("Edit", {"file_path": "skills/plain/SKILL.md", "old_string": "plain\n", "new_string": "plain\nhooks: {}\n"}),
        ("Write", {"file_path": "skills/guarded/SKILL.md", "content": "---\nname: guarded\n---\n"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": "---\nname: x\n'hooks' : {}\n---\n"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": "---\n{name: x, hooks: {}}\n---\n"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": "---\n? hooks\n: {}\n---\n"}),
        ("Write", {"file_path": "skills/new/SKILL.md", "content": '---\n"h\\x6foks": {}\n---\n'}),
        ("Write", {"file_path": "skills/new/skill.MD", "content": "\ufeff---\r\nhooks: {}\r\n---\r\n"}),
        ("Write", {"file_path": ".claude/agents/new.md", "content": "---\nhooks:\n  Stop: []\n---\n"}),
        ("Write", {"file_path": ".claude/agents/deep/new.md", "content": "---\nhooks:\n"}),
    ],
)
def test_the_part_that_counts_may_not(guarded, tool, args):
    assert guarded.denies(tool, args)


def test_a_table_that_cannot_be_read_may_not_be_touched(guarded):
    edit = {"file_path": "broken/pyproject.toml", "old_string": "broken = ", "new_string": "x = 1"}
    assert guarded.denies("Edit", edit)
    assert guarded.denies_command("sed -i s/broken/x/ broken/pyproject.toml")


def test_a_file_that_has_no_such_part_may_be_deleted(guarded):
    assert not guarded.denies("remove", {"path": "package/pyproject.toml"}, kind="delete")
    assert not guarded.denies("remove", {"path": "skills/plain/SKILL.md"}, kind="delete")
    assert guarded.denies("remove", {"path": "pyproject.toml"}, kind="delete")
    assert guarded.denies("remove", {"path": "skills/guarded/SKILL.md"}, kind="delete")


def test_the_reason_for_a_part_says_how_the_rest_can_be_changed(guarded):
    edit = {"file_path": "pyproject.toml", "old_string": '"closed"', "new_string": '"open"'}
    assert "The rest of the file may be changed" in guarded.call("Edit", edit).reason
    reason = guarded.call("Bash", {"command": "sed -i s/1/2/ pyproject.toml"}).reason
    assert "pyproject.toml cannot be seen" in reason
    assert "use a tool that edits or writes the file" in reason


# -- the gate among other hooks ----------------------------------------------------------------------------------------


def test_a_reason_says_what_was_denied(guarded):
    assert guarded.call("Bash", {"command": "agent-hooks trust"}).reason.startswith("`agent-hooks trust` is denied")
    assert "removing hookconf.py is denied" in guarded.call("Bash", {"command": "rm hookconf.py"}).reason


def test_nobody_switches_the_gate_off(guarded):
    (hook,) = [hook for hook in guarded.manager.describe() if hook.name == "agent_hooks.protection"]
    assert (hook.mode, hook.required, hook.on_failure, hook.source) == ("gate", True, "closed", "managed")


def test_a_call_that_another_hook_rewrites_is_judged_again(guarded):
    class Rewriting:
        @hookimpl
        def before_tool_use(self, ctx):
            if ctx.tool_args["command"] == "ls":
                return HookOutcome.update(tool_args={"command": "agent-hooks trust"})
            return None

    guarded.manager.register(Rewriting(), "rewriting")
    assert guarded.denies_command("ls")
    guarded.manager.unregister(name="rewriting")


def test_a_gate_that_fails_denies(guarded, monkeypatch):
    monkeypatch.setattr(guarded.gate.protected, "find", None)
    outcome = guarded.manager.hooks().run_sync(make_context(tool="Write", args={"file_path": "x"}))
    assert (outcome.decision, outcome.failed) == (Decision.DENY, True)


def test_by_default_the_folders_of_this_user_are_protected(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "s"))
    gate = Protection()
    for path in (tmp_path / "c" / "trust" / "x", tmp_path / "s" / "x", "/etc/agent-hooks/agent-hooks.toml"):
        ctx = make_context(tool="Write", args={"file_path": str(path), "content": ""})
        assert (gate.before_tool_use(ctx) is not None) is (sys.platform == "linux" or not str(path).startswith("/etc"))


@given(st.text(alphabet=st.sampled_from("a'\"\\$`(){}<>|&;\n #*?=-~,[]!hookconf.pyrm tee.claude/\u00e9"), max_size=80))
def test_no_command_breaks_the_gate(command):
    gate = Protection(folders=["/nowhere/agent-hooks"])
    outcome = gate.before_tool_use(make_context(tool="Bash", args={"command": f"rm x; {command}"}))
    assert outcome is None or outcome.decision is Decision.DENY


@given(st.text(st.characters(), max_size=40), st.sampled_from(["Write", "mcp__x__write", "Bash"]))
def test_no_path_breaks_the_gate(path, tool):
    gate = Protection(folders=["/nowhere/agent-hooks"])
    args = {"file_path": path, "command": f"cp x {path}"}
    outcome = gate.before_tool_use(make_context(tool=tool, args=args, cwd=os.getcwd()))
    assert outcome is None or outcome.decision is Decision.DENY


@pytest.mark.parametrize(
    "command",
    [
        "rm " + "{a,b}" * 40,
        "rm {" + "," * 50_000,
        "a=x; " + "a=$a$a; " * 100 + "rm $a",
        "sh -c '" * 200 + "rm x",
        "echo " + "$(" * 20_000 + " > x",
        "rm " + '"' + "\\" * 50_000,
        "rm x " + "| sh " * 2_000,
        "python -c '" + "(" * 20_000 + "hookconf.py'",
        "rm " + "a" * 200_000,
        "echo " + "$(a) " * 20_000 + " > x",
        "echo " + "$(echo $(echo " * 3_000 + "))" * 3_000 + " > x",
        "cat " + "<(a) " * 20_000 + " > x",
        "env " + '"$a" ' * 20_000 + "trust agent-hooks",
        "find . " + "-name 'a*b' " * 2_000 + "-delete",
        "".join(f"alias a{i + 1}='a{i} a{i}'; " for i in range(1_000)) + "a1000 > x",
    ],
    ids=range(15),
)
def test_a_command_made_to_take_forever_gets_an_answer(guarded, command):
    assert guarded.call("Bash", {"command": command}).decision in (Decision.DENY, Decision.PROCEED)


def test_what_is_ordinary_imports_nothing_heavy():
    program = (
        "import sys; from agent_hooks.trust.gate import Protection; from agent_hooks.testing import make_context\n"
        "before = set(sys.modules); gate = Protection(folders=['/nowhere'])\n"
        "calls = [('Bash', {'command': 'git status && pytest -q 2>&1 | tail'}), ('Edit', {'file_path': '/x/a.py'})]\n"
        "contexts = [make_context(tool=tool, args=args) for tool, args in calls]\n"
        "assert [gate.before_tool_use(ctx) for ctx in contexts] == [None, None]\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("tool", "args", "is_denied"),
    [
        ("mcp__fs__call", {"payload": '{"path": "~/.claude/settings.json", "content": "{}"}'}, True),
        ("mcp__x__batch", {"steps": '[{"tool": "write", "args": {"file": "hookconf.py"}}]'}, True),
        ("mcp__x__batch", {"steps": '[{"tool": "write", "args": {"file": "src/app.py"}}]'}, False),
        ("mcp__gh__create_issue", {"body": '{"about": "hookconf.py"}'}, False),
        ("mcp__fs__read_file", {"payload": '{"path": "hookconf.py"}'}, False),
        ("mcp__x__call", {"payload": "{not json"}, False),
    ],
)
def test_paths_in_a_json_text_count(guarded, tool, args, is_denied):
    assert guarded.denies(tool, args) == is_denied
