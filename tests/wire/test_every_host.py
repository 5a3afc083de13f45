"""What every host must hold, against a stand-in for its client: the whole of its table is read and answered.

`test_answers_hold.py` and `test_flat_answers_hold.py` put any outcome to the same stand-ins, at the recorded payloads.
What a stand-in does is checked against `golden/HOST.measured.json`; `e2e/test_measured.py` puts the same cases to the
real client, and `e2e/test_clients.py` the whole command.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_hooks.model.outcome import Decision, HookOutcome
from agent_hooks.model.state import StopReason, StopSignal
from agent_hooks.wire import HOSTS
from wire import clients, flat_clients, gemini_clients
from wire.golden_files import GOLDEN, payloads, unnamed

STAND_INS = {**clients.CLIENTS, **gemini_clients.CLIENTS, **flat_clients.CLIENTS}
ROWS = [(host, event) for host in STAND_INS for event in HOSTS[host].rows]
DECISIONS = [getattr(Decision, name) for name in vars(Decision) if name.isupper()]


def whole(host: str) -> dict[str, Any]:
    """One payload with each key that any recorded one has, so that every event finds what it needs."""
    recorded = [*payloads(host).values(), *(payload for payload, _ in unnamed(host).values())]
    return {key: value for payload in recorded for key, value in payload.items()}


def test_every_host_has_a_stand_in_and_none_is_measured_without_one():
    assert {*STAND_INS, "agent-hooks-0.1"} == {*HOSTS}  # that one's own reference host asks our command
    assert {path.name.split(".")[0] for path in GOLDEN.glob("*.measured.json")} <= {*STAND_INS}


@pytest.mark.parametrize(("host", "event"), ROWS)
def test_every_event_of_the_table_is_read_under_its_name(host: str, event: str):
    ctx = HOSTS[host].read(whole(host), event)
    # A result with an error in it, as Gemini CLI has it, is one of the tool's errors.
    assert str(ctx.event) in {HOSTS[host].rows[event].event, "on_tool_error"}
    assert ctx.host_event == event


@pytest.mark.parametrize(("host", "event"), ROWS)
def test_every_decision_is_understood_at_every_event_and_refuses_where_the_table_says_so(host: str, event: str):
    ctx = HOSTS[host].read(whole(host), event)
    how = HOSTS[host].row_of(ctx).refuse
    refusing = {Decision.DENY, *({Decision.FORCE_CONTINUE} if how == "go_on" else {Decision.STOP, Decision.SUSPEND})}
    for decision in DECISIONS:
        answer = HOSTS[host].write(HookOutcome(decision=decision, reason="a reason"), ctx)
        done = STAND_INS[host](event, answer.stdout, answer.stderr, answer.exit_code)
        assert not done.dismissed
        if decision in refusing:
            assert (done.happens == "no" or done.result is not None) == bool(how), decision
            assert "a reason" in f"{answer.stdout}{answer.stderr}", decision
        elif decision is not Decision.ASK:
            assert done.happens in {"yes", "asked"}, decision


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("host", STAND_INS)
def test_what_is_said_is_never_lost(host: str, decision: Decision):
    """Every note, context, wish and reason is in what the host passes on, or on stderr."""
    wish = StopSignal(reason=StopReason.TIME_LIMIT, message="a wish")
    outcome = HookOutcome(decision=decision, reason="a reason", context="a context", signal=wish)
    said = ["a note", "a context", "a wish", *(["a reason"] if outcome.blocks else [])]
    for file, (payload, event) in {**{f: (p, None) for f, p in payloads(host).items()}, **unnamed(host)}.items():
        ctx = HOSTS[host].read(payload, event)
        answer = HOSTS[host].write(outcome, ctx, notes=("a note",))
        done = STAND_INS[host](ctx.host_event, answer.stdout, answer.stderr, answer.exit_code)
        shown = json.loads(answer.stdout).get("systemMessage", "") if answer.stdout else ""
        heard = f"{answer.stderr}\n{shown}\n{done.message}\n{done.context}\n{done.told}\n{done.result}"
        ended = ["a reason"] if done.ends else []  # a stop's reason is shown as the run's end
        assert [text for text in said if text not in heard and text not in ended] == [], file


@pytest.mark.parametrize(("host", "event"), [row for row in ROWS if row[0] not in flat_clients.CLIENTS])
def test_the_table_refuses_what_the_client_lets_a_command_refuse(host: str, event: str):
    can_refuse = STAND_INS[host](event, "", "a reason", 2).happens == "no"
    assert HOSTS[host].rows[event].refuse or not can_refuse


@pytest.mark.parametrize("host", STAND_INS)
def test_an_event_that_the_table_lacks_is_kept_whole(host: str):
    ctx = HOSTS[host].read(whole(host), "FromTheFuture")
    assert (ctx.event, ctx.host_event, ctx.payload) == ("on_host_event", "FromTheFuture", whole(host))
