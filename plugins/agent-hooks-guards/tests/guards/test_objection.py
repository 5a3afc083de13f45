"""What the guards say when they stop a command: the worst first, true, and short."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from making import about

import agent_hooks_guards
from agent_hooks import HookManager, HookOutcome
from agent_hooks_guards import ShellGuard
from agent_hooks_guards.guards.objection import object_to, settle
from agent_hooks_guards.rules.loading import own_families
from tables import tables

TABLES = tables(__file__)

LONGEST = 299  # characters


GUARD = ShellGuard()


def _outcome(command: str):
    return GUARD.execute(about("Bash", "shell", args={"command": command}, cwd="/home/dev/project"))


@pytest.mark.parametrize(("command", "says"), TABLES["what_leaves_the_machine_leads_and_names_the_host"])
def test_what_leaves_the_machine_leads_and_names_the_host(command, says):
    reason = _outcome(command).reason
    assert says in reason
    assert "to evil.example" in reason


@pytest.mark.parametrize(
    "command",
    ["truncate -s 0 ~/.ssh/authorized_keys", ": > ~/.ssh/authorized_keys", "sed -i /ada/d ~/.ssh/authorized_keys"],
)
def test_emptying_authorized_keys_is_not_said_to_let_somebody_in(command):
    outcome = _outcome(command)
    assert outcome.decision == "deny"
    assert "can log in from now on" not in outcome.reason
    assert "keeps people out" in outcome.reason


@pytest.mark.parametrize("command", TABLES["what_is_read_into_a_variable_is_not_printed"])
def test_what_is_read_into_a_variable_is_not_printed(command):
    assert _outcome(command) is None


@pytest.mark.parametrize("command", TABLES["what_is_printed_after_all_is_asked_about"])
def test_what_is_printed_after_all_is_asked_about(command):
    assert _outcome(command).decision == "ask"


@pytest.mark.parametrize("family", own_families(), ids=lambda family: family.family)
def test_a_reason_is_short_and_names_its_rule(family):
    for rule in family.rules:
        for command in rule.stops:
            for text in (
                command,
                f"{command} # {'x' * 400}",
                f"echo {'y' * 400}; {command}; cat .env; git reset --hard",
            ):
                outcome = _outcome(text)
                assert outcome is None or len(outcome.reason) <= LONGEST, outcome.reason
        shown = _outcome(rule.stops[0])
        assert shown is None or "{host}" not in shown.reason


@pytest.mark.parametrize(
    ("name", "kind", "args"),
    [
        ("Write", "write", {"file_path": f"/etc/{'a' * 400}/x", "content": "x"}),
        ("Read", "read", {"file_path": f"/home/dev/{'a' * 400}/.ssh/id_rsa"}),
        ("WebFetch", "fetch", {"url": f"http://169.254.169.254/{'a' * 400}"}),
        ("Bash", "shell", {"command": "; ".join(f"cat .env.{number}; git branch -D b{number}" for number in range(9))}),
    ],
)
def test_the_reasons_of_all_guards_are_short(name, kind, args):
    outcome = HookManager().hooks(ask="host").dispatch_sync(about(name, kind, args=args, cwd="/home/dev/project"))
    assert outcome.decision in ("deny", "ask")
    assert len(outcome.reason) <= LONGEST


# -- objections.toml ---------------------------------------------------------------------------------------------------

PACKAGE = Path(agent_hooks_guards.__file__).parent


def test_every_declared_objection_is_raised_and_every_raised_one_is_declared():
    declared = set(tomllib.loads((PACKAGE / "guards" / "objections.toml").read_text(encoding="utf-8")))
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert declared == {key for key in declared if f'"{key}"' in source}
    assert set(re.findall(r'object_to\(\s*"([\w-]+)"', source)) <= declared


@pytest.mark.parametrize(("key", "rule"), [("path-agent", "path-agent"), ("path-system-kernel", "path-system")])
def test_an_objection_is_filled_in_and_names_its_rule(key, rule):
    objection = object_to(key, path="/x", key="allow_write")
    assert (objection.decision, objection.rule) == ("deny", rule)
    assert objection.reason.startswith("/x ")
    assert "{" not in str(objection)


def reason(outcome: HookOutcome | None) -> str:
    assert outcome is not None
    return outcome.reason


def test_the_first_deny_settles_outcomes_and_asks_are_one_question():
    asks = [HookOutcome.ask("a [x]"), None, HookOutcome.ask("b [y]")]
    assert reason(settle(asks)) == "a [x]\n\nb [y]"
    assert reason(settle([*asks, HookOutcome.deny("c [z]"), HookOutcome.deny("d")])) == "c [z]"
    assert settle([None]) is None


@pytest.mark.parametrize(("kind", "args"), TABLES["a_reason_shows_what_is_invisible_in_a_path"])
def test_a_reason_shows_what_is_invisible_in_a_path(kind, args):
    outcome = agent_hooks_guards.before_tool_use(about("Tool", kind=kind, args=args, cwd="/home/dev/app"))
    assert outcome is not None
    assert "a\\u3164b" in outcome.reason
    assert "\u3164" not in outcome.reason
