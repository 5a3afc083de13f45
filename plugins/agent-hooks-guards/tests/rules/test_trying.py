"""Whether examples of a rule are right is told one by one."""

from __future__ import annotations

import pytest

from agent_hooks_guards.rules.model import Rule
from agent_hooks_guards.rules.trying import wrong_examples


def rule(stops=(), leaves=()):
    return Rule.model_validate(
        {
            "id": "deploy",
            "severity": "high",
            "reason": "Ours.",
            "instead": "Wait.",
            "stops": list(stops),
            "leaves": list(leaves),
            "match": [{"program": ["deploy"], "without": ["--dry-run"]}, {"effect": ["delete"], "path": ["workspace"]}],
        }
    )


@pytest.mark.parametrize("command", ["deploy", "sudo bash -c 'x=deploy; $x web'", "rm a", "rm /home/dev/app/a"])
def test_what_the_rule_matches_is_right_in_stops_and_wrong_in_leaves(command):
    assert list(wrong_examples(rule(stops=[command]))) == []
    assert list(wrong_examples(rule(leaves=[command]))) == [("leaves", command)]


@pytest.mark.parametrize("command", ["deploy --dry-run", "deploy --help", "echo deploy", "rm /tmp/a", "rm -rf /"])
def test_what_it_does_not_match_is_wrong_in_stops_and_right_in_leaves(command):
    assert list(wrong_examples(rule(leaves=[command]))) == []
    assert list(wrong_examples(rule(stops=[command]))) == [("stops", command)]


def test_every_wrong_one_is_told():
    told = list(wrong_examples(rule(stops=["ls", "deploy", "cat a"], leaves=["ls", "deploy"])))
    assert told == [("stops", "ls"), ("stops", "cat a"), ("leaves", "deploy")]
