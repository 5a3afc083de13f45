"""What the methods of .NET do that PowerShell commands call, and what they make of known values."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.programs.credentials import variable_labels

from .powershell_values import Block, Object, add, joined, known, labels_of, number, replaced, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .powershell import Walk
    from .powershell_values import Value

_NETWORK = frozenset((NETWORK,))
_DECODED = frozenset((DECODED,))


def call_member(walk: Walk, owner: Value, name: str, arguments: list[Value] | None) -> Value:
    """`owner.name` or `owner.name(arguments)`; ``name`` in lower case, ``arguments`` None for a property."""
    given = arguments if arguments is not None else []
    if isinstance(owner, Object):
        return _of_object(walk, owner, name, given, is_call=arguments is not None)
    if isinstance(owner, Block):
        if name in ("invoke", "invokereturnasis"):
            return walk.run(owner.text)
        return owner
    if isinstance(owner, dict):
        return owner.get(name, Data(UNKNOWN))
    if owner is None or (isinstance(owner, Data) and owner.text == UNKNOWN):
        if name in ("delete", "kill", "invoke") and name == "delete":
            walk.add("delete", text_of(owner).text, _command(walk, "remove-item"))
        return Data(UNKNOWN, labels_of(owner))
    return _of_text(owner, name, given)


def _command(walk: Walk, program: str) -> Command:
    return Command(program, [program], cwd=walk.cwd, fragment=walk.fragment, via=("powershell",))


def _of_text(owner: Value, name: str, given: list[Value]) -> Value:
    """A method of a text or a list."""
    text: str | None
    if name in ("tostring", "trim", "tolower", "toupper", "trimend", "trimstart", "invariantculture"):
        data = text_of(owner)
        text = data.text
        changed = {"tolower": text.lower(), "toupper": text.upper(), "tostring": text}.get(name, text.strip())
        return Data(changed, data.labels)
    if name == "replace" and len(given) > 1:
        text, old, new = known(owner), known(given[0]), known(given[1])
        if text is None or not old or new is None:
            return replaced(owner, given[0], given[1])
        return Data(text.replace(old, new), labels_of(owner))
    if name == "tochararray":
        text = known(owner)
        return [Data(char) for char in text[:5000]] if text is not None else Data(UNKNOWN, labels_of(owner))
    if name == "substring":
        text = known(owner)
        numbers = [number(value) for value in given[:2]]
        if text is None or None in numbers or not numbers:
            return Data(UNKNOWN, labels_of(owner))
        start = numbers[0] or 0
        return Data(text[start : start + (numbers[1] or 0)] if len(numbers) > 1 else text[start:], labels_of(owner))
    if name == "split" and given:
        text, mark = known(owner), known(given[0])
        if text is not None and mark:
            return [Data(part) for part in text.split(mark)]
    if name == "insert" and len(given) > 1:
        text, at = known(owner), number(given[0])
        if text is not None and at is not None:
            return Data(text[:at] + text_of(given[1]).text + text[at:], labels_of(owner))
    if name == "length" and known(owner) is not None and not isinstance(owner, list):
        return len(known(owner) or "")
    if name in ("length", "count") and isinstance(owner, list):
        return len(owner)
    if name in ("invoke", "value", "name", "content", "rawcontent", "fullname", "definition", "path"):
        return owner
    if name == "padleft":
        return owner
    return Data(UNKNOWN, labels_of(owner))


def _of_object(walk: Walk, owner: Object, name: str, given: list[Value], *, is_call: bool) -> Value:
    kind = owner.name.rpartition(".")[2]
    first = given[0] if given else None
    if name in ("new", "create") and kind not in {"scriptblock", "webrequest"}:
        return Object(owner.name, owner.labels, given)
    if kind == "convert":
        return _convert(name, first)
    if kind == "encoding" or "encoding" in kind:
        if name == "getstring":
            return _bytes_text(first, utf16=any("unicode" in str(value) for value in owner.values))
        if name == "getbytes":
            return first
        return Object("text.encoding", owner.labels, [*owner.values, name])
    if kind == "string":
        if name == "join" and given:
            items = given[1] if len(given) == 2 and isinstance(given[1], list) else given[1:]
            return joined(list(items), known(first) or "")
        if name == "concat":
            value: Value = Data("")
            for item in given:
                value = add(value, text_of(item))
            return value
        if name == "format":
            from .powershell_values import formatted

            return formatted(first, given[1:])
        return first
    if kind == "array" and name == "reverse":
        if isinstance(first, list):
            first.reverse()
        return first
    if kind in ("file", "directory", "fileinfo", "directoryinfo", "filesystem", "path"):
        return _files(walk, owner, kind, name, given, is_call=is_call)
    if (
        kind in ("webclient", "httpclient", "webrequest", "xmlhttp", "winhttprequest", "serverxmlhttp")
        or "xmlhttp" in owner.name
        or "winhttp" in owner.name
    ):
        return _web(walk, owner, name, given)
    if kind in ("scriptblock", "powershell"):
        if name == "create":
            return (
                Block(text_of(first).text)
                if kind == "scriptblock" and known(first) is not None
                else first
                if kind == "scriptblock"
                else owner
            )
        if name == "addscript":
            walk.code(first)
            return owner
        return owner
    if kind == "process" and name == "start":
        words = [Data(part) for part in text_of(given[1]).text.split()] if len(given) > 1 else []
        if first is not None:
            walk.call([text_of(first), *words], None, piped=False)
        return Data(UNKNOWN)
    if "wscript.shell" in owner.name or "shell.application" in owner.name:
        if name in ("run", "exec", "shellexecute") and first is not None:
            from .cmd import analyse_cmd

            if known(first) is None:
                walk.doubt("unknown-code", walk.fragment)
                return Data(UNKNOWN)
            text = " ".join(text_of(item).text for item in (given if name == "shellexecute" else given[:1]))
            commands, effects, doubts = analyse_cmd(text, walk.cwd, walk.home, walk.depth + 1)
            walk.commands += commands
            walk.effects += effects
            walk.doubts += doubts
        return Data(UNKNOWN)
    if kind == "environment":
        if name == "getfolderpath":
            return Data("~" if (known(first) or "").lower() in ("userprofile", "mydocuments", "personal") else UNKNOWN)
        if name == "getenvironmentvariables":
            return Data(UNKNOWN, frozenset((ENVIRONMENT,)))
        return Data(UNKNOWN, variable_labels((known(first) or "").upper()))
    if kind == "regex" and name in ("unescape", "escape"):
        return first
    if kind == "char" and name == "convertfromutf32":
        code = number(first)
        return Data(chr(code)) if code is not None and 0 <= code < 0x110000 else Data(UNKNOWN)
    if kind in ("tcpclient", "socket"):
        if (is_call and name == "connect") or (name == "getstream" and owner.values):
            host = owner.values or given
            walk.add("receive", ":".join(text_of(item).text for item in host[:2]), _command(walk, "tcpclient"))
        return Object("stream", _NETWORK)
    if kind in ("streamreader", "gzipstream", "deflatestream", "memorystream", "stringreader", "streamwriter"):
        labels = NO_LABELS.union(*(labels_of(value) for value in owner.values)) if owner.values else owner.labels
        return (
            Data(UNKNOWN, labels | (_DECODED if "flate" in kind or "gzip" in kind else NO_LABELS))
            if name.startswith("read")
            else Object(owner.name, labels, owner.values)
        )
    if kind == "assembly" and name in ("load", "loadfrom", "loadfile", "unsafeloadfrom"):
        labels = labels_of(first)
        if labels or known(first) is None:
            walk.add(
                "run", "", _command(walk, "assembly.load"), labels=labels | (_DECODED if not labels else NO_LABELS)
            )
        return Object("assembly", labels)
    if kind == "marshal":
        return first
    return (
        Object(owner.name, owner.labels | labels_of(list(given)), owner.values)
        if not is_call
        else Data(UNKNOWN, owner.labels | labels_of(list(given)))
    )


def _convert(name: str, value: Value) -> Value:
    if name == "frombase64string":
        import base64

        text = known(value)
        if text is None:
            return Data(UNKNOWN, labels_of(value) | _DECODED)
        try:
            return Object("bytes", labels_of(value), [base64.b64decode(text)])
        except ValueError:
            return Data(UNKNOWN, labels_of(value) | _DECODED)
    if name in ("toint32", "tobyte", "toint16", "toint64"):
        exact = number(value)
        return exact if exact is not None else Data(UNKNOWN)
    if name == "tochar":
        code = number(value)
        return Data(chr(code)) if code is not None and 0 <= code < 0x110000 else Data(UNKNOWN)
    return value if name == "tostring" else Data(UNKNOWN, labels_of(value))


def _bytes_text(value: Value, *, utf16: bool) -> Data:
    if isinstance(value, Object) and value.values and isinstance(value.values[0], bytes):
        data = value.values[0]
        try:
            return Data(
                data.decode("utf-16-le" if utf16 or (len(data) > 3 and data[1] == 0 and data[3] == 0) else "utf-8"),
                value.labels,
            )
        except UnicodeDecodeError:
            return Data(data.decode("latin-1"), value.labels)
    if isinstance(value, list):
        codes = [number(item) for item in value[:20_000]]
        if None not in codes:
            return Data(
                "".join(
                    chr(code) for code in codes if code is not None and 0 <= code < 0x110000 and (code or not utf16)
                )
            )
    if isinstance(value, Data):
        return value
    return Data(UNKNOWN, labels_of(value) | _DECODED)


def _files(walk: Walk, owner: Object, kind: str, name: str, given: list[Value], *, is_call: bool) -> Value:
    path = text_of(
        given[0]
        if kind in ("file", "directory", "filesystem", "path") and given
        else owner.values[0]
        if owner.values
        else None
    )
    command = _command(walk, f"{kind}.{name}")
    if kind == "path":
        if name == "combine":
            return Data("\\".join(text_of(item).text.rstrip("\\/") for item in given), labels_of(list(given)))
        return Data("~\\AppData\\Local\\Temp\\" + UNKNOWN if "temp" in name else UNKNOWN)
    if not is_call:
        return Object(owner.name, owner.labels, owner.values)
    if name in ("delete", "deletefile", "deletedirectory", "deletefolder"):
        flags = given[1:] if kind in ("directory", "filesystem") else given if kind == "directoryinfo" else []
        walk.add("delete", path.text, command, recursive=any(flag is not None and flag is not False for flag in flags))
    elif name.startswith(("write", "append", "create", "openwrite", "setaccess")):
        if kind == "directory":
            return Data(UNKNOWN)
        content = given[1] if len(given) > 1 else None
        walk.add("write", path.text, command, append=name.startswith("append"), labels=labels_of(content))
        walk.keep(path.text, text_of(content))
    elif name.startswith(("read", "openread", "opentext")):
        walk.add("read", path.text, command)
        return walk.kept(path.text) or Data(UNKNOWN, frozenset(("file:" + walk.absolute(path.text),)))
    elif name in ("move", "copy", "moveto", "copyto", "replace"):
        target = text_of(given[1] if kind in ("file", "directory") and len(given) > 1 else given[0] if given else None)
        walk.add("delete" if name.startswith("move") else "read", path.text, command)
        walk.add("write", target.text, command)
    elif name in ("getfiles", "getdirectories", "enumeratefiles", "getfilesystementries"):
        return [Data(path.text.rstrip("\\/") + "\\*")]
    return Data(UNKNOWN)


def _web(walk: Walk, owner: Object, name: str, given: list[Value]) -> Value:
    address = text_of(given[0] if given else None)
    command = _command(walk, "webclient." + name)
    if name.startswith(("downloadfile",)):
        target = text_of(given[1] if len(given) > 1 else None)
        walk.add("receive", address.text, command)
        walk.add("write", target.text, command, labels=_NETWORK)
        walk.keep(target.text, Data(UNKNOWN, _NETWORK))
        return None
    if name.startswith(("upload", "postasync", "putasync")):
        labels = labels_of(list(given[1:]))
        if name.startswith("uploadfile"):
            path = text_of(given[-1]).text
            walk.add("read", path, command)
            labels |= {"file:" + walk.absolute(path)}
        walk.add("send", address.text, command, labels=labels, method="POST")
        return Data(UNKNOWN, _NETWORK)
    if (
        name.startswith(("download", "openread", "getstring", "getbytearray", "getasync", "getstream", "create"))
        and given
    ):
        labels = address.labels - _NETWORK
        walk.add("send" if labels else "receive", address.text, command, labels=labels)
        return Data(UNKNOWN, _NETWORK)
    if name == "open" and len(given) > 1:
        walk.add("receive", text_of(given[1]).text, command)
        return Object(owner.name, _NETWORK)
    if name in ("responsetext", "responsebody", "result", "getresponse", "getresponsestream"):
        return Data(UNKNOWN, _NETWORK)
    return Object(owner.name, owner.labels | (_NETWORK if owner.labels else NO_LABELS), owner.values)
