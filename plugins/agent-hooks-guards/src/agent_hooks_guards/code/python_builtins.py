"""Python's own functions and those of its modules that only compute."""

from __future__ import annotations

from agent_hooks_guards.model.values import ENVIRONMENT, UNKNOWN

from .python_values import (
    LONGEST_TEXT,
    MOST_ITEMS,
    NotKnownError,
    Value,
    constant,
    is_exact,
    is_text,
    items_of,
    labels_of,
    name,
    one_of,
    plain,
    text_of,
    truth,
    unknown,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_call import Call

_ENVIRONMENT = frozenset((ENVIRONMENT,))
_COMPUTED: dict[str, Callable[..., object]] = {
    "int": int, "float": float, "ord": ord, "hex": hex, "oct": oct, "bin": bin, "abs": abs, "len": len, "bool": bool,
    "min": min, "max": max, "sum": sum, "divmod": divmod, "round": round, "ascii": ascii, "any": any, "all": all,
    "int.from_bytes": int.from_bytes, "float.fromhex": float.fromhex,
}  # fmt: skip
# What these give tells nothing of what is in a value.
_COUNTS = frozenset("len bool any all hash id isinstance issubclass callable hasattr".split())


def _computed(call: Call) -> Value:
    labels = call.labels() if call.name not in _COUNTS else frozenset()
    try:
        if not all(map(is_exact, [*call.arguments, *call.keywords.values()])):
            raise NotKnownError
        given = [plain(each) for each in call.arguments]
        if (
            call.name == "sum"
            and given
            and isinstance(given[0], list)
            and any(isinstance(each, (list, tuple)) for each in given[0])
        ):
            raise NotKnownError
        return wrap(_COMPUTED[call.name](*given, **{key: plain(each) for key, each in call.keywords.items()}), labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return unknown(labels)


def _chr(call: Call) -> Value:
    value = call.value(0)
    if value.kind == "constant" and isinstance(value.it, int) and 0 <= value.it <= 0x10FFFF:
        return constant(chr(value.it), value.labels)
    return constant(UNKNOWN, labels_of(value))


def _text(call: Call) -> Value:
    value = call.value(0, "object")
    if value.kind in ("unknown", "method", "name", "any", "instance"):
        return value if value.kind != "name" else unknown(labels_of(value))
    return constant(text_of(value), labels_of(value))


def _repr(call: Call) -> Value:
    value = call.value(0)
    return constant(repr(plain(value)), labels_of(value)) if is_exact(value) else _text(call)


def _bytes(call: Call) -> Value:
    value = call.given(0, "source")
    if value is None:
        return constant(b"")
    if value.kind == "constant" and isinstance(value.it, int):
        return constant(bytes(value.it)) if 0 <= value.it <= LONGEST_TEXT else unknown()
    if is_text(value):
        it = value.it if isinstance(value.it, bytes) else value.it.encode("utf-8", "replace")
        return constant(it, value.labels)
    items = items_of(value)
    if items is None or not all(each.kind == "constant" for each in items):
        return unknown(labels_of(value))
    try:
        return constant(bytes([each.it for each in items]), labels_of(value))
    except (TypeError, ValueError):
        return unknown(labels_of(value))


def _list(call: Call) -> Value:
    value = call.given(0)
    kind = {"tuple": "tuple", "set": "set", "frozenset": "set"}.get(call.name, "list")
    if value is None:
        return Value(kind, [])
    if _is_endless(value):
        return value
    value = call.walk.iterated(value)
    items = items_of(value)
    if items is None:
        items = [call.walk.item_of(value)]
    if call.name == "reversed":
        items.reverse()
    return Value(kind, items)


def _sorted(call: Call) -> Value:
    value = call.walk.iterated(call.value(0))
    items = items_of(value)
    if items is None:
        return Value("list", [call.walk.item_of(value)])
    if not all(map(is_exact, items)):
        return Value("list", items)
    key = call.keywords.get("key")
    keys = items if key is None else [call.walk.call(key, [each], {}, call.scope) for each in items]
    try:
        order = sorted(range(len(items)), key=lambda at: plain(keys[at]), reverse=call.flag(-1, "reverse") is True)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return Value("list", items)
    return Value("list", [items[at] for at in order])


def _range(call: Call) -> Value:
    bounds = [each.it for each in call.arguments if each.kind == "constant" and isinstance(each.it, int)]
    if len(bounds) != len(call.arguments) or not bounds:
        return unknown()
    try:
        numbers = range(*bounds[:3])
    except ValueError:
        return unknown()
    return Value("list", [constant(each) for each in numbers[:MOST_ITEMS]])


def _dict(call: Call) -> Value:
    first = call.given(0)
    made: dict[object, Value] = {}
    labels = labels_of(first) if first is not None and first.kind != "dict" else frozenset()
    if first is not None and first.kind == "dict":
        made.update(first.it)
    for each in items_of(first) or [] if first is not None and first.kind in ("list", "tuple") else []:
        couple = items_of(each)
        if couple and len(couple) == 2 and couple[0].kind == "constant":
            made[couple[0].it] = couple[1]
    made.update(call.keywords)
    return Value("dict", made, labels)


def _zip(call: Call) -> Value:
    columns = [items_of(each) for each in call.arguments]
    if any(each is None for each in columns):
        return unknown(call.labels())
    return Value("list", [Value("tuple", list(row)) for row in zip(*[each or [] for each in columns], strict=False)])


def _enumerate(call: Call) -> Value:
    value = call.walk.iterated(call.value(0))
    items = items_of(value)
    if items is None:
        return Value("list", [Value("tuple", [unknown(), call.walk.item_of(value)])])
    first = call.value(1, "start")
    begin = first.it if first.kind == "constant" and isinstance(first.it, int) else 0
    return Value("list", [Value("tuple", [constant(at), each]) for at, each in enumerate(items, begin)])


def _map(call: Call) -> Value:
    function = call.value(0)
    given = [call.walk.iterated(each) for each in call.arguments[1:]]
    columns = [items_of(each) for each in given]
    known = [[call.walk.item_of(given[at])] if each is None else each for at, each in enumerate(columns)]
    if not known:
        return unknown()
    spreads = call.name.endswith("starmap")
    made = []
    for row in zip(*known, strict=False):
        parts = items_of(row[0]) or list(row) if spreads else list(row)
        made.append(call.walk.call(function, parts, {}, call.scope))
    return Value("list", made) if None not in columns else unknown(labels_of(*made))


def _filter(call: Call) -> Value:
    value = call.value(1)
    items = items_of(value)
    if items is None:
        return unknown(labels_of(value))
    function = call.value(0)
    if function.kind == "constant":
        return Value("list", [each for each in items if truth(each) is not False])
    return Value(
        "list", [each for each in items if truth(call.walk.call(function, [each], {}, call.scope)) is not False]
    )


def _reduce(call: Call) -> Value:
    items = items_of(call.value(1))
    if items is None:
        return unknown(call.labels())
    if call.given(2, "initial") is not None:
        items = [call.value(2, "initial"), *items]
    if not items:
        return unknown()
    result = items[0]
    for each in items[1:]:
        result = call.walk.call(call.value(0), [result, each], {}, call.scope)
    return result


def _iter(call: Call) -> Value:
    if len(call.arguments) > 1:
        return name("endless()")
    return call.value(0)


def _endless(call: Call) -> Value:
    del call
    return name("endless()")


def _is_endless(value: Value) -> bool:
    return value.kind == "name" and value.it == "endless()"


def _next(call: Call) -> Value:
    value = call.walk.iterated(call.value(0))
    items = items_of(value)
    if items is None:
        return call.walk.item_of(value)
    return one_of(items) if items else call.value(1)


def _chain(call: Call) -> Value:
    items: list[Value] = []
    for each in call.arguments:
        known = items_of(each)
        items += [call.walk.item_of(each)] if known is None else known
    if call.name.endswith("from_iterable"):
        items = [deep for each in items for deep in items_of(each) or [unknown(labels_of(each))]]
    return Value("list", items[:MOST_ITEMS])


def _slice(call: Call) -> Value:
    bounds = [constant(None)] * 3
    given = call.arguments[:3]
    if len(given) == 1:
        bounds[1] = given[0]
    else:
        bounds[: len(given)] = given
    return Value("slice", bounds)


# -- input and output --------------------------------------------------------------------------------------------------


def _input(call: Call) -> Value:
    for prompt in call.arguments:
        call.walk.echo(prompt)
    value = call.walk.read_input("line")
    return constant(value.it.rstrip("\n"), value.labels) if is_text(value) else value


def _print(call: Call) -> Value:
    between, end = call.text(-1, "sep", default=" "), call.text(-1, "end", default="\n")
    # What bytes look like is not what is in them.
    values = [
        call.walk.call(name("repr"), [each], {}, call.scope) if isinstance(each.it, bytes) else each
        for each in call.arguments
    ]
    # A text that is too long is not known, but where it comes from is.
    line = constant(between.join(map(text_of, values)) + end, labels_of(*call.arguments))
    target = call.keywords.get("file")
    if target is None or target.kind == "constant":
        call.walk.echo(line)
    else:
        from .python_methods import call_method

        call_method(call.walk, target, "write", [line], {}, call.scope)
    return constant(None)


def _getenv(call: Call) -> Value:
    from .python_attributes import variable

    if not call.arguments and not call.keywords:
        return unknown(_ENVIRONMENT)
    return variable(call.walk, call.value(0, "key"))


def _putenv(call: Call) -> Value:
    call.walk.environment[call.text(0)] = call.value(1)
    return constant(None)


def _exit(call: Call) -> Value:
    del call
    return Value("never")


# -- texts -------------------------------------------------------------------------------------------------------------


def _split(call: Call) -> Value:
    from .python_processes import split

    value = call.value(0, "s")
    if value.kind != "constant":
        return unknown(labels_of(value))
    labels = labels_of(value)
    return Value("list", [constant(each.it, labels) for each in split(text_of(value))])


def _quote(call: Call) -> Value:
    from shlex import quote

    value = call.value(0, "s")
    if UNKNOWN in text_of(value):
        return constant(text_of(value), labels_of(value))
    return constant(quote(text_of(value)), labels_of(value))


def _shell_join(call: Call) -> Value:
    from shlex import quote

    items = call.items(0)
    if items is None:
        return unknown(call.labels())
    return constant(" ".join(quote(text_of(each)) for each in items), call.labels())


def _template(call: Call) -> Value:
    return Value("template", text_of(call.value(0)), call.labels())


def _substitute(call: Call) -> Value:
    """``re.sub`` of a plain word or of a few characters; other patterns may take for ever."""
    import re

    pattern, by, value = call.value(0), call.value(1), call.value(2, "string")
    word = text_of(pattern)
    is_plain = all(each.isalnum() or each in " _-,;:/@#%&~=!<>'\"" for each in word) or (
        word[:1] == "[" and word[-1:] == "]" and word.count("[") == 1 and len(word) < 60
    )
    if not is_plain or not is_text(by) or not is_text(value) or not is_text(pattern):
        return unknown(labels_of(value, by))
    try:
        return constant(re.sub(word, lambda _: text_of(by), text_of(value)), labels_of(value, by))
    except re.error:
        return unknown(labels_of(value))


BUILTIN_CALLS: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(_COMPUTED, _computed),
    "chr": _chr,
    "unichr": _chr,
    "str": _text,
    "unicode": _text,
    "repr": _repr,
    "bytes": _bytes,
    "bytearray": _bytes,
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "reversed", "collections.deque"), _list),
    "sorted": _sorted,
    "range": _range,
    "xrange": _range,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "zip": _zip,
    "enumerate": _enumerate,
    "map": _map,
    "itertools.starmap": _map,
    "filter": _filter,
    "reduce": _reduce,
    "functools.reduce": _reduce,
    "iter": _iter,
    "itertools.count": _endless,
    "itertools.repeat": _endless,
    "itertools.cycle": _endless,
    "next": _next,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain,
    "slice": _slice,
    "functools.wraps of": lambda call: call.arguments[-1],
    "input": _input,
    "raw_input": _input,
    "getpass.getpass": _input,
    "print": _print,
    "os.getenv": _getenv,
    "os.environ.get": _getenv,
    "os.environ.setdefault": _getenv,
    "os.environ.__getitem__": _getenv,
    "os.environ.pop": _getenv,
    "os.putenv": _putenv,
    "os.environ.__setitem__": _putenv,
    **dict.fromkeys("exit quit sys.exit os._exit os.abort".split(), _exit),
    "shlex.split": _split,
    "shlex.quote": _quote,
    "pipes.quote": _quote,
    "shlex.join": _shell_join,
    "subprocess.list2cmdline": _shell_join,
    "string.Template": _template,
    "re.sub": _substitute,
    "get_ipython": lambda call: name("ipython"),  # noqa: ARG005 - it takes nothing
    "ctypes.util.find_library": lambda call: constant("libc.so.6"),  # noqa: ARG005 - whichever it is
}
