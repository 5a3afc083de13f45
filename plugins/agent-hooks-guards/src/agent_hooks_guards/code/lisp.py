"""What Emacs Lisp would do: the processes, files and URLs of its function calls."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED, NETWORK, NO_LABELS, UNKNOWN, Data

from . import FILE, Found
from . import values as v

_MOST_FORMS = 20_000
_DEEPEST = 60
_TOO_MUCH = "the code is nested or longer than what is looked at"


class _Symbol(str):
    """A name."""

    __slots__ = ()


def scan_lisp(text: str, labels: frozenset[str]) -> Found:
    """What Emacs Lisp would do."""
    walk = _Walk(labels)
    walk.run(text)
    return walk.found


class _Reader:
    """Reads forms: lists, strings (``Data``), names, numbers. What is quoted is ``[_Symbol("quote"), form]``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.count = 0

    def forms(self, depth: int = 0) -> list[object]:
        out: list[object] = []
        text = self.text
        size = len(text)
        quotes = 0
        while self.at < size and self.count < _MOST_FORMS:
            char = text[self.at]
            form: object
            if char.isspace():
                self.at += 1
                continue
            if char == ";":
                end = text.find("\n", self.at)
                self.at = size if end < 0 else end
                continue
            if char in "'`":
                quotes += 1
                self.at += 1
                continue
            if char in ",@#":
                self.at += 1
                continue
            self.count += 1
            if char in "([":
                self.at += 1
                form = self.forms(depth + 1) if depth < _DEEPEST else []
            elif char in ")]":
                self.at += 1
                if depth:
                    return out
                continue
            elif char == '"':
                form = self.string()
            elif char == "?" and self.at + 1 < size:
                self.at += 2
                form = ord(text[self.at - 1])
            else:
                form = self.atom()
            if quotes and not isinstance(form, (Data, int)):
                form = [_Symbol("quote"), form]
            quotes = 0
            out.append(form)
        return out

    def string(self) -> Data:
        from .tokens import unescape

        start = self.at + 1
        end = start
        while end < len(self.text) and self.text[end] != '"':
            end += 2 if self.text[end] == "\\" else 1
        self.at = end + 1
        return Data(unescape(self.text[start:end], "node"))

    def atom(self) -> object:
        start = self.at
        while self.at < len(self.text) and not self.text[self.at].isspace() and self.text[self.at] not in "()[]\"';`,":
            self.at += 1
        if self.at == start:
            self.at += 1
        word = self.text[start : self.at]
        return int(word) if word.lstrip("-").isdecimal() and len(word) < 18 else _Symbol(word)


class _Walk:
    def __init__(self, labels: frozenset[str]) -> None:
        self.labels = labels
        self.found = Found()
        self.variables: dict[str, v.Value] = {}
        self.functions: dict[str, tuple[list[str], list[object]]] = {}
        self.steps = _MOST_FORMS
        # The file that is edited.
        self.visited: v.Value = None
        self.depth = 0

    def run(self, text: str) -> v.Value:
        result: v.Value = None
        for form in _Reader(text).forms():
            result = self.value(form)
        if self.steps <= 0:
            self.doubt(_TOO_MUCH)
        return result

    def doubt(self, what: str) -> None:
        if what not in self.found.doubts:
            self.found.doubts.append(what)

    def shell(self, value: v.Value) -> v.Value:
        data = v.text_of(value)
        data = Data(data.text, data.labels | self.labels)
        if data not in self.found.shells:
            self.found.shells.append(data)
        return Data(UNKNOWN, data.labels)

    def program(self, words: list[v.Value]) -> v.Value:
        argv: list[str] = []
        for word in words:
            argv.extend(v.text_of(item).text for item in (word if isinstance(word, list) else [word]))
        if argv and argv not in self.found.programs:
            self.found.programs.append(argv)
        return v.unknown()

    def effect(self, kind: str, path: v.Value, recursive: bool = False, labels: frozenset[str] = NO_LABELS) -> None:
        effect = (kind, v.text_of(path).text, recursive, labels, "")
        if effect not in self.found.effects:
            self.found.effects.append(effect)

    def value(self, form: object) -> v.Value:
        self.steps -= 1
        if self.steps <= 0 or self.depth > _DEEPEST:
            return v.unknown()
        if isinstance(form, Data):
            return form
        if isinstance(form, int):
            return form
        if isinstance(form, _Symbol):
            if form.startswith(":") or form in ("t", "nil"):
                return Data(str(form)) if form != "nil" else None
            return self.variables.get(form, v.unknown())
        if not isinstance(form, list) or not form:
            return None
        self.depth += 1
        try:
            return self.call(form)
        finally:
            self.depth -= 1

    def call(self, form: list[object]) -> v.Value:
        head = form[0]
        if not isinstance(head, _Symbol):
            if isinstance(head, list) and head and head[0] == "lambda":
                return self.body(head[2:])
            return v.unknown()
        name = str(head)
        if name == "quote":
            return _quoted(form[1]) if len(form) > 1 else None
        if name == "function":
            return Data(str(form[1])) if len(form) > 1 and isinstance(form[1], _Symbol) else None
        if name in ("setq", "setq-default", "defvar", "defconst", "setq-local"):
            value: v.Value = None
            for at in range(1, len(form) - 1, 2):
                value = self.value(form[at + 1])
                self.variables[str(form[at])] = value
            return value
        if name in ("let", "let*"):
            for binding in form[1] if len(form) > 1 and isinstance(form[1], list) else []:
                if isinstance(binding, list) and len(binding) > 1:
                    self.variables[str(binding[0])] = self.value(binding[1])
            return self.body(form[2:])
        if name in ("defun", "defmacro") and len(form) > 3 and isinstance(form[2], list):
            self.functions[str(form[1])] = ([str(item) for item in form[2]], form[3:])
            return None
        if name == "lambda":
            return None
        if name in ("dolist", "dotimes") and len(form) > 1 and isinstance(form[1], list) and len(form[1]) > 1:
            items = self.value(form[1][1])
            for item in items[:100] if isinstance(items, list) else [v.unknown(items)]:
                self.variables[str(form[1][0])] = item
                self.body(form[2:])
            return None
        if name in ("with-temp-file", "with-temp-buffer", "with-current-buffer") and name == "with-temp-file":
            self.effect("write", self.value(form[1]) if len(form) > 1 else v.unknown())
            return self.body(form[2:])
        arguments = [self.value(item) for item in form[1:]]
        return self.apply(name, arguments)

    def body(self, forms: list[object]) -> v.Value:
        result: v.Value = None
        for form in forms:
            result = self.value(form)
        return result

    def apply(self, name: str, arguments: list[v.Value]) -> v.Value:
        """Call the function ``name``."""
        first = arguments[0] if arguments else v.unknown()
        second = arguments[1] if len(arguments) > 1 else None
        if name in self.functions:
            parameters, body = self.functions[name]
            for at, parameter in enumerate(parameters):
                self.variables[parameter] = arguments[at] if at < len(arguments) else None
            self.depth += 1
            result = self.body(body) if self.depth < _DEEPEST else v.unknown()
            self.depth -= 1
            return result
        if name in (
            "shell-command",
            "shell-command-to-string",
            "async-shell-command",
            "call-process-shell-command",
            "compile",
            "process-file-shell-command",
            "eshell-command",
            "shell-command-on-region",
            "start-process-shell-command",
        ):
            at = {"shell-command-on-region": 2, "start-process-shell-command": 2}.get(name, 0)
            return self.shell(arguments[at] if at < len(arguments) else v.unknown())
        if name in ("call-process", "process-file"):
            return self.program([first, *arguments[4:]])
        if name == "call-process-region":
            return self.program([arguments[2] if len(arguments) > 2 else v.unknown(), *arguments[6:]])
        if name in ("start-process", "start-file-process", "make-comint"):
            return self.program(arguments[2:] if name != "make-comint" else arguments[1:2])
        if name in ("process-lines", "process-lines-ignore-status"):
            return self.program(arguments)
        if name == "make-process":
            for at, argument in enumerate(arguments[:-1]):
                if v.known(argument) == ":command":
                    words = arguments[at + 1]
                    return self.program(words if isinstance(words, list) else [words])
            return v.unknown()
        if name in ("delete-file", "f-delete", "move-file-to-trash"):
            self.effect("delete", first, recursive=name == "f-delete" and second is not None)
            return None
        if name == "delete-directory":
            self.effect("delete", first, recursive=second is not None)
            return None
        if name in ("write-region", "append-to-file"):
            self.effect("write", arguments[2] if len(arguments) > 2 else v.unknown(), labels=v.labels_of(first))
            return None
        if name in ("write-file", "f-write-text", "set-visited-file-name"):
            self.effect("write", second if name == "f-write-text" else first)
            return None
        if name in ("rename-file", "copy-file", "make-symbolic-link", "add-name-to-file"):
            if name == "rename-file":
                self.effect("delete", first)
            self.effect("write", second)
            return None
        if name == "set-file-modes":
            mode = v.whole(second)
            return self.program([Data("chmod"), Data(f"{mode:o}") if mode is not None else v.unknown(), first])
        if name in ("insert-file-contents", "find-file", "insert-file", "find-file-noselect", "f-read"):
            self.effect("read", first)
            self.visited = first if name == "find-file" else self.visited
            return Data(UNKNOWN, frozenset((FILE + v.text_of(first).text,)))
        if name in ("save-buffer", "basic-save-buffer") and self.visited is not None:
            self.effect("write", self.visited)
            return None
        if name in ("load", "load-file"):
            self.effect("run", first)
            return None
        if name in (
            "url-retrieve-synchronously",
            "url-retrieve",
            "url-copy-file",
            "url-insert-file-contents",
            "browse-url",
        ):
            self.effect("receive", first)
            if name == "url-copy-file":
                self.effect("write", second, labels=frozenset((NETWORK,)))
            return Data(UNKNOWN, frozenset((NETWORK,)))
        if name in ("eval", "eval-expression"):
            if isinstance(first, Data):
                return self.code(first)
            return None
        if name in ("read", "read-from-string"):
            return first
        if name in ("funcall", "apply", "funcall-interactively"):
            function = v.known(first)
            if function is None:
                self.doubt("something that is not known is called")
                return v.unknown()
            rest = arguments[1:]
            if name == "apply" and rest and isinstance(rest[-1], list):
                rest = [*rest[:-1], *rest[-1]]
            return self.apply(function, rest)
        if name in ("mapc", "mapcar") and isinstance(second, list):
            function = v.known(first)
            return [self.apply(function, [item]) for item in second[:100]] if function is not None else v.unknown()
        return self.fold(name, arguments)

    def code(self, value: Data) -> v.Value:
        if UNKNOWN in value.text or value.labels:
            if value.labels:
                self.found.codes.append(("emacs", value))
            else:
                self.doubt("a text that is not known is run as code")
            return v.unknown(value)
        return self.run(value.text)

    def fold(self, name: str, arguments: list[v.Value]) -> v.Value:
        first = arguments[0] if arguments else None
        if name == "concat":
            return v.join(arguments)
        if name == "format":
            return v.formatted(first, arguments[1:])
        if name in ("list", "append", "vector"):
            return arguments
        if name in ("reverse", "nreverse") and isinstance(first, Data):
            text = v.known(first)
            return Data(text[::-1]) if text is not None else v.unknown(first)
        if name in ("base64-decode-string", "base64url-decode-string"):
            return v.decoded(first, v.base64)
        if name == "rot13-string":
            return v.decoded(first, v.rot13)
        if name in (
            "expand-file-name",
            "file-truename",
            "substitute-in-file-name",
            "shell-quote-argument",
            "string",
            "symbol-function",
            "intern",
            "car",
            "identity",
            "progn",
            "downcase",
            "file-expand-wildcards",
        ):
            if name == "progn":
                return arguments[-1] if arguments else None
            if name == "string":
                return v.codepoints(arguments)
            if name == "car":
                return first[0] if isinstance(first, list) and first else v.unknown(first)
            return first
        if name in ("mapconcat", "decode-coding-string", "zlib-decompress-region"):
            return Data(UNKNOWN, frozenset((DECODED,)))
        if name == "getenv":
            return Data("~") if v.known(first) == "HOME" else v.unknown()
        return v.unknown(*arguments)


def _quoted(form: object) -> v.Value:
    if isinstance(form, list):
        return [_quoted(item) for item in form[:500]]
    if isinstance(form, _Symbol):
        return Data(str(form))
    return form if isinstance(form, (Data, int)) else None
