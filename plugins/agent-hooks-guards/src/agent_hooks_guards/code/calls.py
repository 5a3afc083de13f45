"""What the functions of scripting languages do that reach out of the script: per language, by name.

Names are written with dots, whatever the language puts between their parts. ``*.name`` is a method of anything that is
not known; ``#name`` one of a value that the script made; ``$`` tells what a variable holds that the script did not set.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import CREDENTIAL, DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import (
    as_login,
    in_address,
    in_token_request,
    is_login_header,
    variable_labels,
)

from . import FILE, STDIN
from . import values as v
from .folding import METHODS, integer, split
from .values import (
    NO_ANSWER,
    Choice,
    Closure,
    Method,
    Reference,
    Value,
    concat,
    join,
    known,
    labels_of,
    text_of,
    truth,
    unknown,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .script_state import State

    Handler = Callable[[State, list[Value], Reference], Value]

_NETWORK = frozenset((NETWORK,))
_ENVIRONMENT = frozenset((ENVIRONMENT,))
_STDIN = frozenset((STDIN,))
_TELLING = (FILE, "secret", ENVIRONMENT, CREDENTIAL, "login:")


def _first(arguments: list[Value]) -> Value:
    return arguments[0] if arguments else unknown()


def _second(arguments: list[Value]) -> Value:
    return arguments[1] if len(arguments) > 1 else None


def _options(arguments: list[Value]) -> dict[str, Value]:
    """The table of options among the arguments."""
    for argument in reversed(arguments):
        if isinstance(argument, dict):
            return argument
    return {}


def _plain(arguments: list[Value]) -> list[Value]:
    """The arguments that are no options and no functions."""
    return [argument for argument in arguments if not isinstance(argument, (dict, Closure))]


def _from_file(path: Value) -> frozenset[str]:
    return frozenset((FILE + text_of(path).text,))


# Processes


def _shell(state: State, arguments: list[Value], _function: Reference) -> Value:
    return state.shell(_first(arguments))


def _node_shell(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.shell(_first(arguments))
    return Reference("process()", labels_of(_first(arguments)), [_first(arguments)])


def _node_program(state: State, arguments: list[Value], _function: Reference) -> Value:
    options = _options(arguments)
    words = arguments[1] if len(arguments) > 1 else None
    argv = [
        _first(arguments),
        *(
            words
            if isinstance(words, list)
            else []
            if words is None or isinstance(words, (dict, Closure))
            else [unknown(words)]
        ),
    ]
    shell = options.get("shell")
    if NETWORK in labels_of(options.get("stdio")):
        state.effect("run", Data(text_of(argv[0]).text, _NETWORK))
    text = known(_first(arguments))
    if shell is not None and truth(shell) is not False:
        if text is not None:
            return state.shell(join(argv, " "))
        return state.shell(unknown(*argv))
    if state.endless and any(
        isinstance(word, Reference) and word.name in ("process.argv", "__filename") for word in argv
    ):
        state.bomb()
    given = options.get("input")
    if given is not None:
        state.found.inputs[len(state.found.programs)] = text_of(given)
    return state.program(argv)


def _node_fork(state: State, arguments: list[Value], _function: Reference) -> Value:
    if state.endless:
        state.bomb()
    path = _first(arguments)
    if isinstance(path, Reference) and path.name == "__filename":
        return Reference("process()")
    state.effect("run", path, labels=labels_of(path))
    return Reference("process()")


def _arguments_program(state: State, arguments: list[Value], _function: Reference) -> Value:
    """A program whose words stand in one list, or in the option `cmd`."""
    first = _first(arguments)
    if isinstance(first, dict):
        first = first.get("cmd", unknown(first))
    return state.program(first if isinstance(first, list) else [first])


def _deno_command(state: State, arguments: list[Value], _function: Reference) -> Value:
    words = _options(arguments).get("args")
    return state.program(
        [_first(arguments), *(words if isinstance(words, list) else [] if words is None else [unknown(words)])]
    )


def _words_or_shell(state: State, arguments: list[Value], _function: Reference) -> Value:
    """One text is for a shell, several are words: Perl, Ruby."""
    words = _plain(arguments)
    if (
        state.language == "ruby"
        and len(words) > 1
        and _function.name.endswith("popen")
        and known(words[-1]) in ("r", "w", "r+", "rb", "wb", "w+")
    ):
        words.pop()
    if words and isinstance(words[0], list) and len(words[0]) == 2 and state.language == "ruby":  # ["rm", "name"]
        words = [words[0][0], *words[1:]]
        return state.program(words)
    if len(words) == 1 and isinstance(words[0], list):
        words = list(words[0])
        if state.language == "ruby":
            return state.program(words)
    if NETWORK in labels_of(_options(arguments).get("in")) or any(
        isinstance(word, Reference) and NETWORK in word.labels for word in words
    ):
        state.effect("run", Data(text_of(words[0]).text if words else "", _NETWORK))
    stdin = _options(arguments).get("stdin_data")
    if stdin is not None:
        if words and (known(words[0]) or "").rpartition("/")[2] in _SHELLS:
            state.shell(stdin)
        state.found.inputs[len(state.found.programs)] = text_of(stdin)
    if len(words) == 1:
        state.shell(words[0])
        return Reference("process()", labels_of(words[0]), words)
    return state.program(words)


_SHELLS = frozenset("sh bash zsh dash ksh ash fish".split())


def _pipeline(state: State, arguments: list[Value], function: Reference) -> Value:
    for argument in arguments:
        if not isinstance(argument, (dict, Closure)):
            _words_or_shell(state, [argument], function)
    return Reference("process()")


def _spawned(state: State, arguments: list[Value], function: Reference) -> Value:
    """Something is done with a running program."""
    name = function.name.rpartition(".")[2]
    words = function.value if isinstance(function.value, list) else []
    head = (known(words[0]) or "").strip() if words else ""
    argv = head.split() if len(words) == 1 else [head, *[known(word) or UNKNOWN for word in words[1:]]]
    reads_code = (
        bool(argv)
        and argv[0].rpartition("/")[2] in _SHELLS
        and all(word.startswith("-") and "c" not in word for word in argv[1:])
    )
    if name in ("write", "end", "print", "puts", "<<", "printf", "say", "print_line", "syswrite", "writeln", "send"):
        if arguments and not isinstance(arguments[0], Closure):
            content = join(arguments)
            if reads_code:
                state.shell(content)
    elif name == "pipe" and arguments:
        return _pipe(state, arguments, Reference("output.pipe", labels_of(function)))
    elif name in ("fread", "fgets", "read", "gets", "on"):
        for argument in arguments:
            if isinstance(argument, Closure):
                state.apply(argument, [Data(UNKNOWN, labels_of(function))])
        return Data(UNKNOWN, labels_of(function))
    return Reference("process()", function.labels, function.value)


def _pipe(state: State, arguments: list[Value], function: Reference) -> Value:
    """`a.pipe(b)`: what comes out of a goes to b."""
    target = _first(arguments)
    labels = function.labels
    if isinstance(target, Reference):
        if target.name.startswith("process()"):
            if NETWORK in labels:
                words = target.value if isinstance(target.value, list) else []
                state.effect("run", Data(text_of(words[0]).text if words else "", labels))
        elif target.name.startswith("file()"):
            if isinstance(target.value, list):
                state.write(target.value[0], Data(UNKNOWN, labels))
        elif target.name.startswith(("socket()", "request()")) and _tells(labels):
            state.effect("send", target.value if isinstance(target.value, Data) else Data(UNKNOWN), labels=labels)
        return Reference(target.name, target.labels | labels, target.value)
    return unknown(target, function)


def _tells(labels: frozenset[str]) -> bool:
    """Whether something of this machine is among what the labels are of."""
    return any(label.startswith(_TELLING) for label in labels)


def _fork(state: State, arguments: list[Value], _function: Reference) -> Value:
    result = state.fork()
    for argument in arguments:
        if isinstance(argument, Closure):
            state.apply(argument, [])
    return result


def _program_named(name: str) -> Handler:
    """A function that does what a program of this name does."""

    def handler(state: State, arguments: list[Value], _function: Reference) -> Value:
        words: list[Value] = []
        for argument in _plain(arguments):
            words.extend(argument if isinstance(argument, list) else [argument])
        state.program([Data(name), *words])
        return unknown()

    return handler


def _mode_first(name: str, position: int) -> Handler:
    """`chmod(path, mode)` and `chmod(mode, paths)`: the mode as octal digits, then the paths."""

    def handler(state: State, arguments: list[Value], _function: Reference) -> Value:
        flat: list[Value] = []
        for argument in _plain(arguments):
            flat.extend(argument if isinstance(argument, list) else [argument])
        if len(flat) <= position:
            return unknown()
        mode = flat.pop(position)
        number = whole(mode)
        if name == "chmod" and number is not None and not isinstance(mode, Data):
            mode = Data(f"{number:o}")
        flag: list[Value] = [Data("-R")] if _function.name.endswith("_R") else []
        state.program([Data(name), *flag, mode, *flat])
        return unknown()

    return handler


def _kill(state: State, arguments: list[Value], _function: Reference) -> Value:
    words = _plain(arguments)
    if state.language in {"node", "php"}:
        words = [words[1] if len(words) > 1 else Data("TERM"), *words[:1]]
    signal = text_of(words[0]).text if words else "TERM"
    state.program([Data("kill"), Data("-" + signal.lstrip("-")), *words[1:]])
    return unknown()


# Files


def _paths(arguments: list[Value]) -> list[Value]:
    out: list[Value] = []
    for argument in _plain(arguments):
        out.extend(argument if isinstance(argument, list) else [argument])
    return out[:200]


def _delete(state: State, arguments: list[Value], _function: Reference) -> Value:
    options = _options(arguments)
    recursive = options.get("recursive")
    state.effect("delete", _first(arguments), recursive=recursive is not None and truth(recursive) is not False)
    return unknown()


def _delete_tree(state: State, arguments: list[Value], _function: Reference) -> Value:
    for path in _paths(arguments):
        if not isinstance(path, (int, float)):
            state.effect("delete", path, recursive=True)
    return unknown()


def _delete_all(state: State, arguments: list[Value], _function: Reference) -> Value:
    for path in _paths(arguments):
        state.effect("delete", path)
    return unknown()


def _change_folder(state: State, arguments: list[Value], _function: Reference) -> Value:
    """``chdir``; with a block, for that block."""
    before = state.folder
    name = known(_first(arguments))
    if name:
        state.folder = state.path(name)
    blocks = [argument for argument in arguments if isinstance(argument, Closure)]
    for block in blocks:
        state.apply(block, arguments[:1])
    if blocks:
        state.folder = before
    return unknown()


def _files_below(state: State, arguments: list[Value], _function: Reference) -> Value:
    """The files below folders: what is done with one is done with all. A function among the arguments is given them."""
    options = _options(arguments)
    found: list[Value] = []
    for path in _paths(arguments):
        folder = text_of(path)
        found.append(Data(f"{folder.text.rstrip('/')}/{UNKNOWN}", folder.labels))
    for function in (*arguments, options.get("wanted")):
        if isinstance(function, Closure):
            for file in found:
                for name in ("$_", "$File::Find::name") if state.language == "perl" else ():
                    state.variables[name] = file
                state.apply(function, [file])
    return found


def _read(state: State, arguments: list[Value], _function: Reference) -> Value:
    path = _first(arguments)
    if isinstance(path, Reference):
        return unknown(path)
    name = text_of(path).text
    if name in ("0", "/dev/stdin", "php://stdin", "-"):
        return state.input()
    if "://" in name:
        return _get(state, arguments, _function)
    state.effect("read", path)
    if name in state.found.files:
        return state.found.files[name]
    return Data(UNKNOWN, _from_file(path) | labels_of(path))


def _read_lines(state: State, arguments: list[Value], function: Reference) -> Value:
    return [_read(state, arguments, function)]


def _ruby_read(state: State, arguments: list[Value], function: Reference) -> Value:
    """Ruby's `open`, `IO.read` and friends take a command behind a bar."""
    name = text_of(_first(arguments)).text
    if name.startswith("|"):
        state.shell(Data(name[1:], labels_of(_first(arguments))))
        return Reference("process()", NO_LABELS, [Data(name[1:])])
    return _read(state, arguments, function)


def _write(state: State, arguments: list[Value], function: Reference) -> Value:
    path = _first(arguments)
    content = _second(arguments)
    if isinstance(path, Reference) and path.name.startswith("file()") and isinstance(path.value, list):
        path = path.value[0]
    elif isinstance(path, Reference) and path.name.startswith(("socket()", "process()")):
        return state.method(path, "write", arguments[1:])
    if isinstance(content, list):
        content = join(content)
    flags = whole(arguments[2]) if len(arguments) > 2 else None
    append = (
        "append" in function.name.lower()
        or (flags is not None and bool(flags & 8))
        or known(_options(arguments).get("flag")) == "a"
    )
    state.write(path, text_of(content), append)
    return unknown()


def _change(state: State, arguments: list[Value], _function: Reference) -> Value:
    for path in _paths(arguments)[:1]:
        state.effect("write", path)
    return unknown()


def _truncate(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.write(_first(arguments), Data())
    return unknown()


def _move(state: State, arguments: list[Value], _function: Reference) -> Value:
    target = _second(arguments)
    for path in _paths(arguments[:1]):
        state.effect("delete", path)
        state.effect("write", target, labels=_from_file(path))
    return unknown()


def _copy(state: State, arguments: list[Value], _function: Reference) -> Value:
    target = _second(arguments)
    for path in _paths(arguments[:1]):
        name = known(path)
        if name is not None and "://" in name:
            _get(state, [path], _function)
            state.effect("write", target, labels=_NETWORK)
            continue
        state.effect("read", path)
        state.effect("write", target, labels=_from_file(path))
    return unknown()


def _link(state: State, arguments: list[Value], _function: Reference) -> Value:
    return _program_named("ln")(state, [Data("-s"), *arguments[:2]], _function)


def _run_file(state: State, arguments: list[Value], _function: Reference) -> Value:
    path = _first(arguments)
    name = known(path)
    if name is None:
        if labels_of(path):
            state.effect("run", path, labels=labels_of(path))
        elif isinstance(path, Data) and path.text == UNKNOWN and state.language in ("perl", "ruby"):
            state.doubt("a file that is not known is run")
        return unknown()
    if "://" in name or name.startswith("data:"):
        if name.startswith("data:"):
            text = name.partition(",")[2]
            return state.code(v.decoded(Data(text), v.base64) if ";base64" in name else v.decoded(Data(text), v.url))
        state.effect("run", path, labels=_NETWORK)
        return unknown()
    if name in {"php://input", "php://stdin"}:
        return state.code(Data(UNKNOWN, _NETWORK if name == "php://input" else _STDIN))
    state.effect("run", path)
    return unknown()


def _open_file(state: State, arguments: list[Value], _function: Reference) -> Value:
    """`open(path, mode)` of PHP, Ruby, Lua and Node."""
    path = _first(arguments)
    mode_value = _second(arguments)
    mode = known(mode_value) if isinstance(mode_value, Data) else None
    name = text_of(path).text
    if state.language == "ruby":
        if name.startswith("|"):
            state.shell(Data(name[1:], labels_of(path)))
            return Reference("process()", NO_LABELS, [Data(name[1:])])
        if "://" in name:
            return _get(state, arguments, _function)
    if state.language == "php" and "://" in name:
        if name == "php://stdin":
            return Data(UNKNOWN, _STDIN)
        if name.startswith("php://"):
            return Reference("output()")
        return _get(state, arguments, _function)
    numbers = whole(mode_value) if not isinstance(mode_value, Data) else None
    writes = (mode is not None and any(letter in mode for letter in "wax+c")) or bool(numbers and numbers & 3)
    handle: Value
    if writes:
        truncates = mode is None or "w" in mode
        state.effect("write", path, method="" if truncates else "append")
        if truncates and known(path) is not None:
            state.found.files.setdefault(name, Data())
        handle = Reference("file()", NO_LABELS, [path])
    else:
        state.effect("read", path)
        handle = Reference("file()", _from_file(path) | labels_of(path), [path])
    for argument in arguments:
        if isinstance(argument, Closure):
            state.apply(argument, [handle])
    return handle


def _file_handle(state: State, arguments: list[Value], function: Reference) -> Value:
    """A method of an open file, or of one that is named."""
    name = function.name.rpartition(".")[2]
    path = function.value[0] if isinstance(function.value, list) and function.value else unknown()
    if name in (
        "write",
        "print",
        "puts",
        "printf",
        "<<",
        "end",
        "appendFile",
        "writeFile",
        "say",
        "syswrite",
        "writeText",
        "append",
        "setText",
        "leftShift",
    ):
        state.write(path, join(_plain(arguments)), append=True)
        return Reference("file()", function.labels, function.value)
    if name in ("delete", "deleteDir", "unlink", "deleteOnExit"):
        state.effect("delete", path, recursive=name == "deleteDir")
        return unknown()
    if name == "pipe":
        return _pipe(state, arguments, function)
    if name in (
        "read",
        "text",
        "readlines",
        "gets",
        "each_line",
        "lines",
        "each",
        "json",
        "arrayBuffer",
        "getText",
        "getline",
        "readline",
        "slurp",
        "on",
        "then",
        "bytes",
        "stream",
    ):
        if name in ("text", "getText", "bytes") and not function.labels:
            state.effect("read", path)
        result = Data(UNKNOWN, function.labels | _from_file(path))
        for argument in arguments:
            if isinstance(argument, Closure):
                state.apply(argument, [result])
        return result
    return Reference("file()", function.labels, function.value)


def _file_object(state: State, arguments: list[Value], _function: Reference) -> Value:
    """An object that stands for a file: `new File(…)`, `Bun.file(…)`, `Pathname(…)`."""
    del state
    return Reference("file()", NO_LABELS, [_first(arguments)])


def _read_stream(state: State, arguments: list[Value], function: Reference) -> Value:
    data = _read(state, arguments, function)
    return Reference("file()", labels_of(data), [_first(arguments)])


def _write_stream(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.effect("write", _first(arguments))
    return Reference("file()", NO_LABELS, [_first(arguments)])


def _handle_call(state: State, arguments: list[Value], _function: Reference) -> Value:
    """`fwrite($handle, …)`, `fgets($handle)`: a function whose first argument is what a method belongs to."""
    handle = _first(arguments)
    name = {"fwrite": "write", "fputs": "write", "fprintf": "write"}.get(
        _function.name.rpartition(".")[2].lower(), "read"
    )
    if isinstance(handle, Reference):
        return state.method(handle, name, arguments[1:])
    return unknown(*arguments)


# Network


def _address(arguments: list[Value]) -> Value:
    """The URL or host that a call names."""
    first = _first(arguments)
    if isinstance(first, dict):
        for name in ("url", "uri", "href"):
            if name in first:
                return first[name]
        host = first.get("hostname", first.get("host", first.get("Host", first.get("PeerAddr", first.get("PeerHost")))))
        if host is None:
            return Data(UNKNOWN)
        path = first.get("path")
        port = first.get("port", first.get("PeerPort"))
        return join([host, *([Data(":"), port] if port is not None else []), *([path] if path is not None else [])])
    if isinstance(first, Reference) and isinstance(first.value, list) and first.value:
        return first.value[0]
    return first


def _request(state: State, arguments: list[Value], function: Reference, method: str = "") -> Value:
    """A request: something is sent if it has a body, or something of this machine is in it."""
    options = _options(arguments)
    given = options.get("method", options.get("type"))
    name = (known(given) or UNKNOWN).upper() if given is not None else method or "GET"
    address = _address(arguments)
    for way in ("proxy", "baseURL"):
        if way in options:
            state.effect("receive", Data(text_of(_address([options[way]])).text))
    body = [
        options[key]
        for key in ("body", "data", "content", "form", "json", "Content", "payload", "postfields", "formData")
        if key in options
    ]
    if method in ("POST", "PUT", "PATCH"):
        body += [argument for argument in arguments[1:] if not isinstance(argument, Closure)]
    labels = in_token_request(
        text_of(address).text,
        [key for each in body if isinstance(each, dict) for key in each] + [text_of(each).text for each in body],
        NO_LABELS.union(function.labels - _NETWORK if arguments else NO_LABELS, *map(_sent_labels, arguments)),
    )
    if body or name in ("POST", "PUT", "PATCH") or _tells(labels):
        state.effect("send", Data(text_of(address).text), labels=labels, method=name if name != UNKNOWN else "")
    elif name == "DELETE":
        state.effect("send", Data(text_of(address).text), method=name)
    else:
        state.effect("receive", Data(text_of(address).text), method=name if name != UNKNOWN else "")
    return Data(UNKNOWN, _NETWORK)


def _sent_labels(argument: Value) -> frozenset[str]:
    """The labels of what an argument of a request adds to it."""
    if not isinstance(argument, dict):
        return in_address(argument.text, argument.labels) if isinstance(argument, Data) else labels_of(argument)
    found = NO_LABELS
    for key, value in argument.items():
        if key in ("headers", "defaults") and isinstance(value, dict):
            found |= _sent_labels(value)
        else:
            found |= as_login(labels_of(value)) if key == "cookies" or is_login_header(key) else labels_of(value)
    return found


def _get(state: State, arguments: list[Value], function: Reference) -> Value:
    return _request(state, arguments, function)


def _lookup(state: State, arguments: list[Value], _function: Reference) -> Value:
    """A name is looked up: the name itself is sent."""
    labels = labels_of(_first(arguments))
    if _tells(labels):
        state.effect("send", Data(text_of(_first(arguments)).text), labels=labels)
    return unknown()


def _with_method(method: str) -> Handler:
    def handler(state: State, arguments: list[Value], function: Reference) -> Value:
        return _request(state, arguments, function, method)

    return handler


def _node_request(state: State, arguments: list[Value], function: Reference) -> Value:
    """`http.request` and `http.get`: the answer is given to a function; a body is written later."""
    address = Data(text_of(_address(arguments)).text)
    result = _request(state, [argument for argument in arguments if not isinstance(argument, Closure)], function)
    for argument in arguments:
        if isinstance(argument, Closure):
            state.apply(argument, [Reference("response()", _NETWORK)])
    del result
    return Reference("request()", _NETWORK, address)


def _sent(state: State, arguments: list[Value], function: Reference) -> Value:
    """Data goes into an open connection."""
    name = function.name.rpartition(".")[2]
    if name in ("write", "end", "send", "print", "puts", "<<", "printf", "syswrite", "sendto", "say"):
        data = [argument for argument in arguments if not isinstance(argument, Closure)]
        if data:
            state.effect(
                "send",
                function.value if isinstance(function.value, Data) else Data(UNKNOWN),
                labels=labels_of(list(data)) - _NETWORK,
            )
    elif name == "pipe":
        return _pipe(state, arguments, function)
    else:
        for argument in arguments:
            if isinstance(argument, Closure):
                state.apply(
                    argument, [Reference("response()", _NETWORK) if name in ("on", "once") else Data(UNKNOWN, _NETWORK)]
                )
        if name in (
            "gets",
            "read",
            "recv",
            "readline",
            "getline",
            "readpartial",
            "receive",
            "sysread",
            "each_line",
            "readlines",
        ):
            return Data(UNKNOWN, _NETWORK)
    return Reference(function.name.partition(".")[0], function.labels, function.value)


def _socket(state: State, arguments: list[Value], _function: Reference) -> Value:
    """A connection: what comes from it is somebody else's."""
    host = _first(arguments)
    address: Data
    if isinstance(host, dict):
        address = text_of(_address(arguments))
    elif isinstance(host, Data) and len(arguments) > 1 and (known(host) or "").startswith("PeerAddr"):
        address = text_of(_second(arguments))
    else:
        names = [argument for argument in arguments[:2] if isinstance(argument, (Data, int))]
        if state.language == "node":
            names.reverse()
        address = join(names, ":")
    if state.language == "perl":
        table = {(known(arguments[at]) or ""): arguments[at + 1] for at in range(0, len(arguments) - 1, 2)}
        if "PeerAddr" in table or "PeerHost" in table:
            port = table.get("PeerPort")
            address = join([table.get("PeerAddr", table.get("PeerHost")), *([port] if port is not None else [])], ":")
    state.has_socket = True
    state.effect("receive", Data(address.text))
    return Reference("socket()", _NETWORK, Data(address.text))


def _new_socket(state: State) -> Value:
    state.has_socket = True
    return Reference("socket()", _NETWORK, [])


def _socket_connect(state: State, arguments: list[Value], function: Reference) -> Value:
    connected = _socket(state, arguments, function)
    if isinstance(function.value, list) and isinstance(connected, Reference):
        function.value.append(connected.value)
    return connected


def _curl_option(_state: State, arguments: list[Value], _function: Reference) -> Value:
    handle, value = _first(arguments), arguments[2] if len(arguments) > 2 else None
    if isinstance(handle, Reference) and isinstance(handle.value, list):
        handle.value.append(value)
        if isinstance(value, Data) and "://" in value.text:
            handle.value[0] = value
    return True


def _curl_start(_state: State, arguments: list[Value], _function: Reference) -> Value:
    return Reference("curl()", NO_LABELS, [_first(arguments), *arguments[1:]])


def _curl_run(state: State, arguments: list[Value], _function: Reference) -> Value:
    handle = _first(arguments)
    values: list[Value] = [unknown()]
    if isinstance(handle, Reference) and isinstance(handle.value, list):
        values = handle.value
    labels = labels_of(values[1:])
    state.effect(
        "send" if _tells(labels) or (len(values) > 3 and labels) else "receive",
        Data(text_of(values[0]).text),
        labels=labels,
    )
    return Data(UNKNOWN, _NETWORK)


def _ruby_http(state: State, arguments: list[Value], function: Reference) -> Value:
    return _request(state, arguments, function, "POST")


# Code


def _code(state: State, arguments: list[Value], _function: Reference) -> Value:
    if not arguments:
        return unknown()
    return state.code(_first(arguments))


def _function(state: State, arguments: list[Value], _function: Reference) -> Value:
    """`Function(…, body)`, `create_function(args, body)`, `load(text)`: code that is run when it is called."""
    texts = [text_of(argument) for argument in arguments if isinstance(argument, (Data, Method))]
    if not texts:
        return unknown()
    body = texts[-1] if state.language != "lua" else texts[0]
    if UNKNOWN in body.text or body.labels:
        state.code(body)
        return unknown(body)
    names = [name.strip() for text in texts[:-1] for name in text.text.split(",")] if state.language != "lua" else []

    def run(given: list[Value]) -> Value:
        before = dict(state.variables)
        state.variables.update(zip(names, given, strict=False))
        try:
            return state.run(body.text)
        finally:
            for name in names:
                state.variables.pop(name, None)
                if name in before:
                    state.variables[name] = before[name]

    closure = Closure(run)
    state.closures.append(closure)
    return closure


def _timer(state: State, arguments: list[Value], _function: Reference) -> Value:
    first = _first(arguments)
    if isinstance(first, (Data, Choice)):
        return state.code(first)
    return state.apply(first, arguments[2:]) if isinstance(first, Closure) else unknown()


def _interval(state: State, arguments: list[Value], function: Reference) -> Value:
    state.endless += 1
    result = _timer(state, arguments, function)
    state.endless -= 1
    return result


def _require(state: State, arguments: list[Value], _function: Reference) -> Value:
    module = _first(arguments)
    name = known(module)
    if name is None:
        return (
            Reference(UNKNOWN, labels_of(module))
            if isinstance(module, Data) and UNKNOWN in module.text
            else unknown(module)
        )
    if state.language == "node":
        name = name.removeprefix("node:").removeprefix("bun:")
        if name.startswith(("http://", "https://", "data:")):
            return _run_file(state, arguments, _function)
        return Reference(_MODULES.get(name, name))
    if state.language == "lua":
        return Reference(name)
    return unknown()


_MODULES = {
    "fs/promises": "fs",
    "fs-extra": "fs",
    "graceful-fs": "fs",
    "original-fs": "fs",
    "https": "http",
    "http2": "http",
    "tls": "net",
    "node-fetch": "fetch",
    "cross-spawn": "child_process.spawn",
    "undici": "undici",
    "shelljs": "shelljs",
    "bun": "Bun",
}


def _create_require(_state: State, _arguments: list[Value], _function: Reference) -> Value:
    return Reference("require")


def _itself(_state: State, arguments: list[Value], _function: Reference) -> Value:
    return _first(arguments)


def _promisify(_state: State, arguments: list[Value], _function: Reference) -> Value:
    return _first(arguments)


# Folding: known functions that reach nothing


def _fold(make: Callable[[State, list[Value]], Value]) -> Handler:
    def folded(state: State, arguments: list[Value], _function: Reference) -> Value:
        return make(state, arguments)

    return folded


def _decode(change: Callable[[str], str]) -> Handler:
    def folded(_state: State, arguments: list[Value], _function: Reference) -> Value:
        return v.decoded(_first(arguments), change)

    return folded


def _method(name: str) -> Handler:
    """A function that is a method of its first argument."""

    def folded(state: State, arguments: list[Value], _function: Reference) -> Value:
        if not arguments:
            return unknown()
        result = METHODS[name](state, arguments[0], arguments[1:])
        return result if result is not NO_ANSWER else unknown(*arguments)

    return folded


def _buffer(state: State, arguments: list[Value]) -> Value:
    del state
    first = _first(arguments)
    coding = known(_second(arguments))
    if isinstance(first, list):
        return v.codepoints(first)
    if coding in ("base64", "base64url"):
        return v.decoded(first, v.base64)
    if coding == "hex":
        return v.decoded(first, v.hexadecimal)
    return text_of(first) if isinstance(first, Data) else unknown(first)


def _json(_state: State, arguments: list[Value]) -> Value:
    first = _first(arguments)
    return Data(
        UNKNOWN,
        labels_of(first) | (_ENVIRONMENT if isinstance(first, Reference) and first.name.endswith("env") else NO_LABELS),
    )


def _path_join(_state: State, arguments: list[Value]) -> Value:
    path = Data()
    for argument in _plain(arguments):
        for part in argument if isinstance(argument, list) else [argument]:
            piece = text_of(part)
            path = (
                concat(concat(path, Data("/")), piece)
                if path.text and not path.text.endswith("/")
                else concat(path, piece)
            )
    return path


def _home(_state: State, _arguments: list[Value]) -> Value:
    return Data("~")


def _reduce_string(_state: State, arguments: list[Value]) -> Value:
    """Perl's `reverse`: of a list when there are several, of a text else."""
    if len(arguments) == 1:
        text = known(arguments[0])
        return Data(text[::-1], labels_of(arguments[0])) if text is not None else unknown(*arguments)
    return arguments[::-1]


def _perl_join(_state: State, arguments: list[Value]) -> Value:
    separator = known(_first(arguments))
    return join(arguments[1:], separator) if separator is not None else unknown(*arguments)


def _perl_split(_state: State, arguments: list[Value]) -> Value:
    text = _second(arguments)
    return split(text, _first(arguments)) if len(arguments) > 1 else [unknown(*arguments)]


def _implode(_state: State, arguments: list[Value]) -> Value:
    items = next((argument for argument in arguments if isinstance(argument, (list, dict))), None)
    separator = next((known(argument) for argument in arguments if isinstance(argument, Data)), "")
    if items is None or separator is None:
        return unknown(*arguments)
    return join(items.values() if isinstance(items, dict) else items, separator)


def _explode(_state: State, arguments: list[Value]) -> Value:
    return split(_second(arguments), _first(arguments))


def _sprintf(_state: State, arguments: list[Value]) -> Value:
    return v.formatted(_first(arguments), arguments[1:])


def _perl_pack(_state: State, arguments: list[Value]) -> Value:
    template = known(_first(arguments))
    return v.pack(template, arguments[1:]) if template is not None else Data(UNKNOWN, frozenset((DECODED,)))


def _perl_unpack(_state: State, arguments: list[Value]) -> Value:
    template = known(_first(arguments))
    if template is None or len(arguments) < 2:
        return Data(UNKNOWN, frozenset((DECODED,)))
    found = v.unpack(template, arguments[1])
    return found[0] if len(found) == 1 else found


def _characters(_state: State, arguments: list[Value]) -> Value:
    return v.codepoints(arguments)


def _array_map(state: State, arguments: list[Value]) -> Value:
    function, items = _first(arguments), _second(arguments)
    if not isinstance(items, list):
        return unknown(*arguments)
    return [state.call(function, [item]) for item in items[:500]]


def _call_function(state: State, arguments: list[Value]) -> Value:
    return state.call(_first(arguments), arguments[1:])


def _call_with_list(state: State, arguments: list[Value]) -> Value:
    items = _second(arguments)
    return state.call(_first(arguments), items if isinstance(items, list) else [unknown(items)])


def _str_replace(_state: State, arguments: list[Value]) -> Value:
    texts = [known(argument) for argument in arguments[:3]]
    if len(texts) < 3 or texts[0] is None or texts[1] is None or texts[2] is None:
        return unknown(*arguments)
    return Data(texts[2].replace(texts[0], texts[1]), labels_of(arguments[2]))


def _strtr(_state: State, arguments: list[Value]) -> Value:
    texts = [known(argument) for argument in arguments[:3]]
    if len(texts) < 3 or texts[0] is None or texts[1] is None or texts[2] is None:
        return unknown(*arguments)
    return Data(
        texts[0].translate({ord(a): b for a, b in zip(texts[1], texts[2], strict=False)}), labels_of(arguments[0])
    )


def _preg_replace(state: State, arguments: list[Value], _function: Reference) -> Value:
    pattern = known(_first(arguments)) or ""
    if pattern and not pattern[0].isalnum() and "e" in pattern[pattern.rfind(pattern[0]) + 1 :]:
        state.code(_second(arguments))
    return unknown(*arguments)


def _inflated(window: int) -> Handler:
    return _decode(lambda text: v.inflate(text, window))


def _integer(_state: State, arguments: list[Value]) -> Value:
    return integer(_first(arguments), whole(_second(arguments)) if len(arguments) > 1 else None)


def _base_integer(base: int) -> Handler:
    return _fold(lambda _state, arguments: integer(_first(arguments), base))


def _filled_array(_state: State, arguments: list[Value]) -> Value:
    many = whole(_first(arguments)) if len(arguments) == 1 else None
    if many is not None and not isinstance(arguments[0], Data):
        return [None] * max(0, min(many, 500))
    return list(arguments)


def _array_from(state: State, arguments: list[Value]) -> Value:
    first = _first(arguments)
    items: Value = first
    if isinstance(first, Data):
        items = split(first, Data())
    elif isinstance(first, dict):
        many = whole(first.get("length"))
        items = [None] * max(0, min(many, 500)) if many is not None else unknown(first)
    if len(arguments) > 1 and isinstance(items, list):
        return [state.call(arguments[1], [item, at]) for at, item in enumerate(items[:500])]
    return items


def _print(state: State, arguments: list[Value], function: Reference) -> Value:
    name = function.name.rpartition(".")[2]
    end = Data("" if name in ("write", "print", "printf", "cat", "concat") else "\n")
    if name == "printf":
        state.echo(v.formatted(_first(arguments), arguments[1:]))
    elif name in ("log", "info", "debug") and len(arguments) > 1 and "%" in (template := text_of(arguments[0]).text):
        # What the template does not take follows it.
        taken = 1 + template.count("%") - 2 * template.count("%%")
        state.echo(join([v.formatted(arguments[0], arguments[1:taken]), *map(text_of, arguments[taken:])], " "), end)
    elif name in ("puts", "p"):
        for argument in arguments:
            for item in argument if isinstance(argument, list) else [argument]:
                text = text_of(item)
                state.echo(text, *([] if text.text.endswith("\n") else [end]))
    else:
        state.echo(
            join(
                [text_of(a) for a in arguments if not isinstance(a, Closure)],
                " " if state.language == "node" else "\t" if name == "print" and state.language == "lua" else "",
            )
        )
        if name == "print" and state.language in ("lua", "r"):
            end = Data("\n")
        if end.text:
            state.echo(end)
    return unknown() if name != "print" else 1


def _define(state: State, arguments: list[Value]) -> Value:
    name = known(_first(arguments))
    if name:
        state.variables[name] = _second(arguments)
    return True


def _environment(_state: State, arguments: list[Value]) -> Value:
    name = known(_first(arguments)) if arguments else None
    if name == "HOME":
        return Data("~")
    return Data(UNKNOWN, variable_labels(name or "") if arguments else _ENVIRONMENT)


def _stdin(state: State, _arguments: list[Value]) -> Value:
    return state.input()


def _stdin_line(state: State, _arguments: list[Value]) -> Value:
    return state.line()


def _stdin_lines(state: State, arguments: list[Value]) -> Value:
    lines = state.lines()
    return state.method(lines, "each", arguments) if arguments and isinstance(lines, list) else lines


def _unknown(_state: State, arguments: list[Value]) -> Value:
    return unknown(*arguments)


def _table(entries: list[tuple[str, Handler]]) -> dict[str, Handler]:
    return {name: handler for names, handler in entries for name in names.split()}


def _member_of(owner: str) -> Handler:
    """`X.get(target, name)`: a member by its name."""
    del owner

    def folded(state: State, arguments: list[Value], _function: Reference) -> Value:
        return state.index(_first(arguments), _second(arguments))

    return folded


def _glob(_state: State, arguments: list[Value]) -> Value:
    text = known(_first(arguments))
    return [Data(part) for part in text.split()] if text else unknown(*arguments)


def _perl_ord(_state: State, arguments: list[Value]) -> Value:
    text = known(_first(arguments))
    return ord(text[0]) if text else unknown(*arguments)


def _php_popen(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.shell(_first(arguments))
    return Reference("process()", labels_of(_first(arguments)), [_first(arguments)])


def _vim_job(state: State, arguments: list[Value], _function: Reference) -> Value:
    first = _first(arguments)
    return state.program(first) if isinstance(first, list) else state.shell(first)


def _vim_delete(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.effect("delete", _first(arguments), recursive="r" in (known(_second(arguments)) or ""))
    return unknown()


def _vim_write(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.write(_second(arguments), text_of(_first(arguments)))
    return unknown()


def _vim_code(state: State, arguments: list[Value], _function: Reference) -> Value:
    state.found.codes.append(("vim", text_of(_first(arguments))))
    return unknown()


def calls_of(language: str) -> dict[str, Handler]:
    """What the functions of ``language`` do, by their names."""
    from importlib import import_module

    table: dict[str, Handler] = getattr(import_module(f"{__package__}.calls_{language}"), language.upper())
    return table
