"""``agent-hooks run``: what coding agents get to hear of what the hooks decide."""

from __future__ import annotations

import json
import subprocess

import pytest

from commands import as_written
from projects import HOOKCONF, Project, denying, settings, toml

AGENTS = ["claude-code", "codex"]
DENY = """
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.deny("not here")
"""
GO_ON = """
    @hookimpl
    def on_stop():
        return HookOutcome.force_continue("the tests are red")
"""


# -- decisions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_without_an_opinion_nothing_is_said(command, payload, agent):
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_deny_is_said_in_all_three_ways(command, payload, agent):
    command.install(DENY)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    said = "Blocked by policy (house.before_tool_use): not here"
    facts = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": said}
    assert (done.specific, done.stderr.partition("\n")[0]) == (facts, said)
    assert (done.why, done.exit_code) == ("not here", 2)


@pytest.mark.parametrize("agent", AGENTS)
def test_people_are_told_where_a_plugins_refusal_is_written(command, payload, agent):
    command.install(DENY)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    lines = (command.site / "house_rules.py").read_text().splitlines()
    place = f"{command.site / 'house_rules.py'}:{lines.index('@hookimpl') + 1}"
    assert done.json["systemMessage"] == f"agent_hooks: deny by {place}."


def test_an_allow_is_granted_by_claude_code_and_not_said_to_codex(command, payload):
    command.install("""
        @hookimpl
        def before_tool_use():
            return HookOutcome.allow()
    """)
    claude = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    codex = command.answer("codex", payload("codex", "PreToolUse"))
    assert (claude.specific["permissionDecision"], claude.exit_code) == ("allow", 0)
    assert (codex.stdout, codex.stderr, codex.exit_code) == ("", "", 0)


def test_an_ask_is_put_by_claude_code_and_refused_for_codex_unless_codex_shall_decide(command, payload):
    command.install("""
        @hookimpl
        def before_tool_use():
            return HookOutcome.ask("really?")
    """)
    claude = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert claude.specific["permissionDecision"] == "ask"
    assert claude.specific["permissionDecisionReason"].startswith("This needs approval. really? Where nobody can")
    assert claude.exit_code == 0
    asked = payload("codex", "PreToolUse", permission_mode="default")
    refused = command.answer("codex", asked)
    assert refused.denies
    assert "really?" in refused.stderr
    left_to_codex = command.answer("codex", asked, "--on-ask", "host")
    assert (left_to_codex.exit_code, left_to_codex.specific) == (0, {})


@pytest.mark.parametrize("agent", AGENTS)
def test_an_allowed_rewrite_is_applied(command, payload, agent):
    command.install("""
        @hookimpl
        def before_tool_use(tool_call):
            return HookOutcome.allow(tool_args={**tool_call.args, "command": "echo safe"})
    """)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.exit_code == 0
    assert done.specific["permissionDecision"] == "allow"
    assert done.specific["updatedInput"]["command"] == "echo safe"


@pytest.mark.parametrize("agent", AGENTS)
def test_context_is_added_to_a_prompt(command, payload, agent):
    command.install("""
        @hookimpl
        def user_input(prompt):
            return HookOutcome.update(context=prompt.upper())
    """)
    done = command.answer(agent, payload(agent, "UserPromptSubmit", prompt="tidy up"))
    assert (done.specific["additionalContext"], done.exit_code) == ("TIDY UP", 0)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_stop_at_a_tool_also_refuses_the_call(command, payload, agent):
    command.install("""
        @hookimpl
        def before_tool_use():
            return HookOutcome.stop("enough")
    """)
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
    command.install("""
        @hookimpl
        def before_tool_use(ctx):
            return HookOutcome.deny(ctx.project_dir or "none")
    """)
    project, beside, link = command.folder / "project", command.folder / "project2", command.folder / "link"
    for made in (project / "src", beside):
        made.mkdir(parents=True)
    link.symlink_to(project)
    cases = [
        ("claude-code", project, project, project),
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


# -- what only the host's side knows -----------------------------------------------------------------------------------

SEEN = """
    import os

    @hookimpl(specname="before_tool_use", mode="observe")
    def look(ctx):
        with open(os.environ["SEEN"], "a") as file:
            print(ctx.outcome.decision, file=file)
"""


@pytest.mark.parametrize(
    ("agent", "answer", "decision"),
    [
        ("claude-code", "update", "ask"),
        ("claude-code", "allow", "allow"),
        ("codex", "update", "deny"),
        ("codex", "allow", "allow"),
    ],
)
def test_observers_see_what_the_host_makes_of_new_arguments(command, payload, agent, answer, decision):
    command.install(
        SEEN
        + f"""
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.{answer}(tool_args={{**tool_call.args, "command": "echo safe"}})
"""
    )
    seen = command.folder / "seen"
    done = command.answer(agent, payload(agent, "PreToolUse"), env={"SEEN": str(seen)})
    assert done.specific["permissionDecision"] == decision
    assert seen.read_text().split() == [decision]
    assert (
        ("echo safe" in done.stderr) if decision == "deny" else done.specific["updatedInput"]["command"] == "echo safe"
    )


def test_observers_see_the_deny_of_a_rewrite_of_which_codex_would_take_only_a_part(command, payload):
    command.install(
        SEEN
        + """
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.allow(tool_args={"command": "echo safe", "timeout": 5})
"""
    )
    seen = command.folder / "seen"
    done = command.answer("codex", payload("codex", "PreToolUse"), env={"SEEN": str(seen)})
    assert done.denies
    assert "'timeout'" in done.stderr
    assert seen.read_text().split() == ["deny"]


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_observers_see_what_becomes_of_a_question_that_codex_does_not_put(command, payload, mode):
    command.install(
        SEEN
        + """
    @hookimpl
    def before_tool_use(tool_call):
        return HookOutcome.ask("really?")
"""
    )
    seen = command.folder / "seen"
    tool = payload("codex", "PreToolUse", permission_mode=mode)
    done = command.answer("codex", tool, "--on-ask", "host", env={"SEEN": str(seen)})
    assert done.denies == (mode == "bypassPermissions")
    assert seen.read_text().split() == ["deny" if done.denies else "ask"]


SPAWNS = {
    "claude-code": {"tool_name": "Agent", "tool_input": {"subagent_type": "explorer", "prompt": "look around"}},
    "codex": {"tool_name": "spawn_agent", "tool_input": {"agent_type": "explorer", "message": "look around"}},
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("colour", ["def", "async def"])
@pytest.mark.parametrize("decision", ["deny", "stop", "suspend", "ask"])
def test_a_subagent_is_refused_at_the_tool_call_that_starts_it(command, payload, agent, colour, decision):
    """At its own event, the host starts it whatever is answered."""
    command.install(
        SEEN
        + f"""
    @hookimpl(match="explorer")
    {colour} before_subagent(name, task, ctx):
        return HookOutcome.{decision}(f"no {{name}} for: {{task}}")
"""
    )
    seen = {"env": {"SEEN": str(command.folder / "seen")}}
    done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]), **seen)
    assert "no explorer for: look around" in done.specific["permissionDecisionReason"]
    if decision == "ask" and agent == "claude-code":
        assert (done.specific["permissionDecision"], done.exit_code) == ("ask", 0)
    else:
        assert done.denies
        assert (done.json.get("continue") is False) == (decision == "stop" and agent == "claude-code")
    (told,) = (command.folder / "seen").read_text().split()
    assert told == ("deny" if decision == "ask" and agent == "codex" else decision)
    other = payload(agent, "PreToolUse", tool_name="Read", tool_input={"agent_type": "explorer", "file_path": "x"})
    assert command.answer(agent, other, **seen).exit_code == 0


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("own", "subagents", "said"),
    [
        ('HookOutcome.stop("no tools")', 'HookOutcome.deny("no agents")', "no tools"),
        ("HookOutcome.allow()", 'HookOutcome.deny("no agents")', "no agents"),
        ("HookOutcome.update(context='x')", "1 / 0", "house.before_subagent failed"),
        ("None", 'HookOutcome.update(task="look away")', "Do it again with this instead: look away"),
    ],
)
def test_the_stricter_of_what_is_said_about_the_tool_and_the_subagent_counts(
    command, payload, agent, own, subagents, said
):
    command.install(f"""
        @hookimpl
        def before_tool_use():
            return {own}

        @hookimpl
        def before_subagent():
            return {subagents}
    """)
    done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]))
    assert done.denies
    assert said in done.stderr


def test_a_subagent_is_judged_by_what_the_call_has_become(command, payload):
    command.install("""
        @hookimpl
        def before_tool_use(tool_call):
            return HookOutcome.allow(tool_args={**tool_call.args, "subagent_type": "explorer"})

        @hookimpl(match="explorer")
        def before_subagent():
            return HookOutcome.deny("no explorers")
    """)
    spawn = {"tool_name": "Agent", "tool_input": {"subagent_type": "planner", "prompt": "plan"}}
    assert command.answer("claude-code", payload("claude-code", "PreToolUse", **spawn)).why == "no explorers"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_subagent_without_objection_starts_in_silence(command, payload, agent):
    command.install("""
        @hookimpl
        def before_subagent(name):
            return HookOutcome.update(context=f"be brief, {name}")
    """)
    done = command.answer(agent, payload(agent, "PreToolUse", **SPAWNS[agent]))
    assert (done.stdout, done.stderr, done.exit_code) == ("", "", 0)


@pytest.mark.parametrize(("match", "exit_code"), [("shel", 2), ("BASH", 2), ("hash", 0), ("bash", 2), ("bash|hash", 2)])
def test_a_match_never_sleeps(command, payload, match, exit_code):
    command.install(f"""
        @hookimpl(match={match!r})
        def before_tool_use():
            return HookOutcome.deny("not here")
    """)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert done.exit_code == exit_code
    if match in ("shel", "BASH"):
        assert "Did you mean" in done.why


def test_a_disabled_plugin_is_told_with_every_answer(command, payload):
    command.install(DENY)
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"), env={"AGENT_HOOKS_DISABLE": "house"})
    assert done.exit_code == 0
    assert "AGENT_HOOKS_DISABLE" in done.json["systemMessage"]
    assert "house" in done.json["systemMessage"]


def test_a_tolerated_failure_is_told(command, payload):
    command.install("""
        @hookimpl
        def after_tool_use():
            raise ValueError("broken")
    """)
    done = command.answer("claude-code", payload("claude-code", "PostToolUse"))
    assert done.exit_code == 0
    assert "house.after_tool_use" in done.json["systemMessage"]


# -- forced continuation -----------------------------------------------------------------------------------------------


def rounds(command, payload, agent, actives, **options):
    """For each stop in turn, whether the agent must go on."""
    answers = [command.answer(agent, payload(agent, "Stop", stop_hook_active=active), **options) for active in actives]
    return [bool(done.json) and done.json.get("decision") == "block" for done in answers], answers


@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_can_force_three_rounds_in_a_row_and_then_the_agent_may_stop(command, payload, agent):
    command.install(GO_ON)
    forced, answers = rounds(command, payload, agent, [False, True, True, True])
    assert forced == [True, True, True, False]
    assert (answers[0].stderr, answers[0].exit_code) == ("the tests are red", 2)
    assert answers[3].exit_code == 0
    assert "house.on_stop" in answers[3].json["systemMessage"]


def test_a_new_turn_counts_from_the_start(command, payload):
    command.install(GO_ON)
    forced, _ = rounds(command, payload, "codex", [False, True, True, True, False, True])
    assert forced == [True, True, True, False, True, True]


def test_a_stop_that_was_let_through_within_a_row_does_not_end_it(command, payload):
    """Another command of the host's may have made the agent go on there."""
    command.install("""
        import os

        @hookimpl
        def on_stop():
            return HookOutcome.force_continue("red") if os.environ.get("RED") else None
    """)
    red = {"env": {"RED": "1"}}
    assert rounds(command, payload, "codex", [False, True, True], **red)[0] == [True, True, True]
    assert rounds(command, payload, "codex", [True])[0] == [False]
    assert rounds(command, payload, "codex", [True, False], **red)[0] == [False, True]


ENDS = {  # what makes the host go on, and a payload of it that does not say whether that is a repeat
    "Stop": ("on_stop", "force_continue"),
    "SubagentStop": ("after_subagent", "deny"),
    "TeammateIdle": ("on_host_event", "deny"),
}


@pytest.mark.parametrize("event", ENDS)
def test_where_the_host_does_not_say_that_it_goes_on_already_a_session_has_three_rounds(command, payload, event):
    hook, decision = ENDS[event]
    command.install(f"""
        @hookimpl
        def {hook}():
            return HookOutcome.{decision}("the tests are red")
    """)
    folder = "documented/" if event == "TeammateIdle" else ""
    said = payload("claude-code", folder + event)
    said.pop("stop_hook_active", None)
    answers = [command.answer("claude-code", said) for _ in range(5)]
    assert [done.exit_code for done in answers] == [2, 2, 2, 0, 0]
    assert f"house.{hook}" in answers[3].json["systemMessage"]
    assert command.answer("claude-code", {**said, "session_id": "another"}).exit_code == 2
    if event == "TeammateIdle":
        assert command.answer("claude-code", {**said, "teammate_name": "another"}).exit_code == 2


@pytest.mark.parametrize("event", ENDS)
def test_a_hook_that_breaks_does_not_make_an_agent_go_on(command, payload, event):
    command.install(f"""
        @hookimpl(required=True)
        def {ENDS[event][0]}():
            raise ValueError("broken")
    """)
    said = payload("claude-code", ("documented/" if event == "TeammateIdle" else "") + event)
    done = command.answer("claude-code", said)
    assert done.exit_code == 0
    assert "broken" in done.json["systemMessage"]
    assert "decision" not in done.json


def test_sessions_and_agents_are_counted_apart(command, payload):
    command.install(GO_ON)
    rounds(command, payload, "codex", [False, True, True])
    other = payload("codex", "Stop", stop_hook_active=True, session_id="another")
    assert command.answer("codex", other).exit_code == 2


def test_where_counting_is_not_possible_no_second_round_is_forced(command, payload):
    command.install(GO_ON)
    blocked = command.folder / "file"
    blocked.write_text("")  # a file where the folder would have to be: read-only even for root
    forced, answers = rounds(
        command, payload, "claude-code", [False, True], env={"AGENT_HOOKS_STATE_DIR": str(blocked / "state")}
    )
    assert forced == [True, False]
    assert "AGENT_HOOKS_STATE_DIR" in answers[1].json["systemMessage"]


NOTES = {
    "untrusted": ("not active in the project", "hookconf.py", HOOKCONF),
    "shadow": ("the whole policy is in shadow", None, "[policy]\nshadow = true\n"),
}


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_note_for_people_is_told_once_in_a_session(command, payload, project, agent, note):
    said, file, text = NOTES[note]
    if file:
        project.write({file: text})
    else:
        command.configure(text)

    def told(event, session="s"):
        done = command.answer(agent, payload(agent, event, cwd=str(project.root), session_id=session))
        return said in (done.json or {}).get("systemMessage", ""), said in done.stderr

    assert told("SessionEnd")[0] is False  # shown to nobody, so it does not count
    assert told("PreToolUse") == (True, False)
    assert told("PreToolUse") == told("Stop") == (False, False)
    assert told("PreToolUse", "another") == (True, False)
    assert told("SessionStart") == (True, False)  # resumed
    assert told("UserPromptSubmit") == (False, False)


def test_without_a_state_folder_a_note_is_told_each_time(command, payload, project):
    project.write({"hookconf.py": HOOKCONF})
    (command.folder / "file").write_text("")
    env = {"AGENT_HOOKS_STATE_DIR": str(command.folder / "file" / "state")}
    for _ in range(2):
        done = command.answer("codex", payload("codex", "PreToolUse", cwd=str(project.root)), env=env)
        assert "not active" in done.json["systemMessage"]


def test_the_model_of_codex_reads_no_note_for_people(command, payload, project):
    """It reads all of stderr where a hook exits 2."""
    command.install(DENY)
    project.write({"hookconf.py": HOOKCONF})
    done = command.answer("codex", payload("codex", "PreToolUse", cwd=str(project.root)))
    assert done.denies
    assert as_written(done.stderr) == "not here"
    assert "not active" in done.json["systemMessage"]
    assert "agent_hooks: deny by " in done.json["systemMessage"]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "source", ["import os; os._exit(0)", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
)
def test_a_plugin_that_ends_the_process_at_its_import_is_named(command, payload, agent, source):
    command.install(DENY)
    command.install(source, "deadly")
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert done.denies
    assert "while the import of the plugin 'deadly' of deadly was running; repair it" in done.why


def test_a_hookconf_that_ends_the_process_is_named(command, payload, project):
    command.trust(project.write({"hookconf.py": "import os; os._exit(0)"}))
    done = command.answer("codex", payload("codex", "PreToolUse", cwd=str(project.root)))
    assert done.denies
    assert f"while the import of {project.at('hookconf.py')} was running" in done.why


def test_the_refusal_of_a_broken_plugin_points_into_its_code_and_not_into_ours(command, payload):
    command.install("1 / 0", "broken")
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"))
    assert done.denies
    place = f"{command.site / 'broken_rules.py'}:2"
    assert f"agent_hooks: deny by {place}." in done.json["systemMessage"]
    assert "installed.py" not in done.said


def test_a_command_without_a_home_works(command, payload):
    command.install(GO_ON)
    command.environment.pop("HOME")
    command.environment["CLAUDE_CONFIG_DIR"] = str(command.folder / "claude")
    command.environment["AGENT_HOOKS_STATE_DIR"] = str(command.folder / "state")
    assert rounds(command, payload, "codex", [False])[0] == [True]


# -- hooks of files ----------------------------------------------------------------------------------------------------

# What a project may have, and where in it a deny is written.
FILES = {
    "toml": ({"agent-hooks.toml": toml(["sh", "-c", denying("not here")])}, "agent-hooks.toml:2"),
    "hookconf": ({"hookconf.py": HOOKCONF.format(reason="not here")}, "{root}/hookconf.py:4"),
    "claude": ({".claude/settings.json": settings("PreToolUse", denying("not here"))}, ".claude/settings.json:6"),
    "local": (
        {".claude/settings.local.json": settings("PreToolUse", denying("not here"))},
        ".claude/settings.local.json:6",
    ),
}
OF_CLAUDE = ("claude", "local")


def at(payload, project, agent="claude-code", event="PreToolUse", **changes):
    """A recorded payload, as if it had happened in the project."""
    return payload(agent, event, **{"cwd": str(project.root), **changes})


def reason(done):
    """What the model is told, without what people are told."""
    return as_written(done.specific["permissionDecisionReason"])


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", FILES)
def test_a_trusted_projects_gates_deny_and_people_are_told_where_that_is_written(
    command, payload, project, agent, name
):
    files, place = FILES[name]
    command.trust(project.write(files))
    done = command.answer(agent, at(payload, project, agent))
    if agent == "claude-code" and name in OF_CLAUDE:  # it runs them itself
        assert (done.stdout, done.stderr, done.exit_code) == ("", "", 0)
        return
    assert done.denies
    assert done.json["systemMessage"] == f"agent_hooks: deny by {place.format(root=project.root)}."
    assert reason(done) == done.why == "not here"


@pytest.mark.parametrize(
    ("args", "exit_code"),
    [
        ({"dest": "docs/new.md", "text": "x"}, 2),
        ({"dest": ["src/a.md", "docs/new.md"]}, 2),
        ({"text": "see docs/new.md"}, 0),
        ({"path": "src/new.md", "text": "docs/new.md"}, 0),
    ],
    ids=str,
)
def test_a_hookconf_is_asked_about_a_path_under_any_argument(command, payload, project, args, exit_code):
    project.write({"docs/hookconf.py": HOOKCONF, "src/a.md": ""})
    command.trust(project)
    event = payload("claude-code", "PreToolUse", cwd=str(project.root), tool_name="mcp__fs__save", tool_input=args)
    assert command.answer("claude-code", event).exit_code == exit_code


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", FILES)
def test_people_are_told_of_a_project_that_nobody_trusts_and_the_other_hooks_hold(
    command, payload, project, agent, name
):
    project.write(FILES[name][0])
    done = command.answer(agent, at(payload, project, agent))
    assert (done.exit_code, done.specific) == (0, {})
    if agent == "claude-code" and name in OF_CLAUDE:
        assert (done.stdout, done.stderr) == ("", "")
        return
    said = f"1 gate is not active in the project {project.root}, because nobody has trusted its files."
    assert said in done.json["systemMessage"]
    assert f"type `agent-hooks trust {project.root}`" in done.json["systemMessage"]
    command.install(DENY)
    denied = command.answer(agent, at(payload, project, agent))
    assert denied.denies
    assert reason(denied) == "not here"


def test_people_are_told_of_a_change_of_what_was_trusted(command, payload, project):
    command.trust(project.write(FILES["toml"][0])).write({"agent-hooks.toml": toml(["true"])})
    done = command.answer("claude-code", at(payload, project))
    assert (done.exit_code, done.specific) == (0, {})
    assert "files changed since they were trusted: agent-hooks.toml has changed." in done.json["systemMessage"]
    assert "agent-hooks trust --diff" in done.json["systemMessage"]


def test_claude_codes_settings_are_not_run_a_second_time(command, payload, project):
    """Neither the project's nor the user's; a plugin of Claude Code that we name runs on either host."""
    runs = f"echo run >> {project.at('runs')}"
    project.write({".claude/settings.json": settings("PreToolUse", runs)})
    (command.home / ".claude").mkdir()
    (command.home / ".claude" / "settings.json").write_text(settings("PreToolUse", f"{runs};"))
    project.write({"plugin/hooks/hooks.json": settings("PreToolUse", f"{runs}; :")})
    command.configure(f"claude_plugins = [{json.dumps(project.at('plugin'))}]")
    command.trust(project)
    counts = []
    for agent in AGENTS:
        assert command.answer(agent, at(payload, project, agent)).exit_code == 0
        counts.append((project.root / "runs").read_text().count("run"))
        (project.root / "runs").unlink()
    assert dict(zip(AGENTS, counts, strict=True)) == {"claude-code": 1, "codex": 3}


def test_what_is_wrong_with_claude_codes_settings_is_no_reason_to_deny_in_claude_code(command, payload, project):
    project.write({".claude/settings.json": settings("PreToolUse", {"type": "prompt", "prompt": "?"}, matcher="(")})
    (command.home / ".claude").mkdir()
    (command.home / ".claude" / "settings.json").write_text("{")
    command.trust(project)
    done = command.answer("claude-code", at(payload, project))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert command.answer("codex", at(payload, project, "codex")).denies


def test_what_cannot_be_honoured_denies_until_the_user_lives_with_it(command, payload, project):
    command.trust(project.write({"agent-hooks.toml": toml("", handler='type = "nope"', matcher="Bash")}))
    done = command.answer("claude-code", at(payload, project))
    assert done.denies
    assert done.json["systemMessage"].startswith(f"agent_hooks: deny by {project.at('agent-hooks.toml')}:3.")
    name = done.stderr.partition("add '")[2].partition("'")[0]
    assert f"add '{name}' to `ignore` in your own agent-hooks.toml" in done.stderr
    command.configure(f"ignore = [{json.dumps(name)}]")
    assert command.answer("claude-code", at(payload, project)).exit_code == 0


@pytest.mark.parametrize("agent", AGENTS)
def test_required_gates_that_are_not_trusted_deny_what_can_be_denied(command, payload, project, agent):
    project.write(FILES["toml"][0])
    command.configure("[policy]\nrequire_project_gates = true")
    done = command.answer(agent, at(payload, project, agent))
    assert done.denies
    assert "The policy requires the gates of a project." in done.stderr
    assert f"agent-hooks trust {project.root}" in done.stderr
    for event in ("Stop", "SessionEnd", "PostToolUse"):
        assert command.answer(agent, at(payload, project, agent, event)).exit_code == 0


def test_claude_codes_own_settings_are_no_gates_that_could_be_required_of_us(command, payload, project):
    project.write(FILES["claude"][0])
    command.configure("[policy]\nrequire_project_gates = true")
    assert command.answer("claude-code", at(payload, project)).exit_code == 0
    assert command.answer("codex", at(payload, project, "codex")).denies


def test_the_project_is_where_the_event_happens_and_where_the_session_began(command, payload, project, tmp_path):
    command.trust(project.write(FILES["toml"][0]))
    other = Project(tmp_path, "other").write({"hookconf.py": HOOKCONF.format(reason="other")})
    command.trust(other)
    elsewhere = at(payload, project, cwd=str(tmp_path))
    assert command.answer("claude-code", elsewhere).exit_code == 0
    began = {"CLAUDE_PROJECT_DIR": str(project.root)}
    assert reason(command.answer("claude-code", elsewhere, env=began)) == "not here"
    assert command.answer("claude-code", at(payload, other), env=began).denies
    assert reason(command.answer("codex", at(payload, other, "codex"), env=began)) == "other"
    (project.root / "src").mkdir()
    assert reason(command.answer("codex", at(payload, project, "codex", cwd=project.at("src")))) == "not here"


def test_a_nested_file_is_found_by_the_path_that_is_touched(command, payload, project):
    command.trust(project.write({"deep/down/hookconf.py": HOOKCONF.format(reason="deep")}))
    inside = at(payload, project, event="PreToolUse.Write")
    inside["tool_input"]["file_path"] = project.at("deep/down/x.txt")
    assert reason(command.answer("claude-code", inside)) == "deep"
    inside["tool_input"]["file_path"] = project.at("deep/x.txt")
    assert command.answer("claude-code", inside).exit_code == 0


def test_an_agent_cannot_trust_on_its_own_behalf(command, payload, project):
    project.write(FILES["toml"][0])
    for typed in ("agent-hooks trust --digest sha256:0 .", "echo x > agent-hooks.toml", "rm -rf .claude/settings.json"):
        done = command.answer("claude-code", at(payload, project, tool_input={"command": typed}))
        assert done.denies, typed


def test_files_are_not_switched_off_by_the_variable_for_plugins(command, payload, project):
    command.trust(project.write(FILES["toml"][0]))
    names = f"{project.at('agent-hooks.toml')},agent_hooks.protection"
    done = command.answer("claude-code", at(payload, project), env={"AGENT_HOOKS_DISABLE": names})
    assert done.denies
    assert "AGENT_HOOKS_DISABLE is set" in done.json["systemMessage"]


def test_context_of_a_file_reaches_the_model(command, payload, project):
    command.trust(project.write({"agent-hooks.toml": toml(["echo", "Be brief."], "user_input")}))
    done = command.answer("codex", at(payload, project, "codex", "UserPromptSubmit"))
    assert (done.specific["additionalContext"], done.exit_code) == ("Be brief.", 0)


REWRITE = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "echo safe"},
    }
}


def test_a_users_own_claude_settings_may_rewrite_and_a_projects_may_not(command, payload, project):
    text = settings("PreToolUse", f"echo '{json.dumps(REWRITE)}'")
    (command.home / ".claude").mkdir()
    (command.home / ".claude" / "settings.json").write_text(text)
    done = command.answer("codex", at(payload, project, "codex"))
    assert done.specific["updatedInput"] == {"command": "echo safe"}
    (command.home / ".claude" / "settings.json").unlink()
    command.trust(project.write({".claude/settings.json": text}))
    refused = command.answer("codex", at(payload, project, "codex"))
    assert refused.denies
    assert "may not change" in refused.stderr


def test_a_folder_that_is_gone_is_no_way_out(command, payload, project):
    command.trust(project.write(FILES["toml"][0]))
    (command.folder / "gone").mkdir()
    process = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *command.arguments("run", "--agent", "codex")],
        env=command.environment,
        cwd=command.folder / "gone",
        input=json.dumps(at(payload, project, "codex")).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, as_written(process.stderr.decode().splitlines()[0])) == (2, "not here")


# -- command lines -----------------------------------------------------------------------------------------------------

WRONG = {
    "no agent": [],
    "unknown agent": ["--agent", "claud"],
    "empty agent": ["--agent", ""],
    "agent without a value": ["--agent"],
    "unknown option": ["--agent", "codex", "--evnt", "PreToolUse"],
    "a word too many": ["--agent", "codex", "PreToolUse"],
    "timeout of zero": ["--agent", "codex", "--timeout", "0"],
    "timeout of text": ["--agent", "codex", "--timeout", "soon"],
    "endless timeout": ["--agent", "codex", "--timeout=inf"],
    "ask of nobody": ["--agent", "codex", "--on-ask", "allow"],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_line_refuses_what_can_be_refused(command, payload, name):
    done = command("run", *WRONG[name], stdin=json.dumps(payload("codex", "PreToolUse")))
    assert done.denies
    assert done.stderr.startswith("agent-hooks: ")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_line_does_not_keep_an_agent_from_stopping(command, payload, name):
    done = command("run", *WRONG[name], stdin=json.dumps(payload("codex", "Stop")))
    assert (done.stdout, done.exit_code) == ("", 0)
    assert done.stderr.startswith("agent-hooks: ")


def test_an_unknown_agent_is_told_which_there_are(command):
    done = command("run", "--agent", "claud", stdin="{}")
    assert "'claud'" in done.stderr
    assert "claude-code" in done.stderr
    assert "codex" in done.stderr
    assert done.stdout == ""


def test_an_event_that_is_not_the_payloads_is_refused(command, payload):
    done = command.answer("claude-code", payload("claude-code", "PreToolUse"), "--event", "SessionEnd")
    assert done.denies
    assert "SessionEnd" in done.stderr
    done = command.answer("claude-code", payload("claude-code", "Stop"), "--event", "PreToolUse")
    assert done.exit_code == 0


def test_an_option_may_be_written_with_an_equals_sign(command, payload):
    command.install(DENY)
    done = command("run", "--agent=codex", "--event=PreToolUse", stdin=json.dumps(payload("codex", "PreToolUse")))
    assert done.why == "not here"


def test_the_options_are_explained(command):
    done = command("run", "--help")
    assert done.exit_code == 0
    for option in ("--agent", "--event", "--timeout", "--on-ask"):
        assert option in done.stdout


# -- what reaches terminals and models ---------------------------------------------------------------------------------

_CONTROLLED = "no\x1b[31mt\x1b]0;title\x07 he\x00\x08\x9b1mre\x7f \u202e\u2066never\u200f\U000e0041"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("decision", ["deny", "ask", "stop", "suspend"])
def test_reasons_hold_no_control_characters(command, payload, agent, decision):
    command.install(f"""
        @hookimpl
        def before_tool_use():
            return HookOutcome.{decision}({_CONTROLLED!r})
    """)
    done = command.answer(agent, payload(agent, "PreToolUse"))
    assert "not here never" in (done.stdout + done.stderr)
    said = json.dumps(done.json, ensure_ascii=False) + done.stderr
    assert all(each.isprintable() or each == "\n" for each in said)


FORGING = "a\x1b[2J\u3164\nagent-hooks: trusted\u200b"


@pytest.mark.parametrize(
    "files",
    [
        {"hookconf.py": "1 / 0"},
        {"hookconf.py": HOOKCONF.format(reason="")},
        {"agent-hooks.toml": "[hooks\n"},
        {"agent-hooks.toml": toml(["sh", "-c", "exit 2"], matcher="Bash")},
    ],
    ids=["broken", "silent", "no toml", "command"],
)
def test_the_name_of_a_folder_forges_no_line(command, payload, tmp_path, files):
    project = Project(tmp_path, FORGING).write(files)
    command.trust(project)
    event = payload("claude-code", "PreToolUse", cwd=str(project.root))
    answers = (command.answer("claude-code", event), command("check", "PreToolUse", "--tool", "Bash", cwd=project.root))
    for done in answers:
        said = done.stdout + done.stderr
        assert "hookconf.py" in said or "agent-hooks.toml" in said
        assert not [line for line in said.split("\n") if line.startswith("agent-hooks: trusted")]
        assert not {"\x1b", "\u3164", "\u200b"} & set(said)


def test_reasons_keep_lines_tabs_and_the_letters_of_every_language(command, payload):
    reason = "erstens\n\tzweitens: نمی‌خواهم 👩‍💻 日本語"
    command.install(f"""
        @hookimpl
        def before_tool_use():
            return HookOutcome.deny({reason!r})
    """)
    done = command.answer("codex", payload("codex", "PreToolUse"))
    assert as_written(done.specific["permissionDecisionReason"]) == reason
    assert as_written(done.stderr).startswith(reason)


def test_new_arguments_are_handed_over_with_their_control_characters(command, payload):
    args = {"command": "printf '\x1b[0m\u202e'"}
    command.install(f"""
        @hookimpl
        def before_tool_use():
            return HookOutcome.allow(tool_args={args!r})
    """)
    done = command.answer("codex", payload("codex", "PreToolUse"))
    assert done.specific["updatedInput"] == args
