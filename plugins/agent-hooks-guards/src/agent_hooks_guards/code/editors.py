"""What commands of an editor would do: Vim and ex, ed, Emacs Lisp."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINES = 2_000
_TOO_MUCH = "the commands are nested or longer than what is looked at"


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str) -> Found:
    """What an editor's commands would do. ``language``: ``vim``, ``ed`` or ``emacs``. ``arguments``: not looked at."""
    del arguments
    if language == "emacs":
        from .lisp import scan_lisp

        return scan_lisp(text, labels)
    found = Found()
    if language == "ed":
        _ed(text, labels, found)
    else:
        _Vim(labels, found).lines(text)
    return found


def _shell(found: Found, text: str, labels: frozenset[str]) -> None:
    data = Data(text.strip(), labels)
    if data.text and data not in found.shells:
        found.shells.append(data)


def _file(found: Found, kind: str, path: str, method: str = "") -> None:
    path = path.strip()
    effect = (kind, path, False, NO_LABELS, method)
    if path and path[0] not in "%#" and effect not in found.effects:
        found.effects.append(effect)


def _ed(text: str, labels: frozenset[str], found: Found) -> None:
    inserting = False
    for line in text.split("\n")[:_MOST_LINES]:
        if inserting:
            inserting = line.strip() != "."
            continue
        at = _range(line, 0)
        command = line[at : at + 1]
        rest = line[at + 1 :]
        if command in ("g", "v", "G", "V") and rest:
            at = _pattern_end(rest, 1, rest[0])
            inner = rest[at:]
            command, rest = inner[:1], inner[1:]
        if command == "!":
            _shell(found, rest, labels)
        elif command and command in "rweEWf":
            rest = rest.removeprefix("q").strip()
            if rest.startswith("!"):
                _shell(found, rest[1:], labels)
            elif command in "wW":
                _file(found, "write", rest, "append" if command == "W" else "")
            elif command in "reE":
                _file(found, "read", rest)
        elif command and command in "aic":
            inserting = True


def _range(line: str, at: int) -> int:
    """Behind blanks, colons and the addresses of a command."""
    size = len(line)
    while at < size:
        char = line[at]
        if char.isdigit() or char in " \t:.,;$%+-*":
            at += 1
        elif char == "'" and at + 1 < size:
            at += 2
        elif char in "/?":
            at = _pattern_end(line, at + 1, char)
        else:
            break
    return at


def _pattern_end(line: str, at: int, mark: str) -> int:
    size = len(line)
    while at < size:
        if line[at] == "\\":
            at += 2
        elif line[at] == mark:
            return at + 1
        else:
            at += 1
    return size


# Vim's commands that run another command behind them, and how much of their name must be there.
_BEFORE_COMMAND = (
    "silent unsilent verbose noautocmd keepalt keepjumps keepmarks keeppatterns lockmarks tab vertical "
    "leftabove aboveleft"
    "rightbelow belowright topleft botright bufdo windo argdo tabdo cdo cfdo ldo lfdo browse confirm hide "
    "sandbox filter folddoopen"
).split()
_EDITS = "edit find split vsplit tabedit tabnew view badd new vnew pedit sview".split()
_WRITES = "write wq xit saveas update exit wall xall".split()
_CODES = {
    "python3": "python",
    "python": "python",
    "pythonx": "python",
    "py3": "python",
    "pyx": "python",
    "py": "python",
    "py3do": "python",
    "pydo": "python",
    "pyxdo": "python",
    "lua": "lua",
    "luado": "lua",
    "perl": "perl",
    "perldo": "perl",
    "pe": "perl",
    "ruby": "ruby",
    "rubydo": "ruby",
    "rub": "ruby",
    "tcl": "tcl",
    "tcldo": "tcl",
}
_SHORTEST = {
    "silent": 3,
    "edit": 1,
    "write": 1,
    "xit": 1,
    "saveas": 3,
    "update": 2,
    "source": 2,
    "execute": 3,
    "terminal": 3,
    "normal": 4,
    "read": 1,
    "call": 3,
    "shell": 2,
    "make": 3,
    "autocmd": 2,
    "set": 2,
    "global": 1,
    "vglobal": 1,
    "substitute": 1,
    "put": 2,
    "echo": 2,
    "let": 3,
}


def _is(word: str, full: str) -> bool:
    """Whether ``word`` is ``full`` or a short form that Vim takes for it."""
    return full.startswith(word) and len(word) >= min(_SHORTEST.get(full, 3), len(full))


def _before_bar(text: str) -> tuple[str, str]:
    """What stands before the bar that ends a command, and what follows it."""
    quote = ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "|" and text[at + 1 : at + 2] != "|" and text[at - 1 : at] != "|":
            return text[:at], text[at + 1 :]
    return text, ""


class _Vim:
    def __init__(self, labels: frozenset[str], found: Found) -> None:
        self.labels = labels
        self.found = found
        self.options: dict[str, str] = {}
        self.depth = 0
        self.state: object = None

    def lines(self, text: str) -> None:
        lines = iter(text.split("\n")[:_MOST_LINES])
        for line in lines:
            self.command(line, lines)

    def command(self, line: str, lines: Iterator[str]) -> None:
        """One line of ex commands."""
        self.depth += 1
        if self.depth > 20:
            self.found.doubts.append(_TOO_MUCH)
        else:
            self.parse(line, lines)
        self.depth -= 1

    def parse(self, line: str, lines: Iterator[str]) -> None:
        at = _range(line, 0)
        if line[at : at + 1] == "!":
            _shell(self.found, line[at + 1 :], self.labels)
            return
        if line[at : at + 1] in ('"', "#", ""):
            return
        if line[at] == UNKNOWN:
            self.found.doubts.append("an editor's command is not known")
            return
        start = at
        while at < len(line) and (line[at].isalpha() or (line[at].isdigit() and line[start:at] in ("py", "python"))):
            at += 1
        word = line[start:at]
        rest = line[at:]
        if rest[:1] == "!" and not _is(word, "read") and not _is(word, "write"):
            rest = rest[1:]
        if word in _CODES:
            self.code(_CODES[word], rest, lines)
        elif any(_is(word, full) for full in _BEFORE_COMMAND):
            self.command(rest.lstrip(), lines)
        elif word and _is(word, "autocmd"):
            parts = rest.split(None, 2)
            if len(parts) > 2:
                self.command(parts[2].removeprefix("++once ").removeprefix("++nested "), lines)
        elif word in ("g", "v") or _is(word, "global") or _is(word, "vglobal"):
            rest = rest.lstrip()
            if rest:
                self.command(rest[_pattern_end(rest, 1, rest[0]) :], lines)
        elif (
            _is(word, "read")
            or _is(word, "write")
            or word in ("wq", "x", "xit")
            or any(_is(word, full) for full in _WRITES)
        ):
            self.file(word, rest, lines)
        elif any(_is(word, full) for full in _EDITS) and word != "so":
            name, _bar, following = rest.partition("|")
            for piece in name.split():
                if not piece.startswith("+"):
                    _file(self.found, "read", piece)
                else:
                    self.command(piece[1:], lines)
            self.command(following, lines)
        elif word in ("so", "sou", "sour", "sourc", "source", "ru", "runtime"):
            name, _bar, following = rest.partition("|")
            if name.strip():
                self.found.effects.append(("run", name.strip(), False, NO_LABELS, ""))
            self.command(following, lines)
        elif _is(word, "terminal"):
            words = [piece for piece in rest.split() if not piece.startswith("++")]
            _shell(self.found, " ".join(words), self.labels)
        elif _is(word, "shell") and word != "s":
            self.found.programs.append(["sh"])
        elif _is(word, "make") or word in ("grep", "gr", "lmake", "lgrep"):
            program = self.options.get("makeprg" if "make".startswith(word[:2]) or word == "lmake" else "grepprg", "")
            if program:
                _shell(self.found, f"{program} {rest}", self.labels)
        elif _is(word, "set") or word in ("setlocal", "setglobal", "setl"):
            self.set(rest, lines)
        elif _is(word, "normal"):
            self.keys(rest.strip(), lines)
        elif word in ("s", "su", "sub", "subs", "substitute") or (word.startswith("s") and len(word) == 1):
            position = rest.find("\\=")
            if position >= 0:
                self.expression(rest[position + 2 :], lines)
        elif word in (
            "let",
            "call",
            "echo",
            "echom",
            "echomsg",
            "ec",
            "execute",
            "exe",
            "exec",
            "put",
            "pu",
            "if",
            "eval",
            "return",
            "cal",
            "elseif",
            "while",
            "const",
            "unlet",
        ):
            self.statement(word, rest, lines)
        elif "|" in rest:
            for part in rest.split("|")[1:20]:
                self.command(part, lines)

    def file(self, word: str, rest: str, lines: Iterator[str]) -> None:
        """`:w file`, `:w !cmd`, `:r file`, `:r !cmd`."""
        reads = _is(word, "read")
        body = rest.lstrip()
        if body.startswith("!") and (reads or rest[:1] in (" ", "\t")):
            _shell(self.found, body[1:], self.labels)
            return
        body = body.removeprefix("!").lstrip()
        if body.startswith("!") and not reads:
            _shell(self.found, body[1:], self.labels)
            return
        name, _bar, following = body.partition("|")
        append = name.startswith(">>")
        pieces = [piece for piece in name.removeprefix(">>").split() if not piece.startswith("++")]
        if pieces:
            _file(self.found, "read" if reads else "write", pieces[0], "append" if append else "")
        if following:
            self.command(following, lines)

    def code(self, language: str, rest: str, lines: Iterator[str]) -> None:
        """`:python3 …` and `:python3 << END`."""
        body = rest.strip()
        if body.startswith("<<"):
            mark = body[2:].removeprefix("~").replace("trim", "").strip() or "."
            gathered: list[str] = []
            for line in lines:
                if line.strip() == mark:
                    break
                gathered.append(line)
            body = "\n".join(gathered)
        if body:
            self.found.codes.append((language, Data(body, self.labels)))

    def set(self, rest: str, lines: Iterator[str]) -> None:
        settings, _bar, following = rest.replace("\\ ", "\x00").replace("\\|", "\x01").partition("|")
        for setting in settings.split():
            name, equals, value = setting.partition("=")
            if equals:
                names = {"mp": "makeprg", "gp": "grepprg", "sh": "shell"}
                self.options[names.get(name, name)] = value.replace("\x00", " ").replace("\x01", "|")
        if following:
            self.command(following.replace("\x00", " ").replace("\x01", "|"), lines)

    def keys(self, text: str, lines: Iterator[str]) -> None:
        """Keys that are typed: a colon begins a command that ends with Enter."""
        text = (
            text.replace("\\<CR>", "\r")
            .replace("<CR>", "\r")
            .replace("\\r", "\r")
            .replace("\\n", "\r")
            .replace("\n", "\r")
        )
        for piece in text.split("\r")[:50]:
            colon = piece.find(":")
            if colon >= 0:
                self.command(piece[colon + 1 :], lines)
            elif piece.startswith("!!"):
                _shell(self.found, piece[2:], self.labels)

    def statement(self, word: str, rest: str, lines: Iterator[str]) -> None:
        """A command that takes an expression."""
        from .script_state import State

        body = rest.strip().removeprefix("=") if word in ("put", "pu") else rest.strip()
        if word == "let":
            body = rest.strip().replace("$", "_env_", 1) if rest.strip().startswith("$") else rest.strip()
        body, following = _before_bar(body)
        value = self.expression(body, lines)
        if following:
            self.command(following, lines)
        if word in ("execute", "exe", "exec"):
            from .values import text_of

            text = text_of(value)  # type: ignore[arg-type]
            self.command(text.text, lines)
            if text.text == UNKNOWN and not isinstance(self.state, State):
                self.found.doubts.append("an editor's command is not known")

    def expression(self, text: str, lines: Iterator[str]) -> object:
        """The value of an expression of Vim's."""
        from .script_state import State

        if self.state is None:
            self.state = State("vim", self.labels, [])
        state = self.state
        assert isinstance(state, State)
        state.found = self.found
        before = len(self.found.codes)
        value = state.run(text)
        for language, data in self.found.codes[before:]:
            if language == "vim":
                self.keys(":" + data.text if not data.text.startswith(":") else data.text, lines)
        self.found.codes[before:] = [code for code in self.found.codes[before:] if code[0] != "vim"]
        return value
