"""The kinds of a path: a system folder, a home, the workspace, a key, a file that runs later by itself.

Only the text of the path counts: no file is opened. Harmless places (the workspace, temporary folders) are matched
exactly; guarded places, in every spelling that a file system may fold.
"""

from __future__ import annotations

from agent_hooks.system.caching import lru_cache
from agent_hooks_guards.model.values import UNKNOWN

from .place_names import KEY_ENDINGS, PLACES, TABLES, is_any_name, is_wild, substitutes, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .paths import Place

_MAX_LENGTH = 8192  # characters; no system takes a longer path

_SYSTEM = frozenset(tokens("folders", "system"))
_MOUNTS = frozenset(tokens("folders", "mounts"))
_OWNED = frozenset(tokens("folders", "owned"))
_HOMES = frozenset(tokens("folders", "homes"))
_SHARED = _SYSTEM | _HOMES | {"tmp"}
_TOPS = _SHARED | {"root"}
_TEMP = tokens("folders", "temp")
_WINDOWS_SYSTEM = frozenset(tokens("folders", "windows_system"))
_WINDOWS_TEMP = tokens("folders", "windows_temp")
_NULL = frozenset(tokens("folders", "null"))
_STREAMS = tokens("folders", "streams")
_DEVICES = tokens("folders", "devices")

_SECRET_NAMES = frozenset(tokens("secrets", "names"))
_KEY_NAMES = tokens("secrets", "key_names")
_PUBLIC_KEY_ENDINGS = (".pub", *tokens("secrets", "code_endings"))
_SETTINGS_CODE = tokens("secrets", "settings_code")
_EXAMPLES = frozenset(tokens("secrets", "examples"))
_MADE_UP = frozenset(tokens("secrets", "made_up"))
_PUBLIC_PARTS = tokens("secrets", "public_parts")
_ACCOUNT_NAMES = tokens("secrets", "account_names")


def kinds(path: str, place: Place, host: str = "") -> frozenset[str]:
    """Return the kinds of the absolute ``path``: any of the following.

    ``root``: all of a machine. ``system``: a system folder or a file in it. ``home``: a home, or everything in it.
    ``user``: in a home, not in the workspace. ``project``: all of the workspace, or a folder above it. ``workspace``:
    in it. ``temp``: in a temporary folder. ``outside``: not in the workspace, temp or null. ``device``: a disk or the
    memory of the machine. ``null``: ``/dev/null`` and the standard streams. ``secret``: keys and credentials.
    ``startup``: runs later by itself. ``git``: inside a repository's ``.git``. ``agent``: configures hooks and agents.
    ``accounts``: users, groups and their rights. ``log``: logs and histories. ``kernel``: settings of a running system.
    ``personal``: all that a shell or an agent was told. ``unknown``: the beginning of the path is not known.

    A path with globs or ``UNKNOWN`` has the kinds of all paths that it may be, as far as the rest of it shows.
    ``host``: set for another machine or container (see ``Command``), which has no workspace.
    """
    return _kinds(path[:_MAX_LENGTH], place, bool(host)) if path else frozenset()


def is_settings_secret(path: str) -> bool:
    """Return whether ``path`` names a file of project settings that may be secret (``.env``, ``.npmrc``,
    ``secrets.yaml``), rather than a file that only holds a key or a credential.
    """
    name = _fold(path).rpartition("/")[2]
    if name.startswith(".env") or name.endswith(".env"):
        return _is_secret_name(name)
    return name in (".npmrc", ".htpasswd") or name.startswith(("secrets.", ".secrets"))


@lru_cache(maxsize=2048)
def _kinds(path: str, place: Place, is_elsewhere: bool) -> frozenset[str]:
    wild = is_wild(path)
    folded = _fold(path)
    if not folded:  # only invisible characters
        return frozenset(("unknown",))
    segments = folded.split("/")
    if path[0] == UNKNOWN:
        found = {"unknown"}
        home_at = -1
    else:
        if segments[-1] == "":
            segments.pop()  # of a root
        segments = _unalias(segments)
        home_at = _home_at(segments, place)
        project = "" if is_elsewhere or place.project[:1] == UNKNOWN else place.project
        found = _kinds_by_location(path, segments, project, home_at, wild)
    if wild:
        for substitute in substitutes(segments):
            found.update(_kinds_by_name(substitute, home_at))
        if segments[-1] in (".*", ".[!.]*") and "project" in found:
            found.add("git")
    found.update(_kinds_by_name(segments, home_at))
    return frozenset(found)


# -- location ----------------------------------------------------------------------------------------------------------


def _kinds_by_location(path: str, segments: list[str], project: str, home_at: int, wild: bool) -> set[str]:
    depth = len(segments) - 1
    # A path that ends in globs for any name means all of the folder before them: `/*` is the root.
    wild_at = next((at for at, segment in enumerate(segments) if is_wild(segment)), 0) if wild else 0
    is_all = bool(wild_at) and all(map(is_any_name, segments[wild_at:]))
    if is_all:
        depth = wild_at - 1
        path = "/".join(path.split("/")[: path.count("/") - (len(segments) - 1 - depth) + 1]) or "/"
    found: set[str] = set()
    if project:
        found = _kinds_in_project(path, project, is_all)
        if (path == project or found == {"workspace"}) and _is_owned(project):
            if path == project and home_at == depth + 1:
                found.add("home")
            return found
    if depth == 0:
        return found | {"root", "outside"}
    system = _system_kinds(path, segments, depth, 0 if is_all else wild_at, is_all)
    # A home in a temporary folder is nothing to clear away. On Windows temporary folders are inside homes.
    is_home = "temp" in system and bool(home_at) and depth >= home_at - 1 and not segments[0]
    if system and not is_home:
        return found | system
    found.add("outside")
    if home_at:
        found.add("home" if depth < home_at else "user")
        if depth < home_at and is_all:
            found.add("user")
    elif depth == 1 and segments[1] in _HOMES:
        found.add("home")
    return found


def _kinds_in_project(path: str, project: str, is_all: bool) -> set[str]:
    top = project.rstrip("/")
    if path == project or top.startswith(path.rstrip("/") + "/"):
        return {"project", "workspace"} if is_all and path == project else {"project"}
    if path.startswith(f"{top}/") or (path[1:2] == ":" and path.casefold().startswith(f"{top}/".casefold())):
        return {"workspace"}
    return set()


def _is_owned(project: str) -> bool:
    """Return whether everything in ``project`` is the project's: not if it is the root or a system folder."""
    top = project.rstrip("/")
    name = top[1:].casefold()
    return top.count("/") > 1 or (bool(top) and (name in _OWNED or name not in _SHARED))


def _system_kinds(path: str, segments: list[str], depth: int, wild_at: int, is_all: bool) -> set[str]:
    """Return the kinds of a path of the machine itself; none for any other path, and for a home."""
    top = segments[1]
    if segments[0]:  # a drive of Windows
        lower = "/".join(segments)
        if any(name in lower for name in _WINDOWS_TEMP) or (is_all and f"{lower}/".endswith(_WINDOWS_TEMP)):
            return {"temp"}
        return {"system", "outside"} if top in _WINDOWS_SYSTEM or wild_at == 1 else set()
    if path.startswith(_TEMP) or (is_all and f"{path}/" in _TEMP):
        return {"temp"}
    if wild_at == 1:
        from fnmatch import fnmatchcase

        matching = [name for name in _TOPS if fnmatchcase(name, top.replace(UNKNOWN, "*"))]
        found = {"outside"} if matching else set()
        found.update("system" for name in matching if name in _SYSTEM)
        found.update("home" for name in matching if name in _HOMES or name == "root")
        return found
    if top not in _SYSTEM:
        return {"device", "outside"} if top.startswith("physicaldrive") else set()
    if top == "dev":
        return _device_kinds(path, segments, depth, wild_at, is_all)
    if top == "proc" and path.startswith(_STREAMS):
        return {"null"}
    return _kinds_below_top(segments, depth)


def _kinds_below_top(segments: list[str], depth: int) -> set[str]:
    top, second = segments[1], segments[2] if depth > 1 else ""
    if (top in _MOUNTS and depth > 2) or (top == "run" and depth > 2 and second == "user"):
        return {"outside"}
    if top == "var" and second == "root":  # the home of root on macOS
        return set()
    if top == "sys" or (top == "proc" and second in ("sys", "sysrq-trigger", "kcore")):
        return {"system", "outside", "kernel"}
    return {"system", "outside", "log"} if (top, second) == ("var", "log") else {"system", "outside"}


def _device_kinds(path: str, segments: list[str], depth: int, wild_at: int, is_all: bool) -> set[str]:
    if path in _NULL or path.startswith(_STREAMS):
        return {"null"}
    if depth == 1:
        return {"device", "system", "outside"}
    if segments[2].startswith(_DEVICES) or wild_at == 2 or is_all:
        return {"device", "outside"}
    return {"outside"}


def _home_at(segments: list[str], place: Place) -> int:
    """Return the index in ``segments`` at which the part inside a home starts, 0 outside of homes."""
    if place.home:
        home = _fold(place.home).split("/")
        if segments[: len(home)] == home and len(home) > 1:
            return len(home)
    top = segments[1] if len(segments) > 1 else ""
    if top in _HOMES and len(segments) > 2:
        return 3
    if segments[0] or top not in ("root", "var"):
        return 0
    return 2 if top == "root" else 3 if segments[2:3] == ["root"] else 0


def _unalias(segments: list[str]) -> list[str]:
    """Replace alternative names of a folder: those of macOS, and of Windows drives in WSL and Git Bash."""
    if len(segments) < 3 or segments[0]:
        return segments
    top, second = segments[1], segments[2]
    if top == "private" and second in ("etc", "var", "tmp"):
        return ["", *segments[2:]]
    if top == "system" and segments[2:4] == ["volumes", "data"]:
        return ["", *segments[4:]]
    if top == "volumes" and second == "macintosh hd":
        return ["", *segments[3:]]
    if top == "mnt" and len(second) == 1 and second.isalpha():
        return [f"{second}:", *segments[3:]]
    if len(top) == 1 and top.isalpha() and (second in _WINDOWS_SYSTEM or second == "users"):
        return [f"{top}:", *segments[2:]]
    if top == "proc" and second.isdigit() and segments[3:4] == ["root"]:
        return ["", *segments[4:]]
    return segments


# -- names -------------------------------------------------------------------------------------------------------------


def _kinds_by_name(segments: list[str], home_at: int) -> Iterator[str]:
    last = len(segments) - 1
    for at, segment in enumerate(segments):
        rows = PLACES.get(segment)
        if rows is None:
            if segment[-4:] == ".git" and segments[at + 1 : at + 2] == ["hooks"]:
                yield from ("git", "startup")
            continue
        for anchor, folders, kind, with_all in rows:
            if at != last and not with_all:
                continue
            start = at - len(folders)
            if (
                start >= 0
                and (not folders or tuple(segments[start:at]) == folders)
                and _is_anchored(anchor, start, segments, home_at)
                and not (at != last and _is_harmless(segment, segments[at + 1]))
            ):
                yield kind
    name = segments[last]
    is_made_up = name.endswith(KEY_ENDINGS) and not _MADE_UP.isdisjoint(segments)
    if (_is_secret_name(name) and not is_made_up) or (name in ("environ", "mem") and segments[1:2] == ["proc"]):
        yield "secret"
    if name.endswith(".pth") and "site-packages" in segments:
        yield "startup"


def _is_anchored(anchor: str, start: int, segments: list[str], home_at: int) -> bool:
    if anchor == "~":
        return start == home_at or (home_at == -1 and start >= 1)
    return anchor != "/" or (start == 1 and not segments[0])


def _is_harmless(folder: str, name: str) -> bool:
    """Return whether the file ``name`` in a folder of keys is no key."""
    harmless = TABLES["harmless"].get(folder)
    if harmless is None:
        return False
    return name.startswith(tuple(harmless["beginnings"])) or name.endswith(tuple(harmless["endings"]))


def _is_secret_name(name: str) -> bool:
    if name.startswith(".env"):
        rest = name[4:]
        return rest == "" or (rest[0] in ".-_" and not rest.endswith(_SETTINGS_CODE) and not _is_example(rest))
    if name.startswith((*_KEY_NAMES, "ssh_host_")):
        return not name.endswith(_PUBLIC_KEY_ENDINGS)
    if name in _SECRET_NAMES:
        return True
    stem, _, ending = name.rpartition(".")
    if not stem:  # `.key` is a filter of jq
        return False
    if ending == "env":
        return not _is_example(stem)
    if ending == "json":
        return name.startswith(_ACCOUNT_NAMES) or "firebase-adminsdk" in name
    return name.endswith(KEY_ENDINGS) and (ending not in ("key", "pem") or _is_private_stem(stem, ending))


def _is_private_stem(stem: str, ending: str) -> bool:
    """Return whether ``stem.key`` or ``stem.pem`` is a private key rather than a certificate."""
    if "pub" in stem or "key" in stem or ending == "key":
        return "pub" not in stem
    is_authority = stem == "ca" or stem.startswith(("ca-", "ca_", "ca."))
    return not is_authority and not any(part in stem for part in _PUBLIC_PARTS)


def _is_example(name: str) -> bool:
    return not _EXAMPLES.isdisjoint(name.replace("-", ".").replace("_", ".").split("."))


def _fold(path: str) -> str:
    """Return ``path`` in the one spelling in which names are compared."""
    if not path.isascii():
        from unicodedata import category, normalize

        path = "".join(letter for letter in normalize("NFKC", path) if letter == UNKNOWN or category(letter) != "Cf")
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.casefold()
