"""Expansion of the words of a command: braces, tildes, parameters, substitutions, splitting into fields.

Globs stay, except for those that match a single text: ``chow[n]`` is ``chown``.
"""

from __future__ import annotations

import itertools

from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.syntax import Arithmetic, Bare, Parameter, ProcessSubstitution
from agent_hooks_guards.model.actions import TooMuchError
from agent_hooks_guards.model.values import CREDENTIAL, NO_LABELS, NOTHING, UNKNOWN, Data, Unset
from agent_hooks_guards.programs.inner import joined, quoted

from .state import next_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_hooks.shell.syntax import Word

    from .state import State

    Piece = tuple[str, frozenset[str], bool]
    Substitute = Callable[..., Data]

_SPECIAL = frozenset("{~[")
_ONE_OF_ONE = Pattern(r"\[([^]\[!^*?-])\]")
_ESCAPED = Pattern(r"(?s)\\(.)")
# A tilde that a shell expands within a word.
_INNER_TILDE = Pattern(r"(?<=[:=])~(?=/|:|$)")
_SIGNED = Pattern(r"-?[0-9]{1,9}")
_MAX_TEXT = 65_536
_MAX_FIELDS = 4_096
# The most ways to match a text that a pattern may have.
_MAX_WAYS = 20_000_000
_RANGE = Pattern(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,4}))?")
_MAX_WORDS = 64
_LONGEST_BRACED = 4096  # characters
_PART = 0xF0000
_PARTS = Pattern("([\U000f0000-\U000fffff])")
# Between the fields of "$@"; compared by identity.
_BREAK: Piece = ("", NO_LABELS, True)


def fields(words: list[Word], state: State, substitute: Substitute) -> tuple[list[str], dict[int, frozenset[str]]]:
    """Return the fields that ``words`` expand to, and their labels by position.

    ``substitute(node, is_process, text)`` runs a substitution and returns its stdout; ``text``: the text that the node
    was parsed from, by default that of the command.
    """
    texts: list[str] = []
    labels: dict[int, frozenset[str]] = {}
    for word in words:
        literal = _literal(word)
        if literal is not None:
            texts.append(literal)
            continue
        for text, origin in _expanded(word, state, substitute):
            if origin:
                labels[len(texts)] = origin
            texts.append(text)
            if len(texts) > _MAX_FIELDS:
                raise TooMuchError
    return texts, labels


def _literal(word: Word) -> str | None:
    """Return the text of a word in which nothing is expanded; None for another."""
    literal: str | None = None
    for part in word:
        if type(part) is str:
            text = part
        elif type(part) is Bare and _SPECIAL.isdisjoint(part.text):
            text = part.text
        else:
            return None
        literal = text if literal is None else literal + text
    return literal


def value(word: Word, state: State, substitute: Substitute) -> Data:
    """Return the expansion of a word without splitting: in assignments, redirections, here-documents."""
    if len(word) == 1 and type(word[0]) is str:
        return Data(word[0])
    text, origin = "", NO_LABELS
    for piece, labels, _ in _pieces(word, state, substitute, splits=False):
        text += piece
        origin |= labels
        if len(text) > _MAX_TEXT:
            return Data(UNKNOWN, origin)
    return Data(text, origin)


def _expanded(word: Word, state: State, substitute: Substitute) -> Iterator[tuple[str, frozenset[str]]]:
    has_brace = any(type(part) is Bare and "{" in part.text for part in word)
    for each in _expand_braces(word) if has_brace else (word,):
        yield from _fields(_pieces(each, state, substitute, splits=True), state.value("IFS").text)


def _fields(pieces: Iterator[Piece], separators: str) -> Iterator[tuple[str, frozenset[str]]]:
    text: str | None = None
    origin = NO_LABELS
    for each in pieces:
        piece, labels, splits = each
        runs = ["", ""] if each is _BREAK else split_at(piece, separators) if splits else [piece]
        for number, run in enumerate(runs):
            if number and text is not None:
                yield text, origin
                text, origin = None, NO_LABELS
            if run or not splits:
                text, origin = (text or "") + run, origin | labels
    if text is not None:
        yield text, origin


def split_at(text: str, separators: str) -> list[str]:
    """Return the parts of ``text`` between the characters of ``separators``."""
    for char in separators[1:]:
        text = text.replace(char, separators[0])
    return text.split(separators[0]) if separators else [text]


def _pieces(word: Word, state: State, substitute: Substitute, *, splits: bool) -> Iterator[Piece]:
    for at, part in enumerate(word):
        if type(part) is str:
            yield part, NO_LABELS, False
        elif type(part) is Bare:
            text = part.text
            if at == 0 and text.startswith("~"):
                text = _tilde(text, state)
            elif not splits and "~" in text:
                text = _INNER_TILDE.sub(lambda _match: state.home, text)
            yield _ONE_OF_ONE.sub(r"\1", text) if "[" in text else text, NO_LABELS, False
        elif type(part) is Parameter:
            yield from _parameter(part, state, substitute, splits=splits and not part.quoted)
        elif type(part) is ProcessSubstitution:
            data = substitute(part.body, True)
            yield data.text, data.labels, False
        elif type(part) is Arithmetic:
            yield _arithmetic(part, state, substitute), NO_LABELS, False
        else:
            data = substitute(part.body, False)  # type: ignore[union-attr]
            yield data.text, data.labels, splits and not part.quoted  # type: ignore[union-attr]


def expanded(text: str, state: State, substitute: Substitute) -> Data:
    """Return the expansion of a text from outside the command: of a prompt, or a subscript in a variable's value."""
    if "$" not in text and "`" not in text:
        return Data(text)
    from agent_hooks.shell.parser import parse_expansions

    word = parse_expansions(text)
    return value(word, state, lambda body, is_process: substitute(body, is_process, text))


def arithmetic(text: str, state: State, substitute: Substitute) -> int | None:
    """Return the value of an arithmetic expression, None if unknown."""
    from .conditions import Arithmetic

    def read(name: str) -> str:
        name, bracket, index = name.partition("[")
        return (_element(name, index[:-1], state) if bracket else state.value(name)).text

    def write(name: str, text: str) -> None:
        state.assign(name, Data(text))

    return Arithmetic(read, write, lambda inside: expanded(inside, state, substitute).text).evaluate(text)


def _tilde(text: str, state: State) -> str:
    user, slash, rest = text[1:].partition("/")
    if user == "":
        return state.home + slash + rest
    if user == "+":
        return state.cwd + slash + rest
    if user == "-" and state.is_set("OLDPWD"):
        return state.value("OLDPWD").text + slash + rest
    return text


def _arithmetic(part: Arithmetic, state: State, substitute: Substitute) -> str:
    found = arithmetic(value(part.parts, state, substitute).text, state, substitute)
    return UNKNOWN if found is None else str(found)


def _parameter(part: Parameter, state: State, substitute: Substitute, *, splits: bool) -> Iterator[Piece]:
    if part.operator == "indirect":
        target = _target(part, state, substitute)
        if target is None:
            yield UNKNOWN, NO_LABELS, splits
            return
        part = target
    selector = _selector(part, state, substitute)
    if selector and part.operator != "length":
        items = _array(part, state, substitute)
        if part.quoted and selector == "*":
            data = joined(items, state.value("IFS").text[:1])
            yield data.text, data.labels, False
            return
        for at, item in enumerate(items):
            if at:
                yield _BREAK if part.quoted else (" ", NO_LABELS, True)
            yield item.text, item.labels, splits
        return
    data = _with_operator(part, state, substitute)
    yield data.text, data.labels, splits


def _selector(part: Parameter, state: State, substitute: Substitute) -> str:
    """Return ``@`` or ``*`` if the parameter is all elements of an array or all positional parameters, else ""."""
    selector = part.name if part.index is None else _index(part, state, substitute)
    return selector if selector in ("@", "*") else ""


def _target(part: Parameter, state: State, substitute: Substitute) -> Parameter | None:
    """Return the parameter that ``${!name}`` names; None if unknown."""
    if part.name in state.references:
        return Parameter("", ":-", [[state.references[part.name]]], quoted=part.quoted)
    data = _plain(part, state, substitute)
    if not data.is_known or not data.text:
        return None
    name, bracket, index = data.text.partition("[")
    if not bracket:
        return Parameter(name, quoted=part.quoted)
    return Parameter(name, index=[expanded(index[:-1], state, substitute).text], quoted=part.quoted)


def _index(part: Parameter, state: State, substitute: Substitute) -> str:
    return value(part.index, state, substitute).text if part.index is not None else ""


def _array(part: Parameter, state: State, substitute: Substitute) -> list[Data]:
    items = state.array(part.name)
    if part.operator == ":":
        items = [Data(state.name), *items] if part.name in ("@", "*") else items
        bounds = _bounds(part, len(items), state, substitute)
        return items[bounds] if bounds else items
    if part.operator == "keys":
        return [Data(at) for at in state.elements(part.name)]
    if part.operator in ("@K", "@k"):
        pairs = state.elements(part.name).items()
        return [each for at, item in pairs for each in (Data(at), item)]
    if part.operator:
        return [_operated(part, item, state, substitute) for item in items]
    return items


def _bounds(part: Parameter, size: int, state: State, substitute: Substitute) -> slice | None:
    """Return the part that ``${name:offset:length}`` is of an array or text of ``size``; None if unknown."""
    texts = [value(word, state, substitute).text.strip() for word in part.arguments]
    numbers = [int(text) if _SIGNED.fullmatch(text) else arithmetic(text, state, substitute) for text in texts]
    if None in numbers:
        return None
    first, length = (*numbers, None, None)[:2]
    first = max(first + size, 0) if first and first < 0 else first or 0
    return slice(first, length if length is None or length < 0 else first + length)


def _with_operator(part: Parameter, state: State, substitute: Substitute) -> Data:
    name, operator = part.name, part.operator
    if operator == "length":
        if _selector(part, state, substitute):
            return Data(str(len(state.array(name))))
        data = _plain(part, state, substitute)
        return Data(str(len(data.text)) if data.is_known else UNKNOWN)
    if operator == "names":
        return Data(" ".join(sorted(each for each in (*state.variables, *state.arrays) if each.startswith(name))))
    data = _plain(part, state, substitute)
    if operator == ":":
        bounds = _bounds(part, len(data.text), state, substitute)
        return Data(data.text[bounds] if bounds and data.is_known else UNKNOWN, data.labels)
    if operator == "@P":
        return expanded(data.text, state, substitute) if data.is_known else data
    return _operated(part, data, state, substitute) if operator else data


def _plain(part: Parameter, state: State, substitute: Substitute) -> Data:
    if part.index is None:
        return state.value(part.name)
    index = _index(part, state, substitute)
    return _element(part.name, index_of(index, state, substitute), state)


def index_of(text: str, state: State, substitute: Substitute) -> str:
    """Return the index of an array for an expanded subscript: a number, or the key of an associative array."""
    if _SIGNED.fullmatch(text):
        return text
    found = arithmetic(text, state, substitute)
    if found is None or (text.isidentifier() and not state.is_set(text)):
        return text
    return str(found)


def _element(name: str, index: str, state: State) -> Data:
    items = state.elements(name)
    if index[:1] == "-" and _SIGNED.fullmatch(index) and items:
        index = str(next_index(items) + int(index))
    found = items.get(index)
    if found is not None:
        return found
    values = list(items.values())
    if UNKNOWN in index:
        return values[0] if len(values) == 1 else Data(UNKNOWN, joined(values).labels)
    # An unknown value may have been split into any number of elements.
    if any(each.text == UNKNOWN for each in values) or not (items or state.is_fresh):
        return Data(UNKNOWN, joined(values).labels)
    return NOTHING


def _operated(part: Parameter, data: Data, state: State, substitute: Substitute) -> Data:
    operator = part.operator
    if operator in (":-", "-", ":=", "=", ":+", "+", ":?", "?"):
        return _defaulted(part, data, state, substitute)
    arguments = [value(word, state, substitute) for word in part.arguments]
    if not data.is_known or any(not each.is_known for each in arguments):
        return Data(UNKNOWN, data.labels)
    if operator == "@A":
        return Data(f"{part.name}={quoted(data.text)}", data.labels)
    return Data(_changed(data.text, operator, [each.text for each in arguments]), data.labels)


def _defaulted(part: Parameter, data: Data, state: State, substitute: Substitute) -> Data:
    is_set = state.is_set(part.name) and not isinstance(data, Unset)
    if part.operator[0] == ":":  # empty is unset
        is_set = bool(data.text) and (is_set or data.is_known)
    letter = part.operator[-1]
    other = value(part.arguments[0], state, substitute) if part.arguments else Data("")
    if letter == "+":
        return other if is_set or not data.is_known else Data("")
    if part.operator == ":?" and not data.text.strip(UNKNOWN):
        # The shell ends here if it is empty; a single UNKNOWN may be empty.
        data = Data(UNKNOWN * 2, data.labels)
        if part.name.isidentifier() and part.index is None:
            state.assign(part.name, data)
    if is_set or letter == "?":
        return data
    if CREDENTIAL in data.labels:  # a credential that is used is set
        other = Data(UNKNOWN, data.labels | other.labels)
    if letter == "=":
        state.assign(part.name, other)
    return other


def _changed(text: str, operator: str, arguments: list[str]) -> str:
    first = arguments[0] if arguments else ""
    second = arguments[1] if len(arguments) > 1 else ""
    if operator in ("~", "~~"):
        return text.swapcase() if operator == "~~" else text[:1].swapcase() + text[1:]
    if operator in ("@Q", "@K", "@k"):
        return quoted(text)
    if operator in ("^", "^^", ",", ",,", "@U", "@u", "@L"):
        change = str.upper if operator[0] == "^" or operator in ("@U", "@u") else str.lower
        return change(text) if operator in ("^^", ",,", "@U", "@L") else change(text[:1]) + text[1:]
    if operator == "@E":
        from agent_hooks_guards.programs.formats import unescaped

        return unescaped(text)
    if operator.startswith("@"):
        return text
    if (len(text) + 1) ** (first.count("*") + 1) > _MAX_WAYS:
        return UNKNOWN
    import re

    pattern = _pattern(first)
    if operator[0] in "#%":
        compiled = re.compile(pattern)
        starts = range(len(text) + 1)[:_MAX_TEXT]
        if operator[0] == "#":
            cuts = starts if operator == "#" else reversed(starts)
            return next((text[at:] for at in cuts if compiled.fullmatch(text, 0, at)), text)
        cuts = starts if operator == "%%" else reversed(starts)
        return next((text[:at] for at in cuts if compiled.fullmatch(text, at)), text)
    anchors = {"/#": rf"\A(?:{pattern})", "/%": rf"(?:{pattern})\Z"}
    if not first:
        return text
    return re.sub(
        anchors.get(operator, pattern), lambda _match: second, text, count=0 if operator == "//" else 1, flags=re.DOTALL
    )


def _pattern(glob: str) -> str:
    """Return the regular expression of a shell pattern."""
    from fnmatch import translate

    # Without the mark of the end, two characters.
    return translate(_ESCAPED.sub(r"[\1]", glob).replace("[^", "[!"))[:-2]


def _expand_braces(word: Word) -> list[Word]:
    """Return the words that ``word`` expands to."""
    # In the text that is expanded, a character stands for each part that is quoted or expanded later.
    if len(word) > _LONGEST_BRACED or any(type(part) is Bare and _PARTS.search(part.text) for part in word):
        raise TooMuchError
    waiting = ["".join(part.text if type(part) is Bare else chr(_PART + at) for at, part in enumerate(word))]
    done: list[str] = []
    while waiting and len(done) + len(waiting) <= _MAX_WORDS:
        text = waiting.pop(0)
        made = _first_brace(text)
        if made is None:
            done.append(text)
        elif len(text) > _LONGEST_BRACED:
            raise TooMuchError
        else:
            waiting = made + waiting
    return [
        [word[ord(run) - _PART] if _PARTS.match(run) else Bare(run) for run in _PARTS.split(text) if run]
        for text in done + waiting
    ]


def _first_brace(text: str) -> list[str] | None:
    """Return the expansions of the first brace expression; None if there is none."""
    open_braces: list[list[int]] = []  # each with the commas in it
    closed: dict[int, tuple[list[int], int]] = {}
    for at, char in enumerate(text):
        if char == "{":
            open_braces.append([at])
        elif char == "," and open_braces:
            open_braces[-1].append(at)
        elif char == "}" and open_braces:
            commas = open_braces.pop()
            closed[commas[0]] = commas, at
    for start, (commas, end) in sorted(closed.items()):
        inside = [text[a + 1 : b] for a, b in itertools.pairwise([*commas, end])]
        match = _RANGE.fullmatch(inside[0])
        if len(inside) == 1 and match and match[1].isalpha() == match[2].isalpha():
            inside = _range(*match.groups())
        elif len(inside) == 1:
            continue
        return [text[:start] + each + text[end + 1 :] for each in inside]
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    is_number = not first.isalpha()
    a, b = (int(first), int(last)) if is_number else (ord(first), ord(last))
    by = max(abs(int(step or 1)), 1) * (1 if a <= b else -1)
    numbers = list(range(a, b + (1 if by > 0 else -1), by))[:_MAX_WORDS]
    return [str(number) if is_number else chr(number) for number in numbers]
