"""What runs a program as another user, in other surroundings, in a terminal or under a debugger."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .unwrapping import (
    is_assignment,
    joined,
    operands_from,
    part,
    shell,
    split,
    texts,
    values_as_shell,
    word,
    words_from,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def _program(command: Command, places: list[int], label: str) -> list[Inner]:
    """The words at ``places``, assignments first."""
    assignments: dict[str, Data] = {}
    while places and is_assignment(command.argv[places[0]]):
        name, _, value = command.argv[places[0]].partition("=")
        assignments[name] = part(command, value, places[0])
        places = places[1:]
    return [Inner(words=list(places), assignments=assignments, label=label)] if places else []


def sudo(command: Command, options: Options) -> list[Inner]:
    """``sudo words``; ``sudo -s`` and ``-i`` without any are a shell that reads its input."""
    if options.has("-l|--list|-v|--validate|-e|--edit"):
        return []
    found = _program(command, options.operands, "sudo")
    if not found and options.has("-s|-i|--shell|--login") and command.stdin is not None:
        found = [Inner(language="sh", label="sudo")]
    for each in found:
        each.root = True
        each.cwd = options.value("-D|--chdir")
        each.hands_down = options.has("-E|--preserve-env")
    return found


def as_user(command: Command, options: Options) -> list[Inner]:
    """``doas words``, ``pkexec words``, ``run0 words``."""
    found = _program(command, options.operands, command.name)
    if not found and command.stdin is not None and (options.has("-s") or command.name == "run0"):
        found = [Inner(language="sh", label=command.name)]
    for each in found:
        each.root = True
        each.hands_down = False
    return found


def user_first(command: Command, options: Options) -> list[Inner]:
    """``gosu user words``."""
    found = operands_from(command, options, 1, command.name)
    for each in found:
        each.root = True
    return found


def su(command: Command, options: Options) -> list[Inner]:
    """``su user -c text``; ``runuser -u user words``; what stands behind the user is the shell's."""
    label = command.name
    argv = command.argv
    found = values_as_shell(command, options, "-c|--command|--session-command", label)
    places = [at for at in options.operands if argv[at] != "-"]
    if not found and options.has("-u|--user") and label == "runuser":
        found = [Inner(words=places, label=label)] if places else []
    elif not found and len(places) > 1:
        rest = places[1:]
        if argv[rest[0]] == "-c" and len(rest) > 1:
            found = shell(word(command, rest[1]), label)
        else:
            words = [argv[at] for at in rest]
            found = [Inner(language="sh", path=words[0], arguments=words[1:], label=label)]
    elif not found and command.stdin is not None:
        found = [Inner(language="sh", label=label)]
    for each in found:
        each.root = True
        each.hands_down = "-" not in argv and not options.has("-l|--login")
    return found


def capabilities(command: Command, _options: Options) -> list[Inner]:
    """``capsh options -- words``, which are given to a shell."""
    argv = command.argv
    if "--" not in argv:
        return []
    return [texts([Data("bash"), *(word(command, at) for at in range(argv.index("--") + 1, len(argv)))], command.name)]


def group(command: Command, options: Options) -> list[Inner]:
    """``sg group -c text``, ``sg group words``; ``sg run -p pattern`` is ast-grep under the same name."""
    if command.argv[1:2] in (["run"], ["scan"]) and any(
        each in ("-p", "--pattern", "-r", "--rule", "-i", "--inline-rules") for each in command.argv[2:]
    ):
        return []
    found = values_as_shell(command, options, "-c", command.name)
    if found:
        return found
    found = shell(joined(command, options.operands[1:]), command.name)
    if not found and command.stdin is not None:
        found = [Inner(language="sh", label=command.name)]
    return found


def env(command: Command, _options: Options) -> list[Inner]:
    """``env options NAME=value words``, with more words in the text of ``-S``."""
    items = [(word(command, at), at) for at in range(1, len(command.argv))]
    assignments: dict[str, Data] = {}
    clears = False
    cwd: str | None = None
    split_up = 0
    while items:
        data, _ = items[0]
        text = data.text
        if text == "--":
            items = items[1:]
            break
        if text == "-" or (text == "-i" and len(text) == 2):
            clears = True
            items = items[1:]
            continue
        if text[:2] == "--":
            name, equals, value = text.partition("=")
            full = _env_option(name)
            if full == "--ignore-environment":
                clears = True
            if full in {"--split-string", "--chdir", "--unset", "--argv0"}:
                if not equals:
                    items = items[1:]
                    value = items[0][0].text if items else ""
                    data = items[0][0] if items else data
                if full == "--split-string" and split_up < 8:
                    split_up += 1
                    items = [(Data(each, data.labels), -1) for each in _split(value)] + items[1:]
                    continue
                if full == "--chdir":
                    cwd = value
                elif full == "--unset":
                    assignments[value] = NOTHING
            items = items[1:]
            continue
        if text[:1] == "-":
            items, clears_too, folder, was_split = _env_letters(items, data, assignments)
            clears = clears or clears_too
            cwd = folder if folder is not None else cwd
            split_up += was_split
            if split_up > 8:
                break
            continue
        if is_assignment(text):
            name, _, value = text.partition("=")
            assignments[name] = Data(value, data.labels)
            items = items[1:]
            continue
        break
    while items and is_assignment(items[0][0].text):
        name, _, value = items[0][0].text.partition("=")
        assignments[name] = Data(value, items[0][0].labels)
        items = items[1:]
    if not items:
        return []
    if all(at > 0 for _, at in items):
        found = Inner(words=[at for _, at in items], label="env")
    else:
        found = texts([data for data, _ in items], "env")
    found.assignments = assignments
    found.clears_environment = clears
    found.cwd = cwd
    return [found]


_ENV_OPTIONS = ("--ignore-environment", "--ignore-signal", "--split-string", "--chdir", "--unset", "--null", "--argv0",
                "--debug", "--block-signal", "--default-signal", "--list-signal-handling")  # fmt: skip


def _env_option(name: str) -> str:
    fitting = [option for option in _ENV_OPTIONS if option.startswith(name)]
    return name if name in fitting or not fitting else fitting[0]


def _env_letters(
    items: list[tuple[Data, int]], data: Data, assignments: dict[str, Data]
) -> tuple[list[tuple[Data, int]], bool, str | None, int]:
    """One bundle of ``env``: the words behind it, whether it clears, the folder, whether it was split."""
    text = data.text
    clears = False
    for place, letter in enumerate(text[1:], 1):
        if letter == "i":
            clears = True
        elif letter in "SuCPaUL":
            value = text[place + 1 :]
            rest = items[1:]
            if not value and rest:
                data, _ = rest[0]
                value = data.text
                rest = rest[1:]
            if letter == "S":
                return [(Data(each, data.labels), -1) for each in _split(value)] + rest, clears, None, 1
            if letter == "u":
                assignments[value] = NOTHING
            return rest, clears, value if letter == "C" else None, 0
    return items[1:], clears, None, 0


def _split(text: str) -> list[str]:
    """The words of ``env -S``, which has escapes and variables of its own."""
    text = text.replace("\\_", " ").partition("\\c")[0]
    words = [_without_variables(each) for each in split(text)]
    for at, each in enumerate(words):
        if each[:1] == "#":
            return words[:at]
    return words


def _without_variables(text: str) -> str:
    made = []
    while "${" in text:
        before, _, rest = text.partition("${")
        _, closed, rest = rest.partition("}")
        made.append(before + UNKNOWN)
        text = rest if closed else ""
    return "".join(made) + text


def chroot(command: Command, options: Options) -> list[Inner]:
    """``chroot folder words``."""
    found = operands_from(command, options, 1, "chroot")
    if not found and options.operands and command.stdin is not None:
        found = [Inner(language="sh", label="chroot")]
    return found


def namespaces(command: Command, options: Options) -> list[Inner]:
    """``nsenter words``, ``unshare words``; without any, a shell. The first process's namespaces are the machine's."""
    found = operands_from(command, options, 0, command.name)
    if not found and command.stdin is not None:
        found = [Inner(language="sh", label=command.name)]
    if command.name == "nsenter" and (options.value("-t|--target") == "1" or options.has("-a|--all")):
        for each in found:
            each.host = ""
            each.root = True
    return found


_TWO_VALUES = frozenset(
    "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --bind-fd --ro-bind-fd --symlink"
    " --setenv --file --bind-data --ro-bind-data --chmod".split()
)
_NO_VALUES = frozenset(
    "--unshare-all --share-net --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net"
    " --unshare-uts --unshare-cgroup --unshare-cgroup-try --die-with-parent --new-session --as-pid-1 --clearenv"
    " --disable-userns --assert-userns-disabled --level-prefix".split()
)


def bwrap(command: Command, _options: Options) -> list[Inner]:
    """``bwrap options words``: an option has none, one or two values."""
    argv = command.argv
    at = 1
    while at < len(argv) and argv[at][:1] == "-":
        name = argv[at]
        if name == "--":
            at += 1
            break
        at += 3 if name in _TWO_VALUES else 4 if name == "--overlay" else 1 if name in _NO_VALUES or "=" in name else 2
    return words_from(command, at, "bwrap")


def systemd_run(command: Command, options: Options) -> list[Inner]:
    """``systemd-run words``; with ``--shell`` it is one."""
    found = _program(command, options.operands, "systemd-run")
    if not found and options.has("-S|--shell") and command.stdin is not None:
        found = [Inner(language="sh", label="systemd-run")]
    for each in found:
        if not options.has("--user"):
            each.root = True
        if options.has("-H|--host"):
            each.host = "remote"
        elif options.has("-M|--machine"):
            each.host = "container"
    return found


def scheduling(command: Command, options: Options) -> list[Inner]:
    """``chrt priority words``, ``taskset mask words``; with ``-p`` it is about a process that runs."""
    if options.has("-p|--pid"):
        return []
    has_first = not (command.name == "taskset" and options.has("-c|--cpu-list") and not options.operands)
    return operands_from(command, options, 1 if has_first else 0, command.name)


_ARCHITECTURES = frozenset(
    "linux32 linux64 uname26 i386 i486 i586 i686 athlon x86_64 amd64 ppc ppc32 ppc64 ppcle ppc64le s390 s390x sparc"
    " sparc32 sparc64 mips mips32 mips64 ia64 alpha parisc arm armv7l armv8l aarch64 riscv32 riscv64"
    " loongarch64".split()
)


def architecture(command: Command, options: Options) -> list[Inner]:
    """``setarch x86_64 options words``; other names of it are the architecture."""
    places = options.operands
    if command.name == "setarch" and places and command.argv[places[0]] in _ARCHITECTURES:
        places = places[1:]
    while places and command.argv[places[0]][:1] == "-":
        places = places[1:]
    return [Inner(words=list(places), label=command.name)] if places else []


def loader(command: Command, options: Options) -> list[Inner]:
    """``ld-linux.so.2 words``: the program to load."""
    return [] if options.has("--list|--verify") else operands_from(command, options, 0, "ld.so")


def start_stop_daemon(command: Command, options: Options) -> list[Inner]:
    """``start-stop-daemon --start --exec program -- arguments``."""
    programs = options.values("-x|--exec|-a|--startas")
    if not programs or not options.has("-S|--start|-b|--background"):
        return []
    text, at = programs[-1]
    return [texts([part(command, text, at), *(word(command, each) for each in options.operands)], "start-stop-daemon")]


_PROFILER_VALUED = frozenset(
    "-e --event -o --output -F --freq -c --count -r --repeat -I -C --cpu -t -s -d --delay --duration -w -f --call-graph"
    " -m -x -u -D -p".split()
)


def profiler(command: Command, _options: Options) -> list[Inner]:
    """``perf stat words``, ``rr record words``: options of theirs stand between."""
    argv = command.argv
    at = 2
    if len(argv) < 3 or argv[1] not in {
        "stat",
        "record",
        "trace",
        "profile",
        "launch",
        "mem",
        "c2c",
        "sched",
        "kmem",
        "lock",
    }:
        return []
    while at < len(argv) and argv[at][:1] == "-":
        if argv[at] == "--":
            at += 1
            break
        at += 2 if argv[at] in _PROFILER_VALUED else 1
    return words_from(command, at, command.name)


def hyperfine(command: Command, options: Options) -> list[Inner]:
    """Each operand is a command line, and what prepares and cleans up."""
    found = values_as_shell(command, options, "-p|--prepare|-c|--cleanup|-s|--setup|--conclude", "hyperfine")
    for at in options.operands:
        found += shell(word(command, at), "hyperfine")
    return found


def gdb(command: Command, options: Options) -> list[Inner]:
    """``gdb -ex 'shell text'``, and the program that is debugged."""
    found: list[Inner] = []
    for text, at in options.values("-ex|-iex|-eval-command|-init-eval-command"):
        found += _debugger_command(part(command, text, at), command.name)
    for path, _ in options.values("-x|-command|-ix|-init-command"):
        found.append(Inner(language="python" if path.endswith(".py") else "gdb", path=path, label="gdb"))
    argv = command.argv
    for at, text in enumerate(argv):
        if text in {"-args", "--args"}:
            found += words_from(command, at + 1, "gdb")
            break
    if not found and command.stdin is not None:
        for line in command.stdin.text.splitlines():
            found += _debugger_command(Data(line, command.stdin.labels), "gdb")
    return found


def lldb(command: Command, options: Options) -> list[Inner]:
    """``lldb -o 'platform shell text'``, and the program that is debugged."""
    found: list[Inner] = []
    for text, at in options.values("-o|-O|-k|--one-line|--one-line-before-file|--one-line-on-crash"):
        found += _debugger_command(part(command, text, at), "lldb")
    if options.ended:
        found += operands_from(command, options, 0, "lldb")
    return found


_DEBUGGER_SHELLS = ("shell ", "!", "make ", "platform shell ", "pipe ", "| ")
_DEBUGGER_PYTHON = ("python ", "python-interactive ", "py ", "pi ", "script ")


def _debugger_command(data: Data, label: str) -> list[Inner]:
    text = data.text.strip()
    for start in _DEBUGGER_SHELLS:
        if text.startswith(start):
            rest = text[len(start) :]
            if start in {"pipe ", "| "}:
                rest = rest.partition("|")[2]
            if start == "make ":
                rest = text
            return shell(Data(rest.removeprefix("-h ").removeprefix("-- "), data.labels), label)
    for start in _DEBUGGER_PYTHON:
        if text.startswith(start):
            return [Inner(language="python", code=Data(text[len(start) :], data.labels), label=label)]
    for call in ("call ", "print ", "p ", "compile code ", "expr ", "expression "):
        if text.startswith(call) and "system" in text:
            inside = text.partition("system")[2].partition('"')[2].rpartition('"')[0]
            return shell(Data(inside or UNKNOWN, data.labels), label)
    if text.startswith("source "):
        return [Inner(language="gdb", path=text[7:].strip(), label=label)]
    return []


HANDLERS: dict[str, Handler] = {
    "sudo": sudo,
    "doas": as_user,
    "pkexec": as_user,
    "run0": as_user,
    "gosu": user_first,
    "su-exec": user_first,
    "su": su,
    "runuser": su,
    "sg": group,
    "newgrp": group,
    "capsh": capabilities,
    "env": env,
    "chroot": chroot,
    "nsenter": namespaces,
    "unshare": namespaces,
    "bwrap": bwrap,
    "systemd-run": systemd_run,
    "chrt": scheduling,
    "taskset": scheduling,
    **dict.fromkeys("setarch linux64 linux32 i386 x86_64 uname26 arch".split(), architecture),
    "ld.so": loader,
    "start-stop-daemon": start_stop_daemon,
    "perf": profiler,
    "rr": profiler,
    "nsys": profiler,
    "hyperfine": hyperfine,
    "gdb": gdb,
    "lldb": lldb,
}
