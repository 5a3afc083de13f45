"""Groovy: what its methods do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import Data

from .calls import _address, _code, _environment, _file_handle, _file_object, _first, _fold, _print, _request, _table
from .values import NO_ANSWER, Choice, Reference, Value, labels_of, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
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
