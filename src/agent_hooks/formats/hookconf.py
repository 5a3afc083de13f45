"""``hookconf.py`` as a format: its modules and gates, found without running it."""

from __future__ import annotations

from agent_hooks.errors import SettingsError
from agent_hooks.model.events import find_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

NAMED_MODULES = "agent_hooks_plugins"  # the list in a hookconf.py
# More are surely not meant; each is looked for.
_MAX_NAMED = 100


def text_of(code: bytes, path: str = "") -> str:
    """Return the text as UTF-8, whatever encoding it declares. Raises ``SyntaxError`` if it is not UTF-8."""
    try:
        return code.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = code.count(b"\n", 0, error.start) + 1
        raise SyntaxError("the file is not UTF-8", (path, line, None, None)) from error


def named_modules(code: bytes) -> tuple[str, ...]:
    """Return the modules that ``agent_hooks_plugins`` of a ``hookconf.py`` names, in their order, without running it.

    Each name is the path of a file from the folder of the file that names it: ``policies.shell`` is
    ``policies/shell.py``. Raises ``SettingsError`` if it is not a list of names, written out at the top of the file.
    """
    import ast

    tree = _parsed(code)
    values = [value for statement in (tree.body if tree else ()) if (value := _assigned(statement)) is not None]
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


def _assigned(statement: ast.stmt) -> ast.expr | None:
    """Return the value that a statement assigns to ``agent_hooks_plugins``, if any."""
    import ast

    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return None
    return statement.value if any(isinstance(each, ast.Name) and each.id == NAMED_MODULES for each in targets) else None


def count_gates(code: bytes) -> int:
    """Return how many hooks of a module would decide, as far as that can be seen without running it."""
    import ast

    tree = _parsed(code)
    if tree is None:
        return 1  # it cannot be loaded, and stands for a gate
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return sum(_would_decide(function) for function in functions)


def _would_decide(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    import ast

    for mark in function.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) != "hookimpl":
            continue
        given = mark.keywords if isinstance(mark, ast.Call) else []
        said = {word.arg: word.value.value for word in given if isinstance(word.value, ast.Constant)}
        name = said.get("specname") or function.name
        event = find_event(name) if isinstance(name, str) else None
        return said.get("mode") != "observe" and not (event is not None and event.observe_only)
    return False


def _parsed(code: bytes) -> ast.Module | None:
    """Return the syntax tree of a module, None if it has none."""
    import ast
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")  # about its style: running it says so as well
            return ast.parse(text_of(code))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
