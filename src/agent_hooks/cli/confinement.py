"""The sandbox and the container that a process is in, as far as the system tells.

A process outside a sandbox must not run hooks for one inside: the environment of the event comes from the sandbox, and
decides which programs the commands of hooks are.
"""

from __future__ import annotations

import os
import sys

_NAMESPACES = ("mnt", "pid", "user", "net", "ipc", "uts", "cgroup")
_FACTS = (b"NoNewPrivs:", b"Seccomp:", b"Seccomp_filters:", b"CapEff:", b"CapBnd:")
# What a sandbox without a namespace or a filter of its own, such as Landlock, sets for each process in it.
_SANDBOXED = b"NoNewPrivs:\t1"


def confinement_of(pid: int) -> tuple[object, ...] | None:
    """Return what differs between processes in different sandboxes or containers.

    On Linux: the root folder, the namespaces, and whether system calls are filtered. Elsewhere always the same. None if
    the system does not say, or the process may be in a sandbox of which it says no more: such processes are not alike.
    """
    if sys.platform != "linux":
        return ()
    try:
        links = [os.readlink(f"/proc/{pid}/root"), *(os.readlink(f"/proc/{pid}/ns/{name}") for name in _NAMESPACES)]
        with open(f"/proc/{pid}/status", "rb") as file:
            facts = [line for line in file.read().splitlines() if line.startswith(_FACTS)]
    except OSError:
        return None
    return None if _SANDBOXED in facts else (*links, *facts)
