"""What an awk program would do: its `system`, its pipes, its files and its connections.

Both ways of a condition are walked, a loop once; a variable that is set more than once in ways that are not known holds
what it was set to last.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import variable_labels

from . import FILE, STDIN, Found
from .tokens import MOST_TOKENS, Token, number, tokens
from .values import Value, concat, formatted, join, known, text_of, unknown, whole

_MOST_STEPS = 20_000
_DEEPEST = 60
_TOO_MUCH = "the code is nested or longer than what is looked at"
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "^=")
_INPUT = frozenset((STDIN,))
_KEYWORDS = frozenset(
    (
        "BEGIN END if else while for do break continue next nextfile exit return delete in getline print "
        "printf function func switch case default"
    ).split()
)
_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "-", "/dev/stdin"))


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str, stdin: str | None = None) -> Found:
    """What an awk program would do.

    ``arguments``: variables that are set for it, as ``name=value``, and files. ``stdin``: what it reads, if that is
    known.
    """
    del language
    walk = _Walk(text, labels, arguments)
    line = (stdin or "").removesuffix("\n")
    if line and "\n" not in line and walk.files is None:
        walk.variables["$"] = Data(line, _INPUT)
    if walk.size >= MOST_TOKENS:
        walk.doubt(_TOO_MUCH)
    try:
        walk.run()
    except RecursionError:
        walk.doubt(_TOO_MUCH)
        walk.is_sure = False
    if walk.prints:
        # Where it is not certain what is printed, it is each of these once, and more.
        is_sure = walk.is_sure and not walk.found.shells
        walk.found.output = join(walk.prints if is_sure else [*walk.prints, Data(UNKNOWN)])
    return walk.found


class _Walk:
    def __init__(self, text: str, labels: frozenset[str], arguments: list[str]) -> None:
        self.tokens: list[Token] = tokens(text, "awk")
        self.size = len(self.tokens)
        self.labels = labels
        self.found = Found()
        self.steps = _MOST_STEPS
        self.depth = 0
        self.variables: dict[str, Value] = {
            "OFS": Data(" "),
            "ORS": Data("\n"),
            "FS": Data(" "),
            "SUBSEP": Data("\x1c"),
        }
        self.functions: dict[str, tuple[list[str], int]] = {}
        self.called: set[str] = set()
        self.in_print = 0
        # What is printed, and whether it is certain that it is, once, and that nothing else is.
        self.prints: list[Value] = []
        self.is_sure = True
        self.returned: Value = None
        self.at = 0
        files: list[Value] = [Data("awk")]
        for argument in arguments:
            name, equals, value = argument.partition("=")
            if equals and name.isidentifier():
                self.variables[name] = Data(value)
            else:
                files.append(Data(argument))
        self.files = files if len(files) > 1 else None

    def run(self) -> None:
        for at in range(self.size - 2):
            if (
                self.tokens[at].kind == "name"
                and self.tokens[at].text in ("function", "func")
                and self.tokens[at + 1].kind == "name"
            ):
                self.define(at)
        if any(token.kind == "operator" and token.text == UNKNOWN for token in self.tokens) and self.size == 1:
            self.doubt("the code is not known")
        self.at = 0
        is_once = False
        while self.at < self.size and self.steps > 0:
            before = self.at
            if self.is_name("function") or self.is_name("func"):
                self.at += 1
                while self.at < self.size and not self.is_operator("{"):
                    self.at += 1
                self.skip_block()
            elif self.is_name("BEGIN") or self.is_name("END"):
                self.at += 1
                is_once = True
            elif self.is_operator("{"):
                # Done for each line: how many there are is not known.
                self.is_sure = self.is_sure and (is_once or "$" in self.variables)
                is_once = False
                self.block()
            elif self.is_operator(";") or self.is_operator(",") or self.is_operator("}"):
                self.at += 1
            else:
                is_true = whole(self.expression())
                if is_true and not self.is_operator("{"):
                    self.prints += [self.variables.get("$", Data(UNKNOWN, _INPUT)), Data("\n")]
                elif not is_true:
                    self.is_sure = False
            if self.at <= before:
                self.at = before + 1
        for name, (parameters, start) in list(self.functions.items()):
            if name not in self.called:
                self.body(parameters, start, [])
        if self.steps <= 0:
            self.doubt(_TOO_MUCH)

    def define(self, at: int) -> None:
        name = self.tokens[at + 1].text
        parameters: list[str] = []
        at += 2
        while at < self.size and not (self.tokens[at].kind == "operator" and self.tokens[at].text == "{"):
            if self.tokens[at].kind == "name":
                parameters.append(self.tokens[at].text)
            at += 1
        self.functions[name] = (parameters, at)

    def body(self, parameters: list[str], start: int, arguments: list[Value]) -> Value:
        self.is_sure = False
        if self.depth > _DEEPEST // 3:
            return unknown()
        self.depth += 1
        at, self.at = self.at, start
        outer = {name: self.variables.get(name) for name in parameters}
        for position, name in enumerate(parameters):
            self.variables[name] = (
                arguments[position] if position < len(arguments) else unknown() if not arguments else None
            )
        self.returned = None
        self.block()
        self.variables.update(outer)
        self.at = at
        self.depth -= 1
        return self.returned

    def doubt(self, what: str) -> None:
        if what not in self.found.doubts:
            self.found.doubts.append(what)

    def shell(self, value: Value) -> None:
        data = text_of(value)
        data = Data(data.text, data.labels | self.labels)
        if data not in self.found.shells:
            self.found.shells.append(data)

    def effect(self, kind: str, path: str, labels: frozenset[str] = NO_LABELS, method: str = "") -> None:
        effect = (kind, path, False, labels, method)
        if effect not in self.found.effects:
            self.found.effects.append(effect)

    # Tokens

    def is_operator(self, *texts: str) -> bool:
        return self.at < self.size and self.tokens[self.at].kind == "operator" and self.tokens[self.at].text in texts

    def is_name(self, *texts: str) -> bool:
        return self.at < self.size and self.tokens[self.at].kind == "name" and self.tokens[self.at].text in texts

    def skip_block(self) -> None:
        depth = 0
        while self.at < self.size:
            depth += self.is_operator("{") - self.is_operator("}")
            self.at += 1
            if depth <= 0:
                return

    # Statements

    def block(self) -> None:
        """`{ … }`."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.doubt(_TOO_MUCH)
            self.skip_block()
            self.depth -= 1
            return
        self.at += 1
        while self.at < self.size and self.steps > 0 and not self.is_operator("}"):
            before = self.at
            self.statement()
            if self.at <= before:
                self.at = before + 1
        self.at += 1
        self.depth -= 1

    def statement(self) -> None:
        self.steps -= 1
        if self.is_operator("{"):
            self.block()
        elif self.is_name("print", "printf"):
            self.print_()
        elif self.is_name("if", "while", "switch"):
            self.is_sure = False
            self.at += 1
            self.expression()
        elif self.is_name("for"):
            self.is_sure = False
            self.at += 1
            if self.is_operator("("):
                self.at += 1
                while self.at < self.size and not self.is_operator(")") and self.steps > 0:
                    before = self.at
                    self.expression()
                    if self.at <= before or self.is_operator(";"):
                        self.at += 1
                self.at += 1
        elif self.is_name("return"):
            self.at += 1
            if not self.is_operator(";", "}"):
                self.returned = self.expression()
        elif self.is_name("else", "do", "next", "nextfile", "exit", "delete", "case", "default", "break", "continue"):
            self.is_sure = False
            self.at += 1
        elif self.is_operator(";"):
            self.at += 1
        else:
            self.expression()

    def print_(self) -> None:
        name = self.tokens[self.at].text
        self.at += 1
        values: list[Value] = []
        start = self.at
        self.in_print += 1
        if self.is_operator("(") and self.closes_before_end():
            self.at += 1
            in_print, self.in_print = self.in_print, 0
            while self.at < self.size and not self.is_operator(")") and self.steps > 0:
                before = self.at
                values.append(self.expression())
                if self.at <= before or self.is_operator(","):
                    self.at += 1
            self.at += 1
            self.in_print = in_print
        elif not self.is_operator(";", "}", ">", ">>", "|") and self.at < self.size:
            while self.steps > 0:
                before = self.at
                values.append(self.expression())
                if not self.is_operator(",") or self.at <= before:
                    break
                self.at += 1
        self.in_print -= 1
        if name == "printf":
            text = formatted(values[0], values[1:]) if values else Data()
        else:
            if not values:
                given = self.variables.get("$")
                values = [Data(UNKNOWN, _INPUT) if given is None else given]
            text = join(values, known(self.variables.get("OFS")) or " ")
            text = concat(text, self.variables.get("ORS", Data("\n")))
        if self.is_operator(">", ">>"):
            append = self.is_operator(">>")
            self.at += 1
            self.write(self.concatenation(), text, append)
        elif self.is_operator("|"):
            self.at += 1
            if self.is_operator("&"):
                self.at += 1
            self.pipe(self.concatenation(), text)
        else:
            self.prints.append(text)
        if self.at == start and self.at < self.size and not self.is_operator(";", "}"):
            self.at += 1

    def closes_before_end(self) -> bool:
        """Whether the parenthesis here holds all that is printed."""
        depth = 0
        at = self.at
        while at < self.size:
            token = self.tokens[at]
            if token.kind == "operator":
                depth += (token.text == "(") - (token.text == ")")
                if not depth:
                    break
            at += 1
        following = self.tokens[at + 1] if at + 1 < self.size else None
        return (
            following is None
            or following.newline
            or (following.kind == "operator" and following.text in (";", "}", ">", ">>", "|"))
        )

    def write(self, path: Value, text: Data, append: bool) -> None:
        name = text_of(path).text
        if name in _DEVICES:
            self.prints.append(text)
            return
        if name.startswith("/inet"):
            self.connect(name, text.labels, sends=True)
            return
        self.effect("write", name, text.labels | self.labels, "append" if append else "")
        if UNKNOWN not in name:
            before = self.found.files.get(name)
            self.found.files[name] = concat(before, text) if before is not None else text

    def pipe(self, command: Value, text: Data) -> None:
        """`print … | "command"`."""
        name = text_of(command).text
        if name.startswith("/inet"):
            self.connect(name, text.labels, sends=True)
            return
        words = name.split()
        if (
            words
            and words[0].rpartition("/")[2] in ("sh", "bash", "dash", "zsh", "ksh", "ash")
            and all(word in ("-", "-s", "-x", "-e") for word in words[1:])
        ):
            self.shell(text)
        else:
            self.shell(command)

    def connect(self, name: str, labels: frozenset[str], sends: bool) -> None:
        parts = name.split("/")
        self.effect(
            "send" if sends and labels - {NETWORK} else "receive", ":".join(parts[4:6]) or name, labels - {NETWORK}
        )

    # Expressions

    def expression(self) -> Value:
        """An expression with everything that may stand in it."""
        self.steps -= 1
        self.depth += 1
        try:
            if self.depth > _DEEPEST:
                self.doubt(_TOO_MUCH)
                self.at = self.size
                return unknown()
            value = self.either()
            while self.is_operator("?") and self.steps > 0:
                self.at += 1
                first = self.expression()
                if self.is_operator(":"):
                    self.at += 1
                second = self.expression()
                value = first if first == second else unknown(first, second)
            return value
        finally:
            self.depth -= 1

    def either(self) -> Value:
        value = self.comparison()
        while self.is_operator("||", "&&") or self.is_name("in"):
            self.at += 1
            self.comparison()
            value = unknown()
        return value

    def comparison(self) -> Value:
        value = self.piped()
        while self.is_operator("==", "!=", "<=", ">=", "<", "~", "!~", ">"):
            if self.in_print and self.is_operator(">"):
                break
            self.at += 1
            self.piped()
            value = unknown()
        return value

    def piped(self) -> Value:
        value = self.concatenation()
        while self.is_operator("|", "|&") and self.at + 1 < self.size:
            following = self.at + (2 if self.tokens[self.at + 1].text == "&" else 1)
            if following >= self.size or self.tokens[following].text != "getline":
                break
            self.at = following
            name = text_of(value).text
            if name.startswith("/inet"):
                self.connect(name, NO_LABELS, sends=False)
                value = Data(UNKNOWN, frozenset((NETWORK,)))
            else:
                self.shell(value)
                value = Data(UNKNOWN, text_of(value).labels)
            self.getline(value)
            value = unknown()
        return value

    def getline(self, value: Value) -> None:
        """`getline [variable]`: what is read goes to the variable, or to `$0`."""
        self.at += 1
        if (
            self.at < self.size
            and self.tokens[self.at].kind == "name"
            and self.tokens[self.at].text not in _KEYWORDS
            and not self.tokens[self.at].newline
        ):
            self.variables[self.tokens[self.at].text] = value
            self.at += 1
        elif self.is_operator("$"):
            self.at += 1
            self.primary()
            self.variables["$"] = value
        else:
            self.variables["$"] = value

    def concatenation(self) -> Value:
        value = self.additive()
        while self.at < self.size and self.steps > 0 and self.begins_value():
            before = self.at
            value = concat(value, self.additive())
            if self.at <= before:
                break
        return value

    def begins_value(self) -> bool:
        token = self.tokens[self.at]
        if token.newline and self.at:
            return False
        if token.kind == "name":
            return token.text not in _KEYWORDS
        if token.kind == "operator":
            return token.text in ("(", "$", UNKNOWN)
        return token.kind in ("string", "number")

    def additive(self) -> Value:
        value = self.unary()
        while self.is_operator("+", "-", "*", "/", "%", "^", "**"):
            operator = self.tokens[self.at].text
            self.at += 1
            right = self.unary()
            first, second = whole(value), whole(right)
            if (
                first is not None
                and second is not None
                and operator in "+-*"
                and operator
                and abs(first) < 1e9
                and abs(second) < 1e9
            ):
                value = first + second if operator == "+" else first - second if operator == "-" else first * second
            else:
                value = unknown()
        return value

    def unary(self) -> Value:
        if self.is_operator("!", "-", "+"):
            minus = self.is_operator("-")
            self.at += 1
            self.depth += 1
            value = self.unary() if self.depth < _DEEPEST else None
            self.depth -= 1
            exact = whole(value)
            return -exact if minus and exact is not None else unknown()
        if self.is_operator("++", "--"):
            self.at += 1
            self.primary()
            return unknown()
        return self.primary()

    def primary(self) -> Value:
        if self.at >= self.size:
            return None
        token = self.tokens[self.at]
        self.at += 1
        self.steps -= 1
        if token.kind == "string":
            return Data("".join(part for part in token.parts if isinstance(part, str)), self.labels)
        if token.kind == "number":
            return number(token.text)
        if token.kind == "regex":
            # What stands for itself is as good as a text where something is replaced.
            return Data(token.text) if self.is_operator(",") else unknown()
        if token.kind == "name":
            return self.named(token)
        if token.text == "(":
            in_print, self.in_print = self.in_print, 0
            values: list[Value] = []
            while self.at < self.size and not self.is_operator(")") and self.steps > 0:
                before = self.at
                values.append(self.expression())
                if self.is_operator(",") or self.at <= before:
                    self.at += 1
            self.at += 1
            self.in_print = in_print
            return values[-1] if values else None
        if token.text == "$":
            self.depth += 1
            which = self.primary() if self.depth < _DEEPEST else None
            self.depth -= 1
            value = self.variables.get("$")
            if self.is_operator(*_ASSIGNING, "++", "--"):
                is_plain = self.is_operator("=")
                self.at += 1
                given = self.expression() if self.tokens[self.at - 1].text in _ASSIGNING else unknown()
                given = given if is_plain else unknown(given)
                self.variables["$"] = self.with_field(value, which, given)
                return given
            return Data(UNKNOWN, _INPUT) if value is None else self.field(value, which)
        return Data(UNKNOWN) if token.text == UNKNOWN else None

    def field(self, line: Value, which: Value) -> Value:
        """`$0`, `$1` and so on, of a line."""
        at, fields = whole(which), self.fields(line)
        if at == 0:
            return line
        if at is None or at < 0 or fields is None:
            return unknown(line)
        return Data(fields[at - 1] if at <= len(fields) else "", text_of(line).labels)

    def with_field(self, line: Value, which: Value, given: Value) -> Value:
        """The line in which a field is another: all fields of it, with what is printed between fields."""
        at, fields, text, between = whole(which), self.fields(line), known(given), known(self.variables["OFS"])
        if at == 0:
            return given
        if at is None or at < 0 or fields is None or at > len(fields) or text is None or between is None:
            return unknown(line, given)
        fields[at - 1] = text
        return Data(between.join(fields), text_of(line).labels | text_of(given).labels)

    def fields(self, line: Value) -> list[str] | None:
        """The fields of a line, None if they are not known."""
        text, mark = known(line), known(self.variables["FS"])
        if text is None or mark is None or (len(mark) > 1 and mark != "\\t"):
            return None
        return text.split() if mark == " " else text.split("\t" if mark == "\\t" else mark)

    def named(self, token: Token) -> Value:
        name = token.text
        if name == "getline":
            self.at -= 1
            self.getline(Data(UNKNOWN, _INPUT))
            if self.is_operator("<"):
                self.at += 1
                path = text_of(self.additive()).text
                if path.startswith("/inet"):
                    self.connect(path, NO_LABELS, sends=False)
                elif path not in _DEVICES:
                    self.effect("read", path)
                source = (
                    frozenset((NETWORK,))
                    if path.startswith("/inet")
                    else _INPUT
                    if path in _DEVICES
                    else frozenset((FILE + path,))
                )
                for variable, value in list(self.variables.items()):
                    if isinstance(value, Data) and value.text == UNKNOWN and value.labels == _INPUT:
                        self.variables[variable] = Data(UNKNOWN, source)
            return unknown()
        if self.is_operator("(") and (not self.tokens[self.at].spaced or name in _BUILTINS):
            self.at += 1
            in_print, self.in_print = self.in_print, 0
            arguments: list[Value] = []
            places: list[str] = []
            while self.at < self.size and not self.is_operator(")") and self.steps > 0:
                before = self.at
                places.append(self.tokens[self.at].text)
                arguments.append(self.expression())
                if self.is_operator(",") or self.at <= before:
                    self.at += 1
            self.at += 1
            self.in_print = in_print
            return self.call(name, arguments, places)
        key = name
        if self.is_operator("["):
            self.at += 1
            inner = self.expression()
            while self.is_operator(","):
                self.at += 1
                inner = concat(concat(inner, Data("\x1c")), self.expression())
            if self.is_operator("]"):
                self.at += 1
            position = whole(inner)
            if name == "ARGV":
                known_files = self.files is not None and position is not None and position < len(self.files)
                return (
                    self.files[position]
                    if self.files is not None and position is not None and known_files
                    else unknown()
                )
            if name == "ENVIRON":
                variable = known(inner) or ""
                return Data("~") if variable == "HOME" else Data(UNKNOWN, variable_labels(variable))
            key = f"{name}[{known(inner)}]"
        if name == "NF" and self.is_operator(*_ASSIGNING, "++", "--") and "$" in self.variables:
            self.variables["$"] = unknown(self.variables["$"])
        if self.is_operator(*_ASSIGNING):
            operator = self.tokens[self.at].text
            self.at += 1
            value = self.expression()
            self.variables[key] = value if operator == "=" else unknown(value)
            return value
        if self.is_operator("++", "--"):
            self.at += 1
            self.variables[key] = unknown()
            return unknown()
        if name == "length":
            return unknown()
        if key in self.variables:
            return self.variables[key]
        if "[" in key or name in ("NR", "NF", "FNR", "FILENAME", "ENVIRON", "RSTART", "RLENGTH", "ARGC", "RT"):
            return unknown()
        return Data() if name not in self.functions else unknown()

    def call(self, name: str, arguments: list[Value], places: list[str]) -> Value:
        first = arguments[0] if arguments else unknown()
        second = arguments[1] if len(arguments) > 1 else None
        if name == "system":
            self.shell(first)
            return unknown()
        if name in self.functions:
            self.called.add(name)
            parameters, start = self.functions[name]
            return self.body(parameters, start, arguments or [None])
        if name == "sprintf":
            return formatted(first, arguments[1:])
        if name in ("tolower", "toupper"):
            text = known(first)
            return unknown(first) if text is None else Data(text.lower() if name == "tolower" else text.upper())
        if name == "substr":
            text, start_, many = known(first), whole(second), whole(arguments[2]) if len(arguments) > 2 else None
            if text is None or start_ is None or (len(arguments) > 2 and many is None):
                return unknown(first)
            return Data(
                text[max(start_ - 1, 0) :] if many is None else text[max(start_ - 1, 0) : max(start_ - 1 + many, 0)]
            )
        if name == "split" and len(places) > 1:
            self.split(first, places[1], arguments[2] if len(arguments) > 2 else Data(" "))
            return unknown()
        if name in ("gsub", "sub", "gensub"):
            self.substitute(name, arguments, places)
            return unknown(*arguments)
        if name.startswith("@") or UNKNOWN in name:
            self.doubt("something that is not known is called")
        return unknown(*arguments)

    def split(self, value: Value, name: str, separator: Value) -> None:
        text, mark = known(value), known(separator)
        if text is None or mark is None:
            return
        parts = text.split() if mark == " " else list(text) if not mark else text.split(mark)
        for at, part in enumerate(parts[:2000], 1):
            self.variables[f"{name}[{at}]"] = Data(part)

    def substitute(self, name: str, arguments: list[Value], places: list[str]) -> None:
        if name == "gensub" or len(arguments) < 2:
            return
        place = places[2] if len(places) > 2 else "$"
        if place not in self.variables:
            return
        value = self.variables[place]
        old, new, text = known(arguments[0]), known(arguments[1]), known(value)
        is_part = place == "$" and len(arguments) > 2
        if is_part or old is None or new is None or text is None or any(char in old for char in ".*+?[](){}^$|\\"):
            self.variables[place] = unknown(value, arguments[1])
        else:
            self.variables[place] = Data(text.replace(old, new, -1 if name == "gsub" else 1), text_of(value).labels)


_BUILTINS = frozenset(
    (
        "system sprintf tolower toupper substr split gsub sub gensub length index match close fflush int rand "
        "srand sin cos atan2 exp log sqrt strftime systime mktime"
    ).split()
)
