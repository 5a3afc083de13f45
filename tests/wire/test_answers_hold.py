"""Whatever a hook decides, in whatever words, the host does that and nothing laxer.

The hosts are played by `clients.py` and `gemini_clients.py`, which are checked here against what the real ones were
seen to do.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.model.outcome import BLOCKING, Decision, HookOutcome
from agent_hooks.model.state import Message, StopReason, StopSignal
from agent_hooks.system.visible import without_controls
from agent_hooks.wire import HOSTS, Answer
from agent_hooks.wire.answer import CUT
from wire import clients, gemini_clients
from wire.clients import GOLDEN, Effect, codex_schema, leaks
from wire.golden_files import payloads

CLIENTS = {**clients.CLIENTS, **gemini_clients.CLIENTS}
# The host's name of the event before a tool, where it is not Claude Code's.
BEFORE_TOOL = {"gemini": "BeforeTool"}
PROMPT = {"gemini": "BeforeAgent"}
# Where a stop before or after a tool ends the run.
ENDS = {"claude-code", "gemini"}
# Where an ask is put to the user, with ``--on-ask host`` at the latest.
ASKS = {"claude-code", "gemini", "qwen"}
many = settings(max_examples=200, derandomize=True, database=None)

# -- what may come -----------------------------------------------------------------------------------------------------

CHARACTERS = st.characters(exclude_categories=())  # lone surrogates too
TRICKY = (
    *("", " ", "\n\t ", "\u2028\u2029\x85", "\ufeff", "\x00", "\ud800", "\udc00\ud800", "\U0001f600" * 6000),
    *('{"continue": true}', '"}}', "[1]", "\x1c", "x" * 20_000, "é\n" * 9_000, "NaN", "\ud83d" + "y" * 9_899),
)
texts = st.one_of(st.sampled_from(TRICKY), st.text(CHARACTERS, max_size=40))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=8), inner, max_size=3),
    max_leaves=8,
)


def nested(levels: int) -> dict[str, Any]:
    value: Any = "deep"
    for _ in range(levels):
        value = {"inside": value}
    return {"command": "ls", "more": value}


arguments = st.one_of(
    st.just({"command": "ls", "description": "e2e", "file_path": "/a", "text": "x"}),
    st.dictionaries(st.sampled_from(["command", "file_path", "text", "timeout"]), json_values, max_size=3),
    st.fixed_dictionaries({"command": texts}),
    st.integers(1, 140).map(nested),
)
brings = st.fixed_dictionaries(
    {},
    optional={
        "context": texts,
        "messages": st.lists(st.builds(lambda text: Message(role="user", content=text), texts), max_size=2).map(tuple),
        "signals": st.lists(
            st.builds(lambda text: StopSignal(reason=StopReason.STEPS_LIMIT, message=text), texts), max_size=1
        ).map(tuple),
        "hook": st.sampled_from(["guards.no_force", "\ud800", None]),
        "failed": st.booleans(),
        "metadata": st.just({"seen": True}),
    },
)
notes = st.lists(texts, max_size=2).map(tuple)
asks = st.sampled_from(["deny", "host"])
hosts = st.sampled_from([*CLIENTS])
DECISIONS = [getattr(Decision, name) for name in vars(Decision) if name.isupper()]


def outcomes(decisions: list[Decision], **more: Any) -> st.SearchStrategy[HookOutcome]:
    """Outcomes with any words and extras; ``more``: strategies of fields that all of them have."""

    def outcome(decision: Decision, reason: str, brought: dict[str, Any], extra: dict[str, Any]) -> HookOutcome:
        return HookOutcome(decision=decision, reason=reason, **brought, **extra)

    return st.builds(outcome, st.sampled_from(decisions), texts, brings, st.fixed_dictionaries(more))


def contexts(*events: str) -> st.SearchStrategy[tuple[str, Any]]:
    """A host and the context of one of its payloads, for one of ``events`` (by either name) if any are named."""
    known = [(host, HOSTS[host].read(payload)) for host in CLIENTS for payload in payloads(host).values()]
    wanted = [(host, ctx) for host, ctx in known if not events or {str(ctx.event), ctx.host_event} & {*events}]
    return st.sampled_from(wanted)


def effect(host: str, event: str, answer: Answer, result: Any = None, tool: Any = ("Bash", {})) -> Effect:
    """What the host does with the answer, which is well-formed and which it does not dismiss."""
    assert answer.stdout.isascii()
    answer.stderr.encode()
    if answer.stdout:
        body = json.loads(answer.stdout)
        assert answer.stdout == json.dumps(body, separators=(",", ":"))
        if host == "codex":
            schema = codex_schema(event)
            assert schema is not None
            schema.validate(body)
    done = CLIENTS[host](event, answer.stdout, answer.stderr, answer.exit_code, result, tool)
    assert not done.dismissed
    return done


# -- the readers do what the hosts were seen to do ---------------------------------------------------------------------

MEASURED = [
    (host, case)
    for host in CLIENTS
    for case in json.loads((GOLDEN / f"{host}.measured.json").read_text(encoding="utf-8"))["cases"]
]


@pytest.mark.parametrize(
    ("host", "case"), MEASURED, ids=lambda value: value if isinstance(value, str) else value["name"]
)
def test_the_reader_does_what_the_client_was_seen_to_do(host, case):
    without_terminal: dict[str, Any] = {"terminal": False} if host in ("claude-code", "qwen") else {}
    done = CLIENTS[host](
        BEFORE_TOOL.get(host, "PreToolUse"), case["stdout"], case["stderr"], case["exit_code"], **without_terminal
    )
    assert {"yes": "ran_original", "changed": "ran_rewritten", "no": "blocked"}[done.happens] == case["effect"]


# -- a tool ------------------------------------------------------------------------------------------------------------


@many
@given(contexts("before_tool_use"), outcomes([*BLOCKING, Decision.ASK]), notes)
def test_what_blocks_never_runs_the_tool(where, outcome, said):
    """Claude Code may ask the user where that is what was decided."""
    host, ctx = where
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said))
    asked = outcome.decision is Decision.ASK and HOSTS[host].can_ask(ctx)
    assert done.happens == ("asked" if asked else "no")
    assert asked or done.told.strip()
    can_end = host in ENDS and ctx.host_event != "PreSkillShellCommand"
    assert done.ends == (outcome.decision is Decision.STOP and can_end)


@many
@given(contexts("before_tool_use"), outcomes(DECISIONS, tool_args=arguments), notes, asks)
def test_a_rewrite_never_runs_the_original(where, outcome, said, ask):
    """It runs exactly the new arguments if they were allowed and the host can, else nothing unless the user says so."""
    host, ctx = where
    tool = (ctx.tool_name, dict(ctx.tool_args))
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask), tool=tool)
    assert done.happens in ("changed", "asked", "no")
    if outcome.decision is Decision.ALLOW and host == "claude-code":
        assert done.happens == "changed"
    if done.happens != "no":
        assert done.args == as_sent(outcome.tool_args)
        assert done.happens == "changed" or outcome.decision is not Decision.ALLOW
    if done.happens == "changed":
        # Gemini CLI asks its own policy about the new arguments.
        assert outcome.decision is Decision.ALLOW or host == "gemini"
        if host == "codex" and ctx.tool_call.kind != "mcp":
            assert isinstance(done.args["command"], str)


def as_sent(value: Any) -> Any:
    """The arguments as JSON can hold them: lone surrogates and numbers without a value are replaced."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, dict):
        return {as_sent(key): as_sent(item) for key, item in value.items()}
    return [as_sent(item) for item in value] if isinstance(value, (list, tuple)) else value


@many
@given(contexts("before_tool_use"), outcomes([Decision.PROCEED, Decision.SKIP, Decision.ALLOW]), notes, asks)
def test_what_does_not_object_runs_the_original_and_says_what_it_has_to_say(where, outcome, said, ask):
    host, ctx = where
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask))
    assert (done.happens, done.ends) == ("yes", False)
    heard = without_controls(done.context + done.message)
    assert without_controls(as_sent(outcome.context)).strip() in heard or heard.endswith(CUT)
    for note in said:
        assert as_sent(without_controls(note)).strip() in done.message or done.message.endswith(CUT)


@many
@given(contexts("before_tool_use"), outcomes([Decision.ASK]), notes)
def test_an_ask_left_to_codex_stays_a_deny_where_codex_asks_nobody(where, outcome, said):
    host, ctx = where
    for mode in ("default", "plan", "bypassPermissions", "dontAsk"):
        done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx.replace(permission_mode=mode), ask="host"))
        if host in ASKS:
            assert done.happens == "asked"
        else:
            assert done.happens == ("no" if mode in ("bypassPermissions", "dontAsk") else "yes")


@many
@given(contexts("permission_request"), outcomes(DECISIONS), notes, asks)
def test_a_permission_is_given_only_by_an_allow(where, outcome, said, ask):
    host, ctx = where
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask))
    blocked = outcome.decision in BLOCKING
    assert done.happens == ("no" if blocked else "yes" if outcome.decision is Decision.ALLOW else "asked")


# -- a result ----------------------------------------------------------------------------------------------------------

SECRET = "s3cr3t-token"
secrets = st.sampled_from([SECRET, f"export KEY={SECRET}", f"{SECRET}\n"])
SHAPE_WORDS = st.sampled_from(["text", "image", "image/png", "completed"])
results = st.recursive(
    secrets | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.just(""),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["stdout", "stderr", "content", "text", "file", "filePath", "lines", "isImage", "result"]),
            inner,
            max_size=4,
        )
        | st.fixed_dictionaries(
            {"type": SHAPE_WORDS | inner, "text": inner, "source": inner}, optional={"mode": inner, "status": inner}
        )
        | st.dictionaries(st.sampled_from([f"{SECRET}?", f"/{SECRET}", "stdout"]), inner, max_size=2)
    ),
    max_leaves=10,
)


@many
@given(contexts("after_tool_use"), results, outcomes([Decision.DENY, Decision.STOP]), notes)
def test_a_withheld_result_does_not_reach_the_model(where, result, outcome, said):
    host, ctx = where
    answer = HOSTS[host].write(outcome, ctx.replace(result=result), notes=said)
    done = effect(host, ctx.host_event, answer, result)
    assert done.happens == "no"
    assert done.told.strip()
    assert SECRET not in json.dumps(done.result)
    assert leaks(result, done.result, [outcome.reason, done.told]) == []
    can_end = host in ENDS and ctx.host_event != "PreSkillShellCommand"
    assert done.ends == (outcome.decision is Decision.STOP and can_end)


@many
@given(contexts("after_tool_use"), results, st.one_of(results, texts), notes)
def test_a_changed_result_replaces_the_original_whatever_its_shape(where, result, new, said):
    """Where both have the same shape, the model sees exactly the new one."""
    host, ctx = where
    clean = json.loads(json.dumps(new).replace(SECRET, "[removed]"))
    answer = HOSTS[host].write(HookOutcome.proceed(result=clean), ctx.replace(result=result), notes=said)
    done = effect(host, ctx.host_event, answer, result)
    if result is not None:
        assert SECRET not in json.dumps(done.result)
        assert leaks(result, done.result, [clean, done.told]) == []
    if isinstance(clean, str) and isinstance(result, str) and clean.strip():
        assert as_sent(clean).strip() in done.result


# -- a prompt, a stop, everything else ---------------------------------------------------------------------------------


@many
@given(contexts("user_input"), outcomes(DECISIONS), notes, asks, st.none() | texts)
def test_a_refused_or_changed_prompt_is_not_sent(where, outcome, said, ask, new):
    host, ctx = where
    if new is not None:
        outcome = outcome.replace(prompt=new)
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask))
    assert done.happens == ("no" if outcome.blocks or new is not None else "yes")


@many
@given(contexts("on_stop", "after_subagent", "TeammateIdle"), outcomes(DECISIONS), st.booleans(), notes, asks)
def test_an_agent_works_on_only_if_a_hook_wants_it_to(where, outcome, active, said, ask):
    """Not because a hook broke, not because of mere context, and for a subagent's refused result only once."""
    host, ctx = where
    ctx = ctx.replace(stop_hook_active=active)
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask))
    wanted = outcome.decision is Decision.FORCE_CONTINUE
    if outcome.decision is Decision.DENY:
        wanted = ctx.event == "on_stop" or not active
    wanted = wanted and not outcome.failed
    assert HOSTS[host].goes_on(outcome, ctx) == wanted
    assert done.happens == ("no" if wanted else "yes")
    assert not wanted or done.told.strip()


REFUSABLE = {
    *("BeforeTool", "AfterTool", "BeforeAgent", "BeforeModel", "AfterModel", "TodoCreated", "TodoCompleted"),
    *("PreToolUse", "UserPromptSubmit", "PostToolUse", "PreCompact", "UserPromptExpansion", "PostToolBatch"),
    *("TaskCreated", "TaskCompleted", "ConfigChange", "PreModelSwitch", "Elicitation", "WorktreeCreate"),
    "PreSkillShellCommand",
}


# There a refusal is another round of work, so a failure is none.
TASK_ENDS = {"TaskCompleted", "TodoCompleted"}


def refusable(host: str) -> set[str]:
    """The events that ``host`` can refuse."""
    return REFUSABLE - ({"PreCompact"} if host == "qwen" else set())


@many
@given(contexts(), outcomes(DECISIONS), notes, asks)
def test_no_answer_is_dismissed_and_a_refusal_holds_wherever_the_host_can_refuse(where, outcome, said, ask):
    host, ctx = where
    done = effect(host, ctx.host_event, HOSTS[host].write(outcome, ctx, notes=said, ask=ask))
    if ctx.host_event in refusable(host) and outcome.decision in BLOCKING:
        assert done.happens == ("yes" if outcome.failed and ctx.host_event in TASK_ENDS else "no")


@many
@given(contexts(), texts)
def test_a_failure_refuses_what_can_be_refused_and_never_keeps_an_agent_from_stopping(where, reason):
    host, ctx = where
    answer = HOSTS[host].failure(ctx.host_event, reason)
    done = effect(host, ctx.host_event, answer)
    left_alone = "asked" if ctx.host_event == "PermissionRequest" else "yes"
    refused = ctx.host_event in refusable(host) - {"PostToolUse", "AfterTool"} - TASK_ENDS  # the former have happened
    assert done.happens == ("no" if refused else left_alone)
    assert answer.stderr.strip() or done.told.strip()


@many
@given(hosts, texts, st.none() | st.just("") | st.just("FutureEvent"))
def test_a_failure_before_the_event_is_known_refuses(host, reason, event):
    """Exit 2, words on stderr and an empty stdout are read as a refusal wherever a host can refuse."""
    answer = HOSTS[host].failure(event, reason)
    assert answer.exit_code == 2
    assert answer.stdout == "" or host == "gemini"  # which reads stderr as JSON where stdout is empty
    assert effect(host, BEFORE_TOOL.get(host, "PreToolUse"), answer).happens == "no"
    assert effect(host, PROMPT.get(host, "UserPromptSubmit"), answer).happens == "no"


def strings_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [value]
        if isinstance(value, str)
        else [s for v in value for s in strings_in(v)]
        if isinstance(value, list)
        else []
    )


@pytest.mark.parametrize(
    "long", ["x" * 20_000, "\U0001f600" * 6_000, "\ud83d" + "y" * 9_899], ids=["ascii", "emoji", "lone"]
)
def test_no_string_that_claude_code_reads_is_longer_than_it_reads(long):
    """But for context, of which the host keeps the whole in a file."""
    read = 0
    for payload in payloads("claude-code").values():
        ctx = HOSTS["claude-code"].read(payload)
        for decision in DECISIONS:
            answer = HOSTS["claude-code"].write(HookOutcome(decision=decision, reason=long), ctx, notes=(long,))
            body = json.loads(answer.stdout) if answer.stdout else {}
            body.get("hookSpecificOutput", {}).pop("additionalContext", None)
            sizes = [len(text.encode("utf-16-le")) // 2 for text in strings_in(body)]
            assert all(size < 10_000 for size in sizes)
            read += sum(size > 9_000 for size in sizes)
    assert read > 100


def test_writing_changes_nothing_in_the_context():
    for host, wire in HOSTS.items():
        for payload in payloads(host).values():
            ctx = wire.read(payload)
            before = json.dumps(ctx.as_dict())
            wire.write(HookOutcome.deny("no"), ctx)
            assert json.dumps(ctx.as_dict()) == before
