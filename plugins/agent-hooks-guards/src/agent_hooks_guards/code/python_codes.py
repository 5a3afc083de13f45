"""Functions that lead from one thing to another by its name, and those that run a text or a file as code."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED, NETWORK, UNKNOWN

from .python_files import STREAMS
from .python_names import module_name
from .python_values import Value, binary, constant, is_exact, is_text, labels_of, name, one_of, text_of, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .python_call import Call

# -- names -------------------------------------------------------------------------------------------------------------


def _getattr(call: Call) -> Value:
    owner, word = call.value(0), call.value(1)
    if owner.kind == "any":
        return one_of([call.walk.attribute(each, text_of(word), call.scope) for each in owner.it])
    if is_text(word) and is_exact(word):
        return call.walk.attribute(owner, text_of(word), call.scope)
    if owner.kind == "name":
        return name(f"{owner.it}.{UNKNOWN}")
    return unknown(labels_of(owner))


def _setattr(call: Call) -> Value:
    from .python_names import attribute_name

    owner = call.value(0)
    if owner.kind == "name":
        call.walk.patched[attribute_name(owner.it, call.text(1))] = call.value(2)
    elif owner.kind in ("instance", "class"):
        owner.parts[call.text(1)] = call.value(2)
    return constant(None)


def _vars(call: Call) -> Value:
    owner = call.given(0)
    if owner is None or call.name != "vars":
        return name("globals()")
    return call.walk.attribute(owner, "__dict__", call.scope)


def _dir(call: Call) -> Value:
    del call
    return unknown()


def _import(call: Call) -> Value:
    value = call.value(0, "name")
    text = text_of(value)
    if call.name == "__import__" and call.given(3, "fromlist") is None:
        text = text.partition(".")[0]
    if not is_text(value):
        return name(UNKNOWN)
    call.walk.imported(text, call.scope)
    return name(module_name(text))


def _resolved(call: Call) -> Value:
    """``pydoc.locate("os.system")``, ``pkgutil.resolve_name("os:system")``."""
    first, *rest = call.text(0).replace(":", ".").split(".")
    value = name(module_name(first))
    for each in rest:
        value = call.walk.attribute(value, each, call.scope)
    return value


def _type(call: Call) -> Value:
    if len(call.arguments) == 3 and call.arguments[2].kind == "dict":
        members = {str(key): each for key, each in call.arguments[2].it.items()}
        return Value("class", None, parts=members)
    value = call.value(0)
    return value.it if value.kind == "instance" else unknown()


def _operator(call: Call) -> Value:
    word = call.name.rpartition(".")[2].strip("_")
    signs = {"add": "Add", "concat": "Add", "iadd": "Add", "iconcat": "Add", "mul": "Mult", "mod": "Mod",
             "xor": "BitXor", "sub": "Sub"}  # fmt: skip
    if word == "getitem":
        return call.walk.item(call.value(0), call.value(1), call.scope)
    if word == "call":
        return call.walk.call(call.value(0), call.arguments[1:], call.keywords, call.scope)
    return binary(signs[word], call.value(0), call.value(1))


def _getter(call: Call) -> Value:
    """``operator.attrgetter`` and the like: what they make is called with a value."""
    return Value("partial", name(f"{call.name} of"), parts=(call.arguments, call.keywords))


def _got(call: Call) -> Value:
    word, owner = call.arguments[0], call.arguments[-1]
    if call.name.startswith("operator.itemgetter"):
        return call.walk.item(owner, word, call.scope)
    found = owner
    for each in text_of(word).split("."):
        found = call.walk.attribute(found, each, call.scope)
    if call.name.startswith("operator.methodcaller"):
        return call.walk.call(found, call.arguments[1:-1], call.keywords, call.scope)
    return found


def _partial(call: Call) -> Value:
    return Value("partial", call.value(0), parts=(call.arguments[1:], call.keywords))


def _first(call: Call) -> Value:
    return call.value(0)


def _second(call: Call) -> Value:
    return call.value(1)


def _static(call: Call) -> Value:
    before = [unknown()] if call.name == "classmethod" else []
    return Value("partial", call.value(0), parts=(before, {}))


def _property(call: Call) -> Value:
    return Value("property", call.value(0))


# -- codes -------------------------------------------------------------------------------------------------------------


def _exec(call: Call) -> Value:
    value = call.value(0, "source", "cmd", "stmt", "statement", "code")
    result = constant(None)
    for each in [value, call.keywords["setup"]] if "setup" in call.keywords else [value]:
        if each.kind in ("function", "partial"):
            result = call.walk.call(each, [], {}, call.scope)
        else:
            result = call.walk.run_text(each, call.scope)
    return result


def _timed(call: Call) -> Value:
    for at, word in ((1, "setup"), (0, "stmt")):
        value = call.given(at, word)
        if value is None:
            continue
        if value.kind in ("function", "partial"):
            call.walk.call(value, [], {}, call.scope)
        else:
            call.walk.run_text(value, call.scope)
    return unknown()


def _compile(call: Call) -> Value:
    return call.value(0, "source")


def _code_function(call: Call) -> Value:
    """``types.FunctionType(code, …)``."""
    value = call.value(0, "code")
    return Value("partial", name("exec"), parts=([value], {})) if value.kind in ("constant", "unknown") else value


def _run_file(call: Call) -> Value:
    word = call.name.rpartition(".")[2]
    at = 0 if word in ("run_path", "execfile") else 1
    path = call.path(at, "path", "path_name", "location", "pathname", "filename")
    if path in STREAMS:
        call.walk.run_text(call.walk.read_input("read"), call.scope)
    else:
        call.walk.effect("run", path)
    return unknown()


def _unpickle(call: Call) -> Value:
    value = call.value(0)
    if is_text(value) and is_exact(value):
        _unpickled(call, value)
        return unknown(value.labels)
    labels = labels_of(value) & {NETWORK, DECODED}
    if value.kind != "file" and labels:
        call.walk.run_text(unknown(labels), call.scope)
    return unknown(labels_of(value))


def _unpickled(call: Call, value: Value) -> None:
    """Call what a known pickle calls: the functions it names, with the texts that it holds."""
    from pickletools import genops

    data = value.it if isinstance(value.it, bytes) else value.it.encode("latin-1", "replace")
    texts: list[str] = []
    function: Value | None = None
    try:
        for opcode, argument, _ in genops(data):
            if opcode.name in ("GLOBAL", "INST"):
                function = _resolved_name(call, *str(argument).split(" ", 1))
            elif opcode.name == "STACK_GLOBAL" and len(texts) > 1:
                function = _resolved_name(call, texts[-2], texts[-1])
                texts.clear()
            elif isinstance(argument, (str, bytes)):
                texts.append(argument if isinstance(argument, str) else argument.decode("latin-1"))
            if opcode.name in ("REDUCE", "INST", "OBJ", "NEWOBJ") and function is not None:
                call.walk.call(function, [constant(each) for each in texts], {}, call.scope)
                function = None
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return


def _resolved_name(call: Call, module: str, word: str) -> Value:
    return call.walk.attribute(name(module_name(module)), word, call.scope)


def _yaml(call: Call) -> Value:
    text = call.text(0, "stream")
    if "!!python/" in text:
        import re

        for module, word, rest in re.findall(
            r"!!python/object/(?:apply|new):([\w.]+)\.(\w+)\s*[\s\[:-]*([^\]\n]*)", text
        ):
            call.walk.call(_resolved_name(call, module, word), [constant(rest.strip(" '\"-"))], {}, call.scope)
    return unknown(call.labels())


CODE_CALLS: dict[str, Callable[[Call], Value]] = {
    "memoryview": _first,
    "getattr": _getattr,
    "inspect.getattr_static": _getattr,
    "object.__getattribute__": _getattr,
    "setattr": _setattr,
    "vars": _vars,
    "globals": _vars,
    "locals": _vars,
    "dir": _dir,
    "__import__": _import,
    "importlib.import_module": _import,
    "importlib.__import__": _import,
    "importlib.load_module": _import,
    "importlib.reload": _first,
    "pydoc.locate": _resolved,
    "pkgutil.resolve_name": _resolved,
    "type": _type,
    "operator.attrgetter": _getter,
    "operator.itemgetter": _getter,
    "operator.methodcaller": _getter,
    "operator.attrgetter of": _got,
    "operator.itemgetter of": _got,
    "operator.methodcaller of": _got,
    **dict.fromkeys(
        [
            f"operator.{each}"
            for each in "add concat iadd iconcat mul mod xor sub getitem call __add__ __concat__".split()
        ],
        _operator,
    ),
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.wraps": _getter,
    "copy.copy": _first,
    "copy.deepcopy": _first,
    "sys.intern": _first,
    "typing.cast": _second,
    "contextlib.closing": _first,
    "contextlib.nullcontext": _first,
    "io.BytesIO": _first,
    "io.StringIO": _first,
    "sqlalchemy.text": _first,
    "asyncio.run": _first,
    "asyncio.wait_for": _first,
    "staticmethod": _static,
    "classmethod": _static,
    "property": _property,
    "functools.cached_property": _property,
    **dict.fromkeys(
        "exec eval cProfile.run profile.run cProfile.runctx pdb.run pdb.runeval trace.run "
        "libc.PyRun_SimpleString bdb.run ctypes.pythonapi.PyRun_SimpleString ipython.run_cell ipython.ex "
        "ipython.ev".split(),
        _exec,
    ),
    "timeit.timeit": _timed,
    "timeit.repeat": _timed,
    "timeit.Timer": _timed,
    "timeit.main": _timed,
    "compile": _compile,
    "code.compile_command": _compile,
    "codeop.compile_command": _compile,
    "ast.parse": _compile,
    "types.FunctionType": _code_function,
    "types.LambdaType": _code_function,
    **dict.fromkeys(
        "runpy.run_path execfile importlib.load_source importlib.machinery.SourceFileLoader "
        "importlib.machinery.SourcelessFileLoader importlib.util.spec_from_file_location "
        "importlib.machinery.ExtensionFileLoader importlib.load_dynamic importlib.load_compiled".split(),
        _run_file,
    ),
    **dict.fromkeys("pickle.loads pickle.load shelve.open pickle.Unpickler joblib.load torch.load".split(), _unpickle),
    **dict.fromkeys("yaml.load yaml.unsafe_load yaml.full_load yaml.load_all yaml.unsafe_load_all".split(), _yaml),
}
