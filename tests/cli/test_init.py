"""``agent-hooks init``: a file with one rule that works, and never in place of another."""

from __future__ import annotations

import pytest

from commands import Command
from projects import Project


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize("user", [False, True])
def test_the_file_works_as_it_says_and_is_not_written_twice(tmp_path, python, user):
    command, project = Command(tmp_path), Project(tmp_path)
    options = ["--python"] * python + ["--user"] * user
    made = command("init", *options, cwd=project.root)
    path = (command.config if user else project.root) / ("hookconf.py" if python else "agent-hooks.toml")
    assert made.stdout.splitlines()[0] == f"Written: {path}"
    steps = ["agent-hooks trust"] * (not user) + [
        "agent-hooks check before_tool_use --tool Bash --arg command='git push --force'"
    ]
    assert [line.strip() for line in made.stdout.splitlines()[2:]] == steps
    if not user:
        command.trust(project)
    words = ("check", "before_tool_use", "--tool", "Bash", "--arg")
    shown = command(*words, "command=git push --force", cwd=project.root)
    assert (shown.exit_code, "Agents do not force-push here." in shown.stdout) == (1, True), shown
    assert command(*words, "command=git push", cwd=project.root).exit_code == 0
    assert command("doctor", cwd=project.root).exit_code == 0

    path.write_text("# mine\n")
    again = command("init", *options, cwd=project.root)
    assert (again.exit_code, again.stderr) == (1, f"agent-hooks: {path} is there already, and stays as it is.\n")
    assert path.read_text() == "# mine\n"
