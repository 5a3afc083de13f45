"""Which files an agent does not change, and where it is only a part of one, which part."""

from __future__ import annotations

import os

from agent_hooks.paths import expanded, real_path
from agent_hooks.tools import file_of_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# How much of a file is protected.
ALL = "all"
TABLE = "the table tool.agent_hooks"
FRONTMATTER = "the frontmatter with hooks"

MANIFEST_NAMES = ("hookconf.py", "agent-hooks.toml")
CLAUDE_FOLDER = ".claude"
CLAUDE_NAMES = ("settings.json", "settings.local.json")
# Every name above, from the folder that it would lie in.
_USUAL = (*MANIFEST_NAMES, *CLAUDE_NAMES, *(f"{CLAUDE_FOLDER}/{name}" for name in CLAUDE_NAMES))
_USUAL_WORDS = ("hook", "agent-h", "sha256:", CLAUDE_FOLDER, "settings.", "pyproject", "skill.md")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folders of installed packages; where it is the sources that are used, somebody works on them.
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_MAX_READ = 1024 * 1024  # characters


class ProtectedPaths:
    """The ``folders`` of the user and of the machine, the ``files`` that the trust in a project covers, and by name
    every file that a trust would have to cover wherever it is, also one that does not exist yet.
    """

    def __init__(self, folders: Iterable[str], files: Iterable[str]) -> None:
        self._folders = frozenset(form for folder in folders for form in _forms(folder, ""))
        self._below = tuple(f"{folder}/" for folder in self._folders)
        self._files = frozenset(form for file in files for form in _forms(file, ""))
        package = _spelled(_PACKAGE)
        # Not the folders around it: who makes an environment anew removes all of it.
        self._package = package if not _INSTALLED.isdisjoint(package.split("/")) else ""
        # The last two names: "agent-hooks" alone is also said where no folder is meant.
        self._folder_names = tuple(tuple(folder.rsplit("/", 2)[-2:]) for folder in self._folders)
        names = (name for folder_names in self._folder_names for name in folder_names if len(name) > 3)
        # A text without any of these names nothing of all that.
        self.words = tuple(dict.fromkeys((*_USUAL_WORDS, *names, *(file.rpartition("/")[2] for file in self._files))))

    def find(self, path: str, cwd: str = "") -> str:
        """Return how much of the file at ``path`` is protected, an empty string for nothing of it.

        ``path`` counts as it is written and with symbolic links resolved, in any spelling that a file system may take
        for the same.
        """
        return self._find(path, cwd)[0]

    def _find(self, path: str, cwd: str) -> tuple[str, tuple[str, ...]]:
        forms = _forms(path, cwd)
        part = ""
        for form in forms:
            folder, _, name = form.rpartition("/")
            if form in self._folders or form.startswith(self._below) or name in MANIFEST_NAMES:
                return ALL, forms
            if self._package and _is_in(form, self._package):
                return ALL, forms
            if name in CLAUDE_NAMES and folder.endswith(f"/{CLAUDE_FOLDER}"):
                return ALL, forms
            if name == "pyproject.toml":
                part = TABLE
            elif name == "skill.md" or (name.endswith(".md") and f"/{CLAUDE_FOLDER}/agents/" in form):
                part = FRONTMATTER
            elif form in self._files:
                return ALL, forms
        return part, forms

    def holds(self, path: str, cwd: str = "", *, files: bool = True) -> bool:
        """Return whether who removes, moves or replaces the folder ``path`` does so to something that is protected.

        ``files=False``: that only a project's files are in it does not count.
        """
        found, forms = self._find(path, cwd)
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
        forms = _forms(target, "")
        known = [
            each[len(form) + 1 :] for form in forms for each in (*self._folders, *self._files) if _is_in(each, form)
        ]
        usual = _USUAL if any(_is_in(form, top) for form in forms for top in _forms(cwd, "")) else ()
        inside = (name for name in (*known, *usual) if os.path.lexists(os.path.join(source, name)))
        return next((path for name in inside if self.find(path := os.path.join(target, name)) == ALL), "")

    def below(self, start: str, pattern: str, *, is_name: bool) -> str:
        """Return a file below the folder ``start`` that is protected and that ``pattern`` means: by its last name if
        ``is_name``, else by its whole path; an empty string if there is none.
        """
        from fnmatch import fnmatch

        folders = _forms(start, "")
        usual = (path for name in _USUAL if os.path.lexists(path := os.path.join(start, name)))
        found = (form for path in usual if self.find(path) for form in _forms(path, ""))
        known = (*self._folders, *self._files, *found)
        pattern = pattern.casefold()
        return next(
            (
                path
                for path in known
                if any(_is_in(path, folder) for folder in folders)
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
        spelled = _spelled(pattern)
        return [*found, *(known for known in (*self._folders, *self._files, self._package) if fnmatch(known, spelled))]

    def is_named_in(self, text: str, cwd: str) -> bool:
        """Return whether ``text`` (code, or a command that cannot be read) seems to name a file that is protected."""
        import re

        flat = text.casefold()
        if re.search(r"hookconf(?!ig)|agent-hooks\.toml", flat) or (".claude" in flat and "settings" in flat):
            return True
        if "agent_hooks" in flat and any(name in flat for name in ("config_dir", "state_dir", "managed_dir")):
            return True
        names = set(re.findall(r"[\w.-]+", flat))
        if any(names.issuperset(folder) for folder in self._folder_names):
            return True
        return any(self._is_taken(path, cwd) for path in self.paths_in(text))

    def _is_taken(self, path: str, cwd: str) -> bool:
        return self.find(path, cwd) == ALL or (len(path) > 2 and self.holds(path, cwd, files=False))

    def paths_in(self, text: str) -> list[str]:
        """Return what in ``text`` looks like a path that has to do with something protected."""
        import re

        found = re.findall(r"""[^\s'"`(){}\[\]<>|;&,=*?!#]+""", text)
        return [path for path in dict.fromkeys(found) if any(word in path.casefold() for word in self.words)]


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _forms(path: str, cwd: str) -> tuple[str, ...]:
    """Return ``path`` as it is written and with its links resolved, absolute, each as ``_spelled``."""
    path = path.partition("\0")[0].strip()  # C code would end it there too
    path = os.path.join(cwd, expanded(_with_variables(file_of_address(path) or path)))
    written, real = os.path.abspath(path), real_path(path)
    return (_spelled(written),) if written == real else (_spelled(written), _spelled(real))


def _with_variables(path: str) -> str:
    try:
        return os.path.expandvars(path)
    except ValueError:  # no name of a variable
        return path


def _spelled(path: str) -> str:
    """Return the one spelling of all that some file system takes for the same path.

    Case, compatible and invisible characters (as Git's CVE-2014-9390 had them), dots and blanks at the end of a name,
    alternate data streams, and backslashes make no difference on one or the other.
    """
    if not path.isascii():
        from unicodedata import category, normalize

        path = "".join(character for character in normalize("NFKC", path) if category(character) != "Cf")
    names = path.casefold().replace("\\", "/").split("/")
    return "/".join([name.partition(":")[0].rstrip(". ") for name in names])


def read_text(path: str, cwd: str = "") -> str:
    """Return the text of a file, as far as it is one; an empty string if there is none."""
    try:
        with open(os.path.join(cwd, expanded(path)), encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_READ)
    except (OSError, ValueError):
        return ""


def part_of(protection: str, text: str) -> Any:
    """Return the protected part of a file that holds ``text``; something false if it has none.

    Raises ``ValueError`` for TOML that cannot be read and may have the table.
    """
    if protection == FRONTMATTER:
        head = _frontmatter(text)
        return head if _has_hooks(head) else ""
    if "agent_hooks" not in text and "\\" not in text:  # a key may also be written with escapes
        return None
    from tomllib import loads

    tool = loads(text).get("tool")
    return tool.get("agent_hooks") if isinstance(tool, dict) else None


def mentions_part(protection: str, text: str) -> bool:
    """Return whether ``text``, put somewhere into a file, might make or change its protected part."""
    import re

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
