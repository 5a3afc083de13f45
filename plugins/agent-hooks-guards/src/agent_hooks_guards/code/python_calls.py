"""Calls in Python code, by the entries of python.toml: processes, code, output; items of modules."""

from __future__ import annotations

import builtins
import re
import shlex
from importlib import import_module
from pathlib import PurePosixPath

from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data

from . import FILE
from .python_effects import Effects, keep, variable_of
from .python_state import TABLE, aliased
from .python_values import Value, computed, is_exact, is_text, join_paths, labels_of, native, text_of, truth, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_walk import Walk

# Attributes through which any module can be reached.
_ANY_MODULE = frozenset(
    "__globals__ __builtins__ __subclasses__ f_globals f_builtins gi_frame modules cdll windll".split()
)
_FETCHING = frozenset("curl wget http https xh aria2c nc ncat netcat socat lynx fetch ssh telnet".split())
_LONGEST_LINE = 8192
_PIPE = -1  # subprocess.PIPE


class Call(Effects):
    """A call of any kind of python.toml."""

    def run(self) -> Value:
        """Call a function of a module, or a method of an object by its type; return its result."""
        walk, name = self.walk, self.name
        if (kind := TABLE.calls.get(name)) is not None:
            if (
                kind in ("shell", "program", "words", "exec")
                and not {"stdout", "capture_output"} & self.keywords.keys()
            ):
                walk.may_print()
            result: Value = SIMPLE[kind](self) if kind in SIMPLE else getattr(self, f"_{kind}")()
            return result
        owner, _, word = name.rpartition(".")
        first = name.partition(".")[0]
        if owner and word in ("__getattribute__", "__getattr__", "get", "__getitem__", "pop") and self.arguments:
            return item_of_name(walk, owner, self.arguments[-1])
        if first == UNKNOWN and word in TABLE.tails:
            return Call(walk, TABLE.tails[word], self.arguments, self.keywords).run()
        if UNKNOWN in name and (first in TABLE.risky or first == UNKNOWN):
            if self.arguments or first != UNKNOWN:
                walk.doubt("something of a module is called whose name is not known")
            return Value(UNKNOWN, kind="name")
        if owner == "sh":
            return self.start([Value(word.replace("_", "-")), *self.arguments])
        if owner in ("str", "bytes", "list", "dict", "pathlib.Path") and self.arguments:
            return walk.call(Value(word, kind="method", owner=self.arguments[0]), self.arguments[1:], self.keywords)
        if first == "pprint" or any(each.type == "name" and each.it.startswith("sys.std") for each in self.arguments):
            walk.may_print()
        else:
            walk.note_import(name)
        walk.pass_on(self.arguments, self.keywords)
        return Value(UNKNOWN, self.labels())

    def run_method(self, owner: Value) -> Value:
        """Call a method of an object; return its result."""
        name = f"{owner.type}.{self.name}"
        if name in TABLE.calls:
            return Call(self.walk, name, [owner, *self.arguments], self.keywords).run()
        if self.name in TABLE.methods:
            return Call(self.walk, TABLE.methods[self.name], self.arguments, self.keywords).run()
        if owner.type in ("", "method"):
            self.walk.may_print()
        self.walk.pass_on(self.arguments, self.keywords)
        # A path that is computed from a path: `with_suffix`, `relative_to`.
        return Value(UNKNOWN, labels_of(owner) | self.labels(), "path" if owner.type == "path" else "")

    def _shell(self) -> Value:
        value, folder = self.value(0, "command", "cmd", "args"), self._folder()
        lines = [f"export {key}={shlex.quote(text_of(each))}" for key, each in self.walk.environment.items()]
        lines += [f"cd {shlex.quote(folder)}"] if folder else []
        data = Data("\n".join([*lines, text_of(value) if is_text(value) else UNKNOWN]), labels_of(value))
        if self.walk.is_new(("shell", data.text, data.labels)):
            self.walk.found.shells.append(data)
        return _process([Value(each) for each in text_of(value).split()])

    def _folder(self) -> str:
        """Return the folder that a process runs in."""
        folder = self.keywords.get("cwd")
        return self.walk.cwd if folder is None or folder.it is None else self.walk.path(folder)

    def start(self, argv: list[Value], stdin: Value | None = None) -> Value:
        """Record a program that is started without a shell; ``stdin``: its standard input."""
        found, folder, given = self.walk.found, self._folder(), None
        words = [*map(Value, ["env", "-C", folder] if folder else []), *argv]
        texts = list(map(text_of, words))
        origins = {at: labels for at, each in enumerate(words) if (labels := labels_of(each))}
        if stdin is not None and stdin.type == "connection":
            self.walk.effect("run", texts[0], labels=frozenset((NETWORK,)))
        elif stdin is not None and (is_text(stdin) or stdin.labels or stdin.it == _PIPE):
            given = Data(text_of(stdin) if is_text(stdin) else UNKNOWN, labels_of(stdin))
        if words and self.walk.is_new(("program", *texts, *origins.items(), given and (given.text, given.labels))):
            at = len(found.programs)
            found.programs.append(texts)
            found.origins.update(((at, word), labels) for word, labels in origins.items())
            found.inputs.update({at: given} if given is not None else {})
        return _process(argv)

    def _program(self) -> Value:
        args, stdin = self.value(0, "args", "command", "argv", "cmd"), self.given(-1, "input", "stdin")
        is_shell = truth(self.given(8, "shell") or Value(False)) is not False
        words = _split(args)
        if is_shell and not (stdin is not None and is_text(stdin)):
            self.arguments = words[:1] if isinstance(args.it, (list, tuple)) else [args]
            made = self._shell()
        else:
            words = _split(words[0]) if is_shell and len(words) == 1 else words
            words += _split(self.value(1)) if self.name.startswith("pexpect") and len(self.arguments) > 1 else []
            executable = self.keywords.get("executable", Value(None))
            made = self.start(words if executable.it is None else [executable, *words[1:]], stdin)
        return Value(UNKNOWN, made.labels) if self.word == "check_output" else made

    def _exec(self) -> Value:
        given = self.arguments[self.word.startswith("spawn") :]
        if self.word.removeprefix("exec").removeprefix("spawn").startswith("l"):
            words = [*given[:1], *(each for each in given[2:] if not isinstance(each.it, dict))]
        else:
            words = [*given[:1], *(_split(given[1])[1:] if len(given) > 1 else [])]
        self.start(words)
        return Value(kind="never") if self.word.startswith("exec") and not self.walk.running else Value()

    def _template(self) -> Value:
        """Start the program that would do the same."""
        words = []
        for word in TABLE.programs[self.name].split():
            numbers = [int(each) for each in re.findall(r"\{(\d)", word)]
            made = computed(word.format, [native(Value(each.it)) for each in self.arguments], {}, NO_LABELS)
            words.append(Value(text_of(made) if made else UNKNOWN, labels_of(*(self.value(each) for each in numbers))))
        return self.start(words)

    def _chdir(self) -> Value:
        self.walk.cwd = self.walk.path(self.value(0, "path"))
        return Value(None)

    def _fork(self) -> Value:
        if self.walk.endless:
            self.walk.effect("fork", "")
        return Value()

    def _dup(self) -> Value:
        if self.value(0).type == "connection":
            self.walk.effect("run", "/bin/sh", labels=frozenset((NETWORK,)))
        return self.value(0)

    def _library(self) -> Value:
        path = self.text(0, "name")
        if "/" in path and not path.startswith(("/lib", "/usr/lib", "/System/Library")):
            self.walk.effect("run", self.walk.path(self.value(0)))
        return Value("os", kind="name")

    def _evaluate(self) -> Value:
        result = Value(None)
        keywords = [self.keywords[key] for key in ("setup", "stmt", "source") if key in self.keywords]
        for each in (*keywords, *self.arguments[:1]):
            result = self.walk.call(each, [], {}) if each.type == "function" else self.walk.run_text(each)
        return result

    def _unpickle(self) -> Value:
        if labels := self.labels() & {NETWORK, DECODED}:
            self.walk.run_text(Value(UNKNOWN, labels))
        return Value(UNKNOWN, self.labels())

    def _import(self) -> Value:
        text = self.text(0, "name")
        if self.name == "__import__" and self.given(3, "fromlist") is None:
            text = text.partition(".")[0]
        self.walk.note_import(text)
        return Value(UNKNOWN if UNKNOWN in text else aliased(text), kind="name")

    def _attribute(self) -> Value:
        owner, name = self.value(0), self.value(1)
        if is_text(name) and is_exact(name):
            return attribute(self.walk, owner, text_of(name))
        return Value(f"{owner.it}.{UNKNOWN}", kind="name") if owner.type == "name" else Value(UNKNOWN, labels_of(owner))

    def _map(self) -> Value:
        columns = [self.walk.items(each) for each in self.arguments[1:]]
        return Value([self.walk.call(self.value(0), list(row), {}) for row in zip(*columns, strict=False)])

    def _print(self) -> Value:
        between, end = self.text(-1, "sep", default=" "), self.text(-1, "end", default="\n")
        # Bytes are printed as their literal.
        texts = [repr(each.it) if isinstance(each.it, bytes) else text_of(each) for each in self.arguments]
        line = wrap(between.join(texts) + end, labels_of(*self.arguments))
        target = self.keywords.get("file")
        if target is not None and target.type == "file":
            keep(self.walk, str(target.it), line)
        else:
            self.walk.echo(line)
        return Value(None)

    def _echo(self) -> Value:
        for each in self.walk.items(self.value(0)) if self.word == "writelines" else [self.value(0)]:
            self.walk.echo(each)
        return Value()

    def _input(self) -> Value:
        value = self.walk.input(is_line=True)
        return Value(value.it.rstrip("\n"), value.labels)

    def _read_input(self) -> Value:
        return self.walk.input() if self.word == "read" else Value(self.walk.items(self.walk.input()))

    def _variable(self) -> Value:
        if not self.arguments:
            return Value(UNKNOWN, frozenset((ENVIRONMENT,)))
        found, default = variable_of(self.walk, self.text(0, "key")), self.given(1, "default")
        return default if found.it == UNKNOWN and not found.labels and default is not None else found

    def _compute(self) -> Value:
        """Call the function itself, if it is given known values."""
        kind, labels, values = TABLE.calls[self.name], self.labels(), [*self.arguments, *self.keywords.values()]
        owner, _, word = self.name.rpartition(".")
        nothing = Value(UNKNOWN, labels | {DECODED} if kind == "decode" else labels)
        if word == "decompress" or (word == "decode" and "z" in self.text(1, "encoding")):
            return nothing
        if kind != "compute_text" and not all(map(is_exact, values)):
            return Value(self.walk.items(values[0])) if self.name in ("sorted", "set", "frozenset") else nothing
        is_method = owner in ("bytes", "bytearray", "str", "int")
        function: Callable[..., object] = getattr(
            getattr(builtins, owner) if is_method else import_module(owner or "builtins"), word
        )
        given, named = list(map(native, self.arguments)), {key: native(each) for key, each in self.keywords.items()}
        return computed(function, given, named, labels) or nothing

    _compute_text = _decode = _compute

    def _compute_list(self) -> Value:
        columns: list[object] = [self.walk.items(each) for each in self.arguments]
        return computed(getattr(builtins, self.name), columns, {}, NO_LABELS) or Value(UNKNOWN, self.labels())


def _process(words: list[Value]) -> Value:
    """Return a process, with the labels of its output."""
    texts = [text_of(each) for each in words]
    bases = {each.rpartition("/")[2] for each in texts}
    labels = {NETWORK} if bases & _FETCHING else set()
    if bases & {"cat", "head", "tail", "strings"}:
        labels |= {FILE + each for each in texts[1:] if each[:1] not in ("-", "|", ";", "&")}
    return Value(words, frozenset(labels), "process")


def _split(value: Value) -> list[Value]:
    """Return the words of a command line, or of a list."""
    if isinstance(value.it, (list, tuple)) and not value.type:
        return list(value.it)
    text = text_of(value)
    try:
        words = shlex.split(text) if len(text) < _LONGEST_LINE else text.split()
    except ValueError:
        words = text.split()
    return [Value(each, labels_of(value)) for each in words]


def attribute(walk: Walk, owner: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if name in _ANY_MODULE:
        return Value(UNKNOWN, kind="name")
    if owner.type == "name":
        if name in ("__dict__", "__call__"):
            return owner
        if name == "__self__":
            return Value(owner.it.rpartition(".")[0] or "builtins", kind="name")
        is_inside = owner.it == "builtins" or (
            name in TABLE.inside and owner.it.rpartition(".")[2] not in (name, "asyncio")
        )
        dotted = aliased(name if is_inside else f"{owner.it}.{name}")
        if dotted == "sys.argv":
            arguments = [Value(each, walk.labels if UNKNOWN in each else NO_LABELS) for each in walk.arguments]
            return Value(arguments or UNKNOWN)
        return Value(TABLE.constants[dotted]) if dotted in TABLE.constants else Value(dotted, kind="name")
    member = walk.members.get(name)
    if member is not None and member.type != "function" and (owner.type == "class" or owner.it == UNKNOWN):
        return member
    if owner.type == "path" and name in ("name", "stem", "suffix", "parent", "parts"):
        found = getattr(PurePosixPath(owner.it), name)
        return Value(str(found), owner.labels, "path") if name == "parent" else wrap(found, owner.labels)
    if owner.type == "path" and name == "path":
        return Value(owner.it, owner.labels)
    return Value(name, labels_of(owner), "method", owner)


def item_of_name(walk: Walk, owner: str, index: Value) -> Value:
    """Return an item of an object of a module: a variable of the environment, an entry of ``__dict__``."""
    if owner == "os.environ":
        return variable_of(walk, text_of(index))
    return attribute(walk, Value(owner, kind="name"), text_of(index)) if is_text(index) else Value(owner, kind="name")


# The kinds that need no more than a line.
SIMPLE: dict[str, Callable[[Call], Value]] = {
    "words": lambda call: call.start(call.arguments),
    "path": lambda call: Value(join_paths(*map(text_of, call.arguments)) or ".", call.labels(), "path"),
    "current_folder": lambda call: Value(str(call.walk.cwd) or ".", NO_LABELS, "path" if call.word == "cwd" else ""),
    "home": lambda call: Value(text_of(variable_of(call.walk, "HOME")), NO_LABELS, "path"),
    "temporary": lambda _: Value(f"/tmp/{UNKNOWN}"),  # noqa: S108 - where the code would be given a folder
    "native": lambda _: Value(UNKNOWN, kind="name"),
    "names": lambda call: call.given(0) or Value(UNKNOWN, kind="name"),
    "same": lambda call: call.value(0),
    "set_variable": lambda call: call.walk.environment.setdefault(call.text(0), call.value(1)),
    "exit": lambda _: Value(kind="never"),
}
