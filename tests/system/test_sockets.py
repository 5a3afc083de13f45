"""The frames between the command and the resident process, and the variables that both must have alike."""

from __future__ import annotations

import os

import pytest

from agent_hooks.system import sockets
from agent_hooks.system.sockets import BrokenFrameError, pack, size_of, unpack


def test_a_frame_holds_any_bytes():
    fields = [b"", b"\0", b"AHS1", os.urandom(100_000)]
    assert unpack(pack(*fields)) == fields
    assert size_of(pack(*fields)) == len(pack(*fields))
    with pytest.raises(BrokenFrameError):
        size_of(b"HTTP/1.1")


def test_variables_of_the_start_are_told_from_others():
    found = sockets.variables_at_start({b"PYTHONPATH": b"a", b"HOME": b"b", b"LC_ALL": b"c", b"PATH": b"d"})
    assert found == {b"PYTHONPATH": b"a", b"LC_ALL": b"c"}
