"""The floor plan: a module imports only from its own floor or one before it, without circles, and stays small."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "agent_hooks"
# Held to limits of size, and to imports without circles and of no private names.
PACKAGES = {"core": PACKAGE, "guards": ROOT / "plugins/agent-hooks-guards/src/agent_hooks_guards"}
# Lines of Python in all, docstrings and comments included: the size reached, on the way to 25,000
# and 16,000. A change that needs more raises the number by that much, and its message says why.
MOST_LINES = {"core": 44_516, "guards": 18_463}
# Of the data of the guards.
MOST_TOML = 11_000
LONGEST_FILE = 450
LONGEST_FUNCTION = 60

# Each floor imports only from itself and those before it.
FLOORS = """
    errors system shell model engine wire formats trust handlers observability sources runtime frameworks testing cli
    __main__
""".split()
FLOOR_OF = {room: number for number, room in enumerate(FLOORS)}
# They never import each other.
DOORS = {"frameworks", "testing"}
# It only names where the public names live, so it may name every room and is imported by none.
FACADE = "__init__"
# The modules of the engine that register hooks and decide; the others are the contract with their authors.
DECIDING = """
    plan calling answers suspension dispatch wrappers lanes background hooks plugin_info checks installed manager
""".split()
# Lines of code in these, without docstrings and comments: 1,526 for the dispatch, which isolates failures, threads
# state, rechecks rewrites (40 of them without the whole machinery), shows outcomes to observers (15 likewise), times
# waiting hooks (60), remembers which hooks can meet a tool and resumes for both colours of calls, 8 for plain functions
# that answer in turns, 40 for calls of tools in other loops and questions that are left to them, and 715 for the
# registry on top of pluggy, which searches for installed plugins once and reads the options of its own specs, and of
# each plugin's hooks, once, 35 for modules that somebody names as plugins, 16 for watched dispatches in the
# lanes, 10 for tables of settings, and 22 for pluggy's ways to look at a manager.
MOST_OF_THE_ENGINE = 2530


def room_of(path: Path) -> str:
    """The first part of a module's name inside the package: ``wire`` for ``wire/codex.py``."""
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def package_of(path: Path) -> list[str]:
    """The package that a module's relative imports start from."""
    return ["agent_hooks", *path.relative_to(PACKAGE).parent.parts]


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def running_code(node: ast.AST) -> list[ast.AST]:
    """Every node that runs, so not what is under TYPE_CHECKING."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            children = ast.Module(body=child.orelse, type_ignores=[])
            found += running_code(children)
        else:
            found += [child, *running_code(child)]
    return found


def imported(source: str, package: list[str]) -> list[tuple[int, str]]:
    """The (line, absolute name) of everything that ``source``, a module of ``package``, imports."""
    found = []
    for node in running_code(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            # `from . import wire` imports a room, `from .wire import read` a name of one.
            names = [
                ".".join([*base, alias.name]) if base == ["agent_hooks"] else ".".join(base) for alias in node.names
            ]
            found += [(node.lineno, name) for name in dict.fromkeys(names)]
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            target = node.args[0]
            if called in ("import_module", "__import__") and isinstance(target, ast.Constant):
                name = str(target.value)
                leading = len(name) - len(name.lstrip("."))
                base = package[: len(package) - leading + 1] if leading else []
                found.append((node.lineno, ".".join([*base, name.lstrip(".")])))
    return found


def violations(room: str, imports: list[tuple[int, str]]) -> list[str]:
    """What of ``imports`` a module in ``room`` must not import, as sentences."""
    found = []
    for line, name in imports:
        parts = name.split(".")
        if parts[0] != "agent_hooks":
            continue
        target = parts[1] if len(parts) > 1 else FACADE
        if target == FACADE or target not in FLOOR_OF:
            found.append(f"line {line}: imports {name}; import from the module that defines it")
        elif FLOOR_OF[target] > FLOOR_OF[room]:
            found.append(f"line {line}: {room} imports {name}")
        elif room in DOORS and target in DOORS and room != target:
            found.append(f"line {line}: {room} and {target} are two doors")
    return found


# Files of a plugin to be, which `agent-hooks new plugin` copies: they are not imported from here.
TEMPLATE = PACKAGE / "cli" / "plugin_template"
MODULES = sorted(path for path in set(PACKAGE.rglob("*.py")) - {*TEMPLATE.rglob("*")} if room_of(path) != FACADE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_its_own_floor_or_above(path: Path):
    room = room_of(path)
    assert room in FLOOR_OF, f"Say in FLOORS where {room} is."
    assert violations(room, imported(path.read_text(encoding="utf-8"), package_of(path))) == []


def test_the_check_sees_every_way_of_importing_from_below():
    """Inside functions, by absolute name, from the package, by import_module, and between doors."""
    source = (
        "import agent_hooks.cli.main\n"
        "from agent_hooks.runtime import loop\n"
        "from ..cli import main\n"
        "from .. import frameworks, errors\n"
        "from . import golden\n"
        "from agent_hooks import HookOutcome\n"
        "def later():\n"
        "    from ..frameworks.audit import log\n"
        "    import_module('agent_hooks.cli')\n"
        "    importlib.import_module('..frameworks', __package__)\n"
        "if TYPE_CHECKING:\n"
        "    from ..cli import main\n"
    )
    lines = [
        int(text.split(":")[0].split()[1])
        for text in violations("testing", imported(source, ["agent_hooks", "testing"]))
    ]
    assert lines == [1, 3, 4, 6, 8, 9, 10]


def test_an_import_while_type_checking_is_free_and_its_else_is_not():
    source = "if TYPE_CHECKING:\n    from .hooks import Hooks\nelse:\n    from .plan import Chain\n"
    assert imported(source, ["agent_hooks", "engine"]) == [(4, "agent_hooks.engine.plan")]


def module_of(path: Path, package: Path) -> str:
    """The absolute name of a module."""
    return ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path, package: Path) -> list[str]:
    """The absolute names that a module imports, functions included, each name of a ``from`` import with its module."""
    parts = path.relative_to(package.parent).parent.parts
    found: list[str] = []
    for node in running_code(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*parts[: len(parts) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            found += [".".join((*base, alias.name)) for alias in node.names]
    return found


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules of which each leads to every other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    found: list[set[str]] = []
    for name in graph:
        circle = {other for other in reached[name] if name in reached[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_modules_do_not_import_each_other_in_circles(package: Path):
    paths = {module_of(path, package): path for path in set(package.rglob("*.py")) - {*TEMPLATE.rglob("*")}}
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        wanted = imports_of(path, package)
        targets = {each if each in paths else each.rpartition(".")[0] for each in wanted}
        graph[name] = {target for target in targets & paths.keys() if target != name}
    assert circles(graph) == []


def test_a_circle_is_found_also_where_a_function_imports():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_a_private_name_stays_in_its_module(package: Path):
    taken = {
        f"{path.relative_to(package)}: {name}"
        for path in package.rglob("*.py")
        for name in imports_of(path, package)
        if name.startswith("agent_hooks") and name.rpartition(".")[2].startswith("_") and "__" not in name
    }
    assert taken == set()


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_no_file_and_no_function_is_too_long(package: Path):
    found = []
    for path in package.rglob("*.py"):
        where = path.relative_to(package).as_posix()
        source = path.read_text(encoding="utf-8")
        if source.count("\n") > LONGEST_FILE:
            found.append(f"{where} has more than {LONGEST_FILE} lines.")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    found.append(f"{where}:{node.lineno}: {node.name} has more than {LONGEST_FUNCTION} lines.")
    assert found == []


def lines_of(paths: Iterable[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_distribution_stays_within_its_lines(name: str):
    assert lines_of(PACKAGES[name].rglob("*.py")) <= MOST_LINES[name]


def test_the_data_of_the_guards_stays_small():
    assert lines_of(PACKAGES["guards"].rglob("*.toml")) < MOST_TOML


def test_the_pages_for_contributors_and_readers_have_the_same_floors():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line.split("`")[1].rstrip("/") for line in page.splitlines() if line.startswith("| `")]
    assert rows[rows.index("errors") :] == [floor for floor in FLOORS if floor != "__main__"]
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("agent_hooks_core.py")[0]
    rows = [
        line.split("`")[1].rstrip("/").removesuffix(".py") for line in architecture.splitlines() if line[:3] == "| `"
    ]
    assert rows[rows.index("errors") :] == [floor for floor in FLOORS if floor != "__main__"]


def test_only_the_manager_imports_pluggy():
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for _, name in imported(path.read_text(encoding="utf-8"), package_of(path))
        if name.split(".")[0] == "pluggy"
    }
    assert users == {"engine/manager.py"}


def code_lines(source: str) -> int:
    """Lines with code on them: blank lines, comments and docstrings do not count."""
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in ignored:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_a_line_of_code_is_neither_blank_nor_comment_nor_docstring():
    assert code_lines('"""Two\nlines."""\n\n# why\nx = (\n    1\n)\n') == 3


def test_the_engine_stays_small():
    """The modules that decide must be readable in an hour: what does not fit belongs on another floor."""
    deciding = [path for path in MODULES if room_of(path) == "engine" and path.stem in DECIDING]
    sizes = {path.name: code_lines(path.read_text(encoding="utf-8")) for path in deciding}
    assert sum(sizes.values()) <= MOST_OF_THE_ENGINE, sizes
