"""Files that a program runs without being given them: ``package.json`` by ``npm run``, ``conftest.py`` by ``pytest``.

What the same command wrote into one before is judged as what the program runs. ``written.toml`` is the table.
"""

from __future__ import annotations

import json
import os
import re
from fnmatch import fnmatchcase
from itertools import islice

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent_hooks_guards.model.actions import Command

_TABLES = load_tables(os.path.dirname(__file__))["written"]
_TESTING = frozenset("t tst it cit install-test".split())  # npm's other words for `test`
_AT_INSTALL = frozenset("preinstall install postinstall prepare prepublish".split())
# These only show recipes.
_LISTING = frozenset("-l --list --list-all --summary --show --dump --dry-run --dry".split())
_NEEDED = Pattern(r"(?m)(?:deps: *\[|task: *|- +)([\w:-]+(?:, *[\w:-]+)*)\]? *$")
_MOCKED = Pattern(r"""(?:patch(?:\.object)?|setattr)\((?:[\w.]+, *)?["'](?:[\w.]*\.)?(\w+)["']""")
_IMPORT = Pattern(r"\b(?:import|from|require\w*|include\w*|use|load)\b[^\n;]{0,100}\Z")


def files_run_by(command: Command, files: Mapping[str, tuple[Data, ...]]) -> Iterator[Inner]:
    """Return what a program runs of the ``files`` that an earlier command wrote, by absolute path."""
    names = {command.program, command.name, command.name == "python" and command.options.value("-m")}
    operands = [command.argv[at] for at in command.options.operands]
    for language, row in [(language, row) for language, rows in _TABLES["runs"].items() for row in rows]:
        programs, _, wanted = row.partition(": ")
        given = command.options.value("-f|--justfile|-t|--taskfile") if language in _TABLES["lines"] else None
        wanted = given.rpartition("/")[2] if given else wanted
        for path in [] if names.isdisjoint(programs.split()) else [*files]:
            name = path.rpartition("/")[2]
            label = f"{command.name} {name}"
            if not any(fnmatchcase(path if "/" in each else name, each) for each in wanted.split()):
                continue
            for data in files[path]:
                if language != "json" and language not in _TABLES["lines"]:
                    found = Inner(language=language, path=path, arguments=operands, label=label)
                    if mocked := "|".join(_MOCKED.findall(data.text)):
                        text = re.sub(rf"\b(?:{mocked})(?=[.(])", "stand_in", data.text)
                        found.path, found.code = None, Data(text, data.labels)
                    yield found
                    continue
                if language == "json":
                    lines = [*_scripts(data.text, command.argv)]
                else:
                    called = _called(data.text, command)
                    lines = [each[each.lastindex or 0] for each in re.finditer(_TABLES["lines"][language], called)]
                yield Inner(language="sh", code=Data("\n".join(lines), data.labels), label=label)


def files_imported(language: str, text: str, files: Mapping[str, tuple[Data, ...]]) -> Iterator[Inner]:
    """Return what a code imports of the ``files`` that an earlier command wrote."""
    for path in [*files]:
        stem, _, extension = path.rpartition("/")[2].rpartition(".")
        if not stem or extension not in _TABLES["imports"].get(language, "").split():
            continue
        for named in islice(re.finditer(rf"(?<!\w){re.escape(stem)}(?!\w)", text), 100):
            if _IMPORT.search(text[max(0, named.start() - 120) : named.start()]):
                yield Inner(language=language, path=path, label=f"import {stem}")
                break


def scripts_set(command: Command) -> str:
    """Return, as JSON, the scripts that ``npm pkg set scripts.NAME=LINE`` writes; "" for none."""
    given = [word.removeprefix("scripts.").partition("=")[::2] for word in command.argv if word.startswith("scripts.")]
    return json.dumps({"scripts": dict(given)}, ensure_ascii=False) if given else ""


def _called(text: str, command: Command) -> str:
    """Return the recipes that arguments name, with those that their headers name; all if there are none."""
    operands = command.options.operands
    if not _LISTING.isdisjoint(command.argv[: operands[0] if operands else None]):
        return ""
    found, names = {}, {command.argv[at] for at in operands} - {"run"} or {"default"}
    for _ in range(3):
        recipe = rf"(?m)^([ \t]*)@?(?:{'|'.join(map(re.escape, names))})(?![\w-]).*:(.*\n?)(?:\1[ \t].*\n?|[ \t]*\n)*"
        for each in re.finditer(recipe, text):
            found[each[0]] = True
            names.update(re.findall(r"[\w:-]+", " ".join([each[2], *_NEEDED.findall(each[0])])))
    return "".join(found) or text


def _scripts(text: str, argv: list[str]) -> Iterator[str]:
    """Return the lines of the scripts that arguments name, with those before and behind; of several JSON texts."""
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            found, at = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        tables = [found[key] for key in ("scripts", "tasks") if isinstance(found.get(key), dict)]
        for name, line in [pair for table in tables for pair in table.items()]:
            names = {name, name.removeprefix("pre"), name.removeprefix("post")}
            is_named = not names.isdisjoint(argv) or ("test" in names and not _TESTING.isdisjoint(argv))
            if is_named or name in _AT_INSTALL or UNKNOWN in "".join(argv):
                yield from [each for each in (line if isinstance(line, list) else [line]) if isinstance(each, str)]
