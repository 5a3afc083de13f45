"""Julia: what its functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import values as v
from .calls import (
    _code,
    _copy,
    _decode,
    _delete,
    _first,
    _fold,
    _get,
    _home,
    _method,
    _move,
    _open_file,
    _plain,
    _print,
    _read,
    _run_file,
    _table,
    _with_method,
    _write,
)
from .values import Reference, Value, join, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _julia_read(state: State, arguments: list[Value], function: Reference) -> Value:
    first = _first(arguments)
    if isinstance(first, Data) and first.text and first.text != UNKNOWN:
        return _read(state, arguments, function)
    return unknown(*arguments)


JULIA = _table(
    [
        ("rm Base.rm", _delete),
        ("write", _write),
        ("read readlines readline", _julia_read),
        ("open", _open_file),
        ("mv", _move),
        ("cp", _copy),
        ("download Downloads.download", _get),
        ("HTTP.get", _get),
        ("HTTP.post", _with_method("POST")),
        ("include", _run_file),
        (
            "include_string eval",
            lambda state, arguments, _function: (
                state.code(arguments[-1]) if arguments and isinstance(arguments[-1], Data) else unknown()
            ),
        ),
        ("Meta.parse", _code),
        ("string join", _fold(lambda _state, arguments: join(_plain(arguments)))),
        ("reverse", _method("reverse")),
        ("base64decode Base64.base64decode", _decode(v.base64)),
        ("String", _fold(lambda _state, arguments: _first(arguments))),
        ("println print", _print),
        ("homedir", _fold(_home)),
    ],
)
