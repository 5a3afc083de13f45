"""Attributes and items of values, as far as they lead to something that runs: modules, classes, paths."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN
from agent_hooks_guards.programs.credentials import variable_labels

from .python_names import attribute_name, guessed, module_name
from .python_values import HOME, Value, constant, is_exact, labels_of, name, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_scope import Scope
    from .python_walk import Walk

_CONSTANTS: dict[str, object] = {
    "os.sep": "/", "os.path.sep": "/", "os.linesep": "\n", "os.devnull": "/dev/null", "os.curdir": ".",
    "os.pardir": "..", "os.extsep": ".", "os.pathsep": ":", "sys.executable": "python3", "subprocess.PIPE": -1,
    "subprocess.STDOUT": -2, "subprocess.DEVNULL": -3, "asyncio.PIPE": -1, "asyncio.DEVNULL": -3,
}  # fmt: skip
# Their constants are computed with: `os.O_WRONLY | os.O_CREAT`, `string.ascii_letters[3]`, `signal.SIGKILL`.
_REAL = frozenset(("string", "signal", "stat", "errno", "os"))
_INNARDS = frozenset("__class__ __mro__ __base__ __bases__ __subclasses__ mro __subclasshook__".split())


def attribute(walk: Walk, owner: Value, attr: str, scope: Scope) -> Value:
    """Return an attribute of ``owner``."""
    kind = owner.kind
    if kind == "name":
        return _of_name(walk, owner.it, attr)
    if attr == "__call__" and kind in ("function", "method", "partial"):
        return owner
    if attr in ("__globals__", "__builtins__", "gi_frame", "f_globals", "f_builtins", "f_back"):
        return name("anything")
    if kind == "instance":
        return _of_instance(walk, owner, attr, scope)
    if kind == "class":
        member: Value | None = owner.parts.get(attr)
        if member is not None:
            return member
    if attr in _INNARDS:
        return name(f"object.{attr}")
    if kind == "path":
        return _of_path(owner, attr)
    if kind == "process":
        if attr == "stdin":
            return Value("pipe", None, parts=owner)
        if attr in ("stdout", "stderr"):
            return unknown(owner.labels)
    elif kind == "file":
        if attr == "name":
            return constant(owner.it)
        if attr in ("buffer", "file", "raw"):
            return owner
    elif kind == "partial" and attr == "func":
        return Value(owner.it.kind, owner.it.it, owner.it.labels, owner.it.parts)
    elif kind == "constant" and attr in ("real", "imag") and isinstance(owner.it, int):
        return constant(owner.it if attr == "real" else 0)
    return Value("method", attr, labels_of(owner), owner)


def _of_name(walk: Walk, owner: str, attr: str) -> Value:
    full = attribute_name(owner, "environ" if attr == "environb" else attr)
    patched = walk.patched.get(full)
    if patched is not None:
        return patched
    if attr == "__call__":
        return name(owner)
    if attr == "__dict__":
        return name(f"{owner}.__dict__")
    if attr == "__self__":
        return name(owner.rpartition(".")[0] or "builtins")
    if attr in ("__globals__", "f_globals", "f_builtins"):
        return name("anything")
    if attr == "__builtins__":
        return name("builtins")
    if attr in _INNARDS:
        return name(f"object.{attr}")
    if full in _CONSTANTS:
        return constant(_CONSTANTS[full])
    if full == "sys.argv":
        arguments = [constant(each, walk.labels) if UNKNOWN in each else constant(each) for each in walk.arguments]
        return Value("list", arguments or [unknown()])
    if owner in _REAL:
        from importlib import import_module

        found = getattr(import_module(owner), attr, None)
        if isinstance(found, (int, str)) and (owner != "os" or attr.startswith(("O_", "P_"))):
            return constant(int(found) if isinstance(found, int) else found)
    return name(full)


def _of_instance(walk: Walk, owner: Value, attr: str, scope: Scope) -> Value:
    own: Value | None = owner.parts.get(attr)
    if own is not None:
        return own
    if attr == "__class__":
        made: Value = owner.it
        return made
    if attr == "__dict__":
        return Value("dict", owner.parts)
    member: Value | None = owner.it.parts.get(attr)
    if member is not None:
        if member.kind == "property":
            return walk.call(member.it, [owner], {}, scope)
        return Value("partial", member, parts=([owner], {})) if member.kind == "function" else member
    return walk.operator(owner, "__getattr__", [constant(attr)], scope) or Value("method", attr, NO_LABELS, owner)


def _of_path(owner: Value, attr: str) -> Value:
    text: str = owner.it
    folder, slash, last = text.rstrip("/").rpartition("/")
    if attr == "path":
        return constant(text, owner.labels)
    if attr == "name":
        return constant(last, owner.labels)
    if attr == "stem":
        return constant(last.rpartition(".")[0] or last, owner.labels)
    if attr == "suffix":
        return constant(
            UNKNOWN if UNKNOWN in last else f".{last.rpartition('.')[2]}" if "." in last[1:] else "", owner.labels
        )
    if attr == "parent":
        return Value("path", folder or ("/" if slash else "." if text not in (".", "") else ".."), owner.labels)
    if attr == "parents":
        found = []
        while folder:
            found.append(Value("path", folder))
            folder = folder.rpartition("/")[0]
        return Value("list", [*found, Value("path", "/" if slash else ".")])
    if attr == "parts":
        return Value("tuple", [constant(each) for each in text.split("/")])
    return Value("method", attr, owner.labels, owner)


def variable(walk: Walk, key: Value) -> Value:
    """Return a variable of the environment."""
    text = text_of(key)
    if text in walk.environment:
        return walk.environment[text]
    if text in ("HOME", "USERPROFILE"):
        return constant(HOME)
    if text in ("PWD", "INIT_CWD"):
        return constant(".")
    if text in ("TMPDIR", "TMP", "TEMP"):
        return constant("/tmp")  # noqa: S108 - what the code would be told
    return unknown(variable_labels(text))


def item_of_name(walk: Walk, owner: str, index: Value, scope: Scope) -> Value:
    """Return an item of something that has a name."""
    key = index.it if index.kind == "constant" and isinstance(index.it, str) and is_exact(index) else None
    if owner == "os.environ":
        return variable(walk, index)
    if owner == "globals()":
        if key is None:
            return unknown()
        return scope.find(key) or walk.builtin(key)
    if owner == "anything":
        known = guessed(key) if key is not None else f"os.{UNKNOWN}"
        return name(known) if known is not None else unknown()
    if owner == "sys.modules":
        return name(module_name(key) if key is not None else UNKNOWN)
    if owner == "builtins" or owner.endswith(".__dict__"):
        owner = owner.removesuffix(".__dict__")
        return _of_name(walk, owner, key) if key is not None else name(f"{owner}.{UNKNOWN}")
    if owner in ("ctypes.cdll", "ctypes.windll", "ctypes.pydll"):
        return name("libc")
    if owner.startswith("object."):
        return name(f"object.{UNKNOWN}")
    if owner.startswith("sys.stdin"):
        return walk.read_input()
    return unknown()
