"""Changes of the settings of the user, and of where they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from projects import denying, settings, toml

from .changes import change, edit, put, saying

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import World

FILE = "agent-hooks.toml"
USER = toml(denying("the user says no"))
FOLDER = toml(denying("the folder says no"))
# Silent about the event, and with one text replaced not so.
SILENT = toml("true  # nothing to say about it")
SPOKEN = ("true  # nothing to say about it", "echo in fact it says no >&2;exit 2")


def user(world: World) -> None:
    put(world.config / FILE, USER)


def silent_user(world: World) -> None:
    put(world.config / FILE, SILENT)


def speak(path: Path) -> str:
    old = SPOKEN[0]
    edit(path, old, "echo it says no>&2;exit 2".ljust(len(old)))
    return "it says no"


@change()
def settings_of_the_user_created(world: World) -> str:
    user(world)
    return "the user says no"


@change(user)
def settings_of_the_user_edited(world: World) -> str:
    put(world.config / FILE, USER.replace("the user", "somebody else"))
    return "somebody else says no"


@change(silent_user)
def settings_of_the_user_edited_with_the_same_size_and_time(world: World) -> str:
    return speak(world.config / FILE)


@change(user)
def settings_of_the_user_removed(world: World) -> str:
    (world.config / FILE).unlink()
    return ""


@change(user)
def settings_of_the_user_moved_away_with_their_folder(world: World) -> str:
    world.config.rename(world.config.with_name("elsewhere"))
    return ""


@change(user)
def settings_of_the_user_replaced_by_a_folder(world: World) -> str:
    (world.config / FILE).unlink()
    (world.config / FILE).mkdir()
    return "It cannot be read"


@change(user)
def settings_of_the_user_replaced_by_a_pipe(world: World) -> str:
    (world.config / FILE).unlink()
    os.mkfifo(world.config / FILE)
    return "It cannot be read"


@change(user)
def settings_of_the_user_with_a_mistake(world: World) -> str:
    put(world.config / FILE, "[[hooks.")
    return "agent-hooks.toml"


@change(user)
def settings_of_the_user_emptied(world: World) -> str:
    put(world.config / FILE, "")
    return ""


@change(user)
def the_event_of_a_hook_of_the_user_changed(world: World) -> str:
    put(world.config / FILE, toml(denying("the user says no"), "user_input"))
    return ""


@change(user)
def the_matcher_of_a_hook_of_the_user_changed(world: World) -> str:
    put(world.config / FILE, toml(denying("the user says no"), matcher="Write"))
    return ""


@change()
def a_plugin_disabled_by_the_user(world: World) -> str:
    put(world.config / FILE, 'disabled = ["house"]\n')
    world.event["tool_input"] = {"command": "forbidden"}
    return ""


@change()
def a_policy_of_the_user(world: World) -> str:
    put(world.config / FILE, "[policy]\nshadow = true\n")
    world.event["tool_input"] = {"command": "forbidden"}
    return "shadow"


def linked(world: World) -> None:
    put(world.folder / "dotfiles" / "one.toml", SILENT)
    put(world.folder / "dotfiles" / "two.toml", FOLDER)
    world.config.mkdir(parents=True)
    (world.config / FILE).symlink_to(world.folder / "dotfiles" / "one.toml")


@change(silent_user)
def settings_of_the_user_replaced_by_a_link(world: World) -> str:
    other = put(world.folder / "dotfiles" / "two.toml", FOLDER)
    (world.config / FILE).unlink()
    (world.config / FILE).symlink_to(other)
    return "the folder says no"


@change(linked)
def the_file_behind_a_link_edited(world: World) -> str:
    return speak(world.folder / "dotfiles" / "one.toml")


@change(linked)
def the_link_moved_to_another_file(world: World) -> str:
    (world.config / FILE).unlink()
    (world.config / FILE).symlink_to(world.folder / "dotfiles" / "two.toml")
    return "the folder says no"


@change(linked)
def the_file_behind_a_link_removed(world: World) -> str:
    (world.folder / "dotfiles" / "one.toml").unlink()
    return ""


def linked_folder(world: World) -> None:
    put(world.folder / "one" / FILE, SILENT)
    put(world.folder / "two" / FILE, FOLDER)
    world.config.parent.mkdir(parents=True)
    world.config.symlink_to(world.folder / "one")


@change(linked_folder)
def the_link_to_the_folder_of_the_user_moved(world: World) -> str:
    world.config.unlink()
    world.config.symlink_to(world.folder / "two")
    return "the folder says no"


# -- another folder ----------------------------------------------------------------------------------------------------


def other_folder(world: World) -> None:
    put(world.folder / "other" / FILE, FOLDER)


@change(other_folder)
def the_folder_of_the_user_named_by_the_environment(world: World) -> str:
    world.environment["AGENT_HOOKS_CONFIG_DIR"] = str(world.folder / "other")
    return "the folder says no"


@change(other_folder)
def the_folder_of_the_user_named_by_the_command(world: World) -> str:
    world.arguments = ("--config-dir", str(world.folder / "other"))
    return "the folder says no"


def config_dir(world: World) -> None:
    world.arguments = ("--config-dir", str(world.folder / "other"))


@change(config_dir)
def settings_created_in_the_folder_that_the_command_names(world: World) -> str:
    other_folder(world)
    return "the folder says no"


def variable_for_settings(world: World) -> None:
    world.environment["AGENT_HOOKS_CONFIG_DIR"] = str(world.folder / "other")


@change(variable_for_settings)
def settings_created_in_the_folder_that_the_environment_names(world: World) -> str:
    other_folder(world)
    return "the folder says no"


@change(variable_for_settings)
def settings_of_the_account_created_beside_those_of_the_environment(world: World) -> str:
    user(world)
    return "the user says no"


def two_files(world: World) -> None:
    variable_for_settings(world)
    put(world.folder / "other" / FILE, SILENT)
    silent_user(world)


@change(two_files)
def settings_of_the_account_edited_beside_those_of_the_environment(world: World) -> str:
    return speak(world.config / FILE)


@change(two_files)
def settings_of_the_environment_edited_beside_those_of_the_account(world: World) -> str:
    return speak(world.folder / "other" / FILE)


@change()
def the_folder_of_settings_named_by_the_desktop(world: World) -> str:
    put(world.folder / "xdg" / "agent-hooks" / FILE, FOLDER)
    world.environment["XDG_CONFIG_HOME"] = str(world.folder / "xdg")
    return "the folder says no"


@change()
def another_home(world: World) -> str:
    put(world.folder / "home2" / ".config" / "agent-hooks" / FILE, FOLDER)
    world.environment["HOME"] = str(world.folder / "home2")
    return "the folder says no"


@change()
def a_folder_of_settings_that_is_relative(world: World) -> str:
    world.environment["AGENT_HOOKS_CONFIG_DIR"] = "settings"
    return "must be an absolute path"


@change()
def a_folder_of_state_in_the_project(world: World) -> str:
    world.environment["AGENT_HOOKS_STATE_DIR"] = str(world.repo / "state")
    return "which is inside the project"


@change()
def a_folder_of_settings_that_leads_into_the_project(world: World) -> str:
    world.environment["AGENT_HOOKS_CONFIG_DIR"] = str(world.repo)
    return "which is inside the project"


def state_by_link(world: World) -> None:
    (world.folder / "state").mkdir()
    (world.folder / "link").symlink_to(world.folder / "state")
    world.environment["AGENT_HOOKS_STATE_DIR"] = str(world.folder / "link")


@change(state_by_link)
def a_folder_of_state_whose_link_leads_into_the_project(world: World) -> str:
    (world.folder / "link").unlink()
    (world.folder / "link").symlink_to(world.repo)
    return "which is inside the project"


# -- settings of Claude Code, of which Codex does not know -------------------------------------------------------------

CLAUDE = settings("PreToolUse", denying("the user of claude says no"))


@change()
def settings_of_claude_code_created(world: World) -> str:
    put(world.home / ".claude" / "settings.json", CLAUDE)
    return "the user of claude says no".replace("'", "")


def claude(world: World) -> None:
    put(world.home / ".claude" / "settings.json", settings("PreToolUse", SPOKEN[0]))


@change(claude)
def settings_of_claude_code_edited(world: World) -> str:
    return speak(world.home / ".claude" / "settings.json")


@change(claude)
def settings_of_claude_code_that_disable_all_hooks(world: World) -> str:
    put(world.home / ".claude" / "settings.json", '{"disableAllHooks": true}')
    return ""


@change(claude)
def settings_of_claude_code_in_another_folder(world: World) -> str:
    put(world.folder / "other" / "settings.json", settings("PreToolUse", denying("another folder says no")))
    world.environment["CLAUDE_CONFIG_DIR"] = str(world.folder / "other")
    return "another folder says no"


def claude_plugin(world: World) -> None:
    put(world.config / FILE, 'claude_plugins = ["~/claude"]\n')
    put(world.home / "claude" / "hooks" / "hooks.json", settings("PreToolUse", SPOKEN[0]))


@change(claude_plugin)
def a_plugin_of_claude_code_edited(world: World) -> str:
    return speak(world.home / "claude" / "hooks" / "hooks.json")


@change(claude_plugin)
def a_plugin_of_claude_code_removed(world: World) -> str:
    (world.home / "claude" / "hooks" / "hooks.json").unlink()
    return "claude_plugins names"


# -- modules of hooks of the user --------------------------------------------------------------------------------------

CONF = f"from agent_hooks import HookOutcome, hookimpl\n\n{saying('the module says no')}"
SILENT_CONF = CONF.replace("shell", "write")


def silent_conf(world: World) -> None:
    put(world.config / "hookconf.py", SILENT_CONF)


@change()
def a_module_of_the_user_created(world: World) -> str:
    put(world.config / "hookconf.py", CONF)
    return "the module says no"


@change(silent_conf)
def a_module_of_the_user_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.config / "hookconf.py", "write", "shell")
    return "the module says no"


@change(lambda world: put(world.config / "hookconf.py", CONF))
def a_module_of_the_user_removed(world: World) -> str:
    (world.config / "hookconf.py").unlink()
    return ""


@change(silent_conf)
def a_module_of_the_user_that_others_may_write_meanwhile(world: World) -> str:
    (world.config / "hookconf.py").chmod(0o666)
    return "somebody else can change"


@change(silent_conf)
def a_folder_above_a_module_of_the_user_that_others_may_write_meanwhile(world: World) -> str:
    world.config.parent.chmod(0o777)
    return "somebody else can change"


def two_modules(world: World) -> None:
    put(world.config / "hookconf.py", 'agent_hooks_plugins = ["rules.shell"]\n')
    put(world.config / "rules" / "shell.py", SILENT_CONF)


@change(two_modules)
def a_module_that_the_users_names_edited(world: World) -> str:
    edit(world.config / "rules" / "shell.py", "write", "shell")
    return "the module says no"


# -- modules that the user names as plugins ----------------------------------------------------------------------------


def silent_module(world: World) -> None:
    put(world.site / "plain_rules.py", SILENT_CONF)
    put(world.config / FILE, 'plugins = ["plain_rules"]\n')


def module_of_the_command(world: World) -> None:
    put(world.site / "plain_rules.py", SILENT_CONF)
    world.arguments = ("-p", "plain_rules")


@change(silent_module)
def a_module_that_the_user_names_edited_with_the_same_size_and_time(world: World) -> str:
    edit(world.site / "plain_rules.py", "write", "shell")
    return "the module says no"


@change(silent_module)
def a_module_that_the_user_names_removed(world: World) -> str:
    (world.site / "plain_rules.py").unlink()
    return "could not be loaded"


@change()
def a_module_named_by_the_user(world: World) -> str:
    put(world.site / "plain_rules.py", CONF)
    put(world.config / FILE, 'plugins = ["plain_rules"]\n')
    return "the module says no"


@change(module_of_the_command)
def a_module_of_the_command_line_edited(world: World) -> str:
    edit(world.site / "plain_rules.py", "write", "shell")
    return "the module says no"


@change(module_of_the_command)
def a_module_of_the_command_line_shadowed_by_another(world: World) -> str:
    put(world.site / "plain_rules" / "__init__.py", CONF)
    return "the module says no"
