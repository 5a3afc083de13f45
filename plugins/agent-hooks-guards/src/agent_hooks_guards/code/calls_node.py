"""Node, Deno and Bun: what their functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import values as v
from .calls import (
    _ENVIRONMENT,
    _arguments_program,
    _array_from,
    _buffer,
    _change_folder,
    _characters,
    _code,
    _copy,
    _create_require,
    _decode,
    _delete,
    _delete_tree,
    _deno_command,
    _environment,
    _file_handle,
    _file_object,
    _filled_array,
    _first,
    _fold,
    _function,
    _get,
    _home,
    _inflated,
    _integer,
    _interval,
    _json,
    _kill,
    _link,
    _lookup,
    _member_of,
    _method,
    _mode_first,
    _move,
    _new_socket,
    _node_fork,
    _node_program,
    _node_request,
    _node_shell,
    _open_file,
    _options,
    _path_join,
    _paths,
    _pipe,
    _print,
    _program_named,
    _read,
    _read_stream,
    _require,
    _run_file,
    _sent,
    _socket,
    _socket_connect,
    _spawned,
    _table,
    _timer,
    _truncate,
    _unknown,
    _with_method,
    _write,
    _write_stream,
)
from .values import Closure, Reference, Value, text_of, truth, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _both(prefix: str, names: str, suffix: str = "Sync") -> str:
    return " ".join(f"{prefix}{name} {prefix}{name}{suffix}" for name in names.split())


def _rimraf(state: State, arguments: list[Value], function: Reference) -> Value:
    return _delete_tree(state, arguments, function)


def _shelljs_rm(state: State, arguments: list[Value], _function: Reference) -> Value:
    words = _paths(arguments)
    state.program([Data("rm"), *words])
    return unknown()


def _execa(state: State, arguments: list[Value], function: Reference) -> Value:
    if len(arguments) == 1 and " " in text_of(arguments[0]).text:
        return _node_shell(state, arguments, function)
    return _node_program(state, arguments, function)


def _promise(state: State, arguments: list[Value], _function: Reference) -> Value:
    resolved: list[Value] = []
    if isinstance(_first(arguments), Closure):
        state.apply(arguments[0], [Closure(lambda given: resolved.extend(given[:1])), Closure(lambda _given: None)])
    return resolved[0] if resolved else unknown()


def _reflect_apply(state: State, arguments: list[Value], _function: Reference) -> Value:
    items = arguments[2] if len(arguments) > 2 else None
    return state.call(_first(arguments), items if isinstance(items, list) else [unknown(items)])


def _wscript(state: State, arguments: list[Value], _function: Reference) -> Value:
    return state.program([Data(word) for word in text_of(_first(arguments)).text.split()])


NODE = _table(
    [
        (
            (
                "child_process.exec child_process.execSync Bun.$ $ shelljs.exec execaCommand execaCommandSync "
                "zx.$ execa.$ execa.execaCommand execa.command execa.commandSync *.execSync"
            ),
            _node_shell,
        ),
        (
            (
                "child_process.spawn child_process.spawnSync child_process.execFile "
                "child_process.execFileSync *.spawnSync *.execFileSync *.execFile"
            ),
            _node_program,
        ),
        ("execa execa.execa execa.execaSync execaSync execa.sync", _execa),
        ("child_process.fork cluster.fork", _node_fork),
        ("Bun.spawn Bun.spawnSync Deno.run", _arguments_program),
        ("Deno.Command.new Deno.Command", _deno_command),
        ("process.chdir Deno.chdir", _change_folder),
        ("process.kill Deno.kill", _kill),
        (
            (
                "process().stdin.write process().stdin.end process().write process().end process().send "
                "process().print process().puts process().<< process().stdin.pipe process().stdout.pipe "
                "process().pipe process().stdin.puts process().printf process().say process().stdout.on"
            ),
            _spawned,
        ),
        ("response().pipe file().pipe", _pipe),
        (
            (
                "socket().write socket().end socket().send socket().pipe socket().on socket().once "
                "socket().gets request().write request().end request().on request().once response().on "
                "response().once"
            ),
            _sent,
        ),
        (
            (
                "file().text file().write file().delete file().unlink file().json file().arrayBuffer "
                "file().stream file().end file().on file().bytes"
            ),
            _file_handle,
        ),
        (_both("fs.", "unlink rmdir rm") + " fs.rmdirSync Deno.remove Deno.removeSync", _delete),
        (
            _both("fs.", "remove emptyDir")
            + " rimraf rimraf.sync rimraf.rimraf rimraf.rimrafSync rimraf.native del del.sync del.deleteAsync "
            "del.deleteSync del.deleteAsync deleteAsync deleteSync trash",
            _rimraf,
        ),
        ("shelljs.rm", _shelljs_rm),
        (
            _both("fs.", "writeFile appendFile outputFile writeJson write")
            + " Bun.write Deno.writeTextFile Deno.writeTextFileSync "
            "Deno.writeFile Deno.writeFileSync",
            _write,
        ),
        (_both("fs.", "truncate ftruncate") + " Deno.truncate Deno.truncateSync", _truncate),
        (
            _both("fs.", "readFile readJson readv")
            + " Deno.readTextFile Deno.readTextFileSync Deno.readFile Deno.readFileSync",
            _read,
        ),
        ("fs.createReadStream", _read_stream),
        ("fs.createWriteStream", _write_stream),
        ("Bun.file", _file_object),
        (_both("fs.", "open"), _open_file),
        (_both("fs.", "rename move") + " Deno.rename Deno.renameSync", _move),
        (_both("fs.", "copyFile cp copy") + " Deno.copyFile Deno.copyFileSync", _copy),
        (_both("fs.", "symlink link"), _link),
        (_both("fs.", "chmod lchmod fchmod") + " Deno.chmod Deno.chmodSync", _mode_first("chmod", 1)),
        (_both("fs.", "chown lchown"), _program_named("chown")),
        (
            (
                "fetch undici.fetch undici.request axios axios.request got got.default request superagent "
                "needle ky Bun.fetch axios.get axios.head got.get request.get superagent.get ky.get "
                "needle.get navigator.sendBeacon $.get jQuery.get"
            ),
            _get,
        ),
        (
            (
                "axios.post axios.put axios.patch got.post got.put request.post request.put superagent.post "
                "ky.post needle.post $.post sendBeacon"
            ),
            _with_method("POST"),
        ),
        ("axios.delete got.delete request.delete superagent.delete ky.delete", _with_method("DELETE")),
        ("http.get http.request http.ClientRequest.new", _node_request),
        ("net.Socket.new tls.TLSSocket.new", lambda state, _arguments, _function: _new_socket(state)),
        ("socket().connect", _socket_connect),
        (
            " ".join(
                f"dns.{name} dns.promises.{name}" for name in "lookup resolve resolve4 resolve6 resolveTxt".split()
            ),
            _lookup,
        ),
        (
            (
                "net.connect net.createConnection net.Socket.connect Deno.connect Deno.connectTls tls.connect "
                "Bun.connect WebSocket.new ws.new net.Socket().connect dgram.createSocket"
            ),
            _socket,
        ),
        (
            (
                "eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.compileFunction vm.Script.new "
                "Script.new vm.Script"
            ),
            _code,
        ),
        (
            (
                "Function Function.new AsyncFunction GeneratorFunction AsyncFunction.new "
                "Object.constructor.constructor constructor.constructor"
            ),
            _function,
        ),
        ("setTimeout setImmediate process.nextTick queueMicrotask", _timer),
        ("setInterval", _interval),
        (
            (
                "require import process.mainModule.require mainModule.require process.getBuiltinModule "
                "getBuiltinModule module.require constructor._load module.constructor._load "
                "process.mainModule.constructor._load Module._load module._load module.Module._load "
                "require.main.require main.require process.binding process._linkedBinding"
            ),
            _require,
        ),
        ("module.createRequire createRequire Module.createRequire module.Module.createRequire", _create_require),
        (
            "Worker.new worker_threads.Worker.new",
            lambda state, arguments, _function: (
                state.code(_first(arguments))
                if truth(_options(arguments).get("eval"))
                else _run_file(state, arguments, _function)
            ),
        ),
        ("importScripts Deno.dlopen process.dlopen", _run_file),
        (
            (
                "util.promisify Promise.resolve Promise.all Promise.allSettled Object.assign Object.freeze "
                "Object Array.of.call String Symbol structuredClone JSON.parse URL.new URL Uint8Array.new "
                "Uint8Array.from Uint8Array.of Uint16Array.from Int8Array.from Buffer.concat Array.from.call "
                "TextDecoder.decode TextDecoder.new.decode"
            ),
            _fold(lambda _state, arguments: _first(arguments)),
        ),
        ("Promise.new", _promise),
        ("Reflect.get", _member_of("")),
        ("Reflect.apply", _reflect_apply),
        ("Reflect.construct", _reflect_apply),
        ("Buffer.from Buffer.new Buffer", _fold(_buffer)),
        ("atob window.atob", _decode(v.base64)),
        ("btoa", _decode(v._to_base64)),
        ("unescape decodeURIComponent decodeURI querystring.unescape", _decode(v.url)),
        ("encodeURIComponent escape encodeURI querystring.stringify", _fold(_unknown)),
        ("zlib.gunzipSync zlib.inflateSync zlib.unzipSync", _inflated(47)),
        ("zlib.inflateRawSync", _inflated(-15)),
        ("String.fromCharCode String.fromCodePoint", _fold(_characters)),
        ("String.raw", _fold(lambda _state, arguments: _first(arguments))),
        (
            ("JSON.stringify util.inspect Object.entries Object.values Object.keys util.format querystring.encode"),
            _fold(_json),
        ),
        ("path.join path.resolve path.normalize path.posix.join", _fold(_path_join)),
        ("os.homedir Deno.env.get.HOME", _fold(_home)),
        ("parseInt Number Number.parseInt Number.new", _fold(_integer)),
        ("Array Array.new", _fold(_filled_array)),
        ("Array.of", _fold(lambda _state, arguments: list(arguments))),
        ("Array.from", _fold(_array_from)),
        ("Array.prototype.join.call", _method("join")),
        ("Array.prototype.map.call", _method("map")),
        (
            ("console.log console.info console.debug process.stdout.write stdout.write"),
            _print,
        ),
        ("console.error console.warn console.trace", _fold(lambda _state, _arguments: None)),
        ("process.env.get Deno.env.get", _fold(_environment)),
        ("Deno.env.toObject", _fold(lambda _state, _arguments: Data(UNKNOWN, _ENVIRONMENT))),
        ("ActiveXObject.new", lambda _state, _arguments, _function: Reference("WScript")),
        ("WScript.Run WScript.Exec", _wscript),
    ],
)
