"""Which policy holds where several sources have one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.formats.policies import merged_policy, project_may_say
from agent_hooks.model.policy import FAILURES, HookPolicy
from tables import tables

TABLES = tables(__file__)

# From the least strict to the strictest.
LADDERS = {
    "ask_fallback": ("allow", "deny"),
    "timeout": (None, 90.0, 60.0, 1.5),
    "suspension_ttl": (None, HookPolicy().suspension_ttl, 60.0),
    "max_rechecks": (5, 2, 0),
    "max_forced_continuations": (5, 3, 0),
    "max_retries": (5, 2, 0),
    "contracts": ("off", "diagnostic", "strict"),
    "allow_shell": (True, False),
    "require_project_gates": (False, True),
    "shadow": (True, False),
}
ANY_TABLE = st.fixed_dictionaries(
    {}, optional={"on_gate_failure": st.sampled_from(FAILURES), **{k: st.sampled_from(v) for k, v in LADDERS.items()}}
)


def merged(base=None, managed=(), user=(), project=()):
    return merged_policy(None if base is None else HookPolicy(**base), managed, user, project)


def test_without_files_the_applications_policy_holds():
    assert merged() == HookPolicy()
    assert merged({"timeout": 5.0, "on_gate_failure": "ask"}) == HookPolicy(timeout=5.0, on_gate_failure="ask")


def test_what_one_source_leaves_out_another_says():
    policy = merged({"max_retries": 1}, [{"timeout": 9.0}], [{"shadow": True}], [{"ask_fallback": "deny"}])
    assert policy == HookPolicy(max_retries=1, timeout=9.0, shadow=True, ask_fallback="deny")


@pytest.mark.parametrize(("key", "looser", "stricter"), [(key, v[0], v[-1]) for key, v in LADDERS.items()])
def test_who_manages_the_machine_decides_either_way(key, looser, stricter):
    for own, theirs in ((looser, stricter), (stricter, looser)):
        assert getattr(merged({key: own}, [{key: theirs}], [{key: own}]), key) == theirs


@pytest.mark.parametrize("key", LADDERS)
def test_of_user_and_application_the_stricter_counts(key):
    ladder = LADDERS[key]
    for one, other in product(ladder, repeat=2):
        strict = ladder[max(ladder.index(one), ladder.index(other))]
        assert getattr(merged({key: one}, user=[{key: other}]), key) == strict
        assert getattr(merged(user=[{key: one}, {key: other}]), key) == strict
        assert getattr(merged(managed=[{key: one}, {key: other}]), key) == strict


def test_a_default_of_the_application_is_no_word_of_its_own():
    """What it did not choose does not stand against what the user chose."""
    assert merged({}, user=[{"timeout": 90.0, "contracts": "off"}]) == HookPolicy(timeout=90.0, contracts="off")


def test_what_has_no_strictness_is_the_applications_before_the_users():
    policy = merged({"max_background": 3}, user=[{"max_background": 9, "context_separator": "--"}])
    assert (policy.max_background, policy.context_separator) == (3, "--")


@given(*[st.sampled_from((None, *FAILURES))] * 3, st.sampled_from((None, "closed")))
def test_of_what_a_failure_does_the_strictest_of_all_counts(base, managed, user, project):
    said = {"on_gate_failure": base}, {"on_gate_failure": managed}, {"on_gate_failure": user}
    tables = [{k: v for k, v in table.items() if v} for table in (*said[1:], {"on_gate_failure": project})]
    found = merged(said[0], *[[table] for table in tables]).on_gate_failure
    choices = [choice for choice in (base, managed, user, project) if choice]
    assert found == (max(choices, key=FAILURES.index) if choices else None)


@given(ANY_TABLE, ANY_TABLE, ANY_TABLE, st.lists(ANY_TABLE, max_size=2))
def test_a_project_only_tightens(base, managed, user, project):
    """Nothing is looser with it than without, and nothing that could take from the hooks of others changes at all."""
    without, with_it = (merged(base, [managed], [user], said) for said in ((), project))
    for key, ladder in LADDERS.items():
        before, after = ladder.index(getattr(without, key)), ladder.index(getattr(with_it, key))
        assert after >= before
        if key not in ("ask_fallback", "require_project_gates"):
            assert after == before
    assert with_it.on_gate_failure in (without.on_gate_failure, "closed")


@pytest.mark.parametrize(
    ("key", "value"), [("on_gate_failure", "closed"), ("ask_fallback", "deny"), ("require_project_gates", True)]
)
def test_what_cannot_but_tighten_a_project_may_say(key, value):
    assert project_may_say(key, value)
    loosest = {"on_gate_failure": "open", "ask_fallback": "allow"}
    assert getattr(merged(managed=[loosest], project=[{key: value}]), key) == value


@pytest.mark.parametrize(("key", "value"), TABLES["all_else_a_project_may_not_say"])
def test_all_else_a_project_may_not_say(key, value):
    assert not project_may_say(key, value)
    assert merged(project=[{key: value}]) == HookPolicy()
