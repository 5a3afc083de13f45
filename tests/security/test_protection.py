"""An agent that wants its own rules: it cannot trust, switch off or write what decides about it."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookOutcome, ToolCall, hookimpl
from agent_hooks.sources.files import ClaudeSource
from tables import tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Victim

TABLES = tables(__file__)


@pytest.fixture
def trusted(victim: Victim) -> Victim:
    victim.lay(TABLES["trusted"])
    (victim.repo / "notes.json").symlink_to(".claude/settings.local.json")
    (victim.repo / "docs").symlink_to(".claude")
    (victim.repo / "innocent.sh").symlink_to("hooks/check.sh")
    victim.trust()
    victim.environment["AGENT_HOOKS_STATE_DIR"] = str(victim.home / "state")
    return victim


def is_denied(victim: Victim, tool: str, arguments: dict[str, Any], agent: str = "claude-code") -> bool:
    places = {"{repo}": victim.repo, "{home}": victim.home, "{managed}": ClaudeSource("managed").folder}
    given = dict(arguments)
    for name, place in places.items():
        given = {key: value.replace(name, str(place)) for key, value in given.items()}
    outcome = victim.asked(agent=agent, tool_name=tool, tool_input=given)
    if outcome.decision == "proceed":
        return False
    assert (outcome.decision, outcome.hook) == ("deny", "agent_hooks.protection")
    assert "denied" in outcome.reason
    assert "person" in outcome.reason or "KiB" in outcome.reason
    return True


@pytest.mark.parametrize("name", TABLES["commands"])
def test_an_agent_cannot_grant_itself_anything_in_a_shell(trusted: Victim, name: str):
    assert is_denied(trusted, "Bash", {"command": TABLES["commands"][name]})


def test_a_command_that_is_too_long_to_see_is_denied(trusted: Victim):
    assert is_denied(trusted, "Bash", {"command": "echo > " + "a" * 200_000 + " hookconf.py"})


@pytest.mark.parametrize("name", TABLES["writes"])
def test_an_agent_cannot_write_what_decides_about_it(trusted: Victim, name: str):
    assert is_denied(trusted, *TABLES["writes"][name])


@pytest.fixture
def scripted(victim: Victim) -> Victim:
    victim.lay(TABLES["scripted"])
    victim.write_own("guards/gate.py", "")
    victim.write_own(".config/agent-hooks/agent-hooks.toml", victim.table(f"python3 {victim.home}/guards/gate.py"))
    victim.trust()
    return victim


@pytest.mark.parametrize("name", TABLES["modules"])
def test_an_agent_cannot_put_a_module_of_pythons_own_beside_a_script(scripted: Victim, name: str):
    assert is_denied(scripted, *TABLES["modules"][name])


@pytest.mark.parametrize("path", TABLES["beside"])
def test_any_other_file_beside_a_script_may_be_written(scripted: Victim, path: str):
    assert not is_denied(scripted, "Write", {"file_path": f"{{repo}}/{path}", "content": ""})
    assert not is_denied(scripted, "Bash", {"command": f"mkdir -p hooks/json; echo > {path}"})


def test_a_module_beside_a_script_may_be_taken_away_again(scripted: Victim):
    assert not is_denied(scripted, "Bash", {"command": "mv hooks/json.py src/; rm -f hooks/json.py"})


@pytest.mark.parametrize("patch", TABLES["patches"])
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


@pytest.mark.parametrize(("tool", "arguments"), TABLES["honest"])
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
