"""Static analysis of a ``hookconf.py``: its modules and gates."""

from __future__ import annotations

from agent_hooks.errors import SettingsError
from agent_hooks.model.events import find_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

NAMED_MODULES = "agent_hooks_plugins"  # the list in a hookconf.py
# More are surely a mistake; each one is searched for.
_MAX_NAMED = 100


def text_of(code: bytes, path: str = "") -> str:
    """Return the text as UTF-8, whatever encoding it declares. Raises ``SyntaxError`` if it is not UTF-8."""
    try:
        return code.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = code.count(b"\n", 0, error.start) + 1
        raise SyntaxError("the file is not UTF-8", (path, line, None, None)) from error


def named_modules(code: bytes) -> tuple[str, ...]:
    """Return the modules in ``agent_hooks_plugins`` of a ``hookconf.py``, in their order.

    Each name is a path from the folder of the ``hookconf.py``: ``policies.shell`` is ``policies/shell.py``. Raises
    ``SettingsError`` unless the value is a literal list of names at the top level of the file.
    """
    import ast

    tree = _parsed(code)
    values: list[ast.expr] = []
    for statement in tree.body if tree else ():
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(each, ast.Name) and each.id == NAMED_MODULES for each in targets):
                values.append(statement.value)
    names: list[str] = []
    for value in values[-1:]:
        try:
            found = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            found = None
        if not isinstance(found, (list, tuple)) or not all(isinstance(name, str) for name in found):
            raise SettingsError(
                f"{NAMED_MODULES} in line {value.lineno} must be one list of names, written out at the top of the file."
            )
        names += found
    if len(names) > _MAX_NAMED:
        raise SettingsError(f"{NAMED_MODULES} names more than {_MAX_NAMED} modules.")
    wrong = next((name for name in names if not all(part.isidentifier() for part in name.split("."))), None)
    if wrong is not None:
        raise SettingsError(
            f"{NAMED_MODULES} names {wrong!r}, which is not the name of a module, like 'policies.shell'."
        )
    return tuple(names)


def count_gates(code: bytes) -> int:
    """Return the number of hooks of a module that can decide, by static analysis."""
    import ast

    tree = _parsed(code)
    if tree is None:
        return 1  # a module that cannot be loaded counts as a gate
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return sum(_would_decide(function) for function in functions)


def _would_decide(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    import ast

    for mark in function.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        own = called.attr if isinstance(called, ast.Attribute) and _last_name(called.value) == "hookimpl" else None
        if own is None and _last_name(called) != "hookimpl":
            continue
        given = mark.keywords if isinstance(mark, ast.Call) else []
        options = {keyword.arg: keyword.value.value for keyword in given if isinstance(keyword.value, ast.Constant)}
        name = own or options.get("specname") or function.name  # `own`: @hookimpl.before_tool_use
        event = find_event(name) if isinstance(name, str) else None
        return options.get("mode") != "observe" and not (event is not None and event.observe_only)
    return False


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _parsed(code: bytes) -> ast.Module | None:
    """Return the syntax tree of a module, None if it has none."""
    import ast
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")  # running the module shows the same warnings
            return ast.parse(text_of(code))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
