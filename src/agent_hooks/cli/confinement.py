"""The sandbox and the container that a process is in, and its limits, as far as the system tells.

A process outside a sandbox must not run hooks for one inside: the environment of the event comes from the sandbox, and
decides which programs the commands of hooks are.
"""

from __future__ import annotations

import os
import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    # The niceness, and by number the soft and the hard limit of each resource.
    Limits = tuple[int, dict[int, tuple[int, int]]]

_FACTS = (b"NoNewPrivs:", b"Seccomp:", b"Seccomp_filters:", b"Cap", b"Uid:", b"Gid:", b"Groups:")
# What a sandbox without a namespace or a filter of its own, such as Landlock, sets for each process in it.
_SANDBOXED = b"NoNewPrivs:\t1"


def confinement_of(pid: int) -> tuple[object, ...] | None:
    """Return what differs between processes in different sandboxes or containers.

    On Linux: the root folder, the namespaces, the profile of AppArmor or SELinux, the groups, the capabilities, and
    whether system calls are filtered. Elsewhere always the same. None if the system does not say, or the process may be
    in a sandbox of which it says no more: such processes are not alike.
    """
    if sys.platform != "linux":
        return ()
    try:
        namespaces = os.open(f"/proc/{pid}/ns", os.O_RDONLY | os.O_CLOEXEC)
        try:
            names = sorted(os.listdir(namespaces))
            links = [os.readlink(f"/proc/{pid}/root"), *(os.readlink(name, dir_fd=namespaces) for name in names)]
        finally:
            os.close(namespaces)
        facts = [line for line in _content(f"/proc/{pid}/status").splitlines() if line.startswith(_FACTS)]
    except OSError:
        return None
    return None if _SANDBOXED in facts else (*links, *facts, _profile_of(pid))


def _profile_of(pid: int) -> bytes:
    """Return the profile of a security module that confines a process, empty without one."""
    try:
        return _content(f"/proc/{pid}/attr/current")
    except OSError:  # no such module
        return b""


def _content(path: str) -> bytes:
    """Return the content of a file of the system's, without the five calls that ``open`` makes besides."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, 64 * 1024), b""))
    finally:
        os.close(descriptor)


def limits_of(pid: int) -> Limits | None:
    """Return the limits of a process, None where the system does not tell those of another. Raises ``OSError``."""
    kinds = _kinds()
    if kinds is None:
        return None
    from resource import prlimit

    return os.getpriority(os.PRIO_PROCESS, pid), {kind: prlimit(pid, kind) for kind in kinds}


def take_over(limits: Limits | None) -> None:
    """Give this process the limits of another. Raises ``OSError``, ``ValueError`` if it must not have them, or if the
    other has little memory: this process may have more already.
    """
    if limits is None:
        return
    import resource

    niceness, of_kind = limits
    os.setpriority(os.PRIO_PROCESS, 0, niceness)
    for kind, limit in of_kind.items():
        if resource.getrlimit(kind) != limit:
            if kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
                raise ValueError("another limit of memory")
            resource.setrlimit(kind, limit)


@cache
def _kinds() -> tuple[int, ...] | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    if not hasattr(resource, "prlimit"):
        return None
    return tuple(sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}))
