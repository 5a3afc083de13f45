"""Parses ``${…}``. Rules: the Bash Reference Manual, "Shell Parameter Expansion"."""

from __future__ import annotations

from .patterns import Pattern
from .syntax import UNKNOWN, Bare, Parameter, Substitution, append_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lexer import Lexer
    from .syntax import Word

_NAME = Pattern(r"(?:[A-Za-z_](?:[A-Za-z0-9_]|\\\n)*|[0-9](?:[0-9]|\\\n)*)")
_OPERATOR = Pattern(r":[-=?+]|[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|~~?|@[A-Za-z]|:")
_QUOTE_AFTER_DOLLAR = Pattern(r"\$(?:\\\n)*(['\"])")
_SPECIAL = frozenset("@*#?-$!_")
_INDIRECT = frozenset("@*#?$!")
# Their argument is a value, not a pattern.
_VALUE_OPERATORS = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+", ":"))


def parse_braces(lexer: Lexer, parts: Word, *, quoted: bool) -> None:
    """Parse from after ``${`` to after its ``}``."""
    text = lexer.text
    start = lexer.at
    if text[start : start + 1] in (" ", "\t", "\n", "|"):  # `${ command; }` of bash 5.3, ksh and mksh
        lexer.at = start + (text[start] == "|")
        body = lexer.commands("}")
        parts.append(Substitution(body, quoted, text[start : lexer.at - 1]))
        return
    parameter = _parameter(lexer, quoted=quoted)
    if parameter is not None:
        parts.append(parameter)
        return
    # The syntax of another shell: the value is unknown, the substitutions inside are kept.
    lexer.at = start
    inner: Word = []
    _argument(lexer, inner, "", quoted=quoted)
    append_part(parts, UNKNOWN if quoted else Bare(UNKNOWN))
    parts += [part for part in inner if type(part) is not str and type(part) is not Bare]


def _parameter(lexer: Lexer, *, quoted: bool) -> Parameter | None:
    """Parse a parameter and its operator up to after the ``}``; None if bash does not know the syntax."""
    text = lexer.text
    lexer.skip_joins()
    prefix = _prefix(text, lexer.at)
    lexer.at += bool(prefix)
    match = _NAME.match(text, lexer.at)
    if match is not None:
        name = match[0].replace("\\\n", "")
        lexer.at = match.end()
    elif text[lexer.at : lexer.at + 1] in _SPECIAL:
        name = text[lexer.at]
        lexer.at += 1
    else:
        return None
    parameter = Parameter(name, prefix, quoted=quoted)
    lexer.skip_joins()
    if text.startswith("[", lexer.at):
        lexer.at += 1
        parameter.index = []
        lexer.bracketed("]", parameter.index, opener="[")
        if prefix == "indirect" and parameter.index in ([Bare("@")], [Bare("*")]):
            parameter.operator = prefix = "keys"
        lexer.skip_joins()
    if text.startswith("}", lexer.at):
        lexer.at += 1
        return parameter
    if prefix == "indirect" and text[lexer.at : lexer.at + 2] in ("@}", "*}"):
        parameter.operator = "names"
        lexer.at += 2
        return parameter
    return _operation(lexer, parameter) if prefix in ("", "indirect") else None


def _prefix(text: str, at: int) -> str:
    """Return ``length`` for ``#`` and ``indirect`` for ``!`` before a name; these may be names themselves."""
    char, following = text[at : at + 1], text[at + 1 : at + 2]
    has_name = _NAME.match(text, at + 1) is not None
    if char == "#" and (has_name or (following in _SPECIAL and text.startswith("}", at + 2))):
        return "length"
    if char == "!" and (has_name or following in _INDIRECT):
        return "indirect"
    return ""


def _operation(lexer: Lexer, parameter: Parameter) -> Parameter | None:
    """Parse an operator and its arguments."""
    text = lexer.text
    match = _OPERATOR.match(text, lexer.at)
    if match is None:
        return None
    lexer.at = match.end()
    operator = match[0]
    if not parameter.operator:
        parameter.operator = operator
    if operator[0] == "@":
        if not text.startswith("}", lexer.at):
            return None
        lexer.at += 1
        return parameter
    stop = operator[0] if operator[0] == "/" or operator == ":" else ""
    while True:
        argument: Word = []
        end = _argument(lexer, argument, operator, quoted=parameter.quoted, stop=stop)
        parameter.arguments.append(argument)
        if end == "}":
            return parameter
        stop = ""


def _argument(lexer: Lexer, parts: Word, operator: str, *, quoted: bool, stop: str = "") -> str:
    """Parse a word up to and past ``}`` or ``stop``, and return which it was.

    In double quotes, single quotes are quotes in patterns only. Elsewhere they are text, but a ``}`` between two of
    them does not end the word.
    """
    if not quoted:
        return lexer.bracketed("}", parts, stop=stop)
    lexer.enter()
    text = lexer.text
    start = lexer.at
    is_value = operator in _VALUE_OPERATORS
    text_until = -1
    while lexer.at < len(text):
        char = text[lexer.at]
        is_text = lexer.at < text_until
        if not is_text and (char == "}" or char in stop):
            lexer.at += 1
            lexer.depth -= 1
            return char
        if char == '"':
            lexer.at += 1
            if not is_text:
                lexer.double_quoted(parts, in_braces=True)
        elif char == "'" and is_value:
            if lexer.at != text_until:
                text_until = text.find("'", lexer.at + 1)
                if text_until < 0:
                    break
            append_part(parts, char)
            lexer.at += 1
        elif char == "'":
            lexer.quoted_or_expanded(parts)
        elif char == "$" and not is_text and (quote := _QUOTE_AFTER_DOLLAR.match(text, lexer.at)):
            if quote[1] == '"':
                lexer.at = quote.end() - 1
            else:
                _ansi_quoted(lexer, parts, expands=is_value)
        elif char in "\\$`":
            lexer.expanded(parts, '$`"\\}')
        else:
            append_part(parts, char)
            lexer.at += 1
    raise lexer.error("} is missing", start)


def _ansi_quoted(lexer: Lexer, parts: Word, *, expands: bool) -> None:
    """Parse ``$'…'``; in a value, bash expands the decoded text once more."""
    at = lexer.at
    decoded: Word = []
    lexer.dollar(decoded, quoted=False)
    if expands:
        decoded = lexer.expandable("".join(part for part in decoded if isinstance(part, str)), at)
    for part in decoded:
        append_part(parts, part)
