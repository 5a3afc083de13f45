"""The built-in protection and the guards together, and paths of any text: also such as no file can have for a name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about, project
from terminal import answer

from agent_hooks import HookManager
from agent_hooks.trust.gate import Protection

pytestmark = pytest.mark.interpreter

HALF = "\ud800"
TEXTS = st.text(st.characters(), max_size=6) | st.sampled_from(
    [HALF, "\udc80", "\0", f"~{HALF}", "~\0", f"${{{HALF}}}", f"*{HALF}/*", ""]
)
PATHS = st.builds("{}{}{}".format, st.sampled_from(["", "/", "~/", "a/", "/tmp/", "link/"]), TEXTS, TEXTS)
CALLS = {
    "Read": ("read", lambda path, _: {"file_path": path}),
    "Write": ("write", lambda path, other: {"file_path": path, "content": other}),
    "Edit": ("edit", lambda path, other: {"file_path": path, "old_string": "a", "new_string": other}),
    "Grep": ("search", lambda path, other: {"path": path, "pattern": other}),
    "Delete": ("delete", lambda path, _: {"path": path}),
    "WebFetch": ("fetch", lambda path, other: {"url": f"https://{path}", "prompt": other}),
    "mcp__x__do": ("mcp", lambda path, other: {"path": path, "cwd": other, "uri": f"file://{path}"}),
    "other": ("other", lambda path, other: {"path": path, other: [other]}),
}
COMMANDS = (
    "echo x > {}", "rm -rf {}", "mv {} {}", "cp -r {}/ {}", "cd {} && rm -rf {}", "find {} -name {} -delete",
    "git -C {} checkout {}", "ln -s {} {}", "cat {} | sh", "sed -i s/a/b/ {}", "python -c 'open({!r}, {!r})'", "{} {}",
    "tar xf {} -C {}", "git apply {}", "chmod -R 777 {}", "export A={}; rm $A", "source {}", "git push {} {}",
)  # fmt: skip


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    top = tmp_path_factory.mktemp("any")
    folder = project(top / "p", "[tool.agent_hooks.guards.shell]\nlevel = 'strict'\n[tool.agent_hooks.guards.audit]\n")
    (top / "p" / "link").symlink_to(top)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENT_HOOKS_STATE_DIR", str(top / "state"))
        manager = HookManager()
        manager.register(Protection([f"{folder}/pyproject.toml"]), "agent_hooks.protection", source="managed")
        view = manager.hooks(ask="host")

        def judged(name, kind, args, cwd=folder):
            outcome = view.dispatch_sync(about(name, kind=kind, args=args, cwd=cwd, project_dir=folder))
            assert not outcome.failed, outcome.reason
            return outcome

        yield judged


@given(st.sampled_from(sorted(CALLS)), PATHS, PATHS)
def test_no_path_of_a_tool_makes_a_hook_fail(ask, name, path, other):
    kind, args = CALLS[name]
    assert ask(name, kind, args(path, other)).decision in ("proceed", "ask", "deny")


@given(st.sampled_from(COMMANDS), PATHS, PATHS)
def test_no_path_of_a_command_makes_a_hook_fail(ask, command, path, other):
    assert ask("Bash", "shell", {"command": command.format(path, other)}).decision in ("proceed", "ask", "deny")


@given(PATHS)
def test_no_working_folder_makes_a_hook_fail(ask, cwd):
    assert ask("Bash", "shell", {"command": "echo x > a; rm -rf b"}, cwd).decision in ("proceed", "ask", "deny")
    assert ask("Write", "write", {"file_path": "a", "content": ""}, cwd).decision in ("proceed", "ask", "deny")


@pytest.mark.parametrize(
    ("tool", "args", "decision"),
    [
        ("Bash", {"command": f"echo x > a{HALF}"}, ""),
        ("Bash", {"command": f"rm -rf / {HALF}"}, "deny"),
        ("Bash", {"command": f"mv {HALF} y"}, ""),
        ("Bash", {"command": f"rm -rf {HALF}/.claude/settings.json"}, "deny"),
        ("Write", {"file_path": HALF, "content": "x"}, "deny"),
        ("Read", {"file_path": f"/tmp/{HALF}/x"}, "deny"),
    ],
)
def test_a_host_is_answered_about_a_path_that_no_file_can_have(tmp_path, tool, args, decision):
    folder = project(tmp_path / "p", "")
    done = answer(folder, tool, args)
    assert "Error" not in done.stdout + done.stderr
    said = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
    assert said.get("permissionDecision", "") == decision
