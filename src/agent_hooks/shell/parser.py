"""Parses command lines by recursive descent.

Rules: the Bash Reference Manual, "Shell Grammar"; bash 5.2 where it is silent.
"""

from __future__ import annotations

from .compound import COMPOUNDS, GrammarError, bare, parse_bracket, parse_loop_head, shown
from .lexer import JOIN, ParseError
from .patterns import Pattern
from .plain import RESERVED
from .simple import SAFE, SimpleParser, unquoted
from .syntax import (
    Bare,
    Coprocess,
    Function,
    Group,
    Item,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Substitution,
    Unreadable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .syntax import Node, Word

MAX_LENGTH = 256 * 1024  # characters

# A run of plain words that starts with a name, or a reserved word, but with no assignment.
_NAMED_RUN = Pattern(
    rf"(?:\[(?=[ \t])|[^\s|&;()<>'\"\\$`#=\[][^\s|&;()<>'\"\\$`=\[]*+)(?=[ \t\n;|&)]|\Z)"
    rf"[ \t]*+(?:{SAFE}[ \t]++)*+(?:{SAFE}(?=[\n;|&)]|\Z))?+"
)
_BRACKETS = Pattern(r"[ \t]*\([ \t]*\)")
_OPTIONS_OF_TIME = Pattern(r"(?:[ \t]+-p(?=[ \t\n;&|]|\Z))?(?:[ \t]+--(?=[ \t\n;&|]|\Z))?")
# With any other option it is the program of that name.
_PROGRAM_TIME = Pattern(r"[ \t]+-(?!p[ \t\n;&|]|-[ \t\n;&|]|p?\Z|-\Z)")
_NAME_OF_COPROCESS = Pattern(
    r"[ \t]+(?!(?:if|for|while|until|case|select|time|function|coproc)[ \t])[A-Za-z_][A-Za-z0-9_]*[ \t]+"
    r"(?=\(|\[\[[ \t]|(?:if|for|select|while|until|case|\{)[ \t\n(])"
)
_OPERATOR = Pattern(rf";{JOIN};{JOIN}&|;{JOIN}[;&]|&{JOIN}&|\|{JOIN}\||[;&]")
_PIPE = Pattern(rf"\|{JOIN}&|\|(?!{JOIN}\|)")
_ENDS = frozenset(["then", "else", "elif", "do", "fi", "done", "esac", "}"])


def parse(text: str) -> Sequence:
    """Parse a command line. Never raises: source that bash would refuse, is longer than ``MAX_LENGTH``, or nests deeper
    than ``lexer.MAX_DEPTH`` becomes an ``Unreadable``.
    """
    if len(text) > MAX_LENGTH:
        return _unreadable(text, [], 0, "longer than 256 KiB")
    parser = Parser(text)
    try:
        return parser.commands("")
    except ParseError as error:
        return _unreadable(text, parser.found, 0, str(error))
    except RecursionError:
        return _unreadable(text, parser.found, 0, "nested too deep")


def parse_expansions(text: str) -> Word:
    """Parse the parameters and substitutions in a text in which quotes are not special, as in a here-document."""
    return Parser(text).expandable(text, 0)


def _unreadable(text: str, found: list[Node], start: int, reason: str, *, is_cut: bool = True) -> Sequence:
    end = start + len(text)
    return Sequence([Item(Unreadable(text, found, start, end, reason, is_cut))], start, end)


class Parser(SimpleParser):
    """Parses lists, pipelines and compound commands.

    ``terminator``: the token that ended the last list: a reserved word, ``)``, ``;;``, or "" at the end of the source.
    ``terminator_at``: its offset. ``brackets``: how many subshells are open.
    """

    __slots__ = ("brackets", "terminator", "terminator_at")

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        super().__init__(text, base, depth)
        self.terminator = ""
        self.terminator_at = 0
        self.brackets = 0

    def commands(self, closer: str) -> Sequence:
        """Parse commands up to and past ``closer``: ``)``, ``}``, or "" for the end of the source."""
        outside = self.depth, self.pending, self.closer, self.brackets
        self.pending, self.closer, self.brackets = [], closer, 0
        self.enter()
        start, first = self.at, len(self.found)
        reason = ""
        try:
            node = self.list_()
            if self.terminator != closer:
                raise self.unexpected()
        except GrammarError as error:
            reason = str(error)
            self.recover(outside[0] + 1)
        end = self.at - len(closer)
        self.depth, pending, self.closer, self.brackets = outside
        self.pending = pending + self.pending
        if reason:
            return _unreadable(self.text[start:end], self.found[first:], self.base + start, reason, is_cut=False)
        node.start, node.end = self.base + start, self.base + end
        return node

    def inner_commands(self, text: str, at: int) -> Node:
        """Parse commands in ``text``, which was found at ``at`` and unescaped. Bash runs the command around it even if
        it has errors.
        """
        inner = Parser(text, self.base + at, self.depth)
        try:
            node: Node = inner.commands("")
        except ParseError as error:
            node = _unreadable(text, inner.found, self.base + at, str(error))
        self.found += inner.found
        return node

    def expandable(self, text: str, at: int) -> Word:
        """Parse the expansions in ``text``, which was found at ``at`` and in which quotes are not special."""
        inner = Parser(text, self.base + at, self.depth)
        try:
            word = inner.here_document()
        except ParseError as error:  # bash reports it when it runs the command, and goes on with the next one
            node = _unreadable(text, inner.found, self.base + at, str(error))
            word = [Substitution(node, quoted=True, text=text)]
        self.found += inner.found
        return word

    # -- lists and pipelines -------------------------------------------------------------------------------------------

    def list_(self) -> Sequence:
        """Parse a list up to and past its terminator."""
        items: list[Item] = []
        operator = ";"
        first = 0  # of the items that `&&` and `||` join
        while True:
            self.skip_lines()
            node = self.pipeline()
            if node is None:
                if operator != ";":
                    raise self.unexpected()
                break
            items.append(Item(node, operator))
            operator = self.operator()
            if operator == "&":
                if len(items) - first > 1:  # what `&&` and `||` join goes to the background together
                    inner = Sequence(items[first:], items[first].node.start, items[-1].node.end)
                    items[first:] = [Item(inner)]
                items[-1].background = True
                operator = ";"
            if operator == ";":
                first = len(items)
            elif operator == "":
                break
        return Sequence(items, items[0].node.start, items[-1].node.end) if items else Sequence(items)

    def block(self, *terminators: str) -> Sequence:
        """Parse a list that must not be empty and must end with one of ``terminators``."""
        body = self.list_()
        if self.terminator not in terminators or not body.items:
            raise self.unexpected()
        return body

    def operator(self) -> str:
        """Parse the operator after a command: ``;`` also for a newline, "" if the list ends here."""
        self.blanks()
        text, at = self.text, self.at
        if text[at : at + 1] in ("\n", "#"):
            return ";"  # `list` skips it
        if self.ends_list():
            return ""
        match = _OPERATOR.match(text, at)
        if match is not None:
            self.at = match.end()
            return match[0].replace("\\\n", "")
        # A compound command may be followed by a reserved word at once: `if (a) then`
        name = bare(self.word())
        if name not in _ENDS:
            self.at = at
            raise GrammarError(f"{shown(text, at)} is not expected")
        self.terminator, self.terminator_at = name, at
        return ""

    def ends_list(self) -> bool:
        """Parse the end of the source, a ``)`` or an operator of ``case``, if there is one."""
        text, at = self.text, self.at
        char = text[at : at + 1]
        if char == "" and self.closer:
            raise self.error(f"{self.closer} is missing", at)
        if char == ";":
            match = _OPERATOR.match(text, at)
            if match is None or match[0] == ";":
                return False
            self.at = match.end()
        elif char in ("", ")"):
            self.at += len(char)
        else:
            return False
        self.terminator, self.terminator_at = char if char != ";" else ";;", at
        return True

    def unexpected(self) -> GrammarError:
        """Return an error about the terminator, and go back to it."""
        self.at = self.terminator_at
        return GrammarError(f"{shown(self.text, self.at)} is not expected")

    def pipeline(self) -> Node | None:
        """Parse a pipeline; None if the list ends here."""
        node = self.command()
        if node is None:
            return None
        parts = [node]
        while True:
            self.blanks()
            match = _PIPE.match(self.text, self.at) if self.text.startswith("|", self.at) else None
            if match is None:
                break
            self.at = match.end()
            self.skip_lines()
            node = self.command()
            if node is None:
                raise self.unexpected()
            if match[0] != "|":
                parts[-1] = _with_errors(parts[-1])
            parts.append(node)
        return Pipeline(parts, parts[0].start, parts[-1].end) if len(parts) > 1 else parts[0]

    # -- commands ------------------------------------------------------------------------------------------------------

    def command(self) -> Node | None:
        """Parse a command with its redirections; None if the list ends here."""
        text = self.text
        at = self.at
        run = _NAMED_RUN.match(text, at)
        if run is not None and (plain := run[0].split())[0] not in RESERVED:
            self.at = run.end()
            if len(plain) > 1 or not text.startswith("(", self.at):
                return self.plain(plain, at, at + len(run[0].rstrip()))
            self.at = at
        if text.startswith("(", at):
            return self.compound(parse_bracket, at)
        if self.ends_list():
            return None
        word = self.first_word()
        name = bare(word)
        if name in RESERVED and not (name == "time" and _PROGRAM_TIME.match(text, self.at)):
            return self.reserved(name, at)
        brackets = _BRACKETS.match(text, self.at) if word else None
        if brackets is not None:
            self.at = brackets.end()
            return self.function(unquoted(word), at)
        node = self.simple([word] if word else [], [text[at : self.at]] if word else [], at, self.at)
        if self.at == at:
            self.found.pop()
            raise GrammarError(f"{shown(text, at)} is not expected")
        return node

    def first_word(self) -> Word:
        """Scan the first word of a command; nothing if an assignment or a redirection comes first."""
        if self.starts_assignment() or self.is_redirect():
            return []
        return self.name()

    def reserved(self, name: str, at: int) -> Node | None:
        """Parse from after the reserved word at offset ``at``."""
        if name in _ENDS:
            self.terminator, self.terminator_at = name, at
            return None
        if name in ("!", "time"):
            options = _OPTIONS_OF_TIME.match(self.text, self.at) if name == "time" else None
            self.at = options.end() if options else self.at
            return self.prefixed()
        if name == "coproc":
            return self.coprocess()
        if name == "function":
            self.blanks()
            function = unquoted(self.word())
            brackets = _BRACKETS.match(self.text, self.at)
            self.at = brackets.end() if brackets else self.at
            return self.function(function, at)
        return self.compound(COMPOUNDS[name], at)

    def prefixed(self) -> Node | None:
        """Parse the command after ``!`` or ``time``, which may be missing."""
        self.blanks()
        if self.text[self.at : self.at + 1] in ("", "\n", ";", "#", "|"):
            return Sequence([], self.base + self.at, self.base + self.at)
        self.enter()
        node = self.command()
        self.depth -= 1
        return node

    def coprocess(self) -> Coprocess:
        """Parse from after ``coproc``."""
        match = _NAME_OF_COPROCESS.match(self.text, self.at)
        name = match[0].strip() if match else ""
        self.at = match.end() if match else self.at
        self.blanks()
        self.enter()
        body = self.command()
        if body is None:
            raise self.unexpected()
        self.depth -= 1
        return Coprocess(body, body.start, body.end, name)

    def function(self, name: str, at: int) -> Function:
        """Parse the body of a function."""
        self.skip_lines()
        start = self.at
        self.enter()
        body = self.command()
        if body is None:
            raise self.unexpected()
        if isinstance(body, (Simple, Function, Coprocess)):
            raise GrammarError(f"{shown(self.text, start)} is no body of a function")
        self.depth -= 1
        return Function(name, body, self.base + at, self.base + self.at)

    def compound(self, parse_node: Callable[[Parser, int], Node], at: int) -> Node:
        """Parse a compound command that starts at ``at`` and its redirections."""
        self.enter()
        node = parse_node(self, at)
        self.depth -= 1
        end = self.at
        node.start, node.end = self.base + at, self.base + end
        redirects: list[Redirect] = []
        while True:
            self.blanks()
            if self.at >= len(self.text) or not self.is_redirect():
                break
            self.redirected(redirects)
            end = self.at
        self.at = end
        if redirects:
            if not isinstance(node, Group):
                node = Group(node, [], start=node.start)
            node.redirects += redirects
            node.end = self.base + end
        return node

    # -- errors --------------------------------------------------------------------------------------------------------

    def recover(self, depth: int) -> None:
        """Skip to the closer, and collect the simple commands on the way. Restore ``depth`` after each."""
        text = self.text
        while True:
            self.depth = depth
            self.skip_lines()
            at = self.at
            char = text[at : at + 1]
            if not char:
                if self.closer:
                    raise self.error(f"{self.closer} is missing", at)
                return
            if char == ")":
                self.at += 1
                if self.closer == ")" and not self.brackets:
                    return
                self.brackets = max(self.brackets - 1, 0)
            elif char == "(":
                if self.arithmetic(at) is None:
                    self.at = at + 1
                    self.brackets += 1
            elif char in ";&|" and not self.is_redirect():
                self.at += 1
            elif self.recover_command() == self.closer == "}":
                return
            self.at += self.at == at

    def recover_command(self) -> str:
        """Parse a simple command, a ``case`` or a test; skip another reserved word and return it."""
        at = self.at
        word = self.first_word()
        name = bare(word)
        if name in ("case", "[["):
            try:
                COMPOUNDS[name](self, at)
            except GrammarError:
                return ""
        elif name in ("for", "select"):
            parse_loop_head(self)
        elif name in RESERVED:
            return name
        elif (brackets := _BRACKETS.match(self.text, self.at)) and word:
            self.at = brackets.end()
        else:
            self.simple([word] if word else [], [self.text[at : self.at]] if word else [], at, self.at)
        return ""


def _with_errors(node: Node) -> Node:
    """Return the command before ``|&``, which means ``2>&1 |``."""
    both = Redirect(">&", [Bare("1")], 2)
    if isinstance(node, (Simple, Group)):
        node.redirects.append(both)
        return node
    return Group(node, [both], start=node.start, end=node.end)
