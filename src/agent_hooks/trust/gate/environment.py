"""The environment that the gate runs from: which of its files are parts of the gate.

These are the files of our distributions, of those with one of our entry points, and of their dependencies, by the
folder; the links to the interpreter; and the modules that Python runs at its start. The folders are read from the
installed metadata once for each state of the environment, and kept in the state folder.
"""

from __future__ import annotations

import os
import sys

from agent_hooks.model.values import once
from agent_hooks.system.paths import is_below

from .locations import forms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import SimpleNamespace
    from typing import Any

SITE_NAMES = frozenset(("site-packages", "dist-packages"))
OUR_SCRIPTS = frozenset(("agent-hooks", "agent-hooks-core"))
_OUR_MODULES = frozenset("agent_hooks agent_hooks_core agent_hooks_launcher agent_hooks_repair".split())
SCRIPT_FOLDERS = frozenset(("bin", "scripts"))
_AT_START = frozenset(("sitecustomize", "usercustomize"))  # modules that Python imports at its start
_METADATA = (".dist-info", ".egg-info")
# Files of site folders that Python reads at its start.
_LINES_AT_START = (".pth", ".egg-link")


class Environment:
    """The folder ``prefix`` of an environment with its site folders ``sites``, and the interpreter under it: ``base``,
    the folder of the standard library, and ``executables``. The defaults are those of this process; the folders of
    editable installs are site folders, except those in the ``project``.
    """

    def __init__(
        self,
        prefix: str | None = None,
        sites: Iterable[str] | None = None,
        base: str | None = None,
        executables: Iterable[str] | None = None,
        *,
        project: str = "",
    ) -> None:
        self.prefix = prefix or sys.prefix
        archives = [path for path in sys.path if path.endswith(".zip")] if base is None else []
        self._libraries = (base or os.path.dirname(os.__file__), *archives)
        self._folders = [*(sites if sites is not None else _site_folders(self._libraries, project))]
        if executables is None:
            executables = (path for path in (getattr(sys, "_base_executable", ""), sys.executable) if path)
        self._programs = tuple(executables)

    # Most calls are decided without resolving any of these.

    @once
    def sites(self) -> tuple[str, ...]:
        """The site folders, spelled as by ``forms_of``."""
        return tuple(dict.fromkeys(form for folder in self._folders for form in forms_of(folder, "")))

    @once
    def _prefixes(self) -> tuple[str, ...]:
        return forms_of(self.prefix, "")

    @once
    def _base(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(form for path in self._libraries for form in forms_of(path, "")))

    @once
    def _executables(self) -> frozenset[str]:
        return frozenset(form for path in self._programs for form in forms_of(path, ""))

    @once
    def _roots(self) -> tuple[str, ...]:
        return (*(f"{root}/" for root in (*self._prefixes, *self.sites, *self._base)),)

    @once
    def parts(self) -> SimpleNamespace:
        """The installed parts of the gate, in lower case: the ``names`` of packages and modules; the ``scripts``; and
        by distribution the folder that it is used from, or an empty string (``distributions``).
        """
        return _parts_of(self.prefix, self._folders)

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
        # One may be around another, and around the environment: the folder of a script, or of an editable install.
        around_it = [site for site in self.sites if form.startswith(f"{site}/")]
        if any(self._is_installed(form[len(site) + 1 :]) for site in around_it):
            return True
        if any(is_below(form, base) and not any(is_below(site, base) for site in around_it) for base in self._base):
            return True
        if any(folder == prefix for prefix in self._prefixes):
            return name == "pyvenv.cfg"
        is_script = around in SCRIPT_FOLDERS and any(is_below(folder, prefix) for prefix in self._prefixes)
        return is_script and (name.startswith("python") or name in self.parts.scripts)

    def _is_installed(self, path: str) -> bool:
        """Judge a ``path`` below a site folder by its first name, and the cache of a module by the module's."""
        first, _, rest = path.removeprefix("__pycache__/").partition("/")
        if first.endswith(_LINES_AT_START) or first.partition(".")[0] in _AT_START:
            return True
        if first.endswith(_METADATA):
            return rest == "entry_points.txt" or normal(first.partition("-")[0]) in self.parts.distributions
        return first.partition(".")[0] in self.parts.names

    def holds(self, form: str) -> bool:
        """Return whether some part of the gate is in the folder ``form``, which is not the whole environment."""
        if self.is_whole(form):
            return False
        if any(is_below(base, form) for base in self._base) or any(is_below(each, form) for each in self._executables):
            return True
        if not form.startswith(self._roots) and not any(is_below(site, form) for site in self.sites):
            return False
        return any(known.startswith(f"{form}/") for known in self.known())

    def is_whole(self, form: str) -> bool:
        """Return whether ``form`` is the environment's own folder, or one around it."""
        return any(is_below(prefix, form) for prefix in self._prefixes)

    def is_inside(self, form: str) -> bool:
        """Return whether ``form`` is the environment's own folder, or in it."""
        return any(is_below(form, prefix) for prefix in self._prefixes)

    def takes_unseen(self, form: str) -> bool:
        """Return whether files of any name, put into the folder ``form``, may become parts of the gate."""
        is_within = self.is_inside(form) or any(is_below(form, site) for site in self.sites)
        return is_within and (self.is_whole(form) or self.find(form) or self.holds(form))

    def known(self) -> Iterator[str]:
        """Yield the parts of the gate that are there: folders for packages, else files."""
        for folder in filter(os.path.isdir, self._folders):
            names = [name for name in map(str.casefold, os.listdir(folder)) if self._is_installed(name)]
            yield from (f"{site}/{name}" for site in forms_of(folder, "") for name in names)
        for prefix in self._prefixes:
            yield f"{prefix}/pyvenv.cfg"
            for folder in SCRIPT_FOLDERS:
                yield from (f"{prefix}/{folder}/{name}" for name in ("python", "python3", *self.parts.scripts))

    def is_computed_in(self, text: str) -> bool:
        """Return whether ``text`` computes the path of a part of the gate: from a module, or from a program's name."""
        import re

        if re.search(_OF_PROGRAM, text) or re.search(_OF_FOLDER, text):
            return True
        if any(re.search(rf"{_CHANGING}[^)]*\b{name}\b", text) for name in re.findall(_ASSIGNED, text)):
            return True
        named = re.findall(r"\w+", text.casefold().replace("-", "_")) if re.search(_OF_MODULE, text) else ()
        return not set(named).isdisjoint(self.parts.names)


# Where a program is, and where modules are, as shells and Python tell it.
_CHANGING = r"(?:remove|unlink|rename|replace|move|rmtree|open|Path|copy\w*|symlink|chmod|truncate)\("
_OF_PROGRAM = (
    r"(?:which|command -v|type -[pP]|whence|where|Get-Command)\s+(?:-\w+\s+)*(?:agent-hooks|python|pip)[\w.-]*"
    rf"|{_CHANGING}\s*[\w.]*which\(|{_CHANGING}[^)]*sys\.(?:exec|prefix|base)|[$`].*print\(\s*sys\.(?:exec|prefix|base)"
)
_ASSIGNED = r"(\w+)\s*=[^\n;=]*\bsys\.(?:exec|prefix|base)"  # a variable for a path of the interpreter
_OF_FOLDER = r"getsitepackages|getusersitepackages|get_paths?\(|purelib|platlib|user-site|USER_SITE"
_OF_MODULE = (
    r"__(?:file|path|spec|loader)__|find_spec|[gf](?:et|ind)_loader|getfile|getsourcefile|locate_file"
    r"|files\(|distribution\("
)


def _site_folders(libraries: Iterable[str], project: str) -> list[str]:
    """Return the folders that this process imports from, without those of the standard library and the ``project``."""
    left_out = [os.path.realpath(each) for each in (*libraries, project) if each]
    folders = [
        path
        for path in sys.path
        if os.path.basename(path.rstrip("/\\")) in SITE_NAMES
        or (os.path.isabs(path) and not any(is_below(os.path.realpath(path), each) for each in left_out))
    ]
    site = sys.modules.get("site")
    if site is not None and site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())  # it would count as soon as it exists
    return folders


# -- the installed parts -----------------------------------------------------------------------------------------------


def _parts_of(prefix: str, folders: list[str]) -> SimpleNamespace:
    """Return the parts in the site ``folders``: as stored, or determined again if the folders have changed."""
    from contextlib import suppress
    from types import SimpleNamespace

    from agent_hooks.errors import SettingsError
    from agent_hooks.system.digests import sha256_hex
    from agent_hooks.system.folders import state_dir, write_whole
    from agent_hooks.system.quick_json import dumps, loads

    state = [[folder, os.stat(folder).st_mtime_ns if os.path.isdir(folder) else 0] for folder in folders]
    file = ""
    with suppress(OSError, ValueError, TypeError, KeyError, SettingsError):  # not stored yet, or damaged
        file = os.path.join(state_dir(), f"environment-{sha256_hex(os.fsencode(prefix))[:16]}.json")
        with open(file, encoding="utf-8") as stored:
            given = loads(stored.read())
        if given.pop("state") == state:
            return SimpleNamespace(**given)
    parts = _find_parts(folders)
    with suppress(OSError):
        if file:
            os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
            write_whole(file, dumps({"state": state, **parts}).encode())
    return SimpleNamespace(**parts)


def _find_parts(folders: list[str]) -> dict[str, Any]:
    """Return the parts by their kind: of our distributions, those with our entry points, and all that these need."""
    import re
    from importlib.metadata import distributions
    from pathlib import PurePath

    installed = {normal(each.name): each for each in distributions(path=folders) if each.name}
    ours = [
        name
        for name, each in installed.items()
        if name.startswith("agent-hooks-") or any(point.group.startswith("agent_hooks") for point in each.entry_points)
    ]
    wanted, found = list(ours), dict.fromkeys(ours, "")
    # Of an editable install, no metadata say which modules it has.
    points = [point for name in ours for point in installed[name].entry_points if point.group.startswith("agent_hooks")]
    names = {re.split(r"\W", point.value, maxsplit=1)[0].casefold() for point in points} | _OUR_MODULES
    scripts: set[str] = set()
    while wanted:
        name = wanted.pop()
        each = installed[name]
        found[name] = _source(each.read_text("direct_url.json"))
        for requirement in each.requires or ():
            needed = normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
            if needed in installed and needed not in found and (name in ours or "extra ==" not in requirement):
                found[needed] = ""
                wanted.append(needed)
        for file in each.files or map(PurePath, (each.read_text("top_level.txt") or name.replace("-", "_")).split()):
            if file.parts[0] == "..":
                scripts.update([file.name.casefold()] if file.parts[-2].casefold() in SCRIPT_FOLDERS else ())
            elif file.parts[0] != "__pycache__" and not file.parts[0].endswith(_METADATA):
                names.add(file.parts[0].partition(".")[0].casefold())
    return {"names": sorted(names), "scripts": sorted(scripts), "distributions": found}


def _source(text: str | None) -> str:
    """Return the folder that a distribution is used from, if that is not the site folder."""
    import json

    from agent_hooks.model.tools import file_of_address

    try:
        return file_of_address(str(json.loads(text or "")["url"]))
    except (ValueError, TypeError, KeyError):
        return ""


def normal(name: str) -> str:
    """Return a distribution's name as the packaging standard compares it (PEP 503)."""
    import re

    return re.sub(r"[-_.]+", "-", name).casefold()
