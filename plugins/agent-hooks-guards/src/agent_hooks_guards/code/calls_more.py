"""Groovy, R, Julia and the script of Vim: what their functions do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.shell.values import UNKNOWN, Data

from . import values as v
from .calls import (
    _address,
    _characters,
    _code,
    _copy,
    _decode,
    _delete,
    _delete_all,
    _delete_tree,
    _environment,
    _file_handle,
    _file_object,
    _first,
    _fold,
    _get,
    _home,
    _method,
    _move,
    _open_file,
    _options,
    _plain,
    _print,
    _read,
    _request,
    _run_file,
    _second,
    _shell,
    _sprintf,
    _strtr,
    _table,
    _vim_code,
    _vim_delete,
    _vim_job,
    _vim_write,
    _with_method,
    _write,
)
from .values import NO_ANSWER, Choice, Reference, Value, join, known, labels_of, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import Handler
    from .script_state import State


def _groovy_execute(state: State, _arguments: list[Value], function: Reference) -> Value:
    owner = function.value
    if isinstance(owner, list):
        return state.program(owner)
    if isinstance(owner, (Data, Choice)):
        # Java splits the text at blanks and starts the program without a shell.
        text = text_of(owner)
        return state.program([Data(word, text.labels) for word in text.text.split()] or [text])
    return NO_ANSWER


def _java_exec(state: State, arguments: list[Value], _function: Reference) -> Value:
    first = _first(arguments)
    if isinstance(first, list):
        return state.program(first)
    return state.program([Data(word, labels_of(first)) for word in text_of(first).text.split()] or [first])


def _java_builder(state: State, arguments: list[Value], _function: Reference) -> Value:
    words: list[Value] = []
    for argument in arguments:
        words.extend(argument if isinstance(argument, list) else [argument])
    return state.program(words)


def _groovy_url(state: State, arguments: list[Value], function: Reference) -> Value:
    return _request(state, arguments, function)


def _groovy_text(state: State, arguments: list[Value], function: Reference) -> Value:
    del arguments
    address = function.value[0] if isinstance(function.value, list) and function.value else unknown()
    return _request(state, [address], function)


GROOVY = _table(
    [
        ("#execute", _groovy_execute),
        (
            (
                "Runtime.getRuntime.exec Runtime.runtime.exec Runtime.exec Runtime.getRuntime().exec "
                "java.lang.Runtime.getRuntime.exec *.exec"
            ),
            _java_exec,
        ),
        ("Runtime.getRuntime java.lang.Runtime.getRuntime", lambda _state, _arguments, _function: Reference("Runtime")),
        ("ProcessBuilder.new ProcessBuilder java.lang.ProcessBuilder.new", _java_builder),
        ("File.new File java.io.File.new Paths.get Path.of FileWriter.new", _file_object),
        (
            (
                "file().delete file().deleteDir file().deleteOnExit file().write file().append file().text "
                "file().getText file().setText file().leftShift"
            ),
            _file_handle,
        ),
        (
            "Files.delete Files.deleteIfExists java.nio.file.Files.delete",
            lambda state, arguments, _function: state.effect("delete", _address(arguments)),
        ),
        ("evaluate Eval.me GroovyShell.evaluate GroovyShell.new.evaluate", _code),
        ("URL.openStream URL.getText URL.text URL.openConnection", _groovy_text),
        ("println print System.out.println System.out.print", _print),
        ("System.getenv", _fold(_environment)),
    ],
)


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
