"""Methods of values: of texts, lists, dicts, paths, files, processes."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED, UNKNOWN

from .python_call import Call
from .python_files import contents, expanded, listed, move, opened, read_labels, written
from .python_texts import text_method
from .python_values import (
    MOST_ITEMS,
    Value,
    constant,
    is_exact,
    is_text,
    items_of,
    join_paths,
    labels_of,
    one_of,
    subscript,
    text_of,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_scope import Scope
    from .python_walk import Walk


_DECRYPTING = frozenset(("decrypt", "decompress", "decrypt_and_verify"))


def call_method(
    walk: Walk, owner: Value, method: str, arguments: list[Value], keywords: dict[str, Value], scope: Scope
) -> Value:
    """Call a method of ``owner``."""
    call = Call(walk, method, arguments, keywords, scope)
    kind = owner.kind
    if method in ("__getattribute__", "__getattr__") and arguments:
        return walk.attribute(owner, text_of(arguments[0]), scope)
    if kind == "any":
        return one_of([walk.call(walk.attribute(each, method, scope), arguments, keywords, scope) for each in owner.it])
    if kind == "name":
        return walk.call(walk.attribute(owner, method, scope), arguments, keywords, scope)
    handler = _BY_KIND.get(kind)
    if handler is not None:
        return handler(call, owner, method)
    return _unknown(call, owner, method)


def _unknown(call: Call, owner: Value, method: str) -> Value:
    walk = call.walk
    labels = labels_of(owner) | call.labels()
    if method == "exec_command" and is_text(call.value(0, "command")):
        from .python_processes import shell

        shell(walk, call.value(0, "command"))
        return unknown(labels)
    if method in ("runsource", "runcode", "run_cell") and call.arguments:
        walk.run_text(call.arguments[0], call.scope)
        return unknown()
    if method == "load_module" and is_text(call.value(0)):
        return walk.call(Value("name", "__import__"), [call.value(0)], {}, call.scope)
    walk.pass_on(method, call.arguments, call.keywords, call.scope)
    if method in _DECRYPTING:
        labels |= {DECODED}
    return unknown(labels)


def _constant(call: Call, owner: Value, method: str) -> Value:
    if is_text(owner):
        if method in ("read", "getvalue", "readline", "getbuffer"):
            return owner
        if method in ("readlines", "__iter__"):
            method = "splitlines"
        if method == "fromhex" and call.arguments:
            return call.walk.call(Value("name", "bytes.fromhex"), call.arguments, {}, call.scope)
        return text_method(owner, method, call.arguments, call.keywords)
    if isinstance(owner.it, int) and method == "to_bytes" and call.arguments:
        try:
            size, order = call.value(0, "length"), call.text(1, "byteorder", default="big")
            if isinstance(size.it, int) and size.it < 65536 and order in ("big", "little"):
                return constant(owner.it.to_bytes(size.it, "big" if order == "big" else "little"), owner.labels)
        except (OverflowError, TypeError, ValueError):
            return unknown()
    return unknown(owner.labels)


def _list(call: Call, owner: Value, method: str) -> Value:
    items: list[Value] = owner.it
    at = call.value(0)
    if len(items) < MOST_ITEMS:
        if method in ("append", "add", "appendleft", "put"):
            items.insert(0 if method == "appendleft" else len(items), at)
        elif method in ("extend", "update", "__iadd__"):
            items += items_of(at) or [unknown(labels_of(at))]
        elif method == "insert":
            items.insert(at.it if at.kind == "constant" and isinstance(at.it, int) else 0, call.value(1))
    if method == "reverse":
        items.reverse()
    elif method == "sort":
        from .python_calls import call_name

        made = call_name(call.walk, "sorted", [owner], call.keywords, call.scope)
        items[:] = made.it
    elif method in ("pop", "popleft", "get") and items:
        try:
            place = 0 if method == "popleft" else at.it if at.kind == "constant" and isinstance(at.it, int) else -1
            return items.pop(place)
        except IndexError:
            return unknown()
    elif method in ("copy", "union", "__add__"):
        return Value(owner.kind, [*items, *(items_of(at) or [] if call.arguments else [])][:MOST_ITEMS])
    elif method == "__getitem__":
        return subscript(owner, at)
    elif method in ("__iter__", "__reversed__"):
        return owner if method == "__iter__" else Value("list", items[::-1])
    elif method in ("index", "count"):
        return unknown()
    return constant(None)


def _dict(call: Call, owner: Value, method: str) -> Value:
    known: dict[object, Value] = owner.it
    key = call.value(0)
    if method in ("get", "pop", "setdefault", "__getitem__"):
        found = subscript(owner, key)
        if found.kind == "unknown" and call.given(1) is not None:
            if key.kind == "constant" and is_exact(key) and not owner.labels:
                return call.value(1)
            return one_of([found, call.value(1)])
        return found
    if method == "items":
        return Value("list", [Value("tuple", [constant(each), value]) for each, value in known.items()])
    if method == "values":
        return Value("list", list(known.values()))
    if method == "keys":
        return Value("list", [constant(each) for each in known])
    if method == "update":
        for each in call.arguments:
            if each.kind == "dict":
                known.update(each.it)
            else:
                owner.labels |= labels_of(each)
        known.update(call.keywords)
    if method == "copy":
        return Value("dict", dict(known), owner.labels)
    if method == "__setitem__" and key.kind == "constant":
        known[key.it] = call.value(1)
    return constant(None)


def _path(call: Call, owner: Value, method: str) -> Value:
    walk, text = call.walk, str(owner.it)
    if method in ("unlink", "rmdir", "rmtree", "remove"):
        walk.effect("delete", walk.path(owner), recursive=method == "rmtree")
    elif method in ("write_text", "write_bytes"):
        path = walk.path(owner)
        walk.effect("write", path)
        walk.contents.pop(path, None)
        written(walk, path, call.value(0, "data"))
    elif method in ("read_text", "read_bytes"):
        file = opened(walk, owner, "r")
        return contents(walk, file)
    elif method == "open":
        return opened(walk, owner, call.text(0, "mode", default="r"))
    elif method in ("rename", "replace", "move", "move_into"):
        move(walk, owner, call.value(0, "target"))
        return Value("path", text_of(call.value(0, "target")))
    elif method in ("copy", "copy_into"):
        return walk.call(Value("name", "shutil.copytree"), [owner, call.value(0, "target")], {}, call.scope)
    elif method in ("touch", "mkdir"):
        walk.effect("write", walk.path(owner), method="append")
    elif method in ("symlink_to", "hardlink_to", "link_to"):
        walk.effect("write", walk.path(owner))
    elif method in ("chmod", "lchmod"):
        from .python_processes import chmod

        return chmod(call, owner, call.value(0, "mode"))
    elif method in ("iterdir", "glob", "rglob"):
        return listed(text, call.text(0, "pattern", default="*"), "path")
    elif method == "walk":
        return walk.call(Value("name", "os.walk"), [owner], {}, call.scope)
    elif method == "joinpath":
        return Value("path", join_paths(text, *map(text_of, call.arguments)), owner.labels | call.labels())
    elif method == "expanduser":
        return Value("path", expanded(text), owner.labels)
    elif method in ("resolve", "absolute"):
        return Value("path", walk.path(owner) if walk.cwd else text, owner.labels)
    elif method in ("as_posix", "__str__", "__fspath__"):
        return constant(text, owner.labels)
    elif method == "with_suffix":
        stem = text.rpartition(".")[0] if "." in text.rpartition("/")[2] else text
        return Value("path", stem + call.text(0), owner.labels)
    elif method in ("with_name", "with_stem"):
        return Value(
            "path",
            join_paths(text.rpartition("/")[0], call.text(0)).lstrip("/")
            if "/" not in text
            else f"{text.rpartition('/')[0]}/{call.text(0)}",
            owner.labels,
        )
    elif method == "relative_to":
        return Value("path", UNKNOWN, owner.labels) if UNKNOWN in text else owner
    elif method == "home":
        return walk.call(Value("name", "pathlib.Path.home"), [], {}, call.scope)
    return unknown()


def _file(call: Call, owner: Value, method: str) -> Value:
    walk = call.walk
    if method in ("write", "writelines", "writestr", "write_bytes", "send"):
        value = call.value(0 if method != "writestr" else 1)
        items = items_of(value) if value.kind in ("list", "tuple", "set") else None
        if method == "write" and owner.it.endswith((".zip", ".jar", ".whl")):
            value = unknown(read_labels(walk, call.path(0)))
            walk.effect("read", call.path(0))
        for each in [value] if items is None else items[:50]:
            written(walk, owner.it, each)
        return unknown()
    if method == "add":
        path = call.path(0, "name")
        walk.effect("read", path, recursive=True)
        written(walk, owner.it, unknown(read_labels(walk, path)))
        return unknown()
    if method in ("extractall", "extract"):
        folder = call.given(0 if method == "extractall" else 1, "path")
        walk.effect(
            "write", walk.path(folder) if folder is not None else walk.cwd or ".", recursive=True, labels=owner.labels
        )
        return unknown()
    if method in ("read", "readline", "read1", "readall", "getvalue"):
        return contents(walk, owner)
    if method in ("readlines", "__iter__"):
        known = contents(walk, owner)
        return text_method(known, "splitlines", [], {}) if is_text(known) else Value("list", [unknown(owner.labels)])
    if method in ("fileno", "__enter__", "detach"):
        return owner
    if method == "truncate":
        walk.effect("write", owner.it)
    return unknown(owner.labels)


def _process(call: Call, owner: Value, method: str) -> Value:
    from .python_processes import feed

    if method in ("communicate", "sendline", "send", "write", "writelines", "send_signal") and call.arguments:
        feed(call.walk, owner, call.arguments[0])
    elif method == "communicate" and "input" in call.keywords:
        feed(call.walk, owner, call.keywords["input"])
    if method == "communicate":
        return Value("tuple", [unknown(owner.labels), unknown(owner.labels)])
    if method == "__enter__":
        return owner
    return unknown(owner.labels)


def _pipe(call: Call, owner: Value, method: str) -> Value:
    return _process(call, owner.parts, method) if method in ("write", "writelines", "send") else unknown()


def _socket(call: Call, owner: Value, method: str) -> Value:
    from .python_network import socket_method

    return socket_method(call, owner, method)


def _request(call: Call, owner: Value, method: str) -> Value:
    from .python_network import request_method

    return request_method(call, owner, method)


def _database(call: Call, owner: Value, method: str) -> Value:
    from .python_network import database_method

    return database_method(call, owner, method)


def _template(call: Call, owner: Value, method: str) -> Value:
    text = str(owner.it)
    if method not in ("substitute", "safe_substitute"):
        return unknown(owner.labels)
    known = dict(call.keywords)
    if call.arguments and call.arguments[0].kind == "dict":
        known.update((str(key), each) for key, each in call.arguments[0].it.items())
    for key, each in known.items():
        text = text.replace("${" + key + "}", text_of(each)).replace(f"${key}", text_of(each))
        if len(text) > 65536:
            return unknown()
    return constant(text.replace("$$", "$"), owner.labels | call.labels())


def _function(call: Call, owner: Value, method: str) -> Value:
    """What a decorator of a module of commands put on a function: it runs it."""
    del method
    call.walk.call(owner, call.arguments, call.keywords, call.scope)
    return unknown()


_BY_KIND: dict[str, Callable[[Call, Value, str], Value]] = {
    "constant": _constant,
    "list": _list,
    "tuple": _list,
    "set": _list,
    "dict": _dict,
    "path": _path,
    "file": _file,
    "process": _process,
    "pipe": _pipe,
    "socket": _socket,
    "request": _request,
    "database": _database,
    "redis": _database,
    "template": _template,
    "function": _function,
}
