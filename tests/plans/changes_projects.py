"""Changes in projects, of their trust, and of where the agent works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from projects import HOOKCONF, Project, denying, settings, toml

from .changes import change, edit, put
from .changes_settings import SILENT, SPOKEN, speak

if TYPE_CHECKING:
    from .conftest import World

TOML = "agent-hooks.toml"
GATE = toml(denying("the project says no"))
TABLE = GATE.replace("[[hooks.", "[[tool.agent_hooks.hooks.")
NOT_ACTIVE = "not active in the project"


def trust(world: World, files: dict[str, str]) -> None:
    world.command.trust(world.project.write(files))


def trusted(world: World) -> None:
    trust(world, {TOML: GATE})


def silent(world: World) -> None:
    trust(world, {TOML: SILENT})


def untrusted(world: World) -> None:
    world.project.write({TOML: GATE})


@change()
def settings_of_a_project_created(world: World) -> str:
    untrusted(world)
    return NOT_ACTIVE


@change()
def settings_of_a_project_created_and_trusted(world: World) -> str:
    trusted(world)
    return "the project says no"


@change(trusted)
def settings_of_a_project_changed_after_trust(world: World) -> str:
    world.project.write({TOML: GATE.replace("the project", "somebody")})
    return "files changed since they were trusted"


@change(silent)
def settings_of_a_project_edited_with_the_same_size_and_time(world: World) -> str:
    speak(world.repo / TOML)
    return "files changed since they were trusted"


@change(trusted)
def settings_of_a_project_removed(world: World) -> str:
    (world.repo / TOML).unlink()
    return "files changed since they were trusted"


@change(trusted)
def trust_taken(world: World) -> str:
    (record,) = (world.config / "trust").glob("*.jsonl")
    record.unlink()
    return NOT_ACTIVE


@change(trusted)
def a_record_of_trust_edited_with_the_same_size_and_time(world: World) -> str:
    (record,) = (world.config / "trust").glob("*.jsonl")
    edit(record, '"version": 2', '"version": 9')
    return "Another version of agent-hooks"


@change(trusted)
def a_record_of_trust_that_others_can_write(world: World) -> str:
    (record,) = (world.config / "trust").glob("*.jsonl")
    record.chmod(0o666)
    return "Others can write it"


@change(trusted)
def a_folder_of_trust_that_others_can_write(world: World) -> str:
    (world.config / "trust").chmod(0o777)
    return "Others can write it"


@change(trusted)
def a_folder_above_the_trust_that_others_can_write(world: World) -> str:
    world.config.chmod(0o777)
    return "Others can write it"


@change(trusted)
def settings_of_a_project_beside_others(world: World) -> str:
    world.project.write({"src/agent-hooks.toml": GATE})
    world.event["tool_input"] = {"command": "cat src/a"}
    return "is new"


@change(trusted)
def settings_of_a_project_whose_mode_changed(world: World) -> str:
    (world.repo / TOML).chmod(0o666)
    return "has the permissions"


@change()
def a_pyproject_with_our_table(world: World) -> str:
    world.project.write({"pyproject.toml": TABLE})
    return NOT_ACTIVE


def plain_pyproject(world: World) -> None:
    world.project.write({"pyproject.toml": "[project]\nname = 'a'\n# no more than this".ljust(len(TABLE) + 40)})


@change(plain_pyproject)
def a_pyproject_that_gets_our_table(world: World) -> str:
    path = world.repo / "pyproject.toml"
    edit(path, path.read_text(), TABLE.ljust(len(path.read_text())))
    return NOT_ACTIVE


def trusted_pyproject(world: World) -> None:
    trust(world, {"pyproject.toml": TABLE})


@change(trusted_pyproject)
def a_trusted_pyproject_that_loses_our_table(world: World) -> str:
    world.project.write({"pyproject.toml": "[project]\nname = 'a'\n"})
    return "files changed since they were trusted"


@change(trusted_pyproject)
def a_trusted_pyproject_that_is_broken(world: World) -> str:
    world.project.write({"pyproject.toml": f"{TABLE}[project"})
    return "the project says no"


@change()
def a_hookconf(world: World) -> str:
    world.project.write({"hookconf.py": HOOKCONF.format(reason="code says no")})
    return NOT_ACTIVE


@change()
def a_trusted_hookconf(world: World) -> str:
    trust(world, {"hookconf.py": HOOKCONF.format(reason="code says no")})
    return "code says no"


@change()
def settings_of_claude_code_in_a_project(world: World) -> str:
    world.project.write({".claude/settings.json": settings("PreToolUse", denying("no"))})
    return NOT_ACTIVE


@change()
def local_settings_of_claude_code_in_a_project(world: World) -> str:
    world.project.write({".claude/settings.local.json": settings("PreToolUse", denying("no"))})
    return NOT_ACTIVE


def trusted_claude(world: World) -> None:
    trust(world, {".claude/settings.json": settings("PreToolUse", SPOKEN[0])})


@change(trusted_claude)
def trusted_settings_of_claude_code_edited(world: World) -> str:
    speak(world.repo / ".claude" / "settings.json")
    return "files changed since they were trusted"


@change(trusted_claude)
def local_settings_of_claude_code_beside_trusted_ones(world: World) -> str:
    world.project.write({".claude/settings.local.json": settings("PreToolUse", denying("no"))})
    return "is new"


def script(world: World) -> None:
    world.project.write({"check.sh": "exit 0 # nothing to say here"})
    (world.repo / "check.sh").chmod(0o755)
    trust(world, {".claude/settings.json": settings("PreToolUse", '"$CLAUDE_PROJECT_DIR"/check.sh')})


@change(script)
def the_script_of_a_trusted_command_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.repo / "check.sh", "exit 0 # nothing to say here", "exit 2 # something to say   ")
    return "files changed since they were trusted"


@change(script)
def the_script_of_a_trusted_command_removed(world: World) -> str:
    (world.repo / "check.sh").unlink()
    return "files changed since they were trusted"


def missing_script(world: World) -> None:
    path = world.folder / "later.sh"
    put(world.config / TOML, toml(f"{path} || true"))


@change(missing_script)
def the_missing_script_of_a_command_created(world: World) -> str:
    put(world.folder / "later.sh", "#!/bin/sh\necho the script says no >&2\nexit 2\n", 0o755)
    put(world.config / TOML, toml(str(world.folder / "later.sh")))
    return "the script says no"


# -- nested files ------------------------------------------------------------------------------------------------------


def works_below(world: World) -> None:
    world.cwd = world.repo / "src" / "inner"
    world.cwd.mkdir(parents=True)


@change(works_below)
def settings_in_the_working_directory(world: World) -> str:
    world.project.write({"src/inner/agent-hooks.toml": GATE})
    return NOT_ACTIVE


@change(works_below)
def settings_between_the_root_and_the_working_directory(world: World) -> str:
    world.project.write({"src/agent-hooks.toml": GATE})
    return NOT_ACTIVE


@change(works_below)
def settings_of_claude_code_between_the_root_and_the_working_directory(world: World) -> str:
    world.project.write({"src/.claude/settings.json": settings("PreToolUse", denying("no"))})
    return NOT_ACTIVE


@change(works_below)
def settings_at_the_root(world: World) -> str:
    untrusted(world)
    return NOT_ACTIVE


@change()
def settings_on_the_way_to_a_touched_path(world: World) -> str:
    world.project.write({"src/agent-hooks.toml": GATE, "src/a": ""})
    world.event |= {"tool_name": "Bash", "tool_input": {"command": "cat src/a"}}
    return NOT_ACTIVE


@change()
def trusted_settings_on_the_way_to_a_touched_path(world: World) -> str:
    trust(world, {"src/agent-hooks.toml": GATE, "src/a": ""})
    world.event |= {"tool_name": "Bash", "tool_input": {"command": "cat src/a"}}
    return "the project says no"


def nested(world: World) -> None:
    works_below(world)
    untrusted_root(world)


def untrusted_root(world: World) -> None:
    trust(world, {TOML: SILENT})


@change(nested)
def a_repository_made_of_a_folder_inside(world: World) -> str:
    (world.repo / "src" / ".git").mkdir()
    put(world.repo / "src" / TOML, GATE)
    return NOT_ACTIVE


def no_repository(world: World) -> None:
    world.cwd = world.folder / "plain" / "inner"
    world.cwd.mkdir(parents=True)


@change(no_repository)
def settings_above_a_folder_that_is_no_repository(world: World) -> str:
    put(world.folder / "plain" / TOML, GATE)
    return NOT_ACTIVE


@change(no_repository)
def a_repository_made_above(world: World) -> str:
    put(world.folder / "plain" / "hookconf.py", "")
    (world.folder / "plain" / ".git").mkdir()
    put(world.folder / "plain" / TOML, GATE)
    return NOT_ACTIVE


def linked_folder(world: World) -> None:
    other = Project(world.folder, "other").write({TOML: GATE})
    world.command.trust(other)
    world.cwd = world.folder / "here"
    world.cwd.symlink_to(world.repo)


@change(linked_folder)
def the_link_to_the_working_directory_moved(world: World) -> str:
    world.cwd.unlink()
    world.cwd.symlink_to(world.folder / "other")
    return "the project says no"


def elsewhere(world: World) -> None:
    world.command.trust(Project(world.folder, "other").write({TOML: GATE, "a": ""}))


@change(elsewhere)
def a_path_in_another_trusted_project(world: World) -> str:
    world.event["tool_input"] = {"command": f"cat {world.folder / 'other' / 'a'}"}
    return "the project says no"


@change(elsewhere)
def a_relative_path_in_another_trusted_project(world: World) -> str:
    world.event["tool_input"] = {"command": "cat ../other/a"}
    return "the project says no"


@change()
def the_working_directory_in_another_project(world: World) -> str:
    elsewhere(world)
    world.cwd = world.folder / "other"
    return "the project says no"


@change()
def the_working_directory_removed(world: World) -> str:
    world.repo.rename(world.folder / "gone")
    return ""


@change()
def a_project_named_by_claude_code(world: World) -> str:
    elsewhere(world)
    world.agent = "claude-code"
    world.environment["CLAUDE_PROJECT_DIR"] = str(world.folder / "other")
    return "the project says no"
