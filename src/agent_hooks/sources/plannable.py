"""Whether the hooks of a plugin can be planned: they are the same in every process, as its source shows.

That is so where the top level of its modules is imports, definitions and constants, and the options of its hooks are
written out. Code that decides at import which hooks there are must run each time.
"""

from __future__ import annotations

import ast
import os
import sys

from agent_hooks.model.events import OWN_EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

# Hooks of the framework's own that say at run time which hooks there are, or listen to all dispatches.
_AT_RUN_TIME = (
    "agent_hooks_add_hookspecs",
    "agent_hooks_config_sources",
    "agent_hooks_dispatch_started",
    "agent_hooks_dispatched",
    "agent_hooks_executed",
    "agent_hooks_run_started",
    "agent_hooks_tool_started",
    "agent_hooks_register",
)
# Calls whose result is the same in every process.
_PURE = frozenset(
    {"HookimplMarker", "NewType", "ParamSpec", "TypeVar", "compile", "dict", "frozenset", "fromkeys", "getLogger"}
    | {"len", "list", "maketrans", "namedtuple", "range", "set", "sorted", "tuple"}
)
# Decorators of others that make no hooks.
_DECORATORS = frozenset(
    {"asynccontextmanager", "cache", "contextmanager", "dataclass", "final", "lru_cache", "overload", "singledispatch"}
    | {"total_ordering", "unique", "wraps"}
)
# What differs between processes with the same files.
_VARIABLE = frozenset({"argv", "environ", "environb", "getenv"})
_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)


def obstacle(plugin: object, name: str, loaded: Iterable[str]) -> str:
    """Return why the plugin called ``name`` cannot be planned, an empty string if it can.

    ``loaded``: the names of the modules that its import has imported, and of any others.
    """
    from types import ModuleType

    if not isinstance(plugin, ModuleType):
        return f"the plugin {name} is no module"
    for method in _AT_RUN_TIME:
        if hasattr(plugin, method):
            return f"the plugin {name} has {method}"
    package = plugin.__name__.partition(".")[0]
    modules = [sys.modules.get(each) for each in loaded if each.partition(".")[0] == package]
    found = (_obstacle_in(each, is_plugin=each is plugin) for each in modules if isinstance(each, ModuleType))
    return next((f"the plugin {name}: {problem}" for problem in found if problem), "")


def _obstacle_in(module: ModuleType, *, is_plugin: bool) -> str:
    path = getattr(module, "__file__", None)
    if path is None and hasattr(module, "__path__"):  # a folder without code
        return ""
    try:
        with open(path or "", "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return f"{module.__name__} has no source"
    settled = {alias.asname or alias.name for alias in _imported_from_us(tree)}
    markers = settled | _DECORATORS | {*_own_markers(tree)}
    for statement in tree.body:
        if not _is_plain(statement) or any(map(_is_variable, _at_import(statement))):
            return f"{os.fspath(path or '')}:{statement.lineno} runs code at import"
        if is_plugin and isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in statement.decorator_list:
                if not _is_plain_decorator(decorator, markers, settled):
                    return f"{path}:{decorator.lineno} is no plain marker with its options written out"
    return _obstacle_in_names(module, tree, settled | {*_own_markers(tree)}) if is_plugin else ""


def _obstacle_in_names(module: ModuleType, tree: ast.Module, settled: set[str]) -> str:
    """Return why the names of a plugin may mean something else in another process; ``settled``: markers and constants.

    Hooks, markers and constants are bound once, and a hook is a function with a marker of ours and no other decorator.
    """
    bound = [name for statement in tree.body for name in _bound_by(statement)]
    hooks = {each for each, value in vars(module).items() if hasattr(value, "agent_hooks_impl")}
    if twice := sorted(name for name in settled | hooks if bound.count(name) > 1):
        return f"{module.__file__} binds {twice[0]} more than once"
    defined = {each.name: each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for name in sorted(hooks):
        decorators = defined[name].decorator_list if name in defined else []
        marker = decorators[0].func if decorators and isinstance(decorators[0], ast.Call) else (*decorators, None)[0]
        marker = marker.value if isinstance(marker, ast.Attribute) and marker.attr in OWN_EVENTS else marker
        is_marked = len(decorators) == 1 and isinstance(marker, ast.Name) and marker.id in settled
        if not is_marked or getattr(vars(module)[name], "__qualname__", "") != name:
            return f"{module.__file__} has a hook {name} that is not only defined and marked"
    return ""


def _bound_by(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of the top level binds."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    return (
        [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        else []
    )


def _imported_from_us(tree: ast.Module) -> list[ast.alias]:
    found = (each for each in tree.body if isinstance(each, ast.ImportFrom))
    ours = (each for each in found if not each.level and (each.module or "").partition(".")[0] == "agent_hooks")
    return [alias for each in ours for alias in each.names]


def _own_markers(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are pluggy's markers of ours."""
    assigned = (each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call))
    for each in assigned:
        if ast.unparse(each.value).partition("(")[0].rpartition(".")[2] == "HookimplMarker":
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))


def _is_plain_decorator(decorator: ast.expr, markers: set[str], settled: set[str]) -> bool:
    """Whether a decorator is one of these names, with options that are written out."""
    given: list[ast.expr] = []
    if isinstance(decorator, ast.Call):
        named = (each for each in decorator.keywords if each.arg != "when" or not isinstance(each.value, ast.Name))
        given = [*decorator.args, *(each.value for each in named)]  # `when` is no part of a plan
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute) and decorator.attr in OWN_EVENTS:  # @hookimpl.before_tool_use
        decorator = decorator.value
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in markers and all(_is_written_out(value, settled) for value in given)


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that run when its module is imported: not the bodies of functions."""
    yield node
    body = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else ()
    for child in ast.iter_child_nodes(node):
        if child is not body and child not in (body if isinstance(body, list) else ()):
            yield from _at_import(child)


def _is_variable(node: ast.AST) -> bool:
    """Whether something says that the module is not the same in every process."""
    if isinstance(node, ast.ClassDef):
        return not all(map(_is_plain_or_call, node.body))
    return any(getattr(node, field, None) in _VARIABLE for field in ("id", "attr", "name"))


def _is_plain_or_call(statement: ast.stmt) -> bool:
    """Whether a statement of a class is plain; the values of its fields may be calls."""
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) or _is_plain(statement)


def _is_plain(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":  # whatever names it brings
        return False
    if isinstance(statement, _DEFINITIONS):
        return True
    if isinstance(statement, ast.If):  # the imports of type checkers
        return not statement.orelse and ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(map(_is_constant, (*targets, *filter(None, [statement.value]))))
    return False


def _is_constant(value: ast.expr) -> bool:
    """Whether an expression is the same in every process."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name not in _PURE:
                return False
        elif isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
    return True


def _is_written_out(value: ast.expr, settled: set[str]) -> bool:
    """Whether the value of an option is a constant; ``settled``: the names of our own constants."""
    if isinstance(value, (ast.UnaryOp, ast.BinOp)):
        return all(_is_written_out(each, settled) for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr))
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in settled)
