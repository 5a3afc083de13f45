"""Neither a plan nor a resident process outlives a change: the answer is that of ``--no-plan``, and the right one."""

from __future__ import annotations

import pytest

from residents import Resident

from . import changes_installed, changes_projects, changes_settings  # noqa: F401 - they add to the table
from .changes import CHANGES
from .conftest import World, same


@pytest.mark.parametrize("name", CHANGES)
def test_neither_plan_nor_resident_process_outlives(name: str, world: World):
    prepare, make = CHANGES[name]
    if prepare is not None:
        prepare(world)
    world.ask()
    before = world.ask()
    assert world.is_planned(), before
    running = Resident(world.command, program=(str(world.python), str(world.command.script)))
    try:
        answered = world.ask()
        assert same(before, answered), f"with a plan: {before}\nby the resident process: {answered}"
        assert running.answered == 1, running.counts
        expected = make(world)
        with running.hidden():
            after = world.ask()
        assert not world.is_planned()
        answered = world.ask()
    finally:
        running.end()
    without = world.ask_without()
    assert same(after, without), f"with a plan: {after}\nwithout: {without}"
    assert same(answered, without), f"by the resident process: {answered}\nwithout: {without}"
    assert expected in after.said if expected else not after.said, after
