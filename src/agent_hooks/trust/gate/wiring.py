"""The wiring of hosts: the files that make a coding agent ask us."""

from __future__ import annotations

import os

from agent_hooks.system.paths import expanded, is_below

from .locations import forms_of, read_text
from .reasons import ALL, WIRING, denial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import CallInfo
    from .paths import ProtectedPaths

# The files in which a host's hooks are, by the folder: in a home, in a project, or below /etc.
FILES = {
    ".claude": ("settings*.json", "plugins/*", "skills/*.claude-plugin/*", "skills/*/hooks/*.json"),
    ".codex": ("hooks.json", "*config.toml", "requirements.toml"),
    "codex": ("hooks.json", "*config.toml", "requirements.toml"),
    ".gemini": ("settings.json", "extensions/*"),
    "gemini-cli": ("settings.json", "system-defaults.json"),
    ".qwen": ("settings.json", "extensions/*"),
    ".cursor": ("hooks.json",),
    "cursor": ("hooks.json",),
    ".copilot": ("settings.json", "config.json", "hooks/*", "extensions/*", "installed-plugins/*"),
    ".github": ("hooks/*", "copilot/settings.json", "copilot/settings.local.json", "extensions/*"),
    "github-copilot": ("policy.d/*",),
    # Of VS Code; its settings say from which files it takes hooks.
    ".vscode": ("settings.json",),
    ".vscode-server": ("data/*settings.json",),
    "code": ("user/*settings.json",),
    "code - insiders": ("user/*settings.json",),
    ".factory": ("hooks.json", "settings.json", "settings.local.json"),
    ".windsurf": ("hooks.json",),
    "windsurf": ("hooks.json",),
    ".devin": ("hooks.v1.json",),
    ".kiro": ("agents/*", "hooks/*"),
    ".clinerules": ("hooks/*",),
    ".opencode": ("plugin/*", "plugins/*", "tool/*", "tools/*", "opencode.json", "opencode.jsonc"),
    "opencode": ("plugin/*", "plugins/*", "tool/*", "tools/*", "opencode.json", "opencode.jsonc"),
    ".kimi": ("config.toml",),
}
# Coding agents, by the name of the program and by that of the package.
HOSTS = {
    **{name: name for name in "claude codex gemini qwen copilot cursor-agent opencode droid kiro-cli".split()},
    "claude-code": "claude",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "opencode-ai": "opencode",
}
# Files that set variables and aliases for the shells, and so the hosts, of later.
STARTUP_NAMES = frozenset(
    ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile .kshrc config.fish .envrc .env".split()
)
_SYSTEM = frozenset(("etc", "application support", ".config", ".codeium", "roaming"))
# The files that `agent-hooks install` makes for us alone.
_OWN_FILES = frozenset(("agent-hooks.json", "agent-hooks.js"))
# Below a host's folder, code that it loads as it starts and that may answer before its hooks do.
_CODE = frozenset("plugin plugins tool tools extensions installed-plugins skills".split())
# Variables that name the folder of a host's settings, with its usual name.
_HOMES = {
    "CLAUDE_CONFIG_DIR": ".claude",
    "CODEX_HOME": ".codex",
    "COPILOT_HOME": ".copilot",
    "QWEN_HOME": ".qwen",
    "OPENCODE_CONFIG_DIR": ".opencode",
}


def _moved_folders() -> Iterator[tuple[str, str]]:
    """Yield the folders of hosts that the environment names, with their usual names."""
    yield from ((moved, name) for variable, name in _HOMES.items() if (moved := os.environ.get(variable)))
    if moved := os.environ.get("XDG_CONFIG_HOME"):
        yield os.path.join(moved, "opencode"), "opencode"


def wiring_part(form: str) -> str:
    """Return how much of the file at ``form``, spelled as by ``forms_of``, is protected as a host's hooks, or ""."""
    if form.endswith(".code-workspace"):  # it has settings of VS Code
        return WIRING
    names = form.split("/")
    places = [(name, "/".join(names[at + 1 :])) for at, name in enumerate(names) if _is_settings_folder(names, at)]
    for moved, name in _moved_folders():
        places += [(name, form[len(home) + 1 :]) for home in forms_of(moved, "") if is_below(form, home)]
    if not places:
        return ""
    from fnmatch import fnmatch

    found = [rest for name, rest in places if any(fnmatch(rest, pattern) for pattern in FILES[name])]
    is_whole = found and (names[-1] in _OWN_FILES or any(rest.partition("/")[0] in _CODE for rest in found))
    return ALL if is_whole else WIRING if found else ""


def _is_settings_folder(names: list[str], at: int) -> bool:
    """Return whether ``names[at]`` is a host's folder; one without a dot only where the system keeps settings."""
    name = names[at]
    return name in FILES and (name[0] == "." or not _SYSTEM.isdisjoint(names[:at]))


def is_wired(environment: str, project: str) -> bool:
    """Return whether the settings of some host, of the user, the machine or the ``project``, run our hooks from the
    folder ``environment``.
    """
    from glob import escape, iglob

    home = os.path.expanduser("~")
    bases = (home, project, "/etc", os.path.join(home, ".config"), os.path.join(home, ".codeium"))
    folders = [(os.path.join(base, name), name) for base in bases for name in FILES]
    folders += _moved_folders()
    return any(
        _leads_into(environment, read_text(path), project)
        for folder, name in folders
        for pattern in (FILES[name] if os.path.isdir(folder) else ())
        for path in iglob(os.path.join(escape(folder), pattern))
    )


def _leads_into(environment: str, text: str, project: str) -> bool:
    """Return whether the settings ``text`` run our hooks from ``environment``: by a path in it, by a program that is
    found there, or by a script that names it.
    """
    import re
    from shutil import which

    from .parts import OURS

    text = re.sub(r"\$\{?\w*(?:PROJECT_DIR|CWD)\}?", lambda _: project, text)
    words = re.findall(rf"""[^\s"'=;|&\\]*{OURS}[^\s"';|&\\]*""", text)
    texts = (text, *(each for word in words for each in (which(word) or "", read_text(word)[:4096])))
    return bool(words) and any(f"{environment.rstrip('/')}/" in each for each in texts)


def is_wired_in(folder: str) -> bool:
    """Return whether our hooks are in a host's settings below ``folder``, a host's own or one in it."""
    if FILES.keys().isdisjoint(folder.casefold().rstrip("/").split("/")[-2:]):
        return False
    from glob import escape, iglob

    from .parts import mentions_part

    paths = (path for pattern in ("*", "*/*") for path in iglob(os.path.join(escape(folder), pattern)))
    return any(mentions_part(WIRING, read_text(path)) for path in paths if wiring_part(path.casefold()))


def wiring_in(tree: str, target: str, cwd: str) -> Iterator[str]:
    """Yield the paths below the folder ``tree`` that would be a host's settings there if it was copied to ``target``:
    those of a project in ``cwd``, and those of the user, or that are there already. A copy elsewhere is a copy.
    """
    from glob import iglob

    home, tops = forms_of("~", "")[0], forms_of(cwd, "")
    below = {pattern for patterns in FILES.values() for pattern in patterns}
    below |= {f"{base}{name}/{each}" for base in ("", ".config/") for name, names in FILES.items() for each in names}
    names = (name for each in ("*", "*/*", *sorted(below)) for name in iglob(each, root_dir=tree, include_hidden=True))
    for name in dict.fromkeys(names):
        forms = forms_of(os.path.join(target, name), cwd)
        below_home = [form[len(home) + 1 :] for form in forms if is_below(form, home)]
        in_home = {each.removeprefix(".config/").partition("/")[0] for each in below_home}
        counts = os.path.isfile(forms[0]) or not in_home.isdisjoint(FILES)
        if any(map(wiring_part, forms)) and (counts or any(is_below(form, top) for form in forms for top in tops)):
            yield name


def reason_against_taking(path: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> str:
    """Return why the folder ``path`` is not taken away, if it is, or has in it, an environment that the gate runs from.

    Inside the project it may be, where no host needs it; else that is a question, which ``call`` keeps.
    """
    environment = protected.environment
    is_gates = any(map(environment.is_whole, forms_of(path, cwd)))
    place = environment.prefix if is_gates else os.path.join(cwd, expanded(path))
    if not is_gates and not os.path.isfile(os.path.join(place, "pyvenv.cfg")):
        return ""
    roots = forms_of(call.project, "")
    is_inside = any(is_below(form, root) for form in forms_of(place, "") for root in roots)
    if is_gates and not is_inside:
        return denial("environment", path)
    if not (is_gates and call.is_hosted) and not is_wired(place, call.project):
        return ""
    if not is_inside or not any(is_below(form, root) for form in forms_of(path, cwd) for root in roots):
        return denial("environment", path)
    call.questions.append(
        f"This takes {path} away, and a coding agent's hooks run from the environment in it: no gate decides until "
        "agent-hooks-core is installed there again. May it?"
    )
    return ""
