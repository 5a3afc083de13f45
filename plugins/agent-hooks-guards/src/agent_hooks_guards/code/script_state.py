"""What the parts of a walk through a script share: variables, what was found, how much more is looked at."""

from __future__ import annotations

from itertools import zip_longest

from agent_hooks.model.tools import file_of_address
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import variable_labels
from agent_hooks_guards.programs.unwrapping import quoted

from . import STDIN, Found
from .folding import METHODS
from .script_limits import DEEPEST, DEPTH_OF_A_CALL, ENVIRONMENT_DUMP, ENVIRONMENTS, MOST_ROUNDS, MOST_STEPS, TOO_MUCH
from .values import (
    MOST_ITEMS,
    NO_ANSWER,
    Choice,
    Closure,
    Method,
    Reference,
    Value,
    choice,
    concat,
    join,
    known,
    labels_of,
    text_of,
    unknown,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_STDIN = frozenset((STDIN,))
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))  # of these the path is no file's
_SHELLS = frozenset("sh bash zsh dash ksh ash fish cmd cmd.exe powershell powershell.exe pwsh".split())
# These start a process and go on.
_STARTING = frozenset(
    "child_process.spawn child_process.exec child_process.execFile Bun.spawn spawn Process.spawn IO.popen popen"
    " io.popen proc_open".split()
)
# What a process prints that these start goes to where the script prints.
_PRINTING = {
    "perl": ("system", "exec"),
    "ruby": ("system", "exec", "spawn"),
    "php": ("system", "passthru"),
    "lua": ("os.execute",),
}
Place = tuple[str, object, object] | None  # what a value was read from: ("name", name, None), ("member", owner, key) …


class State:
    """What all parts of one walk share: variables, what was found, and how much more is looked at."""

    def __init__(self, language: str, labels: frozenset[str], arguments: list[str], stdin: str | None = None) -> None:
        from .calls import calls_of

        self.language = language
        self.labels = labels
        self.found = Found()
        self.folder = ""  # where the script went to work
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, Closure] = {}
        self.closures: list[Closure] = []
        self.calls = calls_of(language)
        self.arguments: list[Value] = [Data(argument) for argument in arguments[1:]]
        self.script = arguments[0] if arguments else ""
        self.stdin = stdin
        self.steps = MOST_STEPS
        self.depth = 0
        self.again = False  # whether a function was called by itself that may work anywhere
        self.conditional = 0
        self.endless = 0
        # Loops that never end and wait for nothing.
        self.hasty = 0
        self.forks = 0
        self.has_socket = False
        self.returned: list[list[Value]] = []
        self.leaving = False
        self.prints: list[Data] = []
        self.is_sure = True
        self.topics: list[list[Value]] = []  # Perl's @_
        self.seen: set[object] = set()

    def run(self, text: str) -> Value:
        """Walk through ``text`` with the variables that are known here."""
        if self.depth > DEEPEST:
            self.doubt(TOO_MUCH)
            return unknown()
        self.depth += 1
        try:
            from .script_walk import Walk, read_tokens
            from .tokens import MOST_TOKENS

            read = read_tokens(text, self.language)
            if len(read[0]) >= MOST_TOKENS:
                self.doubt(TOO_MUCH)
            return Walk(self, read).everything()
        finally:
            self.depth -= 1

    def finish(self) -> None:
        """Walk through the functions that nobody was seen to call."""
        for closure in self.closures:
            if not closure.called and self.steps > 0:
                self.is_sure = False
                self.apply(closure, [unknown()] * 6)
        if self.steps <= 0:
            self.doubt(TOO_MUCH)

    def output(self) -> Data:
        """What is printed; a script that was not seen to print may do so in a way of its own."""
        if not self.is_sure or self.steps <= 0 or not self.prints:
            return Data(UNKNOWN, self.labels.union(*(piece.labels for piece in self.prints)))
        return join(self.prints)

    def input(self) -> Data:
        """What is read from the input, at once or its only line."""
        return Data(UNKNOWN if self.stdin is None else self.stdin, _STDIN)

    def lines(self) -> Value:
        """The lines of the input."""
        return self.input() if self.stdin is None else [Data(line, _STDIN) for line in self.stdin.splitlines(True)]

    def line(self) -> Data:
        """A line of the input, known if it is the only one."""
        return self.input() if "\n" not in (self.stdin or "")[:-1] else Data(UNKNOWN, _STDIN)

    # What calls find

    def path(self, name: str) -> str:
        """Where a file is, as seen from where the script began."""
        if not self.folder or name.startswith(("/", "~")):
            return name
        return f"{self.folder.rstrip('/')}/{name}"

    def shell(self, value: Value) -> Value:
        """``value`` is given to a shell."""
        for option in _options(value):
            text = text_of(option)
            data = Data(text.text, text.labels | self.labels)
            if self.folder:
                data = Data(f"cd {quoted(self.folder)}\n{data.text}", data.labels)
            if self.hasty and data.text.rstrip().endswith("&"):
                self.bomb()
            if self.has_socket and _is_shell(data.text.split()):
                self.effect("run", Data("/bin/sh", frozenset((NETWORK,))))
            key = ("shell", data.text, data.labels)
            if key not in self.seen:
                self.seen.add(key)
                self.found.shells.append(data)
        return Data(UNKNOWN, labels_of(value) | self.labels)

    def program(self, words: list[Value]) -> Value:
        """A program is started with ``words``."""
        texts = [text_of(word) for word in words]
        if not texts:
            return None
        if self.folder:
            texts = [Data("env"), Data("-C"), Data(self.folder), *texts]
        argv = [text.text for text in texts]
        if self.has_socket and _is_shell(argv):
            self.effect("run", Data(argv[0], frozenset((NETWORK,))))
        key = ("program", tuple(argv))
        if key not in self.seen:
            self.seen.add(key)
            at = len(self.found.programs)
            self.found.programs.append(argv)
            for position, text in enumerate(texts):
                labels = text.labels | self.labels
                if labels:
                    self.found.origins[at, position] = labels
        return Reference("process()", NO_LABELS, words)

    def effect(
        self, kind: str, path: Value, recursive: bool = False, labels: frozenset[str] = NO_LABELS, method: str = ""
    ) -> None:
        """Something outside of the script is touched."""
        for option in _options(path):
            text = text_of(option)
            file = file_of_address(text.text)
            if kind not in _ELSEWHERE:
                text = Data(self.path(text.text), text.labels)
            if kind == "delete" and self.again:
                self.doubt("a function that calls itself deletes")
            effect = (
                "read" if file and kind == "receive" else kind,
                file or text.text,
                recursive,
                labels | (text.labels if kind in ("run", "send") else NO_LABELS),
                method,
            )
            if effect not in self.seen:
                self.seen.add(effect)
                self.found.effects.append(effect)

    def write(self, path: Value, content: Value, append: bool = False) -> None:
        """A file gets ``content``."""
        self.effect("write", path, labels=labels_of(content) | self.labels, method="append" if append else "")
        name = known(path)
        if name is not None and isinstance(content, Data):
            before = self.found.files.get(name) if append else None
            self.found.files[name] = concat(before, content) if before is not None else content

    def code(self, value: Value, language: str = "") -> Value:
        """``value`` is run as code."""
        result: Value = None
        for option in _options(value):
            if isinstance(option, Closure):
                result = self.apply(option, [])
                continue
            text = text_of(option)
            if text.text == UNKNOWN and not text.labels:
                self.doubt("a text that is not known is run as code")
            elif text.labels or UNKNOWN in text.text or (language and language != self.language):
                self.found.codes.append((language or self.language, Data(text.text, text.labels | self.labels)))
            if text.text != UNKNOWN and (not language or language == self.language):
                result = self.run(text.text)
        return result

    def doubt(self, what: str) -> None:
        """Something runs that could not be analysed."""
        if what not in self.found.doubts:
            self.found.doubts.append(what)

    def fork(self) -> Value:
        """The script is doubled."""
        self.forks += 1
        if self.endless:
            self.bomb()
        return unknown()

    def bomb(self) -> None:
        """The script is doubled without end."""
        self.effect("fork", Data(""))

    def echo(self, *values: Value) -> None:
        """Texts are printed."""
        if self.conditional or self.endless:
            self.is_sure = False
        if len(self.prints) < MOST_ITEMS:
            self.prints.extend(text_of(value) for value in values)

    # Functions of the script

    def apply(self, function: Value, arguments: list[Value]) -> Value:
        """Call a function of the script, or whatever else can be called."""
        if not isinstance(function, Closure):
            return self.call(function, arguments)
        function.called += 1
        again = self.again
        if not function.running:
            function.is_here = all(_names_a_folder_here(text_of(argument).text + "/") for argument in arguments)
        elif self.depth > DEEPEST - DEPTH_OF_A_CALL or _is_open(function, arguments):
            # It calls itself: one more round in which what changes may be anything stands for all that follow.
            if function.is_any:
                return unknown(*arguments)
            function.is_any = True
            stay = [before is not None and before == now for before, now in zip_longest(function.given, arguments)]
            anything = unknown(*arguments)
            arguments = [now if stays else anything for now, stays in zip(arguments, stay, strict=False)]
        elif not function.is_here:
            self.again = True
        if self.depth > DEEPEST or self.steps <= 0 or function.called > 2 * MOST_ROUNDS:
            self.doubt(TOO_MUCH)
            return unknown(*arguments)
        self.depth += 1
        function.given = arguments
        function.running += 1
        try:
            return function.run(arguments)
        finally:
            function.running -= 1
            self.depth -= 1
            self.again = again

    def call(self, function: Value, arguments: list[Value]) -> Value:
        """Call ``function`` with known or unknown arguments."""
        for at, argument in enumerate(arguments[:4]):
            if isinstance(argument, Choice):
                results = [
                    self.call(function, [*arguments[:at], option, *arguments[at + 1 :]])
                    for option in argument.options[:4]
                ]
                return choice(results)
        self.steps -= 1
        if isinstance(function, Closure):
            return self.apply(function, arguments)
        if isinstance(function, Choice):
            return choice([self.call(option, arguments) for option in function.options[:4]])
        if isinstance(function, Method):
            return self.method(function.owner, function.name, arguments)
        if isinstance(function, Reference):
            return self.outside(function, arguments)
        if isinstance(function, Data) and self.language in ("php", "perl"):
            if function.text in self.functions:
                return self.apply(self.functions[function.text], arguments)
            return self.outside(Reference(function.text.lower().lstrip("\\"), function.labels), arguments)
        if isinstance(function, Data) and function.labels:
            self.doubt("something that is not known is called")
        self.callbacks(arguments, unknown(*arguments, function))
        return unknown(function, *arguments)

    def outside(self, function: Reference, arguments: list[Value]) -> Value:
        """Call something that the script did not define."""
        name = self.canonical(function.name)
        handler = self.calls.get(name)
        if handler is None and UNKNOWN in name:
            handler = self.last_resort(name)
        if handler is None:
            handler = self.calls.get("*." + name.rpartition(".")[2])
        if handler is not None:
            if self.hasty and name in _STARTING:
                self.bomb()
            if name in _PRINTING.get(self.language, ()):
                self.echo(Data(f"{UNKNOWN}\n"))
            result = handler(self, arguments, function)
            if handler.__name__ != "folded":
                self.callbacks(arguments, result)
            return result
        if name.endswith((".call", ".apply", ".bind", ".invoke", ".()")):
            return self.indirect(function, name, arguments)
        labels = (
            function.labels.union(*(labels_of(argument) for argument in arguments)) if arguments else function.labels
        )
        if name.endswith((".then", ".tap")):
            base = Reference(name.rpartition(".")[0], function.labels, function.value)
            results = [self.call(argument, [base]) for argument in arguments[:1]]
            return results[0] if results else base
        if name.endswith(".new"):
            return Reference(name[:-4], labels, list(arguments))
        method = name.rpartition(".")[2]
        if method in METHODS and "." in name and function.labels:
            result = Data(UNKNOWN, labels)
            self.callbacks(arguments, result)
            return result
        result = Data(UNKNOWN, labels) if labels else unknown()
        self.callbacks(arguments, result)
        return result

    def last_resort(self, name: str) -> Callable[..., Value] | None:
        """For something that is not known by name: what goes by its last word, else a doubt."""
        last = name.rpartition(".")[2]
        if UNKNOWN not in last:
            for owner in ("child_process.", "Kernel.", "os.", ""):
                handler = self.calls.get(owner + last)
                if handler is not None:
                    return handler
            return None
        self.doubt("something that is not known is called")
        return None

    def indirect(self, function: Reference, name: str, arguments: list[Value]) -> Value:
        """`function.call(…)` and its kin."""
        base, _dot, how = name.rpartition(".")
        target = Reference(base, function.labels, function.value)
        if self.language != "node":
            return self.outside(target, arguments)
        if how == "bind":
            return target
        if how == "apply":
            rest = arguments[1] if len(arguments) > 1 else None
            return self.outside(target, rest if isinstance(rest, list) else [unknown(rest)])
        return self.outside(target, arguments[1:])

    def callbacks(self, arguments: list[Value], result: Value) -> None:
        """Functions that are handed over are called with what comes of it."""
        for argument in arguments:
            if isinstance(argument, Closure) and not argument.called:
                value = result if isinstance(result, Reference) else Data(UNKNOWN, labels_of(result))
                self.apply(argument, [value, Data(UNKNOWN, labels_of(result)), unknown()])

    def method(self, owner: Value, name: str, arguments: list[Value]) -> Value:
        """Call a method of a value."""
        if isinstance(owner, Choice):
            return choice([self.method(option, name, arguments) for option in owner.options[:4]])
        if isinstance(owner, Reference):
            return self.outside(Reference(f"{owner.name}.{name}", owner.labels, owner.value), arguments)
        if isinstance(owner, dict) and name in owner:
            return self.call(owner[name], arguments)
        if isinstance(owner, Closure):
            if name in ("call", "bind", "()", "yield", "invoke", "__invoke"):
                return self.apply(owner, arguments[1:] if self.language == "node" and name == "call" else arguments)
            if name == "apply":
                rest = arguments[1] if len(arguments) > 1 else None
                return self.apply(owner, rest if isinstance(rest, list) else [])
            return unknown()
        if name in ("call", "()") and isinstance(owner, Method):
            return self.call(owner, arguments)
        own = self.calls.get("#" + name)
        if own is not None:
            result = own(self, arguments, Reference("#" + name, labels_of(owner), owner))
            if result is not NO_ANSWER:
                return result
        folding = METHODS.get(name)
        if folding is not None:
            result = folding(self, owner, arguments)
            if result is not NO_ANSWER:
                return result
        result = unknown(owner, *arguments)
        self.callbacks(arguments, result)
        return result

    def member(self, owner: Value, name: str) -> Value:
        """What ``owner.name`` is."""
        if isinstance(owner, Reference):
            if owner.name.endswith("constructor") and name == "constructor":
                return Reference("Function")
            if owner.name in ENVIRONMENTS:
                return self.environment(owner, name)
            whole_name = f"{owner.name}.{name}"
            return Reference(
                whole_name, owner.labels | ENVIRONMENT_DUMP if whole_name in ENVIRONMENTS else owner.labels, owner.value
            )
        if isinstance(owner, dict):
            if name in owner:
                return owner[name]
            return unknown(owner) if "" in owner else Method(owner, name)
        if isinstance(owner, Choice):
            return choice([self.member(option, name) for option in owner.options[:4]])
        if name == "length" and self.language == "node":
            if isinstance(owner, list):
                return len(owner)
            text = known(owner)
            return len(text) if text is not None else unknown(owner)
        if name == "constructor" and self.language == "node":
            return Reference("Function" if isinstance(owner, (Closure, Method)) else "Object.constructor")
        return Method(owner, name)

    def environment(self, owner: Reference, name: str) -> Value:
        """One variable of the environment; methods of all of them keep where they come from."""
        given = self.variables.get(f"{owner.name}.{name}")
        if given is not None:
            return given
        if name == "HOME":
            return Data("~")
        return (
            Data(UNKNOWN, variable_labels(name))
            if name.isupper() or name == UNKNOWN or not name.isalpha()
            else Reference(f"{owner.name}.{name}", owner.labels)
        )

    def index(self, owner: Value, key: Value) -> Value:
        """What ``owner[key]`` is."""
        if isinstance(owner, Reference):
            name = known(key)
            if owner.name == "process.argv":
                at = whole(key)
                rest = (at or 0) - 2
                return self.arguments[rest] if at is not None and 0 <= rest < len(self.arguments) else unknown()
            if owner.name in ENVIRONMENTS:
                given = self.variables.get(f"{owner.name}.{name}")
                if given is not None:
                    return given
                return Data("~") if name == "HOME" else Data(UNKNOWN, variable_labels(name or ""))
            if isinstance(key, (Data, Choice)):
                return self.member(owner, name if name is not None else UNKNOWN)
            return Reference(owner.name, owner.labels, owner.value) if owner.labels else unknown(owner)
        if isinstance(owner, Choice):
            return choice([self.index(option, key) for option in owner.options[:4]])
        at = whole(key)
        if isinstance(owner, list) and at is not None:
            base = 1 if self.language in ("lua", "r", "julia") else 0
            at = at - base if at > 0 or not base else at
            return owner[at] if -len(owner) <= at < len(owner) else None
        name = known(key)
        if isinstance(owner, dict):
            if name is not None and name in owner:
                return owner[name]
            return unknown(owner)
        text = known(owner)
        if text is not None and at is not None:
            return Data(text[at : at + 1] if at >= 0 else text[at:][:1], labels_of(owner))
        if name is not None and at is None and self.language == "node":
            return self.member(owner, name)
        return unknown(owner)

    def canonical(self, name: str) -> str:
        """The name by which the tables know something."""
        if self.language == "node":
            while True:
                head, _dot, rest = name.partition(".")
                if rest and head in ("globalThis", "global", "window", "self", "this", "default", "module"):
                    name = rest
                    continue
                break
            if name.startswith(("https.", "http2.")):
                name = "http." + name[6:]
            return name.replace(".promises.", ".").replace(".default.", ".")
        if self.language == "perl":
            for start in ("CORE.GLOBAL.", "CORE.", "main.", "POSIX."):
                name = name.removeprefix(start)
            return name
        if self.language == "ruby":
            for start in ("::", "Object.", "Kernel.", "self."):
                name = name.removeprefix(start)
            return name
        if self.language == "lua":
            while name.startswith(("_G.", "_ENV.")):
                name = name.partition(".")[2]
            return name
        if self.language == "php":
            return name.lower()
        return name


def _is_open(function: Closure, arguments: list[Value]) -> bool:
    """Whether a function that calls itself was given something that is not known."""
    return function.running > 1 and not all(text_of(argument).is_known for argument in arguments)


def _names_a_folder_here(path: str) -> bool:
    """Whether a path begins with a folder that the current one, or the one for temporary files, holds."""
    start = path.partition(UNKNOWN)[0].removeprefix("./")
    return start.startswith("/tmp/") or ("/" in start and start[0] not in "/~." and ".." not in path)  # noqa: S108 - a name


def _options(value: Value) -> list[Value]:
    if isinstance(value, Choice):
        return [inner for option in value.options[:8] for inner in _options(option)][:8]
    return [value]


def _is_shell(words: list[str]) -> bool:
    """Whether ``words`` start a shell that takes its commands from its input."""
    words = [word for word in words if "<&" not in word and ">&" not in word]
    while words and words[0] in ("exec", "env"):
        del words[0]
    return (
        bool(words)
        and words[0].rpartition("/")[2] in _SHELLS
        and all(word in ("-i", "-l", "-p", "-il", "-li", "0", "1", "2") for word in words[1:])
    )
