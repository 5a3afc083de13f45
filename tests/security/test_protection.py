"""An agent that wants its own rules: it cannot trust, switch off or write what decides about it."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookOutcome, ToolCall, hookimpl
from agent_hooks.sources.files import ClaudeSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Victim

DIGEST = "sha256:" + "0" * 64
# What a shell would do, {repo} and {home} being the folders.
COMMANDS = {
    "trust": "agent-hooks trust",
    "trust_by_digest": f"agent-hooks trust --digest {DIGEST} .",
    "trust_with_yes": "yes | agent-hooks trust",
    "trust_in_a_pseudo_terminal": "script -qec 'agent-hooks trust' /dev/null <<< y",
    "trust_in_a_terminal_of_python": 'python3 -c \'import pty; pty.spawn(["agent-hooks", "trust"])\'',
    "trust_by_expect": "expect -c 'spawn agent-hooks trust; expect N; send y\\r'",
    "trust_in_tmux": "tmux new -d 'agent-hooks trust' && tmux send-keys y Enter",
    "trust_by_module": "python -m agent_hooks.cli.main trust .",
    "trust_by_the_library": "python3 -c 'from agent_hooks.trust import TrustStore; TrustStore().trust(p)'",
    "trust_with_another_store": "AGENT_HOOKS_CONFIG_DIR=/tmp/x agent-hooks trust",
    "trust_behind_a_substitution": "echo $(agent-hooks trust)",
    "trust_in_a_nested_shell": "bash -c \"sh -c 'agent-hooks  trust'\"",
    "trust_in_quotes": "'agent-hooks' \"trust\"",
    "trust_in_disguise": "agent-ho''oks tr\\ust",
    "trust_on_a_second_line": "make\nagent-hooks trust",
    "trust_by_its_path": f"$(which agent-hooks) trust --digest {DIGEST}",
    "trust_by_its_path_in_a_variable": "x=$(command -v agent-hooks); $x trust",
    "trust_by_the_code_of_the_command": "python -c 'from agent_hooks.cli.main import main; main()' trust",
    "trust_by_an_alias": "alias t='agent-hooks trust'; t",
    "trust_by_a_file_of_the_shell": "bash <(echo agent-hooks trust)",
    "trust_later": "at now <<< 'agent-hooks trust'",
    "trust_under_another_name": "ln -s $(which agent-hooks) /tmp/x",
    "untrust": "uvx agent-hooks untrust",
    "uninstall": "pip uninstall -y agent-hooks-core",
    "new_hookconf": "echo x > hookconf.py",
    "new_hookconf_in_a_new_folder": "mkdir -p a && printf x | tee a/hookconf.py",
    "new_settings": "cat > .claude/settings.json <<'EOF'\n{}\nEOF",
    "new_settings_after_a_change_of_folder": "cd .claude && cp /tmp/x settings.local.json",
    "settings_copied_in_a_folder": "cp -r other/. .claude/",
    "settings_moved_into_the_folder": "mv other/settings.json .claude/",
    "settings_removed": "rm -rf .claude",
    "settings_moved_away": "mv .claude .claude.old",
    "settings_from_another_commit": "git checkout evil -- .claude/settings.json",
    "settings_by_sed": "sed -i s/deny/allow/ agent-hooks.toml",
    "script_rewritten": "echo exit 0 > hooks/check.sh",
    "script_through_its_link": "echo exit 0 > innocent.sh",
    "script_not_executable": "chmod -x hooks/check.sh",
    "users_settings": "echo ignore >> {home}/.config/agent-hooks/agent-hooks.toml",
    "users_settings_by_home": "echo > ~/.config/agent-hooks/agent-hooks.toml",
    "trust_store": "cp evil.jsonl {home}/.config/agent-hooks/trust/x.jsonl",
    "trust_store_removed": "rm -r {home}/.config/agent-hooks",
    "settings_by_their_name_alone": "find . -name settings.json -delete",
    "users_claude_settings": "cp -r evil/.claude ~",
    "users_claude_settings_as_content": "rsync -a evil/.claude/ ~/.claude/",
    "users_claude_settings_from_an_archive": "unzip x.zip -d ~/.claude",
    "users_claude_settings_as_a_repository": "git clone https://example.com/x ~/.claude",
    "machines_claude_settings": "echo '{}' | sudo tee {managed}/managed-settings.json",
    "machines_claude_settings_beside": "cp x {managed}/managed-settings.d/x.json",
    "machines_claude_settings_removed": "rm -rf {managed}",
    "code_that_writes": "python3 - <<'EOF'\nopen('agent-hooks.toml', 'w').write('')\nEOF",
    "too_long_to_see": "echo > " + "a" * 200_000 + " hookconf.py",
}
# Calls of other tools, by name and arguments.
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "hookconf_that_does_not_exist": ("Write", {"file_path": "{repo}/src/hookconf.py", "content": "x"}),
    "settings_that_do_not_exist": ("Write", {"file_path": "{repo}/.claude/settings.local.json", "content": "{}"}),
    "settings_in_other_case": ("Write", {"file_path": "{repo}/.CLAUDE/Settings.JSON", "content": "{}"}),
    "settings_with_an_invisible_letter": ("Write", {"file_path": "{repo}/.cl\u200caude/settings.json", "content": ""}),
    "settings_with_a_dot_behind": ("Write", {"file_path": "{repo}/agent-hooks.toml.", "content": ""}),
    "settings_as_a_stream": ("Write", {"file_path": "{repo}/agent-hooks.toml::$DATA", "content": ""}),
    "settings_by_a_detour": ("Write", {"file_path": "{repo}/src/../.claude/./settings.json", "content": "{}"}),
    "settings_as_an_address": ("Write", {"file_path": "file://{repo}/agent-hooks%2Etoml", "content": ""}),
    "settings_behind_a_link": ("Write", {"file_path": "{repo}/notes.json", "content": "{}"}),
    "settings_behind_a_folders_link": ("Write", {"file_path": "{repo}/docs/settings.json", "content": "{}"}),
    "users_settings": ("Write", {"file_path": "{home}/.config/agent-hooks/agent-hooks.toml", "content": "ignore = []"}),
    "trust_store": ("Write", {"file_path": "{home}/.config/agent-hooks/trust/x.jsonl", "content": ""}),
    "state": ("Write", {"file_path": "{home}/state/x", "content": ""}),
    "script_of_a_hook": ("Edit", {"file_path": "{repo}/hooks/check.sh", "old_string": "exit", "new_string": "true"}),
    "module_of_a_hookconf": ("Edit", {"file_path": "{repo}/policies/shell.py", "old_string": "1", "new_string": "2"}),
    "table_in_pyproject": (
        "Edit",
        {
            "file_path": "{repo}/pyproject.toml",
            "old_string": "[project]",
            "new_string": "[tool.agent_hooks]\n[project]",
        },
    ),
    "hooks_in_a_skill": (
        "Write",
        {"file_path": "{repo}/.claude/skills/a/SKILL.md", "content": "---\nhooks: {}\n---\n"},
    ),
    "tool_of_a_server": ("mcp__fs__write_file", {"path": "{repo}/hookconf.py", "content": "x"}),
    "move_by_a_server": ("mcp__fs__move_file", {"source": "{repo}/x", "destination": "{repo}/hookconf.py"}),
    "folder_by_a_server": ("mcp__fs__delete", {"path": "{repo}/.claude"}),
    "machines_claude_settings": ("Write", {"file_path": "{managed}/managed-settings.json", "content": "{}"}),
    "machines_claude_settings_beside": ("Write", {"file_path": "{managed}/managed-settings.d/x.json", "content": "{}"}),
    "users_claude_settings": ("Write", {"file_path": "{home}/.claude/settings.json", "content": "{}"}),
    "code": ("execute_code", {"code": "import subprocess; subprocess.run(['agent-hooks', 'trust'])"}),
    "code_in_a_notebook": ("mcp__jupyter__execute_cell", {"source": "!agent-hooks trust"}),
    "terminal_of_a_server": ("mcp__term__send_keys", {"text": "agent-hooks trust\n"}),
}
PATCH = "*** Begin Patch\n*** Add File: src/hookconf.py\n+x = 1\n*** End Patch"
MOVE = "*** Begin Patch\n*** Update File: a.py\n*** Move to: hookconf.py\n@@\n-1\n+2\n*** End Patch"


# Beside a trusted script in Python, and beside a script of the user's: these would be imported by it.
MODULES: dict[str, tuple[str, dict[str, Any]]] = {
    "module": ("Write", {"file_path": "{repo}/hooks/json.py", "content": ""}),
    "module_beside_a_script_without_ending": ("Write", {"file_path": "{repo}/bin/re.py", "content": ""}),
    "compiled": ("Write", {"file_path": "{repo}/hooks/json.pyc", "content": ""}),
    "extension": ("Write", {"file_path": "{repo}/hooks/json.cpython-311-x86_64-linux-gnu.so", "content": ""}),
    "package": ("Write", {"file_path": "{repo}/hooks/json/__init__.py", "content": ""}),
    "by_a_server": ("mcp__fs__write_file", {"path": "{repo}/hooks/sys.py", "content": ""}),
    "beside_the_users_script": ("Write", {"file_path": "{home}/guards/json.py", "content": ""}),
    "redirection": ("Bash", {"command": "> hooks/json.py"}),
    "touched_package": ("Bash", {"command": "mkdir hooks/json && touch hooks/json/__init__.py"}),
    "in_the_folder": ("Bash", {"command": "cd hooks && cp ../a.py os.py"}),
    "copied_package": ("Bash", {"command": "cp -r package hooks/json"}),
    "moved_package": ("Bash", {"command": "mv package hooks/json"}),
    "code": ("Bash", {"command": "python3 -c \"open('hooks/json.py', 'w').write('')\""}),
}


@pytest.fixture
def trusted(victim: Victim) -> Victim:
    victim.write("hooks/check.sh", "#!/bin/sh\nexit 0\n", 0o755)
    victim.write("agent-hooks.toml", victim.table("hooks/check.sh"))
    victim.write("hookconf.py", 'agent_hooks_plugins = ["policies.shell"]\n')
    victim.write("policies/shell.py", "x = 1\n")
    victim.write("pyproject.toml", "[project]\nname = 'honest'\n")
    victim.write("a.py", "1\n")
    victim.write(".claude/settings.json", {})
    victim.write("other/settings.json", {})
    victim.write("evil/.claude/settings.json", {"disableAllHooks": True})
    (victim.repo / "notes.json").symlink_to(".claude/settings.local.json")
    (victim.repo / "docs").symlink_to(".claude")
    (victim.repo / "innocent.sh").symlink_to("hooks/check.sh")
    victim.trust()
    victim.environment["AGENT_HOOKS_STATE_DIR"] = str(victim.home / "state")
    return victim


def is_denied(victim: Victim, tool: str, arguments: dict[str, Any], agent: str = "claude-code") -> bool:
    def filled(value: Any) -> Any:
        is_text = isinstance(value, str)
        places = {"{repo}": victim.repo, "{home}": victim.home, "{managed}": ClaudeSource("managed").folder}
        for name, place in places.items() if is_text else ():
            value = value.replace(name, str(place))
        return value

    given = {key: filled(value) for key, value in arguments.items()}
    outcome = victim.asked(agent=agent, tool_name=tool, tool_input=given)
    if outcome.decision == "proceed":
        return False
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")
    assert "denied" in outcome.reason
    assert "person" in outcome.reason or "KiB" in outcome.reason
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_an_agent_cannot_grant_itself_anything_in_a_shell(trusted: Victim, name: str):
    assert is_denied(trusted, "Bash", {"command": COMMANDS[name]})


@pytest.mark.parametrize("name", WRITES)
def test_an_agent_cannot_write_what_decides_about_it(trusted: Victim, name: str):
    assert is_denied(trusted, *WRITES[name])


@pytest.fixture
def scripted(victim: Victim) -> Victim:
    victim.write("hooks/gate.py", "import json\n")
    victim.write("bin/gate", "#!/usr/bin/env python3\nimport re\n", 0o755)
    victim.write("shell/gate.sh", "#!/bin/sh\n", 0o755)
    commands = ("python3 hooks/gate.py", "python3 bin/gate", "sh shell/gate.sh")
    victim.write("agent-hooks.toml", "".join(map(victim.table, commands)))
    victim.write("hookconf.py", 'agent_hooks_plugins = ["policies.shell"]\n')
    victim.write("policies/shell.py", "x = 1\n")
    victim.write("a.py", "1\n")
    victim.write("package/__init__.py", "")
    victim.write_own("guards/gate.py", "")
    victim.write_own(".config/agent-hooks/agent-hooks.toml", victim.table(f"python3 {victim.home}/guards/gate.py"))
    victim.trust()
    return victim


@pytest.mark.parametrize("name", MODULES)
def test_an_agent_cannot_put_a_module_of_pythons_own_beside_a_script(scripted: Victim, name: str):
    assert is_denied(scripted, *MODULES[name])


@pytest.mark.parametrize(
    "path",
    "hooks/notes.py hooks/json.md hooks/jsonl.py hooks/json/notes.py hooks/tests/__init__.py hooks/data/json.py "
    "src/json.py json.py types.py policies/types.py shell/json.py".split(),
)
def test_any_other_file_beside_a_script_may_be_written(scripted: Victim, path: str):
    assert not is_denied(scripted, "Write", {"file_path": f"{{repo}}/{path}", "content": ""})
    assert not is_denied(scripted, "Bash", {"command": f"mkdir -p hooks/json; echo > {path}"})


def test_a_module_beside_a_script_may_be_taken_away_again(scripted: Victim):
    assert not is_denied(scripted, "Bash", {"command": "mv hooks/json.py src/; rm -f hooks/json.py"})


@pytest.mark.parametrize("patch", [PATCH, MOVE], ids=["adds", "moves"])
def test_an_agent_cannot_patch_what_decides_about_it(trusted: Victim, patch: str):
    assert is_denied(trusted, "apply_patch", {"command": patch}, agent="codex")


@pytest.mark.parametrize(
    "command",
    ["agent-hooks trust", "ln -s /tmp/evil .claude", "mv other .claude", "cp -r other .claude"],
)
def test_it_is_protected_too_where_nothing_was_ever_trusted(victim: Victim, command: str):
    victim.write("other/settings.json", {})
    assert is_denied(victim, "Bash", {"command": command})


def test_a_file_that_no_trust_covers_yet_cannot_be_made(victim: Victim):
    assert is_denied(victim, "Write", {"file_path": "{repo}/.claude/settings.json", "content": "{}"})


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_the_users_claude_settings_are_protected_wherever_they_would_be(
    victim: Victim, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(victim.home / "elsewhere"))
    assert is_denied(victim, "Write", {"file_path": f"{{home}}/elsewhere/{name}", "content": "{}"})
    assert is_denied(victim, "Bash", {"command": "git clone https://example.com/x ~/elsewhere"})
    assert not is_denied(victim, "Write", {"file_path": "{home}/elsewhere/CLAUDE.md", "content": ""})


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "agent-hooks check PreToolUse --tool Bash --arg command=make; agent-hooks doctor"}),
        ("Bash", {"command": "git add -A && git commit -m 'trust the hooks' && git push"}),
        ("Bash", {"command": "cat .claude/settings.json agent-hooks.toml | grep hook > /tmp/out"}),
        ("Bash", {"command": "pytest -q tests/ 2>&1 | tail -5"}),
        ("Write", {"file_path": "{repo}/src/webhooks.py", "content": "def hookconf(): ..."}),
        ("Edit", {"file_path": "{repo}/pyproject.toml", "old_string": "honest", "new_string": "better"}),
        ("Read", {"file_path": "{repo}/.claude/settings.json"}),
    ],
)
def test_honest_work_goes_on(trusted: Victim, tool: str, arguments: dict[str, Any]):
    assert not is_denied(trusted, tool, arguments)


def test_a_repository_made_by_the_agent_is_no_way_out_of_the_gates_around_it(victim: Victim):
    deny = "from agent_hooks import HookOutcome, hookimpl\n@hookimpl\ndef before_tool_use(ctx):\n"
    victim.write("hookconf.py", f"{deny}    return HookOutcome.deny('outer')\n")
    victim.trust()
    inner = victim.repo / "inner"
    (inner / ".git").mkdir(parents=True)
    answer = victim.run(cwd=inner)
    assert answer.denies
    assert "outer" in answer.reason


def test_the_real_command_denies_it_whatever_is_switched_off(trusted: Victim):
    trusted.write_own(".config/agent-hooks/agent-hooks.toml", 'disabled = ["agent_hooks.protection"]\n')
    everything = {"AGENT_HOOKS_DISABLE": "agent_hooks.protection,protection,*"}
    for agent in ("claude-code", "codex"):
        answer = trusted.run(agent=agent, tool_input={"command": "agent-hooks trust"}, env=everything)
        assert answer.denies
        assert "ask a person to do it in a terminal" in answer.reason


def asked_beside(
    victim: Victim, hook: Callable[..., Any], command: str = "agent-hooks trust", **options: Any
) -> HookOutcome:
    """What is decided about ``command`` where ``hook`` is asked as early as any, and each question is answered yes."""

    class Other:
        before_tool_use = staticmethod(hookimpl(tryfirst=True, priority=1_000_000, **options)(hook))

        @hookimpl
        def permission_request(self) -> HookOutcome:
            return HookOutcome.allow()

    manager, _ = victim.load()
    manager.register(Other(), source="user")
    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": command}), cwd=str(victim.repo))
    return manager.hooks(ask=lambda _ctx, _reason: True).dispatch_sync(ctx)


def raises(ctx: HookContext) -> None:
    raise RuntimeError("broken")


def waits(ctx: HookContext) -> None:
    sleep(0.2)


def leaves(ctx: HookContext) -> None:
    raise SystemExit(0)


EARLIER: dict[str, tuple[Callable[[HookContext], Any], dict[str, Any]]] = {
    "allows": (lambda ctx: HookOutcome.allow(), {}),
    "allows_finally": (lambda ctx: HookOutcome.allow(final=True), {}),
    "skips": (lambda ctx: HookOutcome.skip(), {}),
    "asks": (lambda ctx: HookOutcome.ask("May it?"), {}),
    "repeats_the_arguments": (lambda ctx: HookOutcome.update(tool_args=dict(ctx.tool_args)), {}),
    "adds_context": (lambda ctx: HookOutcome.update(context="It is fine."), {}),
    "answers_wrongly": (lambda ctx: 17, {"on_failure": "open"}),
    "fails": (raises, {"on_failure": "open"}),
    "asks_where_it_fails": (raises, {"on_failure": "ask"}),
    "ends_the_process": (leaves, {"on_failure": "open"}),
    "takes_too_long": (waits, {"timeout": 0.01, "on_failure": "open"}),
    "only_looks": (lambda ctx: HookOutcome.allow(final=True), {"mode": "observe"}),
}


@pytest.mark.parametrize("name", EARLIER)
def test_no_hook_that_is_asked_before_it_keeps_it_from_denying(victim: Victim, name: str):
    hook, options = EARLIER[name]
    outcome = asked_beside(victim, hook, **options)
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")


def test_no_wrapper_keeps_it_from_denying(victim: Victim):
    def around(ctx: HookContext) -> Any:
        yield
        return HookOutcome.allow(final=True)

    assert asked_beside(victim, around, wrapper=True).decision == "deny"


def test_it_judges_what_a_rewrite_has_made_of_the_call(victim: Victim):
    def rewrite(ctx: HookContext) -> HookOutcome:
        return HookOutcome.update(tool_args={"command": "agent-hooks trust"})

    outcome = asked_beside(victim, rewrite, "make")
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")


def test_who_resumes_a_call_that_waits_meets_it(victim: Victim):
    class Waiting:
        @hookimpl(tryfirst=True, priority=1_000_000)
        def before_tool_use(self) -> HookOutcome:
            return HookOutcome.suspend("Somebody must look.")

    manager, _ = victim.load()
    manager.register(Waiting(), source="user")
    hooks = manager.hooks()
    call = ToolCall("Bash", {"command": "agent-hooks trust"})
    waiting = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=call, cwd=str(victim.repo)))
    assert waiting.decision == "suspend"
    assert waiting.token
    outcome = hooks.resume_sync(waiting.token, HookOutcome.allow(final=True))
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")


def test_a_hook_that_ends_the_process_of_the_real_command_does_not_let_it_through(victim: Victim):
    victim.install("import os\n@hookimpl(tryfirst=True)\ndef before_tool_use(ctx):\n    os._exit(0)\n")
    assert victim.run(tool_input={"command": "agent-hooks trust"}).denies


def test_a_rule_about_the_call_itself_is_what_the_agent_reads(victim: Victim):
    def guard(ctx: HookContext) -> HookOutcome:
        return HookOutcome.deny("It deletes a whole home. Instead: name one file.")

    outcome = asked_beside(victim, guard, "rm -rf ~", mode="gate")
    assert outcome.reason == "It deletes a whole home. Instead: name one file."


@pytest.mark.parametrize("command", ["rm -rf ~", "mv ~ /tmp/x", "find ~ -delete", "rm -rf {home}/.."])
def test_what_is_around_the_files_of_hooks_is_not_taken_away_and_the_reason_says_what_to_do(
    victim: Victim, command: str
):
    outcome = victim.asked(tool_input={"command": command.format(home=victim.home)})
    assert outcome.decision == "deny"
    assert "hooks, or decides about them, is in it" in outcome.reason
    assert "Name the files in it that are meant" in outcome.reason


@pytest.mark.parametrize("detour", [10, 1_000, 100_000])
def test_a_path_of_any_length_is_judged_and_shown_short(victim: Victim, detour: int):
    path = f"{victim.repo}/" + "a/../" * detour + "hookconf.py"
    outcome = victim.asked(tool_name="Write", tool_input={"file_path": path, "content": ""})
    assert outcome.decision == "deny"
    assert "hookconf.py is denied to agents" in outcome.reason
    assert len(outcome.reason) < 500
    long = victim.asked(tool_name="Write", tool_input={"file_path": "a/" * 200_000, "content": ""})
    assert long.decision == "proceed"
