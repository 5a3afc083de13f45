"""Reads a shell command into the tree of ``syntax``, as bash would.

Simple commands are read here, out of ``words``, and here-documents with them; ``structure`` reads how they hang
together.
Rules: the Bash Reference Manual, "Shell Grammar", and bash 5.2 where the manual is silent.
"""

from __future__ import annotations

import re

from .plain import IS_RESERVED, RESERVED
from .structure import CONDITIONS, PIPES, Piece, Tree, listed
from .syntax import Assignment, Bare, Group, Item, Redirect, Sequence, Simple, Substitution, Test, Unreadable
from .words import DEEPEST, JOIN, NotReadableError, Words, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Node, Word

LONGEST = 256 * 1024  # characters

_SAFE = r"[^\s|&;()<>'\"\\$`#][^\s|&;()<>'\"\\$`]*+"
# Words in which nothing is quoted or expanded, up to blanks or the end of the command.
_RUN = re.compile(rf"(?:{_SAFE}[ \t]++)*+(?:{_SAFE}(?=[\n;|&)]|\Z))?+").match
# The same at the beginning of a command, if it begins with a name: not with a reserved word and not with an assignment.
_NAMED_RUN = re.compile(
    rf"(?!{IS_RESERVED})"
    rf"(?:\[(?=[ \t])|[^\s|&;()<>'\"\\$`#=\[][^\s|&;()<>'\"\\$`=\[]*+)(?=[ \t\n;|&)]|\Z)"
    rf"[ \t]*+(?:{_SAFE}[ \t]++)*+(?:{_SAFE}(?=[\n;|&)]|\Z))?+"
).match
_QUOTED = re.compile(r"(?:'([^']*+)'|\"([^\"\\$`]*+)\")(?=[ \t\n;|&)]|\Z)").match
_PATTERN = re.compile(r"[{~\[*?]").search
_ENDS_LIST = frozenset(["", "&", " ", "\n"])  # what may follow an ``&`` that redirects nothing
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*").match
_COMMENT = re.compile(r"#[^\n]*").match
_LINE = re.compile(r"[^\n]*\n?").match
_OPERATOR = re.compile(rf";{JOIN};{JOIN}&|;{JOIN}[;&]|&{JOIN}&|\|{JOIN}[|&]|[;&|]").match
_REDIRECT = re.compile(
    rf"([0-9](?:[0-9]|\\\n)*|\{{[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?\}})?"
    rf"(<{JOIN}<{JOIN}[<-]|<{JOIN}[<>&]|<(?!{JOIN}\()|>{JOIN}[>|&]|>(?!{JOIN}\())|(&{JOIN}>(?:{JOIN}>)?)"
).match
_MAY_REDIRECT = frozenset("<>&0123456789{")
_ASSIGNMENT = re.compile(r"([A-Za-z_](?:[A-Za-z0-9_]|\\\n)*)(\+?)=").match
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[").match
_BRACKETS = re.compile(r"[ \t]*\([ \t]*\)").match
_OPTIONS_OF_TIME = re.compile(r"(?:[ \t]+-p(?=[ \t\n;&|]|\Z))?(?:[ \t]+--(?=[ \t\n;&|]|\Z))?").match
# With other options it is the program of that name, for shells that have no such word.
_PROGRAM_OF_TIME = re.compile(r"[ \t]+-(?!p[ \t\n;&|]|-[ \t\n;&|]|p?\Z|-\Z)").match
_NAME_OF_COPROCESS = re.compile(
    r"[ \t]+(?!(?:if|for|while|until|case|select|time|function|coproc)[ \t])[A-Za-z_][A-Za-z0-9_]*[ \t]+"
    r"(?=\(|\[\[[ \t]|(?:if|for|select|while|until|case|\{)[ \t\n(])"
).match
_QUOTES = re.compile(r"\\([\s\S])|'([^']*)'|\"([^\"]*)\"")

_FOLLOWERS = frozenset(["then", "else", "elif", "do"])
_CLOSERS = frozenset(["fi", "done", "esac", "}"])
_CLOSER = {
    "if": "fi", "while": "done", "until": "done", "do": "done", "do {": "}", "case": "esac", "{": "}", "(": ")"
}  # fmt: skip
_JOINERS = CONDITIONS | PIPES
_IN = [Bare("in")]
_ESAC = [Bare("esac")]


def read(text: str) -> Sequence:
    """Reads a command. Never raises: what bash would not run either, and what is longer than ``LONGEST`` or nests
    deeper than ``words.DEEPEST``, is an ``Unreadable``.
    """
    if len(text) > LONGEST:
        return _unreadable(text, [])
    commands = Commands(text)
    try:
        return commands.commands("")
    except (NotReadableError, RecursionError):
        return _unreadable(text, commands.found)


def _unreadable(text: str, found: list[Node], start: int = 0) -> Sequence:
    end = start + len(text)
    return Sequence([Item(Unreadable(text, found, start, end))], start, end)


class Commands(Words):
    """Reads commands; ``found``: the simple ones, for when the rest cannot be read."""

    __slots__ = ("found", "pending")

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        super().__init__(text, base, depth)
        self.found: list[Node] = []
        self.pending: list[tuple[Redirect, str, bool, bool]] = []  # here-documents whose bodies follow

    def inner(self, text: str, at: int) -> Node:
        """Reads commands from a text that stood at ``at`` and lost its escapes. What cannot be read in it does not keep
        bash from running what is around it.
        """
        inner = Commands(text, self.base + at, self.depth)
        try:
            node: Node = inner.commands("")
        except NotReadableError:
            node = _unreadable(text, inner.found, self.base + at)
        self.found += inner.found
        return node

    def commands(self, closer: str) -> Sequence:
        """Reads commands up to ``closer``, and past it.

        Raises:
            NotReadableError: a quote or a bracket is not closed, or they nest too deep.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotReadableError("nested too deep", self.base + self.at)
        pending, self.pending = self.pending, []
        start = self.at
        first = len(self.found)
        script = _Script(self, closer)
        script.read()
        end = self.at - len(closer)
        if pending:
            self.pending = pending + self.pending
        self.depth -= 1
        if script.is_broken:
            node = None
        elif script.is_list:
            node = listed(script.pieces)
        else:
            node = Tree(script.pieces).read()
        if node is None:
            return _unreadable(self.text[start:end], self.found[first:], self.base + start)
        node.start, node.end = self.base + start, self.base + end
        return node

    def plain(self, texts: list[str], start: int, end: int) -> Simple:
        """Reads the rest of a simple command of which nothing was quoted or expanded yet, from ``start`` to ``end``."""
        text = self.text
        at = self.at
        is_whole = at >= len(text) or text[at] in "\n;|)" or (text[at] == "&" and text[at + 1 : at + 2] in _ENDS_LIST)
        if not is_whole or _PATTERN(text, start, end):
            return self.simple([[Bare(word)] for word in texts], start, end)
        node = Simple([], [], [], self.base + start, self.base + end, texts)
        self.found.append(node)
        return node

    def simple(self, words: list[Word], start: int, end: int) -> Simple:
        """Reads a simple command, or the rest of it; ``words``: those read already, from ``start`` to ``end``."""
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        text = self.text
        size = len(text)
        at = self.at
        while at < size:
            char = text[at]
            if char in "\n;|)#":
                break
            if char in " \t\\":
                blanks = _BLANKS(text, at)
                if blanks and blanks.end() > at:
                    self.at = at = blanks.end()
                    continue
            elif char in _MAY_REDIRECT and self.redirected(redirects):
                at = end = self.at
                continue
            elif char in "&(":
                break
            if words:
                run = _RUN(text, at)
                if run and run.end() > at:
                    plain = run[0]
                    words += [[Bare(word)] for word in plain.split()]
                    end = at + len(plain.rstrip())
                    self.at = at = run.end()
                    continue
            elif self.assigned(assignments):
                at = end = self.at
                continue
            whole = _QUOTED(text, at)
            if whole is not None:
                words.append([whole[1] or whole[2] or ""])
                self.at = at = end = whole.end()
                continue
            word = self.word()
            if self.at == at:
                break
            if text.startswith("(", self.at) and (array := self.array(word)) is not None:
                assignments.append(array)
            elif word:
                words.append(word)
            at = end = self.at
        node = Simple(assignments, words, redirects, self.base + start, self.base + end)
        self.found.append(node)
        return node

    def assigned(self, assignments: list[Assignment]) -> bool:
        """Reads ``name=…`` or ``name[…]=…``; False, with nothing read, if there is none."""
        text = self.text
        start = self.at
        index: Word | None = None
        match = _SUBSCRIPT(text, start)
        if match is not None:
            self.at = match.end()
            index = []
            self.inside("]", index, opener="[")
            append = text.startswith("+", self.at)
            if not text.startswith("=", self.at + append):
                self.at = start
                return False
            name = text[start : match.end() - 1]
            self.at += 1 + append
        else:
            match = _ASSIGNMENT(text, start)
            if match is None:
                return False
            name = match[1].replace("\\\n", "")
            append = bool(match[2])
            self.at = match.end()
        items = self.items() if text.startswith("(", self.at) else None
        value = self.word() if items is None else []
        assignments.append(Assignment(name, value, append, index, items))
        return True

    def array(self, word: Word) -> Assignment | None:
        """Reads the ``(…)`` behind ``name=``, an operand of ``declare`` and its like."""
        if len(word) != 1 or type(part := word[0]) is not Bare:
            return None
        match = _ASSIGNMENT(part.text)
        if match is None or match.end() < len(part.text):
            return None
        return Assignment(match[1], [], bool(match[2]), None, self.items())

    def items(self) -> list[Word]:
        """Reads the words of an array, brackets included."""
        start = self.at
        self.at += 1
        items: list[Word] = []
        while True:
            self.skip_lines()
            if self.text.startswith(")", self.at):
                self.at += 1
                return items
            at = self.at
            word: Word = []
            if self.text.startswith("[", at):
                self.at += 1
                join(word, Bare("["))
                self.inside("]", word, opener="[")
                join(word, Bare("]"))
            for part in self.word():
                join(word, part)
            if self.at == at:
                raise NotReadableError(") is missing", self.base + start)
            items.append(word)

    def redirected(self, redirects: list[Redirect]) -> bool:
        """Reads a redirection; False, with nothing read, if there is none."""
        text = self.text
        match = _REDIRECT(text, self.at)
        if match is None:
            return False
        descriptor, operator, both = match.groups()
        operator = (operator or both).replace("\\\n", "")
        self.at = match.end()
        self.blanks()
        fd: int | str | None = None
        if descriptor:
            descriptor = descriptor.replace("\\\n", "")
            fd = descriptor[1:-1] if descriptor[0] == "{" else int(descriptor[:9])
        start = self.at
        target = self.word()
        if self.at == start:
            raise NotReadableError(f"{operator} has no target", self.base + start)
        redirect = Redirect(operator, target, fd)
        if operator in ("<<", "<<-"):
            redirect.operator = "<<"
            delimiter, is_quoted = _delimiter(target, text[start : self.at])
            redirect.target = []
            self.pending.append((redirect, delimiter, is_quoted, operator == "<<-"))
        redirects.append(redirect)
        return True

    def blanks(self) -> None:
        """Goes past blanks and joined lines."""
        match = _BLANKS(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def skip_lines(self) -> None:
        """Goes past blanks, comments and ends of lines."""
        while True:
            self.blanks()
            char = self.text[self.at : self.at + 1]
            if char == "#":
                match = _COMMENT(self.text, self.at)
                self.at = match.end() if match else self.at
            elif char == "\n":
                self.at += 1
                if self.pending:
                    self.bodies("")
            else:
                return

    def bodies(self, closer: str) -> None:
        """Reads the bodies of the here-documents that the line before began."""
        pending, self.pending = self.pending, []
        for redirect, delimiter, is_quoted, strips in pending:
            start = self.at
            body = self.body(delimiter, closer, is_quoted=is_quoted, strips=strips)
            if is_quoted or not ("$" in body or "`" in body or "\\" in body):
                redirect.target = [body]
            else:
                redirect.target = self.expanded(body, start)

    def expanded(self, text: str, at: int) -> Word:
        """Reads what is expanded in a text that stood at ``at`` and in which quotes mean nothing."""
        inner = Commands(text, self.base + at, self.depth)
        try:
            word = inner.here_document()
        except NotReadableError:  # bash says so when it runs the command, and goes on with the next
            word = [Substitution(_unreadable(text, inner.found, self.base + at), quoted=True, text=text)]
        self.found += inner.found
        return word

    def body(self, delimiter: str, closer: str, *, is_quoted: bool, strips: bool) -> str:
        """Reads lines up to the one that is the delimiter, and past it."""
        text = self.text
        lines: list[str] = []
        while self.at < len(text):
            match = _LINE(text, self.at)
            line = match[0] if match else ""
            start = self.at
            self.at += len(line)
            if strips:
                stripped = line.lstrip("\t")
                start += len(line) - len(stripped)
                line = stripped
            while not is_quoted and line.endswith("\\\n") and (len(line) - len(line[:-1].rstrip("\\"))) % 2 == 0:
                match = _LINE(text, self.at)
                following = match[0] if match else ""
                self.at += len(following)
                line = line[:-2] + following
                start = -1
                if not following:
                    break
            if line.rstrip("\n") == delimiter:
                break
            if closer and start >= 0 and line.startswith(delimiter) and closer in line[len(delimiter) :]:
                self.at = start + len(delimiter)  # bash lets `$(` end here
                break
            lines.append(line)
        return "".join(lines)

    def subscripted(self) -> Word:
        """Reads a command's name with brackets in it, in which blanks do not end it."""
        word: Word = []
        match = _SUBSCRIPT(self.text, self.at)
        if match is not None:
            word.append(Bare(match[0]))
            self.at = match.end()
            self.inside("]", word, opener="[")
            join(word, Bare("]"))
        for part in self.word():
            join(word, part)
        return word

    def test(self, start: int) -> Test:
        """Reads from behind ``[[`` to behind ``]]``."""
        text = self.text
        words: list[Word] = []
        operator = ""
        while True:
            self.skip_lines()
            at = self.at
            word = self.word(regex=operator == "=~")
            if self.at > at:
                operator = _bare(word)
                if operator == "]]":
                    break
                words.append(word)
                continue
            operator = ""
            char = text[at : at + 1]
            if not char or char in ";`":
                raise NotReadableError("]] is missing", self.base + start)
            self.at += 1
        node = Test(words, self.base + start, self.base + self.at)
        self.found.append(node)
        return node


def _delimiter(target: Word, raw: str) -> tuple[str, bool]:
    """The line that ends a here-document, and whether the word that names it is quoted."""
    if all(type(part) is Bare for part in target) and "\\" not in raw:
        return raw, False
    if all(isinstance(part, (str, Bare)) for part in target):
        return _name(target), any(isinstance(part, str) for part in target)
    # Nothing is expanded in it: `$(a)` is these four characters. Only its quotes are removed.
    is_quoted = any(char in raw for char in "'\"\\")
    return _QUOTES.sub(lambda match: match[match.lastindex or 0], raw), is_quoted


class _Script:
    """The commands up to ``closer``. ``pieces``: simple commands, tests, operators, and what encloses them, in their
    order and with the separators that the grammar wants.
    """

    __slots__ = ("closer", "commands", "is_broken", "is_list", "open", "pieces")

    def __init__(self, commands: Commands, closer: str) -> None:
        self.commands = commands
        self.closer = closer
        self.pieces: list[Node | Piece | str] = []
        self.open: list[str] = []
        self.is_list = True  # of nothing but simple commands and tests
        self.is_broken = False

    def put(self, text: str, start: int, content: object = None) -> None:
        """Adds a piece that was read from ``start`` up to here."""
        base = self.commands.base
        self.pieces.append(Piece(text, base + start, base + self.commands.at, content))
        self.is_list = False

    def read(self) -> None:
        """Reads all commands up to the closer."""
        commands = self.commands
        pieces = self.pieces
        text = commands.text
        size = len(text)
        begins = True  # a command may begin here
        closed = False  # a compound command ended here
        while True:
            at = commands.at
            if at < size and text[at] in " \t\\":
                blanks = _BLANKS(text, at)
                commands.at = at = blanks.end() if blanks else at
            if begins:
                run = _NAMED_RUN(text, at)
                if run is not None:
                    plain = run[0].split()
                    commands.at = run.end()
                    if len(plain) > 1 or not text.startswith("(", commands.at):
                        end = at + len(run[0].rstrip())
                        pieces.append(commands.plain(plain, at, end))
                        begins = False
                        continue
                    commands.at = at
            if at >= size:
                if self.closer:
                    raise NotReadableError(f"{self.closer} is missing", commands.base + at)
                break
            if len(self.open) > DEEPEST:
                raise NotReadableError("nested too deep", commands.base + at)
            char = text[at]
            if char == "#":
                comment = _COMMENT(text, at)
                commands.at = comment.end() if comment else at
            elif char == "\n":
                commands.at += 1
                if not begins:
                    pieces.append(";")
                    begins, closed = True, False
                if commands.pending:
                    commands.bodies(self.closer)
            elif char == ")":
                if self.closer == ")" and not self.open:
                    commands.at += 1
                    break
                self.close(")", at, begins=begins)
                begins, closed = False, True
            elif char == "(":
                begins = self.bracket(at, begins=begins)
                closed = not begins
            elif closed and self.redirect(at):
                pass
            elif char in ";&|" and not (char == "&" and _REDIRECT(text, at)):
                ends_branch = self.operator(at, begins=begins) == ";;"
                begins = self.patterns() if ends_branch else True
                closed = not begins
            else:
                state = self.command(at, begins=begins)
                if state is None:
                    break
                begins, closed = state
        if self.open or (begins and pieces and type(last := pieces[-1]) is str and last in _JOINERS):
            self.is_broken = True

    def close(self, closer: str, at: int, *, begins: bool) -> None:
        """Reads the end of a compound command. The grammar wants a separator before it, bash not always."""
        opener = self.open.pop() if self.open else ""
        if not begins:
            self.pieces.append(";")
        elif self.pieces and type(last := self.pieces[-1]) is str and last in _JOINERS:
            self.is_broken = True
        if _CLOSER.get(opener) != closer:
            self.is_broken = True
        if closer == ")":
            self.commands.at += 1
        elif closer == "esac":
            self.put(";;", at)
        self.put("done" if opener == "do {" else closer, at)

    def bracket(self, at: int, *, begins: bool) -> bool:
        """Reads ``((…))`` or the beginning of a subshell: says whether a command may begin behind it."""
        commands = self.commands
        if not begins:
            self.is_broken = True
        words = commands.arithmetic(at)
        if words is not None:
            self.test(Test([words], commands.base + at, commands.base + commands.at))
            return False
        commands.at += 1
        self.open.append("(")
        self.put("(", at)
        return True

    def test(self, node: Test) -> None:
        """Adds a test."""
        self.commands.found.append(node)
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, Piece) and last.text == "( )":  # a function, whose body the grammar wants in braces
            start = self.commands.at
            self.put("{", start)
            self.pieces += [node, ";"]
            self.put("}", start)
        else:
            self.pieces.append(node)

    def redirect(self, at: int) -> bool:
        """Reads a redirection of a compound command, if there is one."""
        redirects: list[Redirect] = []
        if self.commands.text[at] not in _MAY_REDIRECT or not self.commands.redirected(redirects):
            return False
        last = self.pieces[-1]
        if isinstance(last, Piece):
            last.redirects.extend(redirects)
        elif isinstance(last, Group):
            last.redirects += redirects
        elif isinstance(last, Test):
            self.pieces[-1] = last = Group(last, redirects, start=last.start)
        if not isinstance(last, str):
            last.end = self.commands.base + self.commands.at
        return True

    def operator(self, at: int, *, begins: bool) -> str:
        """Reads what stands between commands."""
        commands = self.commands
        match = _OPERATOR(commands.text, at)
        operator = match[0].replace("\\\n", "") if match else ";"
        commands.at = match.end() if match else at + 1
        if operator in (";;", ";&", ";;&"):
            if self.open and self.open[-1] == "case":
                self.put(";;", at)
                return ";;"
            self.is_broken = True
            operator = ";"
        elif begins:
            self.is_broken = True
        self.pieces.append(operator)
        return operator

    def command(self, at: int, *, begins: bool) -> tuple[bool, bool] | None:
        """Reads a simple command or a reserved word. Says whether a command may begin behind it, and whether one that
        is not simple ended with it; None if it is the closer.
        """
        commands = self.commands
        text = commands.text
        word: Word = []
        if _SUBSCRIPT(text, at):
            if commands.assigned([]):
                commands.at = at
            else:
                word = commands.subscripted()
        elif not _ASSIGNMENT(text, at) and not (text[at] in _MAY_REDIRECT and _REDIRECT(text, at)):
            word = commands.word(bang=True)
        name = _bare(word)
        if name in RESERVED and not (name == "time" and _PROGRAM_OF_TIME(text, commands.at)):
            if name == "}" == self.closer and not self.open:
                return None
            return self.reserved(name, at, begins=begins)
        if not begins:
            self.is_broken = True
        if word:
            brackets = _BRACKETS(text, commands.at)
            if brackets:
                commands.at = brackets.end()
                self.function(_name(word), at)
                return True, False
        self.pieces.append(commands.simple([word] if word else [], at, commands.at))
        if commands.at == at or text.startswith("(", commands.at):
            self.is_broken = True
            commands.at += 1
        return False, False

    def function(self, name: str, at: int) -> None:
        """Adds the head of a function."""
        self.put("f", at, name)
        self.put("( )", at)

    def reserved(self, word: str, at: int, *, begins: bool) -> tuple[bool, bool]:
        """Reads what a reserved word begins or ends."""
        commands = self.commands
        if word in _CLOSERS:
            self.close(word, at, begins=begins)
            return False, True
        if word in _FOLLOWERS:
            if not begins:
                self.pieces.append(";")
            self.put(word, at)
            return True, False
        if not begins:
            self.is_broken = True
        if word == "[[":
            self.test(commands.test(at))
            return False, True
        if word == "case":
            begins = self.case(at)
            return begins, not begins
        if word in ("for", "select"):
            self.loop(at)
        elif word == "function":
            commands.blanks()
            name = _name(commands.word())
            brackets = _BRACKETS(commands.text, commands.at)
            if brackets:
                commands.at = brackets.end()
            self.function(name, at)
        elif word == "time":
            options = _OPTIONS_OF_TIME(commands.text, commands.at)
            commands.at = options.end() if options else commands.at
        elif word == "coproc":
            name_of_coprocess = _NAME_OF_COPROCESS(commands.text, commands.at)
            name = name_of_coprocess[0].strip() if name_of_coprocess else ""
            commands.at = name_of_coprocess.end() if name_of_coprocess else commands.at
            self.put("", at, name)
        elif word != "!":
            if word in _CLOSER:
                self.open.append(word)
            self.put(word, at)
        return True, False

    def loop(self, at: int) -> None:
        """Reads the head of ``for`` or ``select``."""
        commands = self.commands
        commands.blanks()
        content: object = commands.arithmetic(commands.at)
        if content is None:
            name = _name(commands.word())
            words: list[Word] | None = None
            commands.skip_lines()
            before = commands.at
            if commands.word() == _IN:
                words = []
                commands.blanks()
                while word := commands.word():
                    words.append(word)
                    commands.blanks()
            else:
                commands.at = before
            content = (name, words)
        self.put("for x in w", at, content)
        commands.skip_lines()
        if commands.text.startswith(";", commands.at):
            commands.at += 1
        self.pieces.append(";")
        commands.skip_lines()
        start = commands.at
        if commands.word() == [Bare("{")]:  # in place of `do`
            self.put("do", start)
            self.open.append("do {")
        else:
            commands.at = start
            self.open.append("do")

    def case(self, at: int) -> bool:
        """Reads ``case word in`` and the first patterns."""
        commands = self.commands
        commands.blanks()
        word = commands.word()
        commands.skip_lines()
        if not word or commands.word() != _IN:
            self.is_broken = True
        self.put("case w in", at, word)
        self.open.append("case")
        return self.patterns()

    def patterns(self) -> bool:
        """Reads patterns up to their ``)``, or ``esac``: says whether a command may begin behind it."""
        commands = self.commands
        text = commands.text
        commands.skip_lines()
        at = commands.at
        patterns: list[Word] = []
        has_bracket = text.startswith("(", at)
        commands.at += has_bracket
        while True:
            commands.skip_lines()
            word = commands.word()
            if word == _ESAC and not has_bracket and not patterns:
                self.open.pop()
                self.put("esac", at)
                return False
            patterns.append(word)
            commands.skip_lines()
            if not text.startswith("|", commands.at):
                break
            commands.at += 1
        if not text.startswith(")", commands.at):
            raise NotReadableError(") is missing behind a pattern", commands.base + at)
        commands.at += 1
        self.put("w )", at, patterns)
        return True


def _name(word: Word) -> str:
    """A word without its quotes, as the name of a function or a variable."""
    return "".join(part if isinstance(part, str) else part.text for part in word if isinstance(part, (str, Bare)))


def _bare(word: Word) -> str:
    """A word in which nothing is quoted or expanded, "" for others."""
    part = word[0] if len(word) == 1 else ""
    return part.text if isinstance(part, Bare) else ""
