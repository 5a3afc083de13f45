"""What a command line may run, and whether it runs nothing else."""

from __future__ import annotations

import shlex

import pytest

from agent_hooks import ToolCall
from tables import rows, tables

TABLES = tables(__file__)


def yes_or_no(table: str) -> pytest.MarkDecorator:
    """The rows of a table with the answers `yes` and `no`, each with whether its answer is yes."""
    answered = [(command, answer == "yes") for answer, commands in TABLES[table].items() for command in commands]
    return pytest.mark.parametrize(("command", "expected"), answered)


def bash(command: str) -> ToolCall:
    return ToolCall("Bash", {"command": command})


@pytest.mark.parametrize("command", rows(TABLES["may_push"]))
def test_a_command_may_run_git_push_however_it_is_written(command):
    assert bash(command).may_run("git", "push")


@pytest.mark.parametrize("command", rows(TABLES["no_push"]))
def test_words_that_exclude_git_push_are_left_alone(command):
    assert not bash(command).may_run("git", "push")


@yes_or_no("forced")
def test_flags_narrow_the_question(command, expected):
    assert bash(command).may_run("git", "push", flags={"--force", "-f"}) is expected


@yes_or_no("only")
def test_only_these_commands_are_run_if_every_word_is_certain(command, expected):
    assert bash(command).runs_only("git status", "git diff") is expected


@yes_or_no("opaque")
def test_a_script_or_an_unknown_program_may_run_anything(command, expected):
    assert bash(command).is_opaque is expected


def test_the_commands_of_a_line_have_names():
    first, second = bash("git -C docs log --oneline main; sudo rm -rf $X").commands
    assert first == ("git", "log", ("-C", "--oneline"), ("docs", "main"), True)
    assert (second.program, second.options, second.args, second.is_certain) == ("rm", ("-rf",), (), False)


def test_a_command_is_found_once():
    assert [each.program for each in bash("sh -c 'ls' && sed '1e date' notes; sudo sh -c 'pwd'").commands] == [
        *("ls", "sed", "date", "pwd")
    ]


def test_three_programs_with_options_before_their_subcommands():
    assert bash("docker --context far compose -f x.yml down").may_run("docker", "compose", "down")
    assert bash("kubectl -n kube-system delete pod x").may_run("kubectl", "delete")
    assert not bash("kubectl -n delete get pods").may_run("kubectl", "delete")


def test_a_wrapper_and_a_shell_are_programs_too():
    assert bash("env X=1 sudo ls").may_run("sudo")
    assert bash("sudo bash -c 'ls'").may_run("bash")
    assert bash("sh -c 'sudo ls'").may_run("sudo")
    assert not bash("ls sudo").may_run("sudo")


def test_a_command_of_a_tool_that_is_no_shell_counts():
    assert ToolCall("mcp__box__start", {"command": "git push"}).may_run("git", "push")
    assert not ToolCall("Read", {"file_path": "git push"}).may_run("git", "push")
    assert ToolCall("Read", {"file_path": "x"}).commands == ()
    assert not ToolCall("Read", {"file_path": "x"}).runs_only("git status")


def test_a_question_about_no_program_is_an_error():
    with pytest.raises(ValueError, match=r'may_run\("git", "push"\)'):
        bash("git push").may_run("git push")


@pytest.mark.parametrize("program", ["pip", "pip3"])
@pytest.mark.parametrize("command", ["pip3 install x", "pip3.11 install x", "python3 -m pip install x"])
def test_a_version_and_a_module_of_python_are_the_program(program, command):
    assert bash(command).may_run(program, "install") is (program == "pip" or command.startswith("pip3"))


NESTED = "git push"
for _ in range(8):
    NESTED = f"sh -c {shlex.quote(NESTED)}"


@pytest.mark.parametrize(
    "command",
    [
        f"echo {'x' * 140_000}; git push",
        f"echo {'x' * 140_000}; g${{x}}it push",
        NESTED,
        "sudo " * 100 + "git push",
        "git push 'unclosed",
        'watch "git push \'unclosed"',
    ],
)
def test_a_command_that_is_not_read_to_its_end_may_be_any(command):
    assert bash(command).may_run("git", "push")


@pytest.mark.parametrize("command", ["echo 'unclosed", 'watch "echo it\'s"', "echo " + "x" * 140_000])
def test_text_that_cannot_be_read_and_names_no_git_is_left_alone(command):
    assert not bash(command).may_run("git", "push")
