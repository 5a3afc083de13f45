"""What the settings of the machine, the user and projects come to together: projects only tighten."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import SettingsError
from agent_hooks.sources.plugin_settings import PluginTable
from agent_hooks_guards.settings.build import build
from agent_hooks_guards.settings.layers import injection_matches, layers
from tables import tables

TABLES = tables(__file__)


def said(rank, text, path="/p/agent-hooks.toml"):
    """What a file of ``rank`` says; the keys stand below ``guards``."""
    return build(PluginTable(name="guards", path=path, source=rank, settings=tomllib.loads(text), at="guards"))


def own(*told):
    return layers(told)[0].tables


# -- what a project may not say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "named"), TABLES["a_project_that_loosens_is_refused_by_file_and_key_and_the_user_is_not"]
)
def test_a_project_that_loosens_is_refused_by_file_and_key_and_the_user_is_not(text, named):
    with pytest.raises(SettingsError) as caught:
        said("project", text)
    assert str(caught.value).startswith("/p/agent-hooks.toml: ")
    assert f"{named}: a project can only make the guards stricter" in str(caught.value)
    assert said("user", text).tables
    assert said("managed", text).tables


@pytest.mark.parametrize("text", TABLES["what_tightens_a_project_may_say"])
def test_what_tightens_a_project_may_say(text):
    assert said("project", text).tables


# -- names -------------------------------------------------------------------------------------------------------------

RULE = """
[[rules]]
id = "{id}"
severity = "high"
reason = "Ours."
instead = "Ask."
match = [{{program = ["deploy"]}}]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shell.rules.gti = 'ask'", "guards.shell.rules.gti: there is no rule and no family 'gti' (did you mean git"),
        ("shell.rules.zzzzzz = 'ask'", "'zzzzzz' (`agent-hooks rules` lists them"),
        ("[[allow]]\nrule = 'git-rset-hard'\nbranch = 'x'", "guards.allow[0].rule: there is no rule"),
        (RULE.format(id="git-reset-hard"), "guards.rules[0]: there is a rule 'git-reset-hard' already"),
        (RULE.format(id="git"), "guards.rules[0]: there is a rule 'git' already"),
        (RULE.format(id="ours") + RULE.format(id="ours"), "guards: two rules have the id 'ours'"),
    ],
)
def test_a_name_that_is_none_or_taken_is_an_error_that_names_the_file(text, message):
    with pytest.raises(SettingsError) as caught:
        said("user", text, "/home/ada/agent-hooks.toml")
    assert str(caught.value).startswith("/home/ada/agent-hooks.toml: ")
    assert message in str(caught.value)


def test_rules_of_ones_own_and_whose_they_are_can_be_named():
    assert said("user", f"shell.rules = {{ours = 'ask', project = 'off', user = 'ask'}}\n{RULE.format(id='ours')}")


# -- together ----------------------------------------------------------------------------------------------------------


def test_without_settings_there_is_one_layer_that_says_nothing():
    (layer,) = layers([])
    assert layer.tables == {"shell": {}, "paths": {}, "secrets": {}, "egress": {}}
    assert (layer.at_least, layer.exceptions, layer.rules) == ({}, [], [])


def test_the_users_settings_count_more_than_the_machines_and_lists_add_up():
    managed = said("managed", "shell.level = 'relaxed'\nshell.rules.git = 'ask'\npaths.allow_read = ['/a']")
    user = said("user", "shell.rules = {git = 'deny', disks = 'ask'}\npaths.allow_read = ['/b']")
    tables = own(user, managed)
    assert tables["shell"] == {"level": "relaxed", "rules": {"git": "deny", "disks": "ask"}}
    assert tables["paths"] == {"allow_read": ["/a", "/b"]}
    assert own(said("user", "shell.level = 'strict'"), managed)["shell"]["level"] == "strict"


def test_what_the_machine_says_holds_by_itself():
    managed = said("managed", "shell.level = 'strict'\negress.deny = ['a.test']\n[[allow]]\nrule = 'git'\nbranch = 'x'")
    user = said("user", "shell.level = 'off'\negress.level = 'off'\n[[allow]]\nrule = 'git'\nbranch = 'y'")
    first, second = layers([user, managed])
    assert first.tables["shell"] == {"level": "off"}
    assert [each["branch"] for each in first.exceptions] == ["x", "y"]
    assert second.tables == {"shell": {"level": "strict"}, "egress": {"deny": ["a.test"]}}
    assert [each["branch"] for each in second.exceptions] == ["x"]


def test_of_secrets_the_stricter_answer_counts_whoever_gave_it():
    managed = said("managed", "secrets = {commands = 'deny', writes = 'allow'}")
    user = said("user", "secrets = {commands = 'allow', results = 'allow'}")
    project = said("project", "secrets.results = 'redact'")
    assert own(project, user, managed)["secrets"] == {"commands": "deny", "writes": "allow", "results": "redact"}


def test_a_project_makes_the_users_settings_stricter():
    user = said("user", "shell.level = 'off'\npaths = {level = 'relaxed', protect = ['/a']}\negress.level = 'relaxed'")
    project = said("project", "shell.level = 'standard'\npaths.protect = ['b']\negress.private = 'ask'")
    tables = own(project, user)
    assert tables["shell"]["level"] == "standard"
    assert tables["paths"] == {"level": "relaxed", "protect": ["/a", "/p/b"]}
    assert tables["egress"] == {"level": "relaxed", "private": "ask"}


def test_what_a_project_leaves_at_the_default_loosens_nothing():
    user = said("user", "egress.level = 'strict'\nsecrets.writes = 'deny'")
    tables = own(said("project", "egress.others = 'allow'\nsecrets.writes = 'ask'\nshell.level = 'standard'"), user)
    assert (tables["egress"]["others"], tables["secrets"]["writes"]) == ("ask", "deny")


def test_of_several_projects_the_strictest_choice_counts():
    told = [said("project", f"shell.rules.git = '{choice}'") for choice in ("ask", "deny", "ask")]
    assert layers(told)[0].at_least == {"git": "deny"}
    assert own(*told)["shell"] == {}


def test_patterns_of_a_project_are_meant_in_its_folder_and_those_of_a_home_at_home():
    project = said("project", "paths.deny_read = ['data/**', '/abs', '~/x']", "/work/p/pyproject.toml")
    assert own(project)["paths"]["deny_read"] == ["/work/p/data/**", "/abs", "~/x"]
    assert own(said("user", "paths.deny_read = ['data']"))["paths"]["deny_read"] == ["data"]


def test_the_injection_warning_is_asked_for_by_its_table_and_each_match_once():
    project, user = said("project", "injection = {}"), said("user", "injection.matcher = 'read'")
    told = [project, user, said("project", "injection = {}")]
    assert injection_matches(told) == [None, "read"]
    assert injection_matches([said("user", "shell.level = 'strict'")]) == []


LEVELS = ("off", "relaxed", "standard", "strict")
DECISIONS = ("allow", "ask", "deny")
LAYERS = st.fixed_dictionaries(
    {},
    optional={
        "shell": st.fixed_dictionaries({}, optional={"level": st.sampled_from(LEVELS)}),
        "paths": st.fixed_dictionaries({}, optional={"level": st.sampled_from(LEVELS)}),
        "egress": st.fixed_dictionaries(
            {}, optional={"level": st.sampled_from(LEVELS), "others": st.sampled_from(DECISIONS)}
        ),
        "secrets": st.fixed_dictionaries(
            {}, optional={key: st.sampled_from(DECISIONS) for key in ("sends", "commands", "writes")}
        ),
    },
)
ORDER = {word: rank for order in (LEVELS, DECISIONS) for rank, word in enumerate(order)}
HELD = {
    **{(name, "level"): "standard" for name in ("shell", "paths", "egress")},
    ("egress", "others"): "allow",
    ("secrets", "sends"): "deny",
    **{("secrets", key): "ask" for key in ("commands", "writes")},
}


@given(LAYERS, LAYERS)
def test_with_a_project_nothing_is_looser_than_without(user, project):
    try:
        project = said("project", _toml(project))
    except SettingsError:
        project = said("project", "")
    users = said("user", _toml(user))
    without, with_it = own(users), own(project, users)
    for (name, key), default in HELD.items():
        assert ORDER[with_it[name].get(key, default)] >= ORDER[without[name].get(key, default)]


def _toml(tables):
    return "\n".join(f"{name}.{key} = '{value}'" for name, table in tables.items() for key, value in table.items())
