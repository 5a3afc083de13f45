from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import UNKNOWN, Data
from agent_hooks_guards.programs.sql.statements import KINDS, kinds, programs, shells, statements
from tables import tables

TABLES = tables(__file__)


def kinds_of(*argv: str, stdin: str | None = None) -> set[str]:
    command = Command(argv[0], list(argv), stdin=None if stdin is None else Data(stdin))
    return set(kinds(command, parse(argv[0], list(argv))))


def programs_of(*argv: str, stdin: str | None = None) -> list[str]:
    command = Command(argv[0], list(argv), stdin=None if stdin is None else Data(stdin))
    return programs(command, parse(argv[0], list(argv)))


@pytest.mark.parametrize(("text", "expected"), TABLES["a_statement_is_known_by_what_it_does_not_by_how_it_is_written"])
def test_a_statement_is_known_by_what_it_does_not_by_how_it_is_written(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@pytest.mark.parametrize("text", TABLES["what_only_reads_adds_or_speaks_of_it_is_none"])
def test_what_only_reads_adds_or_speaks_of_it_is_none(text: str) -> None:
    assert statements(text) == []


def test_a_routine_that_is_defined_ends_where_its_body_does() -> None:
    text = "CREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM users; END IF; END; DROP TABLE x"
    assert statements(text) == ["drop"]


@pytest.mark.parametrize(("text", "dialect", "expected"), TABLES["each_dialect_has_its_own_ways"])
def test_each_dialect_has_its_own_ways(text: str, dialect: str, expected: list[str]) -> None:
    assert statements(text, dialect) == expected


def test_a_condition_that_is_not_known_may_be_one() -> None:
    assert statements(f"DELETE FROM users {UNKNOWN}") == ["delete"]
    assert statements(f"DELETE FROM {UNKNOWN}") == ["delete-all"]
    assert statements(f"UPDATE users SET a = 1 {UNKNOWN}") == []


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["psql", "-tAc", "DROP TABLE x"], {"drop"}),
        (["psql", "--command=SELECT 1", "-c", "TRUNCATE x"], {"truncate"}),
        (["psql", "drop", "table"], set()),
        (["mysql", "-uroot", "-eDROP TABLE x", "shop"], {"drop"}),
        (["mariadb", "--execute", "delete from x"], {"delete-all"}),
        (["sqlite3", "app.db", "DROP TABLE x"], {"drop"}),
        (["sqlite3", "-cmd", ".mode box", "app.db", "DROP TABLE x"], {"drop"}),
        (["sqlite3", "-readonly", "app.db", "DROP TABLE x"], set()),
        (["sqlite3", ":memory:", "CREATE TABLE x(a); DROP TABLE x"], set()),
        (["sqlite3", ":memory:", "ATTACH 'app.db' AS a; DROP TABLE a.x"], {"drop"}),
        (["sqlite3", "file:app.db?mode=ro", "DROP TABLE x"], set()),
        (["duckdb", "app.duckdb", "-s", "DROP TABLE x"], {"drop"}),
        (["duckdb", "-c", "CREATE TABLE x(a int); DROP TABLE x"], set()),
        (["sqlcmd", "-S", "db", "-Q", "DROP DATABASE x"], {"drop"}),
        (["sqlcmd", "query", "DROP DATABASE x"], {"drop"}),
        (["bq", "query", "DROP TABLE shop.x"], {"drop"}),
        (["bq", "query", "--dry_run", "DROP TABLE shop.x"], set()),
        (["redis-cli", "-n", "2", "FLUSHDB"], {"drop"}),
        (["mongosh", "shop", "--eval", "db.dropDatabase()"], {"drop"}),
        (["aws", "rds-data", "execute-statement", "--sql", "DROP TABLE x"], {"drop"}),
        (["aws", "s3", "ls", "--sql", "DROP TABLE x"], set()),
        (["echo", "DROP TABLE x"], set()),
    ],
)
def test_a_client_is_given_statements_in_its_own_words(argv: list[str], expected: set[str]) -> None:
    assert kinds_of(*argv) == expected


def test_a_client_without_a_statement_reads_its_input() -> None:
    assert kinds_of("psql", "app", stdin="DROP TABLE x;") == {"drop"}
    assert kinds_of("mysql", "shop", stdin="select 1") == set()
    assert kinds_of("psql", "-c", "SELECT 1", stdin="DROP TABLE x") == set()
    assert kinds_of("redis-cli", stdin="FLUSHALL\n") == {"drop"}
    assert kinds_of("cat", stdin="DROP TABLE x") == set()


@pytest.mark.parametrize(("argv", "expected"), TABLES["the_programs_that_a_client_starts_are_told"])
def test_the_programs_that_a_client_starts_are_told(argv: list[str], expected: list[str]) -> None:
    assert programs_of(*argv) == expected


DIALECTS = ("", "postgres", "mysql", "tsql", "sqlite", "bigquery", "clickhouse", "hive", "cypher", "redis", "mongo")
PIECES = st.sampled_from(
    [
        *"'\"`[](){};$\\/*-#\n .,",
        "DROP",
        "TABLE",
        "DELETE",
        "FROM",
        "WHERE",
        "$$",
        "/*",
        "*/",
        "--",
        "E'",
        "a",
        "1",
        UNKNOWN,
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60), st.sampled_from(DIALECTS))
def test_no_text_is_too_odd(text: str, dialect: str) -> None:
    assert set(statements(text, dialect)) <= KINDS
    assert all(isinstance(program, str) for program in shells(text, dialect))


@given(
    st.sampled_from(["drop table users", "delete from users", "truncate table users", "drop database shop"]),
    st.lists(st.sampled_from([" ", "\n", "\t", "/* x */", "/*'*/", "-- x\n", "  "]), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=25, max_size=25),
    st.sampled_from(["", ";", "; select 1", " ;; "]),
)
def test_blanks_comments_and_capitals_change_nothing(
    text: str, gaps: list[str], capitals: list[bool], end: str
) -> None:
    plain = statements(text)
    words = ["".join(c.upper() if big else c for c, big in zip(word, capitals, strict=False)) for word in text.split()]
    written = words[0] + "".join(gap + word for gap, word in zip(gaps, words[1:], strict=False)) + end
    assert statements(written, "postgres") == plain
    assert statements(f"select '{text}'") == []


LONG = [
    "'" * 200_000,
    "(" * 200_000,
    "/*" * 200_000,
    "/*!" * 30_000,
    "$a" * 100_000,
    "\n" * 100_000,
    "DROP " * 100_000,
    "DELETE FROM a WHERE (" * 5_000,
    "UPDATE a SET " * 7_000,
    "CREATE FUNCTION BEGIN ;" * 4_300,
]


@pytest.mark.parametrize("dialect", ["", "postgres", "mysql", "tsql"])
@pytest.mark.parametrize("text", LONG)
def test_a_long_text_ends(text: str, dialect: str) -> None:
    assert set(statements(text, dialect)) <= KINDS


def test_the_clients_are_programs_whose_statement_options_are_known() -> None:
    assert "psql" in declarations().clients
    assert "cat" not in declarations().clients
