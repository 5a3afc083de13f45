"""The listed rules of the path, egress and secrets guards are those that the guards report, with their decisions."""

from __future__ import annotations

import pytest
from made_secrets import SECRETS
from making import about

from agent_hooks import HookManager
from agent_hooks_guards import EgressGuard, PathGuard, SecretsGuard
from agent_hooks_guards.guards.objection import LEVELS
from agent_hooks_guards.settings.rule_rows import guard_rows
from tables import tables

TABLES = tables(__file__)

ROWS = {row.id: row for row in guard_rows()}
TOKEN = dict(SECRETS)["github-token"]
WORKSPACE = "/home/dev/app"


def path_objection(level, operation, path):
    return PathGuard(level, workspace=WORKSPACE, protect=["/srv/kept"]).objection(operation, path, WORKSPACE, WORKSPACE)


def url_objection(level, url):
    return EgressGuard(level, deny=["denied.test"]).objection(url)


@pytest.mark.parametrize(("rule", "operation", "path"), TABLES["a_rule_of_the_path_guard_decides_as_listed"])
def test_a_rule_of_the_path_guard_decides_as_listed(rule, operation, path):
    for level in LEVELS:
        found = path_objection(level, operation, path)
        assert (found.decision if found else "nothing") == ROWS[rule].decisions[level]
        assert found is None or found.rule == rule


@pytest.mark.parametrize(("rule", "url"), TABLES["a_rule_of_the_egress_guard_decides_as_listed"])
def test_a_rule_of_the_egress_guard_decides_as_listed(rule, url):
    for level in LEVELS:
        found = url_objection(level, url)
        assert (found.decision if found else "nothing") == ROWS[rule].decisions[level]
        # At `strict`, a host that cannot be known is one that is not allowed, too.
        assert found is None or found.rule == rule or level == "strict"


@pytest.mark.parametrize(
    ("rule", "call"),
    [
        ("secret-sent", {"kind": "fetch", "args": {"url": f"https://a.test/?k={TOKEN}"}}),
        ("secret-command", {"kind": "shell", "args": {"command": f"echo {TOKEN}"}}),
        ("secret-written", {"kind": "write", "args": {"path": "a", "content": TOKEN}}),
    ],
)
def test_a_rule_of_the_secrets_guard_decides_as_listed(rule, call):
    manager = HookManager(load_plugins=False)
    manager.register(SecretsGuard())
    outcome = manager.hooks(ask="host").dispatch_sync(about(**call))
    assert f"[{rule}]" in (outcome.reason or "")
    assert set(ROWS[rule].decisions.values()) == {str(outcome.decision)}


def test_no_row_has_a_part_that_only_a_call_fills_in():
    assert [row.id for row in ROWS.values() if "{path}" in row.reason + row.instead or "{host}" in row.reason] == []
