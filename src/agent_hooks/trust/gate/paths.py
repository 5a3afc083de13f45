"""Which files an agent does not change, and where it is only a part of one, which part."""

from __future__ import annotations

import os
import sys

from agent_hooks.system.paths import expanded, is_below, real_path

from .environment import SITE_NAMES, Environment
from .locations import forms_of
from .reasons import ALL, FRONTMATTER, STARTUP, TABLE
from .wiring import STARTUP_NAMES, is_wired_in, wiring_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MANIFEST_NAMES = ("hookconf.py", "agent-hooks.toml")
CLAUDE_FOLDER = ".claude"
CLAUDE_NAMES = ("settings.json", "settings.local.json")
_PACKAGE = "__init__.py"
_MAX_MATCHES = 2_000  # of a glob
# Every name above, from the folder that it would lie in.
_USUAL = (*MANIFEST_NAMES, *CLAUDE_NAMES, *(f"{CLAUDE_FOLDER}/{name}" for name in CLAUDE_NAMES), _PACKAGE)
_SITES = tuple(f"/{name}" for name in SITE_NAMES)
_MODULE_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
_USUAL_WORDS = (
    *("hook", "agent-h", "sha256:", CLAUDE_FOLDER, "settings.", "pyproject", "skill.md", ".codex", ".copilot", ".kimi"),
    ".code-workspace",
    *("site-packages", "dist-packages", "sitecustomize", "usercustomize", "pyvenv.cfg", "__file__", "__path__"),
    *("getsitepackages", "purelib", "find_spec", "locate_file", "sys.prefix", "sys.exec"),
    *("importlib", "pkgutil", "__spec__", "__loader__", "user-site", "user_site"),
)


class ProtectedPaths:
    """The ``folders`` of the user and of the machine, the ``files`` that the trust in a project covers, and by name
    every file that a trust would have to cover wherever it is, also one that does not exist yet; and the parts of the
    gate in its ``environment``. ``scripts``: those in Python; a module beside one could take the place of one of
    Python's own.
    """

    def __init__(
        self,
        folders: Iterable[str],
        files: Iterable[str],
        environment: Environment | None = None,
        scripts: Iterable[str] = (),
    ) -> None:
        self.environment = environment or Environment()
        self._folders = frozenset(form for folder in folders for form in forms_of(folder, ""))
        self._below = tuple(f"{folder}/" for folder in self._folders)
        self._files = frozenset(form for file in files for form in forms_of(file, ""))
        self._script_folders = frozenset(form.rpartition("/")[0] for path in scripts for form in forms_of(path, ""))
        # The last two names: "agent-hooks" alone is also said where no folder is meant.
        self._folder_names = tuple(tuple(folder.rsplit("/", 2)[-2:]) for folder in self._folders)
        names = (name for folder_names in self._folder_names for name in folder_names if len(name) > 3)
        # A text without any of these names nothing of all that.
        self.words = tuple(dict.fromkeys((*_USUAL_WORDS, *names, *(file.rpartition("/")[2] for file in self._files))))
        # What paths into the environment have in common; it is in many commands that only use it.
        self.environment_name = os.path.basename(self.environment.prefix).casefold()

    def find(self, path: str, cwd: str = "", *, is_taken: bool = False) -> str:
        """Return how much of the file at ``path`` is protected, an empty string for nothing of it.

        ``path`` counts as it is written and with symbolic links resolved, in any spelling that a file system may take
        for the same. ``is_taken``: it is removed or moved, which does nothing to the target of a link.
        """
        forms = forms_of(path, cwd)
        part = ""
        for form in forms:
            folder, _, name = form.rpartition("/")
            if self.environment.find(form, is_link=is_taken and form != forms[0]):
                return ALL
            if form in self._folders or form.startswith(self._below) or name in MANIFEST_NAMES:
                return ALL
            if name in CLAUDE_NAMES and folder.endswith(f"/{CLAUDE_FOLDER}"):
                return ALL
            if name == "pyproject.toml":
                part = TABLE
            elif name == "skill.md" or (name.endswith(".md") and f"/{CLAUDE_FOLDER}/agents/" in form):
                part = FRONTMATTER
            elif form in self._files or (not is_taken and self._replaces_module(folder, name)):
                return ALL
            elif name in STARTUP_NAMES or (name.endswith(".toml") and "mise" in "/".join(form.split("/")[-2:])):
                part = STARTUP
            elif found := wiring_part(form):
                part = found
        return part

    def _replaces_module(self, folder: str, name: str) -> bool:
        """Return whether a script beside which ``name`` is would import it instead of a module of Python's own."""
        stem, _, _ = name.partition(".")
        if stem == "__init__":
            folder, _, stem = folder.rpartition("/")
        return folder in self._script_folders and name.endswith(_MODULE_ENDINGS) and stem in sys.stdlib_module_names

    def is_own(self, path: str, cwd: str = "") -> bool:
        """Return whether the file at ``path`` is a part of the gate in its environment."""
        return any(map(self.environment.find, forms_of(path, cwd)))

    def is_kept(self, folder: str) -> bool:
        """Return whether a file of any name in ``folder`` may be protected."""
        forms = forms_of(folder, "")
        is_site = any(form in self.environment.sites and form.endswith(_SITES) for form in forms)
        is_hosts = any(form.endswith(f"/{CLAUDE_FOLDER}") for form in forms)
        return is_site or is_hosts or any(map(is_wired_in, (folder, real_path(folder)))) or self.find(folder) == ALL

    def holds(self, path: str, cwd: str = "", *, files: bool = True) -> bool:
        """Return whether the removal, move or replacement of the folder ``path`` affects something protected.

        ``files=False``: that only a project's files are in it does not count.
        """
        forms = forms_of(path, cwd)
        if any(map(self.environment.holds, forms)) or is_wired_in(os.path.abspath(os.path.join(cwd, expanded(path)))):
            return True
        known = (*self._folders, *self._files) if files else self._folders
        return self.find(path, cwd, is_taken=True) == ALL or any(
            form.endswith(f"/{CLAUDE_FOLDER}") or any(is_below(each, form) for each in known) for form in forms
        )

    def lands(self, source: str, target: str, cwd: str) -> str:
        """Return the protected path that ``source``, copied to the path ``target``, would write; or "".

        The names that count everywhere count in a copied folder only if it goes below ``cwd``: a copy of a project
        elsewhere is a copy.
        """
        if self.find(target, cwd):
            return target
        source, target = (os.path.join(cwd, expanded(path)) for path in (source, target))
        if not os.path.isdir(source):
            return ""
        forms, tops, environment = forms_of(target, ""), forms_of(cwd, ""), self.environment
        if any(environment.takes_unseen(form) and form not in environment.sites for form in forms):
            return target  # a tree over the tree of the environment
        known = (*self._folders, *self._files)
        names = [each[len(form) + 1 :] for form in forms for each in known if is_below(each, form)]
        names += _USUAL if any(is_below(form, top) for form in forms for top in tops) else ()
        names = [name for name in names if os.path.lexists(os.path.join(source, name))]
        names += os.listdir(source) if any(map(environment.is_inside, forms)) else ()
        paths = (os.path.join(target, name) for name in names)
        return next((path for path in paths if self.find(path) == ALL), "")

    def below(self, start: str, pattern: str, *, is_name: bool, environment: bool = True) -> str:
        """Return a protected file below the folder ``start`` that ``pattern`` matches, by its last name if ``is_name``,
        else by its whole path; an empty string if there is none. ``environment``: parts of the gate count.
        """
        from fnmatch import fnmatch

        folders, own = forms_of(start, ""), self.environment
        usual = (path for name in _USUAL if os.path.lexists(path := os.path.join(start, name)))
        found = (form for path in usual if self.find(path) for form in forms_of(path, ""))
        is_near = environment and any(own.is_whole(f) or own.is_inside(f) or own.holds(f) for f in folders)
        known: tuple[str, ...] = (*self._folders, *self._files, *found, *(own.known() if is_near else ()))
        for path in known:
            # "*/agent-hooks/*" matches the files in a folder, not the folder.
            forms = (path.rpartition("/")[2],) if is_name else (path, f"{path}/")
            if any(is_below(path, folder) for folder in folders) and any(fnmatch(f, pattern.casefold()) for f in forms):
                return path
        return ""

    def globbed(self, pattern: str, cwd: str) -> list[str]:
        """Return the files that a shell would put for ``pattern``, nothing for a path that is none."""
        if "*" not in pattern and "?" not in pattern and "[" not in pattern:
            return []
        from glob import iglob
        from itertools import islice

        try:
            return list(islice(iglob(os.path.join(cwd, expanded(pattern))), _MAX_MATCHES))
        except ValueError:  # no path of this system
            return []

    def is_named_in(self, text: str, cwd: str) -> bool:
        """Return whether ``text`` (code, or a command that cannot be read) seems to name a file that is protected."""
        import re

        flat = text.casefold()
        if re.search(r"hookconf(?!ig)|agent-hooks\.toml", flat) or (".claude" in flat and "settings" in flat):
            return True
        if "agent_hooks" in flat and any(name in flat for name in ("config_dir", "state_dir", "managed_dir")):
            return True
        names = set(re.findall(r"[\w.-]+", flat))
        if any(names.issuperset(folder) for folder in self._folder_names) or self.environment.is_computed_in(text):
            return True
        return any(
            self.find(path, cwd) == ALL
            or (len(path) > 2 and self.holds(path, cwd, files=False))
            or any(map(self.is_own, self.globbed(path, cwd)))
            for path in self.paths_in(text)
        )

    def paths_in(self, text: str) -> list[str]:
        """Return the texts in ``text`` that look like paths with a protected name in them."""
        import re

        found = re.findall(r"""[^\s'"`(){}\[\]<>|;&,=*?!#]+""", text)
        words = (*self.words, self.environment_name)
        return [path for path in dict.fromkeys(found) if any(word in path.casefold() for word in words)]
