"""What a rule may say, and what is told about one that says something else."""

from __future__ import annotations

import pytest

from agent_hooks import SettingsError
from agent_hooks_guards.rules.loading import read_family
from agent_hooks_guards.rules.model import KINDS, Family

RULE = {
    "id": "no-tea",
    "severity": "high",
    "reason": "Tea is spilt.",
    "instead": "Drink water.",
    "match": [{"program": ["kettle"]}],
}


def family(**changes):
    return {"family": "kitchen", "title": "In the kitchen", "rules": [{**RULE, **changes}]}


def refused(table):
    with pytest.raises(SettingsError) as error:
        read_family("rules/kitchen.toml", table)
    return str(error.value)


def with_match(**match):
    return family(match=[match])


def test_rule_with_all_that_it_needs_is_read():
    read = read_family("rules/kitchen.toml", family(stops=["kettle on"], leaves=["kettle --help"]))
    assert isinstance(read, Family)
    assert read.rules[0].match[0].program == ["kettle"]


@pytest.mark.parametrize("key", ["id", "severity", "reason", "instead", "match"])
def test_missing_key_is_named_with_its_file(key):
    table = family()
    del table["rules"][0][key]
    message = refused(table)
    assert message.startswith("rules/kitchen.toml: ")
    assert f"rules.0.{key}: Field required." in message


def test_key_that_is_none_is_named():
    assert "rules.0.match.0.programm: Extra inputs are not permitted." in refused(with_match(programm=["kettle"]))


@pytest.mark.parametrize("severity", ["deny", "HIGH", "", 3])
def test_severity_is_one_of_four_words(severity):
    assert "rules.0.severity" in refused(family(severity=severity))


@pytest.mark.parametrize("name", ["No-Tea", "no tea", "no--tea", "-tea", "tea-", "no_tea", "", "tee\n"])
def test_id_is_in_lower_case_with_hyphens(name):
    assert "rules.0.id" in refused(family(id=name))


@pytest.mark.parametrize("text", ["no full stop", "Two\nlines.", "", " "])
@pytest.mark.parametrize("key", ["reason", "instead"])
def test_reason_and_what_to_do_instead_are_sentences(key, text):
    assert f"rules.0.{key}" in refused(family(**{key: text}))


def test_two_rules_of_a_family_have_two_names():
    table = family()
    table["rules"].append(RULE)
    assert "two rules have the id 'no-tea'" in refused(table)


@pytest.mark.parametrize(
    "option", ["-f", "--force|-f", "-X=DELETE|--request=DELETE", "of=/dev/*", "--data-*", "+x", "/s"]
)
def test_option_is_accepted(option):
    assert read_family("x.toml", with_match(program=["p"], options=[option])).rules[0].match[0].options == [option]


@pytest.mark.parametrize("option", ["force", "-f | -g", "--force||-f", "", "|"])
@pytest.mark.parametrize("key", ["options", "without"])
def test_option_that_is_none_is_refused(key, option):
    assert f"rules.0.match.0.{key}.0" in refused(with_match(program=["p"], **{key: [option]}))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_path_is_accepted_alone_and_with_another(kind):
    match = read_family("x.toml", with_match(effect=["delete"], path=[kind, f"{kind}&outside"])).rules[0].match[0]
    assert match.path == [kind, f"{kind}&outside"]


@pytest.mark.parametrize("kind", ["etc", "System", "system &home", "system&", ""])
def test_kind_of_path_that_is_none_is_refused(kind):
    assert "rules.0.match.0.path.0" in refused(with_match(effect=["delete"], path=[kind]))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("effect", ["destroy"]),
        ("doubt", ["odd"]),
        ("stdin", ["internet"]),
        ("from", ["internet"]),
        ("host", ["here"]),
        ("text", "("),
        ("sql", ["explode"]),
        ("assigns", ["HOME"]),
        ("not_assigns", ["HOME"]),
        ("operands", {"least": 1}),
        ("operands", {"min": -1}),
        ("subcommand", ["two  blanks"]),
        ("subcommand", [""]),
        ("root", "yes"),
        ("program", "kettle"),
    ],
)
def test_value_that_is_none_is_refused_with_its_key(key, value):
    assert f"rules.0.match.0.{key}" in refused(with_match(**{"program": ["kettle"], key: value}))


def test_match_needs_something_that_it_is_about():
    assert "needs a program, sql, an effect or a doubt" in refused(with_match(options=["-f"]))


@pytest.mark.parametrize("key", ["file", "not_file", "url", "not_url", "method"])
def test_keys_of_effects_are_refused_for_commands(key):
    assert f"{key}: not a key for a command" in refused(with_match(program=["p"], **{key: ["x"]}))


def test_keys_of_commands_are_refused_for_doubts():
    assert "program: not a key for a doubt" in refused(with_match(doubt=["unknown-code"], program=["p"]))


def test_empty_list_is_refused():
    assert "without: an empty list matches nothing" in refused(with_match(program=["p"], without=[]))


def test_rule_needs_a_match():
    assert "rules.0.match" in refused(family(match=[]))


def test_every_mistake_is_told_at_once():
    message = refused(family(severity="x", reason="no"))
    assert "rules.0.severity" in message
    assert "rules.0.reason" in message
