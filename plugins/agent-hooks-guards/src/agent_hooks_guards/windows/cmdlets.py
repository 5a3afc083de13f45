"""What the cmdlets of PowerShell do to files, to the network and to code."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import as_login

from .powershell_names import LISTING
from .powershell_values import Block, Deep, Object, Parameter, known, labels_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.actions import Command

    from .cmd import CmdWalk
    from .powershell import Walk
    from .powershell_values import Value

_NETWORK = frozenset((NETWORK,))


def _texts(value: Value) -> list[Data]:
    if isinstance(value, list):
        return [text_of(item) for item in value[:200]]
    return [] if value is None or value is True else [text_of(value)]


def _paths(given: dict[str, Value], free: list[Value], stdin: Value, name: str = "path") -> list[Data]:
    """What a cmdlet works on: its parameter, its first free word, or what is piped to it."""
    for key in (name, "literalpath", "filepath"):
        if key in given and given[key] is not True:
            return _texts(given[key])
    if free:
        return _texts(free[0])
    return _texts(stdin)


def _is_trial(given: dict[str, Value]) -> bool:
    return given.get("whatif") is not None and given.get("whatif") is not False


def _remove(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    if _is_trial(given):
        return None
    for path in _paths(given, free, stdin):
        recursive = "recurse" in given or isinstance(path, Deep)
        walk.add("delete", path.text or UNKNOWN, command, recursive=recursive)
    return None


def _clear(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    if not _is_trial(given):
        for path in _paths(given, free, stdin):
            walk.add("write", path.text, command)
    return None


def _set_content(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    if _is_trial(given):
        return None
    content = given.get(
        "value", given.get("inputobject", free[1] if len(free) > 1 and cmdlet.endswith("content") else stdin)
    )
    append = cmdlet == "add-content" or "append" in given
    for path in _paths(given, free, None):
        walk.add("write", path.text, command, append=append, labels=labels_of(content))
        walk.keep(path.text, text_of(content))
    return stdin if cmdlet == "tee-object" else None


def _get_content(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    labels = NO_LABELS
    for path in _paths(given, free, stdin):
        walk.add("read", path.text, command)
        written = walk.kept(path.text)
        if written is not None:
            return written
        labels |= {"file:" + walk.absolute(path.text)}
    return Data(UNKNOWN, labels)


def _copy(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    if _is_trial(given):
        return None
    targets = _texts(
        given.get(
            "destination",
            given.get("newname", free[1] if len(free) > 1 else free[0] if free and "path" in given else None),
        )
    )
    for path in _paths(given, free, stdin):
        walk.add("delete" if cmdlet != "copy-item" else "read", path.text, command)
        for target in targets:
            walk.add("write", target.text, command, labels=walk.file_labels(path.text))
            walk.keep(target.text, walk.kept(path.text) or Data(UNKNOWN))
    return None


def _new_item(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, free, command = walk.bound(cmdlet, words)
    kind = (known(given.get("itemtype")) or "").lower()
    if (words and text_of(words[0]).text.lower() in ("md", "mkdir")) or kind.startswith(("dir", "d")):
        return None
    for path in _paths(given, free, None):
        walk.add("write", path.text, command, labels=labels_of(given.get("value")))
        walk.keep(path.text, text_of(given.get("value")))
    return None


def _list(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    """What is listed: names below the folders, for the next of the pipeline."""
    given, free, _command = walk.bound(cmdlet, words)
    if cmdlet not in ("get-childitem", "get-item"):
        for block in (*free, *given.values()):
            if isinstance(block, Block):
                walk.variables["_"] = stdin
                walk.run(block.text)
        return stdin
    paths = _paths(given, free, None) or [Data(".")]
    if any(path.text.lower() in ("env:", "env:*", "env:\\*") for path in paths):
        return Data(UNKNOWN, frozenset((ENVIRONMENT,)))
    if cmdlet == "get-item":
        return [Data(path.text) for path in paths]
    recursive = "recurse" in given
    names = given.get("filter", given.get("include", Data("*")))
    patterns = [known(name) or UNKNOWN for name in (names if isinstance(names, list) else [names])]
    out: list[Value] = []
    for path in paths:
        text = path.text.rstrip("\\/")
        if "*" in text and not recursive:
            out.append(Data(text))
            continue
        for pattern in patterns:
            below = text + ("\\" if "\\" in path.text or ":" in path.text else "/") + pattern
            out.append(Deep(below) if recursive else Data(below))
    return out


def _web(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, command = walk.bound(cmdlet, words)
    address = text_of(given.get("uri", free[0] if free else stdin))
    method = (known(given.get("method")) or "GET").upper()
    labels = (
        labels_of(given.get("body"))
        | as_login(labels_of(given.get("headers")))
        | labels_of(given.get("form"))
        | (address.labels - _NETWORK)
    )
    for name in _texts(given.get("infile")):
        walk.add("read", name.text, command)
        labels |= {"file:" + walk.absolute(name.text)}
    sends = (
        method in ("POST", "PUT", "PATCH", "DELETE")
        or "body" in given
        or "infile" in given
        or "form" in given
        or bool(labels)
    )
    walk.add(
        "send" if sends else "receive", address.text, command, labels=labels if sends else NO_LABELS, method=method
    )
    for proxy in _texts(given.get("proxy")):
        walk.add("receive", proxy.text, command)
    for target in _texts(given.get("outfile")):
        walk.add("write", target.text, command, labels=_NETWORK)
        walk.keep(target.text, Data(UNKNOWN, _NETWORK))
    return Data(UNKNOWN, _NETWORK)


def _transfer(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, free, command = walk.bound(cmdlet, words)
    source = text_of(given.get("source", free[0] if free else None))
    target = text_of(given.get("destination", free[1] if len(free) > 1 else None))
    walk.add("receive", source.text, command)
    if target.text:
        walk.add("write", target.text, command, labels=_NETWORK)
        walk.keep(target.text, Data(UNKNOWN, _NETWORK))
    return None


def _expression(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, _command = walk.bound(cmdlet, words)
    code = given.get("command", free[0] if free else stdin)
    if isinstance(code, list):
        code = Data("\n".join(text_of(item).text for item in code), labels_of(code))
    return walk.code(code)


def _process(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, free, command = walk.bound(cmdlet, words)
    path = given.get("filepath", free[0] if free else None)
    rest = given.get("argumentlist", free[1] if len(free) > 1 else None)
    if path is None:
        return None
    arguments: list[Value] = []
    for item in rest if isinstance(rest, list) else [rest]:
        if isinstance(item, Data):
            arguments.extend(_split(item))
    name = text_of(path)
    before = len(walk.commands)
    if walk.depth < 20:
        walk.depth += 1
        walk.call([Data(name.text, name.labels), *arguments], None, piped=False)
        walk.depth -= 1
    if (known(given.get("verb")) or "").lower() == "runas":
        for inner in walk.commands[before:]:
            inner.root = True
            inner.via = (*inner.via, "start-process -verb runas")
    if "://" in name.text:
        walk.add("run", name.text, command, labels=_NETWORK)
    return None


def _split(item: Data) -> list[Value]:
    """The words of one text of arguments."""
    out: list[Value] = []
    word = ""
    quote = ""
    for char in item.text:
        if quote:
            if char == quote:
                quote = ""
            else:
                word += char
        elif char in "\"'":
            quote = char
        elif char.isspace():
            if word:
                out.append(_word(word, item.labels))
            word = ""
        else:
            word += char
    if word:
        out.append(_word(word, item.labels))
    return out


def _word(text: str, labels: frozenset[str]) -> Data:
    return Parameter(text, labels) if text[:1] == "-" and text[1:2].isalpha() else Data(text, labels)


def _blocks(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    """`foreach-object`, `invoke-command`, `start-job`: blocks that are run."""
    given, free, command = walk.bound(cmdlet, words)
    value: Value = None
    remote = cmdlet == "invoke-command" and any(name in given for name in ("computername", "session", "hostname"))
    before = len(walk.commands)
    arguments = given.get("argumentlist")
    if arguments is not None:
        walk.variables["args"] = arguments if isinstance(arguments, list) else [arguments]
    ran = False
    for block in (*given.values(), *free):
        if isinstance(block, Block):
            ran = True
            items = stdin if isinstance(stdin, list) and cmdlet == "foreach-object" else [stdin]
            results: list[Value] = []
            for item in items[:100]:
                walk.variables["_"] = item
                results.append(walk.run(block.text))
            value = results if len(results) > 1 else results[0] if results else None
    if remote:
        for inner in walk.commands[before:]:
            inner.host = "remote"
    name = known(given.get("membername", free[0] if free and not ran else None))
    if not ran and name and cmdlet == "foreach-object":
        from .dotnet import call_member

        for item in stdin if isinstance(stdin, list) else [stdin]:
            call_member(walk, Object("fileinfo", values=[item]), name.lower(), [])
    for path in _texts(given.get("filepath")):
        walk.add("run", path.text, command, labels=walk.file_labels(path.text))
    return value


def _location(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, _command = walk.bound(cmdlet, words)
    for path in _paths(given, free, stdin)[:1]:
        walk.cwd = walk.absolute(path.text) if path.text else walk.cwd
    return None


def _alias(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, free, _command = walk.bound(cmdlet, words)
    name = known(given.get("name", free[0] if free else None))
    value = known(given.get("value", free[1] if len(free) > 1 else free[0] if free and "name" in given else None))
    if name and value and name.lower() != value.lower():
        walk.aliases[name.lower()] = value
    return None


def _set_variable(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    given, free, _command = walk.bound(cmdlet, words)
    name = known(given.get("name", free[0] if free else None))
    if name:
        walk.variables[name.lower()] = given.get("value", free[1] if len(free) > 1 else stdin)
    return None


def _output(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    _given, free, _command = walk.bound(cmdlet, words)
    return free[0] if len(free) == 1 else list(free) if free else stdin


def _new_object(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, free, _command = walk.bound(cmdlet, words)
    free = [
        *free,
        *(
            value
            for name, value in given.items()
            if name in ("typename", "comobject", "argumentlist") and value is not True
        ),
    ]
    name = known(free[0] if free else None)
    return Object((name or UNKNOWN).lower().removeprefix("system."), NO_LABELS, list(free[1:]))


def _powershell(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    """PowerShell inside of PowerShell."""
    walk.command(cmdlet, words, stdin)
    at = 1
    while at < len(words):
        word = words[at]
        at += 1
        if isinstance(word, Block):
            return walk.run(word.text)
        text = text_of(word).text
        name = text.lower().lstrip("-/")
        if not text.startswith(("-", "/")):
            return walk.code(
                Data(" ".join(text_of(item).text for item in words[at - 1 :]), labels_of(list(words[at - 1 :])))
            )
        if (name and "encodedcommand".startswith(name)) or name in ("ec", "enc"):
            return walk.code(decode_command(text_of(words[at]) if at < len(words) else Data()))
        if name and "command".startswith(name):
            rest = words[at:]
            if len(rest) == 1 and isinstance(rest[0], Block):
                return walk.run(rest[0].text)
            data = Data(" ".join(text_of(item).text for item in rest), labels_of(list(rest)))
            return walk.code(stdin if data.text == "-" else data)
        if name and "file".startswith(name):
            path = text_of(words[at]) if at < len(words) else Data()
            if path.text == "-":
                return walk.code(stdin)
            labels = walk.file_labels(path.text)
            if labels:
                walk.add("run", path.text, walk.commands[-1], labels=labels)
            return None
        if (
            any(
                full.startswith(name)
                for full in (
                    "executionpolicy",
                    "windowstyle",
                    "version",
                    "workingdirectory",
                    "inputformat",
                    "outputformat",
                    "ep",
                    "configurationname",
                )
            )
            and name
        ):
            at += 1
    if stdin is not None:
        return walk.code(stdin)
    return None


def decode_command(data: Data) -> Data:
    """What `-EncodedCommand` holds: base64 of UTF-16."""
    import base64

    try:
        return Data(base64.b64decode("".join(data.text.split()), validate=True).decode("utf-16-le"), data.labels)
    except ValueError:
        return Data(UNKNOWN, data.labels)


def _cmd(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    walk.command(cmdlet, words, stdin)
    texts = [text_of(word) for word in words[1:]]
    for at, text in enumerate(texts):
        if text.text.lower()[:2] in ("/c", "/k", "/r"):
            from .cmd import analyse_cmd

            code = " ".join([text.text[2:], *(item.text for item in texts[at + 1 :])]).strip()
            if not code.replace(UNKNOWN, "").strip():
                walk.doubt("unknown-code", walk.fragment)
            elif walk.depth < 20:
                commands, effects, doubts = analyse_cmd(code, walk.cwd, walk.home, walk.depth + 1)
                walk.commands += commands
                walk.effects += effects
                walk.doubts += doubts
            break
    return Data(UNKNOWN)


def _download_tool(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    """Windows' programs that fetch, or run what an address gives."""
    run_downloaded(walk, walk.command(cmdlet, words, stdin))
    return None


def run_downloaded(walk: Walk | CmdWalk, command: Command) -> None:
    """Tell the effects of Windows' own programs that fetch, decode, or run what an address gives."""
    words = command.argv[1:]
    names = [word.lower().lstrip("-/") for word in words]
    addresses = [word for word in words if "://" in word]
    if command.program in ("certutil", "bitsadmin"):
        plain = [word for word in words if not word.startswith(("-", "/")) and "://" not in word]
        if addresses and (
            command.program == "bitsadmin" or any("urlcache" in name or name == "verifyctl" for name in names)
        ):
            walk.add("receive", addresses[0], command)
            _keep(walk, plain, command, _NETWORK)
        elif command.program == "certutil" and ("decode" in names or "decodehex" in names):
            _keep(walk, plain, command, frozenset((DECODED,)))
    elif command.program in _RUNNING:
        for word in addresses:
            scheme = word.partition("://")[0].rpartition(":")[2].rpartition("=")[2]
            walk.add("run", scheme + "://" + word.partition("://")[2], command, labels=_NETWORK)
        for word in words:
            name = word.partition(":")[2] if word.lower().startswith("/i:") else word
            data = walk.kept(name) if not name.startswith(("-", "/")) and "://" not in name else None
            if data is not None:
                walk.add("run", name, command, labels=data.labels)
            elif name.startswith("\\\\"):
                walk.add("run", name, command, labels=_NETWORK)
        if command.program == "mshta" and any(name.startswith(("javascript:", "vbscript:")) for name in names):
            walk.add("run", "", command)


def _keep(walk: Walk | CmdWalk, plain: list[str], command: Command, labels: frozenset[str]) -> None:
    """The last plain word is the file that is written."""
    if plain:
        walk.add("write", plain[-1], command, labels=labels)
        walk.keep(plain[-1], Data(UNKNOWN, labels))


_RUNNING = frozenset("mshta regsvr32 rundll32 msiexec wscript cscript installutil explorer hh odbcconf".split())


def _mail(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    del stdin
    given, _free, command = walk.bound(cmdlet, words)
    labels = labels_of(given.get("body"))
    for path in _texts(given.get("attachments")):
        walk.add("read", path.text, command)
        labels |= {"file:" + walk.absolute(path.text)}
    walk.add("send", text_of(given.get("to")).text, command, labels=labels)
    return None


def _get_command(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    """`& (Get-Command iex)`: the name of what is found."""
    del stdin
    _given, free, _command = walk.bound(cmdlet, words)
    name = known(free[0] if free else None)
    return Data(name if name is not None and "*" not in name and "?" not in name else UNKNOWN)


def _bound_only(walk: Walk, cmdlet: str, words: list[Value], stdin: Value) -> Value:
    walk.bound(cmdlet, words)
    return Data(UNKNOWN, labels_of(stdin))


HANDLERS: dict[str, Callable[[Walk, str, list[Value], Value], Value]] = {
    "remove-item": _remove,
    "clear-content": _clear,
    "clear-item": _clear,
    "set-content": _set_content,
    "add-content": _set_content,
    "out-file": _set_content,
    "tee-object": _set_content,
    "get-content": _get_content,
    "copy-item": _copy,
    "move-item": _copy,
    "rename-item": _copy,
    "new-item": _new_item,
    **dict.fromkeys(LISTING, _list),
    "invoke-webrequest": _web,
    "invoke-restmethod": _web,
    "start-bitstransfer": _transfer,
    "invoke-expression": _expression,
    "start-process": _process,
    "invoke-item": _process,
    "foreach-object": _blocks,
    "invoke-command": _blocks,
    "start-job": _blocks,
    "start-threadjob": _blocks,
    "measure-command": _blocks,
    "set-location": _location,
    "push-location": _location,
    "set-alias": _alias,
    "new-alias": _alias,
    "set-variable": _set_variable,
    "new-variable": _set_variable,
    "write-output": _output,
    "write-host": _bound_only,
    "new-object": _new_object,
    "get-command": _get_command,
    "get-alias": _get_command,
    "powershell": _powershell,
    "pwsh": _powershell,
    "cmd": _cmd,
    **dict.fromkeys(("certutil", "bitsadmin", *_RUNNING), _download_tool),
    "send-mailmessage": _mail,
    **dict.fromkeys("format-volume clear-disk stop-process set-itemproperty remove-itemproperty".split(), _bound_only),
}
