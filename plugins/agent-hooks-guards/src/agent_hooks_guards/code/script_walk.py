"""The walk through a script: statements and expressions, for all languages."""

from __future__ import annotations

from functools import lru_cache

from agent_hooks_guards.model.values import Data

from . import (
    script_assignment,
    script_literals,
    script_names,
    script_perl,
    script_postfix,
    script_ruby,
    script_statements,
)
from .folding import binary
from .script_blocks import block_ends
from .script_grammar import ASSIGNING, LEVELS, LINEWISE, WORD_OPERATORS
from .script_limits import DEEPEST, TOO_MUCH
from .tokens import number, tokens
from .values import Pattern, Value, known, truth, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import Place, State
    from .tokens import Token


class Walk:
    """A walk through one text of a script."""

    def __init__(self, state: State, read: tuple[list[Token], dict[int, int]]) -> None:
        self.state = state
        self.tokens, self.closes = read
        self.size = len(self.tokens)
        self.language = state.language
        self.words = WORD_OPERATORS[self.language]
        self.has_loop_behind = self.language == "perl" and any(
            token.text in ("for", "foreach") for token in self.tokens
        )
        self.place: Place = None
        self.no_block = 0
        self.last: Value = None

    def everything(self) -> Value:
        """Walk through all of it."""
        return self.block(0, self.size)

    def block(self, at: int, end: int) -> Value:
        """Walk through the statements between two positions; the value of the last one."""
        self.last = None
        while at < end and self.state.steps > 0 and not self.state.leaving:
            before = at
            at = self.statement(at, end)
            if at <= before:
                at = before + 1
        return self.last

    def is_operator(self, at: int, text: str) -> bool:
        """Whether the operator ``text`` stands at this position."""
        return at < self.size and self.tokens[at].text == text and self.tokens[at].kind == "operator"

    def is_name(self, at: int, *names: str) -> bool:
        """Whether one of ``names`` stands at this position."""
        return at < self.size and self.tokens[at].kind == "name" and self.tokens[at].text in names

    def close(self, at: int) -> int:
        """The position of what closes the bracket or block at ``at``."""
        return self.closes.get(at, self.size)

    def statement(self, at: int, end: int) -> int:
        """Walk through the statement at ``at``; the position behind it."""
        self.state.steps -= 1
        token = self.tokens[at]
        if token.kind == "operator":
            if token.text == "{" and self.language not in ("ruby", "lua"):
                self.block(at + 1, min(self.close(at), end))
                return script_statements.after_block(self, at, self.close(at) + 1)
            if token.text in (";", ",", "}", ")", "]"):
                return at + 1
        elif token.kind == "name":
            handler = script_statements.STATEMENTS.get(token.text)
            if (
                handler is not None
                and not self.is_operator(at + 1, "=>")
                and not (self.is_operator(at + 1, "=") or self.is_operator(at + 1, "."))
            ):
                result = handler(self, at, end)
                if result is not None:
                    return result
        forks = self.state.forks
        if self.has_loop_behind:
            modifier = script_statements.loop_behind(self, at, end)
            if modifier > 0:
                return script_statements.repeat_statement(self, at, modifier)
        value, stop = self.expression(at)
        self.last = value
        if self.language in ("perl", "ruby") and stop < end:
            stop = script_statements.read_modifier(self, stop, forks)
        if (
            self.language == "ruby"
            and self.is_operator(stop, ",")
            and script_statements.is_operator_ahead(self, stop, end)
        ):
            return script_statements.assign_several(self, at, end)
        return stop

    def split(self, at: int, end: int, separator: str) -> list[tuple[int, int]]:
        """The parts between ``separator`` on this level."""
        parts: list[tuple[int, int]] = []
        start = at
        while at < end:
            if self.is_operator(at, separator):
                parts.append((start, at))
                start = at + 1
            at = self.close(at) + 1 if at in self.closes and self.tokens[at].kind == "operator" else at + 1
        parts.append((start, end))
        return parts

    def expression_without_block(self, at: int) -> tuple[Value, int]:
        """An expression behind which `do` or `{` begins a loop's body."""
        self.no_block += 1
        result = self.expression(at)
        self.no_block -= 1
        return result

    def expression(self, at: int, level: int = 0) -> tuple[Value, int]:
        """The value of the expression at ``at`` and the position behind it."""
        state = self.state
        state.steps -= 1
        if at >= self.size or state.steps <= 0:
            return None, self.size
        if state.depth > DEEPEST:
            state.doubt(TOO_MUCH)
            return unknown(), self.close(at) + 1
        state.depth += 1
        try:
            value, stop = self.unary(at)
            place = self.place
            while stop < self.size:
                token = self.tokens[stop]
                text = token.text
                if token.kind == "name":
                    if text not in self.words:
                        break
                elif token.kind != "operator":
                    break
                if (
                    token.newline
                    and self.language in LINEWISE
                    and not (text in (".", "|>") and self.language != "r")
                    and self.language != "groovy"
                ):
                    break
                if text in ASSIGNING:
                    if level > 2 or (place is None and text != "="):
                        break
                    value, stop = script_assignment.read_assignment(self, value, place, text, stop)
                    if self.language != "perl":
                        place = None
                    continue
                if text == "?" and self.language not in ("lua", "r") and level <= 2:
                    value, stop = script_assignment.read_ternary(self, value, stop)
                    place = None
                    continue
                strength = self.level(text)
                if (
                    strength is None
                    or strength <= level
                    or (text == "." and self.language not in ("perl", "php", "vim"))
                ):
                    break
                if text in ("|", "in") and self.no_block and text == "|":
                    break
                if (
                    self.language == "ruby"
                    and text in ("-", "*", "&", "<<")
                    and token.spaced
                    and not self.spaced(stop + 1)
                    and value is None
                ):
                    break
                if text in ("=~", "!~"):
                    value, stop = script_perl.bind_match(self, value, place, stop)
                    place = None
                    continue
                right, after = self.expression(stop + 1, strength if text != "**" else strength - 1)
                if after <= stop + 1 and right is None:
                    stop += 1
                    break
                if text == "|>":
                    value = state.call(right, [value])
                elif text == "<<" and self.language == "ruby" and not isinstance(value, int):
                    value = script_ruby.append_value(self, value, right, place)
                else:
                    if text in ("&&", "||", "and", "or", "//", "??") and truth(value) is None:
                        self.mark_unsure()
                    value = binary(text, value, right, self.language)
                place = None
                stop = after
            self.place = place
            return value, stop
        finally:
            state.depth -= 1

    def mark_unsure(self) -> None:
        """What is printed depends on something that is not known."""
        if not self.state.prints:
            return
        self.state.is_sure = False

    def spaced(self, at: int) -> bool:
        """Whether blanks stand before this token."""
        return at < self.size and self.tokens[at].spaced

    def level(self, text: str) -> int | None:
        """How strongly an operator binds, None for what is none."""
        if text == "..":
            return 10 if self.language in ("lua", "vim") else 3
        if text == "//" and self.language == "lua":
            return 11
        if text == "^" and self.language in ("r", "julia", "lua"):
            return 12
        if text in ("%", "x") and self.language == "r":
            return None
        if text == "*" and self.language == "julia":
            return 10
        return LEVELS.get(text)

    def unary(self, at: int) -> tuple[Value, int]:
        """A value with the operators before and behind it."""
        token = self.tokens[at]
        if token.kind == "operator":
            text = token.text
            if (
                text in ("!", "~", "+", "-", "\\", "@", "&", "*", "...", "#", "^", "**", "++", "--", "$", "%")
                and at + 1 < self.size
            ):
                return self.sign(text, at)
            if text in ("<", "|", ":", "?", ".", "=", "=>", ">", "/", "==", "||", "&&"):
                self.place = None
                return None, at + 1
        value, stop = self.primary(at)
        return script_postfix.read_postfix(self, value, stop, at)

    def sign(self, text: str, at: int) -> tuple[Value, int]:
        """A sign before a value: not, minus, a reference, one more."""
        following = self.tokens[at + 1]
        if (
            text == "-"
            and following.kind == "name"
            and len(following.text) == 1
            and not following.spaced
            and self.language == "perl"
        ):
            value, stop = self.expression(at + 2, 9)  # a file test
            self.place = None
            return unknown(), stop
        if text == "\\" and self.language == "perl" and following.text.startswith("&"):
            self.place = None
            return self.state.functions.get(following.text[1:], unknown()), at + 2  # a function, not called yet
        if text in ("$", "@", "%", "&") and self.language in ("perl", "php"):
            return script_perl.dereference(self, text, at)
        if text == "#" and self.language != "lua":
            return None, at + 1
        if (
            text == "-"
            and self.language == "perl"
            and following.kind == "name"
            and not following.spaced
            and following.text not in self.state.calls
        ):
            self.place = None
            return Data("-" + following.text), at + 2
        if text in ("++", "--"):
            value, stop = self.unary(at + 1)
            value = binary("+" if text == "++" else "-", value, 1, self.language)
            script_assignment.store(self, self.place, value)
            return value, stop
        value, stop = self.expression(at + 1, 11)
        self.place = None
        if text == "-":
            exact = whole(value)
            return (-exact if exact is not None and not isinstance(value, Data) else unknown(value)), stop
        if text == "+":
            exact = whole(value)
            return (exact if exact is not None else value), stop
        if text == "!":
            decided = truth(value)
            return (unknown() if decided is None else not decided), stop
        if text == "~":
            exact = whole(value)
            return (~exact if exact is not None else unknown(value)), stop
        if text == "#":
            if isinstance(value, list):
                return len(value), stop
            known_text = known(value)
            return (len(known_text) if known_text is not None else unknown()), stop
        if text == "@" and self.language == "php":
            return value, stop
        return value, stop

    def primary(self, at: int) -> tuple[Value, int]:
        """The value of what begins at ``at``, without what stands behind it."""
        token = self.tokens[at]
        self.place = None
        kind = token.kind
        if kind == "name":
            return script_names.named_value(self, at)
        if kind == "variable":
            return script_names.variable_value(self, at)
        if kind == "string":
            if self.language == "node" and token.flags == "" and token.text == "`":
                return script_literals.text_parts(self, token), at + 1
            return script_literals.text_parts(self, token), at + 1
        if kind == "number":
            return number(token.text), at + 1
        if kind == "shell":
            data = script_literals.text_parts(self, token)
            return self.state.shell(data), at + 1
        if kind == "words":
            return [Data(part) for part in token.parts if isinstance(part, str)], at + 1
        if kind == "regex":
            return Pattern(token.text, token.flags), at + 1
        if kind in ("replace", "translate"):
            result = script_perl.replace_in(self, token, self.state.variables.get("$_", unknown()))
            if "r" not in token.flags:
                self.state.variables["$_"] = result
            return result, at + 1
        if kind == "input":
            handle = self.state.variables.get(token.text or "STDIN", self.state.variables.get("$_"))
            if token.text in ("", "STDIN", "ARGV"):
                return self.state.line(), at + 1
            if "*" in token.text or "/" in token.text:
                return [Data(token.text)], at + 1
            return unknown(handle), at + 1
        return script_literals.bracketed(self, at)


@lru_cache(maxsize=64)
def read_tokens(text: str, language: str) -> tuple[list[Token], dict[int, int]]:
    """The tokens of a text, and where its blocks end."""
    found = tokens(text, language)
    return found, block_ends(found, language)
