"""Questions about a command line: what it may run, whether it runs nothing else, and whether that can be told."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import NamedTuple

from . import programs, syntax
from .changes import changes_of
from .commands import CommandLine
from .effects import SCRIPT_ENDING, Programs
from .parser import parse
from .programs import command_line, name_of, starts, unwrapped
from .texts import CALLING, COMMAND_VARIABLE, PRINTERS, RUN_BY_GIT, lines_run_by, lines_that_may_run, without_marks
from .walk import literal, nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Self

    from .commands import Command
    from .effects import Invocation

ONE, MANY = syntax.UNKNOWN, "\ue001"  # a text that is not known: within one word, or of any number of words
_UNKNOWN = re.compile(f"[{ONE}{MANY}]+")
_PATTERN = re.compile(r"[*?]|\[[^\]]+\]")
# Options before a subcommand that take a value as the next word. Of these programs, every other option takes none.
_VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds",
    "docker": "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --profile "
    "--project-name --env-file --project-directory --ansi --parallel",
    "kubectl": "-n --namespace --context --cluster --kubeconfig -s --server --user --as --as-group --as-uid --token "
    "--request-timeout --cache-dir --certificate-authority --client-certificate --client-key --password --username "
    "--profile --profile-output --tls-server-name -v --v --vmodule",
    "helm": "-n --namespace --kube-context --kubeconfig --kube-token --kube-apiserver --registry-config "
    "--repository-config --repository-cache",
    "gh": "-R --repo --hostname",
    "npm": "--prefix -w --workspace -C --userconfig --registry --cache --loglevel",
    "aws": "--profile --region --output --endpoint-url --query --ca-bundle --color --cli-read-timeout",
    "gcloud": "--project --account --configuration --format --verbosity --billing-project --filter",
    "systemctl": "-H --host -M --machine -t --type -p --property -n --lines -o --output --root --kill-whom -s --signal",
}
_VALUED_OF = {name: frozenset(options.split()) for name, options in _VALUED.items()}
_VALUED_OF["podman"] = _VALUED_OF["docker"]
_SSH_VALUES = frozenset("-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w".split())
# They run their stdin, if they are told nothing else.
_RUN_STDIN = frozenset("at batch crontab ssh su script expect make gmake".split())
# They make other text of a text.
_RECODERS = frozenset("base64 base32 xxd rev tr openssl sed".split())
_PRINTING = PRINTERS | _RECODERS | {"cat", "tee"}
# They run their operands, or a text among them, in ways that only they know.
_CARRYING = (
    programs.CARRIERS
    | programs.TEXT_RUNNERS
    | programs.EDITORS
    | programs.SHELLS
    | {"trap", "eval", "make", "gmake", ""}
)
# They run a text in an option, and none of their operands.
_TAKING_TEXTS = programs.TARS | {"git", "man", "rsync", "zip"}


class ShellCommand(NamedTuple):
    """A simple command of a command line: ``git -C docs log --oneline main`` is the ``program`` git with the
    ``subcommand`` log, the ``options`` -C and --oneline, and the ``args`` docs and main.

    ``subcommand`` is the first argument, whatever the program makes of it; ``options`` are the words that start with a
    dash. ``is_certain``: nothing of it is only known when it runs, and it does run. Unknown text is shown as ``…``.
    """

    program: str
    subcommand: str
    options: tuple[str, ...]
    args: tuple[str, ...]
    is_certain: bool


class CommandText:
    """A command line, read once for all questions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._programs = _Programs(text)

    def commands(self) -> tuple[ShellCommand, ...]:
        """Return the simple commands in it, at any depth, in order."""
        return tuple(map(self._command, self._programs.found))

    def may_run(self, program: str, subcommand: Sequence[str], flags: Collection[str]) -> bool:
        """Whether it may run ``program`` with ``subcommand``, and one of ``flags`` if there are any."""
        wanted, read = [program, *subcommand], self._programs
        return (
            any(_may_be(words, at, wanted, flags) for words, at in read.started)
            or any(CALLING.search(code) and _names_in(code, wanted) for code in read.codes)
            or any(_may_name(text, program) for text in (*read.unread, *read.unread_guesses))
        )

    def runs_only(self, allowed: Sequence[Sequence[str]]) -> bool:
        """Whether each command in it is certain, and one of ``allowed``."""
        found = [*nodes(parse(self._text))]
        simple = [node for node in found if isinstance(node, syntax.Simple)]
        is_plain = bool(simple) and all(isinstance(node, _ALLOWED_NODES) for node in found)
        return is_plain and all(_is_one_of(node, allowed) for node in simple)

    def is_opaque(self) -> bool:
        """Whether it may run anything: an unknown program, a script, code, or text that cannot be read."""
        return bool(self._programs.unread) or any(map(_is_opaque, self._programs.found))

    def _command(self, found: Invocation) -> ShellCommand:
        words = [_UNKNOWN.sub("…", word) for word in found.words] or [""]
        valued = _VALUED_OF.get(found.name, frozenset())
        args = [word for word in words[1:] if not word.startswith("-")]
        before = [word for at, word in enumerate(words) if at and words[at - 1] in valued]
        first = next((word for word in args if word not in before), "")
        if first:
            args.remove(first)
        is_certain = found not in self._programs.guessed and not any(map(_UNKNOWN.search, found.words))
        options = tuple(word for word in words[1:] if word.startswith("-"))
        return ShellCommand(words[0].rpartition("/")[2], first, options, tuple(args), is_certain)


_ALLOWED_NODES = (syntax.Sequence, syntax.Item, syntax.Pipeline, syntax.Simple, syntax.Bare)


def _is_one_of(node: syntax.Simple, allowed: Sequence[Sequence[str]]) -> bool:
    if node.assignments or node.redirects:
        return False
    words = [*(node.plain or map(literal, node.words))]
    bare = [part.text for word in node.words for part in word if isinstance(part, syntax.Bare)]
    if None in words or any(_PATTERN.search(text) or text[:1] == "~" or "{" in text for text in bare):
        return False
    name, *operands = words
    changes = changes_of(name, operands)
    if changes.outputs or (name == "git" and changes.writes):  # `git diff --output=x`
        return False
    return any(words[: len(each)] == [*each] for each in allowed if each)


def _is_opaque(found: Invocation) -> bool:
    kind, _ = found.runs()
    is_path = "/" in found.program and not found.program.startswith(("/bin/", "/usr/"))
    is_script = is_path or SCRIPT_ENDING.fullmatch(found.program) is not None
    is_unknown = bool(found.words) and (found.name not in programs.KNOWN or _UNKNOWN.search(found.program) is not None)
    return bool(kind) or is_script or is_unknown or found.name in ("eval", "source", ".") or found.unseen_task() != ""


def _carries(found: Invocation) -> bool:
    """Whether a program may run its operands as a command."""
    if found.name == "git":
        return not RUN_BY_GIT.isdisjoint(found.words)
    if found.name == "ssh":
        return False  # its command is read by itself
    return not found.unseen_task() and (found.name in _CARRYING or found.name not in programs.KNOWN)


def _may_name(text: str, program: str) -> bool:
    """Whether a text that cannot be read may name ``program``."""
    return re.search(r"[$`*?\[]", text) is not None or _names_in(re.sub(r"[\\'\"]", "", text), [program])


def _may_be(words: Sequence[str], at: int, wanted: Sequence[str], flags: Collection[str]) -> bool:
    """Whether ``words`` may, from ``at`` on, call the program and the subcommands ``wanted`` with one of ``flags``."""
    program, *names = wanted
    name = words[at].rpartition("/")[2].removesuffix(".exe")
    if name.startswith(program) and not name[len(program) :].strip("0123456789."):  # `python3.11`
        name = program
    if names and _fits(name, f"{program}-{names[0]}") and not _UNKNOWN.search(name):
        names = names[1:]
    elif not _fits(name, program):
        return False
    if MANY in name:
        return True
    args = words[at + 1 :]
    if program == "git" and _names_in(" ".join(args).partition("alias.")[2].replace("=", " "), names[:1]):
        return True
    if not _subcommand_fits(program, args, names):
        return False
    return not flags or any(_flag_fits(word, flag) for word in args for flag in flags)


def _fits(word: str, name: str) -> bool:
    """Whether ``word`` may turn out to be ``name``."""
    if word == name or not _UNKNOWN.search(word):
        return word == name or word.casefold() == name
    return re.fullmatch(".*".join(map(re.escape, _UNKNOWN.split(word))), name) is not None


def _subcommand_fits(program: str, args: Sequence[str], names: Sequence[str]) -> bool:
    """Whether ``names`` may be the subcommands in ``args``, behind options."""
    valued = _VALUED_OF.get(program)
    places = {0}  # the indexes at which the next subcommand, or an option before it, may be
    for name in names:
        following: set[int] = set()
        waiting, seen = sorted(places), {*places}
        for at in waiting:  # grows as it goes
            if at >= len(args):
                continue
            word = args[at]
            if MANY in word or word[:1] == ONE:
                return True
            if word.startswith(("-", "+")) and word != "-":  # `cargo +nightly publish`
                takes = [2] if valued and word in valued else [1] if valued is not None or "=" in word else [1, 2]
                new = {at + step for step in takes} - seen
                waiting += sorted(new)
                seen |= new
            elif _fits(word, name):
                following.add(at + 1)
        if not following:
            return False
        places = following
    return True


def _flag_fits(word: str, flag: str) -> bool:
    """Whether ``word`` may be ``flag``: with a value, abbreviated, or among other short options."""
    if _UNKNOWN.search(word):
        return _fits(word, flag) or MANY in word or word[:1] == ONE
    option = word.partition("=")[0]
    if flag.startswith("--"):
        return len(option) > 2 and flag.startswith(option)
    if len(flag) == 2 and flag[0] == "-":
        return word[:1] == "-" and word[:2] != "--" and flag[1] in word[1:]
    return option == flag


def _names_in(code: str, names: Sequence[str]) -> bool:
    """Whether the words ``names`` follow each other in ``code``."""
    between = r"""[\s'",\[\]()=!]+(?:-{1,2}[\w-]+[\s'",=]+)*"""
    return re.search(rf"(?<![\w-]){between.join(map(re.escape, names))}(?![\w-])", code) is not None


class _Line(CommandLine):
    """A command line of which every word is either known or marked as unknown."""

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        text = super()._parameter(part, command)
        if part.name in self.variables and syntax.UNKNOWN not in text:
            return text
        return ONE if part.quoted and part.name != "@" and part.index is None else MANY

    def _substituted(self, part: syntax.Substitution | syntax.ProcessSubstitution) -> str:
        text = super()._substituted(part)
        is_one = isinstance(part, syntax.ProcessSubstitution) or part.quoted
        return text if syntax.UNKNOWN not in text else ONE if is_one else MANY

    def _words(self, word: syntax.Word, command: Command) -> list[str]:
        is_pattern = self.has_pattern(word)
        is_split = any(isinstance(part, syntax.Parameter) and not part.quoted for part in word)
        words = [part for each in super()._words(word, command) for part in (each.split() if is_split else [each])]
        return [_PATTERN.sub(ONE, each) for each in words] if is_pattern else words


class _Values(dict[str, str]):
    """Variables: one that gets a second value may have either, so it is unknown."""

    def __setitem__(self, name: str, value: str) -> None:
        is_loop = value[:1] == "{" and "," in value
        super().__setitem__(name, syntax.UNKNOWN if is_loop or self.get(name, value) != value else value)

    def __ior__(self, other: dict[str, str]) -> Self:  # type: ignore[override,misc]
        for name, value in other.items():
            self[name] = value
        return self


class _Programs(Programs):
    """The programs of a command line, with texts that another program may run as a command line.

    ``started``: what may start, each from the program on: wrappers, shells with a text, operands of a program that may
    run them. ``codes``: what interpreters run. ``guessed``: the programs that only may run, ``unread_guesses``: the
    texts that only may be command lines and cannot be read.
    """

    line = _Line

    def __init__(self, text: str) -> None:
        super().__init__({})
        self.values = _Values({"IFS": " "})
        self.started: list[tuple[Sequence[str], int]] = []
        self.codes: list[str] = []
        self.guessed: set[Invocation] = set()
        self.unread_guesses: list[str] = []
        self._printed: list[str] = []
        self._files: set[str] = set()
        self._runs_printed = False
        self._is_guess = False
        self.parse(text)
        for name, _, value in [each.partition("=") for each in self.others]:
            if COMMAND_VARIABLE.fullmatch(name):
                self._guess(value, 1)
        named = (path for each in self.found for path in each.written_files())
        if self._runs_printed or not self._files.isdisjoint(map(os.path.normpath, (*self.writes, *named))):
            self.codes += self._printed
            for printed in self._printed:
                self._guess(without_marks(printed), 1)
            if self._printed and any(each.name in _RECODERS for each in self.found):
                self.started.append(([MANY], 0))

    def add(self, words: Sequence[str], documents: Sequence[str] = (), depth: int = 0) -> None:
        """Add a program with its arguments, and the texts among them that it may run."""
        first = len(self.found)
        gatherer = next((name for name in map(name_of, words) if name in programs.GATHERERS), "")
        if gatherer:
            marks = {"{}", *(word[2:] or after for word, after in pairwise((*words, "")) if word[:2] == "-I")} - {""}
            given = re.compile("|".join(map(re.escape, sorted(marks, key=len, reverse=True))) + "|^:::.*")
            words = [word if word[:2] == "-I" else given.sub(MANY, word) for word in words]
            words = [*words, MANY] if gatherer in ("xargs", "parallel") else words
        chain = starts(words)
        self.started += [(words, at) for at in chain if at < len(words)]
        self.unread += [" ".join(words)] if len(chain) == programs.MAX_STARTS else []
        read = command_line(words) or command_line(unwrapped(words)) or ""
        self._runs_printed |= _UNKNOWN.search(read) is not None
        super().add(words, documents, depth)
        for text in lines_run_by(words):
            if text != read:
                self._guess(text, depth + 1)
        for found in self.found[first:][:1]:
            if self._is_guess:
                self.guessed.add(found)
            self._look_into(found, documents, depth)

    def _look_into(self, found: Invocation, documents: Sequence[str], depth: int) -> None:
        kind, script = found.runs()
        files = (script, found.program if "/" in found.program else "")
        self._files.update(map(os.path.normpath, filter(None, files)))
        takes_stdin = kind == "stdin" or found.name in _RUN_STDIN or script == "/dev/stdin"
        self._runs_printed |= (takes_stdin and not documents) or _UNKNOWN.search(script) is not None
        if kind == "code" or found.name in programs.AWKS:
            self.codes.append("\n".join(found.words[1:]))
        elif kind == "stdin":
            self.codes += documents
        elif kind == "module":
            rest = found.words[found.words.index(script) + 1 :] if script in found.words else [MANY]
            self.started.append(([script, *rest], 0))
        if found.name in _PRINTING:
            texts = [" ".join(word for word in found.words[1:] if not word.startswith("-")), *documents]
            self._printed += [re.sub(r"\\[n0]", "\n", text) for text in texts]
        if found.name == "ssh":
            self.parse(" ".join(_behind_host(found.words)), depth + 1)
        if _carries(found):
            self._runs_printed |= any(name_of(word) in programs.SHELLS for word in found.words[1:])
            self.started += [(found.words, at) for at in range(1, len(found.words))]
        given = [*documents] if found.name in _CARRYING or takes_stdin else []
        if _carries(found) or found.name in _TAKING_TEXTS:
            given += lines_that_may_run(found.name, found.words[1:])
        for text in given:
            self._guess(without_marks(text), depth + 1)

    def _guess(self, text: str, depth: int) -> None:
        before, self._is_guess = self._is_guess, True
        unread, self.unread = self.unread, []
        self.parse(text, depth)
        self.unread_guesses += self.unread
        self._is_guess, self.unread = before, unread


def _behind_host(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of the command that ``ssh`` gives to the other machine."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _SSH_VALUES else 1
    yield from words[at + 1 :]
