"""Which files an agent does not change, and where it is only a part of one, which part."""

from __future__ import annotations

import os
import sys

from agent_hooks.system.paths import expanded

from .environment import Environment
from .locations import forms_of, is_in, spelled
from .wiring import STARTUP_NAMES, hooks_of, is_wired_in, is_wiring, lines_for_hosts, mentions_hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# How much of a file is protected.
ALL = "all"
TABLE = "the table tool.agent_hooks"
FRONTMATTER = "the frontmatter with hooks"
WIRING = "the hooks of a coding agent"
STARTUP = "the settings that a coding agent starts with"

MANIFEST_NAMES = ("hookconf.py", "agent-hooks.toml")
CLAUDE_FOLDER = ".claude"
CLAUDE_NAMES = ("settings.json", "settings.local.json")
_PACKAGE = "__init__.py"
# Every name above, from the folder that it would lie in.
_USUAL = (*MANIFEST_NAMES, *CLAUDE_NAMES, *(f"{CLAUDE_FOLDER}/{name}" for name in CLAUDE_NAMES), _PACKAGE)
_MODULE_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
_USUAL_WORDS = (
    *("hook", "agent-h", "sha256:", CLAUDE_FOLDER, "settings.", "pyproject", "skill.md", ".codex", ".copilot", ".kimi"),
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
        return self._find(path, cwd, is_taken=is_taken)[0]

    def _find(self, path: str, cwd: str, *, is_taken: bool) -> tuple[str, tuple[str, ...]]:
        forms = forms_of(path, cwd)
        part = ""
        for form in forms:
            if self.environment.find(form, is_link=is_taken and form != forms[0]):
                return ALL, forms
            folder, _, name = form.rpartition("/")
            if form in self._folders or form.startswith(self._below) or name in MANIFEST_NAMES:
                return ALL, forms
            if name in CLAUDE_NAMES and folder.endswith(f"/{CLAUDE_FOLDER}"):
                return ALL, forms
            if name == "pyproject.toml":
                part = TABLE
            elif name == "skill.md" or (name.endswith(".md") and f"/{CLAUDE_FOLDER}/agents/" in form):
                part = FRONTMATTER
            elif form in self._files or (self._script_folders and not is_taken and self._replaces_module(folder, name)):
                return ALL, forms
            elif name in STARTUP_NAMES:
                part = STARTUP
            elif is_wiring(form):
                part = WIRING
        return part, forms

    def _replaces_module(self, folder: str, name: str) -> bool:
        """Return whether a script beside which ``name`` is would import it instead of a module of Python's own."""
        stem, _, _ = name.partition(".")
        if stem == "__init__":
            folder, _, stem = folder.rpartition("/")
        return folder in self._script_folders and name.endswith(_MODULE_ENDINGS) and stem in sys.stdlib_module_names

    def is_own(self, path: str, cwd: str = "") -> bool:
        """Return whether the file at ``path`` is a part of the gate in its environment."""
        return any(map(self.environment.find, forms_of(path, cwd)))

    def holds(self, path: str, cwd: str = "", *, files: bool = True) -> bool:
        """Return whether who removes, moves or replaces the folder ``path`` does so to something that is protected.

        ``files=False``: that only a project's files are in it does not count.
        """
        found, forms = self._find(path, cwd, is_taken=True)
        if any(map(self.environment.holds, forms)) or is_wired_in(os.path.abspath(os.path.join(cwd, expanded(path)))):
            return True
        known = (*self._folders, *self._files) if files else self._folders
        return found == ALL or any(
            form.endswith(f"/{CLAUDE_FOLDER}") or any(each.startswith(form.rstrip("/") + "/") for each in known)
            for form in forms
        )

    def lands(self, source: str, target: str, cwd: str) -> str:
        """Return what is protected of that which ``source``, copied to the path ``target``, would write; or "".

        The names that count everywhere count in a copied folder only if it goes below ``cwd``: a copy of a project
        elsewhere is a copy.
        """
        if self.find(target, cwd):
            return target
        source, target = (os.path.join(cwd, expanded(path)) for path in (source, target))
        if not os.path.isdir(source):
            return ""
        if path := self.environment.lands(source, target):
            return path
        forms = forms_of(target, "")
        known = [
            each[len(form) + 1 :] for form in forms for each in (*self._folders, *self._files) if is_in(each, form)
        ]
        usual = _USUAL if any(is_in(form, top) for form in forms for top in forms_of(cwd, "")) else ()
        inside = (name for name in (*known, *usual) if os.path.lexists(os.path.join(source, name)))
        return next((path for name in inside if self.find(path := os.path.join(target, name)) == ALL), "")

    def below(self, start: str, pattern: str, *, is_name: bool, environment: bool = True) -> str:
        """Return a file below the folder ``start`` that is protected and that ``pattern`` means: by its last name if
        ``is_name``, else by its whole path; an empty string if there is none. ``environment``: parts of the gate count.
        """
        from fnmatch import fnmatch

        folders = forms_of(start, "")
        usual = (path for name in _USUAL if os.path.lexists(path := os.path.join(start, name)))
        found = (form for path in usual if self.find(path) for form in forms_of(path, ""))
        own = self.environment
        are_near = environment and any(own.is_whole(f) or own.is_inside(f) or own.holds(f) for f in folders)
        parts = own.known() if are_near else ()
        known = (*self._folders, *self._files, *found, *parts)
        pattern = pattern.casefold()
        return next(
            (
                path
                for path in known
                if any(is_in(path, folder) for folder in folders)
                and fnmatch(path.rpartition("/")[2] if is_name else path, pattern)
            ),
            "",
        )

    def globbed(self, pattern: str, cwd: str) -> list[str]:
        """Return the files that are protected by name or as given, and that a shell would put for ``pattern``."""
        from fnmatch import fnmatch
        from glob import iglob

        pattern = os.path.join(cwd, expanded(pattern))
        folder, name = os.path.split(pattern)
        names = [usual for usual in (*MANIFEST_NAMES, *CLAUDE_NAMES, CLAUDE_FOLDER) if fnmatch(usual, name)]
        # Like a shell, `*` leaves out what begins with a dot.
        names = [usual for usual in names if usual[0] != "." or name[0] == "."]
        try:
            found = [path for usual in names for path in iglob(os.path.join(folder, usual))]
        except ValueError:  # no path of this system
            found = []
        wanted = spelled(pattern)
        known = (each for each in (*self._folders, *self._files) if fnmatch(each, wanted))
        return [*found, *known, *self.environment.matched(os.path.normpath(pattern))]

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
        return any(self._is_taken(path, cwd) for path in self.paths_in(text))

    def _is_taken(self, path: str, cwd: str) -> bool:
        if "*" in path and any(self.is_own(each) for each in self.globbed(path, cwd)):
            return True
        return self.find(path, cwd) == ALL or (len(path) > 2 and self.holds(path, cwd, files=False))

    def paths_in(self, text: str) -> list[str]:
        """Return what in ``text`` looks like a path that has to do with something protected."""
        import re

        found = re.findall(r"""[^\s'"`(){}\[\]<>|;&,=*?!#]+""", text)
        words = (*self.words, self.environment_name)
        return [path for path in dict.fromkeys(found) if any(word in path.casefold() for word in words)]


def part_of(protection: str, text: str) -> Any:
    """Return the protected part of a file that holds ``text``; something false if it has none.

    Raises ``ValueError`` for TOML that cannot be read and may have the table.
    """
    if protection == FRONTMATTER:
        head = _frontmatter(text)
        return head if _has_hooks(head) else ""
    if protection == WIRING:
        return hooks_of(text)
    if protection == STARTUP:
        return lines_for_hosts(text)
    if "agent_hooks" not in text and "\\" not in text:  # a key may also be written with escapes
        return None
    from tomllib import loads

    tool = loads(text).get("tool")
    return tool.get("agent_hooks") if isinstance(tool, dict) else None


def mentions_part(protection: str, text: str) -> bool:
    """Return whether ``text``, put somewhere into a file, might make or change its protected part."""
    import re

    if protection == WIRING:
        return mentions_hooks(text)
    if protection == STARTUP:
        return bool(lines_for_hosts(text))
    if protection == FRONTMATTER:
        return re.search(r"""hooks["']?\s*:""", text) is not None or _has_hooks(text)
    return re.search(r"tool[^A-Za-z0-9]{0,12}agent_hooks|\\[uU][0-9a-fA-F]{4}", text) is not None


def _frontmatter(text: str) -> str:
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---":
        return ""
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), len(lines))
    return "\n".join(lines[1:end])


def _has_hooks(yaml: str) -> bool:
    if "hooks" not in yaml and "\\" not in yaml:
        return False
    import re

    # As a key of a block, of a flow, as an explicit key, or spelled with escapes.
    key = r"""^[ \t]*["']?hooks["']?[ \t]*:|[{,]\s*["']?hooks["']?\s*:|\?\s*["']?hooks\b|\\[xuU][0-9a-fA-F]{2}"""
    return re.search(key, yaml, re.MULTILINE) is not None
