"""Operators and methods of scripts on values that are known: what they make of them."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import values as v
from .values import (
    NO_ANSWER,
    Choice,
    Closure,
    Method,
    Pattern,
    Reference,
    Value,
    choice,
    concat,
    join,
    known,
    labels_of,
    text_of,
    truth,
    unknown,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .script_state import State


def binary(operator: str, left: Value, right: Value, language: str) -> Value:
    """The value of ``left operator right``."""
    if isinstance(left, Choice):
        return choice([binary(operator, option, right, language) for option in left.options[:4]])
    if isinstance(right, Choice) and operator not in ("&&", "||", "and", "or", "??", "//"):
        return choice([binary(operator, left, option, language) for option in right.options[:4]])
    if operator in ("&&", "and"):
        decided = truth(left)
        return right if decided is not False else left
    if operator in ("||", "or", "??") or (operator == "//" and language != "lua"):
        decided = truth(left)
        if isinstance(left, (Reference, Closure, Method)) or decided:
            return left
        return right if decided is False else choice([left, right]) if left is not None else right
    if operator == "+" and language not in ("perl", "php", "lua", "r", "julia"):
        if isinstance(left, list) and isinstance(right, list):
            return [*left, *right]
        if not (_is_number(left) and _is_number(right)):
            return concat(left, right)
    elif (operator == "." and language in ("perl", "php", "vim")) or (operator == ".." and language in ("lua", "vim")):
        return concat(left, right)
    if operator == "*" and language == "julia" and isinstance(left, Data):
        return concat(left, right)
    if (
        operator in ("x", "*")
        and isinstance(left, (Data, list))
        and (operator == "x" or language in ("ruby", "groovy"))
    ):
        many = whole(right)
        if isinstance(left, list) and isinstance(right, Data) and language == "ruby":
            return join(left, right.text)
        if many is None or UNKNOWN in text_of(right).text:
            return unknown(left, right)
        if isinstance(left, list):
            return left * max(0, min(many, v.MOST_ITEMS // max(len(left), 1)))
        return Data(left.text * max(0, min(many, v.LONGEST // max(len(left.text), 1))), left.labels)
    if operator == "%" and isinstance(left, Data) and language == "ruby":
        return v.formatted(left, right if isinstance(right, list) else [right])
    if operator in ("..", "...") and language not in ("lua", "vim"):
        return _range(left, right, exclusive=operator == "..." and language == "ruby")
    if operator in _COMPARED:
        return _compare(operator, left, right)
    return _arithmetic(operator, left, right, language)


_COMPARED = frozenset("== != === !== eq ne < > <= >= lt gt le ge ~=".split())


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float))


def _range(left: Value, right: Value, *, exclusive: bool) -> Value:
    low, high = whole(left), whole(right)
    if low is not None and high is not None:
        return list(range(low, min(high + (not exclusive), low + v.MOST_ITEMS)))
    first, last = known(left), known(right)
    if first and last and len(first) == len(last) == 1:
        return [Data(chr(code)) for code in range(ord(first), min(ord(last) + (not exclusive), ord(first) + 512))]
    return unknown(left, right)


def _compare(operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        if not isinstance(left, (Data, int, float, type(None))) or not isinstance(
            right, (Data, int, float, type(None))
        ):
            return unknown()
        if (isinstance(left, Data) and UNKNOWN in left.text) or (isinstance(right, Data) and UNKNOWN in right.text):
            return unknown()
        same = left is right
        return (
            same
            if operator in ("==", "===", "eq")
            else not same
            if operator in ("!=", "!==", "ne", "~=")
            else unknown()
        )
    if _is_number(left) and _is_number(right):
        first, second = left, right
    else:
        one, other = known(left), known(right)
        if one is None or other is None:
            return unknown()
        number, another = whole(left), whole(right)
        if number is not None and another is not None:
            first, second = number, another
        else:
            return _ordered(operator, one, other)
    return _ordered(operator, first, second)


def _ordered(operator: str, left: object, right: object) -> bool:
    if operator in ("==", "===", "eq"):
        return left == right
    if operator in ("!=", "!==", "ne", "~="):
        return left != right
    if operator in ("<", "lt"):
        return bool(left < right)  # type: ignore[operator]
    if operator in (">", "gt"):
        return bool(left > right)  # type: ignore[operator]
    if operator in ("<=", "le"):
        return bool(left <= right)  # type: ignore[operator]
    return bool(left >= right)  # type: ignore[operator]


def _arithmetic(operator: str, left: Value, right: Value, language: str) -> Value:
    first: int | float | None = left if isinstance(left, float) else whole(left)
    second: int | float | None = right if isinstance(right, float) else whole(right)
    if first is None or second is None:
        return unknown(left, right)
    try:
        if operator == "+":
            return first + second
        if operator == "-":
            return first - second
        if operator == "*":
            return first * second if abs(first) < 1e15 and abs(second) < 1e15 else unknown()
        if operator == "/":
            result = first / second
            return first // second if language == "ruby" else int(result) if result == int(result) else result
        if operator == "//":
            return first // second
        if operator == "%":
            return first % second
        if operator == "**" or (operator == "^" and language in ("r", "julia", "lua")):
            return first**second if abs(first) < 1000 and 0 <= second < 64 else unknown()
        if isinstance(first, int) and isinstance(second, int):
            if operator == "^":
                return first ^ second
            if operator == "&":
                return first & second
            if operator == "|":
                return first | second
            if operator in ("<<", ">>", ">>>") and 0 <= second < 64 and abs(first) < 1 << 64:
                return first << second if operator == "<<" else first >> second
    except (ArithmeticError, ValueError):
        return unknown()
    return unknown(left, right)


def _on_text(change: Callable[[str], str]) -> Callable[[State, Value, list[Value]], Value]:
    def folded(_state: State, owner: Value, _arguments: list[Value]) -> Value:
        text = known(owner)
        return Data(change(text), labels_of(owner)) if text is not None else unknown(owner)

    return folded


def _reverse(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    if isinstance(owner, list):
        owner.reverse()
        return owner
    text = known(owner)
    return Data(text[::-1], labels_of(owner)) if text is not None else unknown(owner)


def split(owner: Value, separator: Value, limit: int | None = None) -> Value:
    """The parts of a text."""
    text = known(owner)
    if text is None:
        return unknown(owner)
    mark: str | None
    if isinstance(separator, Pattern):
        mark = separator.text
        if mark in ("\\s+", "\\s", " +", "\\s*"):
            return (
                [Data(part) for part in text.split()]
                if "*" not in mark
                else [Data(char) for char in text if not char.isspace()]
            )
        if mark.startswith("\\") and len(mark) == 2 and not mark[1].isalnum():
            mark = mark[1]
        elif any(char in mark for char in ".*+?[](){}^$|\\"):
            return unknown(owner)
    else:
        mark = known(separator)
    if mark is None:
        return unknown(owner)
    if mark == "":
        return [Data(char, labels_of(owner)) for char in text[: v.MOST_ITEMS]]
    parts = text.split(mark, limit - 1 if limit and limit > 0 else -1)
    return [Data(part, labels_of(owner)) for part in parts[: v.MOST_ITEMS]]


def _split(state: State, owner: Value, arguments: list[Value]) -> Value:
    if not arguments:
        text = known(owner)
        if text is None:
            return unknown(owner)
        return [Data(part) for part in text.split()[: v.MOST_ITEMS]] if state.language == "ruby" else [owner]
    return split(owner, arguments[0])


def _chars(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return split(owner, Data())


def _join(state: State, owner: Value, arguments: list[Value]) -> Value:
    if not isinstance(owner, list):
        return unknown(owner, *arguments)
    separator = known(arguments[0]) if arguments else ("," if state.language == "node" else "")
    return join(_flat(owner), separator) if separator is not None else unknown(owner)


def _flat(items: list[Value]) -> list[Value]:
    out: list[Value] = []
    for item in items:
        out.extend(item if isinstance(item, list) else [item])
    return out[: v.MOST_ITEMS]


def _map(state: State, owner: Value, arguments: list[Value]) -> Value:
    function = arguments[-1] if arguments else None
    items = owner if isinstance(owner, list) else [Data(c) for c in known(owner) or ""] if known(owner) else None
    if items is None:
        return NO_ANSWER
    if len(items) > 2000:
        return unknown(owner)
    return [_apply(state, function, [item, at]) for at, item in enumerate(items)]


def _apply(state: State, function: Value, arguments: list[Value]) -> Value:
    if isinstance(function, Data):  # Ruby's &:name
        method = METHODS.get(function.text)
        return method(state, arguments[0], []) if method is not None else unknown(*arguments)
    return state.call(function, arguments)


def _each(state: State, owner: Value, arguments: list[Value]) -> Value:
    function = arguments[-1] if arguments else None
    if isinstance(owner, dict):
        for name, value in list(owner.items())[:200]:
            _apply(state, function, [Data(name), value])
        return owner
    items = owner if isinstance(owner, list) else None
    if items is None or not isinstance(function, Closure):
        return NO_ANSWER
    for at, item in enumerate(items[:200]):
        _apply(state, function, [item, at])
    return owner


def _each_char(state: State, owner: Value, arguments: list[Value]) -> Value:
    items = _chars(state, owner, [])
    return _each(state, items, arguments) if arguments else items


def _times(state: State, owner: Value, arguments: list[Value]) -> Value:
    many = whole(owner)
    if many is None or not arguments:
        return unknown(owner)
    return [_apply(state, arguments[-1], [at]) for at in range(min(many, 64))]


def _filter(state: State, owner: Value, arguments: list[Value]) -> Value:
    if not isinstance(owner, list) or not arguments:
        return NO_ANSWER
    return [item for at, item in enumerate(owner[:500]) if truth(_apply(state, arguments[-1], [item, at])) is not False]


def _reduce(state: State, owner: Value, arguments: list[Value]) -> Value:
    if not isinstance(owner, list) or not arguments:
        return NO_ANSWER
    items = list(owner[:500])
    function = next((argument for argument in arguments if isinstance(argument, (Closure, Reference, Method))), None)
    initial = [argument for argument in arguments if argument is not function]
    if function is None:  # Ruby's reduce(:+)
        return join(items) if items and isinstance(items[0], Data) else unknown(owner)
    if initial:
        items.insert(0, initial[0])
    if not items:
        return None
    result = items[0]
    for item in items[1:]:
        result = state.call(function, [result, item])
    return result


def _slice(state: State, owner: Value, arguments: list[Value]) -> Value:
    text = owner if isinstance(owner, list) else known(owner)
    if text is None:
        return unknown(owner)
    numbers = [whole(argument) for argument in arguments[:2]]
    if None in numbers:
        return unknown(owner)
    start = numbers[0] if numbers else 0
    end = numbers[1] if len(numbers) > 1 else None
    if state.language in ("ruby", "perl", "php") and end is not None and start is not None:
        begin = start if start >= 0 else len(text) + start
        piece = text[begin : begin + end] if end >= 0 else text[begin:end]
    else:
        piece = text[start:end]
    return piece if isinstance(piece, list) else Data(piece, labels_of(owner))


def _substr(_state: State, owner: Value, arguments: list[Value]) -> Value:
    text = known(owner)
    numbers = [whole(argument) for argument in arguments[:2]]
    if text is None or not numbers or None in numbers:
        return unknown(owner)
    start = numbers[0] or 0
    if start < 0:
        start = max(0, len(text) + start)
    many = numbers[1] if len(numbers) > 1 else None
    return Data(
        text[start:] if many is None else text[start : start + many] if many >= 0 else text[start:many],
        labels_of(owner),
    )


def _lua_sub(_state: State, owner: Value, arguments: list[Value]) -> Value:
    text = known(owner)
    numbers = [whole(argument) for argument in arguments[:2]]
    if text is None or not numbers or None in numbers:
        return unknown(owner)
    start = numbers[0] or 1
    end = numbers[1] if len(numbers) > 1 else -1
    if start < 0:
        start = len(text) + start + 1
    if end is not None and end < 0:
        end = len(text) + end + 1
    return Data(text[max(start, 1) - 1 : end], labels_of(owner))


def _replace_all(state: State, owner: Value, arguments: list[Value]) -> Value:
    return _replaced(state, owner, arguments, many=-1)


def _replace(state: State, owner: Value, arguments: list[Value]) -> Value:
    if state.language == "lua" and len(arguments) < 2:
        return _lua_sub(state, owner, arguments)
    is_global = bool(arguments) and isinstance(arguments[0], Pattern) and "g" in arguments[0].flags
    return _replaced(state, owner, arguments, many=-1 if is_global else 1)


def _sub(state: State, owner: Value, arguments: list[Value]) -> Value:
    return _lua_sub(state, owner, arguments) if state.language == "lua" else _replace(state, owner, arguments)


def _replaced(state: State, owner: Value, arguments: list[Value], many: int) -> Value:
    if isinstance(owner, Reference):
        return NO_ANSWER
    text = known(owner)
    if text is None or len(arguments) < 2:
        return unknown(owner, *arguments)
    old = arguments[0].text if isinstance(arguments[0], Pattern) else known(arguments[0])
    if old is None:
        return unknown(owner, *arguments)
    if isinstance(arguments[1], Closure) or (isinstance(arguments[0], Pattern) and old):
        pieces = _matches(text, old, arguments[0] if isinstance(arguments[0], Pattern) else None)
        if pieces is None:
            return unknown(owner, *arguments)
        out: list[Value] = []
        for at, (piece, is_match) in enumerate(pieces):
            if is_match and (many < 0 or at <= 1):
                out.append(
                    state.call(arguments[1], [Data(piece)]) if isinstance(arguments[1], Closure) else arguments[1]
                )
            else:
                out.append(Data(piece))
        return join(out)
    new = known(arguments[1])
    if new is None:
        return unknown(owner, *arguments)
    if state.language == "lua":
        if old == ".":
            return unknown(owner)
        old = old.replace("%", "")
    return (
        Data(text.replace(old, new, many), labels_of(owner))
        if len(text) * (len(new) + 1) < v.LONGEST
        else unknown(owner)
    )


_CLASSES: dict[str, Callable[[str], bool]] = {
    "\\s": str.isspace,
    "\\s+": str.isspace,
    "\\d": str.isdigit,
    "\\d+": str.isdigit,
    ".": lambda char: char != "\n",
    "\\W": lambda char: not (char.isalnum() or char == "_"),
    "\\D": lambda char: not char.isdigit(),
    "[^a-z]": lambda char: not ("a" <= char <= "z"),
    "[a-z]": lambda char: "a" <= char <= "z",
    "[A-Za-z]": lambda char: char.isascii() and char.isalpha(),
    "[a-zA-Z]": lambda char: char.isascii() and char.isalpha(),
}


def _matches(text: str, pattern: str, made: Pattern | None) -> list[tuple[str, bool]] | None:
    """``text`` in pieces, and whether each is one that a simple pattern names; None for patterns that are not simple.

    No regular expression of a script is ever run.
    """
    if len(text) > 5_000:
        return None
    test = _CLASSES.get(pattern)
    if test is not None:
        return [(char, test(char)) for char in text]
    if pattern == "..":
        return [(text[at : at + 2], len(text) - at > 1) for at in range(0, len(text), 2)]
    plain = pattern
    if made is not None:
        if pattern.startswith("[") and pattern.endswith("]") and "\\" not in pattern and "^" not in pattern:
            letters = frozenset(v.spread(pattern[1:-1]))
            return [(char, char in letters) for char in text]
        if pattern.startswith("\\") and len(pattern) == 2 and not pattern[1].isalnum():
            plain = pattern[1]
        elif any(char in pattern for char in ".*+?[](){}^$|\\"):
            return None
    if not plain:
        return None
    out: list[tuple[str, bool]] = []
    for at, piece in enumerate(text.split(plain)):
        if at:
            out.append((plain, True))
        out.append((piece, False))
    return out


def _repeat(_state: State, owner: Value, arguments: list[Value]) -> Value:
    text, many = known(owner), whole(arguments[0]) if arguments else None
    if text is None or many is None or len(text) * max(many, 0) > v.LONGEST:
        return unknown(owner)
    separator = known(arguments[1]) if len(arguments) > 1 else ""
    return Data((separator or "").join([text] * max(many, 0)), labels_of(owner))


def _concat(_state: State, owner: Value, arguments: list[Value]) -> Value:
    if isinstance(owner, list):
        return [*owner, *_flat(arguments)]
    return join([owner, *arguments])


def _push(_state: State, owner: Value, arguments: list[Value]) -> Value:
    if isinstance(owner, list) and len(owner) < v.MOST_ITEMS:
        owner.extend(arguments)
        return owner
    return unknown(owner, *arguments) if not isinstance(owner, Reference) else NO_ANSWER


def _unshift(_state: State, owner: Value, arguments: list[Value]) -> Value:
    if isinstance(owner, list) and len(owner) < v.MOST_ITEMS:
        owner[:0] = arguments
        return owner
    return unknown(owner, *arguments)


def _pop(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return (owner.pop() if owner else None) if isinstance(owner, list) else unknown(owner)


def _shift(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return (owner.pop(0) if owner else None) if isinstance(owner, list) else unknown(owner)


def _first(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return (owner[0] if owner else None) if isinstance(owner, list) else unknown(owner)


def _last(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return (owner[-1] if owner else None) if isinstance(owner, list) else unknown(owner)


def _at(_state: State, owner: Value, arguments: list[Value]) -> Value:
    at = whole(arguments[0]) if arguments else 0
    items = owner if isinstance(owner, list) else known(owner)
    if items is None or at is None:
        return unknown(owner)
    if not -len(items) <= at < len(items):
        return None
    item = items[at]
    return Data(item, labels_of(owner)) if isinstance(item, str) else item


def _ordinal(_state: State, owner: Value, arguments: list[Value]) -> Value:
    text, at = known(owner), whole(arguments[0]) if arguments else 0
    if text is None or at is None or not 0 <= at < len(text):
        return unknown(owner)
    return ord(text[at])


def _character(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return v.codepoints([owner])


def _to_string(state: State, owner: Value, arguments: list[Value]) -> Value:
    if isinstance(owner, Reference):
        return unknown(owner)
    if isinstance(owner, list) and state.language == "node":
        if owner and all(isinstance(item, int) for item in owner) and arguments:
            return v.codepoints(owner)
        return join(owner, ",")
    coding = known(arguments[0]) if arguments else None
    base = whole(arguments[0]) if arguments else None
    if isinstance(owner, int) and base and 2 <= base <= 36:
        return Data(_in_base(owner, base))
    text = text_of(owner)
    if coding in ("base64", "base64url"):
        return v.decoded(text, v._to_base64)
    if coding == "hex":
        return v.decoded(text, lambda plain: v.as_bytes(plain).hex())
    return text


def _in_base(value: int, base: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    rest = abs(value)
    while rest and len(out) < 300:
        rest, digit = divmod(rest, base)
        out = digits[digit] + out
    return ("-" if value < 0 else "") + (out or "0")


def _integer(_state: State, owner: Value, arguments: list[Value]) -> Value:
    return integer(owner, whole(arguments[0]) if arguments else None)


def integer(value: Value, base: int | None) -> Value:
    """The whole number that a text begins with."""
    text = known(value)
    if text is None:
        return unknown(value)
    text = text.strip().lower()
    if base == 16 or (base is None and text.startswith("0x")):
        text = text.removeprefix("0x")
        base = 16
    if isinstance(value, float):
        return int(value)
    end = 0
    allowed = "0123456789abcdefghijklmnopqrstuvwxyz"[: base or 10]
    while end < len(text) and end < 20 and (text[end] in allowed or (text[end] == "-" and not end)):
        end += 1
    try:
        return int(text[:end], base or 10)
    except ValueError:
        return 0


def _hexadecimal(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return integer(owner, 16)


def _octal(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return integer(owner, 8)


def _pack(_state: State, owner: Value, arguments: list[Value]) -> Value:
    template = known(arguments[0]) if arguments else None
    return v.pack(template, owner) if isinstance(owner, list) and template is not None else unknown(owner)


def _unpack(_state: State, owner: Value, arguments: list[Value]) -> Value:
    template = known(arguments[0]) if arguments else None
    return v.unpack(template, owner) if template is not None else [unknown(owner)]


def _unpack1(state: State, owner: Value, arguments: list[Value]) -> Value:
    found = _unpack(state, owner, arguments)
    return found[0] if isinstance(found, list) and found else unknown(owner)


def _tr(_state: State, owner: Value, arguments: list[Value]) -> Value:
    texts = [known(argument) for argument in (owner, *arguments[:2])]
    if len(texts) < 3 or texts[0] is None or texts[1] is None or texts[2] is None:
        return unknown(owner)
    return Data(v.translate(texts[0], texts[1], texts[2], "d" if not texts[2] else ""), labels_of(owner))


def _bytes(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    text = known(owner)
    return [ord(char) for char in text[: v.MOST_ITEMS]] if text is not None else unknown(owner)


def _same(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return owner if not isinstance(owner, Reference) else NO_ANSWER


def _then(state: State, owner: Value, arguments: list[Value]) -> Value:
    for argument in arguments[:1]:
        if isinstance(argument, (Closure, Reference, Method)):
            return state.call(argument, [owner])
    return owner


def _tap(state: State, owner: Value, arguments: list[Value]) -> Value:
    _then(state, owner, arguments)
    return owner


def _format(_state: State, owner: Value, arguments: list[Value]) -> Value:
    return v.formatted(owner, arguments)


def _send(state: State, owner: Value, arguments: list[Value]) -> Value:
    name = known(arguments[0]) if arguments else None
    method = METHODS.get(name) if name else None
    return method(state, owner, arguments[1:]) if method is not None else unknown(owner, *arguments)


def _length(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    items = owner if isinstance(owner, (list, dict)) else known(owner)
    return len(items) if items is not None else unknown(owner)


def _slices(state: State, owner: Value, arguments: list[Value]) -> Value:
    many = whole(arguments[0]) if arguments else None
    if not isinstance(owner, list) or not many or many < 1:
        return unknown(owner)
    pieces: list[Value] = [owner[at : at + many] for at in range(0, len(owner), many)]
    return _each(state, pieces, arguments) if isinstance(arguments[-1], Closure) else pieces


def _keys(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return [Data(name) for name in owner] if isinstance(owner, dict) else unknown(owner)


def _values(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return list(owner.values()) if isinstance(owner, dict) else owner if isinstance(owner, list) else unknown(owner)


def _fill(_state: State, owner: Value, arguments: list[Value]) -> Value:
    return [arguments[0] if arguments else None] * len(owner) if isinstance(owner, list) else unknown(owner)


def _compact(_state: State, owner: Value, _arguments: list[Value]) -> Value:
    return _flat(owner) if isinstance(owner, list) else unknown(owner)


def _rotate(_state: State, owner: Value, arguments: list[Value]) -> Value:
    many = whole(arguments[0]) if arguments else 1
    if not isinstance(owner, list) or not owner or many is None:
        return unknown(owner)
    return owner[many % len(owner) :] + owner[: many % len(owner)]


def _scan(_state: State, owner: Value, arguments: list[Value]) -> Value:
    text = known(owner)
    mark = arguments[0].text if arguments and isinstance(arguments[0], Pattern) else None
    if text is None or mark is None:
        return unknown(owner)
    size = {".": 1, "..": 2, ".{2}": 2, ".{1,2}": 2, "\\w\\w": 2, "\\h\\h": 2, "[0-9a-f]{2}": 2}.get(mark)
    return [Data(text[at : at + size]) for at in range(0, len(text), size)] if size else unknown(owner)


METHODS: dict[str, Callable[[State, Value, list[Value]], Value]] = {
    name: method
    for names, method in (
        ("reverse reverse! toReversed", _reverse),
        ("split", _split),
        ("chars", _chars),
        ("join", _join),
        ("map collect map! flat_map flatMap each_with_index.map", _map),
        ("forEach each each_with_index each_pair reverse_each", _each),
        ("each_char", _each_char),
        ("times", _times),
        ("filter select grep reject", _filter),
        ("reduce inject", _reduce),
        ("slice substring", _slice),
        ("substr", _substr),
        ("replaceAll gsub gsub! replace_all", _replace_all),
        ("replace", _replace),
        ("sub sub!", _sub),
        ("repeat rep", _repeat),
        ("concat prepend plus", _concat),
        ("push append", _push),
        ("unshift", _unshift),
        ("pop", _pop),
        ("shift", _shift),
        ("first", _first),
        ("last", _last),
        ("at charAt byte_at", _at),
        ("charCodeAt codePointAt ord byte getbyte", _ordinal),
        ("chr", _character),
        ("toString to_s to_str toLocaleString decode", _to_string),
        ("to_i toInteger", _integer),
        ("hex", _hexadecimal),
        ("oct", _octal),
        ("pack", _pack),
        ("unpack", _unpack),
        ("unpack1", _unpack1),
        ("tr", _tr),
        ("bytes codepoints getBytes", _bytes),
        ("trim strip chomp strip! chomp! trimEnd trimStart rstrip lstrip", _on_text(str.strip)),
        ("toLowerCase downcase lower downcase! toLocaleLowerCase", _on_text(str.lower)),
        ("toUpperCase upcase upper upcase! toLocaleUpperCase", _on_text(str.upper)),
        ("capitalize", _on_text(str.capitalize)),
        ("swapcase", _on_text(str.swapcase)),
        (
            "to_a to_sym to_ary dup clone freeze force_encoding encode flatten flat entries itself lazy valueOf",
            _same,
        ),
        (
            "normalize b unsafe",
            _same,
        ),
        ("compact", _compact),
        ("then finally yield_self", _then),
        ("tap", _tap),
        ("format", _format),
        ("send public_send __send__", _send),
        ("length size count", _length),
        ("each_slice each_cons", _slices),
        ("keys", _keys),
        ("values", _values),
        ("fill", _fill),
        ("rotate", _rotate),
        ("scan", _scan),
    )
    for name in names.split()
}
