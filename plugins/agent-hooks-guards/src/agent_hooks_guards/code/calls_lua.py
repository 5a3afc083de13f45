"""Lua and Neovim's Lua: what their functions do that reach out of the script."""

from __future__ import annotations

from . import values as v
from .calls import (
    _characters,
    _delete,
    _environment,
    _file_handle,
    _first,
    _fold,
    _function,
    _get,
    _integer,
    _member_of,
    _method,
    _move,
    _open_file,
    _php_popen,
    _print,
    _read,
    _require,
    _run_file,
    _second,
    _sent,
    _socket,
    _spawned,
    _sprintf,
    _stdin_line,
    _table,
    _vim_code,
    _vim_delete,
    _vim_job,
    _vim_write,
    _write_stream,
)
from .values import Reference, Value, join, known, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _lua_open(state: State, arguments: list[Value], function: Reference) -> Value:
    return _open_file(state, arguments, function)


def _lua_concat(_state: State, arguments: list[Value]) -> Value:
    items = _first(arguments)
    separator = known(_second(arguments)) if len(arguments) > 1 else ""
    if isinstance(items, list) and separator is not None:
        return join(items, separator)
    return unknown(*arguments)


def _lua_first(_state: State, arguments: list[Value]) -> Value:
    return _first(arguments)


def _lua_protected(state: State, arguments: list[Value], _function: Reference) -> Value:
    return state.call(_first(arguments), arguments[1:])


LUA = _table(
    [
        (
            (
                "os.execute vim.fn.system vim.fn.systemlist vim.fn.jobstart vim.fn.termopen vim.system "
                "vim.loop.spawn vim.uv.spawn"
            ),
            _vim_job,
        ),
        ("io.popen", _php_popen),
        ("process().write process().read process().lines", _spawned),
        ("socket().send socket().receive", _sent),
        ("os.remove lfs.rmdir", _delete),
        ("os.rename", _move),
        (
            "vim.fn.delete",
            _vim_delete,
        ),
        (
            "vim.fn.writefile",
            _vim_write,
        ),
        ("vim.cmd vim.api.nvim_command vim.api.nvim_exec vim.api.nvim_exec2", _vim_code),
        ("io.open", _lua_open),
        ("io.lines", _read),
        ("io.output", _write_stream),
        ("file().write file().read file().lines", _file_handle),
        ("socket.tcp socket.connect socket.udp", _socket),
        ("socket.http.request http.request ssl.https.request", _get),
        ("load loadstring", _function),
        ("dofile loadfile", _run_file),
        ("require", _require),
        ("pcall xpcall", _lua_protected),
        (
            ("assert tostring table.unpack unpack ipairs pairs coroutine.create coroutine.wrap setmetatable select"),
            _fold(_lua_first),
        ),
        ("rawget", _member_of("")),
        ("package.loadlib", lambda state, _arguments, _function: state.doubt("a foreign library is loaded")),
        ("string.char utf8.char", _fold(_characters)),
        ("string.reverse", _method("reverse")),
        ("string.rep", _method("repeat")),
        ("string.sub", _method("sub")),
        ("string.gsub", _method("gsub")),
        ("string.lower", _method("lower")),
        ("string.upper", _method("upper")),
        ("string.byte", _method("ord")),
        ("string.format", _fold(_sprintf)),
        ("table.concat", _fold(_lua_concat)),
        ("table.insert", _method("push")),
        ("tonumber", _fold(_integer)),
        ("print io.write io.stdout.write", _print),
        ("io.read io.stdin.read", _fold(_stdin_line)),
        ("os.getenv", _fold(_environment)),
        ("#char", lambda _state, arguments, function: v.codepoints([function.value, *arguments])),
    ],
)
