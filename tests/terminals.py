"""Commands in a terminal of their own, and a person who types."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from time import monotonic

# Without it Ctrl-C is a character like any other.
IN_TERMINAL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background ignores it
signal.pthread_sigmask(signal.SIG_SETMASK, [])
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A Python program, with its arguments, in a terminal of its own."""

    def __init__(self, words, env, cwd):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *words],
            env={**env, "TERM": "xterm"},
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""

    def read(self, until="", seconds=30, *, or_end=False):
        """Read up to a text, or to the end of all output, and return what came, without colours."""
        deadline = monotonic() + seconds
        while not until or until not in self.text:
            assert monotonic() < deadline, self.text
            if not select.select([self.ours], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.ours, 65536)
            except OSError:  # Linux says so at the end
                data = b""
            if not data:
                assert or_end or not until, self.text
                break
            self.text = re.sub(r"\x1b\[[0-9;]*m", "", self.text + data.decode()).replace("\r\n", "\n")
        return self.text

    def type(self, text):
        os.write(self.ours, text.encode())

    def type_until_it_ends(self, key):
        """Type a key as an impatient person does: readline can miss an interrupt that comes as it begins to wait."""
        while True:
            self.type(key)
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                continue
            return

    def end(self):
        """Return the exit code, once it has one."""
        self.read()
        os.close(self.ours)
        return self.process.wait(30)
