"""Calls and assignments of a script, found in its tokens."""

from __future__ import annotations

from .script_source import KEYWORDS, Binding, Call, Slice, Source
from .script_tokens import GROUP

_ASSIGNMENTS = {"=": "=", "||=": "=", "??=": "=", "+=": "+", ".=": "+", "..=": "+"}
_CHANGES = frozenset("gsub! sub! tr!".split())
_BARE_PHP = frozenset("echo print include include_once require require_once".split())


def collect(script: Source) -> None:
    """Fill in the calls and bindings of ``script``."""
    _Collector(script).run()


class _Collector:
    def __init__(self, script: Source) -> None:
        self.script = script
        self.text = script.text
        self.opening = {token.close: at for at, token in enumerate(script.tokens) if token.close >= 0}

    def run(self) -> None:
        script = self.script
        for at in range(script.size):
            self._definition(at)
        for at in range(script.size):
            self._call(at)
        by_stop = {call.stop: call for call in script.calls.values()}
        for at in range(script.size):
            self._assignment(at)
            self._loop(at)
            if self.text(at) in ("{", "do") and self.text(at + 1) == "|" and at in by_stop:  # a block of Ruby
                self._block(at, by_stop[at])
        for call in script.calls.values():
            for name, part in zip(script.functions.get(call.name, ()), call.arguments, strict=False):
                if [self.text(at) for at in range(*part)] != [name]:  # passed on to itself
                    self.bind(name, call.at, "=", part)

    def bind(self, name: str, at: int, operator: str, part: Slice) -> None:
        self.script.bindings.setdefault(name, []).append(Binding(at, operator, *part))

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

    def _assignment(self, at: int) -> None:
        script, operator = self.script, self.text(at + 1)
        name = self.text(at)
        if name in ("{", "(", "["):
            self._destructuring(at)
        elif name == ")" and operator == "=~" and at in self.opening:  # (my $a = …) =~ s/…/…/
            variable = next((each for each in range(self.opening[at], at) if script.kind(each) == "variable"), at)
            self.bind(self.text(variable), at, "change", (at + 2, at + 3))
        elif script.kind(at) not in ("name", "variable", "replace") or script.is_member(at):
            return
        elif operator in _ASSIGNMENTS or (operator == "<<" and script.language == "ruby"):
            part = (at + 2, script.stop_of(at + 2))
            if not self._alias(name, part):
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
        if stop <= start or self.text(stop - 1) not in script.kinds or stop - 1 in script.calls:
            return False
        script.aliases[name] = self.text(stop - 1)
        if script.is_member(stop - 1) and script.kind(stop - 3) == "name":
            script.aliases[name] = f"{self.text(stop - 3)}.{self.text(stop - 1)}"
        return True

    def _destructuring(self, at: int) -> None:
        """``{a, b: c} = …``, ``import {a as b}`` and ``my ($a, $b) = …``: each may be any item of the right side."""
        script = self.script
        close = script.tokens[at].close
        names = [(self.text(start), self.text(stop - 1)) for start, stop in script.split(at + 1, close)]
        is_assigned = self.text(close + 1) == "="
        if self.text(at) == "{" and (is_assigned or self.text(at - 1) in ("import", ",")):
            script.aliases.update((alias, name) for name, alias in names if alias != name and name in script.kinds)
        for member, name in names if is_assigned else ():
            operator = f".{member}" if self.text(at) == "{" else "item"
            self.bind(name, at, operator, (close + 2, script.stop_of(close + 2)))

    def _loop(self, at: int) -> None:
        """Bind the variable of a loop to the items of its list."""
        script, text = self.script, self.text(at)
        if script.kind(at) != "name":
            return
        if text in ("of", "in") and script.kind(at - 1) == "name":
            self.bind(self.text(at - 1), at, "item", (at + 1, script.stop_of(at + 1)))
        elif text in ("forEach", "map") and script.is_member(at):  # `commands.forEach((command) => …)`
            first = at + 2 + (self.text(at + 2) == "async")
            first += self.text(first) == "("
            if script.kind(first) == "name" and self.text(first + 1) in ("=>", ")", ","):
                self.bind(self.text(first), at, "item", (self._chain(at), at - 1))
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

    def _block(self, at: int, call: Call) -> None:
        """Bind the parameter of a block to the items of the receiver, or of the call's result."""
        part = (call.start, call.stop) if self.script.kind_of(call) else (call.start, call.at - 1)
        self.bind(self.text(at + 2), at, "item", part)

    def _definition(self, at: int) -> None:
        """Note the parameters of ``function f(a)``, ``def f(a)``, ``f = (a) =>`` and ``f = a =>``."""
        script, start = self.script, at + 2
        if self.text(at + 1) == "=" and script.kind(at) in ("name", "variable"):
            name = self.text(at)
            start += self.text(start) in ("async", "function", "fn")
            if script.kind(start) == "name" and self.text(start + 1) == "=>":
                script.functions[name] = [self.text(start)]
            elif self.text(start) != "(" or (start == at + 2 and self.text(script.tokens[start].close + 1) != "=>"):
                return
        elif self.text(at) in ("function", "def"):
            name = self.text(at + 1)
        else:
            return
        if self.text(start) == "(":
            parts = script.split(start + 1, script.tokens[start].close)
            script.functions[name] = [self.text(part[0]) for part in parts]
