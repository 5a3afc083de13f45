"""Perl: what its functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import values as v
from .calls import (
    _ENVIRONMENT,
    _NETWORK,
    _base_integer,
    _change_folder,
    _characters,
    _code,
    _copy,
    _decode,
    _delete_all,
    _file_handle,
    _files_below,
    _first,
    _fold,
    _fork,
    _from_file,
    _get,
    _glob,
    _integer,
    _kill,
    _link,
    _method,
    _mode_first,
    _move,
    _paths,
    _perl_join,
    _perl_ord,
    _perl_pack,
    _perl_split,
    _perl_unpack,
    _program_named,
    _read,
    _reduce_string,
    _request,
    _run_file,
    _second,
    _sent,
    _shell,
    _socket,
    _spawned,
    _sprintf,
    _table,
    _truncate,
    _unknown,
    _with_method,
    _words_or_shell,
    _write,
)
from .values import Reference, Value, known, labels_of, text_of, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def perl_open(state: State, name: str, arguments: list[Value]) -> Value:
    """What `open` and its kin make of their first argument: the handle."""
    if name == "opendir":
        return unknown()
    if name == "socket":
        state.has_socket = True
        return Reference("socket()", _NETWORK)
    if name.endswith(("open2", "open3")):
        words = arguments[2 if name.endswith("open2") else 3 :]
        _words_or_shell(state, words, Reference(name))
        return Reference("process()", NO_LABELS, words)
    if name == "sysopen":
        path = _second(arguments)
        flags = arguments[2] if len(arguments) > 2 else None
        reads = whole(flags) == 0 or (isinstance(flags, Reference) and flags.name == "O_RDONLY")
        state.effect("read" if reads else "write", path)
        return Reference("file()", _from_file(path) if reads else NO_LABELS, [path])
    if len(arguments) == 2:
        return _perl_open_two(state, arguments[1])
    mode = (known(_second(arguments)) or "").strip() if len(arguments) > 1 else ""
    path = arguments[2] if len(arguments) > 2 else unknown()
    if mode[:2] in ("-|", "|-") or (not mode and len(arguments) > 2):
        if len(arguments) > 3:
            state.program(arguments[2:])
        else:
            state.shell(path)
        return Reference("process()", labels_of(path), arguments[2:])
    if "&" in mode:
        return path
    if mode.startswith((">", "+")):
        if not isinstance(path, Reference):
            state.effect("write", path, method="append" if mode.startswith((">>", "+<")) else "")
            name_ = known(path)
            if name_ is not None and mode.startswith(">") and not mode.startswith(">>"):
                state.found.files.setdefault(name_, Data())
        return Reference("file()", NO_LABELS, [path])
    if isinstance(path, Reference):
        return Reference("file()")
    state.effect("read", path)
    return Reference("file()", _from_file(path), [path])


def _perl_open_two(state: State, what: Value) -> Value:
    data = text_of(what)
    text = data.text.strip()
    if text.startswith("|"):
        state.shell(Data(text[1:].strip(), data.labels))
        return Reference("process()", data.labels, [Data(text[1:].strip())])
    if text.endswith("|"):
        state.shell(Data(text[:-1].strip(), data.labels))
        return Reference("process()", data.labels, [Data(text[:-1].strip())])
    if text.startswith((">&", "<&", ">>&", "+<&")) or text == "-":
        return unknown()
    if text.startswith((">", "+")):
        path = Data(text.lstrip("+>< "), data.labels)
        state.effect("write", path, method="append" if text.startswith((">>", "+<")) else "")
        return Reference("file()", NO_LABELS, [path])
    path = Data(text.lstrip("< "), data.labels)
    if path.text == UNKNOWN:
        # Two-argument open of an unknown text may start a program.
        return Reference("file()", path.labels, [path])
    state.effect("read", path)
    return Reference("file()", _from_file(path), [path])


def _perl_variable(state: State, _arguments: list[Value], function: Reference) -> Value:
    name = function.name
    if name in ("%ENV", "@ENV"):
        return Reference("%ENV", _ENVIRONMENT)
    if name in ("@ARGV", "$argv"):
        return list(state.arguments) if state.arguments else unknown()
    return unknown()


def _perl_exec(state: State, arguments: list[Value], function: Reference) -> Value:
    return _words_or_shell(state, arguments, function)


def _perl_env(_state: State, arguments: list[Value], function: Reference) -> Value:
    del arguments
    return Data("~") if function.name.endswith("HOME") else unknown()


def _perl_tree(state: State, arguments: list[Value], _function: Reference) -> Value:
    for path in _paths(arguments):
        if not isinstance(path, int):
            state.effect("delete", path, recursive=True)
    return unknown()


def _ua_request(state: State, arguments: list[Value], function: Reference) -> Value:
    words = [argument for argument in arguments if isinstance(argument, Reference)]
    return _request(state, [words[0]] if words and words[0].value else arguments, function)


def _http_request_new(_state: State, arguments: list[Value], _function: Reference) -> Value:
    return Reference("http_request()", labels_of(arguments), [_second(arguments), *arguments])


def _mirror(state: State, arguments: list[Value], function: Reference) -> Value:
    _request(state, arguments[:1], function)
    state.effect("write", _second(arguments), labels=_NETWORK)
    return unknown()


PERL = _table(
    [
        (
            (
                "system exec IPC.System.Simple.system IPC.System.Simple.systemx IPC.System.Simple.capture "
                "capture systemx capturex"
            ),
            _perl_exec,
        ),
        ("readpipe qx", _shell),
        ("process().print process().printf process().say process().syswrite", _spawned),
        (
            (
                "socket().print socket().printf socket().say socket().syswrite socket().send socket().recv "
                "socket().getline socket().getlines"
            ),
            _sent,
        ),
        ("file().print file().printf file().say file().syswrite file().getline", _file_handle),
        (
            "IPC.Run.run IPC.Cmd.run run",
            lambda state, arguments, function: (
                _words_or_shell(state, arguments[:1] if isinstance(_first(arguments), list) else arguments, function)
                if function.name != "run" or isinstance(_first(arguments), list)
                else unknown()
            ),
        ),
        ("chdir Cwd.chdir", _change_folder),
        ("find finddepth File.Find.find File.Find.finddepth", _files_below),
        ("unlink", _delete_all),
        ("rmdir", _delete_all),
        ("rmtree remove_tree File.Path.rmtree File.Path.remove_tree", _perl_tree),
        ("path().remove_tree", _file_handle),
        ("rename move mv File.Copy.move File.Copy.mv", _move),
        ("copy cp File.Copy.copy File.Copy.cp", _copy),
        ("truncate", _truncate),
        ("symlink link", _link),
        ("chmod", _mode_first("chmod", 0)),
        ("chown", _program_named("chown")),
        ("kill", _kill),
        ("fork", _fork),
        ("write_file File.Slurp.write_file append_file", _write),
        ("read_file slurp File.Slurp.read_file", _read),
        (("get LWP.Simple.get getprint LWP.Simple.getprint head HTTP.Tiny.get HTTP.Tiny.head LWP.UserAgent.get"), _get),
        ("HTTP.Tiny.post HTTP.Tiny.put HTTP.Tiny.post_form LWP.UserAgent.post LWP.UserAgent.put", _with_method("POST")),
        ("HTTP.Tiny.request LWP.UserAgent.request", _ua_request),
        ("HTTP.Request.new", _http_request_new),
        ("getstore mirror LWP.Simple.getstore LWP.Simple.mirror HTTP.Tiny.mirror LWP.UserAgent.mirror", _mirror),
        ("IO.Socket.INET.new IO.Socket.SSL.new IO.Socket.IP.new IO.Socket.new connect", _socket),
        ("eval", _code),
        (
            "do require",
            lambda state, arguments, function: (
                _run_file(state, arguments, function)
                if function.name == "do" or isinstance(_first(arguments), Data)
                else unknown()
            ),
        ),
        ("syscall", lambda state, _arguments, _function: state.doubt("a system call by its number")),
        ("decode_base64 MIME.Base64.decode_base64 MIME.Base64.decode", _decode(v.base64)),
        ("encode_base64 MIME.Base64.encode_base64", _decode(v._to_base64)),
        ("uri_unescape URI.Escape.uri_unescape", _decode(v.url)),
        ("pack", _fold(_perl_pack)),
        ("unpack", _fold(_perl_unpack)),
        ("join", _fold(_perl_join)),
        ("split", _fold(_perl_split)),
        ("reverse", _fold(_reduce_string)),
        ("sprintf", _fold(_sprintf)),
        ("chr", _fold(_characters)),
        ("ord", _fold(_perl_ord)),
        ("hex", _base_integer(16)),
        ("oct", _base_integer(8)),
        ("int", _fold(_integer)),
        ("lc lcfirst", _method("lower")),
        ("uc", _method("upper")),
        ("ucfirst", _method("capitalize")),
        ("length", _method("length")),
        ("substr", _method("substr")),
        ("scalar", _fold(lambda _state, arguments: arguments[-1] if arguments else unknown())),
        ("glob bsd_glob File.Glob.bsd_glob", _fold(_glob)),
        ("readline", _fold(_unknown)),
        ("warn die", _fold(lambda _state, _arguments: unknown())),
        ("$", _perl_variable),
        ("%ENV.HOME", _perl_env),
    ],
)
