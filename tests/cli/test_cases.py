"""``agent-hooks check --cases``: decisions beside expected ones, for rules that have no other tests."""

from __future__ import annotations

import pytest

from projects import Project, denying, toml

CASES = """\
[[case]]
event = "before_tool_use"
tool = "Bash"
arg.command = "rm -rf build"
expect = "deny"
reason = "not here"

[[case]]
event = "before_tool_use"
tool = "Read"
arg = { file_path = "notes.txt", limit = 3 }
cwd = "src"
expect = "proceed"

[[case]]
event = "beforeShellExecution"
agent = "cursor"
tool = "Shell"
arg.command = "ls"
expect = "block"
"""


@pytest.fixture
def check(command, tmp_path):
    """The command on a table of cases, in a trusted project whose one rule denies every shell command."""
    project = Project(tmp_path).write({"agent-hooks.toml": toml(denying("not here"), matcher="shell")})
    (project.root / "src").mkdir()
    command.trust(project)

    def ask(text, *options):
        project.write({"cases.toml": text})
        return command("check", "--cases", "cases.toml", *options, cwd=project.root)

    return ask


def test_cases_are_decided_as_expected(check):
    done = check(CASES)
    assert (done.exit_code, done.said) == (0, "3 cases, decided as expected.\n")


def test_each_case_that_is_decided_otherwise_is_a_line_with_both_decisions(check):
    done = check(CASES.replace('"not here"', '"not there"').replace('"proceed"', '"allow"').replace('"block"', '"ask"'))
    rule = "agent-hooks.toml:3: not here"
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"cases.toml:1: before_tool_use: expected deny with the reason 'not there', got deny by {rule}",
        "cases.toml:8: before_tool_use: expected allow, got proceed (no hook objects, and none was needed to allow it)",
        f"cases.toml:15: beforeShellExecution: expected ask, got deny by {rule}",
        "3 cases, 3 decided otherwise.",
    ]


def test_programs_read_the_same(check):
    done = check(CASES.replace('"not here"', '"not there"'), "--json")
    (differing,) = done.json["differing"]
    assert (done.exit_code, done.json["cases"], done.json["notes"]) == (1, 3, [])
    assert (differing["line"], differing["event"]) == (1, "before_tool_use")
    assert differing["expected"] == {"decision": "deny", "reason": "not there"}
    assert differing["got"] == {"decision": "deny", "hook": "agent-hooks.toml:3", "reason": "not here"}


def test_a_rule_without_trust_denies_nothing_and_the_output_says_why(command, tmp_path):
    files = {"agent-hooks.toml": toml(denying("not here"), matcher="shell"), "cases.toml": CASES}
    done = command("check", "--cases", "cases.toml", "--cwd", ".", cwd=Project(tmp_path).write(files).root)
    assert done.exit_code == 1
    assert "nobody has trusted its files" in done.stdout
    assert "expected deny with the reason 'not here', got proceed" in done.stdout


def test_each_case_is_asked_as_if_it_were_the_only_one(command, tmp_path):
    command.install("""
        calls = []

        @hookimpl
        def agent_hooks_register(manager):
            calls.clear()

        @hookimpl
        def before_tool_use(tool_call):
            calls.append(tool_call)
            if len(calls) > 1:
                return HookOutcome.deny("a second call")
    """)
    case = '[[case]]\nevent = "PreToolUse"\ntool = "Bash"\nexpect = "proceed"\n'
    (tmp_path / "cases.toml").write_text(case * 3)
    assert command("check", "--cases", "cases.toml").said == "3 cases, decided as expected.\n"


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("tool =", "tol ="), 3, "case[0].tol is not a key here. Those there are: event, expect, reason, tool, arg"),
        (("tool =", "tol ="), 3, "Did you mean 'tool'?"),
        (("[[case]]", "[[cases]]"), 1, "cases is not a key here. Those there are: case. Did you mean 'case'?"),
        (("[[case]]", "[case]"), 1, "must be a valid list, not a table."),
        (('expect = "deny"', ""), 1, "case[0].expect is missing."),
        (('"deny"', '"denied"'), 1, "'denied' is not a decision; use one of proceed, allow, deny"),
        (('"before_tool_use"', '"before_tol_use"'), 1, "before_tool_use"),
        (('tool = "Bash"', ""), 1, "is about a tool call"),
        (('arg.command = "rm -rf build"', 'arg = "rm"'), 4, "case[0].arg must be a table, not a text."),
        (('reason = "not here"', 'agent = "claud"'), 1, "'claud'"),
        (('"Bash"', "Bash"), 3, "is not TOML in UTF-8"),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_line_and_nothing_is_asked(check, change, line, says):
    old, new = change
    done = check(CASES.partition("\n\n")[0].replace(old, new))
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr, done
    assert f"line {line}" in done.stderr or f"cases.toml:{line}: " in done.stderr, done


def test_every_mistake_is_named_at_once(check):
    assert len(check(CASES.replace("tool =", "tol =")).stderr.splitlines()) == 3


@pytest.mark.parametrize(
    "arguments", [[], ["before_tool_use", "--cases", "cases.toml"], ["--cases", "cases.toml", "--tool", "Bash"]]
)
def test_an_event_is_named_in_one_place(command, arguments):
    done = command("check", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--cases" in done.stderr
    assert (
        command("check", "--cases", "missing.toml").stderr
        == "missing.toml cannot be read: No such file or directory.\n"
    )
