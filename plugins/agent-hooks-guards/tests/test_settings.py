"""The settings: what they may be, and what is said when they are wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from agent_hooks import SettingsError
from agent_hooks_guards import AuditTrail, GuardsSettings
from agent_hooks_guards.build import build
from agent_hooks_guards.settings import read_settings

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
"""


def read(text):
    return read_settings("/p/pyproject.toml", tomllib.loads(text)["tool"]["agent_hooks"]["guards"])


def test_every_setting_is_read_and_becomes_its_guard():
    built = build("/p/pyproject.toml", read(EVERYTHING).model_dump())
    assert [type(guard).__name__ for guard in (*built.rules, *built.limits)] == [
        "ToolBlocklist",
        "ToolAllowlist",
        "RoleAccess",
        "ArgumentPattern",
        "ArgumentPattern",
        "RateLimit",
        "RateLimit",
    ]
    assert isinstance(built.audit, AuditTrail)


def test_an_empty_table_asks_for_nothing():
    built = build("/p/pyproject.toml", read("[tool.agent_hooks.guards]").model_dump())
    assert (built.rules, built.limits, built.audit) == ((), (), None)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "[tool.agent_hooks.guards.blocklists]",
            "tool.agent_hooks.guards.blocklists is not a setting; those there are: blocklist, allowlist",
        ),
        (
            "[tool.agent_hooks.guards.blocklist]",
            r"write \[\[tool.agent_hooks.guards.blocklist\]\], with double brackets",
        ),
        ("[[tool.agent_hooks.guards.blocklist]]", r"tool.agent_hooks.guards.blocklist\[0\].tools is missing"),
        ("[[tool.agent_hooks.guards.blocklist]]\ntools = []", r"blocklist\[0\].tools: .*at least 1 item"),
        (
            "[[tool.agent_hooks.guards.blocklist]]\ntools = ['a', ' ']",
            r"blocklist\[0\].tools\[1\]: .*at least 1 character",
        ),
        ("[[tool.agent_hooks.guards.blocklist]]\ntools = 'a'", r"blocklist\[0\].tools: .*list, not 'a'"),
        (
            "[[tool.agent_hooks.guards.allowlist]]\ntools = ['a']\nallow = 1",
            r"allowlist\[0\].allow is not a setting; those there are: tools, message",
        ),
        (
            "[[tool.agent_hooks.guards.arguments]]\nfield = 'x'\npattern = '('",
            r"arguments\[0\].pattern: The pattern '\(' is not a regular",
        ),
        (
            "[[tool.agent_hooks.guards.arguments]]\nfield = 'x'\npattern = '(a+)+'",
            r"arguments\[0\].pattern: .*exponential",
        ),
        (
            "[[tool.agent_hooks.guards.arguments]]\nfield = 'x'\npattern = 'y'\ndecision = 'allow'",
            r"decision: .*'deny' or 'ask', not 'allow'",
        ),
        (
            "[[tool.agent_hooks.guards.arguments]]\nfield = 'x'\npattern = 'y'\nmatch = 'z'",
            "match is not a setting; .* matcher",
        ),
        ("[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = '5'", r"rate_limit\[0\].max_calls: .*integer, not '5'"),
        ("[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = -1", r"max_calls: .*greater than or equal to 0, not -1"),
        ("[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 1\nwindow_seconds = inf", "window_seconds: .*finite"),
        (
            "[tool.agent_hooks.guards]\nrate_limit = [{max_calls = 1}, {max_calls = 2}]",
            "two rate limits",
        ),
        ("[[tool.agent_hooks.guards.roles]]\ntools = ['x']\nroles = []", r"roles\[0\].roles: .*at least 1 item"),
        ("[tool.agent_hooks.guards.audit]\npath = '/home/u/.bashrc'", "audit.path: must end in .jsonl"),
        ("[tool.agent_hooks.guards.audit]\npath = '../x.jsonl'", "audit.path: must stay in the state folder"),
        ("[tool.agent_hooks.guards.audit]\npath = '~/../x.jsonl'", "audit.path: must stay in the state folder"),
        ("[tool.agent_hooks.guards.audit]\nredact = ['a', '_']", r"audit.redact\[1\]: .*a letter or a digit"),
        ("[tool.agent_hooks.guards.audit]\nmax_length = 0", "audit.max_length: .*greater than or equal to 1, not 0"),
        ("[tool.agent_hooks]\nguards = 3", "tool.agent_hooks.guards must be a table, not 3"),
        (
            "[tool.agent_hooks.guards]\nblocklist = ['x']",
            r"tool.agent_hooks.guards.blocklist\[0\] must be a table, not 'x'",
        ),
    ],
)
def test_a_wrong_setting_names_the_file_the_key_and_what_is_allowed(table, said):
    with pytest.raises(SettingsError, match=said) as caught:
        read(table)
    assert str(caught.value).startswith("/p/pyproject.toml: ")
    assert "pydantic" not in str(caught.value)


def test_every_mistake_is_said_at_once():
    with pytest.raises(SettingsError) as caught:
        read("[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 'x'\n[tool.agent_hooks.guards.audit]\nredacted = []")
    assert "rate_limit[0].max_calls" in str(caught.value)
    assert "audit.redacted is not a setting; those there are: path, redact, max_length, results." in str(caught.value)


def test_the_audit_file_may_be_absolute_or_below_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    for path, expected in (("/var/log/a.jsonl", "/var/log/a.jsonl"), ("~/a.jsonl", "/home/someone/a.jsonl")):
        table = read(f"[tool.agent_hooks.guards.audit]\npath = '{path}'")
        built = build("/p/pyproject.toml", table.model_dump())
        assert built.audit is not None
        assert built.audit.path == expected


def test_there_is_a_json_schema_with_the_names_of_the_file():
    schema = GuardsSettings.model_json_schema()
    assert list(schema["properties"]) == ["blocklist", "allowlist", "arguments", "roles", "rate_limit", "audit"]
    assert list(schema["$defs"]["ArgumentRule"]["properties"]) == ["field", "pattern", "matcher", "decision", "message"]
    assert schema["additionalProperties"] is False


def test_without_settings_neither_pydantic_nor_toml_nor_sqlite_is_imported():
    code = """
import sys
import agent_hooks_guards
from agent_hooks import HookContext, ToolCall
assert agent_hooks_guards.before_tool_use(HookContext("before_tool_use", tool_call=ToolCall("x"))) is None
print(sorted({"pydantic", "tomllib", "sqlite3", "json", "re"} & sys.modules.keys()))
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
