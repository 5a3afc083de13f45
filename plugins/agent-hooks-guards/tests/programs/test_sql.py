from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import UNKNOWN, Data
from agent_hooks_guards.programs.sql.statements import KINDS, kinds, programs, shells, statements


def kinds_of(*argv: str, stdin: str | None = None) -> set[str]:
    command = Command(argv[0], list(argv), stdin=None if stdin is None else Data(stdin))
    return set(kinds(command, parse(argv[0], list(argv))))


def programs_of(*argv: str, stdin: str | None = None) -> list[str]:
    command = Command(argv[0], list(argv), stdin=None if stdin is None else Data(stdin))
    return programs(command, parse(argv[0], list(argv)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DROP TABLE users", ["drop"]),
        ("drop database if exists shop;", ["drop"]),
        ("DrOp\n\tSCHEMA public CASCADE", ["drop"]),
        ("DROP/* now */TABLE users", ["drop"]),
        ('DROP TABLE "users"', ["drop"]),
        ("DROP KEYSPACE shop", ["drop"]),
        ("DROP EXTERNAL TABLE x", ["drop"]),
        ("SELECT 1; DROP TABLE a; DROP TABLE b", ["drop", "drop"]),
        ("BEGIN; DROP TABLE a; COMMIT", ["drop"]),
        ("IF EXISTS (SELECT 1) DROP TABLE a", ["drop"]),
        ("REMOVE TABLE person", ["drop"]),
        ("ALTER TABLE events DROP PARTITION p2020", ["drop"]),
        ("DROP VIEW report", ["drop-part"]),
        ("drop index concurrently users_name", ["drop-part"]),
        ("DROP ROLE app", ["drop-account"]),
        ("ALTER TABLE users DROP COLUMN email", ["alter-drop"]),
        ("ALTER TABLE users DROP email", ["alter-drop"]),
        ("TRUNCATE users", ["truncate"]),
        ("TRUNCATE TABLE users, orders", ["truncate"]),
        ("INSERT OVERWRITE TABLE users SELECT * FROM other", ["truncate"]),
        ("DELETE FROM users", ["delete-all"]),
        ("DELETE FROM users WHERE 1=1", ["delete-all"]),
        ("DELETE FROM users WHERE (true)", ["delete-all"]),
        ("DELETE FROM users WHERE 'a' = 'a'", ["delete-all"]),
        ("DELETE FROM users WHERE id = 5 OR 1 = 1", ["delete-all"]),
        ("DELETE FROM users WHERE NOT FALSE", ["delete-all"]),
        ("DELETE FROM users WHERE 1 < 2", ["delete-all"]),
        ("DELETE FROM users WHERE 1 <> 2", ["delete-all"]),
        ("DELETE FROM users USING (SELECT id FROM x WHERE a = 1) y", ["delete-all"]),
        ("WITH d AS (DELETE FROM users RETURNING id) SELECT * FROM d WHERE id > 1", ["delete-all"]),
        ("EXPLAIN ANALYZE DELETE FROM users", ["delete-all"]),
        ("ALTER TABLE events DELETE WHERE 1", ["delete-all"]),
        ("DELETE FROM users WHERE id = 5", ["delete"]),
        ("DELETE FROM users WHERE id IN (SELECT id FROM x)", ["delete"]),
        ("UPDATE users SET admin = true", ["update-all"]),
        ("UPDATE users SET admin = true WHERE true", ["update-all"]),
        ("GRANT ALL PRIVILEGES ON DATABASE shop TO dev", ["grant-all"]),
        ("GRANT SELECT ON users TO dev WITH GRANT OPTION", ["grant-all"]),
        ("ALTER USER dev WITH SUPERUSER", ["grant-all"]),
        ("CREATE ROLE dev LOGIN SUPERUSER", ["grant-all"]),
        ("SHUTDOWN", ["shutdown"]),
        ("SYSTEM SHUTDOWN", ["shutdown"]),
        ("RESET MASTER", ["log-loss"]),
        ("COPY t FROM PROGRAM 'id'", ["program"]),
        ("EXEC xp_cmdshell 'whoami'", ["program"]),
        ("COPY users TO '/tmp/users.csv'", ["file"]),
        ("SELECT * FROM users INTO OUTFILE '/tmp/x'", ["file"]),
    ],
)
def test_a_statement_is_known_by_what_it_does_not_by_how_it_is_written(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";;",
        "SELECT 'DROP TABLE users'",
        'SELECT "DROP TABLE users" FROM t',
        "-- DROP TABLE users\nSELECT 1",
        "/* DELETE FROM users */ SELECT 1",
        "CREATE TABLE drop_table (a int)",
        "INSERT INTO notes VALUES ('delete from users; drop table x')",
        "EXPLAIN DELETE FROM users",
        "CREATE TRIGGER t AFTER DELETE ON users EXECUTE FUNCTION f()",
        "CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE ON UPDATE SET NULL)",
        "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
        "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
        "SELECT * FROM users FOR UPDATE",
        "SELECT TRUNCATE(1.234, 2)",
        "GRANT SELECT, DELETE ON users TO report",
        "REVOKE ALL ON users FROM dev",
        "COMMENT ON TABLE t IS 'drop'",
        "ALTER TABLE users ALTER COLUMN email DROP NOT NULL",
        "ALTER TABLE users DROP CONSTRAINT users_key",
        "ALTER TABLE users ADD COLUMN dropped boolean",
        "UPDATE users SET name = 'x' WHERE id = 1",
        "COPY users TO STDOUT",
        "SHOW GRANTS",
        "CREATE PROCEDURE p() BEGIN DELETE FROM users; DROP TABLE x; END; SELECT 1",
        "DROP TABLE #scratch",
    ],
)
def test_what_only_reads_adds_or_speaks_of_it_is_none(text: str) -> None:
    assert statements(text) == []


def test_a_routine_that_is_defined_ends_where_its_body_does() -> None:
    text = "CREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM users; END IF; END; DROP TABLE x"
    assert statements(text) == ["drop"]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("SELECT $$DROP TABLE users$$", "postgres", []),
        ("DO $$ BEGIN DROP TABLE users; END $$", "postgres", ["drop"]),
        ("DO $x$ BEGIN EXECUTE 'DROP TABLE ' || 'users'; END $x$", "postgres", ["drop"]),
        ("SELECT E'it\\'s; DROP TABLE users'", "postgres", []),
        ("/* /* */ DROP TABLE users */ SELECT 1", "postgres", ["drop"]),
        ("SELECT format('DROP TABLE %I', t) FROM x \\gexec", "postgres", ["drop"]),
        ("# DROP TABLE users", "mysql", []),
        ("/*!50000 DROP TABLE users */", "mysql", ["drop"]),
        ("/*M!100100 DROP TABLE users */", "mysql", ["drop"]),
        ("SELECT 'it\\'s; DROP TABLE users'", "mysql", []),
        ("PREPARE s FROM 'DROP TABLE users'", "mysql", ["drop"]),
        ("DROP TABLE [users]", "tsql", ["drop"]),
        ("SELECT 1\nGO\nDROP DATABASE shop\nGO", "tsql", ["drop"]),
        ("EXEC sp_MSforeachtable 'DROP TABLE ?'", "tsql", ["drop"]),
        ("EXEC('TRUNCATE TABLE users')", "tsql", ["truncate"]),
        ("MATCH (n) DETACH DELETE n", "cypher", ["delete-all"]),
        ("MATCH (n:User {id: 1}) DELETE n", "cypher", ["delete"]),
        ("MATCH (n) RETURN n", "cypher", []),
        (".shell ls", "sqlite", []),
        (".output /srv/x.csv\nSELECT 1;", "sqlite", ["file"]),
        (".output ../x.csv\nSELECT 1;", "sqlite", ["file"]),
        (".output x.csv\nSELECT 1;", "sqlite", []),
        (".backup 'copy.db'", "sqlite", []),
        (".tables", "sqlite", []),
        ("FLUSHALL", "redis", ["drop"]),
        ("flushdb async", "redis", ["drop"]),
        ("SET a 1\nFLUSHALL", "redis", ["drop"]),
        ("EVAL \"redis.call('FLUSHALL')\" 0", "redis", ["drop"]),
        ("CONFIG SET dir /tmp", "redis", ["file"]),
        ("MODULE LOAD /tmp/x.so", "redis", ["program"]),
        ("SLAVEOF host 6379", "redis", ["program"]),
        ("REPLICAOF NO ONE", "redis", []),
        ("DEL a b", "redis", ["delete"]),
        ("GET flushall", "redis", []),
        ("db.dropDatabase()", "mongo", ["drop"]),
        ("db['users']['drop']()", "mongo", ["drop"]),
        ("db.runCommand({dropDatabase: 1})", "mongo", ["drop"]),
        ("db.users.deleteMany( { } )", "mongo", ["delete-all"]),
        ("db.users.remove({})", "mongo", ["delete-all"]),
        ("db.users.deleteMany({a: 1})", "mongo", ["delete"]),
        ("db.users.updateMany({}, {$set: {a: 1}})", "mongo", ["update-all"]),
        ("print('db.dropDatabase()') // db.users.drop()", "mongo", []),
        ("db.users.find({})", "mongo", []),
    ],
)
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


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["psql", "-c", "\\! rm -rf /"], ["rm -rf /"]),
        (["psql", "-c", "COPY t TO PROGRAM 'rm -rf /'"], ["rm -rf /"]),
        (["psql", "-c", "\\copy t from program 'ls'"], ["ls"]),
        (["mysql", "-e", "\\! ls"], ["ls"]),
        (["mysql", "-e", "system ls -l"], ["ls -l"]),
        (["sqlite3", "app.db", ".shell ls"], ["ls"]),
        (["sqlite3", "app.db", ".once '|sh'"], ["sh"]),
        (["sqlite3", ":memory:", ".system ls"], ["ls"]),
        (["sqlcmd", "-Q", "EXEC xp_cmdshell 'dir'"], ["dir"]),
        (["psql", "-c", "SELECT 'program'"], []),
        (["cat", "\\! ls"], []),
    ],
)
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
