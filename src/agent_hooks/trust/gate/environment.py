"""The environment that the gate runs from: which of its files are parts of the gate.

These are the files of our distributions, of those with one of our entry points, and of their dependencies, by the
folder; the links to the interpreter; and what Python runs at its start. Which folders that are is read from the RECORD
files once for each state of the environment, and kept in the state folder.
"""

from __future__ import annotations

import os
import sys

from .locations import forms_of, is_in, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

SITE_NAMES = frozenset(("site-packages", "dist-packages"))
OUR_SCRIPTS = frozenset(("agent-hooks", "agent-hooks-core"))
SCRIPT_FOLDERS = frozenset(("bin", "scripts"))
_AT_START = frozenset(("sitecustomize", "usercustomize"))  # modules that Python imports at its start
_METADATA = (".dist-info", ".egg-info")
# Files of site folders that Python reads at its start, or where an entry point is declared.
_LINES_AT_START = (".pth", ".egg-link")
_ENTRY_POINTS = "entry_points.txt"
_OUR_GROUP = "[agent_hooks"
_MAX_RECORD = 8 * 1024 * 1024  # characters


class Environment:
    """The folder ``prefix`` of an environment with its site folders ``sites``, and the interpreter under it: ``base``,
    the folder of the standard library, and ``executables``. The defaults are those of this process.
    """

    def __init__(
        self,
        prefix: str | None = None,
        sites: Iterable[str] | None = None,
        base: str | None = None,
        executables: Iterable[str] | None = None,
    ) -> None:
        self.prefix = prefix or sys.prefix
        folders = [*(sites if sites is not None else _site_folders())]
        self._sites = tuple(dict.fromkeys(form for folder in folders for form in forms_of(folder, "")))
        self._prefixes = forms_of(self.prefix, "")
        self.library = library = base or os.path.dirname(os.__file__)
        archives = [path for path in sys.path if path.endswith(".zip")] if base is None else []
        self._base = tuple(dict.fromkeys(form for path in (library, *archives) for form in forms_of(path, "")))
        if executables is None:
            executables = (path for path in (getattr(sys, "_base_executable", ""), sys.executable) if path)
        self._executables = frozenset(form for path in executables for form in forms_of(path, ""))
        self._roots = (*(f"{root}/" for root in (*self._prefixes, *self._sites, *self._base)),)
        self._folders = folders
        self._parts: Parts | None = None

    @property
    def parts(self) -> Parts:
        """The installed parts of the gate."""
        if self._parts is None:
            self._parts = Parts.of(self.prefix, self._folders)
        return self._parts

    def find(self, form: str, *, is_link: bool = False) -> bool:
        """Return whether the file at ``form``, spelled as by ``forms_of``, is a part of the gate, or would become one.

        ``is_link``: it is the target of a link that itself is removed or moved.
        """
        folder, _, name = form.rpartition("/")
        stem, around = name.partition(".")[0], folder.rpartition("/")[2]
        if around in SITE_NAMES and stem in _AT_START:
            return True
        if around in SCRIPT_FOLDERS and name.removesuffix(".exe") in OUR_SCRIPTS:
            return True
        if form in self._executables and not is_link:
            return True
        if not form.startswith(self._roots) and form not in self._base:
            return False
        for site in self._sites:
            if form.startswith(f"{site}/"):
                return self._is_installed(form[len(site) + 1 :])
        if any(is_in(form, base) for base in self._base):
            return True
        if any(folder == prefix for prefix in self._prefixes):
            return name == "pyvenv.cfg"
        is_script = around in SCRIPT_FOLDERS and any(is_in(folder, prefix) for prefix in self._prefixes)
        return is_script and (name.startswith("python") or name in self.parts.scripts)

    def _is_installed(self, path: str) -> bool:
        """Judge a ``path`` below a site folder by its first name, and the cache of a module by the module's."""
        first, _, rest = path.partition("/")
        if first == "__pycache__":
            first, rest = rest, ""
        if first.endswith(_LINES_AT_START) or first.partition(".")[0] in _AT_START:
            return True
        if first.endswith(_METADATA):
            return rest == _ENTRY_POINTS or first in self.parts.metadata
        return first.partition(".")[0] in self.parts.names

    def holds(self, form: str) -> bool:
        """Return whether some part of the gate is in the folder ``form``, which is not the whole environment."""
        if self.is_whole(form):
            return False
        if any(is_in(base, form) for base in self._base) or any(is_in(each, form) for each in self._executables):
            return True
        if not form.startswith(self._roots) and not any(is_in(site, form) for site in self._sites):
            return False
        return any(known.startswith(f"{form}/") for known in self.known())

    def is_whole(self, form: str) -> bool:
        """Return whether ``form`` is the environment's own folder, or one around it."""
        return any(is_in(prefix, form) for prefix in self._prefixes)

    def is_inside(self, form: str) -> bool:
        """Return whether ``form`` is the environment's own folder, or in it."""
        return any(is_in(form, prefix) for prefix in self._prefixes)

    def takes_unseen(self, form: str) -> bool:
        """Return whether files of any name, put into the folder ``form``, may become parts of the gate."""
        is_within = self.is_inside(form) or any(is_in(form, site) for site in self._sites)
        return is_within and (self.is_whole(form) or self.find(form) or self.holds(form))

    def known(self) -> Iterator[str]:
        """Yield the parts of the gate that are there: folders for packages, else files."""
        for site in self._sites:
            yield from (f"{site}/{name}" for name in self.parts.entries)
        for prefix in self._prefixes:
            yield f"{prefix}/pyvenv.cfg"
            for folder in SCRIPT_FOLDERS:
                yield from (f"{prefix}/{folder}/{name}" for name in ("python", "python3", *sorted(self.parts.scripts)))

    def matched(self, pattern: str) -> Iterator[str]:
        """Yield the parts that a shell's ``pattern`` means, and the folders around them that it means.

        Names are compared one by one, so that no folder is read.
        """
        wanted = spelled(pattern).split("/")
        if not any(_meets(wanted, prefix.split("/")) for prefix in (*self._prefixes, *self._sites)):
            return
        for known in self.known():
            names = known.split("/")
            if _meets(wanted, names):
                yield "/".join((*names[: len(wanted)], *wanted[len(names) :]))

    def lands(self, source: str, target: str) -> str:
        """Return the part that ``source``, copied to ``target``, would write; or an empty string."""
        forms = [form for form in forms_of(target, "") if self.is_inside(form) or form.startswith(self._roots)]
        if not forms or not os.path.isdir(source):
            return ""
        if any(self.holds(form) for form in forms if form not in self._sites):
            return target  # a tree over the tree of the environment
        try:
            names = os.listdir(source)
        except OSError:
            return ""
        inside = (os.path.join(target, name) for name in names)
        return next((path for path in inside for form in forms_of(path, "") if self.find(form)), "")

    def is_computed_in(self, text: str) -> bool:
        """Return whether ``text`` computes the path of a part of the gate: from a module, or from a program's name."""
        import re

        variables = re.findall(_ASSIGNED, text)
        if re.search(_OF_PROGRAM, text) or any(re.search(rf"{_CHANGING}[^)]*\b{name}\b", text) for name in variables):
            return True
        if not sys.stdlib_module_names.isdisjoint(re.findall(_FILE_OF, text)):
            return True
        if not re.search(_OF_MODULE, text):
            return False
        flat = text.casefold()
        named = re.findall(r"\w+", f"{flat} {flat.replace('-', '_')}")
        return bool(re.search(_OF_FOLDER, text)) or not self.parts.names.isdisjoint(named)


# Where a program is, and where modules are, as shells and Python tell it.
_CHANGING = r"(?:remove|unlink|rename|replace|move|rmtree|open|Path|copy\w*|symlink|chmod|truncate)\("
_OF_PROGRAM = (
    r"(?:which|command -v|type -[pP]|whence|where|Get-Command)\s+(?:-\w+\s+)*(?:agent-hooks|python|pip)[\w.-]*"
    rf"|{_CHANGING}\s*[\w.]*which\(|{_CHANGING}[^)]*sys\.(?:exec|prefix|base)|[$`].*print\(\s*sys\.(?:exec|prefix|base)"
)
_OF_FOLDER = r"getsitepackages|getusersitepackages|get_paths?\(|purelib|platlib|user-site|USER_SITE"
_OF_MODULE = (
    rf"{_OF_FOLDER}|__(?:file|path|spec|loader)__|find_spec|[gf](?:et|ind)_loader|getfile|getsourcefile|locate_file"
    r"|files\(|distribution\("
)
# A module's own file, and a variable for a path of the interpreter.
_FILE_OF = r"""(\w+)['"\]]*\.__file__"""
_ASSIGNED = r"(\w+)\s*=[^\n;=]*\bsys\.(?:exec|prefix|base)"


def _meets(patterns: list[str], names: list[str]) -> bool:
    from fnmatch import fnmatch

    return all(
        (name[:1] != "." or pattern[:1] == ".") and fnmatch(name, pattern)
        for pattern, name in zip(patterns, names, strict=False)
    )


def _site_folders() -> list[str]:
    folders = [path for path in sys.path if os.path.basename(path.rstrip("/\\")) in SITE_NAMES]
    site = sys.modules.get("site")
    if site is not None and site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())  # it would count as soon as it exists
    return folders


# -- what is installed -------------------------------------------------------------------------------------------------


class Parts:
    """The installed parts of the gate, in lower case: the ``entries`` of site folders; of these the ``names`` of
    packages and modules, and the folders of ``metadata``; the ``scripts``; and by distribution the folder that it is
    used from, or an empty string (``distributions``).
    """

    def __init__(self, entries: Iterable[str], scripts: Iterable[str], distributions: dict[str, str]) -> None:
        self.entries = tuple(entries)
        self.metadata = frozenset(name for name in self.entries if name.endswith(_METADATA))
        self.names = frozenset(name.partition(".")[0] for name in self.entries if name not in self.metadata)
        self.scripts = frozenset(scripts)
        self.distributions = distributions

    @classmethod
    def of(cls, prefix: str, folders: Iterable[str]) -> Parts:
        """Return the parts in the site ``folders``: as kept, or read again if the distributions in these changed."""
        import json

        installed = [(folder, name) for folder in folders for name in _metadata_in(folder)]
        state = [[folder, _changed(folder)] for folder in folders] + [list(each) for each in installed]
        file = _kept_in(prefix)
        try:
            with open(file, encoding="utf-8") as kept:
                given = json.load(kept)
            if given["state"] == state:
                return cls(given["entries"], given["scripts"], given["distributions"])
        except (OSError, ValueError, TypeError, KeyError):
            pass  # not kept yet, or of another version
        made = _read_parts(installed)
        _keep(file, {"state": state, **made})
        return cls(**made)


def _metadata_in(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(_METADATA))
    except OSError:
        return []


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _kept_in(prefix: str) -> str:
    from hashlib import sha256

    from agent_hooks.errors import SettingsError
    from agent_hooks.system.folders import state_dir

    try:
        return os.path.join(state_dir(), f"environment-{sha256(os.fsencode(prefix)).hexdigest()[:16]}.json")
    except SettingsError:
        return ""


def _keep(file: str, what: dict[str, Any]) -> None:
    import json
    from contextlib import suppress

    from agent_hooks.system.folders import write_whole

    with suppress(OSError):
        if file:
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
            write_whole(file, json.dumps(what).encode())


def _read_parts(installed: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the parts by their kind: of our distributions, those with our entry points, and what all these need."""
    found = {normal(name.rpartition(".")[0].partition("-")[0]): (folder, name) for folder, name in installed}
    wanted = [(name, "*") for name, place in found.items() if _is_ours(name, place)]
    seen: set[tuple[str, str]] = set()
    while wanted:
        pair = wanted.pop()
        if pair not in seen and pair[0] in found:
            seen.add(pair)
            wanted += _required(found[pair[0]], pair[1])
    entries: set[str] = set()
    scripts: set[str] = set()
    distributions: dict[str, str] = {}
    for name in {name for name, _ in seen}:
        folder, metadata = found[name]
        entries.add(metadata.casefold())
        distributions[name] = _source(folder, metadata)
        for line in _text(folder, metadata, "RECORD").splitlines():
            path = line.strip('"').rsplit(",", 2)[0].replace("\\", "/").strip('"')
            first, _, rest = path.partition("/")
            if first == "..":
                script = rest.rpartition("/")
                scripts.update([script[2].casefold()] if script[0].rpartition("/")[2] in SCRIPT_FOLDERS else ())
            elif first == "__pycache__":
                continue  # of a module that is listed itself
            elif first:
                entries.add(first.casefold())
        if not _text(folder, metadata, "RECORD"):
            entries.update(_text(folder, metadata, "top_level.txt").casefold().split() or [name.replace("-", "_")])
    return {"entries": sorted(entries), "scripts": sorted(scripts), "distributions": distributions}


def _is_ours(name: str, place: tuple[str, str]) -> bool:
    return name.startswith("agent-hooks-") or _OUR_GROUP in _text(*place, _ENTRY_POINTS)


def _required(place: tuple[str, str], extra: str) -> Iterator[tuple[str, str]]:
    """Yield the requirements of a distribution and of its ``extra`` (``*``: of all), as pairs of name and extra."""
    import re

    text = _text(*place, "METADATA") or _text(*place, "PKG-INFO")
    for line in text.partition("\n\n")[0].splitlines():
        if not line.startswith("Requires-Dist:"):
            continue
        needed = re.match(r"Requires-Dist:\s*([\w.-]+)\s*(?:\[([^\]]*)\])?", line)
        of_extra = re.search(r"extra\s*==\s*['\"]([^'\"]*)", line)
        if needed and (of_extra is None or extra in ("*", normal(of_extra[1]))):
            name = normal(needed[1])
            yield name, ""
            yield from ((name, normal(each)) for each in re.findall(r"[\w.-]+", needed[2] or ""))


def _source(folder: str, metadata: str) -> str:
    """Return the folder from which a distribution is used, if that is not the site folder."""
    text = _text(folder, metadata, "direct_url.json")
    if not text:
        return ""
    import json

    from agent_hooks.model.tools import file_of_address

    try:
        return file_of_address(str(json.loads(text)["url"])) or ""
    except (ValueError, TypeError, KeyError):
        return ""


def _text(folder: str, metadata: str, name: str) -> str:
    path = os.path.join(folder, metadata)
    try:
        with open(
            os.path.join(path, name) if os.path.isdir(path) else path, encoding="utf-8", errors="replace"
        ) as file:
            return file.read(_MAX_RECORD)
    except OSError:
        return ""


def normal(name: str) -> str:
    """Return a distribution's name as the packaging standard compares it (PEP 503)."""
    import re

    return re.sub(r"[-_.]+", "-", name).casefold()
