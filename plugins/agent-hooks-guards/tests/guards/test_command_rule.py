"""Rules of settings files that name a program: they mean what ``ToolCall.may_run`` means."""

from __future__ import annotations

import pytest
from making import about, judged

from agent_hooks import RegistrationError
from agent_hooks_guards.guards.command_rule import CommandRule
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("rule", "command", "decision"), TABLES["what_a_rule_about_a_program_decides"])
def test_what_a_rule_about_a_program_decides(rule, command, decision):
    outcome = CommandRule(**rule).execute(about(kind="shell", args={"command": command}))
    assert ("nothing" if outcome is None else outcome.decision) == decision


def test_the_reason_is_the_given_one_or_names_the_commands():
    call = about(kind="shell", args={"command": "gh pr merge 7"})
    assert judged(CommandRule("gh", "pr merge", reason="People merge."), call).reason == "People merge."
    own = CommandRule(["gh", "hub"], ["pr merge", "release create"], decision="ask")
    assert judged(own, call).reason == (
        "A rule asks about `gh pr merge`, `gh release create`, `hub pr merge`, `hub release create`."
    )


def test_a_tool_that_is_no_shell_and_has_no_command_passes():
    assert CommandRule("git", "push").execute(about(kind="read", args={"path": "git push"})) is None


@pytest.mark.parametrize(
    ("program", "given", "message"),
    [
        ("", {}, "program must be one or more texts"),
        ([], {}, "program must be one or more texts"),
        ("git", {"subcommand": [" "]}, "subcommand must be one or more texts"),
        ("git", {"decision": "allow"}, "decision must be one of deny, ask, not 'allow'"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(program, given, message):
    with pytest.raises(RegistrationError, match=message):
        CommandRule(program, **given)
