"""The process that supervises the hooks of one event, by itself."""

from __future__ import annotations

import json
import os
from time import monotonic

import pytest

from agent_hooks.cli.supervisor import Child, Marks, Terminated, supervise


class Ending(Child):
    """A child that has answered, and whose supervisor is asked to end before it reads."""

    def __init__(self, answers: int, said: bytes) -> None:
        super().__init__(0, "")
        self._answers, self._said = answers, said

    def has_ended(self) -> bool:
        os.write(self._answers, self._said)
        raise Terminated

    def kill(self) -> None:
        pass

    kill_all = kill


def supervised(said: bytes):
    answers, given = os.pipe()
    noises, _ = os.pipe()
    return supervise(Ending(given, said), answers, noises, monotonic() + 60, Marks())[0]


def test_an_answer_that_was_sent_counts_though_the_signal_came_before_it_was_read():
    answer = ["", "", 0]
    assert supervised(json.dumps(answer).encode() + b"\n") == tuple(answer)


def test_half_of_an_answer_is_none():
    with pytest.raises(Terminated):
        supervised(b'["", ')
