"""What is known while a command line is read: where it has changed to, what it has set, and what it may mean."""

from __future__ import annotations

import os
import re

from agent_hooks.system.paths import expanded

from .commands import braces_expanded, plain_words, with_variables
from .locations import forms_of, is_in, read_text
from .paths import ALL, mentions_part, part_of
from .programs import ASSIGNMENT, is_glob, is_unknown
from .reasons import for_environment, for_file, for_folder, for_part, for_renewal, for_unclear
from .wiring import is_wired
from .words import DECLARERS, NOTABLE, TAKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .calls import CallInfo
    from .paths import ProtectedPaths

_COMPUTED = re.compile(r"(?<!\$)\$(?:$|[\d(@*])|`|^\{\}$")  # positions, substitutions, what find and xargs put in
_NAMES = re.compile(r"\$\{?([A-Za-z_]\w*)")


class Reading:
    """One command line while it is read, in ``cwd``: ``places``, by how many parentheses are open; ``texts``: what is
    read, and within it what is read now; ``computed``: the variables that get a value which only running it would tell;
    ``assigned``: those that get any; ``written``: the texts that it puts into files, by their path; ``links``: where
    the symbolic links lead that it makes.
    """

    def __init__(self, text: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> None:
        self.call = call
        self.assigned: set[str] = set()
        self.written: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.texts: list[str] = []
        self.protected = protected
        self.places = [cwd]
        self.computed: set[str] = set()
        given = dict.fromkeys(("VIRTUAL_ENV", "CONDA_PREFIX"), protected.environment.prefix) | dict(os.environ)
        given["PWD"] = cwd
        self._variables = {name: value for name, value in given.items() if name in text and name != "_"}
        self._text = text
        self._aliases: dict[str, str] = {}
        self._named: dict[str, bool] = {}  # whether a text names something protected, once found out

    @property
    def cwd(self) -> str:
        """Where what is read now would run."""
        return self.places[-1]

    def own_words(self, words: Iterable[str]) -> list[str]:
        """Return the words without the assignments before the program, with variables, aliases and braces expanded."""
        found: list[str] = []
        for written in words:
            word = with_variables(written, self._variables) if "$" in written else written
            if not found:
                if word == "spawn" or self._assign(word):  # of `expect`
                    continue
                is_alias = word in self._aliases and word not in NOTABLE  # `\\rm` leaves the alias out
                if is_alias or (word != written and not is_unknown(word)):
                    found += self._aliases.get(word, word).split()
                    continue
            found += braces_expanded(word) if "{" in word else [word]
        if found and found[0] in DECLARERS:
            for word in found[1:]:
                self._assign(word)
        elif found and found[0] in TAKERS:
            self.computed.update(found[1:])
        elif found and found[0] == "alias":
            said = (word.partition("=") for word in found[1:])
            self._aliases |= {name: text for name, _, text in said if text}
        elif len(found) > 3 and found[0] == "for":
            self._assign(f"{found[1]}={found[3] if len(found) == 4 else '{' + ','.join(found[3:]) + '}'}")
        return found

    def with_values(self, word: str) -> str:
        """Return ``word`` with the variables put in that are known."""
        return with_variables(word, self._variables) if "$" in word else word

    def place_of(self, path: str) -> str:
        """Return the absolute path for ``path`` as this command line means it."""
        return os.path.abspath(os.path.join(self.cwd, expanded(self.with_values(path))))

    def text_written(self, path: str) -> str:
        """Return what this command line writes into the file at ``path``."""
        return self.written.get(self.place_of(path), "") if self.written else ""

    def _assign(self, word: str) -> bool:
        assigned = ASSIGNMENT.fullmatch(word)
        if assigned is None:
            return False
        self._variables[assigned[1]] = assigned[2]
        self.assigned.add(assigned[1])
        if is_unknown(assigned[2]):
            self.computed.add(assigned[1])
        return True

    def follow(self, words: Sequence[str]) -> None:
        """Go where a command changes to, if it is one that does."""
        places = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        if words[0] in ("cd", "pushd") and len(places) <= 1 and "-" not in places:
            place = places[0] if places else "~"
            if not is_unknown(place):
                self.places[-1] = os.path.join(self.cwd, expanded(place))
        if words[0] in ("source", ".") and places and re.search(r"/(?:bin|Scripts)/activate(?:\.\w+)?$", places[0]):
            self._assign(f"VIRTUAL_ENV={os.path.join(self.cwd, expanded(os.path.dirname(os.path.dirname(places[0]))))}")

    def active_environment(self) -> str:
        """Return the environment that this command line, or else the shell, has activated; or an empty string."""
        chosen = self._variables.get("VIRTUAL_ENV", "") if "VIRTUAL_ENV" in self.assigned else ""
        return chosen or os.environ.get("VIRTUAL_ENV", "")

    def plain_words(self) -> set[str]:
        """Return all words that are no sentences."""
        return {word for text in self.texts for word in plain_words(text)}

    # -- what is written ---------------------------------------------------------------------------------------------

    def judge_target(self, target: str) -> str:
        """Return why ``target`` is not written, to which a command is redirected."""
        return first(self.judge_path(each) for each in braces_expanded(self.with_values(target)))

    def judge_path(self, path: str, *, whole: bool = False, files: bool = True, seen: str = "") -> str:
        """Return why ``path`` is not written; ``whole``: nor is a folder with such a file in it taken away."""
        if not path:
            return ""
        if is_unknown(path):
            return for_unclear() if self._may_mean_protected(path) else ""
        path = self._through_links(path)
        paths = [path, *(self.protected.globbed(path, self.cwd) if is_glob(path) else ())]
        for each in paths:
            part = self.protected.find(each, self.cwd, is_taken=whole)
            if part == ALL:
                return for_file(each)
            if whole and self.protected.holds(each, self.cwd, files=files):
                return for_folder(each)
            if whole and (reason := self.judge_environment(each)):
                return reason
            if part and self._changes_part(part, each, seen):
                return for_part(part, each, seen=False)
        return ""

    def _through_links(self, path: str) -> str:
        """Return ``path`` as it is where the links are made that this command line makes."""
        if not self.links:
            return path
        place = os.path.abspath(os.path.join(self.cwd, expanded(path)))
        target = next((link for link in self.links if place.startswith(f"{link}/")), "")
        return self.links[target] + place[len(target) :] if target else path

    def judge_environment(self, path: str) -> str:
        """Return why the environment at ``path``, or the one in it, is not taken away."""
        return reason_against_taking(path, self.cwd, self.protected, self.call)

    def _may_mean_protected(self, word: str) -> bool:
        """Whether what only running the command would tell about ``word`` may be a name that is in the text."""
        if self.protected.is_named_in(word, self.cwd):
            return True
        names = set(_NAMES.findall(word))
        if not _COMPUTED.search(word) and names.isdisjoint(self.computed) and names.isdisjoint(self._variables):
            return False
        return any(map(self._names_protected, self.texts))

    def _names_protected(self, text: str) -> bool:
        if text not in self._named:
            self._named[text] = self.protected.is_named_in("\n".join(plain_words(text)), self.cwd)
        return self._named[text]

    def _changes_part(self, part: str, path: str, seen: str) -> bool:
        try:
            has_part = bool(part_of(part, read_text(path, self.cwd))) or bool(seen and part_of(part, seen))
        except ValueError:
            has_part = True
        return has_part or mentions_part(part, self._text)


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
    is_inside = any(is_in(form, root) for form in forms_of(place, "") for root in roots)
    if is_gates and not is_inside:
        return for_environment(path)
    if not (is_gates and call.is_hosted) and not is_wired(place, call.project):
        return ""
    if not is_inside or not any(is_in(form, root) for form in forms_of(path, cwd) for root in roots):
        return for_environment(path)
    call.questions.append(for_renewal(path))
    return ""


def first(reasons: Iterable[str]) -> str:
    """Return the first of several reasons, an empty string if there is none."""
    return next((reason for reason in reasons if reason), "")
