"""Changes a module in small ways, one at a time, and lists the changes that no test notices.

    python .ci/mutants.py src/agent_hooks/engine/answers.py
    python .ci/mutants.py src/agent_hooks/engine/answers.py --deselect tests/engine/test_hooks.py

At most 40 mutants of each module, the same ones each time. The tests are those that mirror the module: a test may go if
the mutants die without it. ``MODULE:LINE`` takes the mutants of one line.

The first run changes nothing and must pass. From Python 3.12 on, it records which tests run which line, and a mutant is
tried by the tests that run its statement. If imports or only other processes run it, all tests try it. The checkout
stays as it is: each mutant is a copy of the source in a temporary folder that comes first on the path. Processes with
``-I`` do not see it, so a mutant may survive that only they would notice.

Exits with 1 if a mutant survived, and with 2 if the tests fail without one.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
_QUICK_TESTS = "not full and not docs and not e2e and not frameworks"
_SHORTEST_LIMIT = 120.0  # seconds, so that only a mutant that loops is killed by it
_PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
    (ast.BitOr, ast.BitAnd),
]
_OTHER_OPERATORS = dict(_PAIRS) | {second: first for first, second in _PAIRS}
_OPPOSITES = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn

# -- the mutants of a module -------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A changed source, with the line of the change and the lines of its statement up to there."""

    line: int
    lines: range
    source: str


def find_mutants(source: str) -> list[Mutant]:
    """Return every mutant of ``source``, in the order of their lines; no two are alike."""
    encoded = source.encode()
    starts = [0]
    for line in encoded.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[str, Mutant] = {}
    for first, node, text in _changes(ast.parse(source), 1):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        changed = (encoded[:start] + text.encode() + encoded[end:]).decode()
        found.setdefault(changed, Mutant(node.lineno, range(first, node.end_lineno + 1), changed))
    return sorted(found.values(), key=lambda mutant: mutant.line)


def _changes(node: ast.AST, first: int) -> Iterator[tuple[int, Any, str]]:
    """Yield the first line of the statement, a part of ``node`` and the text in its place, for each change."""
    first = node.lineno if isinstance(node, ast.stmt) else first
    for part, text in _own_changes(node):
        yield first, part, text
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in {"annotation", "returns"} and not _is_inert(node, child):
                yield from _changes(child, first)


def _is_inert(parent: ast.AST, child: ast.AST) -> bool:
    """Whether ``child`` is a docstring, an f-string, which is mostly a message, or only for type checkers."""
    if isinstance(child, ast.If | ast.Assign) and "TYPE_CHECKING" in ast.unparse(child).partition("\n")[0]:
        return True
    return isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(parent, ast.Expr))


def _own_changes(node: ast.AST) -> Iterator[tuple[Any, str]]:
    """Yield the changes of ``node`` itself, not of its children."""
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                if other := _OTHER_OPERATORS.get(type(operator)):
                    yield node, f"({_changed(node, ops=[*operators[:index], other(), *operators[index + 1 :]])})"
        case ast.BoolOp() | ast.BinOp() if other := _OTHER_OPERATORS.get(type(node.op)):
            yield node, f"({_changed(node, op=other())})"
        case ast.AugAssign():
            if other := _OTHER_OPERATORS.get(type(node.op)):
                yield node, _changed(node, op=other())
            yield node, "pass"
        case ast.UnaryOp(op=ast.Not()):
            yield node, f"({ast.unparse(node.operand)})"
        case ast.Constant(value=value):
            if isinstance(value, bool):
                yield node, repr(not value)
            elif isinstance(value, int | float):
                yield node, f"({value + 1})"
            elif isinstance(value, str) and value and not set(value) & set(" \n"):  # a name; messages have spaces
                yield node, repr(value + "X")
        case ast.If(test=condition) | ast.While(test=condition) | ast.IfExp(test=condition):
            yield from _negation(condition)
        case ast.comprehension(ifs=conditions):
            for condition in conditions:
                yield from _negation(condition)
        case ast.Return(value=ast.expr() as result) if ast.unparse(result) not in {"None", "False", "True"}:
            yield node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Delete() | ast.Break() | ast.Continue():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"


def _negation(condition: ast.expr) -> Iterator[tuple[Any, str]]:
    """Yield the negated condition, unless another change of it is its negation."""
    match condition:
        case ast.UnaryOp(op=ast.Not()):
            return
        case ast.Compare(ops=[operator]) if isinstance(operator, _OPPOSITES):
            return
    yield condition, f"(not ({ast.unparse(condition)}))"


def _changed(node: ast.AST, **fields: Any) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return ast.unparse(changed)


# -- running the tests -------------------------------------------------------------------------------------------------


class Module(NamedTuple):
    """A module to change, the project that it belongs to, and the tests that try it."""

    path: Path
    line: int | None
    project: Path
    tests: tuple[str, ...]


def find_module(name: str, tests: list[str]) -> Module:
    """Return the module that ``name``, a path with or without a line, stands for. Raises ``SystemExit``."""
    given, _, line = name.partition(":")
    path = Path(given).resolve()
    source = next((parent for parent in path.parents if parent.name == "src"), None)
    if source is None or not path.is_file():
        sys.exit(f"{given} is no file below a folder src.")
    named = [os.path.relpath(Path(test).resolve(), source.parent) for test in tests]
    return Module(path, int(line) if line else None, source.parent, tuple(named or [_mirror(path, source)]))


def _mirror(path: Path, source: Path) -> str:
    """Return the folder of tests that mirrors the module's folder, or the file that mirrors the module."""
    project, folders = source.parent, path.relative_to(source).parts[1:-1]
    candidates = [project.joinpath("tests", *folders[:count]) for count in range(len(folders), 0, -1)]
    candidates.append(project / "tests" / f"test_{path.stem.strip('_')}.py")
    for candidate in candidates:
        if candidate.exists():
            return str(candidate.relative_to(project))
    sys.exit(f"No tests mirror {path.relative_to(project)}: name some with --tests.")


class Run(NamedTuple):
    """The result of a run of the tests."""

    code: int | None  # None: the time limit ended it
    output: str
    failed: list[str]
    order: list[str]  # of all tests
    lines: dict[str, list[str]]  # by ``path:line``, the tests that run it; an empty name stands for imports


def run_tests(
    module: Module,
    options: list[str],
    source: str | None = None,
    *,
    tests: list[str] | None = None,
    followed: list[Path] | None = None,
    limit: float | None = None,
) -> Run:
    """Run the module's tests, with ``source`` in its place if given.

    With ``tests``, only these, in that order. The lines of the modules ``followed`` are recorded. ``limit`` is in
    seconds.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        sources = Path(folder, "src")
        # Python would take byte code of the same second and size for that of the mutant.
        stale = shutil.ignore_patterns(f"{module.path.stem}.*.pyc")
        shutil.copytree(module.project / "src", sources, ignore=stale)
        if source is not None:
            (Path(folder) / module.path.relative_to(module.project)).write_text(source, encoding="utf-8")
        shutil.copy(ROOT / ".ci/mutants_plugin.py", folder)
        names = [str(path.relative_to(module.project)) for path in followed or []]
        Path(folder, "wanted").write_text(json.dumps([tests, names]), encoding="utf-8")
        files = module.tests if tests is None else list(dict.fromkeys(test.split("::")[0] for test in tests))
        command = [
            *(sys.executable, str(Path(sys.executable).with_name("pytest")), "-q", "-p", "mutants_plugin"),
            *("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(module.project), "-o", "pythonpath=tests"),
            *("-p", "no:cacheprovider", "--hypothesis-seed=0", "--basetemp", str(Path(folder, "tmp"))),
            *options,
            *files,
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(sources), folder]),
            "PYTHONHASHSEED": "0",  # the ids of tests are compared between processes
            "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder, "hypothesis")),
        }
        code, output = _run(command, module.project, environment, limit)
        report = Path(folder, "report")  # missing if an import failed
        return Run(code, output, *(json.loads(report.read_text(encoding="utf-8")) if report.exists() else ([], [], {})))


def _run(command: list[str], folder: Path, environment: dict[str, str], limit: float | None) -> tuple[int | None, str]:
    """Return the exit code and output of the command, with None for the code if it was killed after ``limit``."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, output


# -- the report --------------------------------------------------------------------------------------------------------


class Trial:
    """Tries mutants of one module, whose tests have run ``unchanged`` in the given number of seconds."""

    def __init__(self, module: Module, options: list[str], unchanged: Run, seconds: float) -> None:
        self.module = module
        self.options = options
        self.unchanged = unchanged
        # Several mutants share the processors, which may be busy already.
        self.limit = max(_SHORTEST_LIMIT, 5 * seconds)
        self.name = module.path.relative_to(module.project)
        self.source = module.path.read_text(encoding="utf-8")
        self.killers: list[str] = []  # the latest first: it may kill the next one too
        self.survivors = 0

    def run(self, limit: int, seed: str, jobs: int) -> int:
        """Try up to ``limit`` mutants, ``jobs`` at a time, and return the exit code."""
        mutants = find_mutants(self.source)
        if self.module.line is not None:
            mutants = [mutant for mutant in mutants if mutant.line == self.module.line]
        chosen = random.Random(f"{seed} {self.name}").sample(mutants, min(limit, len(mutants)))  # noqa: S311 - no secret
        print(f"{self.name}: {len(chosen)} of {len(mutants)} mutants, {' '.join(self.module.tests)}", flush=True)
        with ThreadPoolExecutor(jobs) as pool:
            for report in pool.map(self._try, sorted(chosen, key=lambda mutant: mutant.line)):
                print(report, flush=True)
        if self.killers:  # each must owe its failures to the mutants, not to the order or to tests left out
            alone = run_tests(self.module, self.options, tests=self.killers)
            if alone.code:
                print(f"{alone.output}\n{self.name}: these tests fail without a mutant", flush=True)
                return 2
        print(f"{self.name}: {len(chosen) - self.survivors} killed, {self.survivors} survived", flush=True)
        return 1 if self.survivors else 0

    def _try(self, mutant: Mutant) -> str:
        """Try the mutant, first by the tests that killed others, and return its part of the report."""
        running = {test for line in mutant.lines for test in self.unchanged.lines.get(f"{self.name}:{line}", ())}
        first = [test for test in self.killers if test in running]
        tests = [*first, *(test for test in self.unchanged.order if test in running and test not in first)]
        if "" in running:  # an import runs it, and any test may see what came of that
            tests = []
        options = ["--exitfirst", *self.options]
        run = run_tests(self.module, options, mutant.source, tests=tests or None, limit=self.limit)
        place = f"  {self.name}:{mutant.line}:"
        if run.code == 0:
            self.survivors += 1
            difference = difflib.unified_diff(self.source.split("\n"), mutant.source.split("\n"), n=0, lineterm="")
            return "\n    ".join([f"{place} survived {len(tests) or 'all'} tests", *list(difference)[3:]])
        for test in run.failed:
            self.killers = [test, *(other for other in self.killers if other != test)]
        return f"{place} killed by {'the time limit' if run.code is None else ' '.join(run.failed) or 'an import'}"


def try_modules(modules: list[Module], options: list[str], limit: int, seed: str, jobs: int) -> int:
    """Try mutants of modules that have the same tests, and return the exit code."""
    began = time.monotonic()
    unchanged = run_tests(modules[0], options, followed=[module.path for module in modules])
    if unchanged.code:
        print(f"{unchanged.output}\n{' '.join(modules[0].tests)}: fail without a mutant", flush=True)
        return 2
    seconds = time.monotonic() - began
    return max(Trial(module, options, unchanged, seconds).run(limit, seed, jobs) for module in modules)


def main(arguments: list[str]) -> int:
    """Try mutants of the modules that ``arguments`` name and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="+", metavar="MODULE[:LINE]")
    parser.add_argument("--tests", action="append", default=[], metavar="PATH", help="in place of the mirroring ones")
    parser.add_argument("--deselect", action="append", default=[], metavar="TEST", help="a test to go without")
    parser.add_argument("-k", default="", metavar="EXPRESSION", help="select tests by name, as pytest does")
    parser.add_argument("-m", default=_QUICK_TESTS, metavar="MARKERS", help=f"default: {_QUICK_TESTS}; '' selects all")
    parser.add_argument("--limit", type=int, default=40, metavar="NUMBER", help="mutants of each module")
    parser.add_argument("--seed", default="0", help="another one chooses other mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="NUMBER", help="mutants at a time")
    given = parser.parse_args(arguments)
    options = ["-m", given.m, "-k", given.k, *(f"--deselect={test}" for test in given.deselect)]
    modules = [find_module(name, given.tests) for name in given.modules]
    groups: dict[tuple[Path, tuple[str, ...]], list[Module]] = {}
    for module in modules:
        groups.setdefault((module.project, module.tests), []).append(module)
    return max(try_modules(group, options, given.limit, given.seed, given.jobs) for group in groups.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
