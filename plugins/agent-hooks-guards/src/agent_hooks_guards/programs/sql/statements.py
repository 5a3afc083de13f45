"""The kinds of harm that statements do, by patterns, and the command lines that they give to a shell."""

from __future__ import annotations

import os
import re
from functools import cache
from itertools import islice

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .clients import given_statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

KINDS = frozenset(
    {
        "drop",  # a database, a schema, a table, or all keys: with everything in it
        "drop-part",  # an index, a view, a trigger, a function …: it can be made again
        "drop-account",  # a user or a role
        "alter-drop",  # a column
        "truncate",
        "delete-all",  # without a condition, or with one that always holds
        "delete",  # with a condition
        "update-all",
        "grant-all",  # all privileges, or those of an administrator
        "shutdown",
        "program",  # starts a program, here or on the server, or loads code into the server
        "file",  # writes a file, here or on the server
        "log-loss",  # of the record that restores depend on
    }
)
_LONGEST = 100_000  # characters
_MOST_CLAUSES = 20  # of one statement
_ESCAPING = frozenset(("mysql", "bigquery", "clickhouse", "hive", "cypher"))
_EXECUTES = Pattern(r"\b(?:EXEC|EXECUTE|DO|PREPARE|SP_EXECUTESQL|DBLINK\w*|OPENQUERY|SP_MSFOREACHTABLE)\b|\\GEXEC")
_ROUTINE = Pattern(
    r"\bCREATE\b[^;]{0,80}?\b(?:FUNCTION|PROCEDURE|PROC|TRIGGER|EVENT|PACKAGE|RULE|MACRO)\b"
    r"(?:[^;]{0,2000}?\bBEGIN\b.{0,5000}?\bEND\s*(?:;|$)|[^;]*)",
    re.DOTALL,
)
_HARMLESS = Pattern(r"(?:EXPLAIN|DESC|DESCRIBE) (?!ANALYZE)|REVOKE |COMMENT |GRANT (?!.*(?:ALL|SUPER|OPTION))")
_DELETES = Pattern(r"(?:\bDELETE FROM|^DELETE(?! ON\b)|\bDETACH DELETE|^ALTER .*(?<!ON )\bDELETE|^MATCH .*DELETE) ?")
_UPDATES = Pattern(r"\bUPDATE (?!SET\b)\S+(?: \S+){0,9}? SET ")
# A string in the text that is matched, by its index.
_STRING = Pattern(r"'\x01(\d+)\x01'")
_TRUE = Pattern(r"TRUE|NOT FALSE|0*[1-9][\d.]*|(\w+|'') ?={1,2} ?\1|(\d+) ?(?:<>|!=|<) ?(?!\2\b)\d+")
_WHERE = Pattern(r"\bWHERE\b")
_CONDITION_END = Pattern(r"\b(?:RETURNING|LIMIT|ORDER BY)\b|\) SELECT\b")
_META = Pattern(
    r"^[ \t]*(?:\.(?:output|once|backup|save|clone)|\\[ow])\s+['\"]?(?!\|)(?!/tmp/[^.]|\./[^.])"
    rf"(?:[/~.${UNKNOWN}]|.*\.\.)",
    re.MULTILINE,
)
_SHELLS = (
    re.compile(r"(?:\\!|^[ \t]*\.(?:shell|system)\s)[ \t]*(.+)", re.MULTILINE),
    re.compile(r"(?:^[ \t]*\.(?:output|once|import|read)|\\[ogw])\s+['\"]?\|([^'\"\n]+)", re.MULTILINE),
    re.compile(r"\b(?:PROGRAM|XP_CMDSHELL)\s+N?'((?:[^']|'')*)'", re.IGNORECASE),
)
_CLIENT_COMMAND = Pattern(r"^[ \t]*system\s+([^;\n]+)", re.MULTILINE | re.IGNORECASE)


@cache
def _literals(dialect: str) -> re.Pattern[str]:
    """Return the pattern of comments, strings and quoted names."""
    body = r"(?:[^{0}\\]|{0}{0}|\\.)*+(?:{0}|\Z)" if dialect in _ESCAPING else r"(?:[^{0}]|{0}{0})*+(?:{0}|\Z)"
    comment = r"--[^\n]*|/\*.*?(?:\*/|\Z)" + (r"|\#[^\n]*" if dialect in ("mysql", "bigquery") else "")
    bracket = r"|\[(?P<bracket>[^\]\n]*+)\]" if dialect in ("", "tsql", "sqlite") else ""
    return re.compile(
        rf"(?P<comment>{comment})|(?P<string>[eE]'(?:[^'\\]|''|\\.)*+(?:'|\Z)|'{body.format(chr(39))}"
        rf"|\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))|\"(?P<double>{body.format(chr(34))})|`(?P<name>[^`]*+)`{bracket}",
        re.DOTALL,
    )


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    table = load_tables(os.path.dirname(__file__))["statements"][language]
    return tuple((kind, re.compile(text.replace("\n", ""))) for kind, text in table.items())


def statements(text: str, dialect: str = "") -> list[str]:
    """Return the ``KINDS`` of the statements in ``text``; none for those that only read or add.

    ``dialect``: ``postgres``, ``mysql``, ``tsql``, ``sqlite``, ``bigquery``, ``clickhouse``, ``hive``, ``cypher``,
    ``redis``, ``mongo``, or "" for any other.
    """
    text = text[:_LONGEST]
    if dialect == "redis":
        lines = [" ".join(line.replace('"', "").upper().split()) for line in text.splitlines()]
        return [kind for line in lines for kind, pattern in _patterns("redis") if pattern.search(line)]
    if dialect == "mongo":
        return _mongo(text)
    found = list(_kinds(text, dialect, 0))
    return [*found, "file"] if _META.search(text) else found


def is_sql(text: str) -> bool:
    """Whether ``text`` is SQL rather than a question about it: a statement begins, and has signs that prose has not."""
    plain = _literals("").sub(lambda match: " " if match["comment"] is not None else match[0], text[:_LONGEST])
    return all(pattern.search(plain.upper()) for _, pattern in _patterns("is_sql"))


def _kinds(text: str, dialect: str, depth: int) -> Iterator[str]:
    strings: list[str] = []

    def replace(match: re.Match[str]) -> str:
        if match["comment"] is not None:
            return " "
        if match["string"] is not None or (dialect in _ESCAPING and match["double"] is not None):
            strings.append(match[0].strip("'\"$").replace("''", "'"))
            return f"'\x01{len(strings) - 1}\x01'"
        name = (match["double"] or match["name"] or (match.groupdict().get("bracket") or "")).strip('"')
        return name if name.isidentifier() else '""'

    if dialect == "mysql":
        text = re.sub(r"/\*M?!\d*", " ", text)  # the server runs the text of these comments
    text = _literals(dialect).sub(replace, text)
    end = re.compile(r";|^GO$" if dialect == "tsql" else ";", re.MULTILINE)
    for statement in end.split(_ROUTINE.sub("", text.upper())):
        plain = " ".join(_STRING.sub("''", statement).split())
        if plain and _HARMLESS.match(plain) is None:
            if depth < 4 and _EXECUTES.search(plain):
                inner = "".join(strings[int(at)] for at in _STRING.findall(statement))
                yield from _kinds(inner, dialect, depth + 1)
            yield from (kind for kind, pattern in _patterns("sql") if pattern.search(plain))
            yield from _unconditional(plain)


def _unconditional(statement: str) -> Iterator[str]:
    """Return the kinds of the deletions and updates in a statement, by their conditions."""
    for match in islice(_DELETES.finditer(statement), _MOST_CLAUSES):
        names = statement[: match.end()] if statement.startswith("MATCH") else ""
        yield "delete" if "{" in names or _has_condition(statement[match.end() :], names) else "delete-all"
    for match in islice(_UPDATES.finditer(statement), _MOST_CLAUSES):
        if not _has_condition(statement[match.end() :], ""):
            yield "update-all"


def _has_condition(text: str, before: str) -> bool:
    """Whether a deletion or an update is bound to a condition that can fail. ``before``: the text that names rows."""
    wheres = list(islice(_WHERE.finditer(text), _MOST_CLAUSES))
    wheres = [each for each in wheres if text.count("(", 0, each.start()) == text.count(")", 0, each.start())]
    if not wheres:
        return bool(_WHERE.search(before)) or UNKNOWN in text.partition(" ")[2]
    condition = _CONDITION_END.split(text[wheres[0].end() :])[0]
    if "SELECT" not in condition:
        condition = condition.replace("(", " ").replace(")", " ")
    return not any(_TRUE.fullmatch(term.strip()) for term in re.split(r"\bOR\b", condition))


def shells(text: str, dialect: str) -> list[str]:
    r"""Return the command lines for a shell: ``\! ls``, ``.shell ls``, ``COPY t TO PROGRAM 'ls'``."""
    patterns = (*_SHELLS, _CLIENT_COMMAND) if dialect == "mysql" else _SHELLS
    return [command.strip() for pattern in patterns for command in pattern.findall(text[:_LONGEST]) if command.strip()]


_MONGO_STRING = Pattern(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|(["'`])((?:[^\\"'`]|\\.|(?!\1)["'`])*+)(?:\1|\Z)""", re.DOTALL)
_MONGO_MEMBER = Pattern(r"""\[\s*["'`](\w+)["'`]\s*\]""")


def _mongo(text: str) -> list[str]:
    """Return the kinds of the calls of a script for mongosh."""
    code = _MONGO_MEMBER.sub(r".\1", text)
    kept = ("dropDatabase", "drop", "root")
    code = _MONGO_STRING.sub(lambda match: match[2] if match[2] in kept else "''" if match[1] else " ", code)
    return [kind for kind, pattern in _patterns("mongo") if pattern.search(code)]


def kinds(command: Command, options: Options) -> frozenset[str]:
    """Return the ``KINDS`` of the statements for a database client."""
    given = given_statements(command, options)
    found = frozenset(kind for text, dialect in given for kind in statements(text, dialect))
    return frozenset() if found and options.is_in_force("--dry_run") else found


def programs(command: Command, options: Options) -> list[str]:
    """Return the command lines that a database client would give to a shell."""
    if command.program not in declarations().clients:
        return []
    given = given_statements(command, options, scratch=True)
    return [line for text, dialect in given for line in shells(text, dialect)]


def files(command: Command, options: Options) -> list[tuple[str, str]]:
    """Return the files that a database client would write and read, each behind ``write`` or ``read``."""
    texts = [text[:_LONGEST] for text, _ in given_statements(command, options, scratch=True)]
    found = [(kind, path) for text in texts for kind, each in _patterns("files") for path in each.findall(text)]
    return [each for each in found if each[1] not in ("stdout", "stderr", "on", "off")]
