"""R: what its functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import values as v
from .calls import (
    _characters,
    _copy,
    _decode,
    _delete,
    _delete_all,
    _delete_tree,
    _environment,
    _first,
    _fold,
    _get,
    _move,
    _options,
    _plain,
    _print,
    _read,
    _run_file,
    _second,
    _shell,
    _strtr,
    _table,
    _with_method,
)
from .values import Reference, Value, join, known, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _list_of(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _system2(state: State, arguments: list[Value], _function: Reference) -> Value:
    """R's `system2(command, args)`: the words are put together for a shell."""
    words = _plain(arguments)[1:2] or [_options(arguments).get("args")]
    return state.shell(join([_first(arguments), *_list_of(words[0])], " "))


def _processx(state: State, arguments: list[Value], _function: Reference) -> Value:
    words = _plain(arguments)
    return state.program([words[0], *_list_of(words[1])]) if len(words) > 1 else unknown()


def _do_call(state: State, arguments: list[Value], _function: Reference) -> Value:
    function = _first(arguments)
    if isinstance(function, Data):
        function = Reference(known(function) or UNKNOWN)
    return state.call(function, _list_of(_second(arguments)))


def _write_lines(state: State, arguments: list[Value], function: Reference) -> Value:
    """`writeLines(text, file)`, `cat(…, file=)`."""
    words = _plain(arguments)
    target = _options(arguments).get("file", words[1] if function.name != "cat" and len(words) > 1 else None)
    if target is None:
        state.echo(_first(arguments))
    else:
        state.write(target, text_of(_first(arguments)))
    return unknown()


R = _table(
    [
        ("system shell", _shell),
        (
            "system2",
            _system2,
        ),
        (
            "processx.run run",
            _processx,
        ),
        ("pipe", _shell),
        ("unlink", _delete),
        ("file.remove fs.file_delete", _delete_all),
        ("dir_delete fs.dir_delete", _delete_tree),
        ("file.rename", _move),
        ("file.copy", _copy),
        (
            "writeLines cat write",
            _write_lines,
        ),
        ("readLines readRDS scan read.csv file readr.read_file", _read),
        ("url download.file httr.GET", _get),
        ("httr.POST POST", _with_method("POST")),
        ("source", _run_file),
        ("eval", lambda _state, arguments, _function: unknown(*arguments)),
        (
            "parse",
            lambda state, arguments, _function: (
                state.code(_options(arguments)["text"]) if "text" in _options(arguments) else unknown(*arguments)
            ),
        ),
        (
            "do.call",
            _do_call,
        ),
        ("c list", _fold(lambda _state, arguments: list(arguments))),
        ("get match.fun", _fold(lambda _state, arguments: Reference(known(_first(arguments)) or UNKNOWN))),
        ("paste0", _fold(lambda _state, arguments: join(_plain(arguments)))),
        (
            "paste",
            _fold(
                lambda _state, arguments: join(
                    [
                        item
                        for argument in _plain(arguments)
                        for item in (argument if isinstance(argument, list) else [argument])
                    ],
                    known(_options(arguments).get("sep", _options(arguments).get("collapse", Data(" ")))) or "",
                )
            ),
        ),
        ("rawToChar intToUtf8 as.raw", _fold(_characters)),
        ("base64decode base64enc.base64decode", _decode(v.base64)),
        (
            "chartr",
            _fold(
                lambda state, arguments: (
                    _strtr(state, [arguments[2], arguments[0], arguments[1]]) if len(arguments) > 2 else unknown()
                )
            ),
        ),
        ("Sys.getenv", _fold(_environment)),
        ("print message", _print),
    ],
)
