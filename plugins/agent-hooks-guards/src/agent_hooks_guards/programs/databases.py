"""Clients of databases whose statements run programs: ``!`` of psql, ``system`` of mysql, ``.shell`` of sqlite3."""

from __future__ import annotations

from agent_hooks_guards.model.values import Data

from .sql.statements import programs
from .unwrapping import shell, values_as_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options


def _inner(command: Command, options: Options) -> list[Inner]:
    labels = command.labels_of().union(command.stdin.labels if command.stdin else ())
    found = values_as_shell(command, options, "--pager", command.name) if command.name == "mysql" else []
    return found + [each for text in programs(command, options) for each in shell(Data(text, labels), command.name)]


INNER = dict.fromkeys(("psql", "mysql", "sqlite3", "duckdb", "sqlcmd"), _inner)
