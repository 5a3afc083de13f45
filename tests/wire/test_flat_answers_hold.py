"""Whatever a hook decides, Copilot CLI, VS Code, Cursor and OpenCode do that and nothing laxer.

They are played by `flat_clients.py`; each outcome is put to every recorded and documented payload.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.model.outcome import BLOCKING, Decision, HookOutcome
from agent_hooks.wire import HOSTS, Answer
from wire.flat_clients import CLIENTS
from wire.golden_files import GOLDEN, payloads, unnamed

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from wire.clients import Effect

DECISIONS = [getattr(Decision, name) for name in vars(Decision) if name.isupper()]
REWRITES: tuple[dict[str, Any], ...] = ({"command": "ls"}, {"path": "/b", "file_text": "x"}, {})
# Events at which a refusal holds, by their name here; the others say that it does not.
REFUSABLE = {
    "copilot": {"user_input", "before_tool_use", "permission_request", "after_tool_use"},
    "vscode": {"user_input", "before_tool_use"},
    "cursor": {"user_input", "before_tool_use", "before_subagent"},
    "opencode": {"user_input", "before_tool_use", "permission_request", "after_tool_use", "before_compact"},
}
STOPS = {"on_stop", "after_subagent"}

hosts = pytest.mark.parametrize("host", CLIENTS)
decisions = pytest.mark.parametrize("decision", DECISIONS)


def contexts(host: str, *events: str) -> list[HookContext]:
    read = [HOSTS[host].read(payload) for payload in payloads(host).values()]
    read += [HOSTS[host].read(payload, event) for payload, event in unnamed(host).values()]
    found = [ctx for ctx in read if not events or str(ctx.event) in events]
    assert found or not events
    return found


def effect(host: str, ctx: HookContext, answer: Answer) -> Effect:
    assert answer.stdout.isascii()
    answer.stderr.encode()
    assert answer.exit_code == 0 or str(ctx.event) not in STOPS or host == "opencode"
    return CLIENTS[host](ctx.host_event, answer.stdout, answer.stderr, answer.exit_code)


def by_exit_code(host: str, ctx: HookContext) -> bool:
    """Whether it is Cursor with a hook of Claude Code's files, where the exit code is all that surely counts."""
    return host == "cursor" and ctx.host_event[0].isupper()


MEASURED = json.loads((GOLDEN / "copilot.measured.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: case["name"])
def test_the_reader_does_what_copilot_was_seen_to_do(case):
    done = CLIENTS["copilot"](case["event"], case["stdout"], "", case["exit_code"])
    assert {key: getattr(done, key) for key in case["effect"]} == case["effect"]


@hosts
@decisions
@pytest.mark.parametrize("ask", ["deny", "host"])
def test_a_tool_runs_only_if_nothing_objects(host, decision, ask):
    for ctx in contexts(host, "before_tool_use"):
        outcome = HookOutcome(decision=decision, reason="a reason", context="a context")
        done = effect(host, ctx, HOSTS[host].write(outcome, ctx, ask=ask))
        if decision in BLOCKING:
            assert done.happens == "no"
            assert "a reason" in done.told
            assert host == "cursor" or done.ends == (decision is Decision.STOP and host != "copilot")
        elif decision is Decision.ASK:
            may_be_left = ask == "host" and not by_exit_code(host, ctx)
            expected = "asked" if HOSTS[host].can_ask(ctx) else "yes" if may_be_left else "no"
            assert done.happens == expected
        else:
            assert (done.happens, done.args, done.ends) == ("yes", None, False)


@hosts
@decisions
@pytest.mark.parametrize("args", REWRITES)
@pytest.mark.parametrize("ask", ["deny", "host"])
def test_a_rewrite_never_runs_the_original(host, decision, args, ask):
    for ctx in contexts(host, "before_tool_use"):
        outcome = HookOutcome(decision=decision, reason="a reason", tool_args=args)
        done = effect(host, ctx, HOSTS[host].write(outcome, ctx, ask=ask))
        assert done.happens in ("no", "changed")
        if done.happens == "changed":
            assert (decision, done.args) == (Decision.ALLOW, args)
        elif decision in (Decision.PROCEED, Decision.ALLOW):
            assert json.dumps(args) in done.told


def test_an_allowed_rewrite_is_applied_where_the_host_can():
    applied = {
        (host, ctx.host_event, ctx.tool_name)
        for host in CLIENTS
        for ctx in contexts(host, "before_tool_use")
        if effect(host, ctx, HOSTS[host].write(HookOutcome.allow(tool_args={"a": 1}), ctx)).happens == "changed"
    }
    tools = {
        (host, ctx.host_event, ctx.tool_name)
        for host in CLIENTS
        for ctx in contexts(host, "before_tool_use")
        if not ctx.host_event.startswith("before") and not by_exit_code(host, ctx)
        if (host, ctx.tool_name) != ("copilot", "apply_patch")
    }
    assert applied == tools


@hosts
@decisions
def test_a_permission_is_given_only_by_an_allow(host, decision):
    if host in ("vscode", "cursor"):
        assert "permission_request" not in {str(ctx.event) for ctx in contexts(host)}  # they have no such event
        return
    for ctx in contexts(host, "permission_request"):
        outcome = HookOutcome(decision=decision, reason="a reason")
        done = effect(host, ctx, HOSTS[host].write(outcome, ctx))
        assert done.happens == ("no" if decision in BLOCKING else "yes" if decision is Decision.ALLOW else "asked")
        assert done.ends == (decision is Decision.STOP and host == "copilot")


@hosts
@decisions
@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("failed", [False, True])
def test_an_agent_works_on_only_if_a_hook_wants_it_to(host, decision, active, failed):
    for ctx in contexts(host, "on_stop", "after_subagent"):
        ctx = ctx.replace(stop_hook_active=active)
        outcome = HookOutcome(decision=decision, reason="a reason", context="a context", failed=failed)
        done = effect(host, ctx, HOSTS[host].write(outcome, ctx))
        wanted = decision is Decision.FORCE_CONTINUE
        if decision is Decision.DENY:
            wanted = ctx.event == "on_stop" or not active
        wanted = wanted and not failed and HOSTS[host].row_of(ctx).refuse == "go_on"
        assert HOSTS[host].goes_on(outcome, ctx) == wanted
        assert done.happens == ("no" if wanted else "yes")
        assert not wanted or "a reason" in done.told


@hosts
@decisions
def test_a_refusal_holds_wherever_the_host_can_refuse(host, decision):
    for ctx in contexts(host):
        outcome = HookOutcome(decision=decision, reason="a reason")
        done = effect(host, ctx, HOSTS[host].write(outcome, ctx))
        if str(ctx.event) in REFUSABLE[host] and decision in BLOCKING:
            if ctx.host_event.startswith("after"):  # of Cursor, which only reports
                continue
            assert "a reason" in (done.result or done.told)
            assert done.happens == "no" or done.result is not None


@hosts
@pytest.mark.parametrize("new", ["a shorter result", {"stdout": "a shorter result"}, ["a shorter result"], "", None])
def test_a_changed_result_replaces_the_original_or_is_told(host, new):
    for ctx in contexts(host, "after_tool_use"):
        answer = HOSTS[host].write(HookOutcome.proceed(result=new), ctx)
        done = effect(host, ctx, answer)
        if "result" in HOSTS[host].row_of(ctx).takes:
            assert done.result is not None or new is None
        elif new:
            assert "a shorter result" in f"{done.context}{answer.stderr}"


@pytest.mark.parametrize(("brought", "kind"), [({}, "failure"), ({"resultType": "success"}, "success")])
def test_a_result_for_copilot_keeps_its_type_unless_it_brings_one(brought, kind):
    new = HOSTS["copilot"].replaced({"resultType": "failure"}, {"textResultForLlm": "new", **brought})
    assert new == {"resultType": kind, "textResultForLlm": "new"}


@hosts
@pytest.mark.parametrize("new", ["another prompt", ""])
def test_a_changed_prompt_is_not_sent(host, new):
    for ctx in contexts(host, "user_input"):
        done = effect(host, ctx, HOSTS[host].write(HookOutcome.proceed(prompt=new), ctx))
        assert done.happens == "no" or (host == "vscode" and done.ends)


@hosts
def test_a_failure_refuses_what_a_gate_refuses_and_keeps_no_agent_from_stopping(host):
    for ctx in contexts(host):
        answer = HOSTS[host].failure(ctx.host_event, "it broke")
        done = effect(host, ctx, answer)
        is_stop = HOSTS[host].row(ctx.host_event).event in STOPS
        refused = str(ctx.event) in REFUSABLE[host] - {"permission_request", "after_tool_use"} and not is_stop
        assert refused == (done.happens == "no") or str(ctx.event) == "on_host_event"
        assert "it broke" in f"{answer.stderr}{answer.stdout}"
        assert not is_stop or (answer.stdout, answer.exit_code) == ("", 0)


@hosts
@pytest.mark.parametrize("text", ["\ud800", "\x1b[31mred", "x" * 20_000, '"}}'])
def test_any_text_is_answered_well(host, text):
    for ctx in contexts(host):
        for decision in DECISIONS:
            outcome = HookOutcome(decision=decision, reason=text, context=text)
            done = effect(host, ctx, HOSTS[host].write(outcome, ctx, notes=(text,)))
            assert done.happens in ("yes", "no", "asked", "changed")
