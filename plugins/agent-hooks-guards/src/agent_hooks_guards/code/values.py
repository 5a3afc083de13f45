"""What a script computes, as far as it is known without running it: its values, and what may be done with them."""

from __future__ import annotations

from agent_hooks_guards.model.record import Record
from agent_hooks_guards.model.values import ANYTHING, DECODED, NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONGEST = 200_000  # characters of a text that is put together
MOST_ITEMS = 5_000
_MOST_OPTIONS = 8


class Reference(Record):
    """Something that is not made by the script: a module, a function, a connection. ``value``: what it was made of."""

    __slots__ = ("labels", "name", "value")

    def __init__(self, name: str, labels: frozenset[str] = NO_LABELS, value: Value = None) -> None:
        self.name = name
        self.labels = labels
        self.value = value


class Method(Record):
    """A method that is not called yet."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str) -> None:
        self.owner = owner
        self.name = name


class ListReference(list["Value"]):
    """Perl's `[ … ]`: a list that does not become part of the list it stands in."""

    __slots__ = ()


class TableReference(dict[str, "Value"]):
    """Perl's `{ … }`, as a value."""

    __slots__ = ()


class Pattern(Record):
    """A regular expression."""

    __slots__ = ("flags", "text")

    def __init__(self, text: str, flags: str = "") -> None:
        self.text = text
        self.flags = flags


class Closure:
    """A function of the script: what walks through its body when it is called."""

    __slots__ = ("called", "given", "is_any", "is_here", "name", "run", "running")

    def __init__(self, run: Callable[[list[Value]], Value], name: str = "") -> None:
        self.run = run
        self.name = name
        self.called = 0
        self.given: list[Value] = []  # what the last call of it was given
        self.running = 0  # how many calls of it have not ended
        self.is_here = False  # whether it was called for a folder in the current one
        self.is_any = False  # whether it was walked through with values that are not known


class Choice(Record):
    """One of several values; which one is decided when it runs."""

    __slots__ = ("options",)

    def __init__(self, options: list[Value]) -> None:
        self.options = options


def choice(values: Iterable[Value]) -> Value:
    """One of ``values``; of very many only the first."""
    options: list[Value] = []
    for value in values:
        for option in value.options if isinstance(value, Choice) else (value,):
            if option not in options:
                options.append(option)
    return options[0] if len(options) == 1 else Choice(options[:_MOST_OPTIONS])


Value = Data | int | float | list["Value"] | dict[str, "Value"] | Reference | Method | Pattern | Closure | Choice | None


# Of a function that knows nothing of such values.
NO_ANSWER = Reference("")


def labels_of(value: Value) -> frozenset[str]:
    """Where a value comes from; for lists and tables, where anything in it comes from."""
    return _labels(value, 0)


def _labels(value: Value, depth: int) -> frozenset[str]:
    if isinstance(value, (Data, Reference)):
        return value.labels
    if isinstance(value, Method):
        return _labels(value.owner, depth + 1) if depth < 5 else NO_LABELS
    if depth < 5:
        if isinstance(value, list):
            return NO_LABELS.union(*(_labels(item, depth + 1) for item in value))
        if isinstance(value, dict):
            return NO_LABELS.union(*(_labels(item, depth + 1) for item in value.values()))
        if isinstance(value, Choice):
            return NO_LABELS.union(*(_labels(item, depth + 1) for item in value.options))
    return NO_LABELS


def unknown(*values: Value) -> Data:
    """A value that cannot be known, made of ``values``."""
    labels = NO_LABELS.union(*(labels_of(value) for value in values)) if values else NO_LABELS
    return Data(UNKNOWN, labels) if labels else ANYTHING


def text_of(value: Value) -> Data:
    """``value`` as a text."""
    if isinstance(value, Data):
        return value
    if value is None:
        return Data()
    if isinstance(value, bool):
        return Data("true" if value else "false")
    if isinstance(value, int):
        return Data(str(value)) if abs(value) < 1 << 200 else ANYTHING
    if isinstance(value, float):
        return Data(str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value))
    if isinstance(value, list):
        return join(value, ",")
    if isinstance(value, Pattern):
        return Data(value.text)
    return unknown(value)


def known(value: Value) -> str | None:
    """``value`` as a text if all of it is known."""
    if isinstance(value, Data):
        return value.text if UNKNOWN not in value.text else None
    if isinstance(value, (int, float)):
        return text_of(value).text
    return None


def whole(value: Value) -> int | None:
    """``value`` as a whole number, if it is known and one."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 60:
        return int(value)
    if isinstance(value, Data) and value.text.strip().lstrip("-").isdecimal() and len(value.text) < 20:
        return int(value.text.strip())
    return None


def truth(value: Value) -> bool | None:
    """Whether ``value`` is true, None if that is not known."""
    if isinstance(value, Data):
        return None if UNKNOWN in value.text else value.text not in ("", "0")
    if isinstance(value, (int, float)):
        return value != 0
    if value is None:
        return False
    if isinstance(value, (list, dict)):
        return bool(value) or None
    return None


def concat(left: Value, right: Value) -> Data:
    """Two texts, one behind the other."""
    first, second = text_of(left), text_of(right)
    if len(first.text) + len(second.text) > LONGEST:
        return Data(UNKNOWN, first.labels | second.labels)
    return Data(first.text + second.text, first.labels | second.labels)


def join(values: Iterable[Value], separator: str = "") -> Data:
    """Texts with ``separator`` between them."""
    texts = [text_of(value) for value in values]
    labels = NO_LABELS.union(*(text.labels for text in texts)) if texts else NO_LABELS
    if sum(len(text.text) + len(separator) for text in texts) > LONGEST:
        return Data(UNKNOWN, labels)
    return Data(separator.join(text.text for text in texts), labels)


def decoded(value: Value, decode: Callable[[str], str]) -> Data:
    """What ``decode`` makes of a known text; of an unknown one, something that a decoder made."""
    text = text_of(value)
    if UNKNOWN in text.text or len(text.text) > LONGEST:
        return Data(UNKNOWN, text.labels | {DECODED})
    try:
        return Data(decode(text.text), text.labels)
    except (ValueError, ArithmeticError, LookupError, OSError, EOFError):
        return Data(UNKNOWN, text.labels | {DECODED})


def as_text(data: bytes) -> str:
    """Bytes as the text that they most likely are."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def as_bytes(text: str) -> bytes:
    """A text as the bytes that it stands for; raises ValueError for half of a surrogate pair."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8")


def base64(text: str) -> str:
    """What a base64 text holds; blanks, the letters for URLs and a missing end are accepted. Raises ValueError."""
    import base64 as coding

    plain = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    return as_text(coding.b64decode(plain + "=" * (-len(plain) % 4)))


def hexadecimal(text: str) -> str:
    """What hexadecimal digits stand for. Raises ValueError."""
    return as_text(bytes.fromhex(text))


def rot13(text: str) -> str:
    """Letters thirteen places on."""
    import codecs

    return codecs.encode(text, "rot13")


def url(text: str) -> str:
    """A text with its ``%41`` and ``%u0041`` resolved."""
    from urllib.parse import unquote

    return unquote(text)


def inflate(text: str, window: int) -> str:
    """What is compressed in ``text``, as far as is looked at. Raises ValueError."""
    import zlib

    try:
        return as_text(zlib.decompressobj(window).decompress(as_bytes(text), LONGEST))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def codepoints(values: Iterable[Value]) -> Data:
    """The text of some character numbers."""
    out: list[str] = []
    for value in values:
        if isinstance(value, list):
            out.append(codepoints(value).text)
            continue
        code = whole(value)
        if code is None:
            return Data(UNKNOWN, DECODING)
        out.append(chr(code) if 0 <= code < 0x110000 else "?")
    return Data("".join(out))


DECODING = frozenset((DECODED,))


def pack(template: str, values: list[Value]) -> Data:
    """Perl's, Ruby's and PHP's ``pack`` for the templates that make texts."""
    out: list[Data] = []
    items = list(values)
    for letter, count in _templates(template):
        many = len(items) if count == "*" else int(count or 1)
        if letter in "aAZ":
            out.append(text_of(items.pop(0)) if items else Data())
        elif letter in "HhmuBb":
            if not items:
                break
            item = items.pop(0)
            if letter == "m":
                out.append(decoded(item, _to_base64))
            elif letter == "H":
                out.append(decoded(item, hexadecimal))
            elif letter == "h":
                out.append(
                    decoded(
                        item,
                        lambda text: hexadecimal(
                            "".join(text[at + 1 : at + 2] + text[at] for at in range(0, len(text), 2))
                        ),
                    )
                )
            elif letter in "Bb":
                out.append(decoded(item, lambda text, turn=letter == "b": _bits(text, turn)))  # type: ignore[misc]
            else:
                return Data(UNKNOWN, DECODING)
        elif letter in "cCUW":
            out.append(codepoints(items[:many]))
            del items[:many]
        elif letter in "nvNVsSlLqQ":
            if letter not in "nvNV":
                letter = {"s": "v", "S": "v", "l": "V", "L": "V", "q": "P", "Q": "P"}[letter]
            size = {"n": 2, "v": 2, "N": 4, "V": 4, "P": 8}[letter]
            for item in items[:many]:
                code = whole(item)
                if code is None:
                    return Data(UNKNOWN, DECODING)
                out.append(
                    Data(as_text((code % (1 << 8 * size)).to_bytes(size, "big" if letter in "nN" else "little")))
                )
            del items[:many]
        elif letter == "x":
            out.append(Data("\0"))
        else:
            return Data(UNKNOWN, DECODING)
    return join(out)


def unpack(template: str, value: Value) -> list[Value]:
    """Perl's, Ruby's and PHP's ``unpack`` for the templates that decode texts."""
    out: list[Value] = []
    for letter, _count in _templates(template):
        if letter == "m":
            out.append(decoded(value, base64))
        elif letter == "u":
            out.append(decoded(value, uudecode))
        elif letter in "aAZ":
            out.append(text_of(value))
        elif letter == "H":
            out.append(decoded(value, lambda text: as_bytes(text).hex()))
        elif letter in "cCUW":
            text = known(value)
            if text is None:
                return [Data(UNKNOWN, labels_of(value) | DECODING)]
            out.extend(ord(char) for char in text[:MOST_ITEMS])
        else:
            out.append(Data(UNKNOWN, labels_of(value) | DECODING))
    return out or [unknown(value)]


def uudecode(text: str) -> str:
    """What a uuencoded text holds. Raises ValueError."""
    import binascii

    return as_text(b"".join(binascii.a2b_uu(line) for line in as_bytes(text).splitlines() if line.strip()))


def _to_base64(text: str) -> str:
    import base64 as coding

    return coding.b64encode(as_bytes(text)).decode()


def _bits(text: str, turn: bool) -> str:
    eights = (text[at : at + 8] for at in range(0, len(text), 8))
    return as_text(bytes(int(eight[::-1] if turn else eight, 2) for eight in eights))


def _templates(template: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    if template.startswith("("):  # "(H2)*" and the like: pairs, one behind the other
        template = template[1 : template.rfind(")")] if ")" in template else template[1:]
        return _templates(template) * 64 if len(template) < 8 else []
    while at < len(template) and len(found) < 100:
        letter = template[at]
        at += 1
        start = at
        while at < len(template) and (template[at].isdecimal() or template[at] in "*!<>"):
            at += 1
        count = template[start:at].strip("!<>")
        if letter.isalpha():
            found.append((letter, count if count == "*" or len(count) < 6 else "1"))
    return found


def translate(text: str, source: str, target: str, flags: str = "") -> str:
    """``tr/source/target/``: letters and ranges replaced one by one."""
    first, second = spread(source), spread(target)
    if "d" not in flags and second and len(second) < len(first):
        second += second[-1] * (len(first) - len(second))
    if not second and "d" not in flags:
        return text
    table = {ord(char): (second[at] if at < len(second) else None) for at, char in reversed(list(enumerate(first)))}
    return text.translate(table)


def spread(letters: str) -> str:
    """The letters that a list like ``a-z0-9`` names."""
    out: list[str] = []
    at = 0
    while at < len(letters) and len(out) < 2000:
        if at + 2 < len(letters) and letters[at + 1] == "-" and 0 <= ord(letters[at + 2]) - ord(letters[at]) < 512:
            out.extend(chr(code) for code in range(ord(letters[at]), ord(letters[at + 2]) + 1))
            at += 3
        else:
            out.append(letters[at])
            at += 1
    return "".join(out)


def formatted(template: Value, values: list[Value]) -> Data:
    """``sprintf`` for texts, numbers and characters."""
    text = text_of(template)
    labels = text.labels.union(*(labels_of(value) for value in values)) if values else text.labels
    pieces = text.text.split("%")
    out = [pieces[0]]
    items = list(values)
    at = 1
    while at < len(pieces) and at < 500:
        piece = pieces[at]
        at += 1
        if not piece:
            if at < len(pieces):
                out.append("%" + pieces[at])
                at += 1
            continue
        end = 0
        while end < len(piece) and piece[end] in "0123456789.-+ #*$l":
            end += 1
        letter = piece[end : end + 1]
        rest = piece[end + 1 :]
        item = items.pop(0) if items else ANYTHING
        if letter in "csdiuxXob" and letter:
            out.append(_one(letter, piece[:end], item))
        else:
            out.append(UNKNOWN)
        out.append(rest)
    result = "".join(out)
    return Data(result if len(result) <= LONGEST else UNKNOWN, labels)


def _one(letter: str, width: str, item: Value) -> str:
    if letter == "s":
        return text_of(item).text
    code = whole(item)
    if letter == "c":
        return chr(code) if code is not None and 0 <= code < 0x110000 else text_of(item).text[:1]
    if code is None:
        return UNKNOWN
    if len(width) > 3 or "*" in width or "$" in width:
        width = ""
    try:
        return ("%" + width + {"i": "d", "u": "d", "b": "d"}.get(letter, letter)) % (
            int(f"{code:b}") if letter == "b" else code
        )
    except (ValueError, TypeError):
        return str(code)
