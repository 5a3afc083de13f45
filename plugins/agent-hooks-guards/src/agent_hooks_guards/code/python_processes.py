"""What Python code starts: shells, programs, signals to processes, functions of the C library."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.unwrapping import quoted

from . import FILE
from .python_values import HOME, Value, constant, is_exact, is_text, items_of, labels_of, name, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_call import Call
    from .python_walk import Walk

_EXECUTING = (
    "execl execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp "
    "spawnvpe posix_spawn posix_spawnp".split()
)
# Programs that run what they read, by the language of it.
_READERS = {
    **dict.fromkeys("sh bash dash zsh ksh ash fish rbash".split(), "sh"),
    "python": "python",
    "node": "node",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
}
_FETCHING = frozenset("curl wget http https xh aria2c nc ncat netcat socat lynx fetch ssh telnet".split())
_DECODING = frozenset("base64 base32 xxd openssl gunzip zcat bunzip2 xzcat uudecode gpg".split())
_PRINTING = frozenset("cat tac head tail less more strings nl od bat type".split())


def shell(walk: Walk, value: Value, call: Call | None = None) -> None:
    """Note that a text is given to a shell."""
    text = text_of(value)
    before = "".join(f"export {key}={quoted(text_of(each))}\n" for key, each in _assignments(walk, call))
    folder = _folder(walk, call)
    if folder:
        before += f"cd {quoted(folder)}\n"
    data = Data(before + _shell_text(text), labels_of(value))
    if walk.hasty and text.rstrip().endswith("&"):
        walk.effect("fork", "")
    if walk.is_new(("shell", data.text, data.labels)):
        walk.found.shells.append(data)


def _shell_text(text: str) -> str:
    """``text`` with the home as a shell knows it."""
    if HOME not in text:
        return text
    first, *rest = text.split(HOME)
    made = first
    for part in rest:
        quotes = made.replace("\\'", "").replace('"$HOME"', "")
        is_quoted = quotes.count("'") % 2 == 1 and quotes.count('"') % 2 == 0
        made += ("'\"$HOME\"'" if is_quoted else "$HOME") + part
    return made


def _assignments(walk: Walk, call: Call | None) -> list[tuple[str, Value]]:
    made = dict(walk.environment)
    given = call.keywords.get("env") if call is not None else None
    if given is not None and given.kind == "dict":
        made.update((str(key), each) for key, each in given.it.items())
    return [
        (key, each) for key, each in made.items() if key.isidentifier() and (is_exact(each) or HOME in text_of(each))
    ]


def _folder(walk: Walk, call: Call | None) -> str:
    given = call.keywords.get("cwd") if call is not None else None
    if given is None or (given.kind == "constant" and given.it is None):
        return walk.cwd
    return walk.path(given)


def start(walk: Walk, words: list[Value], call: Call | None = None, stdin: Value | None = None) -> None:
    """Note that a program is started by its words."""
    if not words:
        return
    texts = [text_of(each).replace(HOME, "~") for each in words]
    base = texts[0].rpartition("/")[2]
    if stdin is not None:
        if stdin.kind == "socket":
            walk.effect("run", texts[0], labels=frozenset((NETWORK,)))
        elif _is_read(walk, base, texts, stdin):
            return
    before = [f"{key}={text_of(each)}".replace(HOME, "~") for key, each in _assignments(walk, call)]
    folder = _folder(walk, call)
    if folder:
        before = ["-C", folder.replace(HOME, "~"), *before]
    if before:
        before = ["env", *before]
    argv = [*before, *texts]
    labels = {at + len(before): found for at, each in enumerate(words) if (found := labels_of(each))}
    if not walk.is_new(("program", *argv, *labels.items(), stdin)):
        return
    at = len(walk.found.programs)
    walk.found.programs.append(argv)
    walk.found.origins.update(((at, word), found) for word, found in labels.items())
    if stdin is not None and stdin.kind not in ("socket", "file"):
        walk.found.inputs[at] = Data(text_of(stdin), labels_of(stdin))


def _is_read(walk: Walk, base: str, texts: list[str], stdin: Value) -> bool:
    """Note what a shell or an interpreter reads; False if the program reads no code."""
    language = _READERS.get(base.rstrip("0123456789."))
    if language is None or any(
        not each.startswith("-") or each[1:2] in ("c", "e", "m") for each in texts[1:] if each != "-"
    ):
        return False
    if stdin.kind == "constant" and not is_text(stdin):
        return False
    labels = labels_of(stdin)
    data = Data(_shell_text(text_of(stdin)), labels)
    if data.text == UNKNOWN and not labels:
        return False
    if walk.is_new(("input", language, data.text, labels)):
        if language == "sh":
            walk.found.shells.append(data)
        else:
            walk.found.codes.append((language, data))
    return True


def feed(walk: Walk, process: Value, stdin: Value) -> None:
    """Note what a running process is given to read."""
    words = process.it
    if (words and stdin.kind != "unknown") or labels_of(stdin):
        texts = [text_of(each) for each in words]
        if texts:
            _is_read(walk, texts[0].rpartition("/")[2], texts, stdin)


def output_labels(words: list[str]) -> frozenset[str]:
    """Return where what a program prints comes from."""
    found: set[str] = set()
    prints = False
    for at, word in enumerate(words):
        base = word.rpartition("/")[2]
        if base in _FETCHING:
            found.add(NETWORK)
        elif base in _DECODING:
            found.add(DECODED)
        elif base in ("env", "printenv") and len(words) == at + 1:
            found.add(ENVIRONMENT)
        elif prints and not word.startswith("-") and word not in ("|", "&&", ";"):
            found.add(FILE + word)
        prints = base in _PRINTING or (prints and word not in ("|", "&&", ";", "||"))
    return frozenset(found) if found else NO_LABELS


def split(text: str) -> list[Value]:
    """Return the words of a command line."""
    from shlex import shlex

    lexer = shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [constant(each) for each in lexer]
    except ValueError:
        return [constant(each) for each in text.split()]


def _words(value: Value) -> list[Value]:
    """Return the words of what is given as a program."""
    if value.kind in ("list", "tuple"):
        return list(value.it)
    if is_text(value):
        # Without a shell it is one name, except on Windows, where it is a command line.
        text = text_of(value)
        labels = labels_of(value)
        return [Value(each.kind, each.it, labels) for each in split(text)] if " " in text else [value]
    return [unknown(labels_of(value))]


def _subprocess(call: Call) -> Value:
    args = call.value(0, "args", "cmd", "command")
    is_shell = call.flag(8, "shell")
    stdin = call.given(3, "input", "stdin")
    if call.name.endswith(("getoutput", "getstatusoutput", "create_subprocess_shell")):
        is_shell = True
    if call.name.endswith("run_process") and is_text(args):
        is_shell = True
    if stdin is not None and stdin.kind == "constant" and (stdin.it is None or isinstance(stdin.it, int)):
        stdin = None
    words = _words(args)
    if is_shell is not False and args.kind in ("list", "tuple"):
        args, words = (words[0], words[:1]) if is_shell and words else (args, words)
    if is_shell and args.kind not in ("list", "tuple"):
        words = split(text_of(args))
        if stdin is not None and words:
            start(call.walk, words, call, stdin)
        else:
            shell(call.walk, args, call)
    else:
        executable = call.keywords.get("executable")
        if (executable is not None and words and executable.kind != "constant") or (executable and is_text(executable)):
            words = [executable, *words[1:]]
        start(call.walk, words, call, stdin)
    labels = output_labels([text_of(each) for each in words])
    if stdin is not None:
        labels |= labels_of(stdin)
    if call.name.endswith(("check_output", "getoutput", "getstatusoutput")):
        made = unknown(labels)
        return Value("tuple", [unknown(), made]) if call.name.endswith("statusoutput") else made
    return Value("process", words, labels)


def _system(call: Call) -> Value:
    value = call.value(0, "command", "cmd")
    shell(call.walk, value, call)
    words = split(text_of(value))
    return Value("process", words, output_labels([text_of(each) for each in words]))


def _exec(call: Call) -> Value:
    word = call.name.rpartition(".")[2]
    given = list(call.arguments)
    if word.startswith("spawn"):
        given = given[1:]
    kind = word.removeprefix("exec").removeprefix("spawn")
    if "e" in kind and len(given) > 1 and given[-1].kind in ("dict", "name"):
        given = given[:-1]
    if kind.startswith("l"):
        words = [given[0], *given[2:]] if given else []
    else:
        items = items_of(given[1]) if len(given) > 1 else None
        words = [*given[:1], *([unknown()] if items is None else items[1:])]
    start(call.walk, words, call)
    return Value("never") if word.startswith("exec") and not call.walk.running else unknown()


def _spawn(call: Call) -> Value:
    """Pseudo-terminals: ``pty.spawn``, pexpect."""
    value = call.value(0, "command", "argv")
    words = [*_words(value), *(call.items(1, "args") or [])]
    start(call.walk, words, call)
    return Value("process", words, output_labels([text_of(each) for each in words]))


def _async_exec(call: Call) -> Value:
    start(call.walk, call.arguments, call)
    return Value("process", call.arguments, output_labels([text_of(each) for each in call.arguments]))


def _startfile(call: Call) -> Value:
    start(call.walk, [call.value(0)], call)
    return unknown()


def _kill(call: Call) -> Value:
    process, signal = call.value(0, "pid"), call.value(1, "sig", "signal")
    if process.kind != "constant" or not isinstance(process.it, int) or (signal.kind == "constant" and signal.it == 0):
        return unknown()
    number = -process.it if call.name.endswith("killpg") else process.it
    start(call.walk, [constant("kill"), constant(f"-{text_of(signal)}"), constant(str(number))])
    return unknown()


def _fork(call: Call) -> Value:
    call.walk.forks = True
    if call.walk.endless:
        call.walk.effect("fork", "")
    return unknown()


def chmod(call: Call, path: Value, mode: Value) -> Value:
    """Note a change of a file's mode."""
    octal = f"{mode.it:o}" if mode.kind == "constant" and isinstance(mode.it, int) else UNKNOWN
    start(call.walk, [constant("chmod"), constant(octal), path])
    return unknown()


def _chmod(call: Call) -> Value:
    return chmod(call, call.value(0, "path"), call.value(1, "mode"))


def _chown(call: Call) -> Value:
    owner, group = call.text(1, "uid", "user"), call.text(2, "gid", "group")
    who = f"{'' if owner in ('-1', 'None') else owner}:{'' if group in ('-1', 'None') else group}".removesuffix(":")
    start(call.walk, [constant("chown"), constant(who), call.value(0, "path")])
    return unknown()


def _dup(call: Call) -> Value:
    if call.value(0).kind == "socket":
        call.walk.effect("run", "/bin/sh", labels=frozenset((NETWORK,)))
    return call.value(0)


def _library(call: Call) -> Value:
    """Load a native library: the C library, or code of the caller's own."""
    path = call.text(0, "name")
    if "/" in path and not path.startswith(("/lib", "/usr/lib", "/System/Library")):
        call.walk.effect("run", call.path(0, "name"))
    return name("libc")


def _native(call: Call) -> Value:
    """Make a function of an address: what stands there is not known."""
    if call.name == "ctypes.cast" and call.value(1).kind == "name" and call.value(1).it != "ctypes.function":
        return unknown(call.labels())
    if call.name == "ctypes.cast" and call.value(1).kind != "name":
        return unknown(call.labels())
    if call.value(0).kind in ("function", "partial", "method"):
        return unknown()
    return name(f"libc.{UNKNOWN}")


def _reboot(call: Call) -> Value:
    start(call.walk, [constant("reboot")])
    return unknown()


def _sh(call: Call) -> Value:
    """The module ``sh``: each name is a program."""
    program = call.name.removeprefix("sh.").replace("_", "-")
    if program in ("Command", "contrib.sudo"):
        return Value("partial", name("sh.start"), parts=([call.value(0)], {}))
    words = call.arguments if program == "start" else [constant(program), *call.arguments]
    start(call.walk, words, None, call.keywords.get("_in"))
    return Value("process", words, output_labels([text_of(each) for each in words]))


def sh(call: Call) -> Value | None:
    """Call something of the module ``sh``; None for what is no program."""
    return _sh(call) if call.name.count(".") == 1 else None


PROCESSES: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(
        "os.system libc.system invoke.run fabric.api.run fabric.api.local fabric.api.sudo ipython.system "
        "ipython.getoutput os.popen os.popen2 os.popen3 os.popen4 popen2.popen2 popen2.popen3 libc.popen "
        "libc.WinExec".split(),
        _system,
    ),
    **dict.fromkeys(
        "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen "
        "subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell anyio.run_process "
        "trio.run_process anyio.open_process trio.lowlevel.open_process gevent.subprocess.run psutil.Popen".split(),
        _subprocess,
    ),
    **dict.fromkeys(
        [f"{owner}.{word}" for owner in ("os", "libc") for word in _EXECUTING],
        _exec,
    ),
    **dict.fromkeys(
        "pty.spawn pexpect.spawn pexpect.run pexpect.spawnu pexpect.runu ptyprocess.PtyProcess.spawn".split(), _spawn
    ),
    "asyncio.create_subprocess_exec": _async_exec,
    "os.startfile": _startfile,
    "os.kill": _kill,
    "os.killpg": _kill,
    "libc.kill": _kill,
    **dict.fromkeys("os.fork os.forkpty pty.fork libc.fork libc.vfork".split(), _fork),
    "os.chmod": _chmod,
    "os.lchmod": _chmod,
    "libc.chmod": _chmod,
    **dict.fromkeys("os.chown os.lchown shutil.chown libc.chown".split(), _chown),
    "os.dup2": _dup,
    "os.dup": _dup,
    **dict.fromkeys(
        "ctypes.CDLL ctypes.PyDLL ctypes.WinDLL ctypes.OleDLL ctypes.cdll.LoadLibrary ctypes.windll.LoadLibrary "
        "ctypes.LibraryLoader cffi.dlopen".split(),
        _library,
    ),
    "ctypes.CFUNCTYPE": lambda call: name("ctypes.function"),  # noqa: ARG005 - what it is of does not matter
    "ctypes.PYFUNCTYPE": lambda call: name("ctypes.function"),  # noqa: ARG005 - what it is of does not matter
    "ctypes.WINFUNCTYPE": lambda call: name("ctypes.function"),  # noqa: ARG005 - what it is of does not matter
    "ctypes.function": _native,
    "ctypes.cast": _native,
    "cffi.FFI": lambda call: name("cffi"),  # noqa: ARG005 - what it is given is no code
    "libc.reboot": _reboot,
    "sh.start": _sh,
}
