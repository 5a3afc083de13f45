"""PHP: what its functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

from . import values as v
from .calls import (
    _ENVIRONMENT,
    _NETWORK,
    _array_map,
    _base_integer,
    _call_function,
    _call_with_list,
    _change,
    _change_folder,
    _characters,
    _code,
    _copy,
    _curl_option,
    _curl_run,
    _curl_start,
    _decode,
    _define,
    _delete,
    _environment,
    _explode,
    _file_handle,
    _files_below,
    _first,
    _fold,
    _fork,
    _function,
    _glob,
    _handle_call,
    _implode,
    _inflated,
    _integer,
    _json,
    _kill,
    _link,
    _method,
    _mode_first,
    _move,
    _open_file,
    _perl_ord,
    _perl_pack,
    _perl_unpack,
    _php_popen,
    _preg_replace,
    _print,
    _read,
    _read_lines,
    _run_file,
    _second,
    _sent,
    _shell,
    _socket,
    _spawned,
    _sprintf,
    _str_replace,
    _strtr,
    _table,
    _truncate,
    _write,
)
from .folding import split
from .values import Closure, Reference, Value, known, labels_of, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _php_variable(state: State, _arguments: list[Value], function: Reference) -> Value:
    name = function.name
    if name in ("$_GET", "$_POST", "$_REQUEST", "$_COOKIE", "$_FILES"):
        return Data(UNKNOWN, _NETWORK)
    if name in ("$_ENV", "$_SERVER"):
        return Reference(name, _ENVIRONMENT)
    if name == "$argv":
        return [Data(state.script), *state.arguments] if state.arguments else unknown()
    return unknown()


def _php_proc_open(state: State, arguments: list[Value], _function: Reference) -> Value:
    command = _first(arguments)
    if NETWORK in labels_of(_second(arguments)):
        state.effect("run", Data(text_of(command).text, _NETWORK))
    if isinstance(command, list):
        return state.program(command)
    state.shell(command)
    return Reference("process()", labels_of(command), [command])


def _php_exec_words(state: State, arguments: list[Value], _function: Reference) -> Value:
    words = _second(arguments)
    return state.program(
        [_first(arguments), *(words if isinstance(words, list) else [] if words is None else [unknown(words)])]
    )


def _php_strrev(_state: State, arguments: list[Value]) -> Value:
    text = known(_first(arguments))
    return Data(text[::-1], labels_of(_first(arguments))) if text is not None else unknown(*arguments)


def _php_array_reverse(_state: State, arguments: list[Value]) -> Value:
    items = _first(arguments)
    return items[::-1] if isinstance(items, list) else unknown(items)


def _php_pack(state: State, arguments: list[Value]) -> Value:
    return _perl_pack(state, arguments)


def _php_invoke(_state: State, arguments: list[Value], _function: Reference) -> Value:
    name = known(_first(arguments))
    return Reference(name.lower() if name else UNKNOWN)


def _com_exec(state: State, arguments: list[Value], _function: Reference) -> Value:
    return state.shell(_first(arguments))


PHP = _table(
    [
        ("system exec shell_exec passthru expect_popen", _shell),
        ("popen", _php_popen),
        ("proc_open", _php_proc_open),
        ("pcntl_exec", _php_exec_words),
        ("pcntl_fork", _fork),
        (
            "mail",
            lambda state, arguments, _function: state.effect("send", _first(arguments), labels=labels_of(arguments)),
        ),
        ("posix_kill", _kill),
        (
            (
                "fwrite fputs fprintf fgets fread fgetc stream_get_contents stream_get_line socket_write "
                "socket_read socket_send"
            ),
            _handle_call,
        ),
        ("process().write process().read", _spawned),
        ("socket().write socket().read socket().send", _sent),
        ("file().write file().read", _file_handle),
        ("chdir", _change_folder),
        ("recursivedirectoryiterator.new directoryiterator.new filesystemiterator.new", _files_below),
        ("recursiveiteratoriterator.new", _fold(lambda _state, arguments: _first(arguments))),
        ("unlink rmdir", _delete),
        ("file_put_contents", _write),
        ("file_get_contents readfile show_source highlight_file parse_ini_file fpassthru", _read),
        ("file", _read_lines),
        ("fopen splfileobject.new", _open_file),
        ("rename move_uploaded_file", _move),
        ("copy", _copy),
        ("symlink link", _link),
        ("ftruncate", _truncate),
        ("chmod", _mode_first("chmod", 1)),
        (
            "chown chgrp",
            lambda state, arguments, _function: (
                state.program([Data("chown"), _second(arguments), _first(arguments)])
                if len(arguments) > 1
                else unknown()
            ),
        ),
        ("touch mkdir", _change),
        (
            "include include_once require require_once",
            lambda state, arguments, function: (
                _run_file(state, arguments, function)
                if "://" in text_of(_first(arguments)).text or labels_of(_first(arguments))
                else unknown()
            ),
        ),
        ("eval assert", _code),
        ("create_function", _function),
        ("preg_replace mb_ereg_replace", _preg_replace),
        ("fsockopen pfsockopen stream_socket_client socket_connect socket_create", _socket),
        ("curl_init", _curl_start),
        ("curl_setopt", _curl_option),
        (
            "curl_setopt_array",
            lambda state, arguments, function: _curl_option(
                state, [*arguments[:1], None, Data(UNKNOWN, labels_of(arguments[1:]))], function
            ),
        ),
        ("curl_exec", _curl_run),
        ("reflectionfunction.new", _php_invoke),
        ("com.new", lambda _state, _arguments, _function: Reference("com")),
        ("com.run com.exec", _com_exec),
        ("ffi.cdef ffi.load dl", lambda state, _arguments, _function: state.doubt("a foreign function is called")),
        ("call_user_func forward_static_call", _fold(_call_function)),
        ("call_user_func_array", _fold(_call_with_list)),
        ("array_map", _fold(_array_map)),
        (
            "array_walk usort uasort uksort array_filter",
            _fold(
                lambda state, arguments: (
                    _array_map(state, [_second(arguments), _first(arguments)])
                    if isinstance(_first(arguments), list)
                    else unknown(*arguments)
                )
            ),
        ),
        (
            "register_shutdown_function register_tick_function ob_start",
            lambda state, arguments, _function: (
                state.call(_first(arguments), arguments[1:])
                if arguments and not isinstance(arguments[0], Closure)
                else unknown()
            ),
        ),
        ("base64_decode", _decode(v.base64)),
        ("base64_encode", _decode(v._to_base64)),
        ("str_rot13", _decode(v.rot13)),
        ("hex2bin", _decode(v.hexadecimal)),
        ("convert_uudecode", _decode(v.uudecode)),
        ("urldecode rawurldecode", _decode(v.url)),
        ("gzinflate", _inflated(-15)),
        ("gzuncompress zlib_decode gzdecode", _inflated(47)),
        (
            (
                "html_entity_decode htmlspecialchars_decode stripslashes trim rtrim ltrim strval "
                "escapeshellcmd escapeshellarg addslashes"
            ),
            _fold(lambda _state, arguments: _first(arguments)),
        ),
        ("strrev", _fold(_php_strrev)),
        ("chr", _fold(_characters)),
        ("ord", _fold(_perl_ord)),
        ("implode join", _fold(_implode)),
        ("explode", _fold(_explode)),
        (
            "str_split",
            _fold(
                lambda _state, arguments: (
                    split(_first(arguments), Data()) if len(arguments) == 1 else unknown(*arguments)
                )
            ),
        ),
        ("array_reverse", _fold(_php_array_reverse)),
        ("array_values", _method("values")),
        ("str_replace str_ireplace", _fold(_str_replace)),
        ("strtr", _fold(_strtr)),
        ("sprintf", _fold(_sprintf)),
        ("substr mb_substr", _method("substr")),
        ("strtolower lcfirst mb_strtolower", _method("lower")),
        ("strtoupper", _method("upper")),
        ("str_repeat", _method("repeat")),
        ("strlen count", _method("length")),
        ("pack", _fold(_php_pack)),
        ("unpack", _fold(_perl_unpack)),
        ("hexdec", _base_integer(16)),
        ("octdec", _base_integer(8)),
        ("bindec", _base_integer(2)),
        ("intval", _fold(_integer)),
        ("define", _fold(_define)),
        ("constant", _fold(lambda state, arguments: state.variables.get(known(_first(arguments)) or "", unknown()))),
        ("getenv", _fold(_environment)),
        ("json_encode serialize var_export print_r http_build_query", _fold(_json)),
        ("printf", _print),
        ("glob", _fold(_glob)),
        ("$", _php_variable),
    ],
)
