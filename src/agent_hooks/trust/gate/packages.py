"""Package managers: what they name to remove or to replace, and the environments that they make anew."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from agent_hooks.model.tools import file_of_address
from agent_hooks.system.paths import expanded

from .environment import normal
from .locations import forms_of, read_text
from .programs import is_glob, is_unknown, name_of
from .reasons import for_another_copy, for_distribution, for_namesake, for_own_command
from .words import GATHERERS, PACKAGE_MANAGERS, PROJECT_MANAGERS, STANDARD_INPUT, SYSTEM_MANAGERS, UNINSTALLING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .reading import Reading

# Distributions of others with a package of the same name as ours.
_NAMESAKES = frozenset(("agent-hooks", "agent-hooks-sdk"))
_INSTALLING = frozenset("install add inject upgrade update reinstall".split())
_INDEXES = frozenset("-i --index-url --extra-index-url -f --find-links --index --default-index --no-index".split())
_INDEX_VARIABLES = frozenset(
    "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_CONFIG_FILE PIP_TARGET PIP_PREFIX UV_INDEX UV_INDEX_URL "
    "UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_CONFIG_FILE".split()
)
_TARGETS = frozenset("-t --target --prefix --root --user-base".split())
_INTERPRETERS = frozenset("-p --python --prefix -n --name".split())
_ELSEWHERE = frozenset("docker podman kubectl ssh".split())
_ALL_TOOLS = frozenset(("uninstall-all", "reinstall-all", "--all"))
_PATH = re.compile(r"^\.|/|\.(?:whl|zip|gz)$")
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar|tgz|tar\.\w+)$")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[@=<>!~;].*)?$")
_LIST_OPTION = re.compile(r"-[a-zA-Z]*r|--requirements?")
_LISTS_ALL = re.compile(r"\b(?:freeze|list)\b")
_INTERPRETER_NAME = re.compile(r"(?:c?python|pypy)[\d.@-]*$|\d+\.\d+[\d.]*$")


def reason_against_packages(reading: Reading, words: Sequence[str], upstream: str) -> str:
    """Return why a package manager in ``words`` is denied, if it removes or replaces a part of the gate."""
    at = next((at for at, word in enumerate(words) if name_of(word) in PACKAGE_MANAGERS), -1)
    if at < 0:
        return ""
    manager, rest = name_of(words[at]), list(words[at + 1 :])
    if manager.endswith(("conda", "mamba")):
        rest = ["--prefix" if word == "-p" else word for word in rest]
    assigned = {word.partition("=")[0] for word in words[:at]} | reading.assigned
    verbs = {word for word in rest if not word.startswith("-")}
    elsewhere = _is_elsewhere(reading, words, at)
    if not UNINSTALLING.isdisjoint(verbs) or not _ALL_TOOLS.isdisjoint(rest):
        return _against_removing(reading, words, manager, rest, upstream, is_elsewhere=elsewhere)
    if manager in SYSTEM_MANAGERS or _INSTALLING.isdisjoint(verbs):
        return ""
    return _against_installing(reading, rest, assigned, is_elsewhere=elsewhere)


def reason_against_packages_in(reading: Reading, code: str) -> str:
    """Return why ``code`` is denied, if it seems to run a package manager on a part of the gate."""
    names = {normal(word) for word in re.findall(r"[\w-]+", code)}
    if names.isdisjoint(("pip", "uv")):
        return ""
    if "uninstall" in names and (parts := names.intersection(reading.protected.environment.parts.distributions)):
        return for_distribution(min(parts))
    return for_namesake(min(found)) if "install" in names and (found := names & _NAMESAKES) else ""


def _against_removing(
    reading: Reading, words: Sequence[str], manager: str, rest: Sequence[str], upstream: str, *, is_elsewhere: bool
) -> str:
    environment = reading.protected.environment
    files = {after for word, after in pairwise(rest) if _LIST_OPTION.fullmatch(word)}
    listed = "\n".join(read_text(file, reading.cwd) + reading.text_written(file) for file in files)
    named = [*rest, *listed.split(), *upstream.split()]
    names = {normal(found[1]) for word in named if (found := _REQUIREMENT.match(word))}
    if any(name.startswith("agent-hooks") for name in names):
        return for_own_command("Uninstalling agent-hooks")
    if manager in SYSTEM_MANAGERS:
        names = {name.removeprefix("python3-") for name in names if name.startswith("python3-")}
    if "python" in rest or manager in SYSTEM_MANAGERS or manager == "pyenv":
        base = os.path.dirname(os.path.dirname(environment.library))
        pythons = [word for word in rest if _INTERPRETER_NAME.match(word)]
        versions = {re.sub(r"[^\d.]", "", word) for word in pythons} - ({""} if manager == "uv" else set())
        if "--all" in rest or any(re.search(rf"(?<![\d.]){re.escape(each)}(?!\d)", base) for each in versions):
            return for_distribution("the Python that the gate runs in")
    if is_elsewhere:
        return ""
    is_tools = manager == "pipx" or "tool" in rest
    if is_tools and not _ALL_TOOLS.isdisjoint(rest) and re.search(r"/(?:uv/tools|pipx)/", environment.prefix):
        return for_distribution("every tool, the gate's own included,")
    is_all = "env" in rest or ("venv" in rest and manager == "pdm") or (manager.endswith("conda") and "--all" in rest)
    gathers = any(name_of(word) in GATHERERS for word in words) or any(map(is_unknown, rest)) or "<(" in " ".join(rest)
    gathers = gathers or not STANDARD_INPUT.isdisjoint(files) or any(map(reading.text_written, files))
    if is_all or (gathers and _LISTS_ALL.search("\n".join(reading.texts))):
        return reading.judge_environment(environment.prefix)
    parts = names.intersection(environment.parts.distributions)
    return for_distribution(min(parts)) if parts else ""


def _against_installing(reading: Reading, rest: Sequence[str], assigned: set[str], *, is_elsewhere: bool) -> str:
    names = {normal(found[1]) for word in rest if (found := _REQUIREMENT.match(word))}
    if namesakes := names & _NAMESAKES:
        return for_namesake(min(namesakes))
    environment = reading.protected.environment
    targets = [after for word, after in pairwise(rest) if word in _TARGETS]
    targets += [word.partition("=")[2] for word in rest if word.partition("=")[0] in _TARGETS]
    for target in targets:
        forms = forms_of(target, reading.cwd)
        if any(environment.is_inside(form) or environment.holds(form) for form in forms) or (
            is_unknown(target) and environment.is_computed_in(target)
        ):
            return for_another_copy("a package of the gate's environment")
    if is_elsewhere or targets:
        return ""
    distributions = environment.parts.distributions
    from_index = any(word.partition("=")[0] in _INDEXES for word in rest) or not _INDEX_VARIABLES.isdisjoint(assigned)
    if from_index and (replaced := names.intersection(distributions)):
        return for_another_copy(min(replaced))
    sources = [after for word, after in pairwise(rest) if word == "--from" and _PATH.search(after)]
    if sources and (replaced := {name for name in names if name in distributions or name.startswith("agent-hooks")}):
        return for_another_copy(min(replaced))
    for word in rest:
        name = _name_of_copy(reading, word)
        if name in distributions and not _is_same(distributions[name], word, reading.cwd):
            return for_another_copy(name)
    return ""


def _name_of_copy(reading: Reading, word: str) -> str:
    """Return the name of the distribution that ``word`` would install from a path or an address; or ""."""
    word = word.removeprefix("--editable=").removeprefix("-e")
    name, at, address = word.partition("@")
    if at and re.match(r"\s*(?:file:|git\+|https?:|[./~])", address):
        return normal(name.partition("[")[0].strip())
    if found := re.search(r"#(?:.*&)?egg=([\w.-]+)", word):
        return normal(found[1])
    word = re.sub(r"\[[^\]]*\]$", "", word.partition("#")[0])
    is_path = "/" in word or word.startswith(".") or _ARCHIVE.search(word)
    if not is_path or is_glob(word):
        return ""
    path = os.path.join(reading.cwd, expanded(file_of_address(word) or word))
    if found := re.search(
        r'^\s*name\s*=\s*["\']([\w.-]+)', read_text(os.path.join(path, "pyproject.toml")), re.MULTILINE
    ):
        return normal(found[1])
    last = os.path.basename(os.path.abspath(path)) if "://" not in word else word.rstrip("/").rpartition("/")[2]
    last = re.sub(r"\.git(?:@.*)?$", "", last)
    return normal(last.partition("-")[0] if last.endswith(".whl") else re.sub(r"-\d.*$", "", _ARCHIVE.sub("", last)))


def _is_same(source: str, word: str, cwd: str) -> bool:
    """Return whether a distribution is used from the folder ``word`` already."""
    return bool(source) and os.path.realpath(source) == os.path.realpath(os.path.join(cwd, expanded(word)))


def _is_elsewhere(reading: Reading, words: Sequence[str], at: int) -> bool:
    """Return whether the command names another environment than the gate's."""
    if name_of(words[0]) in _ELSEWHERE:
        return True
    named = [os.path.dirname(os.path.dirname(word)) for word in words[: at + 1] if "/bin/" in word]
    for word, after in pairwise(words[at + 1 :]):
        if word in _INTERPRETERS and not is_unknown(after):
            named.append(re.sub(r"/bin/[^/]*$", "", after))
    if not named and (active := reading.active_environment()):
        named.append(active)
    manager = name_of(words[at])
    if not named and manager in PROJECT_MANAGERS and "pip" not in words and "tool" not in words:
        own = os.path.join(reading.call.project, ".venv")
        named += [own] if os.path.isfile(os.path.join(own, "pyvenv.cfg")) else []
    environment = reading.protected.environment
    is_conda = manager.endswith(("conda", "mamba"))
    for name in named:
        if is_conda and "/" not in name:
            if name == os.path.basename(environment.prefix):
                return False
        elif any(environment.is_inside(form) for form in forms_of(name, reading.cwd)):
            return False
    return bool(named)


def reason_against_renewing(reading: Reading, words: Sequence[str]) -> str:
    """Judge a command that makes an environment anew in its place, or takes it away under its own name."""
    names = [name_of(word) for word in words]
    rest = list(words)
    makes = "venv" in words or "virtualenv" in names
    if makes and _HELP.isdisjoint(words) and ("--clear" in words or "uv" in names[:2]):
        after = words[(words.index("venv") if "venv" in words else names.index("virtualenv")) + 1 :]
        places = [
            word for before, word in pairwise(("", *after)) if not word.startswith("-") and before not in _WITH_VALUE
        ]
        return next(filter(None, (reading.judge_environment(place) for place in places or [".venv"])), "")
    if names[0].endswith(("conda", "mamba")) and "create" in rest:
        made = [after for word, after in pairwise(rest) if word in ("-p", "--prefix")]
        return next(filter(None, map(reading.judge_environment, made)), "")
    is_removed = (names[0] == "pipenv" and "--rm" in rest) or (names[0] == "hatch" and {"env", "prune"}.issubset(rest))
    return reading.judge_environment(reading.protected.environment.prefix) if is_removed else ""


_HELP = frozenset(("--help", "-h"))
_WITH_VALUE = frozenset("-p --python --prompt --seed --index-url --extra-index-url --cache-dir".split())
