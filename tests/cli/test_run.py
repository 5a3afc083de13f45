"""``agent-hooks run``: what coding agents get to hear of what the hooks decide."""

from __future__ import annotations

import json

import pytest

from commands import as_written
from projects import HOOKCONF

AGENTS = ["claude-code", "codex"]
each_agent = pytest.mark.parametrize("agent", AGENTS)
DENY = ("before_tool_use", 'HookOutcome.deny("not here")')
GO_ON = ("on_stop", 'HookOutcome.force_continue("the tests are red")')
REWRITE = 'tool_args={**tool_call.args, "command": "echo safe"}'
# Notes the decision in the file SEEN.
SEEN = """
import os

@hookimpl(specname="before_tool_use", mode="observe")
def look(ctx):
    with open(os.environ["SEEN"], "a") as file:
        print(ctx.outcome.decision, file=file)
"""


@pytest.fixture
def seen(command):
    """What an observer has noted; it is installed with this."""
    command.install(SEEN, "observer")
    command.environment["SEEN"] = str(command.folder / "seen")
    return lambda: (command.folder / "seen").read_text().split()


# -- decisions ---------------------------------------------------------------------------------------------------------


@each_agent
def test_a_deny_is_said_in_all_three_ways_and_people_are_told_where_it_is_written(command, payload, agent):
    command.hook(*DENY)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    said = "Blocked by policy (house.before_tool_use): not here"
    facts = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": said}
    assert (done.specific, done.stderr.partition("\n")[0], done.exit_code) == (facts, said, 2)
    assert done.json["systemMessage"] == f"agent_hooks: deny by {command.site / 'house_rules.py'}:2."


@each_agent
def test_without_an_opinion_nothing_is_said(command, payload, agent):
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert (done.exit_code, done.said) == (0, "")


@pytest.mark.parametrize(
    ("agent", "event", "hook", "expected"),
    [
        ("claude-code", "PreToolUse", ("before_tool_use", "HookOutcome.allow()"), {"permissionDecision": "allow"}),
        ("codex", "PreToolUse", ("before_tool_use", "HookOutcome.allow()"), {}),
        ("claude-code", "PreToolUse", ("before_tool_use", 'HookOutcome.ask("?")'), {"permissionDecision": "ask"}),
        *(
            (agent, event, hook, expected)
            for agent in AGENTS
            for event, hook, expected in [
                (
                    "PreToolUse",
                    ("before_tool_use(tool_call)", f"HookOutcome.allow({REWRITE})"),
                    {"permissionDecision": "allow", "updatedInput": {"command": "echo safe"}},
                ),
                (
                    "UserPromptSubmit",
                    ("user_input(prompt)", "HookOutcome.update(context=prompt.upper())"),
                    {"additionalContext": "TIDY UP"},
                ),
            ]
        ),
    ],
)
def test_what_lets_an_event_pass_is_said_in_the_fields_of_the_host(command, payload, agent, event, hook, expected):
    command.hook(*hook)
    done = command.answer(agent, payload(agent, event, prompt="tidy up"))
    said = {key: value for key, value in done.specific.items() if key in (*expected, "permissionDecision")}
    if "updatedInput" in said:
        said["updatedInput"] = {"command": said["updatedInput"]["command"]}
    assert (said, done.exit_code) == (expected, 0)


def test_a_question_that_codex_cannot_put_is_refused_unless_codex_shall_decide(command, payload):
    command.hook("before_tool_use", 'HookOutcome.ask("really?")')
    event = payload("codex", "PreToolUse", permission_mode="default")
    refused, left = command.answer("codex", event), command.answer("codex", event, "--on-ask", "host")
    assert (refused.denies, "really?" in refused.stderr) == (True, True)
    assert (left.exit_code, left.specific) == (0, {})


@each_agent
def test_a_stop_at_a_tool_also_refuses_the_call(command, payload, agent):
    command.hook("before_tool_use", 'HookOutcome.stop("enough")')
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.denies
    assert done.json.get("continue", False) is False


def test_an_async_hook_may_wait(command, payload):
    command.install("""
        import asyncio

        @hookimpl
        async def before_tool_use():
            await asyncio.sleep(0.01)
            return HookOutcome.deny("after a while")
    """)
    assert command.answer("codex", payload("codex", "PreToolUse")).why == "after a while"


def test_the_project_folder_is_what_claude_code_says_in_the_environment_else_found_from_where_it_happens(
    command, payload
):
    command.hook("before_tool_use(ctx)", 'HookOutcome.deny(ctx.project_dir or "none")')
    project, beside, link = command.folder / "project", command.folder / "project2", command.folder / "link"
    for made in (project / "src", beside):
        made.mkdir(parents=True)
    link.symlink_to(project)
    cases = [
        ("claude-code", project, project / "src", project),
        ("claude-code", link, project / "src", link),
        ("claude-code", project, link, project),
        ("claude-code", "/", project, "/"),
        ("claude-code", project, beside, project),
        ("claude-code", "project", project, project),
        ("claude-code", command.folder / "missing", project, project),
        ("claude-code", command.folder, "project", command.folder),
        ("codex", command.folder, project, project),
    ]
    for agent, given, cwd, expected in cases:
        done = command.answer(agent, payload(agent, "PreToolUse", cwd=str(cwd)), env={"CLAUDE_PROJECT_DIR": str(given)})
        assert done.why == str(expected), (agent, given, cwd)


@pytest.mark.parametrize(("match", "exit_code"), [("shel", 2), ("BASH", 2), ("hash", 0), ("bash|hash", 2)])
def test_a_match_never_sleeps(command, payload, match, exit_code):
    command.hook(*DENY, f"match={match!r}")
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.exit_code, "Did you mean" in done.why) == (exit_code, match in ("shel", "BASH"))


# -- what only the host's side knows -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "answer", "decision"),
    [
        ("claude-code", f"update({REWRITE})", "ask"),
        ("claude-code", f"allow({REWRITE})", "allow"),
        ("codex", f"update({REWRITE})", "deny"),
        ("codex", f"allow({REWRITE})", "allow"),
        ("codex", "allow(tool_args={'command': 'echo safe', 'timeout': 5})", "deny"),  # it would take a part of that
    ],
)
def test_observers_see_what_the_host_makes_of_new_arguments(command, payload, seen, agent, answer, decision):
    command.hook("before_tool_use(tool_call)", f"HookOutcome.{answer}")
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.specific["permissionDecision"] == decision
    assert seen() == [decision]
    assert ("timeout" if "timeout" in answer else "echo safe") in done.said


@pytest.mark.parametrize(("mode", "decision"), [("default", "ask"), ("bypassPermissions", "deny")])
def test_observers_see_what_becomes_of_a_question_that_codex_does_not_put(command, payload, seen, mode, decision):
    command.hook("before_tool_use", 'HookOutcome.ask("really?")')
    done = command.answer("codex", payload("codex", "PreToolUse", permission_mode=mode), "--on-ask", "host")
    assert (done.denies, seen()) == (decision == "deny", [decision])


SPAWNS = {
    "claude-code": {"tool_name": "Agent", "tool_input": {"subagent_type": "explorer", "prompt": "look around"}},
    "codex": {"tool_name": "spawn_agent", "tool_input": {"agent_type": "explorer", "message": "look around"}},
}


@each_agent
@pytest.mark.parametrize(
    ("colour", "decision"), [("", "deny"), ("async ", "deny"), ("", "stop"), ("", "suspend"), ("async ", "ask")]
)
def test_a_subagent_is_refused_at_the_tool_call_that_starts_it(command, payload, seen, agent, colour, decision):
    """At its own event, the host starts it whatever is answered."""
    command.install(f"""
        @hookimpl(match="explorer")
        {colour}def before_subagent(name, task, ctx):
            return HookOutcome.{decision}(f"no {{name}} for: {{task}}")
    """)
    done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]))
    assert "no explorer for: look around" in done.specific["permissionDecisionReason"]
    if decision == "ask" and agent == "claude-code":
        assert (done.specific["permissionDecision"], done.exit_code) == ("ask", 0)
    else:
        assert done.denies
        assert (done.json.get("continue") is False) == (decision == "stop" and agent == "claude-code")
    assert seen() == ["deny" if decision == "ask" and agent == "codex" else decision]
    other = payload(agent, "PreToolUse", tool_name="Read", tool_input={"agent_type": "explorer", "file_path": "x"})
    assert command.answer(agent, other).exit_code == 0


@pytest.mark.parametrize(
    ("own", "subagents", "said"),
    [
        ('HookOutcome.stop("no tools")', 'HookOutcome.deny("no agents")', "no tools"),
        ("HookOutcome.allow()", 'HookOutcome.deny("no agents")', "no agents"),
        ("HookOutcome.update(context='x')", "1 / 0", "second.before_subagent failed"),
        ("None", 'HookOutcome.update(task="look away")', "Do it again with this instead: look away"),
    ],
)
def test_the_stricter_of_what_is_said_about_the_tool_and_the_subagent_counts(command, payload, own, subagents, said):
    command.hook("before_tool_use", own)
    command.hook("before_subagent", subagents, name="second")
    for agent in AGENTS:
        done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]))
        assert (done.denies, said in done.stderr) == (True, True), agent


def test_a_subagent_is_judged_by_what_the_call_has_become(command, payload):
    explorer = 'HookOutcome.allow(tool_args={**tool_call.args, "subagent_type": "explorer"})'
    command.hook("before_tool_use(tool_call)", explorer)
    command.hook("before_subagent", 'HookOutcome.deny("no explorers")', 'match="explorer"', "second")
    spawn = {"tool_name": "Agent", "tool_input": {"subagent_type": "planner", "prompt": "plan"}}
    assert command.answer("claude-code", payload("claude-code", "PreToolUse", **spawn)).why == "no explorers"


@each_agent
def test_a_subagent_without_objection_starts_in_silence(command, payload, agent):
    command.hook("before_subagent(name)", 'HookOutcome.update(context=f"be brief, {name}")')
    done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]))
    assert (done.said, done.exit_code) == ("", 0)


# -- forced continuation -----------------------------------------------------------------------------------------------


def rounds(command, payload, agent, actives, **options):
    """For each stop in turn, whether the agent must go on; and the last answer."""
    answers = [command.answer(agent, payload(agent, "Stop", stop_hook_active=active), **options) for active in actives]
    return [bool(done.json) and done.json.get("decision") == "block" for done in answers], answers[-1]


@each_agent
def test_hooks_can_force_three_rounds_in_a_row_and_then_the_agent_may_stop(command, payload, agent):
    command.hook(*GO_ON)
    forced, last = rounds(command, payload, agent, [False])
    assert (forced, last.stderr, last.exit_code) == ([True], "the tests are red", 2)
    forced, last = rounds(command, payload, agent, [True, True, True])
    assert (forced, last.exit_code, "house.on_stop" in last.json["systemMessage"]) == ([True, True, False], 0, True)
    # A new turn counts from the start, and another session by itself.
    assert rounds(command, payload, agent, [False, True])[0] == [True, True]
    other = payload(agent, "Stop", stop_hook_active=True, session_id="another")
    assert command.answer(agent, other).exit_code == 2


def test_a_stop_that_was_let_through_within_a_row_does_not_end_it(command, payload):
    """Another command of the host's may have made the agent go on there."""
    command.hook("on_stop", 'HookOutcome.force_continue("red") if __import__("os").environ.get("RED") else None')
    red = {"env": {"RED": "1"}}
    assert rounds(command, payload, "codex", [False, True, True], **red)[0] == [True, True, True]
    assert rounds(command, payload, "codex", [True])[0] == [False]
    assert rounds(command, payload, "codex", [True, False], **red)[0] == [False, True]


# What makes the host go on, at events that do not say whether that is a repeat.
ENDS = {
    "Stop": ("on_stop", "force_continue"),
    "SubagentStop": ("after_subagent", "deny"),
    "documented/TeammateIdle": ("on_host_event", "deny"),
}


@pytest.mark.parametrize("event", ENDS)
def test_where_the_host_does_not_say_that_it_goes_on_already_a_session_has_three_rounds(command, payload, event):
    hook, decision = ENDS[event]
    command.hook(hook, f'HookOutcome.{decision}("the tests are red")')
    said = payload("claude-code", event)
    said.pop("stop_hook_active", None)
    answers = [command.answer("claude-code", said) for _ in range(5)]
    assert [done.exit_code for done in answers] == [2, 2, 2, 0, 0]
    assert f"house.{hook}" in answers[3].json["systemMessage"]
    assert command.answer("claude-code", {**said, "session_id": "another"}).exit_code == 2
    if "TeammateIdle" in event:
        assert command.answer("claude-code", {**said, "teammate_name": "another"}).exit_code == 2


@pytest.mark.parametrize("event", ENDS)
def test_a_hook_that_breaks_does_not_make_an_agent_go_on(command, payload, event):
    command.hook(ENDS[event][0], "1 / 0", "required=True")
    done = command.answer("claude-code", payload("claude-code", event))
    assert (done.exit_code, "decision" in done.json) == (0, False)
    assert "ZeroDivisionError" in done.json["systemMessage"]


def test_where_counting_is_not_possible_no_second_round_is_forced(command, payload):
    command.hook(*GO_ON)
    blocked = command.folder / "file"
    blocked.write_text("")  # a file where the folder would have to be: read-only even for root
    state = {"AGENT_HOOKS_STATE_DIR": str(blocked / "state")}
    forced, last = rounds(command, payload, "claude-code", [False, True], env=state)
    assert forced == [True, False]
    assert "AGENT_HOOKS_STATE_DIR" in last.json["systemMessage"]


def test_a_command_without_a_home_works(command, payload):
    command.hook(*GO_ON)
    del command.environment["HOME"]
    command.environment["CLAUDE_CONFIG_DIR"] = str(command.folder / "claude")
    command.environment["AGENT_HOOKS_STATE_DIR"] = str(command.folder / "state")
    assert rounds(command, payload, "codex", [False])[0] == [True]


# -- notes for people --------------------------------------------------------------------------------------------------


@each_agent
@pytest.mark.parametrize("note", ["not active in the project", "the whole policy is in shadow"])
def test_a_note_for_people_is_told_once_in_a_session(command, payload, project, agent, note):
    if "shadow" in note:
        command.configure("[policy]\nshadow = true\n")
    else:
        project.write({"hookconf.py": HOOKCONF})

    def told(event, session="s"):
        done = command.answer(agent, payload(agent, event, cwd=str(project.root), session_id=session))
        assert event == "SessionEnd" or note not in done.stderr
        return note in (done.json or {}).get("systemMessage", "")

    assert not told("SessionEnd")  # shown to nobody, so it does not count
    assert told("PreToolUse")
    assert not told("PreToolUse")
    assert not told("Stop")
    assert told("PreToolUse", "another")
    assert told("SessionStart")  # resumed
    assert not told("UserPromptSubmit")


def test_without_a_state_folder_a_note_is_told_each_time(command, payload, project):
    project.write({"hookconf.py": HOOKCONF})
    (command.folder / "file").write_text("")
    env = {"AGENT_HOOKS_STATE_DIR": str(command.folder / "file" / "state")}
    for _ in range(2):
        done = command.answer("codex", payload("codex", "PreToolUse", cwd=str(project.root)), env=env)
        assert "not active" in done.json["systemMessage"]


def test_the_model_of_codex_reads_no_note_for_people(command, payload, project):
    """It reads all of stderr where a hook exits 2."""
    command.hook(*DENY)
    project.write({"hookconf.py": HOOKCONF})
    done = command.answer("codex", payload("codex", "PreToolUse", cwd=str(project.root)))
    assert (done.denies, as_written(done.stderr)) == (True, "not here")
    assert "not active" in done.json["systemMessage"]


def test_a_disabled_plugin_and_a_tolerated_failure_are_told(command, payload):
    command.hook("after_tool_use", "1 / 0")
    failed = command.answer("claude-code", payload("claude-code", "PostToolUse"))
    assert (failed.exit_code, "house.after_tool_use" in failed.json["systemMessage"]) == (0, True)
    command.environment["AGENT_HOOKS_DISABLE"] = "house"
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert (done.exit_code, "AGENT_HOOKS_DISABLE" in done.json["systemMessage"]) == (0, True)


def test_the_refusal_of_a_broken_plugin_points_into_its_code_and_not_into_ours(command, payload):
    command.install("1 / 0", "broken")
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert f"agent_hooks: deny by {command.site / 'broken_rules.py'}:2." in done.json["systemMessage"]
    assert (done.denies, "installed.py" in done.said) == (True, False)


# -- command lines -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "--agent is missing"),
        ("--agent claud", "codex"),  # which there are
        ("--agent=", "codex"),
        ("--agent", "needs a value"),
        ("--agent codex --evnt PreToolUse", "--evnt"),
        ("--agent codex PreToolUse", "'PreToolUse'"),
        ("--agent codex --timeout 0", "'0'"),
        ("--agent codex --timeout soon", "'soon'"),
        ("--agent codex --timeout=inf", "'inf'"),
        ("--agent codex --on-ask allow", "'allow'"),
    ],
)
def test_a_wrong_command_line_refuses_what_can_be_refused_and_lets_an_agent_stop(command, payload, arguments, says):
    gate, stop = (
        command("run", *arguments.split(), stdin=json.dumps(payload("codex", event)))
        for event in ("PreToolUse", "Stop")
    )
    assert (gate.denies, stop.stdout, stop.exit_code) == (True, "", 0)
    for done in (gate, stop):
        assert (done.stderr.startswith("agent-hooks: "), says in done.stderr) == (True, True), done


def test_an_event_that_is_not_the_payloads_is_refused(command, payload):
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"), "--event", "SessionEnd")
    assert (done.denies, "SessionEnd" in done.stderr) == (True, True)
    done = command.answer("claude-code", payload("claude-code", "Stop"), "--event", "PreToolUse")
    assert done.exit_code == 0


def test_an_option_may_be_written_with_an_equals_sign(command, payload):
    command.hook(*DENY)
    done = command("run", "--agent=codex", "--event=PreToolUse", stdin=json.dumps(payload("codex", "PreToolUse")))
    assert done.why == "not here"


def test_the_options_are_explained(command):
    done = command("run", "--help")
    assert done.exit_code == 0
    for option in ("--agent", "--event", "--timeout", "--on-ask"):
        assert option in done.stdout


# -- what reaches terminals and models ---------------------------------------------------------------------------------

_CONTROLLED = "no\x1b[31mt\x1b]0;title\x07 he\x00\x08\x9b1mre\x7f \u202e\u2066never\u200f\U000e0041"


@each_agent
@pytest.mark.parametrize("decision", ["deny", "ask", "stop", "suspend"])
def test_reasons_hold_no_control_characters(command, payload, agent, decision):
    command.hook("before_tool_use", f"HookOutcome.{decision}({_CONTROLLED!r})")
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert "not here never" in done.said
    said = json.dumps(done.json, ensure_ascii=False) + done.stderr
    assert all(each.isprintable() or each == "\n" for each in said)


def test_reasons_keep_lines_tabs_and_the_letters_of_every_language(command, payload):
    reason = "erstens\n\tzweitens: نمی‌خواهم 👩‍💻 日本語"
    command.hook("before_tool_use", f"HookOutcome.deny({reason!r})")
    done = command.answer("codex", payload("codex", "PreToolUse"))
    assert as_written(done.specific["permissionDecisionReason"]) == reason
    assert as_written(done.stderr).startswith(reason)


def test_new_arguments_are_handed_over_with_their_control_characters(command, payload):
    args = {"command": "printf '\x1b[0m\u202e'"}
    command.hook("before_tool_use", f"HookOutcome.allow(tool_args={args!r})")
    assert command.answer("codex", payload("codex", "PreToolUse")).specific["updatedInput"] == args
