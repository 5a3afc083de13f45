"""Judges package managers: the distributions that they remove or replace, and the environments that they make anew."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from agent_hooks.model.tools import file_of_address
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import ELSEWHERE, GATHERERS, MANAGERS, PROJECT_MANAGERS, name_of
from agent_hooks.shell.syntax import UNKNOWN

from .environment import normal
from .locations import forms_of, read_text
from .reasons import denial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .shell import Judging

# Distributions of others with a package of the same name as ours.
_NAMESAKES = frozenset(("agent-hooks", "agent-hooks-sdk"))
_INSTALLING = frozenset("install add inject upgrade update reinstall".split())
_REMOVING = frozenset("uninstall remove rm purge autoremove del prune uninstall-all reinstall-all --all".split())
_SYSTEM = frozenset("apt apt-get aptitude brew dnf yum zypper apk port".split())
_ALL = frozenset(("uninstall-all", "--all"))  # tools
_INDEX = Pattern(
    r"-[if]|--(?:(?:extra-|default-)?index(?:-url)?|find-links|no-index)(?:=.*)?"
    r"|(?:PIP|UV)_(?:\w*INDEX\w*|FIND_LINKS|CONFIG_FILE|TARGET|PREFIX)"
)
_TARGET = Pattern(r"-t|--(?:target|prefix|root|user-base)")
_INTERPRETER_OPTION = Pattern(r"-[pn]|--(?:python|prefix|name)")
_ARCHIVE = Pattern(r"\.(?:whl|zip|tar|tgz|tar\.\w+)$")
_NAMED_COPY = Pattern(
    r"([\w.-]+)(?:\[[^\]]*\])?\s*@\s*(?:file:|git\+|https?:|[./~])|[^#]*#(?:.*&)?egg=([\w.-]+)"
)  # `name @ address`, `address#egg=name`
_PROJECT_NAME = Pattern(r'^\s*name\s*=\s*["\']([\w.-]+)', re.MULTILINE)
_REQUIREMENT = Pattern(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[@=<>!~;].*)?$")
_LIST_OPTION = Pattern(r"-[a-zA-Z]*r|--requirements?")
_WITH_VALUE = frozenset("-p --python --prompt --seed --index-url --extra-index-url --cache-dir".split())


def reason_against_packages(judging: Judging, words: Sequence[str], given: str) -> str:
    """Return why a simple command is denied, if a package manager in it removes or replaces a part of the gate;
    ``given``: the source of its pipeline and its stdin.
    """
    if reason := _against_new_environment(judging, words):
        return reason
    at = next((at for at, word in enumerate(words) if name_of(word) in MANAGERS), -1)
    if at < 0:
        return ""
    manager, rest = name_of(words[at]), list(words[at + 1 :])
    if manager.endswith(("conda", "mamba")):
        rest = ["--prefix" if word == "-p" else word for word in rest]
    if not _REMOVING.isdisjoint(rest):
        return _against_removing(judging, words, at, rest, given)
    if manager in _SYSTEM or _INSTALLING.isdisjoint(rest):
        return ""
    return _against_installing(judging, words, at, rest)


def reason_against_packages_in(judging: Judging, code: str) -> str:
    """Return why ``code`` is denied, if it seems to run a package manager on a part of the gate."""
    names = {normal(word) for word in re.findall(r"[\w-]+", code)}
    if names.isdisjoint(("pip", "uv")):
        return ""
    if "uninstall" in names and (parts := names.intersection(judging.protected.environment.parts.distributions)):
        return denial("uninstall", min(parts))
    return denial("copy", min(found)) if "install" in names and (found := names & _NAMESAKES) else ""


def _against_removing(judging: Judging, words: Sequence[str], at: int, rest: Sequence[str], given: str) -> str:
    environment, manager = judging.protected.environment, name_of(words[at])
    files = [after for word, after in pairwise(rest) if _LIST_OPTION.fullmatch(word)]
    named = [*rest, *"\n".join(read_text(file, judging.cwd) for file in files).split(), *judging.fed_words(files)]
    named += re.findall(r"[\w.-]+", given)
    names = {normal(found[1]) for word in named if (found := _REQUIREMENT.match(word))}
    if any(name.startswith("agent-hooks") for name in names):
        return denial("command", "Uninstalling agent-hooks")
    if manager in _SYSTEM or _is_elsewhere(judging, words, at):
        return ""
    is_tools = (manager == "pipx" or "tool" in rest) and not _ALL.isdisjoint(rest)
    if is_tools and re.search(r"/(?:uv/tools|pipx)/", environment.prefix):
        return denial("uninstall", "every tool, the gate's own included,")
    is_all = "env" in rest or ("venv" in rest and manager == "pdm") or (manager.endswith("conda") and "--all" in rest)
    is_unseen = any(name_of(word) in GATHERERS for word in words) or any(UNKNOWN in word for word in rest)
    is_unseen = is_unseen or any(map(judging.is_fed, files))
    if is_all or (is_unseen and re.search(r"\b(?:freeze|list)\b", "\n".join(judging.texts))):
        return judging.judge_environment(environment.prefix)
    parts = names.intersection(environment.parts.distributions)
    return denial("uninstall", min(parts)) if parts else ""


def _against_installing(judging: Judging, words: Sequence[str], at: int, rest: Sequence[str]) -> str:
    environment = judging.protected.environment
    names = {normal(found[1]) for word in rest if (found := _REQUIREMENT.match(word))}
    if namesakes := names & _NAMESAKES:
        return denial("copy", min(namesakes))
    options = [part for word in rest for part in (word.split("=", 1) if word.startswith("--") else (word,))]
    targets = [after for word, after in pairwise(options) if _TARGET.fullmatch(word)]
    for target in targets:
        forms = forms_of(target, judging.cwd)
        is_inside = any(environment.is_inside(each) or environment.holds(each) for each in forms)
        if is_inside or (UNKNOWN in target and environment.is_computed_in(target)):
            return denial("copy", "a package of the gate's environment")
    if targets or _is_elsewhere(judging, words, at):
        return ""
    distributions = environment.parts.distributions
    assigned = {word.partition("=")[0] for word in words[:at]} | judging.assigned
    sources = [after for word, after in pairwise(rest) if word == "--from" and ("/" in after or _ARCHIVE.search(after))]
    replaced = {name for name in names if name in distributions or (sources and name.startswith("agent-hooks"))}
    if replaced and (sources or any(map(_INDEX.fullmatch, (*rest, *assigned)))):
        return denial("copy", min(replaced))
    for word in rest:
        name = _name_of_copy(judging, word)
        source = os.path.realpath(distributions.get(name) or "/")
        if name in distributions and source != os.path.realpath(judging.place_of(word)):
            return denial("copy", name)
    return ""


def _name_of_copy(judging: Judging, word: str) -> str:
    """Return the name of the distribution that ``word`` would install from a path or an address; or ""."""
    word = word.removeprefix("--editable=").removeprefix("-e")
    if found := _NAMED_COPY.match(word):
        return normal(found[1] or found[2])
    word = re.sub(r"\[[^\]]*\]$", "", word.partition("#")[0])
    if "*" in word or not ("/" in word or word.startswith(".") or _ARCHIVE.search(word)):
        return ""
    path = judging.place_of(file_of_address(word) or word)
    if found := _PROJECT_NAME.search(read_text(os.path.join(path, "pyproject.toml"))):
        return normal(found[1])
    last = os.path.basename(word.rstrip("/") if "://" in word else path)
    return normal(re.sub(r"-\d.*$", "", _ARCHIVE.sub("", re.sub(r"\.git(?:@.*)?$", "", last))))


def _is_elsewhere(judging: Judging, words: Sequence[str], at: int) -> bool:
    """Return whether the command names another environment than the gate's."""
    if name_of(words[0]) in ELSEWHERE:
        return True
    manager, environment = name_of(words[at]), judging.protected.environment
    named = [word for word in words[: at + 1] if "/bin/" in word]
    named += [after for word, after in pairwise(words[at + 1 :]) if _INTERPRETER_OPTION.fullmatch(word)]
    named = [re.sub(r"/bin/[^/]*$", "", each) for each in named if UNKNOWN not in each]
    active = judging.variables.get("VIRTUAL_ENV") if "VIRTUAL_ENV" in judging.assigned else ""
    if not named and (active := active or os.environ.get("VIRTUAL_ENV")):
        named = [active]
    own = os.path.join(judging.call.project, ".venv")
    if not named and manager in PROJECT_MANAGERS and "pip" not in words and "tool" not in words:
        named = [own] if os.path.isfile(os.path.join(own, "pyvenv.cfg")) else []
    is_conda = manager.endswith(("conda", "mamba"))
    return bool(named) and not any(
        name == os.path.basename(environment.prefix)
        if is_conda and "/" not in name
        else any(map(environment.is_inside, forms_of(name, judging.cwd)))
        for name in named
    )


def _against_new_environment(judging: Judging, words: Sequence[str]) -> str:
    """Judge a command that makes an environment anew in its place, or takes it away under its own name."""
    names = [name_of(word) for word in words]
    made: list[str] = []
    if "venv" in words or "virtualenv" in names:
        if not {"--help", "-h"}.isdisjoint(words) or ("--clear" not in words and "uv" not in names[:2]):
            return ""
        after = words[(words.index("venv") if "venv" in words else names.index("virtualenv")) + 1 :]
        pairs = pairwise(("", *after))
        made = [word for before, word in pairs if not word.startswith("-") and before not in _WITH_VALUE] or [".venv"]
    elif (names[0] == "pipenv" and "--rm" in words) or (names[0] == "hatch" and {"env", "prune"}.issubset(words)):
        made = [judging.protected.environment.prefix]
    return next(filter(None, map(judging.judge_environment, made)), "")
