"""What a path is: a system folder, a home, the workspace, a key, what runs later by itself.

By its name alone: no file is looked at. What may be written or read freely (the workspace, temporary folders) is told
by its exact spelling; what deserves care is told in any spelling that a file system may take for the same.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from agent_hooks_guards.model.values import UNKNOWN

from .names import CHILDREN, CODE_ENDINGS, HARMLESS, NAMES, PLACES, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAX_LENGTH = 8192  # characters; no system takes a longer path
_MAX_SUBSTITUTES = 64
_MAX_SEGMENTS = 64  # that globs are looked up in
_NO_MARKS = dict.fromkeys(map(ord, "*?[]!^"))
_WILD = ("*", "?", "[", UNKNOWN)

# Folders of the system, at the top; of `_MOUNTS` only these themselves and what is mounted there.
_SYSTEM = frozenset(
    (
        *("bin", "boot", "cores", "dev", "efi", "etc", "lib", "lib32", "lib64", "libx32", "lost+found", "nix", "opt"),
        *("proc", "run", "sbin", "snap", "sys", "usr", "var", "applications", "library", "network", "private"),
        *("system", "volumes", "mnt", "media", "srv"),
    )
)
_MOUNTS = frozenset(("mnt", "media", "srv", "volumes"))
# A workspace of containers and servers: all that is in it is the project's.
_OWNED = frozenset(("mnt", "media", "srv", "opt"))
_HOMES = frozenset(("home", "users"))
_SHARED = _SYSTEM | _HOMES | {"tmp"}
_TOPS = _SHARED | {"root"}
_WINDOWS_SYSTEM = frozenset(
    (
        *("windows", "winnt", "program files", "program files (x86)", "programdata", "boot", "recovery", "perflogs"),
        *("$recycle.bin", "system volume information"),
    )
)
_TEMP = tuple(f"{top}{name}/" for top in ("/", "/private/") for name in ("tmp", "var/tmp", "var/folders", "dev/shm"))
_WINDOWS_TEMP = ("/windows/temp/", "/appdata/local/temp/", "/temp/")
# The last part of a path that is a folder, not a link to one.
_OF_FOLDERS = ("", ".", "..")
_NULL = frozenset(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty")
)
_STREAMS = ("/dev/fd/", "/dev/pts/", "/proc/self/fd/")
_DEVICES = (
    *(
        "sd",
        "hd",
        "vd",
        "xvd",
        "nvme",
        *("ada", "nda", "nvd", "vtbd"),
        "pmem",
        "mmcblk",
        "disk",
        "rdisk",
        "loop",
        "dm-",
        "md",
        "mapper",
        "nbd",
        "sr",
        "ram",
    ),
    *("zram", "mem", "kmem", "port", "block", "root", "nvram", "mtd", "zvol", "ubi", "bcache", "fd0", "sg", "raw"),
)
_WINDOWS_FOLDERS = {
    "userprofile": "~",
    "homepath": "~",
    "appdata": "~/AppData/Roaming",
    "localappdata": "~/AppData/Local",
    "temp": "~/AppData/Local/Temp",
    "tmp": "~/AppData/Local/Temp",
    "systemroot": "C:/Windows",
    "windir": "C:/Windows",
    "systemdrive": "C:",
    "homedrive": "C:",
    "programfiles": "C:/Program Files",
    "programfiles(x86)": "C:/Program Files (x86)",
    "programdata": "C:/ProgramData",
    "allusersprofile": "C:/ProgramData",
    "public": "C:/Users/Public",
}
_WINDOWS_HOME = "C:/Users/user"  # where the home of who asks is none of Windows

_EXAMPLES = frozenset(
    (
        *("example", "examples", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema", "md"),
        *("j2", "enc", "encrypted", "vault", "gpg", "age", "sops"),
    )
)
_KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss")
_KEY_ENDINGS = (
    *(".key", ".pem", ".p12", ".pfx", ".pkcs12", ".p8", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".keytab"),
    *(".agekey", ".keychain", ".keychain-db"),
)
_CODE_OF_SETTINGS = (".ts", ".js", ".mjs", ".cjs", ".py")
# Where keys lie that open nothing: those of tests, and of packages that others wrote.
_MADE_UP = frozenset(("node_modules", "site-packages", "dist-packages", "testdata", "fixtures", "__fixtures__"))
_PUBLIC_PARTS = ("cert", "chain", "bundle", "pub", "crt", "csr", "dhparam", "root")
_ACCOUNT_NAMES = ("service-account", "service_account", "serviceaccount", "client_secret", "client-secret")


class Place:
    """Where a command or a tool runs: its working folder, the home of its user, and the workspace, by default ``cwd``.
    All absolute and without ``..``; "" or ``UNKNOWN`` for what is not known.
    """

    __slots__ = ("_key", "cwd", "home", "project")

    def __init__(self, cwd: str, home: str, project: str = "") -> None:
        self.cwd = cwd
        self.home = home.rstrip("/")
        self.project = (project or cwd or UNKNOWN).rstrip("/") or "/"
        self._key = hash((self.home, self.project))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place):
            return NotImplemented
        return (self.cwd, self.home, self.project) == (other.cwd, other.home, other.project)

    def __hash__(self) -> int:
        return self._key


class Simplified(str):
    """A path that was simplified by its text alone. ``written``: as it was, which leads elsewhere if what a ``..`` or a
    slash at the end stands behind is a link.
    """

    __slots__ = ("written",)
    written: str


def absolute(path: str, cwd: str, home: str) -> str:
    """Return ``path`` absolute, without ``.``, ``..``, ``~`` and doubled slashes; globs and ``UNKNOWN`` stay.

    By its text alone: ``link/..`` is the folder that the link is in, and ``Simplified``. A path that begins with
    ``UNKNOWN``, or is relative to a folder that is not known, begins with ``UNKNOWN``. A Windows path comes back with
    slashes: ``C:/Windows``.
    """
    first = path[:1]
    if path[:11] == "/proc/self/":
        path = _of_process(path, cwd)
    elif first == "~":
        path = _from_home(path, cwd, home)
    elif "\\" in path or path[1:3] in (":/", ":") or first in ("%", "$"):
        path = _windows(path, home)
    if path[:1] not in ("/", UNKNOWN) and not _is_drive(path):
        path = f"{cwd.written if isinstance(cwd, Simplified) else cwd or UNKNOWN}/{path}"
    if "/." not in path and "//" not in path and path[-1:] != "/":
        return path
    segments = path.split("/")
    top = segments[0]
    kept: list[str] = []
    for segment in segments[1:]:
        if segment == "..":
            if kept and kept[-1] != "..":
                kept.pop()
            elif UNKNOWN in top:
                kept.append(segment)
        elif segment not in ("", "."):
            kept.append(segment)
    if not top and (segments[-1] in _OF_FOLDERS or ".." in segments):
        found = Simplified("/" + "/".join(kept))
        found.written = path
        return found
    return f"{top}/{'/'.join(kept)}" if kept or not top or top[1:2] == ":" else top


def _from_home(path: str, cwd: str, home: str) -> str:
    user, slash, rest = path[1:].replace("\\", "/").partition("/")
    if user == "":
        return (home or UNKNOWN) + slash + rest
    if user == "+":
        return (cwd or UNKNOWN) + slash + rest
    if user == "-":
        return UNKNOWN + slash + rest
    if user == "root":
        return f"/root{slash}{rest}"
    return f"{'/Users' if home.startswith('/Users/') else '/home'}/{user}{slash}{rest}"


def _of_process(path: str, cwd: str) -> str:
    """The root and the working folder of the process that uses the path."""
    name, _, rest = path[11:].partition("/")
    return f"/{rest}" if name == "root" else f"{cwd or UNKNOWN}/{rest}" if name == "cwd" else path


def _is_drive(path: str) -> bool:
    return path[1:3] in (":/", ":") and path[0].isascii() and path[0].isalpha()


def _windows(path: str, home: str) -> str:
    """``path`` with slashes, if it is one of Windows."""
    name = mark = rest = ""
    if path[0] == "%":
        name, mark, rest = path[1:].partition("%")
    elif path[:5].casefold() == "$env:":
        name, mark, rest = path[5:].replace("\\", "/").partition("/")
        mark, rest = "/", mark + rest
    folder = _WINDOWS_FOLDERS.get(name.casefold()) if mark else None
    if folder is not None:
        own = home if home[1:2] == ":" else _WINDOWS_HOME
        return (folder.replace("~", own) + rest).replace("\\", "/")
    if _is_drive(path[:2]):
        rest = path[2:].replace("\\", "/").lstrip("/")
        return f"{path[0].upper()}:/{rest}"
    # A backslash is a letter like others elsewhere; these beginnings mean it as a slash.
    return path.replace("\\", "/") if path.startswith(("\\\\", ".\\", "..\\", "\\")) else path


def kinds(path: str, place: Place, host: str = "") -> frozenset[str]:
    """Return what the absolute ``path`` is: any of the following, more than one as it comes.

    ``root``: all of a machine. ``system``: a folder of the system or in it. ``home``: a home, or all that is in it.
    ``user``: in a home, not in the workspace. ``project``: all of the workspace, or a folder above it. ``workspace``:
    in it. ``temp``: in a temporary folder. ``outside``: none of workspace, temp and null. ``device``: a disk, a
    machine's memory. ``null``: ``/dev/null`` and the standard streams. ``secret``: keys and credentials. ``startup``:
    what runs later by itself. ``git``: a repository's ``.git``. ``agent``: what configures hooks and agents.
    ``accounts``: who may log in and as whom. ``log``: logs and histories. ``kernel``: the settings of a running system.
    ``unknown``: nothing is known of how it begins.

    A path with globs or ``UNKNOWN`` in it is all that it may be, as far as the rest of it tells. ``host``: of another
    machine or container than this (see ``Command``), which has no workspace.
    """
    if len(path) > _MAX_LENGTH:
        path = path[:_MAX_LENGTH]
        return _kinds(path, place, bool(host))
    return _remembered(path, place, bool(host))


def is_settings_secret(path: str) -> bool:
    """Return whether ``path`` names a file in which projects keep settings that may be secret (``.env``, ``.npmrc``,
    ``secrets.yaml``), and not a key or a credential alone.
    """
    name = _flat(path).rpartition("/")[2]
    if name.startswith(".env") or name.endswith(".env"):
        return _is_secret_name(name)
    return name in (".npmrc", ".htpasswd") or name.startswith(("secrets.", ".secrets"))


def _kinds(path: str, place: Place, is_elsewhere: bool) -> frozenset[str]:
    if not path:
        return frozenset()
    wild = next((True for mark in _WILD if mark in path), False)
    if wild and "[" in path:
        path = _without_single_classes(path)
    project = "" if is_elsewhere or place.project[:1] == UNKNOWN else place.project
    if path[0] == UNKNOWN:
        found = {"unknown"}
        home_at = -1
        segments = _flat(path).split("/")
    else:
        flat = _flat(path)
        if not flat:  # nothing of it can be seen
            return frozenset(("unknown",))
        segments = flat.split("/")
        if segments[-1] == "":
            segments.pop()  # of a root
        segments = _mapped(segments)
        home_at = _home_at(segments, place)
        found = _located(path, segments, project, home_at, wild)
    if wild:
        for substitute in _substitutes(segments):
            found.update(_named(substitute, home_at))
        if segments[-1] in (".*", ".[!.]*") and "project" in found:
            found.add("git")
    found.update(_named(segments, home_at))
    return frozenset(found)


_remembered = lru_cache(maxsize=2048)(_kinds)


# -- where it is -------------------------------------------------------------------------------------------------------


def _located(path: str, segments: list[str], project: str, home_at: int, wild: bool) -> set[str]:
    """Tell where it is: everything but what its names tell."""
    depth = len(segments) - 1
    # The folder of which everything is meant, if that is so: `/*` is the root.
    first_wild = next((at for at, segment in enumerate(segments) if _is_wild(segment)), 0) if wild else 0
    is_all = bool(first_wild) and all(map(_is_all, segments[first_wild:]))
    if is_all:
        depth = first_wild - 1
        whole = path.split("/")[: path.count("/") - (len(segments) - 1 - depth) + 1]
        path = "/".join(whole) or "/"
    found: set[str] = set()
    in_workspace = False
    if project:
        top = project.rstrip("/")
        # Who works in the root or in a folder of the system does not own all of that.
        name = top[1:].casefold()
        owned = top.count("/") > 1 or (bool(top) and (name in _OWNED or name not in _SHARED))
        if path == project or top.startswith(path.rstrip("/") + "/"):
            found.add("project")
            if is_all and path == project:
                found.add("workspace")
        elif path.startswith(f"{top}/") or (path[1:2] == ":" and path.casefold().startswith(f"{top}/".casefold())):
            found.add("workspace")
            in_workspace = True
        if owned and (in_workspace or path == project):
            if path == project and home_at == depth + 1:
                found.add("home")
            return found
    if depth == 0:
        return found | {"root", "outside"}
    system = _system_kinds(path, segments, depth, first_wild if not is_all else 0, is_all)
    # A home may be in a temporary folder, and is nothing to be cleared away with what else is there. On Windows it
    # is the other way round.
    is_home = "temp" in system and bool(home_at) and depth >= home_at - 1 and not segments[0]
    if system and not is_home:
        return found | system
    found.add("outside")
    if home_at:
        if depth < home_at:
            found.add("home")
            if is_all:
                found.add("user")
        else:
            found.add("user")
    elif depth == 1 and segments[1] in _HOMES:
        found.add("home")
    return found


def _system_kinds(path: str, segments: list[str], depth: int, wild_at: int, is_all: bool) -> set[str]:
    """Tell what is the machine's own; nothing for anything else, and for a home."""
    top = segments[1]
    if segments[0]:  # a drive of Windows
        lower = "/".join(segments)
        if any(name in lower for name in _WINDOWS_TEMP) or (is_all and f"{lower}/".endswith(_WINDOWS_TEMP)):
            return {"temp"}
        return {"system", "outside"} if top in _WINDOWS_SYSTEM or wild_at == 1 else set()
    if path.startswith(_TEMP) or (is_all and f"{path}/" in _TEMP):
        return {"temp"}
    if wild_at == 1:
        may_be = [name for name in _TOPS if fnmatchcase(name, top.replace(UNKNOWN, "*"))]
        found = {"outside"} if may_be else set()
        found.update("system" for name in may_be if name in _SYSTEM)
        found.update("home" for name in may_be if name in _HOMES or name == "root")
        return found
    if top not in _SYSTEM:
        return {"device", "outside"} if top.startswith("physicaldrive") else set()
    if top == "dev":
        return _device_kinds(path, segments, depth, wild_at, is_all)
    if top == "proc" and path.startswith(_STREAMS):
        return {"null"}
    if top in _MOUNTS and depth > 2:
        return {"outside"}
    found = {"system", "outside"}
    if top == "sys" or (top == "proc" and depth > 1 and segments[2] in ("sys", "sysrq-trigger", "kcore")):
        found.add("kernel")
    elif top == "var" and depth > 1:
        if segments[2] == "log":
            found.add("log")
        elif segments[2] == "root":  # the home of root on macOS
            return set()
    elif top == "run" and depth > 2 and segments[2] == "user":
        return {"outside"}
    return found


def _device_kinds(path: str, segments: list[str], depth: int, wild_at: int, is_all: bool) -> set[str]:
    if path in _NULL or path.startswith(_STREAMS):
        return {"null"}
    if depth == 1:
        return {"device", "system", "outside"}
    name = segments[2]
    if name.startswith(_DEVICES) or wild_at == 2 or is_all:
        return {"device", "outside"}
    return {"outside"}


def _home_at(segments: list[str], place: Place) -> int:
    """Return at which position of ``segments`` what is in a home begins, 0 if it is in none."""
    if place.home:
        home = _flat(place.home).split("/")
        if segments[: len(home)] == home and len(home) > 1:
            return len(home)
    top = segments[1] if len(segments) > 1 else ""
    if top in _HOMES and len(segments) > 2:
        return 3
    if segments[0]:
        return 0
    if top == "root":
        return 2
    return 3 if top == "var" and segments[2:3] == ["root"] else 0


def _mapped(segments: list[str]) -> list[str]:
    """``segments`` with the other names of a folder: of macOS, and of Windows' drives in WSL and Git Bash."""
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


# -- what its names tell -----------------------------------------------------------------------------------------------


def _named(segments: list[str], home_at: int) -> Iterator[str]:
    """Tell what the names of a path's parts tell."""
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
            if start < 0 or (folders and tuple(segments[start:at]) != folders):
                continue
            if anchor == "~":
                if start != home_at and (home_at != -1 or start < 1):
                    continue
            elif anchor == "/" and (start != 1 or segments[0]):
                continue
            if at != last and segment in HARMLESS and _is_harmless(segments[at + 1], *HARMLESS[segment]):
                continue
            yield kind
    name = segments[last]
    is_made_up = name.endswith(_KEY_ENDINGS) and not _MADE_UP.isdisjoint(segments)
    if (_is_secret_name(name) and not is_made_up) or (name in ("environ", "mem") and segments[1:2] == ["proc"]):
        yield "secret"
    if name.endswith(".pth") and "site-packages" in segments:
        yield "startup"


def _is_harmless(name: str, beginnings: tuple[str, ...], endings: tuple[str, ...]) -> bool:
    return name.startswith(beginnings) or (bool(endings) and name.endswith(endings))


def _is_secret_name(name: str) -> bool:
    if name.startswith(".env"):
        rest = name[4:]
        return rest == "" or (rest[0] in ".-_" and not rest.endswith(_CODE_OF_SETTINGS) and not _is_example(rest))
    if name.startswith("id_") and name.startswith(_KEY_NAMES):
        return not name.endswith((".pub", *CODE_ENDINGS))
    if name in NAMES:
        return True
    if name.startswith("ssh_host_"):
        return not name.endswith(".pub")
    stem, dot, ending = name.rpartition(".")
    if not stem or not dot:  # `.key` is what a filter of jq looks like
        return False
    if ending == "env":
        return not _is_example(stem)
    if ending == "json":
        return name.startswith(_ACCOUNT_NAMES) or "firebase-adminsdk" in name
    if not name.endswith(_KEY_ENDINGS):
        return False
    if ending not in ("key", "pem"):
        return True
    if "pub" in stem:
        return False
    if "key" in stem or ending == "key":
        return True
    return (
        stem != "ca" and not stem.startswith(("ca-", "ca_", "ca.")) and not any(part in stem for part in _PUBLIC_PARTS)
    )


def _is_example(name: str) -> bool:
    return not _EXAMPLES.isdisjoint(name.replace("-", ".").replace("_", ".").split("."))


# -- spelling ----------------------------------------------------------------------------------------------------------


def _flat(path: str) -> str:
    """``path`` in the one spelling that names are compared in."""
    if not path.isascii():
        from unicodedata import category, normalize

        path = "".join(letter for letter in normalize("NFKC", path) if letter == UNKNOWN or category(letter) != "Cf")
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.casefold()


# -- globs -------------------------------------------------------------------------------------------------------------


def _is_wild(segment: str) -> bool:
    return "*" in segment or "?" in segment or "[" in segment or UNKNOWN in segment


def _is_all(segment: str) -> bool:
    """Whether it means any name, or any hidden one."""
    return not segment.strip("*?.!^[]" + UNKNOWN) and ("*" in segment or UNKNOWN in segment)


def _without_single_classes(path: str) -> str:
    """``path`` with ``[x]`` as ``x``."""
    parts = path.split("[")
    for at, part in enumerate(parts[1:], 1):
        parts[at] = part[0] + part[2:] if part[1:2] == "]" and part[0] not in "!^*?[" else f"[{part}"
    return "".join(parts)


def _substitutes(segments: list[str]) -> list[list[str]]:
    """Return the known paths that a glob may well be meant for."""
    found = [[""]] if segments and segments[0] == "" else [segments[:1]]
    for at, segment in enumerate(segments[1:_MAX_SEGMENTS], 1):
        names = [segment]
        if _is_wild(segment):
            following = segments[at + 1] if at + 1 < len(segments) else ""
            names += _meant(segment, segments[at - 1], following)
        found = [[*path, name] for path in found for name in names][:_MAX_SUBSTITUTES]
    return [path + segments[_MAX_SEGMENTS:] for path in found]


def _meant(segment: str, before: str, following: str) -> Iterable[str]:
    """Return the names that a glob may be meant for, by itself or by what is around it."""
    if not _is_all(segment):
        return _likely(segment, bool(following))
    return [row[1][-1] for row in PLACES.get(following, ()) if row[1]] if following else CHILDREN.get(before, ())


@lru_cache(maxsize=512)
def _likely(segment: str, is_folder: bool) -> tuple[str, ...]:
    """Return the names that a glob spells out far enough to be meant: their beginning, or half of their letters. What
    follows says what is meant with a folder.
    """
    pattern = segment.replace(UNKNOWN, "*")
    beginning, ending = _ends(pattern)
    if not beginning and ending[:1] == "." and not is_folder:  # `*.json` is about no file in particular
        return (f"private{ending}",) if ending == ".env" or ending in _KEY_ENDINGS else ()
    letters = len(beginning) if beginning == pattern else len(pattern.translate(_NO_MARKS))
    return tuple(
        name
        for name in WORDS
        if name.startswith(beginning)
        and name.endswith(ending)
        and (is_folder or len(beginning) >= 4 or letters * 2 >= len(name))
        and fnmatchcase(name, pattern)
    )


def _ends(pattern: str) -> tuple[str, str]:
    """Return the letters before the first and after the last mark of a glob."""
    beginning = ending = pattern
    for mark in "*?[":
        beginning = beginning.partition(mark)[0]
    for mark in "*?]":
        ending = ending.rpartition(mark)[2]
    return beginning, ending
