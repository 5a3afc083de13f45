"""Requirements on a version, as plugins state them."""

from __future__ import annotations

import pytest

from agent_hooks.system.versions import is_satisfied, unmet

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
    [
        ("0.1.0", "", True),
        ("0.1.0", ">=0.1,<0.2", True),
        ("0.1.0", ">=0.1.1", False),
        ("0.1.0", "<0.1", False),
        ("0.10.0", ">=0.9", True),
        ("1.0", "==1.0.0", True),
        ("1.4.2", "==1.4.*", True),
        ("1.5.0", "==1.4.*", False),
        ("1.5.0", "!=1.5", False),
        ("1.5.0", "!=1.4.*", True),
        ("1.4.2", "~=1.4", True),
        ("1.9", "~=1.4", True),
        ("2.0", "~=1.4", False),
        ("1.5.0", "~=1.4.2", False),
        ("1.4.9", "~=1.4.2", True),
        ("1.4", "~=1.4.0", True),
        ("1.0", ">1.0", False),
        ("1.0", "<=1.0.0", True),
        ("2.0rc1", ">=2.0", True),
        ("1.0", "@ file:///somewhere", True),
    ],
)
def test_a_version_satisfies_a_specifier(version, specifier, expected):
    assert is_satisfied(version, specifier) is expected


def test_the_unmet_requirement_is_told_and_those_on_others_do_not_count():
    requirements = ["click>=99", "agent-hooks-core-extras>=99", "Agent_Hooks.Core[cli]>=2,<3"]
    assert unmet("agent-hooks-core", "1.0", requirements) == "agent-hooks-core >=2,<3"
    assert unmet("agent-hooks-core", "2.5", requirements) == ""
