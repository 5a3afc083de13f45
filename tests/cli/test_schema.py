"""``agent-hooks schema``: what editors complete and check agent-hooks.toml by."""

from __future__ import annotations

import tomllib

import jsonschema

from projects import toml

HANDLERS = """
    from pydantic import BaseModel

    class Config(BaseModel):
        channel: str

    class Slack:
        config = Config

        def execute(self, config, ctx):
            return HookOutcome.deny(config.channel)

    print("noise")
"""
OFFERED = """
    @hookimpl
    def agent_hooks_handler_types():
        return {"slack": Slack(), "fax": lambda: 1 / 0}
"""


def is_valid(schema, text):
    return jsonschema.Draft202012Validator(schema).is_valid(tomllib.loads(text))


def test_the_schema_is_one(command):
    done = command("schema")
    assert (done.exit_code, done.stderr) == (0, "")
    jsonschema.Draft202012Validator.check_schema(done.json)
    assert done.json["title"] == "agent-hooks.toml"


def test_files_are_checked_by_it(command):
    schema = command("schema").json
    for text, is_good in (
        (toml(["true"]), True),
        (toml("true", "PreToolUse", matcher="Bash", priority=3), True),
        (toml("true", "PreToolUze"), False),
        (toml("", handler='type = "command"'), False),
        (toml("", handler='type = "http"\nurl = "https://x.example/"'), True),
        (toml("", handler='type = "http"\nurl = 3'), False),
        (toml("", handler='type = "whatever"\nx = 1'), True),
        ("[policy]\nmax_retries = 0", True),
        ("[policy]\nmax_retries = -1", False),
        ("[guards]\nmax_steps = 3", True),
    ):
        assert is_valid(schema, text) is is_good, text


def test_handler_types_that_plugins_offer_are_in_it_and_one_that_cannot_be_had_may_be_anything(command):
    command.install(HANDLERS + OFFERED)
    done = command("schema")
    assert is_valid(done.json, toml("", handler='type = "slack"\nchannel = "#ops"'))
    assert not is_valid(done.json, toml("", handler='type = "slack"'))
    assert is_valid(done.json, toml("", handler='type = "fax"\nnumber = 1'))
    assert (done.exit_code, "noise" in done.stderr) == (0, True)
    assert "the handler type 'fax' cannot be had: ZeroDivisionError" in done.stderr


def test_a_plugin_that_cannot_say_what_it_offers_is_an_error(command):
    command.install("@hookimpl\ndef agent_hooks_handler_types():\n    raise OSError('disk')\n")
    done = command("schema")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "'house' cannot say which handler types it offers" in done.stderr
    assert "Traceback" not in done.stderr


def test_installed_handler_types_are_found_by_their_entry_point(command, project):
    """In the schema, and by the files that use them."""
    command.install(HANDLERS, "slack")
    info = command.site / "slack-1.0.dist-info" / "entry_points.txt"
    info.write_text("[agent_hooks.handlers]\nslack = slack_rules:Slack\nbroken = slack_rules:Nope\n")
    done = command("schema")
    assert not is_valid(done.json, toml("", handler='type = "slack"'))
    assert "the handler type 'broken' cannot be had" in done.stderr
    text = toml("", handler='type = "slack"\nchannel = "#ops"', matcher="Bash")
    command.trust(project.write({"agent-hooks.toml": text}))
    check = command("check", "PreToolUse", "--tool", "Bash", "--cwd", str(project.root), "--json")
    assert (check.json["outcome"]["reason"], check.json["notes"]) == ("#ops", [])
    text = toml("", handler='type = "broken"', matcher="Bash")
    command.trust(project.write({"agent-hooks.toml": text}))
    check = command("check", "PreToolUse", "--tool", "Bash", "--cwd", str(project.root), "--json")
    assert (check.json["goes_ahead"], "'broken' cannot be had" in check.json["notes"][0]) == (False, True)
