"""``agent-hooks init``: a rule that works, with its cases, and never in place of another.

Without the guards it is a ``hookconf.py``; their own tests try the table that they read.
"""

from __future__ import annotations

import pytest

from commands import Command
from projects import Project

CHECK = ("check", "before_tool_use", "--tool", "Bash", "--arg")


@pytest.mark.parametrize("user", [False, True])
def test_what_it_writes_works_as_it_says_and_is_not_written_twice(tmp_path, user):
    command, project = Command(tmp_path), Project(tmp_path)
    options = ["--python"] + ["--user"] * user
    made = command("init", *options, cwd=project.root)
    folder = command.config if user else project.root
    path, cases = folder / "hookconf.py", folder / "cases.toml"
    assert made.stdout.splitlines()[:2] == [f"Written: {path}", f"Written: {cases}"]
    trust, check = ["agent-hooks trust"] * (not user), f"agent-hooks check --cases {cases if user else cases.name}"
    assert [line.strip() for line in made.stdout.splitlines()[3:]] == [*trust, check]
    if not user:
        command.trust(project)
    assert command(*check.split()[1:], cwd=project.root).said == "3 cases, decided as expected.\n"
    shown = command(*CHECK, "command=git -C . push", cwd=project.root)
    assert (shown.exit_code, "Pushing is for people." in shown.stdout) == (1, True), shown
    assert command("doctor", cwd=project.root).exit_code == 0

    path.write_text("# mine\n")
    again = command("init", *options, cwd=project.root)
    assert (again.exit_code, again.stderr) == (1, f"agent-hooks: {path} is there already, and stays as it is.\n")
    assert path.read_text() == "# mine\n"
    assert cases.read_text().count("[[case]]") == 3


def test_the_command_and_the_reason_may_be_given(tmp_path):
    command, project = Command(tmp_path), Project(tmp_path)
    reason = 'A person says "yes" first.'
    assert command("init", "--python", "--deny", "rm -rf -r", "--reason", reason, cwd=project.root).exit_code == 0
    command.trust(project)
    assert reason in command(*CHECK, "command=cd x && rm -rf y", cwd=project.root).stdout
    assert command(*CHECK, "command=rm y", cwd=project.root).exit_code == 0


@pytest.mark.parametrize("denied", ["", " ", "a | b", "--force", "./deploy.sh", "rm *", "echo $X"])
def test_what_is_no_command_of_plain_words_is_refused(tmp_path, denied):
    command, project = Command(tmp_path), Project(tmp_path)
    made = command("init", "--python", "--deny", denied, cwd=project.root)
    assert (made.exit_code, "write a program, its subcommand and options" in made.stderr) == (1, True), made
    assert [path.name for path in project.root.iterdir()] == [".git"]
