"""The messages between a client and the warm process, and where the socket is."""

from __future__ import annotations

import os
import socket
import sys
from threading import Thread

import pytest

from agent_hooks.system import sockets


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
def test_a_message_comes_with_its_open_files(ends, size):
    one, other = ends
    message = ("event", 1.5, {b"A": b"\xff"}, [None, True], b"x" * size)
    sender = Thread(target=sockets.send, args=(one, message, (0, 1)))
    sender.start()
    received, descriptors = sockets.receive(other)
    sender.join()
    assert received == message
    assert [os.fstat(each).st_ino for each in descriptors] == [os.fstat(each).st_ino for each in (0, 1)]
    for each in descriptors:
        os.close(each)


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0" * 7 + b"\x09N", b"\xff" * 8, b"\0" * 7 + b"\1NN"])
def test_a_part_of_a_message_is_none(ends, sent):
    one, other = ends
    one.sendall(sent)
    one.close()
    with pytest.raises(ValueError, match="no whole message"):
        sockets.receive(other)


def test_variables_of_the_start_are_told_from_others():
    names = ("PYTHONPATH", "HOME", "LC_ALL", "LC_TERMINAL", "PATH", "LD_PRELOAD", "TZ")
    assert [name for name in names if sockets.counts_at_start(name)] == ["LC_ALL", "LD_PRELOAD", "TZ"]


def test_an_environment_has_one_name_however_its_interpreter_is_called(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "link").symlink_to("bin")
    names = set()
    for python in ("bin/python", "bin/python3", "link/python", "bin/../bin/python3.11"):
        monkeypatch.setattr(sys, "executable", str(tmp_path / python))
        names.add(sockets.socket_name("/site"))
    assert len(names) == 1
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert sockets.socket_name("/site") not in names
