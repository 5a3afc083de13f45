"""The guards in the engine: installed and configured, registered as objects, and as actions of registrations."""

from __future__ import annotations

import asyncio
import json

import pytest
from making import about, project, run_all

from agent_hooks import GUARD, HookConfigLoader, HookContext, HookManager, HookOutcome, HookRegistration, hookimpl
from agent_hooks.system.store import Store
from agent_hooks_guards import ArgumentPattern, AuditTrail, RateLimit, RoleAccess, ToolAllowlist, ToolBlocklist

SETTINGS = """
[[tool.agent_hooks.guards.blocklist]]
tools = ["fetch"]
[[tool.agent_hooks.guards.arguments]]
matcher = "shell"
field = "command"
pattern = 'git\\s+push'
decision = "ask"
message = "Push?"
[[tool.agent_hooks.guards.rate_limit]]
max_calls = 3
[tool.agent_hooks.guards.audit]
results = true
"""


def hooks(*plugins, load_plugins=False, ask=None):
    manager = HookManager(load_plugins=load_plugins)
    for plugin in plugins:
        manager.register(plugin)
    return manager.hooks(ask=ask)


def audited(folder):
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]


# -- installed and configured ------------------------------------------------------------------------------------------


def test_the_installed_plugin_holds_what_a_project_says(tmp_path, state_folder):
    folder = project(tmp_path / "p", SETTINGS)
    view = hooks(load_plugins=True, ask="host")
    denied = view.dispatch_sync(about("WebFetch", kind="fetch", cwd=folder, session_id="s"))
    assert (denied.decision, denied.hook, denied.failed) == ("deny", "guards.before_tool_use", False)
    denied_by = f"[{folder}/pyproject.toml:5]"
    assert denied.reason == f'Tool "WebFetch" is not permitted in this environment. {denied_by}'
    asked = view.dispatch_sync(about(kind="shell", args={"command": "git push"}, cwd=folder, session_id="s"))
    assert (asked.decision, asked.reason) == ("ask", f"Push? [{folder}/pyproject.toml:7]")
    passed = [view.dispatch_sync(about(kind="read", cwd=folder, session_id="s")) for _ in range(3)]
    assert [str(outcome.decision) for outcome in passed] == ["proceed", "proceed", "deny"]
    assert passed[-1].reason.startswith("Rate limit exceeded: 4/3 tool calls. [")
    assert [(line["tool"], line["decision"], line["blocked"]) for line in audited(state_folder)] == [
        ("WebFetch", "deny", True),
        ("Bash", "ask", False),
        ("Bash", "proceed", False),
        ("Bash", "proceed", False),
        ("Bash", "deny", True),
    ]
    assert audited(state_folder)[0]["hook"] == "guards.before_tool_use"


def test_the_installed_plugin_does_nothing_elsewhere(tmp_path, state_folder):
    outcome = hooks(load_plugins=True).dispatch_sync(about("WebFetch", kind="fetch", cwd=str(tmp_path)))
    assert (outcome.decision, outcome.findings) == ("proceed", ())
    assert not state_folder.exists()


def test_wrong_settings_deny_and_say_what_is_wrong(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nblocklst = []\n")
    outcome = hooks(load_plugins=True).dispatch_sync(about(cwd=folder))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "guards.before_tool_use" in outcome.reason
    assert f"{folder}/pyproject.toml" in outcome.reason
    assert "tool.agent_hooks.guards.blocklst is not a key here" in outcome.reason
    assert outcome.findings == ()  # the audit hook does not say it again


def test_without_a_home_folder_only_what_must_be_counted_is_denied(tmp_path, monkeypatch):
    """A rule about tools needs no state, and a trail that cannot be written blocks nothing."""
    rules = SETTINGS.replace("max_calls = 3", 'max_calls = 3\nmatcher = "read"')
    folder, view = (
        project(tmp_path / "p", rules.partition("[tool.agent_hooks.guards.audit]")[0]),
        hooks(load_plugins=True),
    )
    (tmp_path / "config" / "agent-hooks.toml").write_text("[guards.audit]\npath = '~/a.jsonl'\n")
    monkeypatch.delenv("AGENT_HOOKS_STATE_DIR")
    monkeypatch.setattr("platformdirs.user_state_dir", lambda *_args, **_kwargs: "~/agent-hooks")
    monkeypatch.setenv("HOME", "relative")
    passed = view.dispatch_sync(about(kind="edit", cwd=folder))
    assert (passed.decision, [finding.kind for finding in passed.findings]) == ("proceed", ["failure"])
    assert view.dispatch_sync(about("WebFetch", kind="fetch", cwd=folder)).failed is False
    counted = view.dispatch_sync(about(kind="read", cwd=folder))
    assert (counted.decision, counted.failed) == ("deny", True)
    assert "set AGENT_HOOKS_STATE_DIR" in counted.reason


def test_a_host_without_sessions_is_limited_across_its_processes(tmp_path):
    folder = project(tmp_path / "p", SETTINGS)
    call = CALL.replace('session_id="s", ', "").replace("range(20)", "range(2)")
    assert [text.split() for _ in range(2) for text in run_all(call, 1, folder)] == [
        ["proceed", "proceed"],
        ["proceed", "deny"],
    ]


def test_a_store_that_cannot_be_used_denies(tmp_path, state_folder):
    state_folder.mkdir()
    (state_folder / "store.sqlite3").write_bytes(b"not a database" * 100)
    outcome = hooks(load_plugins=True).dispatch_sync(
        about(kind="read", cwd=project(tmp_path / "p", SETTINGS), session_id="s")
    )
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "store.sqlite3 cannot be used" in outcome.reason


CALL = """
import sys
from agent_hooks import HookConfigLoader, HookContext, ToolCall
view = HookConfigLoader(sys.argv[1]).load().hooks()
for _ in range(20):
    ctx = HookContext("before_tool_use", tool_call=ToolCall("x", kind="read"), session_id="s", cwd=sys.argv[1])
    print(view.dispatch_sync(ctx).decision)
"""


def test_two_processes_share_the_limit_and_the_audit_trail_of_a_project(tmp_path, state_folder):
    folder = project(tmp_path / "p", SETTINGS.replace("max_calls = 3", "max_calls = 25"))
    decisions = [line for text in run_all(CALL, 2, folder) for line in text.split()]
    assert sorted(decisions) == ["deny"] * 15 + ["proceed"] * 25
    assert sorted(line["decision"] for line in audited(state_folder)) == sorted(decisions)


# -- as plugins registered in code -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "guard",
    [
        ToolBlocklist(["shell"]),
        ToolAllowlist(["read"]),
        ArgumentPattern("command", "rm"),
        RateLimit(0),
        RoleAccess(["shell"]),
    ],
    ids=lambda guard: type(guard).__name__,
)
def test_a_guard_is_a_plugin(guard):
    manager = HookManager(load_plugins=False)
    name = manager.register(guard)
    manager.check_pending()
    (hook,) = manager.describe("before_tool_use")
    assert (hook.priority, hook.mode, hook.on_failure, hook.plugin) == (GUARD, "gate", "closed", type(guard).__name__)
    outcome = manager.hooks().dispatch_sync(about(kind="shell", args={"command": "rm x"}))
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", False, f"{name}.before_tool_use")


def test_guards_in_code_work_together_in_a_running_loop():
    view = hooks(
        ToolAllowlist(["read", "shell"]), ArgumentPattern("command", "sudo"), ToolBlocklist(["tee"]), RateLimit(2)
    )

    async def run():
        calls = [about(kind="shell", args={"command": c}, session_id="s") for c in ("ls", "sudo ls", "ls", "ls")]
        return [str((await view.dispatch(ctx)).decision) for ctx in calls]

    assert asyncio.run(run()) == ["proceed", "deny", "proceed", "deny"]


def test_the_audit_trail_records_what_was_decided_after_all(tmp_path):
    """It sees the deny of a hook that comes after it, and the arguments as the last hook left them."""

    class Later:
        @hookimpl
        def before_tool_use(self, tool_call):
            if tool_call.name == "Bash":
                return HookOutcome.deny("Not today.")
            return HookOutcome.update(tool_args={"rewritten": True})

    view = hooks(AuditTrail(tmp_path / "audit.jsonl"), Later())
    view.dispatch_sync(about("Bash", args={"command": "ls"}))
    view.dispatch_sync(about("Read", args={"path": "x"}))
    assert [
        (line["tool"], line["decision"], line["reason"], line["hook"], line["args"]) for line in audited(tmp_path)
    ] == [
        ("Bash", "deny", "Not today.", "Later.before_tool_use", {"command": "ls"}),
        ("Read", "proceed", "", None, {"rewritten": True}),
    ]


def test_an_audit_trail_that_cannot_be_written_blocks_nothing_and_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = hooks(AuditTrail(tmp_path / "file" / "audit.jsonl")).dispatch_sync(about())
    assert outcome.decision == "proceed"
    assert [finding.kind for finding in outcome.findings] == ["failure"]


def test_a_call_that_another_hook_rewrites_counts_once():
    class Rewrite:
        @hookimpl
        def before_tool_use(self, tool_call):
            return HookOutcome.update(tool_args={"command": "ls -l"})

    view = hooks(RateLimit(2), Rewrite())
    calls = [view.dispatch_sync(about(kind="shell", args={"command": "ls"}, session_id="s")) for _ in range(3)]
    assert [str(outcome.decision) for outcome in calls] == ["proceed", "proceed", "deny"]


def test_a_rewrite_cannot_slip_past_an_argument_pattern():
    class Rewrite:
        @hookimpl
        def before_tool_use(self, tool_call):
            return HookOutcome.update(tool_args={"command": "sudo ls"})

    outcome = hooks(ArgumentPattern("command", "sudo"), Rewrite()).dispatch_sync(
        about(kind="shell", args={"command": "ls"})
    )
    assert (outcome.decision, outcome.failed) == ("deny", False)


# -- as actions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "guard",
    [
        ToolBlocklist(["shell"]),
        ToolAllowlist(["read"]),
        ArgumentPattern("command", "rm"),
        RateLimit(0),
        RoleAccess(["shell"]),
    ],
    ids=lambda guard: type(guard).__name__,
)
def test_a_guard_is_an_action(guard):
    manager = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="before_tool_use", action=guard, priority=GUARD, mode="gate"))
    outcome = manager.hooks().dispatch_sync(about(kind="shell", args={"command": "rm x"}))
    assert (outcome.decision, outcome.failed) == ("deny", False)


def test_an_audit_trail_is_an_action_of_an_observer(tmp_path):
    manager = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="before_tool_use", action=AuditTrail(tmp_path / "audit.jsonl"), mode="observe"))
    manager.add(HookRegistration(event="before_tool_use", action=ToolBlocklist(["Bash"])))
    manager.hooks().dispatch_sync(about("Bash"))
    assert [(line["decision"], line["blocked"]) for line in audited(tmp_path)] == [("deny", True)]


def test_an_audit_trail_that_could_not_know_the_decision_fails_loudly(tmp_path):
    manager = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="before_tool_use", action=AuditTrail(tmp_path / "audit.jsonl")))
    outcome = manager.hooks().dispatch_sync(about())
    assert outcome.decision == "deny"
    assert 'mode="observe"' in outcome.reason


def test_a_guard_on_an_event_without_a_tool_call_fails_loudly():
    manager = HookManager(load_plugins=False)
    manager.add(HookRegistration(event="user_input", action=ToolBlocklist(["x"])))
    outcome = manager.hooks().dispatch_sync(HookContext("user_input", prompt="Hello"))
    assert outcome.decision == "deny"
    assert "register it on before_tool_use" in outcome.reason


def test_a_limit_in_code_may_be_shared_by_processes(tmp_path):
    first, second = (hooks(RateLimit(2, store=Store(tmp_path / "store.sqlite3"))) for _ in range(2))
    decisions = [str(view.dispatch_sync(about(session_id="s")).decision) for view in (first, second, first)]
    assert decisions == ["proceed", "proceed", "deny"]


# -- the machine's settings --------------------------------------------------------------------------------------------

USERS = {
    "disabled": 'disabled = ["guards"]\n',
    "shadow": "[policy]\nshadow = true\n",
    "failures": '[policy]\non_gate_failure = "open"\nallow_shell = false\n',
    "level": "[guards.shell]\nlevel = 'off'\n[guards.paths]\nlevel = 'off'\n",
    "rule": "[guards.shell.rules]\nfiles = 'off'\n",
    "exception": "[[guards.allow]]\nrule = 'files-delete-home'\ncommand = 'rm -rf ~'\n",
    "variable": "",
}


@pytest.mark.parametrize("attempt", USERS)
def test_no_switch_of_a_user_reaches_what_the_machine_asks_of_the_guards(tmp_path, monkeypatch, attempt):
    for folder, text in (
        ("managed", '[[guards.blocklist]]\ntools = ["fetch"]\n[guards.shell]\nlevel = "standard"\n'),
        ("config", USERS[attempt]),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent-hooks.toml").write_text(text)
    if attempt == "variable":
        monkeypatch.setenv("AGENT_HOOKS_DISABLE", "guards")
    view = HookConfigLoader(tmp_path / "elsewhere").load().hooks()
    cwd = str(tmp_path / "elsewhere")
    assert view.dispatch_sync(about("WebFetch", kind="fetch", cwd=cwd)).decision == "deny"
    assert view.dispatch_sync(about("Bash", kind="shell", args={"command": "rm -rf ~"}, cwd=cwd)).decision == "deny"
    assert view.dispatch_sync(about("Bash", kind="shell", args={"command": "ls"}, cwd=cwd)).decision == "proceed"
