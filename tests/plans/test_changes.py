"""A plan does not outlive a change: the answer after it is that of ``--no-plan``, and the right one."""

from __future__ import annotations

import pytest

from . import changes_installed, changes_projects, changes_settings  # noqa: F401 - they add to the table
from .changes import CHANGES
from .conftest import World, same


@pytest.mark.parametrize("name", CHANGES)
def test_plan_is_not_used_after(name: str, world: World):
    prepare, make = CHANGES[name]
    if prepare is not None:
        prepare(world)
    world.ask()
    before = world.ask()
    assert world.is_planned(), before
    expected = make(world)
    after = world.ask()
    assert not world.is_planned()
    without = world.ask_without()
    assert same(after, without), f"with a plan: {after}\nwithout: {without}"
    assert expected in after.said if expected else not after.said, after
