"""``agent-hooks check --cases``: decisions compared with a table of expected ones."""

from __future__ import annotations

import os
import sys
import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_hooks.errors import AgentHooksError
from agent_hooks.formats.reader import Reader
from agent_hooks.formats.toml_lines import lines_of
from agent_hooks.formats.toml_model import problems
from agent_hooks.model.outcome import Decision
from agent_hooks.system.visible import visible

from .check import build_context, decide
from .terminal import apart, line_printer, no_command, print_json, prints_elsewhere

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    _Model = TypeVar("_Model", bound=BaseModel)


class _Case(BaseModel):
    """The options of ``agent-hooks check`` for one event, and the decision that is expected."""

    model_config = ConfigDict(extra="forbid", strict=True)

    event: str = Field(min_length=1)
    expect: str = Field(min_length=1)
    reason: str = ""
    tool: str = ""
    arg: dict[str, Any] = {}
    prompt: str | None = None
    cwd: str = ""
    agent: str = ""


class _CaseFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    case: list[dict[str, Any]] = Field(min_length=1)


def show_cases(path: str, *, cwd: str, agent: str, modules: tuple[str, ...] = (), as_json: bool) -> int:
    """Print the cases of the file ``path`` that are decided otherwise; return 1 if there are any, else 0.

    ``cwd``, ``agent``: for cases without their own. Of a wrong file all mistakes are printed, nothing is asked, and 2
    is returned.
    """
    try:
        cases = _read(path, os.path.abspath(cwd), agent)
    except AgentHooksError as error:
        print("\n".join(map(no_command, visible(str(error), keep="\n").split("\n"))), file=sys.stderr)
        return 2
    notes: dict[str, None] = {}
    differing = []
    for line, case, ctx in cases:
        with apart(), prints_elsewhere():
            manager, _, outcome = decide(ctx, modules)
        notes |= dict.fromkeys((*manager.notes, *(f"agent_hooks: {finding}" for finding in manager.findings)))
        if outcome.decision != Decision.parse(case.expect) or case.reason not in (outcome.reason or ""):
            expected = {"decision": case.expect, "reason": case.reason}
            got = {"decision": str(outcome.decision), "hook": outcome.hook or "", "reason": outcome.reason or ""}
            text = f"{path}:{line}: {case.event}: {_difference(case, outcome)}"
            differing.append({"line": line, "event": case.event, "expected": expected, "got": got, "text": text})
    if as_json:
        print_json({"cases": len(cases), "differing": differing, "notes": [*notes]})
        return int(bool(differing))
    say = line_printer()
    for note in notes:
        say(note, "yellow")
    for each in differing:
        say(each["text"], "bold red")
    verdict = f"{len(differing)} decided otherwise" if differing else "decided as expected"
    say(f"{len(cases)} case{'s' * (len(cases) != 1)}, {verdict}.", "bold red" if differing else "bold green")
    return int(bool(differing))


def _difference(case: _Case, outcome: HookOutcome) -> str:
    reason = f" with the reason {case.reason!r}" if case.reason else ""
    by = f" by {outcome.hook}" if outcome.hook else ""
    why = f": {outcome.reason}" if outcome.reason else ""
    # `allow` is a permission, which answers a question of another hook.
    granted = Decision.parse(case.expect) is Decision.ALLOW and outcome.decision is Decision.PROCEED
    hint = " (no hook objects, and none was needed to allow it)" if granted else ""
    return f"expected {case.expect}{reason}, got {outcome.decision}{by}{why}{hint}"


def _read(path: str, cwd: str, agent: str) -> list[tuple[int, _Case, HookContext]]:
    """Return the cases with their lines and contexts. Raises ``AgentHooksError`` that names every mistake."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        table = tomllib.loads(text)
    except OSError as error:
        raise AgentHooksError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise AgentHooksError(f"{path} is not TOML in UTF-8: {error}.") from error
    reader = Reader(path, lines_of(text))
    whole = _validated(_CaseFile, table, reader)
    found = []
    for number, each in enumerate(whole.case if whole else ()):
        place = ("case", number)
        case = _validated(_Case, each, reader, place)
        try:
            if case:
                Decision.parse(case.expect)
                host, folder = case.agent or agent, os.path.join(cwd, case.cwd)
                ctx = build_context(
                    case.event, tool=case.tool, args=case.arg, prompt=case.prompt, cwd=folder, agent=host
                )
                found.append((reader.line(place), case, ctx))
        except AgentHooksError as error:
            reader.find("wrong-case", place, str(error), "")
    if reader.findings:
        raise AgentHooksError("\n".join(map(str, reader.findings)))
    return found


def _validated(model: type[_Model], table: Any, reader: Reader, at: tuple[str | int, ...] = ()) -> _Model | None:
    """Return ``table`` as the model, None after its mistakes were found."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        for problem in problems(error, model, table, at):
            reader.find("wrong-case", *problem)
    return None
