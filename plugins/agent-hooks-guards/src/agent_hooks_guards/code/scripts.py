"""JavaScript, Perl, Ruby, PHP and Lua: calls that run, touch or send something, with the arguments that are known.

The scanner finds calls by the names of ``scripts.toml``, wherever they stand, and computes their arguments from
literals, variables and a few functions. It follows no control flow.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data

from . import FILE, Found
from .literals import joined
from .script_calls import collect
from .script_effects import Requests
from .script_source import VALUES, Binding, Call, Context
from .script_tokens import MOST_TOKENS
from .script_values import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NETWORK = frozenset((NETWORK,))
_RUNNERS = frozenset(("shell", "words", "argv", "eval"))
_GLOBALS = frozenset(("globalThis", "global", "window", "this", "process", "_G", ""))
# Calls beside which it is known what code prints.
_QUIET = VALUES | {"print", "stdin", "variable", "argument"}
# A computed method of these may run something.
_OWNERS = frozenset(("", "Kernel", "Object", "self", "Process", "IO", "File", "FileUtils"))
_ENDLESS = re.compile(
    r"\b(while|until) *\(? *(1|true|fork|pcntl_fork|!0|0)\b|\bloop\b|\bfor *\( *; *;|\bredo\b|\bsetInterval\b"
)
_CONTROL = frozenset(
    "if unless while until for foreach each times loop case switch function sub def => ? && ||".split()
)


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Find the effects of a script.

    ``labels``: where its text comes from; ``arguments``: ``$0``, ``$1`` … of it; ``stdin``: what it reads, if that is
    known; ``variables``: of the environment, as far as they are set for it.
    """
    script = Script(text, language, Context(labels, arguments, variables or {}, stdin))
    collect(script)
    scanner = _Scanner(script)
    scanner.run()
    return scanner.found


class _Scanner(Requests):
    """Handlers of the kinds of calls in ``scripts.toml``."""

    def run(self) -> None:
        script = self.script
        if script.size >= MOST_TOKENS:
            self.doubt("the code is longer than what is looked at")
        self._bind_topic()
        for at, kind in self.kinds.items():
            self.at = at
            self.handle(kind, script.calls[at])
        self._computed_names()
        if "fork" in self.kinds.values() and _ENDLESS.search(" ".join(map(script.text, range(script.size)))):
            self.effect("fork", Data())
        if script.steps <= 0:
            self.doubt("the code is nested or longer than what is looked at")
        self.found.output = self.output()

    def handle(self, kind: str, call: Call) -> None:
        """Add the effects of a call."""
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, call)
        elif kind.startswith("program_"):
            self.program_named(kind.removeprefix("program_"), call)

    def _bind_topic(self) -> None:
        """Bind Perl's ``$_`` to the files that are walked and to the input."""
        for at, kind in self.kinds.items():
            call = self.script.calls[at]
            if kind == "walk" and self.language == "perl":
                for name in ("$_", "$File::Find::name"):
                    self.script.bindings.setdefault(name, []).append(Binding(0, "=", call.start, call.stop))

    def _computed_names(self) -> None:
        """Doubt calls of computed names, ``cp["ex" + "ec"](…)`` or ``$f(…)``, and runners that are passed on."""
        script = self.script
        runs = any(word in script.kinds for word in ("execSync", "execute"))
        for at in range(script.size):
            name, behind = script.text(at), script.text(at + 1) + script.text(at + 2)
            kinds = [kind for _, kind in script.kinds.get(name, ())]
            if behind in (".call", ".apply", ".bind", ")(") and not _RUNNERS.isdisjoint(kinds):
                self.doubt("a function that runs something is passed on")
            elif name == "eval" and script.text(at - 1) + behind[:1] == "()":  # .then(eval)
                self.found.codes.append((self.language, Data(UNKNOWN, _NETWORK if self.is_online else self.own)))
            elif name == "[" and self.language in ("node", "lua") and script.text(script.tokens[at].close + 1) == "(":
                owner = script.text(at - 1)
                if owner in _GLOBALS or (owner in (")", "]", "os", "io", "cp") and runs):
                    self.doubt("something that is not known is called")
            elif self.language == "php" and script.kind(at) == "variable" and behind[:1] == "(":  # noqa: SIM102
                if name not in script.functions and not script.is_member(at):
                    self.doubt("something that is not known is called")

    def output(self) -> Data:
        """What the code prints, if it only prints."""
        script = self.script
        printing = [at for at, kind in self.kinds.items() if kind == "print"]
        labels = NO_LABELS
        pieces = []
        sure = bool(printing) and not any(script.text(at) in _CONTROL for at in range(script.size))
        sure = sure and _QUIET.issuperset(self.kinds.values()) and not self.found.doubts
        for at in printing:
            call = script.calls[at]
            values = script.items(call.arguments) if call.arguments else [self.texts(call)]
            labels = labels.union(*(item.labels for item in values[0]))
            sure = sure and len(values) == 1 and not (len(call.arguments) > 1 and "%" in values[0][0].text)
            separator = {"node": " ", "lua": "\t", "ruby": "\n"}.get(self.language, "")
            text = separator.join(item.text for item in values[0])
            ends = call.name in ("log", "puts", "say", "p") or (call.name == "print" and self.language == "lua")
            pieces.append(text + "\n" if ends and not text.endswith("\n") else text)
        return Data("".join(pieces) if sure else UNKNOWN, labels | (self.own if not sure else NO_LABELS))

    def run_shell(self, call: Call) -> None:
        for data in self.texts(call):
            self.shell(data)

    def run_words(self, call: Call) -> None:
        """One text is a command line, several are words."""
        parts = self.plain(call)[: 1 if self.language == "php" else None]
        if len(parts) > 1 and call.name == "popen":  # without the mode
            parts = parts[:-1]
        if len(parts) != 1:
            for words in self.script.items(parts) if parts else ():
                self.program(words)
            return
        for value in self.script.evaluate(*parts[0]):
            if self.language == "perl" and isinstance(value, list) and len(value) == 1:
                value = value[0]
            if isinstance(value, Data) and self.script.text(parts[0][0]) != "*":
                self.shell(value)
            else:
                self.program(value if isinstance(value, list) else [value])

    def run_argv(self, call: Call) -> None:
        """A program and a list of its arguments."""
        options = [part for part in (self.option(call, "cmd"), self.option(call, "args")) if part is not None]
        parts = [*self.plain(call)[:2], *options]
        if self.language == "perl":
            parts = call.arguments[2:] if call.name == "open2" else call.arguments[3:]
        for words in self.script.items(parts):
            if self.is_set(call, "shell") or (call.name.startswith("execa") and len(words) == 1):
                self.shell(joined(words, " "))
            else:
                self.program(words)

    def run_code(self, call: Call) -> None:
        if not call.arguments or self.script.text(call.arguments[0][0]) in ("{", "function", "(", "async", "sub"):
            return
        if self.script.text(call.arguments[0][0] + 1) == "=>":
            return
        for data in self.texts(call, len(call.arguments) - 1 if call.name in ("Function", "create_function") else 0):
            if call.name.startswith("set") and not data.labels and not data.is_known:
                continue  # the name of a function
            if data.text == UNKNOWN and not data.labels and not self.is_online:
                self.doubt("a text that is not known is run as code")
                continue
            fetched = _NETWORK if self.is_online and not data.is_known else NO_LABELS
            self.found.codes.append((self.language, Data(data.text, data.labels | self.own | fetched)))

    def run_file(self, call: Call) -> None:
        for data in self.texts(call):
            if "://" in data.text:
                self.effect("run", data, labels=_NETWORK)
            elif data.text.startswith("data:"):
                self.found.codes.append((self.language, Data(UNKNOWN, data.labels)))
            elif data.labels or (data.is_known and call.name in ("load", "dofile", "loadfile", "do")):
                self.effect("run", data, labels=data.labels)

    def run_named(self, call: Call) -> None:
        """A function that is called by its name: one that runs or deletes is a doubt."""
        script = self.script
        if not call.arguments:
            return
        start, stop = call.arguments[0]
        last = script.tokens[stop - 1]
        is_name = (last.kind == "string" and stop - start == 1) or (
            last.kind == "name" and self.language in ("node", "lua")
        )
        kinds = [kind for _, kind in script.kinds.get(last.text, ())] if is_name else []
        is_computed = not is_name and last.text not in ("}", ")") and call.owner in _OWNERS
        if is_computed or (kinds and not VALUES.issuperset(kinds)):
            self.doubt("something that is not known is called")

    def program_named(self, program: str, call: Call) -> None:
        """A function that does what a program of this name does."""
        for words in self.script.items(self.plain(call)):
            if program in ("chmod", "kill", "chown") and self.language in ("node", "php"):
                words = words[1:2] + words[:1]
            if program == "kill" and words:
                words = [Data(f"-{words[0].text.lstrip('-')}"), *words[1:]]
            if program == "chmod" and words:
                words[0] = Data(re.sub(r"^0o?(?=\d)", "", words[0].text))
            self.program([Data(program), *([Data("-R")] if call.name.endswith("_R") else []), *words])

    def delete(self, call: Call, *, recursive: bool = False) -> None:
        recursive = recursive or self.is_set(call, "recursive")
        parts = self.plain(call)
        values = self.script.items(parts) if parts else [self.texts(call)]
        for path in (item for items in values for item in items):
            if not path.text.isdecimal():
                self.effect("delete", path, recursive=recursive)

    def delete_tree(self, call: Call) -> None:
        self.delete(call, recursive=True)

    def write(self, call: Call, *, append: bool = False) -> None:
        options = {token.text for part in call.arguments[2:] for token in self.script.tokens[slice(*part)]}
        append = append or not options.isdisjoint(("FILE_APPEND", "a"))
        contents = self.texts(call, 1)
        content = contents[0] if len(contents) == 1 else Data(UNKNOWN)
        for path in self.texts(call):
            self.effect("write", path, labels=content.labels, method="append" if append else "")
            if path.is_known and len(call.arguments) > 1:
                self.found.files[path.text] = Data(UNKNOWN, content.labels) if append else content

    def append(self, call: Call) -> None:
        self.write(call, append=True)

    def read(self, call: Call) -> None:
        for path in self.texts(call):
            if path.text.startswith("|"):
                self.shell(Data(path.text[1:], path.labels))
            elif "://" in path.text and not path.text.startswith(("file://", "php://")):
                self.request(call)
            elif path.text not in ("0", "/dev/stdin") and not path.text.startswith("php://"):
                self.effect("read", path)

    def open(self, call: Call) -> None:
        """Open a file or, in Perl and Ruby, a command."""
        modes = [data.text.strip() for data in self.texts(call, 1)] if len(call.arguments) > 1 else ["r"]
        if self.language == "perl":
            self._open_perl(call, modes[0])
            return
        mode = modes[0]
        for path in self.texts(call):
            if path.text.startswith("|") or "://" in path.text or mode[:1] in ("r", UNKNOWN, "{") or mode.isdecimal():
                self.read(call)
            else:
                self.effect("write", path, method="" if mode.startswith("w") else "append")

    def _open_perl(self, call: Call, mode: str) -> None:
        if len(call.arguments) > 2:
            if mode in ("-|", "|-"):
                parts = call.arguments[2:]
                for words in self.script.items(parts):
                    self.program(words) if len(words) > 1 else self.shell(words[0])
                return
            paths = self.texts(call, 2)
        else:
            paths = [Data(mode.lstrip("+<> "), each.labels) for each in self.texts(call, 1)]
            if mode.startswith("|") or mode.endswith("|"):
                self.shell(Data(mode.strip("| "), paths[0].labels))
                return
        if "&" in mode or mode == "-":
            return
        for path in paths:
            writes = mode.startswith((">", "+"))
            self.effect("write" if writes else "read", path, method="append" if mode.startswith(">>") else "")

    def move(self, call: Call) -> None:
        for path in self.texts(call):
            self.effect("delete", path)
            for target in self.texts(call, 1):
                self.effect("write", target, labels=frozenset((FILE + path.text,)))

    def copy(self, call: Call) -> None:
        for path in self.texts(call):
            is_page = "://" in path.text
            self.effect("receive" if is_page else "read", path)
            for target in self.texts(call, 1):
                self.effect("write", target, labels=_NETWORK if is_page else frozenset((FILE + path.text,)))

    def change_folder(self, call: Call) -> None:
        for path in self.texts(call):
            if path.is_known and path.text:
                is_block = self.script.text(call.stop) == "{"
                stop = self.script.tokens[call.stop].close if is_block else self.script.size
                self.folders.append((call.at, stop, path.text))

    def unknown_effect(self, _call: Call) -> None:
        self.doubt("a system call by its number, or a foreign function, is called")


_HANDLERS: dict[str, Callable[[_Scanner, Call], None]] = {
    "shell": _Scanner.run_shell,
    "words": _Scanner.run_words,
    "argv": _Scanner.run_argv,
    "eval": _Scanner.run_code,
    "source": _Scanner.run_file,
    "call": _Scanner.run_named,
    "delete": _Scanner.delete,
    "delete_tree": _Scanner.delete_tree,
    "write": _Scanner.write,
    "append": _Scanner.append,
    "read": _Scanner.read,
    "open": _Scanner.open,
    "move": _Scanner.move,
    "copy": _Scanner.copy,
    "chdir": _Scanner.change_folder,
    "get": _Scanner.request,
    "post": _Scanner.post,
    "request_delete": _Scanner.request_delete,
    "socket": _Scanner.socket,
    "send_on": _Scanner.send_on,
    "doubt": _Scanner.unknown_effect,
}
