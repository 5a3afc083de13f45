"""Reads PowerShell, statement by statement, and walks through what it reads."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import variable_labels

from .powershell_values import (
    LONGEST,
    Block,
    Object,
    Parameter,
    Value,
    add,
    character,
    formatted,
    item_of,
    joined,
    known,
    labels_of,
    number,
    replaced,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .powershell import Walk

DEEPEST = 30
_LONGEST_FRAGMENT = 500
_PER_STEP = 50  # characters between brackets
_WORD_ENDS = " \t\r\n;|&(){}\"'`$,<>"


class Reader:
    """Reads and walks through one text."""

    def __init__(self, walk: Walk, text: str) -> None:
        self.walk = walk
        self.text = text
        self.size = len(text)
        self.at = 0

    def skip(self, *, lines: bool = False) -> None:
        """Over blanks and comments, and over line ends if these do not end what is read."""
        text = self.text
        while self.at < self.size:
            char = text[self.at]
            if char in " \t\r" or (lines and char == "\n"):
                self.at += 1
            elif char == "`" and text[self.at + 1 : self.at + 2] in ("\n", "\r"):
                self.at += 2
            elif text.startswith("<#", self.at):
                end = text.find("#>", self.at)
                self.at = self.size if end < 0 else end + 2
            elif char == "#" and (self.at == 0 or text[self.at - 1] in " \t\n;({|"):
                end = text.find("\n", self.at)
                self.at = self.size if end < 0 else end
            else:
                return

    def statements(self) -> Value:
        """Walk through all statements; the value of the last one."""
        value: Value = None
        while self.at < self.size and self.walk.steps > 0:
            self.walk.steps -= 1
            self.skip(lines=True)
            if self.at >= self.size:
                break
            before = self.at
            char = self.text[self.at]
            if char in ";&|)}]," and not (char == "&" and self.text[self.at : self.at + 2] != "&&"):
                self.at += 1
                continue
            end = self.end_of_statement(self.at, self.at + _LONGEST_FRAGMENT)
            self.walk.fragment = self.text[self.at : end].strip()
            value = self.statement()
            if self.at <= before:
                self.at = before + 1
        return value

    def end_of_statement(self, at: int, most: int = LONGEST) -> int:
        """Where the statement at ``at`` ends, quotes and brackets passed over; at ``most`` at the latest."""
        text = self.text
        size = min(self.size, most)
        depth = 0
        quote = ""
        while at < size:
            char = text[at]
            if quote:
                if char == quote:
                    quote = ""
                elif char == "`" and quote == '"':
                    at += 1
            elif char in "\"'":
                quote = char
            elif char in "({[":
                depth += 1
            elif char in ")}]":
                depth -= 1
                if depth < 0:
                    return at
            elif char in ";\n" and not depth:
                return at
            at += 1
        return at

    def word_at(self) -> str:
        """The plain word that stands here, in lower case."""
        end = self.at
        while end < self.size and (self.text[end].isalnum() or self.text[end] in "-_"):
            end += 1
        return self.text[self.at : end].lower()

    def statement(self) -> Value:
        """Walk through one statement."""
        word = self.word_at()
        if word in ("if", "elseif", "while", "until", "switch", "for", "foreach") and self.opens(len(word), "("):
            return self.control(word)
        if word in ("else", "do", "try", "finally", "begin", "process", "end") and self.opens(len(word), "{"):
            self.at += len(word)
            self.skip(lines=True)
            return self.walk.run(self.bracketed())
        if word in ("catch", "trap") and self.text.find("{", self.at) >= 0:
            self.at = self.text.find("{", self.at)
            return self.walk.run(self.bracketed())
        if word in ("function", "filter"):
            self.at += len(word)
            self.skip()
            start = self.at
            while self.at < self.size and self.text[self.at] not in " \t\n({":
                self.at += 1
            name = self.text[start : self.at].lower().rpartition(":")[2]
            self.skip(lines=True)
            if self.text[self.at : self.at + 1] == "(":
                self.bracketed()
                self.skip(lines=True)
            if self.text[self.at : self.at + 1] == "{":
                self.walk.functions[name] = Block(self.bracketed())
            return None
        if word in ("return", "throw", "exit"):
            self.at += len(word)
            self.skip()
        elif word in ("param", "using"):
            self.at = self.end_of_statement(self.at)
            return None
        return self.pipeline()

    def opens(self, length: int, bracket: str) -> bool:
        """Whether a bracket follows the word of this length."""
        at = self.at + length
        while at < self.size and self.text[at] in " \t\r\n":
            at += 1
        return self.text[at : at + 1] == bracket

    def control(self, word: str) -> Value:
        """`if (…) { … }`, `foreach ($x in …) { … }`, `while (…) { … }`."""
        self.at += len(word)
        self.skip(lines=True)
        condition = self.bracketed()
        walk = self.walk
        names: str | None = None
        items: list[Value] = [None]
        if word == "foreach":
            left, _in, right = condition.partition(" in ")
            names = left.strip().lstrip("$").lower()
            values = walk.run(right)
            items = values[:50] if isinstance(values, list) else [values]
        else:
            walk.run(condition)
        self.skip(lines=True)
        value: Value = None
        if self.text[self.at : self.at + 1] == "{":
            body = self.bracketed()
            for item in items:
                if names is not None:
                    walk.variables[names] = item
                value = walk.run(body if word != "switch" else _switch_blocks(body))
        return value

    def bracketed(self) -> str:
        """What stands between the bracket here and the one that closes it."""
        start = self.at + 1
        self.at = self.closing(self.at) + 1
        return self.text[start : self.at - 1]

    def closing(self, at: int) -> int:
        """The position of the bracket that closes the one at ``at``."""
        text = self.text
        start = at
        depth = 0
        quote = ""
        while at < self.size:
            char = text[at]
            if quote:
                if char == "`" and quote == '"':
                    at += 1
                elif char == quote:
                    quote = ""
            elif char == "@" and text[at + 1 : at + 2] in ("'", '"') and text[at + 2 : at + 3] in ("\n", "\r"):
                end = text.find("\n" + text[at + 1] + "@", at)
                at = self.size if end < 0 else end + 2
            elif char in "\"'":
                quote = char
            elif char == "`":
                at += 1
            elif char in "({[":
                depth += 1
            elif char in ")}]":
                depth -= 1
                if not depth:
                    break
            at += 1
        self.walk.steps -= (at - start) // _PER_STEP
        return min(at, self.size)

    # Pipelines

    def pipeline(self) -> Value:
        """Walk through a pipeline; what comes out of it."""
        walk = self.walk
        target = self.assignment()
        value: Value = None
        first = True
        while self.at < self.size and walk.steps > 0:
            walk.steps -= 1
            self.skip(lines=not first)
            before = self.at
            value = self.element(value, piped=not first)
            self.skip()
            first = False
            following = self.text[self.at : self.at + 2]
            if following in {"||", "&&"}:
                break
            if following[:1] == "|":
                self.at += 1
                continue
            if self.at <= before or following[:1] != "|":
                break
        if target is not None:
            name, operator, key = target
            if operator == "+=":
                value = add(walk.variables.get(name), value)
            if key is None:
                walk.variables[name] = value
        return value

    def assignment(self) -> tuple[str, str, str | None] | None:
        """`$name =`, `[type]$name =`, `$name.member =`; nothing is read if it is none."""
        start = at = self.at
        text = self.text
        while text[at : at + 1] == "[":
            at = self.closing(at) + 1
            while text[at : at + 1] == " ":
                at += 1
        if text[at : at + 1] != "$":
            return None
        at += 1
        begin = at
        if text[at : at + 1] == "{":
            end = text.find("}", at)
            name, at = text[at + 1 : end], end + 1
        else:
            while at < self.size and (text[at].isalnum() or text[at] in "_:"):
                at += 1
            name = text[begin:at]
        member = None
        while text[at : at + 1] in (".", "["):
            member = ""
            if text[at] == "[":
                at = self.closing(at) + 1
            else:
                at += 1
                while at < self.size and (text[at].isalnum() or text[at] == "_"):
                    at += 1
        while at < self.size and text[at] in " \t":
            at += 1
        for operator in ("=", "+="):
            if text.startswith(operator, at) and not text.startswith("==", at):
                self.at = at + len(operator)
                self.skip(lines=True)
                return (
                    name.lower().rpartition(":")[2] if not name.lower().startswith("env:") else name.lower(),
                    operator,
                    member,
                )
        self.at = start
        return None

    def element(self, stdin: Value, *, piped: bool) -> Value:
        """One part of a pipeline: an expression or a command."""
        char = self.text[self.at : self.at + 1]
        walk = self.walk
        if char == "&" or (
            char == "." and self.text[self.at + 1 : self.at + 2] in (" ", "(", "'", '"', "$", "{", "\t")
        ):
            self.at += 1
            self.skip()
            head = self.primary(in_command=True)
            head = self.members(head)
            if isinstance(head, list):
                return walk.call([*head[:1], *self.arguments()], stdin, piped=piped)
            return walk.call([head, *self.arguments()], stdin, piped=piped)
        if char and (char in "$\"'([@{-+!" or char.isdigit()) and not self.is_program():
            value = self.expression()
            self.redirect(value)
            return value
        head = self.word()
        if head is None:
            self.at += 1
            return stdin
        return walk.call([head, *self.arguments()], stdin, piped=piped)

    def is_program(self) -> bool:
        """A name like `7z` begins with a digit and is a program all the same."""
        end = self.at
        while end < self.size and self.text[end] not in _WORD_ENDS:
            end += 1
        word = self.text[self.at : end]
        return word[:1].isdigit() and any(char.isalpha() for char in word) and not word.lower().startswith("0x")

    def arguments(self) -> list[Value]:
        """The words behind a command's name."""
        out: list[Value] = []
        while self.at < self.size and self.walk.steps > 0:
            self.walk.steps -= 1
            self.skip()
            char = self.text[self.at : self.at + 1]
            if not char or char in "\n;|)}" or self.text.startswith("&&", self.at):
                break
            if char == "&":
                self.at += 1
                break
            if char in "<>" or (char in "123456*" and self.text[self.at + 1 : self.at + 2] == ">"):
                self.redirect(None)
                continue
            before = self.at
            value = self.word()
            if self.at <= before:
                self.at = before + 1
                continue
            items: list[Value] | None = None
            while self.text[self.at : self.at + 1] == "," or (
                self.text[self.at : self.at + 2] == " ," and value is not None
            ):
                self.at = self.text.find(",", self.at) + 1
                self.skip(lines=True)
                items = items or [value]
                items.append(self.word())
            out.append(items if items is not None else value)
        return out

    def redirect(self, value: Value) -> None:
        """`> file`, `>> file`, `2>&1`."""
        self.skip()
        text = self.text
        at = self.at
        if text[at : at + 1] in ("1", "2", "3", "4", "5", "6", "*") and text[at + 1 : at + 2] == ">":
            at += 1
        if text[at : at + 1] not in (">", "<"):
            return
        append = text.startswith(">>", at)
        at += 2 if append else 1
        if text[at : at + 1] == "&":
            self.at = min(at + 2, self.size)
            return
        self.at = at
        self.skip()
        path = text_of(self.word())
        if path.text and path.text.lower() not in ("$null", "nul") and path.text:
            command = Command(
                "out-file", ["out-file", path.text], cwd=self.walk.cwd, fragment=self.walk.fragment, via=("powershell",)
            )
            self.walk.add("write", path.text, command, append=append, labels=labels_of(value))
            self.walk.keep(path.text, text_of(value))

    def word(self) -> Value:
        """One word of a command; several pieces that stand together are one text."""
        parts: list[Value] = []
        start = self.at
        quoted = False
        while self.at < self.size:
            char = self.text[self.at]
            if char == "`":
                following = self.text[self.at + 1 : self.at + 2]
                parts.append(Data(following))
                self.at += 2
                continue
            if char in "\"'":
                quoted = True
                parts.append(self.string())
                continue
            if char == "@" and self.text[self.at + 1 : self.at + 2] in ("(", "{", "'", '"') and not parts:
                return self.members(self.primary(in_command=True))
            if char == "{" and not parts:
                return Block(self.bracketed())
            if char == "(" and not parts:
                return self.members(self.primary(in_command=True))
            if char == "$":
                value = self.members(self.primary(in_command=True))
                if not parts and (self.at >= self.size or self.text[self.at] in " \t\r\n;|&),}"):
                    return value
                parts.append(value)
                continue
            if char in _WORD_ENDS:
                break
            end = self.at
            while end < self.size and self.text[end] not in _WORD_ENDS:
                end += 1
            parts.append(Data(self.text[self.at : end]))
            self.at = end
        if self.at == start:
            return None
        labels = NO_LABELS.union(*(labels_of(part) for part in parts)) if parts else NO_LABELS
        text = "".join(text_of(part).text for part in parts)
        if not quoted and text[:1] == "-" and len(text) > 1 and not text[1].isdigit():
            return Parameter(text, labels)
        if not quoted and text[:1] in ("\u2013", "\u2014", "\u2015"):  # dashes that PowerShell takes for one
            return Parameter("-" + text[1:], labels)
        return Data(text, labels)

    def string(self) -> Data:
        """A quoted text."""
        text = self.text
        quote = text[self.at]
        at = self.at + 1
        out: list[str] = []
        labels = NO_LABELS
        while at < self.size:
            char = text[at]
            if char == quote:
                if text[at + 1 : at + 2] == quote:
                    out.append(quote)
                    at += 2
                    continue
                break
            if quote == '"' and char == "`":
                following = text[at + 1 : at + 2]
                out.append({"n": "\n", "t": "\t", "r": "\r", "0": "\0"}.get(following, following))
                at += 2
                continue
            if (
                quote == '"'
                and char == "$"
                and text[at + 1 : at + 2]
                and (text[at + 1].isalnum() or text[at + 1] in "_({")
            ):
                data, at = self.inserted(at)
                out.append(data.text)
                labels |= data.labels
                continue
            out.append(char)
            at += 1
        self.at = at + 1
        return Data("".join(out), labels)

    def inserted(self, at: int) -> tuple[Data, int]:
        """`$name` or `$(…)` inside of a text."""
        self.at = at
        if self.text[at + 1] == "(":
            self.at = at + 1
            value = self.walk.run(self.bracketed())
            return text_of(value), self.at
        value = self.variable()
        return text_of(value), self.at

    def here_string(self) -> Data:
        """`@" … "@`."""
        quote = self.text[self.at + 1]
        start = self.text.find("\n", self.at)
        end = self.text.find("\n" + quote + "@", self.at)
        if start < 0 or end < 0:
            self.at = self.size
            return Data(self.text[start + 1 :] if start >= 0 else "")
        body = self.text[start + 1 : max(end, start + 1)]
        self.at = end + 3
        if quote == '"' and "$" in body:
            inner = Reader(self.walk, '"' + body.replace('"', '""') + '"')
            return inner.string()
        return Data(body)

    def variable(self) -> Value:
        """The value of `$name`, `${name}`, `$env:NAME`."""
        text = self.text
        at = self.at + 1
        if text[at : at + 1] == "{":
            end = text.find("}", at)
            end = self.size if end < 0 else end
            name = text[at + 1 : end].lower()
            self.at = end + 1
        else:
            end = at
            while end < self.size and (text[end].isalnum() or text[end] in "_:?"):
                if text[end] == ":" and not text[end + 1 : end + 2].isalnum():
                    break
                end += 1
            name = text[at:end].lower()
            self.at = max(end, at)
        name = name.removeprefix("script:").removeprefix("global:").removeprefix("local:").removeprefix("variable:")
        if name in self.walk.variables:
            return self.walk.variables[name]
        if name in ("true", "false"):
            return name == "true"
        if name == "null":
            return None
        if name in ("home", "env:userprofile", "env:home"):
            return Data("~")
        if name == "profile":
            return Data("~/Documents/PowerShell/Microsoft.PowerShell_profile.ps1")
        if name == "shellid":
            return Data("Microsoft.PowerShell")
        if name == "pshome":
            return Data("C:\\Windows\\System32\\WindowsPowerShell\\v1.0")
        if name == "pwd":
            return Data(self.walk.cwd or UNKNOWN)
        if name.startswith("env:"):
            known_folders = {
                "systemdrive": "C:",
                "systemroot": "C:\\Windows",
                "windir": "C:\\Windows",
                "programfiles": "C:\\Program Files",
                "appdata": "~\\AppData\\Roaming",
                "localappdata": "~\\AppData\\Local",
                "temp": "~\\AppData\\Local\\Temp",
                "tmp": "~\\AppData\\Local\\Temp",
                "programdata": "C:\\ProgramData",
                "public": "C:\\Users\\Public",
                "comspec": "C:\\Windows\\system32\\cmd.exe",
            }
            known = known_folders.get(name[4:])
            return Data(known) if known else Data(UNKNOWN, variable_labels(name[4:].upper()))
        return Data(UNKNOWN)

    # Expressions

    def expression(self) -> Value:
        """A value with its operators."""
        self.skip()
        value = self.unary()
        text = self.text
        while self.at < self.size and self.walk.steps > 0:
            self.walk.steps -= 1
            self.skip()
            char = text[self.at : self.at + 1]
            if char == "+" and text[self.at + 1 : self.at + 2] != "=":
                self.at += 1
                self.skip(lines=True)
                value = add(value, self.unary())
            elif char == ",":
                self.at += 1
                self.skip(lines=True)
                following = self.unary()
                value = [*value, following] if isinstance(value, list) else [value, following]
            elif char == "-" and text[self.at + 1 : self.at + 2].isalpha():
                end = self.at + 1
                while end < self.size and text[end].isalpha():
                    end += 1
                operator = text[self.at + 1 : end].lower()
                self.at = end
                self.skip(lines=True)
                value = self.operator(operator, value)
            elif char == "." and text.startswith("..", self.at):
                self.at += 2
                last = number(self.unary())
                first = number(value)
                if first is None or last is None or abs(last - first) > 5000:
                    value = Data(UNKNOWN)
                else:
                    value = list(range(first, last + 1)) if first <= last else list(range(first, last - 1, -1))
            elif (char and char in "*/%") or (char == "-" and not text[self.at + 1 : self.at + 2].isalpha()):
                self.at += 1
                self.skip()
                right = self.unary()
                first, second = number(value), number(right)
                if char == "*" and second is not None and isinstance(value, Data) and first is None:
                    value = (
                        Data(value.text * max(0, min(second, 1000)), value.labels)
                        if len(value.text) * second < LONGEST
                        else Data(UNKNOWN)
                    )
                elif first is not None and second is not None and char == "-":
                    value = first - second
                elif (
                    first is not None
                    and second is not None
                    and char == "*"
                    and abs(first) < 1 << 40
                    and abs(second) < 1 << 40
                ):
                    value = first * second
                else:
                    value = Data(UNKNOWN, labels_of(value))
            else:
                break
        return value

    def operator(self, operator: str, value: Value) -> Value:
        """`value -operator …`."""
        if operator in ("join", "ijoin"):
            separator = known(self.unary())
            items = value if isinstance(value, list) else [value]
            return joined(items, separator) if separator is not None else Data(UNKNOWN, labels_of(value))
        if operator == "f":
            right = self.unary()
            values = [right]
            while True:
                self.skip()
                if self.text[self.at : self.at + 1] != ",":
                    break
                self.at += 1
                self.skip(lines=True)
                values.append(self.unary())
            if len(values) == 1 and isinstance(right, list):
                values = right
            return formatted(value, values)
        right = self.unary()
        if operator in ("replace", "creplace", "ireplace"):
            self.skip()
            new: Value = NOTHING
            if isinstance(right, list):
                right, new = (right[0], right[1] if len(right) > 1 else NOTHING) if right else (NOTHING, NOTHING)
            elif self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.skip(lines=True)
                new = self.unary()
            return replaced(value, right, new)
        if operator in ("split", "csplit", "isplit"):
            text, mark = known(value), known(right)
            if text is None or mark is None:
                return Data(UNKNOWN, labels_of(value))
            plain = mark.replace("\\", "")
            if mark in ("", "(?<=.)"):
                return [Data(char) for char in text[:5000]]
            if any(char in mark for char in "[]()*+?^$") or mark == ".":
                return Data(UNKNOWN, labels_of(value))
            return (
                [
                    Data(part)
                    for alternative in [text]
                    for part in alternative.replace(plain.split("|")[0] or plain, "\0").split("\0")
                ]
                if "|" not in mark
                else Data(UNKNOWN)
            )
        if operator == "bxor":
            first, second = number(value), number(right)
            return first ^ second if first is not None and second is not None else Data(UNKNOWN)
        if operator == "as":
            return value
        return Data(UNKNOWN)

    def unary(self) -> Value:
        """A value with the operators before it."""
        text = self.text
        self.skip()
        char = text[self.at : self.at + 1]
        if char == "-" and text[self.at + 1 : self.at + 2].isdigit():
            self.at += 1
            exact = number(self.primary())
            return -exact if exact is not None else Data(UNKNOWN)
        if char == "-" and text[self.at + 1 : self.at + 6].lower() in ("join ", "join("):
            self.at += 5
            value = self.unary()
            return joined(value if isinstance(value, list) else [value], "")
        if char == "-" and text[self.at + 1 : self.at + 6].lower() == "split":
            self.at += 6
            value_text = known(self.unary())
            return [Data(part) for part in value_text.split()] if value_text is not None else Data(UNKNOWN)
        if char and char in "!+":
            self.at += 1
            return self.unary()
        if char == "-" and text[self.at + 1 : self.at + 2].isalpha():
            while self.at < self.size and not text[self.at].isspace() and text[self.at] != "(":
                self.at += 1
            return self.unary()
        if char == ",":
            self.at += 1
            return [self.unary()]
        return self.members(self.primary())

    def primary(self, *, in_command: bool = False) -> Value:
        """The value of what begins here, without its members."""
        text = self.text
        char = text[self.at : self.at + 1]
        walk = self.walk
        if walk.depth > DEEPEST:
            self.at = self.size
            walk.doubt("too-much", walk.fragment)
            return Data(UNKNOWN)
        if char and char in "\"'":
            return self.string()
        if char == "@":
            following = text[self.at + 1 : self.at + 2]
            if following in ("'", '"') and following:
                return self.here_string()
            if following == "(":
                self.at += 1
                value = walk.run(self.bracketed())
                return value if isinstance(value, list) else [] if value is None else [value]
            if following == "{":
                self.at += 1
                return self.table(self.bracketed())
            self.at += 1
            end = self.at
            while end < self.size and (text[end].isalnum() or text[end] == "_"):
                end += 1
            name, self.at = text[self.at : end].lower(), end
            return walk.variables.get(name, Data(UNKNOWN))  # splatting
        if char == "$":
            if text[self.at + 1 : self.at + 2] == "(":
                self.at += 1
                return walk.run(self.bracketed())
            return self.variable()
        if char == "(":
            return walk.run(self.bracketed())
        if char == "{":
            return Block(self.bracketed())
        if char == "[":
            return self.type()
        if char and char.isdigit():
            end = self.at
            while end < self.size and (text[end].isalnum() or (text[end] == "." and text[end + 1 : end + 2] != ".")):
                end += 1
            digits, self.at = text[self.at : end], end
            exact = number(Data(digits))
            return exact if exact is not None else Data(digits)
        if in_command or (char and char not in _WORD_ENDS):
            value = self.word()
            if value is None:
                self.at += 1
            return value
        self.at += 1
        return None

    def table(self, body: str) -> Value:
        """`@{ a = 1; b = 2 }`."""
        table: dict[str, Value] = {}
        inner = Reader(self.walk, body)
        while inner.at < inner.size and self.walk.steps > 0:
            self.walk.steps -= 1
            inner.skip(lines=True)
            if inner.text[inner.at : inner.at + 1] == ";":
                inner.at += 1
                continue
            equals = inner.text.find("=", inner.at)
            if equals < 0:
                break
            name = inner.text[inner.at : equals].strip().strip("\"'").lower()
            inner.at = equals + 1
            inner.skip(lines=True)
            before = inner.at
            table[name] = inner.pipeline()
            if inner.at <= before:
                inner.at += 1
        return table

    def type(self) -> Value:
        """`[type]` with what it converts, or a type whose members follow."""
        name = self.bracketed().strip().lower().removeprefix("system.").rstrip("[]").strip()
        self.skip()
        following = self.text[self.at : self.at + 1]
        if self.text.startswith("::", self.at):
            return Object(name)
        if not following or following in ")];,|=\n":
            return Object(name)
        value = self.unary()
        if name == "char":
            if isinstance(value, list):
                return [character(item) for item in value]
            return character(value)
        if name in ("string", "text.stringbuilder"):
            return joined(value, " ") if isinstance(value, list) else value
        if name == "scriptblock":
            return Block(text_of(value).text) if known(value) is not None else value
        if name == "int" and isinstance(value, Data) and len(value.text) == 1 and not value.text.isdecimal():
            return ord(value.text)
        if name in ("int", "int32", "byte", "int64"):
            exact = number(value)
            return exact if exact is not None else value
        if name == "char[]" and isinstance(value, Data):
            return [Data(char) for char in value.text]
        return value

    def members(self, value: Value) -> Value:
        """`.name`, `.name(…)`, `::name(…)`, `[…]` behind a value."""
        from .dotnet import call_member

        text = self.text
        while self.at < self.size and self.walk.steps > 0:
            self.walk.steps -= 1
            if text.startswith("::", self.at):
                self.at += 2
            elif (
                text[self.at] == "."
                and (
                    text[self.at + 1 : self.at + 2].isalpha() or text[self.at + 1 : self.at + 2] in ("'", '"', "$", "(")
                )
                and text[self.at + 1 : self.at + 2]
            ):
                self.at += 1
            elif text[self.at] == "[" and not isinstance(value, Object):
                inner = self.bracketed()
                value = item_of(value, self.walk.run(inner))
                continue
            else:
                break
            char = text[self.at : self.at + 1]
            if char and char in "\"'":
                name = text_of(self.string()).text
            elif char == "$":
                name = text_of(self.variable()).text
            elif char == "(":
                name = text_of(self.walk.run(self.bracketed())).text
            else:
                end = self.at
                while end < self.size and (text[end].isalnum() or text[end] == "_"):
                    end += 1
                name, self.at = text[self.at : end], end
            arguments: list[Value] | None = None
            if text[self.at : self.at + 1] == "(":
                inner_reader = Reader(self.walk, self.bracketed())
                arguments = inner_reader.values()
            value = call_member(self.walk, value, name.lower(), arguments)
        return value

    def values(self) -> list[Value]:
        """The arguments of a method."""
        out: list[Value] = []
        while self.at < self.size and self.walk.steps > 0:
            self.walk.steps -= 1
            self.skip(lines=True)
            if self.at >= self.size:
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            before = self.at
            out.append(self.argument())
            if self.at <= before:
                self.at = before + 1
        return out

    def argument(self) -> Value:
        """One argument of a method."""
        value = self.unary()
        while self.at < self.size and self.walk.steps > 0:
            self.skip(lines=True)
            char = self.text[self.at : self.at + 1]
            if char == "+":
                self.at += 1
                self.skip(lines=True)
                value = add(value, self.unary())
            elif char == "-" and self.text[self.at + 1 : self.at + 2].isalpha():
                end = self.at + 1
                while end < self.size and self.text[end].isalpha():
                    end += 1
                operator, self.at = self.text[self.at + 1 : end].lower(), end
                self.skip(lines=True)
                value = self.operator(operator, value)
            else:
                break
        return value


def _switch_blocks(body: str) -> str:
    """The blocks of a `switch`, one behind the other."""
    from .powershell import Walk

    reader = Reader(Walk(""), body)
    out: list[str] = []
    while True:
        opening = body.find("{", reader.at)
        if opening < 0 or len(out) > 100:
            return "\n".join(out)
        reader.at = opening
        out.append(reader.bracketed())
