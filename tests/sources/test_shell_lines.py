"""The lines of shell in skills and commands, which hosts run without a tool call."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, SettingsError, ToolCall
from agent_hooks.sources import shell_lines
from agent_hooks.sources.shell_lines import loaded_lines
from tables import tables

TABLES = tables(__file__)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folder of Claude Code's settings, beside a project."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "project" / "inner").mkdir(parents=True)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def lines_of_call(home, tool, **args):
    call = ToolCall(tool, args, kind="shell" if "command" in args and tool == "Bash" else None)
    return loaded_lines(HookContext("before_tool_use", tool_call=call, cwd=str(home / "project" / "inner")))


def lines_of_prompt(home, name, arguments=""):
    payload = {"command_name": name, "command_args": arguments}
    return loaded_lines(HookContext("user_input", payload=payload, cwd=str(home / "project" / "inner")))


# -- texts that a call writes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "text", "lines"), TABLES["written"])
def test_a_written_text_has_the_lines_of_the_host_that_finds_it_there(home, path, text, lines):
    found = lines_of_call(home, "Write", file_path=path, content=text)
    assert [line for _, line, _ in found] == lines
    assert all(tool == "Bash" and where.endswith(path.replace("\\", "/")) for tool, _, where in found)


def test_a_moved_folder_of_claude_code_is_its_folder_too(home, monkeypatch):
    path = str(home / "claude" / "skills" / "a.md")
    assert [line for _, line, _ in lines_of_call(home, "Write", file_path=path, content="!`one`")] == ["one"]
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert lines_of_call(home, "Write", file_path=path, content="!`one`") == []


def test_a_shell_call_that_names_such_a_file_may_write_its_own_text(home):
    command = "echo '!`one`' > .claude/commands/a.md"
    assert lines_of_call(home, "Bash", command=command) == [("Bash", "one", "Bash")]
    assert lines_of_call(home, "Bash", command="echo '!`one`' > a.md") == []


# -- texts that the host loads -----------------------------------------------------------------------------------------


def test_a_skill_is_found_by_its_folder_its_file_or_its_name_wherever_the_host_looks(home):
    places = [
        write(home / "claude/skills/Lint/SKILL.md", "!`in the user's folder`"),
        write(home / "project/.claude/commands/lint.md", "!`above the working directory`"),
        write(home / "project/inner/.claude/skills/other/SKILL.md", "---\nname: 'lint'\n---\n!`by its name`"),
    ]
    write(home / "project/.claude/commands/other.md", "!`another one`")
    write(home / "project/.claude/commands/lint.txt", "!`no text of a command`")
    plugin = write(home / "claude/plugins/p/skills/lint/SKILL.md", "!`of a plugin`")
    for found in (lines_of_call(home, "Skill", skill="lint"), lines_of_prompt(home, "lint")):
        assert {where for _, _, where in found} == {*places}
    assert {where for _, _, where in lines_of_call(home, "Skill", skill="p:lint")} == {*places, plugin}
    assert lines_of_call(home, "Skill", skill="none") == []


@pytest.mark.parametrize(
    "given", [{"skill": "lint", "args": "all of"}, {"name": "lint all of"}, {"command": "/lint all of"}]
)
def test_arguments_are_put_into_its_lines(home, given):
    path = write(home / "project/.claude/commands/lint.md", "!`a $ARGUMENTS b $ARGUMENTS[1] c $0 d $7`")
    assert lines_of_call(home, "Skill", **given) == [("Bash", "a all of b of c all d ", path)]


def test_the_frontmatter_says_whose_shell_runs_them(home):
    write(home / "project/.claude/commands/a.md", "---\nshell: powershell\n---\n!`one`")
    write(home / "project/.claude/commands/b.md", "---\nname: b\n---\nshell: powershell\n!`one`")
    assert [lines_of_prompt(home, name)[0][0] for name in "ab"] == ["PowerShell", "Bash"]


def test_a_folder_that_cannot_be_searched_whole_is_an_error(home, monkeypatch):
    monkeypatch.setattr(shell_lines, "_MAX_FILES", 3)
    for number in range(2):
        write(home / f"project/.claude/commands/{number}.md", "!`one`")
    (home / "project/.claude/commands/loop").symlink_to(home / "project/.claude/commands")
    assert len(lines_of_prompt(home, "1")) == 1
    write(home / "project/.claude/commands/2.md", "!`one`")
    with pytest.raises(SettingsError, match="has more than 3 files: remove some"):
        lines_of_prompt(home, "1")
