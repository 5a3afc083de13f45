"""PowerShell, translated statement by statement to text for a Unix shell.

Files, programs, downloads and code that is run are translated; reading cmdlets, by a list in ``powershell.toml``, come
to nothing. Everything else is a problem of its statement, which becomes a doubt.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .cmdlets import Word, table, translate_cmdlet, translate_member, word_list
from .powershell_tokens import RETURNS, Lexer, Token
from .shell_text import ITEM, NotUnderstoodError, Statement, behind, either, quote

# Keywords in front of parentheses, a block, or both.
_CONTROL = frozenset(
    "if elseif else while until for do try catch finally begin process end function filter param foreach {".split()
)
_DEFINITIONS = ("function", "filter", "param")
_REFUSED = frozenset(("switch", "trap", "using", "class", "data", "enum", "workflow", "configuration"))
_PARAMETER = re.compile(r"[-\u2013\u2014\u2015]([a-zA-Z]\w*)(:?)(.*)", re.DOTALL)
_MEMBER = re.compile(r"(?:\?\.|\.|::)(\w+)")


class PowerShell:
    """A translation of one text. ``problem``: of the present statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problem = ""
        self.assigned: set[str] = set()

    def translate(self) -> list[Statement]:
        """Return the statements of the whole text."""
        found: list[Statement] = []
        begun = 0
        try:
            for tokens in _split(Lexer(self.text).tokens()):
                begun, self.problem = tokens[0].start, ""
                code = self._statement(tokens)
                found.append(Statement(code, self.text[begun : tokens[-1].end], self.problem))
        except NotUnderstoodError as error:
            found.append(Statement("", self.text[begun:], str(error)))
        return found

    # -- statements ----------------------------------------------------------------------------------------------------

    def _statements(self, tokens: list[Token]) -> str:
        return "; ".join(filter(None, map(self._statement, _split(tokens))))

    def _statement(self, tokens: list[Token]) -> str:
        keyword = tokens[0].text.lower() if tokens[0].kind in ("word", "group") else ""
        if keyword in _REFUSED:
            raise NotUnderstoodError(f"`{keyword}` is not understood")
        if keyword in RETURNS:
            return self._statement(tokens[1:]) if tokens[1:] else ":"
        if keyword in _CONTROL:
            at = (keyword != "{") + (keyword in ("function", "filter"))
            while at < len(tokens) and tokens[at].kind == "type":  # `catch [IOException]`
                at += 1
            # The block may stand on a line of its own.
            if at >= len(tokens) or tokens[at].text in ("(", "{"):
                return self._control(keyword, tokens, at)
        return " ".join(f"{sign} {self._pipeline(part)}" for sign, part in _divide(tokens, ("&&", "||"))).strip()

    def _control(self, keyword: str, tokens: list[Token], at: int) -> str:
        """Translate a control structure; its blocks may run or not."""
        codes, loop = [], ""
        while at < len(tokens) and tokens[at].text in ("(", "{"):
            inside, problem = tokens[at].items, self.problem
            if tokens[at].text == "{":
                codes.append(either(self._statements(inside)))
            elif keyword == "foreach" and len(inside) > 2 and inside[0].kind == "variable":
                self.assigned.add(name := _variable_name(inside[0].text))
                loop = f"for {name} in {self._value_of(inside[2:]).code}; do "
            else:
                code = self._statements(inside)
                if keyword in _DEFINITIONS:  # the values of parameters are not known
                    code, self.problem = "", problem
                codes.append(code)
            at += 1
        rest = tokens[at:]
        codes.append(self._statement(rest) if rest else "")
        code = "; ".join(filter(None, codes)) or ":"
        return f"{loop}{code}; done" if loop else code

    def _pipeline(self, tokens: list[Token]) -> str:
        """Translate an assignment, or commands and values with ``|`` between them."""
        at = int(bool(tokens) and tokens[0].kind == "type")
        if len(tokens) > at + 1 and (tokens[at].kind, tokens[at + 1].kind) == ("variable", "assign"):
            word, name = self._value_of(tokens[at + 2 :]), tokens[at].text.strip("${}")
            code = UNKNOWN + word.code.replace(" ", "") if word.is_list else word.code
            code = UNKNOWN + code if tokens[at + 1].text != "=" else code
            if name.lower().startswith("env:"):
                return f"export {name[4:].upper()}={code}"
            self.assigned.add(_variable_name(name))
            return f"{_variable_name(name)}={code}"
        code = ""
        for _, part in _divide(tokens, ("|",)):
            code = self._element(part, code)
        return code

    def _value_of(self, tokens: list[Token]) -> Word:
        """Return the value of an expression, or the output of commands."""
        if _is_value(tokens) and all(token.text not in ("|", "&&", "||") for token in tokens):
            return self._value(tokens)
        return Word(f'"$({self._statement(tokens)})"') if tokens else Word(UNKNOWN)

    def _element(self, tokens: list[Token], piped: str) -> str:
        """Translate a command or a value behind ``piped``, the pipeline so far."""
        at = next((at for at, token in enumerate(tokens) if token.kind == "redirect"), len(tokens))
        redirections = self._redirections(tokens[at:])
        tokens = tokens[:at]
        if not tokens:
            return piped
        is_call = tokens[0].text in ("&", ".") and len(tokens) > 1
        if not is_call and _is_value(tokens):
            code = f"printf '%s\\n' {self._value(tokens).code}"
            return (f"{piped} | {{ cat; {code}; }}" if piped else code) + redirections
        name, at = self._argument(tokens, int(is_call))
        words: list[Word] = []
        while at < len(tokens):
            items: list[Word] = []
            while at < len(tokens) and (not items or tokens[at].text == ","):
                item, at = self._argument(tokens, at + (tokens[at].text == ","))
                items.append(item)
            words.append(word_list(items))
        code, problem = translate_cmdlet(name, words, piped)
        self.problem = self.problem or problem
        return code + redirections

    def _redirections(self, tokens: list[Token]) -> str:
        code, at = "", 0
        while at < len(tokens):
            sign = tokens[at].text.lstrip("0123456789*")
            at += 1
            if not sign.endswith(tuple("0123456789")) and at < len(tokens):
                target, at = self._argument(tokens, at)
                code += f" {sign} {target.code}" if target.text != "/dev/null" and sign[0] == ">" else ""
        return code

    def _argument(self, tokens: list[Token], at: int) -> tuple[Word, int]:
        """Translate a parameter, or words, strings and variables without a blank between them; return its end, too."""
        if at >= len(tokens):
            return Word(UNKNOWN), at
        if tokens[at].kind == "word" and (match := _PARAMETER.fullmatch(tokens[at].text)):
            name = match[1].lower()
            if match[2] and (match[3] or at + 1 < len(tokens)):
                value, end = (Word(quote(match[3]), match[3]), at + 1) if match[3] else self._argument(tokens, at + 1)
                return value._replace(parameter=name, has_value=True), end
            if not match[3]:
                return Word(quote("-" + match[1]), "-" + match[1], parameter=name), at + 1
        code, text, is_known, begun = "", "", True, at
        while at < len(tokens) and (at == begun or not tokens[at].spaced) and tokens[at].text != ",":
            token = tokens[at]
            if token.kind == "word" or token.kind in ("assign", "other"):
                code, text, at = behind(code, token.text), text + token.text, at + 1
                continue
            if token.text in ("(", "{") and code:
                break
            word, at = self._operand(tokens, at)
            if word.block is not None:
                return word, at
            code, text, is_known = code + word.code, text + (word.text or ""), is_known and word.text is not None
        if text.startswith("@") and text[1:].isidentifier():  # splatting
            return Word(UNKNOWN), at
        return Word(code or "''", text if is_known else None), max(at, begun + 1)

    # -- values --------------------------------------------------------------------------------------------------------

    def _value(self, tokens: list[Token]) -> Word:
        """Translate an expression: a list, or an unknown value if there are other operators than commas."""
        words: list[Word] = []
        at, is_list = 0, True
        while at < len(tokens):
            token = tokens[at]
            if token.kind in ("word", "assign", "operator", "other") and not token.text[0].isdigit():
                is_list, at = is_list and token.text == ",", at + 1
                continue
            word, at = self._operand(tokens, at)
            words.append(word)
        return word_list(words) if is_list and words else Word(UNKNOWN + "".join(word.code for word in words))

    def _operand(self, tokens: list[Token], at: int) -> tuple[Word, int]:
        """Translate a value with its members and indexes; return where it ends, too."""
        token, kind = tokens[at], ""
        at += 1
        if token.kind == "type":
            kind, word = token.text.strip("[]").lower().removeprefix("system."), Word(UNKNOWN)
            if at < len(tokens) and not tokens[at].text.startswith("::"):  # a cast
                return self._operand(tokens, at) if _is_value(tokens[at:]) else (word, at)
        elif token.kind == "string":
            word = self._string(token)
        elif token.kind == "variable":
            word = self._variable(token.text.strip("${}").lower())
        elif token.kind == "group":
            word = self._group(token)
        else:
            word = Word(quote(token.text), token.text)
        while at < len(tokens) and not tokens[at].spaced:
            names = _MEMBER.findall(tokens[at].text) if tokens[at].kind == "word" else []
            if not names and tokens[at].kind != "type":
                break
            at += 1
            word = Word(UNKNOWN + word.code) if not names else word
            for name in names:
                if name is names[-1] and at < len(tokens) and tokens[at].text == "(" and not tokens[at].spaced:
                    arguments = [self._value(part) for _, part in _divide(tokens[at].items, (",",)) if part]
                    at += 1
                    word, problem = translate_member(kind, name.lower(), word, arguments)
                    self.problem, kind = self.problem or problem, ""
                elif name.lower() not in ("content", "fullname", "value"):
                    word = Word(UNKNOWN + word.code)
        return word, at

    def _group(self, token: Token) -> Word:
        """Translate brackets: an expression is its value, commands are their output, a block is a script."""
        if token.text == "{":
            return Word(UNKNOWN, block=self._statements(token.items), source=self.text[token.start + 1 : token.end - 1])
        if token.text == "@{":
            # As headers are written: a credential may go out as `Authorization`.
            pairs = ""
            for part in _split(token.items):
                if part[0].kind == "group" or len(part) < 2:
                    self.problem = self.problem or "a table is not understood"
                key, sign, rest = part[0].text.partition("=")
                given = [part[0]._replace(text=rest)] if rest else []
                value = self._value_of([*given, *part[1 if sign else 2 :]])
                pairs += value.code if value.is_list else quote(f"{key}: ") + value.code
            return Word(pairs + UNKNOWN)
        statements = _split(token.items)
        if not statements:
            return Word("''", "")
        return self._value_of(statements[0]) if len(statements) == 1 else Word(f'"$({self._statements(token.items)})"')

    def _string(self, token: Token) -> Word:
        code, plain = "", ""
        for part in token.items:
            if part.kind == "text":
                plain += part.text
            else:
                code, plain = behind(code, plain) + self._operand([part], 0)[0].code, ""
        return Word(behind(code, plain), None if code else plain)

    def _variable(self, name: str) -> Word:
        if name in ("_", "psitem"):
            return Word(f'"${{{ITEM}}}"')
        if name in table("variables"):
            code = table("variables")[name]
            return Word(code, None if "$" in code else code.strip("'"))
        if name.startswith("env:"):
            return Word(f'"${{{name[4:].upper()}}}"')
        name = _variable_name(name)
        return Word(f'"${{{name}}}"' if name in self.assigned else UNKNOWN)


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Return the statements in a list of tokens."""
    return [part for _, part in _divide(tokens, (";", "\n")) if part]


def _divide(tokens: list[Token], signs: tuple[str, ...]) -> list[tuple[str, list[Token]]]:
    """Divide a list of tokens at operators; return each part with the operator in front of it."""
    parts: list[tuple[str, list[Token]]] = [("", [])]
    for token in tokens:
        if token.kind in ("operator", "end") and token.text in signs:
            parts.append((token.text, []))
        else:
            parts[-1][1].append(token)
    return parts


def _is_value(tokens: list[Token]) -> bool:
    """Whether an expression begins, and not a command."""
    first = tokens[0] if tokens else None
    if first is None or first.kind in ("word", "operator", "other"):
        return first is not None and first.text[0] in "0123456789!,+-"
    return True


def _variable_name(name: str) -> str:
    """Return the name of a shell's variable for one of PowerShell."""
    return re.sub(r"\W", "_", name.strip("${}").rpartition(":")[2].lower(), flags=re.ASCII)
