"""A shell command line, taken apart into simple commands: as far as words, redirections and here-documents go."""

from __future__ import annotations

import re
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r]++)
    | (?P<comment>\#[^\n]*+)
    | (?P<operator>&>>|&>|<<<|<<-|<<|<>|<&|<\(|>>|>\||>&|>\(|&&|\|\||\|&|;;&?|;&|[;&|<>()`\n])
    | (?P<word>(?:[^\ \t\r\n'"\\;&|<>()`] | \\. | '[^']*+' | "(?:[^"\\]|\\.)*+")++)
    """,
    re.VERBOSE | re.DOTALL,
)
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_TAKING = _WRITING | {"<", "<&", "<<<", "<<", "<<-"}
_OPENING = ("`", "<(", ">(")  # beside `$(`, of which the dollar is a part of the word
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
# What a shell takes as it is: in single quotes, and behind a backslash.
_LITERAL = re.compile(r"""("(?:[^"\\]|\\.)*+")|'[^']*+'|\\.""", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
# A long text as one word: "$(cat <<'EOF' ...)", as agents write the messages of commits.
_DOCUMENT = re.compile(
    r""""\$\(\s*cat\s+<<-?[ \t]*(?P<quote>['"]?)(?P<end>\w+)(?P=quote)[ \t]*\n"""
    r"""(?P<body>.{0,20000}?)\n?[ \t]*(?P=end)[ \t]*\n?\s*\)\"""",
    re.DOTALL,
)
_BRACES = re.compile(r"\{([^{},]*+(?:,[^{},]*+)++)\}")
_MAX_WORDS = 64  # that braces are expanded to
_MAX_VALUE = 4096  # characters of a variable that are put in


class Command:
    """A simple command: its ``words`` without quotes, the files it is redirected to (``targets``) and from
    (``sources``), the text it is given on stdin (``body``), the commands that are run to make up its words and that
    text (``inner``), whether it reads from a pipe, and in how many parentheses it stands.
    """

    def __init__(self, level: int, *, piped: bool = False) -> None:
        self.words: list[str] = []
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.body = ""
        self.inner: list[str] = []
        self.piped = piped
        self.level = level


def commands_in(text: str) -> list[Command]:
    """Return the simple commands of ``text``, in order; those of substitutions outside quotes among them.

    Raises ``ValueError`` where a quote is not closed.
    """
    text = text.replace("\\\r\n", "").replace("\\\n", "")
    if "<<" in text:
        text = _DOCUMENT.sub(_as_word, text)
    if "$'" in text:
        text = _ANSI_C.sub(_decoded, text)
    commands = [Command(0)]
    taking = ""  # the operator whose word is next
    awaited: list[tuple[Command, str, bool]] = []  # here-documents whose lines are still to come
    position, level, end_of_word = 0, 0, -1
    are_closed = True  # as far as known, all substitutions
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError("a quote is not closed")
        kind, raw, start, position = token.lastgroup, token.group(), position, token.end()
        command = commands[-1]
        word = _unquoted(raw) if kind == "word" else ""
        if are_closed and (raw in _OPENING or (kind == "word" and _begins_substitution(text, position))):
            found = _Substituting(text, start)
            are_closed = found.is_closed
            if are_closed:
                kind, raw, word, position = "word", text[start : found.end], found.word, found.end
                command.inner += found.inner
        elif kind == "word" and ("$(" in raw or "`" in raw):
            command.inner += _substitutions(_LITERAL.sub(lambda m: _ESCAPED.sub("", m[1] or ""), raw))
        if kind == "word":
            end_of_word = position
            if taking in _WRITING:
                is_descriptor = taking in (">&", "<&") and word.strip("-").isdigit()
                if not is_descriptor and word != "-" and not word.startswith(_OPENING):
                    command.targets.append(word)
            elif taking in ("<<", "<<-"):
                awaited.append((command, word, word == raw))
            elif taking == "<<<":
                command.body += word + "\n"
            elif taking:
                command.sources.append(word)
            else:
                command.words.append(word)
            taking = ""
        elif kind == "operator":
            taking = ""
            if raw in _TAKING:
                if end_of_word == start and command.words and command.words[-1].isdigit():
                    command.words.pop()  # the number of the descriptor
                taking = raw
                continue
            level += raw.endswith("(")
            level -= raw == ")" and level > 0
            commands.append(Command(level, piped=raw in ("|", "|&")))
            if raw == "\n":
                for each, delimiter, is_expanded in awaited:
                    body, position = _document(text, position, delimiter)
                    each.body += body
                    each.inner += _substitutions(_ESCAPED.sub("", body)) if is_expanded else ()
                awaited = []
    return [command for command in commands if command.words or command.targets]


class _Substituting:
    """The word at ``start`` of ``text`` with the substitutions in it: the ``word``, the commands in it (``inner``) and
    its ``end``. Not ``is_closed``: where they end is not known, or there is a here-document in one.
    """

    def __init__(self, text: str, start: int) -> None:
        self.word = ""
        self.inner: list[str] = []
        self.end = start
        self.is_closed = True
        while self.is_closed and self.end < len(text):
            token = _TOKEN.match(text, self.end)
            if token is None:
                raise ValueError("a quote is not closed")
            opening = token.group()
            is_file = opening in _OPENING and opening != "`" and not self.word
            if is_file or opening == "`" or (opening == "(" and _is_dollar(text, self.end)):
                self._substitute(text, token)
            elif token.lastgroup == "word":
                raw = token.group()
                self.word += _unquoted(raw)
                self.inner += _substitutions(_LITERAL.sub(lambda m: _ESCAPED.sub("", m[1] or ""), raw))
                self.end = token.end()
            else:
                break

    def _substitute(self, text: str, token: re.Match[str]) -> None:
        start = token.end()
        end = text.find("`", start) + 1 if token.group() == "`" else _end_of(text, start)
        inside = text[start : end - 1]
        self.is_closed = end > 0 and "<<" not in inside.replace("<<<", "")
        if self.is_closed:
            self.inner.append(inside)
            self.word += text[self.end : end]
            self.end = end


def _begins_substitution(text: str, position: int) -> bool:
    return text.startswith("`", position) or (text.startswith("(", position) and _is_dollar(text, position))


def _is_dollar(text: str, position: int) -> bool:
    return text[position - 1 : position] == "$" and text[position - 2 : position - 1] != "\\"


def _end_of(text: str, position: int) -> int:
    """Return where the parenthesis that is open at ``position`` has been closed; 0 if it is not."""
    depth = 1
    while depth:
        token = _TOKEN.match(text, position) if position < len(text) else None
        if token is None:
            return 0
        position = token.end()
        if token.lastgroup == "operator":
            depth += token.group().endswith("(")
            depth -= token.group() == ")"
    return position


def plain_words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` that are no sentences, such lines of its documents, and the words within words.

    The name of a file is one of them; what is only said about one in a message is not. Raises ``ValueError`` where a
    quote is not closed.
    """
    for command in commands_in(text):
        found = (*command.words, *command.targets, *command.sources, *command.body.split("\n"))
        yield from (word for word in found if word and not any(blank in word for blank in " \t\n"))
        yield from " ".join(command.inner).split()


def _as_word(found: re.Match[str]) -> str:
    body = found["body"]
    if found["quote"]:
        body = body.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$")
    return '"' + body.replace('"', '\\"') + '"'


def _decoded(found: re.Match[str]) -> str:
    return shlex.quote(_ESCAPE.sub(_character, found[1]))


def _character(found: re.Match[str]) -> str:
    if found[4]:
        return {"n": "\n", "t": "\t", "r": "\r"}.get(found[4], found[4])
    return chr(int(found[3], 8) & 255 if found[3] else int(found[1] or found[2], 16))


def _unquoted(raw: str) -> str:
    if "'" not in raw and '"' not in raw and "\\" not in raw:
        return raw
    return "".join(shlex.split(raw))


def _document(text: str, position: int, delimiter: str) -> tuple[str, int]:
    """Return the lines up to ``delimiter``, and where what follows begins."""
    start = position
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if text[position:end].strip("\t\r") == delimiter:
            return text[start:position], end
        position = end + 1
    return text[start:], len(text)


def _substitutions(live: str) -> Iterator[str]:
    """Yield the commands in backticks and in ``$(...)``; ``live`` is without what a shell takes literally."""
    yield from live.split("`")[1::2]
    _, opened, rest = live.partition("$(")
    if opened:
        yield rest.rpartition(")")[0] or rest


def braces_expanded(word: str) -> list[str]:
    """Return the words that a shell makes of ``word`` and its braces."""
    words = [word]
    while len(words) < _MAX_WORDS:
        found = next((each for each in words if _BRACES.search(each)), None)
        if found is None:
            break
        at = words.index(found)
        choices = _BRACES.search(found)
        assert choices is not None
        before, after = found[: choices.start()], found[choices.end() :]
        words[at : at + 1] = [before + choice + after for choice in choices.group(1).split(",")]
    return words


# `$X`, `${X}`, with a default or the like (`${X:-y}`), and without a slash or a last name (`${X%/}`, `${X%/*}`).
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?([-=?+])([^{}]*)|%(/\*?))?\})")


def with_variables(word: str, variables: dict[str, str]) -> str:
    """Return ``word`` with the variables that are known put in, unless that makes it very long."""

    def value(found: re.Match[str]) -> str:
        known = variables.get(found[1] or found[2])
        if found[3] and (found[3] == "+") == bool(known):
            known = found[4] if found[3] != "?" else known
        if known and found[5]:
            known = known.rpartition("/")[0] if found[5] == "/*" else known.removesuffix("/")
        return found[0] if known is None else known

    made = _VARIABLE.sub(value, word)
    return made if len(made) <= len(word) + _MAX_VALUE else word
