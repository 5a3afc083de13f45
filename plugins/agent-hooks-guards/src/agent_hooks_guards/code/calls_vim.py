"""The script of Vim: what its functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

from .calls import (
    _characters,
    _code,
    _first,
    _fold,
    _method,
    _move,
    _read,
    _second,
    _sprintf,
    _table,
    _vim_code,
    _vim_delete,
    _vim_job,
    _vim_write,
)
from .values import Reference, Value, known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import Handler
    from .script_state import State


def _other_language(language: str) -> Handler:
    def handler(state: State, arguments: list[Value], _function: Reference) -> Value:
        return state.code(_first(arguments), language)

    return handler


VIM = _table(
    [
        ("system systemlist", _vim_job),
        ("job_start jobstart term_start termopen", _vim_job),
        ("libcall libcallnr", lambda state, _arguments, _function: state.doubt("a foreign function is called")),
        (
            "delete",
            _vim_delete,
        ),
        ("writefile", _vim_write),
        ("readfile readblob", _read),
        ("rename", _move),
        ("execute feedkeys", _vim_code),
        ("luaeval", _other_language("lua")),
        ("py3eval pyeval pyxeval", _other_language("python")),
        ("perleval", _other_language("perl")),
        ("rubyeval", _other_language("ruby")),
        ("eval", _code),
        (
            "call",
            lambda state, arguments, _function: state.outside(
                Reference(known(_first(arguments)) or UNKNOWN),
                items if isinstance(items := _second(arguments), list) else [],
            ),
        ),
        ("function funcref", _fold(lambda _state, arguments: Reference(known(_first(arguments)) or UNKNOWN))),
        ("join", _method("join")),
        ("reverse", _method("reverse")),
        ("split", _method("split")),
        ("printf", _fold(_sprintf)),
        ("nr2char", _fold(_characters)),
        ("shellescape expand fnameescape tolower trim", _fold(lambda _state, arguments: _first(arguments))),
    ],
)
