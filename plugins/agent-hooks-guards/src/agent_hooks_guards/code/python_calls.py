"""What calling a function of a module does, by its name."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

from .python_builtins import BUILTIN_CALLS
from .python_call import Call
from .python_codes import CODE_CALLS
from .python_decoders import DECODERS
from .python_files import FILES, PATHS
from .python_names import BUILTINS, RISKY, TAILS, is_foreign
from .python_network import CLIENTS, NETWORK_CALLS, http
from .python_processes import PROCESSES, sh
from .python_values import Value, labels_of, name, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_scope import Scope
    from .python_walk import Walk

CALLS: dict[str, Callable[[Call], Value]] = {
    **BUILTIN_CALLS,
    **CODE_CALLS,
    **DECODERS,
    **PATHS,
    **FILES,
    **NETWORK_CALLS,
    **PROCESSES,
}
_OUTPUTS = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
# These start a process and go on.
_STARTING = frozenset(
    "subprocess.Popen os.popen multiprocessing.Process multiprocessing.context.Process threading.Thread".split()
)
# With these it is not printed what a process prints.
_CAPTURES = frozenset(
    "stdout capture_output subprocess.check_output subprocess.getoutput subprocess.getstatusoutput os.popen os.fork"
    " os.kill os.killpg os.chmod os.chown".split()
)
_CODES = frozenset("exec eval runpy.run_path execfile __import__".split())


def is_sink(dotted: str) -> bool:
    """Whether calling it does something outside of the code."""
    return (
        dotted in PROCESSES
        or dotted in FILES
        or dotted in _CODES
        or (UNKNOWN in dotted and dotted.partition(".")[0] in RISKY)
    )


def exported(module: str, word: str) -> Value | None:
    """Return what ``from module import *`` brings by a name."""
    dotted = f"{module}.{word}" if module != "builtins" else word
    return (
        name(dotted)
        if dotted in CALLS or f"{dotted}.get" in CALLS or (module == "sh" and word not in BUILTINS)
        else None
    )


def call_name(walk: Walk, dotted: str, arguments: list[Value], keywords: dict[str, Value], scope: Scope) -> Value:
    """Call the function of this name."""
    call = Call(walk, dotted, arguments, keywords, scope)
    known = CALLS.get(dotted)
    if walk.hasty and dotted in _STARTING:
        walk.effect("fork", "")
    if known is not None:
        captures = dotted not in PROCESSES or not _CAPTURES.isdisjoint((dotted, *keywords))
        if not captures or (dotted in FILES and _gives_output(call)):
            walk.may_print()
        return known(call)
    owner, _, word = dotted.rpartition(".")
    first = dotted.partition(".")[0]
    if UNKNOWN in dotted:
        return _unknown(call, word)
    found: Value | None = None
    if first in CLIENTS:
        found = http(call)
    elif first == "sh":
        found = sh(call)
    if found is not None:
        return found
    if word in ("__getattribute__", "__getattr__") and arguments:
        return walk.attribute(name(owner), text_of(arguments[-1]), scope)
    if word in ("get", "__getitem__", "pop") and (
        owner.endswith((".__dict__", "globals()")) or owner in ("sys.modules", "anything")
    ):
        return walk.item(name(owner), call.value(0), scope)
    if word in ("items", "values", "keys", "copy") and owner.endswith((".__dict__", "globals()")):
        return name(owner)
    if owner in ("str", "bytes", "list", "dict", "bytearray", "pathlib.Path", "pathlib.PosixPath") and arguments:
        from .python_methods import call_method

        return call_method(walk, arguments[0], word, arguments[1:], keywords, scope)
    if first == "object":
        return name(f"object.{UNKNOWN}") if "ubclasses" in dotted or word in ("__mro__", "mro") else unknown()
    if dotted.startswith("sys.stdin"):
        return walk.read_input(word)
    if dotted.startswith("os.environ"):
        return unknown(
            labels_of(name("os.environ")) if word in ("copy", "items", "values", "__str__", "__repr__") else frozenset()
        )
    if owner.startswith(_OUTPUTS):
        if word in ("write", "writelines"):
            texts = call.items(0) if word == "writelines" else None
            for each in [call.value(0)] if texts is None else texts:
                walk.echo(each)
        return unknown()
    writes = first == "os" and arguments and not dotted.startswith("os.path.")
    if writes or is_foreign(dotted) or _gives_output(call):
        walk.may_print()
    if word in ("load_module", "exec_module", "find_module") and arguments and first != "importlib.util":
        return walk.call(name("__import__"), [arguments[0]], {}, scope)
    walk.pass_on(dotted, arguments, keywords, scope)
    return unknown(call.labels())


def _gives_output(call: Call) -> bool:
    """Whether a function is given the stream that is printed to."""
    return any(each.kind == "name" and each.it.startswith(_OUTPUTS) for each in call.arguments)


def _unknown(call: Call, word: str) -> Value:
    """Something of a module is called, and one of both is not known."""
    if word in TAILS:
        return CALLS[TAILS[word]](Call(call.walk, TAILS[word], call.arguments, call.keywords, call.scope))
    if call.name.partition(".")[0] in RISKY and UNKNOWN in word:
        call.walk.doubt("something of a module is called whose name is not known")
    return unknown(call.labels())
