"""The settings: what they may be, and what is said when they are wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import PluginTable
from agent_hooks.sources.settings_models import read_table
from agent_hooks_guards import AuditTrail, Cancellation, GuardsSettings
from agent_hooks_guards.settings.build import build
from tables import tables

TABLES = tables(__file__)

EVERYTHING = """
[[tool.agent_hooks.guards.blocklist]]
tools = ["WebFetch", "mcp__prod__*"]
message = "Not {tool}."

[[tool.agent_hooks.guards.allowlist]]
tools = ["read", "search", "shell"]

[[tool.agent_hooks.guards.arguments]]
matcher = "shell"
field = "command"
pattern = 'git\\s+push'
decision = "ask"

[[tool.agent_hooks.guards.arguments]]
field = "paths"
pattern = '\\.env$'

[[tool.agent_hooks.guards.roles]]
tools = ["deploy"]
roles = ["admin"]
role_env = "AGENT_ROLE"

[[tool.agent_hooks.guards.rate_limit]]
max_calls = 100

[[tool.agent_hooks.guards.rate_limit]]
max_calls = 5
matcher = "fetch"
window_seconds = 60

[tool.agent_hooks.guards.audit]
path = "audit.jsonl"
redact = ["password"]
results = true

[tool.agent_hooks.guards]
max_steps = 30
max_tokens = 100_000
max_execution_time = 600
finish_reasons = ["content_filter"]
cancel_file = "STOP"

[tool.agent_hooks.guards.cost]
max = 2.5

[tool.agent_hooks.guards.cost.prices]
claude-opus = {input = 15, output = 75, cached = 1.5}
"gpt-4.1" = {input = 2, output = 8, reasoning = 8}
"*" = {input = 20, output = 100}
"""


def read(text, source="project"):
    settings = tomllib.loads(text)["tool"]["agent_hooks"]["guards"]
    at = "tool.agent_hooks.guards"
    table = PluginTable(name="guards", path="/p/pyproject.toml", source=source, settings=settings, at=at)
    read_table(GuardsSettings, table)
    return table


def test_every_setting_is_read_and_becomes_its_guard():
    built = build(read(EVERYTHING))
    assert [type(guard).__name__ for guard, _ in (*built.rules, *built.rate_limits)] == [
        "ToolBlocklist",
        "ToolAllowlist",
        "RoleAccess",
        "ArgumentPattern",
        "ArgumentPattern",
        "RateLimit",
        "RateLimit",
    ]
    assert isinstance(built.audit, AuditTrail)
    assert [type(guard).__name__ for guard in built.run_limits] == [
        "StepsLimit",
        "TokenLimit",
        "TimeLimit",
        "CostLimit",
        "FinishReasonLimit",
    ]
    assert isinstance(built.cancellation, Cancellation)


def test_an_empty_table_asks_for_nothing():
    built = build(read("[tool.agent_hooks.guards]"))
    assert (built.rules, built.rate_limits, built.audit) == ((), (), None)
    assert (built.run_limits, built.cancellation) == ((), None)


@pytest.mark.parametrize(("line", "guard"), TABLES["a_limit_is_there_only_if_it_is_set"])
def test_a_limit_is_there_only_if_it_is_set(line, guard):
    built = build(read(f"[tool.agent_hooks.guards]\n{line}"))
    assert [type(limit).__name__ for limit in built.run_limits] == [guard]
    assert built.cancellation is None


@pytest.mark.parametrize(("table", "said"), TABLES["a_wrong_setting_names_the_file_the_key_and_what_is_allowed"])
def test_a_wrong_setting_names_the_file_the_key_and_what_is_allowed(table, said):
    with pytest.raises(SettingsError, match=said) as caught:
        read(table)
    assert str(caught.value).startswith("/p/pyproject.toml: ")
    assert "pydantic" not in str(caught.value)


def test_every_mistake_is_said_at_once():
    with pytest.raises(SettingsError) as caught:
        read("[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 'x'\n[tool.agent_hooks.guards.audit]\nredacted = []")
    assert "rate_limit[0].max_calls" in str(caught.value)
    assert "audit.redacted is not a key here." in str(caught.value)


def test_the_audit_file_may_be_absolute_or_below_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    for path, expected in (("/var/log/a.jsonl", "/var/log/a.jsonl"), ("~/a.jsonl", "/home/someone/a.jsonl")):
        table = read(f"[tool.agent_hooks.guards.audit]\npath = '{path}'", "user")
        built = build(table)
        assert built.audit is not None
        assert built.audit.path == expected


def test_settings_without_a_file_are_checked_as_those_of_a_user():
    settings = {"shell": {"level": "off", "rules": {"git": "off"}}, "paths": {"allow_read": ["a"]}, "cancel_file": "/x"}
    read = GuardsSettings.model_validate(settings)
    assert read.paths is not None
    assert (read.paths.allow_read, read.cancel_file) == (["a"], "/x")


def test_there_is_a_json_schema_with_the_names_of_the_file():
    schema = GuardsSettings.model_json_schema()
    assert list(schema["properties"]) == [
        *("blocklist", "allowlist", "arguments", "roles", "rate_limit", "audit"),
        *("max_steps", "max_tokens", "max_execution_time", "finish_reasons", "cost", "cancel_file"),
        *("shell", "paths", "secrets", "egress", "injection", "allow", "rules"),
    ]
    assert list(schema["$defs"]["ArgumentRule"]["properties"]) == ["field", "pattern", "matcher", "decision", "message"]
    assert schema["additionalProperties"] is False


def test_without_settings_neither_pydantic_nor_toml_nor_sqlite_is_imported():
    code = """
import sys
import agent_hooks_guards
from agent_hooks import HookContext, ToolCall
assert agent_hooks_guards.before_tool_use(HookContext("before_tool_use", tool_call=ToolCall("x"))) is None
for event in ("before_execution", "before_step", "after_step", "after_execution"):
    assert getattr(agent_hooks_guards, event)(HookContext(event)) is None
print(sorted({"pydantic", "tomllib", "sqlite3", "json", "re", "decimal", "threading"} & sys.modules.keys()))
"""
    # -S: no site-packages of the tests' own, whose start-up imports are not ours.
    path = [entry for entry in sys.path if entry]
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_an_expression_of_a_rule_that_could_stall_is_refused():
    rule = {
        "id": "slow",
        "severity": "high",
        "reason": "It is slow.",
        "instead": "Wait.",
        "match": [{"program": ["*"], "text": "^(.*)*x.*y.*z.*w.*q$"}],
    }
    with pytest.raises(SettingsError, match=r"guards.rules\[0\].*repeats too much"):
        read_table(
            GuardsSettings,
            PluginTable(name="guards", path="x", source="user", settings={"rules": [rule]}, at="guards"),
        )
