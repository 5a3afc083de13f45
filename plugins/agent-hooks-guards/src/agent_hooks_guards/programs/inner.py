"""The command lines, programs and codes that a command runs besides itself.

They are declared, or found by the module that the declaration names.
"""

from __future__ import annotations

from itertools import islice

from agent_hooks.shell.patterns import Pattern
from agent_hooks.system.caching import lru_cache
from agent_hooks_guards.model.actions import Command, Inner
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.names import is_known
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, NOTHING, UNKNOWN, Data

from .effects import handlers, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from typing import Any

    from agent_hooks_guards.model.declarations import Entry
    from agent_hooks_guards.model.options import Options


_RUNNING = frozenset(("runs", "also", "settings"))
# `key=value`, or `key value` as ssh takes it.
_SETTING = Pattern(r"(?s)\s*([^\s=]+)[\s=]+(.*)")
_SHELLS = frozenset("bash zsh sh dash ksh mksh ash yash rbash".split())
# Variables whose value is a command line, or near enough, for one program or another.
_COMMAND_LINES = frozenset(
    "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS"
    " PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER PSQL_EDITOR AWS_PAGER GH_PAGER GH_EDITOR BAT_PAGER EDITOR VISUAL"
    " SUDO_EDITOR SUDO_ASKPASS KUBE_EDITOR KUBECTL_EXTERNAL_DIFF FCEDIT BROWSER SSH_ASKPASS RSYNC_RSH"
    " RSYNC_CONNECT_PROG SVN_SSH SVN_EDITOR HGEDITOR LESSOPEN LESSCLOSE LESSEDIT PROMPT_COMMAND RUSTC_WRAPPER"
    " RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC CMAKE_C_COMPILER_LAUNCHER"
    " CMAKE_CXX_COMPILER_LAUNCHER CC CXX LD MAKE TAPE_RSH TAR_RSH npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL"
    " npm_config_editor npm_config_git RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND BORG_RSH RCLONE_PASSWORD_COMMAND"
    " FZF_DEFAULT_COMMAND PERL5SHELL SHELL".split()
)
# Variables with code, or behind `@` a file of code.
_CODES = {"VIMINIT": "vim", "EXINIT": "vim", "PERL5DB": "perl", "LUA_INIT": "lua"}
# Variables with a file of code.
_FILES = {"BASH_ENV": "sh", "PYTHONSTARTUP": "python", "GIT_CONFIG_GLOBAL": "gitconfig"}
# Variables whose substitutions a shell runs before it shows them, or to find the file that they name.
_PROMPTS = ("PS0", "PS1", "PS4", "BASH_ENV", "ENV")
# Variables with options that are put before those on the command line.
_OPTIONS = {
    "TAR_OPTIONS": "tar",
    "MAKEFLAGS": "make",
    "LESS": "less",
    "MANOPT": "man",
    "PARALLEL": "parallel",
    "NODE_OPTIONS": "node",
    "PERL5OPT": "perl",
}
_NODE = frozenset("npm npx yarn pnpm tsx ts-node next jest vite eslint tsc webpack".split())
# These take the arguments behind an option as a program with its own.
_LISTED = frozenset(("argv", "command", "env", "package", "script"))
# All other words in front of a selector are languages.
_ARGUMENTS = _LISTED | {"sh"}
# Names of a package's scripts where a command line may stand: `concurrently npm:test`.
_SCRIPT_NAMES = ("npm:", "pnpm:", "yarn:", "bun:")
# Extensions of scripts that package runners take in the place of a program.
_SCRIPTS = {"py": "python", "pyw": "python", "js": "node", "mjs": "node", "cjs": "node", "ts": "node", "sh": "sh"}
# So many arguments of an input or a text are looked at; an unknown one stands for the rest.
MOST_WORDS = 256
# So many runs of the same program are looked at; one with an unknown argument stands for the rest.
MOST_RUNS = 16
_ADDRESSES = ("https://", "http://")
# A token of a text, and the quoted parts in it; quotes may be open at the end.
_TOKEN = Pattern(r"""(?s)(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\\?\Z)|\\.|[^\s'"])+""")
_QUOTED = Pattern(r"""(?s)'([^']*)'?|"((?:\\.|[^"\\])*)(?:"|\\?\Z)|\\(.)""")
_ESCAPED = Pattern(r"(?s)\\(.)")


def inner(command: Command) -> list[Inner]:
    """Return the programs and codes that ``command`` runs, in order; none for most programs. Never raises."""
    name = command.name
    found: list[Inner] = []
    if name not in declarations().acting:
        found = _shell_behind(command)
    else:
        options = command.options
        runners, running = _plan(name, options.subcommand)
        if (runners or running) and not options.is_help:
            for run in runners:
                found += run(command, options)
            found += declared(command, running[-1]) if running else []
    if command.assignments:
        found += _run_by_variables(command, name)
    return found


@lru_cache(maxsize=4096)
def _plan(name: str, subcommand: tuple[str, ...]) -> tuple[list[Any], list[Entry]]:
    """Return the functions and the declarations that tell the programs that a program runs."""
    functions, entries = handlers(name, subcommand, "inner")
    return functions, [entry for entry in entries if not _RUNNING.isdisjoint(entry)]


def _shell_behind(command: Command) -> list[Inner]:
    """Return a shell with a command line, ``sh -c line``, among the arguments of an unknown program."""
    argv = command.argv
    if command.name.startswith("git-"):
        return [texts([Data("git"), Data(command.name[4:]), *items(command, range(1, len(argv)))], "git")]
    for at in range(1, len(argv) - 2):
        option = argv[at + 1]
        if argv[at].rpartition("/")[2] in _SHELLS and option[:1] == "-" and option[-1:] == "c" and option[:2] != "--":
            return [] if is_known(command.name) else [texts(items(command, range(at, len(argv))), command.name)]
    return []


def declared(command: Command, entry: Entry) -> list[Inner]:
    """Return the commands and codes that ``command`` runs, as its declaration says."""
    options = command.options
    if "idle" in entry and options.is_in_force(entry["idle"]):
        return []
    label = " ".join((command.name, *options.subcommand))
    found: list[Inner] = []
    has_script = "pattern" in entry and options.has(entry["pattern"])  # then no operand is one
    for alternative in () if has_script else entry.get("runs", ()):
        found = _alternative(command, options, alternative, label)
        if found:
            break
    for each in entry.get("also", ()):
        found += _alternative(command, options, each, label)
    for names, keys in entry.get("settings", {}).items():
        from fnmatch import fnmatchcase

        host = command.argv[options.operands[0]] if options.operands else "host"
        for text, at in options.values(names):
            setting = _SETTING.match(text.replace("%h", host.rpartition("@")[2]))  # of ssh
            if setting and setting[2] != "none" and any(fnmatchcase(setting[1].lower(), key) for key in keys.split()):
                found += shell(part(command, setting[2].strip('{}"; '), at), label)
    for inner in found:
        _place(inner, command, options, entry)
    return found


def _place(inner: Inner, command: Command, options: Options, entry: Entry) -> None:
    """Note where and as whom ``inner`` runs."""
    if "on" in entry:
        inner.host = entry["on"]
    if "root" in entry:
        inner.root = True
        inner.hands_down = options.has("-E|--preserve-env") or (command.name == "su" and "-" not in command.argv)
    if "folder" in entry:
        inner.cwd = options.value(entry["folder"])


def _alternative(command: Command, options: Options, text: str, label: str) -> list[Inner]:
    language, _, selector = text.partition(" ")
    if language == "unknown":
        is_given = command.stdin is not None if selector == "input" else options.has(selector)
        return shell(Data(UNKNOWN), label) if is_given else []
    if language == "remote":
        found = shells(values(command, selector), label)
        for inner in found:
            inner.host = "remote"
        return found
    if selector == "input":
        return [Inner(language=language, label=label)] if command.stdin is not None else []
    if selector.startswith("file"):
        return _files(command, options, language, selector[5:], label)
    selected = _selected(command, options, language, selector)
    if language in _ARGUMENTS:
        return [inner for words in selected for inner in arguments(command, words, label, language)]
    label = f"{label} {selector.partition('|')[0]}" if selector[0] == "-" else label
    return [code(language, first, label, [each.text for each in rest]) for first, *rest in selected]


def _selected(command: Command, options: Options, language: str, selector: str) -> list[list[Data]]:
    """Return the arguments of each program, or each code with its arguments, that ``selector`` names."""
    argv, operands = command.argv, options.operands
    if selector[0] == "^":
        return [[data] for data in _attached(command, selector[1:])]
    if selector == "each":
        return [[argument(command, at)] for at in operands if not argv[at].startswith(_SCRIPT_NAMES)]
    if selector[0] == "-" and selector != "--" and (" " in selector or language not in _LISTED):
        names, _, rest = selector.partition(" ")
        given = values(command, names)
        if rest:  # a program, and its arguments
            return [[each, *items(command, _places(command, options, rest))] for each in given[-1:]]
        if language == "sh":
            return [[each] for each in given]
        return [[joined(given, "\n"), *items(command, operands)]] if given else []
    places = _places(command, options, selector)
    if language == "sh" and selector.isdigit():
        places = places[:1]
    return [items(command, places)] if places else []


def _attached(command: Command, prefix: str) -> list[Data]:
    """Return the rests of the arguments that start with ``prefix``; those of an address, ``EXEC:``, end at a comma."""
    argv = command.argv
    found = [(argv[at][len(prefix) :], at) for at in range(1, len(argv)) if argv[at].upper().startswith(prefix)]
    found = [(text.partition(",")[0] if prefix[-1] == ":" else text, at) for text, at in found]
    return [part(command, text.strip("'\""), at) for text, at in found]


def _files(command: Command, options: Options, language: str, names: str, label: str) -> list[Inner]:
    if names:
        return [file(language, path, label) for path, _ in options.values(names)]
    operands = [command.argv[at] for at in options.operands]
    return [file(language, operands[0], label, operands[1:])] if operands and operands[0] != "-" else []


def _places(command: Command, options: Options, selector: str) -> list[int]:
    """Return the positions of the arguments that ``selector`` names."""
    argv = command.argv
    if selector == "--":
        return list(range(argv.index("--") + 1, len(argv))) if "--" in argv else []
    if selector[:1] == "-":
        values = options.values(selector)
        return list(range(values[0][1], len(argv))) if values else []
    if selector[:1].isalpha():  # behind a word: `cmd.run`
        return list(range(argv.index(selector) + 1, len(argv))) if selector in argv else []
    return select(selector if selector == "*" else f"{selector.rstrip('+')}+", options.operands)


def arguments(command: Command, words: list[Data], label: str, language: str = "argv") -> list[Inner]:
    """Return the program whose arguments are ``words``, or the command line that they make.

    Options that stand before the program are passed over, but for ``-c``, behind which a shell's text is.
    """
    if language == "env":
        return with_variables(words, label)
    if language == "script":
        return _script(command, words, label)
    if language == "sh" and words[0].text[:1] != "-":
        return shell(joined(words), label)
    while words and (name := words[0].text)[:1] == "-":
        words = words[1:]
        if words and (name == "--command" or (name[-1] == "c" and name[:2] != "--")):
            return shell(words[0], label)
    if not words:
        return []
    if language == "sh" or (language == "command" and len(words) == 1):
        return shell(joined(words), label)
    if language == "package":
        return _script(command, words, label) or [_package(words, label)]
    return [texts(words, label)]


def _script(command: Command, words: list[Data], label: str) -> list[Inner]:
    """Return the script that a package runner is given in the place of a program."""
    first, *rest = [each.text for each in words]
    language = _SCRIPTS.get(first.rpartition(".")[2], "") if "." in first else ""
    if language:
        return [file(language, first, label, rest)]
    return [Inner(language="python", label=label)] if first == "-" and command.stdin is not None else []


def _package(words: list[Data], label: str) -> Inner:
    """Return the program of a package, whose name may have a version."""
    first, *rest = words
    at = first.text.rfind("@")
    if at > 0 and "/" not in first.text[at:]:
        first = Data(first.text[:at], first.labels)
    return texts([first, *rest], label)


def _run_by_variables(command: Command, name: str) -> list[Inner]:
    """Return the programs that the variables set for ``command``, which is called ``name``, make it run."""
    found: list[Inner] = []
    for variable, data in command.assignments.items():
        text = data.text
        if not text or text == "/dev/null":
            continue
        if variable in _COMMAND_LINES:
            found += shell(Data(text.lstrip("|-"), data.labels) if "LESS" in variable else data, variable)
        elif variable in _CODES:
            language = _CODES[variable]
            found.append(file(language, text[1:], variable) if text[0] == "@" else code(language, data, variable))
        elif variable in _FILES or (variable == "ENV" and name in _SHELLS):
            found.append(Inner(language=_FILES.get(variable, "sh"), path=text, label=variable))
        elif name == _OPTIONS.get(variable) or (variable == "NODE_OPTIONS" and name in _NODE):
            added = texts([Data(each, data.labels) for each in (_OPTIONS[variable], *split(text))], variable)
            added.stdin = NOTHING
            found.append(added)
        elif variable == "RUBYOPT":
            found += [file("ruby", each[2:], variable) for each in split(text) if each[:2] == "-r" and "/" in each]
        elif name == "git" and variable == "GIT_EXEC_PATH":
            found += shell(Data(UNKNOWN), variable)
        elif variable == "ZDOTDIR" and name == "zsh":
            found += [Inner(language="sh", path=f"{text}/{each}", label=variable) for each in (".zshenv", ".zshrc")]
        elif variable.startswith("BASH_FUNC_") and name in _SHELLS:
            found += shell(Data(f"f {text}\nf", data.labels), variable)
        if variable in _PROMPTS and name in _SHELLS and ("$(" in text or "`" in text):
            found += shell(Data(': "' + text.replace('"', '\\"') + '"', data.labels), variable)
    for each in found:
        each.hands_down = False  # or each of many variables would apply to the programs of all others
    return found


def argument(command: Command, at: int) -> Data:
    """Return the argument at a position, with its labels."""
    return Data(command.argv[at], command.labels.get(at, NO_LABELS))


def part(command: Command, text: str, at: int) -> Data:
    """Return a part of the argument at a position, with its labels."""
    return Data(text, command.labels.get(at, NO_LABELS))


def items(command: Command, places: Iterable[int]) -> list[Data]:
    """Return the arguments at some positions, with their labels."""
    return [argument(command, at) for at in places]


def values(command: Command, names: str) -> list[Data]:
    """Return the values of options, with their labels."""
    return [part(command, text, at) for text, at in command.options.values(names)]


def joined(parts: Iterable[Data], between: str = " ") -> Data:
    """Return the parts as one value: arguments joined by blanks, as ``eval`` and ``ssh`` do."""
    parts = list(parts)
    return Data(between.join([part.text for part in parts]), NO_LABELS.union(*(part.labels for part in parts)))


def shell(code: Data, label: str) -> list[Inner]:
    """Return a command line that a shell runs; none for an empty one."""
    return [Inner(language="sh", code=code, label=label)] if code.text.strip() else []


def code(language: str, text: Data, label: str, given: Iterable[str] = ()) -> Inner:
    """Return a text that an interpreter runs with the arguments ``given``."""
    return Inner(language=language, code=text, label=label, arguments=list(given))


def file(language: str, path: str, label: str, given: Iterable[str] = ()) -> Inner:
    """Return a script that an interpreter runs; one behind an address is unknown and comes from the network."""
    if path.startswith(_ADDRESSES):
        return code(language, Data(UNKNOWN, frozenset((NETWORK,))), label)
    return Inner(language=language, path=path, arguments=list(given), label=label)


def shells(codes: Iterable[Data], label: str) -> list[Inner]:
    """Return command lines, each for a shell."""
    return [each for code in codes for each in shell(code, label)]


def texts(data: Iterable[Data], label: str) -> Inner:
    """Return a program with its arguments."""
    words = list(data)
    labels = {at: word.labels for at, word in enumerate(words) if word.labels}
    return Inner(argv=[word.text for word in words], labels=labels, label=label)


def alias(program: str, data: Data, *, is_line: bool = False) -> list[Inner]:
    """Return the program of an alias: a command line, as it is or behind ``!``, or a subcommand of ``program``."""
    if is_line or data.text[:1] == "!":
        return shell(Data(data.text.removeprefix("!"), data.labels), f"{program} alias")
    own = split(data.text)
    return [texts([Data(text, data.labels) for text in (program, *own)], f"{program} alias")] if own else []


def with_variables(words: list[Data], label: str) -> list[Inner]:
    """Return the program of ``words``, in front of which variables may be set for it."""
    assignments: dict[str, Data] = {}
    while words and words[0].text.find("=") > 0 and words[0].text[0] != "-":
        name, _, value = words[0].text.partition("=")
        assignments[name] = Data(value, words[0].labels)
        words = words[1:]
    found = [texts(words, label)] if words else []
    for inner in found:
        inner.assignments = assignments
    return found


def split(text: str) -> list[str]:
    """Split a text with quotes and backslashes, as ``env -S`` and ``xargs`` do. Never raises."""
    tokens = list(islice(_TOKEN.finditer(text), MOST_WORDS + 1))
    words = [_QUOTED.sub(_unquote, match[0]) for match in tokens[:MOST_WORDS]]
    return [*words, UNKNOWN] if len(tokens) > MOST_WORDS else words


def _unquote(match: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", match[2]) if match[2] else match[1] or match[3] or ""


def quoted(text: str) -> str:
    """Quote a text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
