"""What installed plugins add to the command: commands of their own, and how they read an event."""

from __future__ import annotations

import pytest

GREET = """
    import click

    @click.command("greet")
    @click.argument("name")
    def greet(name):
        '''Greet somebody.'''
        click.echo(f"Hello, {name}!")

    @hookimpl
    def agent_hooks_commands():
        return {"greet": greet}
"""
READS = """
    @hookimpl
    def agent_hooks_explain(ctx):
        return [f"a call of {ctx.tool_call.name}", "nothing \\x1b[2Jelse"]
"""
CHECK = ("check", "PreToolUse", "--tool", "Read", "--arg", "file_path=a")


def commands_returning(answer):
    return f"""
    @hookimpl
    def agent_hooks_commands():
        return {answer}
    """


# -- commands ----------------------------------------------------------------------------------------------------------


def test_a_plugins_command_is_listed_and_runs_unless_it_is_switched_off(command):
    assert "No such command 'greet'" in command("greet").stderr
    command.install(GREET)
    listed = command("--help")
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert ["greet", "Greet somebody."] in [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    done = command("greet", "Ada")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "Hello, Ada!\n", "")
    assert command("greet").exit_code == 2
    assert command("greet", "Ada", env={"AGENT_HOOKS_DISABLE": "house"}).exit_code == 2


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (commands_returning("{}['x']"), "KeyError: 'x'"),
        (commands_returning("['greet']"), "it returned list"),
        (commands_returning("{'other': print}"), "'other' is no command of click"),
        (commands_returning("{7: print}"), "7 is no command of click"),
        ("import no_such_module", "No module named 'no_such_module'"),
    ],
)
def test_a_plugin_that_cannot_say_what_it_offers_is_told_and_the_others_are_heard(command, source, told):
    command.install(source, "broken")
    command.install(GREET)
    for typed in (["greet", "Ada"], ["--help"]):
        done = command(*typed)
        assert (done.exit_code, "Traceback" in done.stderr) == (0, False)
        assert ("Hello, Ada!" if typed[0] == "greet" else "Greet somebody.") in done.stdout
        assert "broken" in done.stderr
        assert told in done.stderr


def test_what_is_told_of_a_plugin_cannot_steer_a_terminal(command):
    command.install(commands_returning("(_ for _ in ()).throw(ValueError('a\\x1b[2Jb'))"), "broken")
    done = command("--help")
    assert "ValueError: a" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_command_of_our_own_counts_more_than_a_plugins(command):
    command.install(GREET.replace('"greet": greet', '"events": greet'))
    done = command("events")
    assert done.exit_code == 0
    assert "before_tool_use" in done.stdout
    assert command("--help").stdout.count("  events ") == 1


def test_of_two_plugins_with_one_command_the_first_counts_and_the_second_is_told(command):
    command.install(GREET, "aaa")
    command.install(GREET.replace("Hello", "Bye"), "bbb")
    done = command("greet", "Ada")
    assert done.exit_code == 0
    assert done.stdout in ("Hello, Ada!\n", "Bye, Ada!\n")
    assert "offers a second command 'greet': left out" in done.stderr


def test_an_error_of_ours_in_a_plugins_command_is_told_as_one(command):
    failing = GREET.replace('click.echo(f"Hello, {name}!")', 'raise SettingsError("a.toml: no such key.")')
    command.install("from agent_hooks import SettingsError\n" + failing.replace("\n    ", "\n"))
    done = command("greet", "Ada")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "Error: a.toml: no such key.\n")


def test_answering_a_host_asks_no_plugin_for_commands(command, payload):
    command.install(commands_returning("open('asked', 'w').close() or {}"))
    done = command.answer("claude-code", payload("claude-code", "PreToolUse", cwd=str(command.folder)))
    assert done.exit_code == 0
    assert not (command.folder / "asked").exists()


# -- explanations ------------------------------------------------------------------------------------------------------


def test_check_shows_how_plugins_read_the_event_if_they_say_so(command):
    command.install(READS)
    command.hook("agent_hooks_explain", "None", name="silent")
    done = command(*CHECK)
    assert (done.exit_code, "\x1b" in done.stdout, done.stdout.count("reads it as")) == (0, False, 1)
    assert "  house reads it as:\n    a call of Read\n    nothing" in done.stdout
    command.install(READS.replace("a call of", "The tool"), "other")
    explained = command(*CHECK, "--json").json["explanations"]
    assert {plugin: lines[0] for plugin, lines in explained.items()} == {
        "house": "a call of Read",
        "other": "The tool Read",
    }


@pytest.mark.parametrize(
    ("answer", "told"),
    [("1 / 0", "ZeroDivisionError"), ("'text'", "it returned str"), ("[1]", "it returned what is no text")],
)
def test_a_plugin_that_cannot_explain_is_told_and_the_check_goes_on(command, answer, told):
    command.install(f"@hookimpl\ndef agent_hooks_explain(ctx):\n    return {answer}\n", "broken")
    command.install(READS)
    done = command(*CHECK)
    assert done.exit_code == 0
    assert "a call of Read" in done.stdout
    place = f"{command.site / 'broken_rules.py'}:4: " if answer == "1 / 0" else ""
    assert f"agent_hooks_explain of the plugin 'broken' failed: {place}{told}" in done.stderr
