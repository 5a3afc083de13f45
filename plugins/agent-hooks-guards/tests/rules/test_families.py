"""Every rule matches the commands that it says it stops, and none of those that it says it leaves."""

from __future__ import annotations

import re
import time

import pytest

from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.places.paths import Place
from agent_hooks_guards.rules.indexing import indexed
from agent_hooks_guards.rules.loading import own_families
from agent_hooks_guards.rules.matching import judge
from tables import tables

TABLES = tables(__file__)

PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")
FAMILIES = own_families()
RULES = [(family, rule) for family in FAMILIES for rule in family.rules]
INDEX = indexed(FAMILIES, text="text")


def broken(command):
    return {verdict.rule.id for verdict in judge(analyse(command, PLACE), INDEX, PLACE)}


each_rule = pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for _, rule in RULES])


@each_rule
def test_rule_stops(rule):
    assert [command for command in rule.stops if rule.id not in broken(command)] == []


@each_rule
def test_rule_leaves(rule):
    assert [command for command in rule.leaves if rule.id in broken(command)] == []


@each_rule
def test_rule_has_examples_of_both_kinds(rule):
    assert len(set(rule.stops)) >= 4
    assert len(set(rule.leaves)) >= 3


@pytest.mark.parametrize(("family", "rule"), [pytest.param(*each, id=each[1].id) for each in RULES])
def test_each_match_of_a_rule_is_reached_by_an_example(family, rule):
    analyses = [analyse(command, PLACE) for command in rule.stops]

    def is_reached(match):
        alone = indexed(
            [family.model_copy(update={"rules": [rule.model_copy(update={"match": [match]})]})], text="text"
        )
        return any(judge(analysis, alone, PLACE) for analysis in analyses)

    assert [match.model_dump(exclude_unset=True) for match in rule.match if not is_reached(match)] == []


def test_families_are_named_as_their_files():
    assert [family.family for family in FAMILIES] == sorted(family.family for family in FAMILIES)


def test_ids_are_unique_over_all_families():
    ids = [rule.id for _, rule in RULES]
    assert len(ids) == len(set(ids))


def test_programs_are_named_by_their_base_names():
    names = {name for _, rule in RULES for match in rule.match for name in match.program if "*" not in name}
    assert {name: base_name(name) for name in names if base_name(name) != name} == {}


def test_no_two_rules_say_the_same():
    texts = [(rule.reason, rule.instead) for _, rule in RULES]
    assert len(texts) == len(set(texts))


# Products with the programs that advice about them holds for, beside their own.
PRODUCTS = {
    **dict.fromkeys("aws az cargo consul crontab dnscontrol etcdctl gcloud gh heroku hg journalctl".split(), ()),
    **dict.fromkeys(
        "logrotate mongodump mysqldump nomad npm op p4 pg_dump pip psql pulumi svn terraform vault".split(), ()
    ),
    "kubectl": ("k3s", "microk8s", "minikube", "k0s"),
    "helm": ("helmfile",),
    "cryptsetup": ("fdesetup", "manage-bde"),
    "consul": ("zkCli*", "zkcli*"),
}
# By kind of statement, effect or doubt: the words of which a reason has one.
WORDS = TABLES["words"]


@each_rule
def test_a_reason_names_no_product_but_that_of_the_command(rule):
    text = f"{rule.reason} {rule.instead}"
    named = PRODUCTS.keys() & re.findall(r"[a-z][\w-]*", text)
    fitting = named.union(*(PRODUCTS[name] for name in named))
    is_general = not named or re.search(r"\btools?\b|such as|as with|and the like", text)
    assert is_general or [match for match in rule.match if fitting.isdisjoint(match.program)] == []


@each_rule
def test_a_reason_speaks_of_what_the_rule_is_about(rule):
    kinds = {kind for match in rule.match for kind in (*match.sql, *match.effect, *match.doubt)}
    assert [kind for kind in kinds if kind in WORDS and not re.search(WORDS[kind], rule.reason)] == []


@pytest.mark.parametrize(("command", "words", "others"), TABLES["the_reason_is_about_the_command"])
def test_the_reason_is_about_the_command(command, words, others):
    verdicts = judge(analyse(command, PLACE), INDEX, PLACE)
    texts = [f"{each.rule.reason} {each.rule.instead}" for each in verdicts if each.rule.severity != "low"]
    assert any(re.search(words, text) for text in texts)
    assert [text for text in texts if re.search(others, text)] == []


TEXTS = sorted({match.text for family in own_families() for rule in family.rules for match in rule.match if match.text})


@pytest.mark.parametrize("expression", TEXTS)
def test_no_expression_takes_long_for_a_long_text(expression):
    for text in ("x", "-", " ", "[", "a.b(", "result_1 = compute(value, 'text')  # a comment\n"):
        long = text * (100_000 // len(text))
        begun = time.process_time()
        re.search(expression, long)
        # A bound and not a measure of speed: what retries at every position takes minutes.
        assert time.process_time() - begun < 10, text
