"""The command beside a resident process that does not answer, or is another one."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from agent_hooks.cli import resident
from agent_hooks.system import sockets
from agent_hooks.system.sockets import BrokenFrameError, address_of, open_folder, pack, size_of, unpack
from commands import SCRIPT, Command
from residents import RULES, Resident, bash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no resident process on this system"),
]

# Prints where the socket is.
NAME = """\
from agent_hooks_core import FOLDER
from agent_hooks.system.sockets import socket_folder, socket_name
print(socket_folder())
print(socket_name(FOLDER))
"""


@pytest.fixture
def command(started_command):
    return started_command


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resident]:
    """A resident process that no test asks about an event that it answers."""
    running = Resident(Command(tmp_path_factory.mktemp("patient")))
    yield running
    running.end()


class Imposter:
    """A socket where the resident process would have its own, with something else behind it."""

    def __init__(self, command: Command, answer: Callable[[socket.socket], None] | None) -> None:
        command.script.write_text(SCRIPT.replace("sys.exit(main())", NAME))
        folder, name = command().stdout.split("\n")[:2]
        command.script.write_text(SCRIPT)
        self.folder = Path(folder)
        descriptor = open_folder(folder, create=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(address_of(descriptor, folder, name))
        os.close(descriptor)
        self.asked = 0
        if answer is not None:
            self.listener.listen()
            Thread(target=self._serve, args=(answer,), daemon=True).start()

    def _serve(self, answer: Callable[[socket.socket], None]) -> None:
        while True:
            connection, _ = self.listener.accept()
            self.asked += 1
            with connection, suppress(OSError, BrokenFrameError):
                answer(connection)


def receive(connection: socket.socket) -> list[bytes]:
    """The fields of a request."""
    data = bytearray()
    while not (size := size_of(data)) or len(data) < size:
        data += connection.recv(64 * 1024)
    return unpack(data)


def _answer_whole(connection: socket.socket) -> None:
    receive(connection)
    connection.sendall(WHOLE)


TAKEN = resident.TAKEN + (5_000_000).to_bytes(8, "big")
WHOLE = TAKEN + pack(b"answered", b"", b"", b"0")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage" * 10,
        TAKEN,
        TAKEN[:-1],
        WHOLE[:-1],
        WHOLE[:12],
        WHOLE + b"x",
        b"T" + b"\0" * 8,
        TAKEN + b"AHS1" + b"\xff" * 8,
        TAKEN + pack(),
        TAKEN + pack(b"answered", b"", b"", b"7"),
        TAKEN + pack(b"answered", b"", b"0"),
        TAKEN + pack(b"declined", b"why"),
    ],
    ids=repr,
)
def test_an_answer_that_is_none_counts_as_none(command, payload, sent):
    command.install(RULES)

    def answer(connection: socket.socket) -> None:
        receive(connection)
        connection.sendall(sent)

    imposter = Imposter(command, answer)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert imposter.asked == 1


def test_a_process_that_takes_no_request_is_passed_over(command, payload):
    command.install(RULES)
    imposter = Imposter(command, lambda connection: time.sleep(60))
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert imposter.asked == 1


@pytest.mark.parametrize("announced", [5_000_000, 600_000_000])
def test_a_process_that_stops_after_taking_the_request_leaves_time_to_decide(command, payload, announced):
    command.install(RULES)

    def answer(connection: socket.socket) -> None:
        receive(connection)
        connection.sendall(resident.TAKEN + announced.to_bytes(8, "big"))
        time.sleep(60)

    Imposter(command, answer)
    done = command.answer("claude-code", bash(payload, "claude-code", "deny"), "--timeout", "8")
    assert done.denies
    assert "the hooks did not answer" not in done.stderr


def test_a_socket_without_a_process_is_passed_over_and_replaced(command, payload, serve):
    command.install(RULES)
    Imposter(command, None).listener.close()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    running = serve()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered == 1


def test_a_folder_that_others_can_enter_is_not_used(command, payload):
    command.install(RULES)
    imposter = Imposter(command, _answer_whole)
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).exit_code == 0  # it answers
    imposter.folder.chmod(0o755)
    assert command.answer("claude-code", event).why == "not here"
    imposter.folder.chmod(0o700)
    imposter.folder.rename(imposter.folder.with_name("elsewhere"))
    imposter.folder.symlink_to("elsewhere")
    assert command.answer("claude-code", event).why == "not here"
    assert imposter.asked == 1


def test_another_users_process_is_not_asked(command, monkeypatch):
    imposter = Imposter(command, _answer_whole)
    monkeypatch.setattr(resident, "TAKEN_SECONDS", 30.0)
    for module in (resident, sockets):
        monkeypatch.setattr(module, "socket_folder", lambda: str(imposter.folder))
        monkeypatch.setattr(module, "socket_name", lambda _: next(imposter.folder.iterdir()).name)
    taken = resident.call([], {}, "Stop", [b"{}"], time.monotonic())
    assert taken is not None
    assert taken.answer() == [b"answered", b"", b"", b"0"]
    monkeypatch.setattr(resident, "peer_of", lambda _: (1, os.geteuid() + 1))
    assert resident.call([], {}, "Stop", [b"{}"], time.monotonic()) is None


def test_without_a_plan_it_is_not_asked_either(command, payload):
    command.install(RULES)
    imposter = Imposter(command, _answer_whole)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny"), "--no-plan").why == "not here"
    assert imposter.asked == 0


EVENT = [b"event", b"0", b"", b"/", b"", b"18", b"Stop", b"--agent\0codex", b"{}"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"garbage",
        b"AHS1" + b"\xff" * 8,
        pack(),
        pack(b"unknown"),
        pack(*EVENT)[:-1],
        pack(*EVENT) * 2,
        pack(*EVENT[:-1]),
        pack(*EVENT[:1], b"many", *EVENT[2:]),
        pack(*EVENT[:1], b"9" * 4000, *EVENT[2:]),
        pack(*EVENT[:1], b"9" * 400, *EVENT[2:]),
        pack(*EVENT[:6], b"\xff", *EVENT[7:]),
        pack(*EVENT[:7], b"--agent", *EVENT[8:]),
        pack(*EVENT[:7], b"--agent\0nobody", *EVENT[8:]),
        pack(*EVENT[:7], b"--timeout\0nan\0--agent\0codex", *EVENT[8:]),
        pack(*EVENT),
    ],
    ids=lambda sent: repr(sent)[:30],
)
def test_a_request_that_is_none_costs_only_its_sender(patient, sent):
    with patient.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(4096):
            received += part
    assert b"answered" not in received
    assert patient.counts[0] == 0


def test_clients_that_send_nothing_keep_nobody_from_an_answer(command, payload, serve):
    command.install(RULES)
    running = serve()
    silent = [running.connect() for _ in range(110)]
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    for each in silent:
        each.close()
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered >= 1
