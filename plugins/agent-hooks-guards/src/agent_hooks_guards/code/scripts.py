"""JavaScript, Perl, Ruby, PHP and Lua: calls that run, touch or send something, with the arguments that are known.

A script is walked through in the order of its text: constants are folded, calls are noted by the names of
``scripts.toml``. All branches are taken; what they assign to a variable that has a value is not known afterwards. A
function is walked where it is called, or at the end; a loop over a known list is walked once for each item.
"""

from __future__ import annotations

from itertools import pairwise

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .script_calls import Calls
from .script_tokens import Cursor, Lexer, Token
from .script_values import ALL_VARIABLES, Function, List, Reference, flat, items_of, joined, names_of, replaced

_MOST_STEPS = 20_000
_LONGEST_STATEMENT = 50  # tokens in front of a `for`
_ADDITIONS = frozenset("+= .= ..= <<".split())
_ASSIGNMENTS = _ADDITIONS | frozenset("= ||= ??= //=".split())
_DECLARATIONS = frozenset("my our local const let var await new async static scalar".split())
# An expression ends in front of these.
_STOPS = frozenset("if unless while until for foreach or and then end rescue else elsif as in of not".split())
_KEYWORDS = _STOPS | frozenset(
    "elseif switch case catch try finally begin when typeof throw return yield use global export from class"
    " extends".split()
)
_ENDS = frozenset((",", ";", "=>", ":", "|"))
_FUNCTIONS = frozenset("function sub fn def -> lambda proc".split())
# Between a key and its value.
_KEY_MARKS = {"node": (":",), "ruby": (":", "=>"), "php": ("=>",), "lua": ("=",), "perl": ("=>",), "awk": ()}
_BARE_PHP = frozenset("echo print include include_once require require_once".split())
_ENDLESS = Pattern(
    r"\b(while|until) *\(? *(1|true|fork|pcntl_fork|!0|0)\b|\bloop\b|\bfor *\( *; *;|\bredo\b|\bsetInterval\b"
)
# Code in strings of code in strings.
_TOO_DEEP = Pattern(r'(?:(?:[$#@]\{|"\{\$)[^}]{0,200}){6}')
_UNKNOWN = Data(UNKNOWN)


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Find the effects of a script.

    ``labels``: the origin of its text; ``arguments``: ``$0``, ``$1`` … of it; ``stdin``: its input, if that is known;
    ``variables``: the known variables of the environment.
    """
    walk = Walk(text, language, labels, variables or {})
    walk.arguments = [Data(each, walk.own_value if UNKNOWN in each else NO_LABELS) for each in arguments]
    if stdin is not None:
        walk.stdin = Data(stdin, frozenset((STDIN,)))
    found = walk.finished()
    if walk.forks and _ENDLESS.search(text):
        walk.effect("fork", Data())
    output = joined(walk.printed)
    is_sure = walk.is_sure and walk.printed and not found.doubts
    found.output = output if is_sure else Data(UNKNOWN, output.labels | walk.own_value)
    return found


class Walk(Calls):
    """The state of the walk through a script."""

    steps = _MOST_STEPS
    branches = 0

    def finished(self) -> Found:
        """Walk through the script; return the effects."""
        try:
            if _TOO_DEEP.search(self.text):
                raise RecursionError
            self.run(Lexer(self.text, self.language).root.items)
            while self.pending:
                self.invoke(self.pending.popitem()[1], [])
        except RecursionError:
            self.doubt("the code is nested or longer than what is looked at")
        return self.found

    def run(self, tokens: list[Token]) -> Data:
        """Walk through statements; return the value of the last one."""
        value = Data()
        code = Cursor(tokens)
        while code.at < len(code.tokens):
            value = self.statement(code) or value
        return value

    def statement(self, code: Cursor) -> Data | None:
        """Walk through a statement; return its value, if it has one."""
        token, following = code.peek(), code.peek(1)
        is_word = token.kind == "name"
        if token.text in ("for", "foreach"):
            code.take()
            self.loop(Cursor(token.items) if token.kind == "group" else code, is_whole=token.kind == "group")
        elif token.kind == "group" and token.text not in ("(", "[") and token.text not in _FUNCTIONS:
            return self.block(code.take().items)
        elif is_word and following.text == "as":
            code.at += 3
            self.variables[code.peek(-1).text] = Reference(token.text)  # import {exec as run}
        elif (token.kind == "operator" and token.text != "->") or (is_word and token.text in _KEYWORDS):
            code.take()
            self.is_sure = self.is_sure and token.text in (";", ",", "use", "from")
            if is_word and following.text == "(":  # a condition
                self.items(code.take().items)
        else:
            statement = Cursor(code.tokens[code.at : code.at + _LONGEST_STATEMENT])
            body = statement.until(";", "for", "foreach") if self.language == "perl" else []
            if statement.take().kind != "name" or not body:
                return self.expression(code)
            self.repeat(["$_"], self.expression(statement), body)  # unlink for @files
            code.at += statement.at
        return None

    def block(self, tokens: list[Token]) -> Data:
        """Walk through statements that may run once, often or never."""
        self.branches += 1
        value = self.run(tokens)
        self.branches -= 1
        return value

    def invoke(self, function: Function, arguments: list[Data]) -> None:
        """Walk through the body of a function with its parameters bound."""
        self.pending.pop(id(function), None)
        if any(each is function for each in self.open):
            return
        if self.language == "perl" and len(arguments) > 1:
            arguments = [List(arguments)]
        names = dict.fromkeys(function.names, _UNKNOWN) | dict(zip(function.names, arguments, strict=False))
        outer, known = {name: self.variables.get(name, _UNKNOWN) for name in names}, {*self.variables}
        self.variables |= names
        self.open.append(function)
        self.block(function.body)
        self.open.pop()
        if self.language in ("ruby", "php"):
            self.forget(known)
        self.variables |= outer

    def forget(self, known: set[str]) -> None:
        """Forget the variables of a function or of a round of a loop: those that were not ``known`` before."""
        for name in self.variables.keys() - known:
            if (name[0] == "$") == (self.language == "php"):  # in Ruby, others are global
                del self.variables[name]

    def loop(self, code: Cursor, *, is_whole: bool) -> None:
        """Walk through a loop. ``is_whole``: all of the code belongs to it."""
        code.skip("await")
        is_group = code.peek().text == "("
        head = Cursor(code.take().items if is_group else code.until("do", "{", is_line=is_whole))
        texts = [each.text for each in head.tokens[:12]]
        mark = next((each for each in ("as", "of", "in") if each in texts), "(")
        if mark == "as":
            value = self.expression(head)
            names = _names(head.tokens)
        elif ";" in texts or (self.language == "lua" and mark == "("):
            value = _UNKNOWN
            self.run(head.tokens)
            names = [target.text for target, operator in pairwise(head.tokens[:12]) if operator.text == "="]
        else:
            names = [] if is_group and mark == "(" else _names(head.until(mark))
            head.at += mark != "("
            items = flat(self.items(head.tokens[head.at :]))
            # `for (i in list)` has no items of the list.
            value = _UNKNOWN if mark == "in" and self.language == "node" else List(items)
        is_block = code.peek().kind == "group"
        body = code.tokens[code.at :] if is_whole else code.take().items if is_block else code.until(";")
        self.repeat(names[-1:] or ["$_"], value, body)

    def repeat(self, names: list[str], value: Data, body: list[Token]) -> None:
        """Walk through the body of a loop, with each item of a list."""
        self.is_sure = False
        known = {*self.variables}
        for _, item in items_of(value):
            self.forget(known)
            self.variables.update(dict.fromkeys(names, item))
            self.block(body)
        self.variables.update(dict.fromkeys(names, value))

    def expression(self, code: Cursor) -> Data:
        """Return the value of the expression at the cursor: of an assignment, or of operands with operators."""
        self.steps -= 1
        if self.steps < 0:
            raise RecursionError
        start = code.at
        while code.peek().kind == "name" and code.peek().text in _DECLARATIONS:
            code.take()
        target, operator = code.peek(), code.peek(1)
        is_assigned = operator.kind == "operator" and target.kind in ("name", "variable", "group")
        if is_assigned and operator.text in _ASSIGNMENTS and (operator.text != "<<" or self.language == "ruby"):
            code.at += 2
            value = self.expression(code)
            self.assign(target, operator.text, value, is_new=code.tokens[start] is not target)
            return value
        value = self.operand(code)
        while code.peek().kind == "operator" and code.peek().text not in _ENDS:
            text = code.take().text
            if text == "=~" and code.peek().kind == "replace":
                value = self.change(target, code.take())
            elif text in self.table["concat"]:
                value = joined([value, self.operand(code)])
            else:
                others = [self.expression(code)] if text == "?" else [self.operand(code)]
                others += [self.expression(code)] if text == "?" and code.skip(":") else []
                value = Data(UNKNOWN, List([value, *others]).labels)
        code.at = max(code.at, start + 1)
        return value

    def assign(self, target: Token, operator: str, value: Data, *, is_new: bool) -> None:
        """Assign to a name, or to the names in brackets."""
        if target.kind == "group":
            code = Cursor(target.items)
            for at in range(len(target.items)):
                part = [token.text for token in code.until(",") if token.kind in ("name", "variable")]
                code.take()
                if part:
                    key = part[0] if target.text == "{" else str(at)
                    is_plain = type(value) is Data and value is not ALL_VARIABLES
                    self.variables[part[-1]] = value if is_plain else self.index(value, key)
            return
        old = self.variables.get(target.text)
        if operator in _ADDITIONS:
            value = joined([old or Data(), value])
        if old is not None and self.branches and not is_new:
            value = Data(UNKNOWN, old.labels | value.labels)
        self.variables[target.text] = value

    def change(self, target: Token, token: Token) -> Data:
        """Apply ``s///`` to a variable, that of ``(my $x = …)`` too."""
        name = next((each.text for each in target.items if each.kind == "variable"), target.text)
        new, flags, *codes = token.items
        pattern = token.value if flags.value[0] == "s" and not codes else UNKNOWN
        old = self.variables.get(name, _UNKNOWN)
        self.variables[name] = replaced(old, pattern, new.value, "g" not in flags.value[1:])
        for code in codes:
            self.run(code.items)
        return self.variables[name]

    def operand(self, code: Cursor) -> Data:
        """Return the value of an operand with its members, indexes and calls."""
        before = ""
        while (code.peek().kind == "operator" and code.peek().text not in _ENDS) or code.peek().text in _DECLARATIONS:
            if code.peek().text == "->" and self.language == "ruby":
                break
            before = code.take().text
        token = code.peek()
        if token.text in _ENDS or (token.kind == "name" and token.text in _STOPS):
            return _UNKNOWN
        function = self.function(code)
        if function is not None:
            return self.postfix(code, function)
        code.take()
        if token.kind not in ("name", "variable"):
            return self.postfix(code, self.literal(token, is_content=before in ("@", "$", "%")))
        value = self.reference(token.text)
        return value if before == "&" else self.postfix(code, value, is_name=True)

    def literal(self, token: Token, *, is_content: bool = False) -> Data:
        """Return the value of a literal, of ``(…)``, ``[…]``, ``{…}`` or a block."""
        if token.kind in ("string", "number"):
            return Data(token.value, self.own_value if UNKNOWN in token.value else NO_LABELS)
        if token.kind == "template":
            return joined([self.operand(Cursor([each])) for each in token.items])
        if token.kind == "pattern":
            return Reference("RegExp")
        if token.kind == "replace":
            return self.change(Token("variable", "$_"), token)
        if token.text not in ("(", "[", "{"):
            return self.block(token.items)
        values = self.items(token.items)
        if len(values) == 1 and (names_of(values[0]) or is_content):
            return values[0]
        if token.text == "{" and self.language not in ("perl", "lua"):
            table: dict[str, Data] = {}
            for at, value in enumerate(values):
                table |= names_of(value) or {str(at): value}
            return List([], table)
        if token.text != "(" or (len(values) != 1 and self.language in ("perl", "lua", "ruby")):
            return List(values)
        return values[-1] if values else Data()

    def items(self, tokens: list[Token]) -> list[Data]:
        """Return the values between commas, with the options among them as one table."""
        return self.listed(Cursor(tokens))

    def listed(self, code: Cursor, *, is_bare: bool = False) -> list[Data]:
        """Return the values from the cursor on. ``is_bare``: they end where no comma follows."""
        values: list[Data] = []
        table: dict[str, Data] = {}
        while code.at < len(code.tokens):
            token, following = code.peek(), code.peek(1)
            if token.kind == "operator" and token.text in _ENDS:
                if is_bare and token.text not in (",", "=>"):
                    break
                code.take()
            elif is_bare and (values or table) and code.peek(-1).text not in (",", "=>"):
                break
            elif following.kind == "operator" and following.text in _KEY_MARKS[self.language]:
                code.at += 2
                table[token.value] = self.expression(code)
            else:
                value = self.expression(code)
                is_spread = token.text in ("...", "*", "**") and isinstance(value, List)
                values += flat([value]) if is_spread else [value]
        return [*values, List([], table)] if table else values

    def function(self, code: Cursor) -> Function | None:
        """Return the function that is defined at the cursor."""
        token, following = code.peek(), [code.peek(1).text, code.peek(2).text]
        is_group = token.kind == "group" and token.text in _FUNCTIONS
        is_arrow = self.language == "node" and following[0] == "=>"
        is_method = self.language == "node" and following == ["(", "{"] and token.text not in _KEYWORDS
        if not (is_group or is_arrow or is_method or token.text in _FUNCTIONS):
            return None
        inner = Cursor(token.items) if is_group else code
        code.at += not is_arrow
        has_name = not is_method and not is_arrow and inner.peek().kind == "name"
        name = inner.take().text.rpartition(".")[2] if has_name else ""
        names = _names([inner.take()] if is_arrow or inner.peek().text == "(" else [])
        while inner.peek().text in ("use", ":", "=>") or (inner.peek().text == "(" and not is_group):
            inner.take()
        is_block = inner.peek().text in ("{", "do")
        body = inner.tokens[inner.at :] if is_group else inner.take().items if is_block else inner.until(",", ";")
        return self.defined(names, body, name)

    def defined(self, names: list[str], body: list[Token], name: str = "") -> Function:
        """Return a function, and note it under its name."""
        inner = Cursor(body)
        if self.language == "ruby" and inner.skip("|"):  # |a, b|
            names = _names(inner.until("|"))
            inner.take()
        function = Function(["$_"] if self.language == "perl" else names, inner.tokens[inner.at :])
        self.pending[id(function)] = function
        self.steps -= len(body) // 50  # `a => b => c` has a body inside a body
        if name:
            self.variables[name] = function
        return function

    def postfix(self, code: Cursor, value: Data, *, is_name: bool = False, is_member: bool = False) -> Data:
        """Return the value of the members, indexes and calls behind an operand."""
        language, token = self.language, code.peek()
        is_close = not token.spaced or language not in ("perl", "ruby")
        arguments = self.bare_arguments(code, value, is_member=is_member) if is_name else None
        if arguments is None and token.kind == "operator" and token.text in self.table["members"]:
            code.take()
            token, is_close = code.peek(), True
            if token.kind != "group":
                return self.postfix(code, self.index(value, code.take().text), is_name=True, is_member=True)
        elif arguments is None and token.newline and language == "ruby":
            return value
        if arguments is None and token.kind == "group" and token.text == "(":
            arguments = self.items(code.take().items)
        if arguments is not None:
            if language == "ruby" and code.peek().text in ("{", "do") and not code.peek().newline:
                arguments = [*arguments, self.defined([], code.take().items)]
            return self.postfix(code, self.call(value, arguments))
        if token.kind != "group" or not is_close or not (token.text == "[" or (token.text, language) == ("{", "perl")):
            return value
        if language == "ruby" and isinstance(value, Reference) and value.name == "Dir":  # `Dir["…"]` is `Dir.glob("…")`
            return self.postfix(code, self.call(self.index(value, "glob"), self.items(code.take().items)))
        is_word = token.text == "{" and [each.kind for each in token.items] == ["name"]
        key = token.items[0].text if is_word else joined(self.items(token.items)).text
        code.take()
        return self.postfix(code, self.index(value, key))

    def bare_arguments(self, code: Cursor, value: Data, *, is_member: bool) -> list[Data] | None:
        """Return the arguments of a call without parentheses; None if it is none."""
        language, token = self.language, code.peek()
        name = value.name.rpartition(".")[2] if isinstance(value, Reference) else ""
        is_known = name in self.kinds or (isinstance(value, Function) and not is_member)
        is_tagged = language == "node" and is_known and token.kind == "template"
        if is_tagged or (language == "lua" and name and (token.kind == "string" or token.text == "{")):
            return self.items([code.take()])
        has_bare = language in ("perl", "ruby") or (language == "php" and name in _BARE_PHP)
        is_constant = language == "ruby" and name[:1].isupper()
        has_parentheses = token.text == "(" and (language != "ruby" or not token.spaced)
        is_call = has_bare and not is_constant and (is_known or is_member)
        if not is_call or has_parentheses or token.text in ("=>", "=", ":"):
            return None
        is_block = language == "perl" and token.text == "{" and not is_member
        block: list[Data] = [self.defined([], code.take().items)] if is_block else []
        token = code.peek()
        if token.kind == "operator":
            begins = token.spaced and token.text not in _ENDS - {":"} and not code.peek(1).spaced
        elif token.kind == "group":
            begins = token.text in ("(", "[") and token.spaced
        else:
            begins = token.kind != "name" or token.text not in _STOPS
        if not begins or (token.newline and language == "ruby") or (is_member and language == "perl"):
            return block
        return block + self.listed(code, is_bare=True)


def _names(tokens: list[Token]) -> list[str]:
    """Return the names and variables among tokens, and in the brackets among them."""
    return [each.text for token in tokens for each in [token, *token.items] if each.kind in ("name", "variable")]
