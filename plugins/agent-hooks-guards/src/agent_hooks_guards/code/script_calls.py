"""Calls and assignments of a script, found in its tokens."""

from __future__ import annotations

from .script_source import KEYWORDS, Binding, Call, Slice, Source
from .script_tokens import GROUP, Token

_ASSIGNMENTS = {"=": "=", "||=": "=", "??=": "=", "+=": "+", ".=": "+", "..=": "+"}
_ELEMENTS = frozenset("forEach map flatMap filter each each_with_index each_line some every".split())
_CHANGES = frozenset("gsub! sub! tr!".split())
_BARE = {"perl", "ruby"}  # languages whose calls need no parentheses
_BARE_PHP = frozenset("echo print include include_once require require_once".split())


def collect(script: Source) -> None:
    """Fill in the calls and bindings of ``script``."""
    _Collector(script).run()


class _Collector:
    def __init__(self, script: Source) -> None:
        self.script = script
        self.text = script.text
        self.opening = {token.close: at for at, token in enumerate(script.tokens) if token.close >= 0}
        self.parameters: set[int] = set()  # where Perl assigns the parameters of a function

    def run(self) -> None:
        script = self.script
        for at in range(script.size):
            self._definition(at)
        for at in range(script.size):
            self._call(at)
        self.by_argument = {part[0]: call for call in script.calls.values() for part in call.arguments}
        self.by_stop = {call.stop: call for call in script.calls.values()}
        for at in range(script.size):
            self._assignment(at)
            self._loop(at)
            self._parameters(at)
        for call in list(script.calls.values()):
            for name, part in zip(self.script.functions.get(call.name, ()), call.arguments, strict=False):
                self.bind(name, call.at, "=", part)

    def bind(self, name: str, at: int, operator: str, part: Slice) -> None:
        self.script.bindings.setdefault(name, []).append(Binding(at, operator, *part))

    # Calls

    def _call(self, at: int) -> None:
        script, text = self.script, self.text(at)
        kind = script.kind(at)
        if kind not in ("name", "variable") or self.text(at - 1) in ("function", "def", "sub"):
            return
        if text in KEYWORDS and not script.is_member(at):
            return
        if self.text(at + 1) == "::" and script.language == "perl":
            return
        found = self._parts(at, text)
        if found is None or (kind == "variable" and script.language != "php"):
            return
        start = self._chain(at)
        owner = ""
        if script.is_member(at):
            end = at - 2
            while end in self.opening:
                end = self.opening[end] - 1
            owner = self.text(end) or "?"
            if owner == "require" and script.kind(end + 2) == "string":
                owner = script.tokens[end + 2].text.replace(".", "/").replace(":", "/").rpartition("/")[2]
        script.calls[at] = Call(text, owner, start, at, found[1], found[0])

    def _parts(self, at: int, name: str) -> tuple[list[Slice], int] | None:
        """The arguments of the call of the name at ``at``, and where it stops; None if it is no call."""
        script, follower = self.script, self.text(at + 1)
        language = script.language
        if follower == "(":
            close = script.tokens[at + 1].close
            return script.split(at + 2, close, (",", "=>") if language == "perl" else (",",)), close + 1
        behind = at + 1 < script.size
        if language == "node":
            is_template = behind and (follower == GROUP or script.kind(at + 1) == "string") and name in script.kinds
            return ([(at + 1, script.after(at + 1))], script.after(at + 1)) if is_template else None
        if language == "lua":
            is_bare = behind and (script.kind(at + 1) == "string" or follower == "{")
            return ([(at + 1, script.after(at + 1))], script.after(at + 1)) if is_bare else None
        is_member = script.is_member(at)
        if language == "ruby" and is_member and follower in ("{", "do"):
            return [], at + 1
        if language == "php" and name not in _BARE_PHP:
            return None
        if name not in script.kinds and not (language == "ruby" and name in script.functions):
            return None
        is_key = self.text(at - 1) == "{" and follower == "}" and script.kind(at - 2) in ("variable", "operator")
        if follower in ("=>", "=", ":") or (is_key and self.text(at - 2) not in (")", "|")):
            return None
        is_bare = (
            behind and script.starts_operand(at + 1) and not (script.tokens[at + 1].newline and language == "ruby")
        )
        if not is_bare or (language == "perl" and is_member):
            return [], at + 1
        return self._bare(at + 1)

    def _bare(self, at: int) -> tuple[list[Slice], int]:
        """Arguments without parentheses."""
        script = self.script
        separators = (",", ";", "=>") if script.language == "perl" else (",", ";")
        found = []
        while at < script.size:
            stop = script.stop_of(at, separators)
            if stop <= at:
                break
            found.append((at, stop))
            at = stop
            if self.text(stop) not in (",", "=>"):
                break
            at = stop + 1
        return found, at

    def _chain(self, at: int) -> int:
        """Where the chain of names and calls starts that ends with the name at ``at``."""
        while self.script.is_member(at):
            at -= 2
            while at in self.opening:
                at = self.opening[at]
                is_name = self.script.kind(at - 1) in ("name", "variable")
                if is_name and (self.text(at - 1) not in KEYWORDS or self.script.is_member(at - 1)):
                    at -= 1
        return max(at, 0)

    # Assignments

    def _assignment(self, at: int) -> None:
        script, operator = self.script, self.text(at + 1)
        name = self.text(at)
        if name in ("{", "(", "["):
            self._destructuring(at)
        elif name == ")" and operator == "=~" and at in self.opening:  # (my $a = …) =~ s/…/…/
            variable = next((each for each in range(self.opening[at], at) if script.kind(each) == "variable"), at)
            self.bind(self.text(variable), at, "change", (at + 2, at + 3))
        elif script.kind(at) not in ("name", "variable", "replace") or script.is_member(at) or at in self.parameters:
            return
        elif operator in _ASSIGNMENTS or (operator == "<<" and script.language == "ruby"):
            part = (at + 2, script.stop_of(at + 2))
            parameters = self._function(at + 2)
            if parameters is not None:
                self.script.functions[name] = parameters
            elif not self._alias(name, part):
                self.bind(name, at, _ASSIGNMENTS.get(operator, "+"), part)
        elif (operator == "=~" and script.kind(at + 2) == "replace") or (
            operator == "." and self.text(at + 2) in _CHANGES
        ):
            self.bind(name, at, "change", (at + 2, at + 3))
        elif script.kind(at) == "replace" and self.text(at - 1) not in ("=~", "!~"):
            self.bind("$_", at, "change", (at, at + 1))

    def _alias(self, name: str, part: Slice) -> bool:
        """Whether a name stands for another function: ``go = os.execute``, ``run = promisify(cp.exec)``."""
        script, (start, stop) = self.script, part
        if self.text(stop - 1) == ")" and self.text(self.opening.get(stop - 1, 0) - 1) == "promisify":
            start, stop = self.opening[stop - 1] + 1, stop - 1
        if self.text(start) == "require" and script.tokens[start + 1].close == stop - 3:
            start = stop - 1
        chain = [self.text(at) for at in range(start, stop)]
        if not chain or chain[-1] not in script.kinds or stop - 1 in script.calls:
            return False
        if any(script.kind(at) != "name" for at in range(start, stop, 2)):
            return False
        script.aliases[name] = ".".join(chain[-3::2]) if len(chain) > 2 else chain[-1]
        return True

    def _destructuring(self, at: int) -> None:
        """``{a, b: c} = …``, ``import {a as b}`` and ``my ($a, $b) = …``."""
        script = self.script
        close = script.tokens[at].close
        names = [(self.text(start), self.text(stop - 1)) for start, stop in script.split(at + 1, close)]
        if self.text(at) == "{" and self.text(at - 1) in ("import", ","):
            script.aliases.update((alias, name) for name, alias in names if alias != name)
        if self.text(close + 1) != "=" or at in self.parameters:
            return
        start = close + 2
        right = script.tokens[start : script.stop_of(start)]
        for index, (name, alias) in enumerate(names):
            if name == "...":
                continue
            if self.text(at) == "{" and script.language == "node":
                if alias != name and name in script.kinds:
                    script.aliases[alias] = name
                part = script.append(*right, Token("operator", "."), Token("name", name))
            else:
                brackets = [Token("operator", "["), Token("number", str(index)), Token("operator", "]")]
                part = script.append(*right, *brackets)
            self.bind(alias, at, "=", part)

    def _loop(self, at: int) -> None:
        """Bind the variable of a loop to the items of its list."""
        script, text = self.script, self.text(at)
        if script.kind(at) != "name":
            return
        if text in ("of", "in") and script.kind(at - 1) == "name":
            self.bind(self.text(at - 1), at, "item", (at + 1, script.stop_of(at + 1)))
        elif text == "as" and script.language == "php":
            name = self.text(at + 3) if self.text(at + 2) == "=>" else self.text(at + 1)
            start = next((other for other in range(at, -1, -1) if script.tokens[other].close > at), 0)
            self.bind(name, at, "item", (start + 1, at))
        elif text in ("for", "foreach") and script.language == "perl":
            at += 2 if self.text(at + 1) in ("my", "our") else 1
            name = "$_"
            if script.kind(at) == "variable" and self.text(at + 1) == "(":
                name, at = self.text(at), at + 1
            if self.text(at) == "(" and len(script.split(at + 1, script.tokens[at].close, (";",))) < 2:
                self.bind(name, at, "item", (at, script.tokens[at].close + 1))
            elif at < script.size and self.text(at) != "(":
                self.bind(name, at, "item", (at, script.stop_of(at)))

    # Functions

    def _definition(self, at: int) -> None:
        """Note the parameters of ``function f(a)``, ``def f(a)``, ``sub f { my ($a) = @_; … }``."""
        script, name = self.script, self.text(at + 1)
        if self.text(at) not in ("function", "def", "sub") or script.kind(at + 1) != "name":
            return
        if self.text(at + 2) == "(":
            script.functions[name] = self._names(at + 3, script.tokens[at + 2].close)
        start, names = at + 4, []
        if script.language == "perl" and self.text(start) == "(":
            close = script.tokens[start].close
            if self.text(close + 2) == "@_":
                names = self._names(start + 1, close)
                self.parameters.add(start)
        while script.language == "perl" and [self.text(start - 1), self.text(start + 2)] == ["my", "shift"]:
            names.append(self.text(start))
            self.parameters.add(start)
            start = script.stop_of(start, (";",)) + 2
        if names:
            script.functions[name] = names

    def _names(self, start: int, stop: int) -> list[str]:
        return [self.text(part[0]) for part in self.script.split(start, stop)]

    def _function(self, at: int) -> list[str] | None:
        """The parameters of the function that starts at ``at``; None if none does."""
        script = self.script
        at += self.text(at) == "async"
        if self.text(at) in ("function", "fn"):
            at += 1 + (script.kind(at + 1) == "name")
            return self._names(at + 1, script.tokens[at].close) if self.text(at) == "(" else None
        if self.text(at) == "(" and self.text(script.tokens[at].close + 1) == "=>":
            return self._names(at + 1, script.tokens[at].close)
        return [self.text(at)] if script.kind(at) == "name" and self.text(at + 1) == "=>" else None

    def _parameters(self, at: int) -> None:
        """Bind the parameters of a function that is an argument, or of a block, to the values it is called with."""
        script = self.script
        call = self.by_argument.get(at)
        names = self._function(at) if call is not None else None
        if script.language == "ruby" and self.text(at) in ("{", "do") and self.text(at + 1) == "|":
            call = self.by_stop.get(at)
            close = next((end for end in range(at + 2, script.size) if self.text(end) == "|"), at + 2)
            names = self._names(at + 2, close)
        if call is None or names is None or script.language not in ("node", "ruby"):
            return
        operator, part = "=", (call.start, call.stop)
        if not script.kind_of(call) and call.at > call.start:
            operator, part = "item" if call.name in _ELEMENTS else "=", (call.start, call.at - 1)
        for name in names:
            self.bind(name, at, operator, part)
