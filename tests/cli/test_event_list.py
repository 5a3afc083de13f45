"""``agent-hooks events``: the table of events, those of plugins included."""

from __future__ import annotations

from agent_hooks.model.events import HookEvent


def test_every_event_is_listed_with_its_facts(command):
    done = command("events", "--json")
    assert done.exit_code == 0
    listed = {event["name"]: event for event in done.json}
    assert list(listed) == [str(event) for event in HookEvent.all()]
    tool = listed["before_tool_use"]
    assert (tool["subject"], tool["closed"], tool["closed_means"]) == ("tool_args", "deny", "call denied")
    assert "PreToolUse" in tool["aliases"]
    assert set(tool["decisions"]) == HookEvent.BEFORE_TOOL_USE.decisions


def test_people_read_every_name_and_alias(command):
    text = command("events").stdout
    for event in HookEvent.all():
        (row,) = (line.split("\t") for line in text.splitlines() if line.startswith(f"{event!s}\t"))
        assert row[-1] == ", ".join(event.aliases)


def test_an_event_that_a_plugin_adds_is_listed_too(command):
    command.install("""
        import sys

        from agent_hooks import define_event, hookspec

        class Specs:
            @hookspec
            def before_deploy(self, ctx):
                "A deployment is about to start."

        @hookimpl
        def agent_hooks_add_hookspecs(manager):
            define_event("before_deploy", decisions="deny", closed="deny", closed_means="not deployed")
            manager.add_hookspecs(Specs)
    """)
    done = command("events", "--json")
    assert done.json[-1]["name"] == "before_deploy"
