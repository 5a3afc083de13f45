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
from tables import rows, tables

TABLES = tables(__file__)
PROTECTED, FREE = TABLES["paths"]["protected"], TABLES["paths"]["other"].splitlines()


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
@pytest.mark.parametrize(("tool", "kind"), TABLES["paths"]["readers"])
def test_reading_is_free(guarded, tool, kind, path):
    assert not guarded.denies(tool, {"file_path": path, "path": path}, kind=kind or None)


@pytest.mark.parametrize(("tool", "args", "kind"), rows(TABLES["denied"]))
def test_no_call_writes_what_decides(guarded, tool, args, kind):
    assert guarded.denies(tool, args, kind=kind or None)


@pytest.mark.parametrize(("tool", "args", "kind"), rows(TABLES["allowed"]))
def test_a_call_that_writes_nothing_of_it_goes_through(guarded, tool, args, kind):
    assert not guarded.denies(tool, args, kind=kind or None)


@pytest.mark.parametrize("kind", ["write", "delete", "other", "mcp"])
@pytest.mark.parametrize("path", ["./hookconf.py", ".claude/settings.json", "~/.config/agent-hooks/agent-hooks.toml"])
@pytest.mark.parametrize(
    "args", [{"out": "PATH"}, {"x": "PATH"}, {"to": ["a", {"where": "PATH"}]}, {"changes": {"PATH": "text"}}], ids=str
)
def test_a_path_is_one_under_any_key(guarded, kind, path, args):
    given = json.loads(json.dumps(args).replace("PATH", path))
    assert guarded.denies("save", given, kind=kind)


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
