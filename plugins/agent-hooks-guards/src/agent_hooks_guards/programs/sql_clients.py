"""Database clients, and where each takes its statements from."""

from __future__ import annotations

from agent_hooks_guards.model.record import Record


class Client(Record):
    """How a program is given statements.

    ``options``: alternatives whose values are statements. ``first``: the first operand that is a statement, None for
    none. ``reads``: whether it reads stdin without any other statement. ``under``: the subcommand.
    """

    __slots__ = ("dialect", "first", "options", "reads", "under")

    def __init__(
        self, dialect: str, options: str = "", first: int | None = None, reads: bool = True, under: str = ""
    ) -> None:
        self.dialect = dialect
        self.options = options
        self.first = first
        self.reads = reads
        self.under = under


_POSTGRES = Client("postgres", "-c|--command")
_MYSQL = Client("mysql", "-e|--execute|--init-command")
_CLICKHOUSE = Client("clickhouse", "-q|--query")

CLIENTS: dict[str, tuple[Client, ...]] = {
    "psql": (_POSTGRES,),
    "pgcli": (_POSTGRES,),
    "ysqlsh": (_POSTGRES,),
    "gsql": (_POSTGRES,),
    "vsql": (_POSTGRES,),
    "nzsql": (_POSTGRES,),
    "cockroach": (Client("postgres", "-e|--execute", under="sql"),),
    "usql": (Client("postgres", "-c|--command", None),),
    "mysql": (_MYSQL,),
    "mariadb": (_MYSQL,),
    "mycli": (_MYSQL,),
    "mysqlsh": (Client("mysql", "-e|--execute"),),
    "dolt": (Client("mysql", "-q|--query", under="sql"),),
    "sqlite3": (Client("sqlite", "-cmd", 1),),
    "sqlite": (Client("sqlite", "-cmd", 1),),
    "sqlcipher": (Client("sqlite", "-cmd", 1),),
    "litecli": (Client("sqlite", "-e|--execute"),),
    "duckdb": (Client("sqlite", "-c|-s|-cmd", 1),),
    "rqlite": (Client("sqlite", "", 0),),
    "turso": (Client("sqlite", "", 1, under="db shell"),),
    "wrangler": (Client("sqlite", "--command", under="d1 execute", reads=False),),
    "sqlcmd": (Client("tsql", "-q|-Q|--query", 0, under="query"), Client("tsql", "-q|-Q|--query|--initial-query")),
    "osql": (Client("tsql", "-q|-Q"),),
    "isql": (Client("tsql"),),
    "tsql": (Client("tsql"),),
    "mssql-cli": (Client("tsql", "-Q"),),
    "sqlplus": (Client(""),),
    "sql": (Client(""),),
    "sqlcl": (Client(""),),
    "db2": (Client("", "", 0),),
    "snowsql": (Client("", "-q|--query"),),
    "snow": (Client("", "-q|--query", under="sql"),),
    "bq": (Client("bigquery", "", 0, under="query"),),
    "clickhouse-client": (_CLICKHOUSE,),
    "clickhouse": (Client("clickhouse", "-q|--query", under="client"),),
    "cqlsh": (Client("", "-e|--execute"),),
    "ycqlsh": (Client("", "-e|--execute"),),
    "presto": (Client("", "--execute"),),
    "trino": (Client("", "--execute"),),
    "hive": (Client("hive", "-e"),),
    "beeline": (Client("hive", "-e"),),
    "spark-sql": (Client("hive", "-e"),),
    "impala-shell": (Client("hive", "-q|--query"),),
    "influx": (Client("", "-execute|--execute"),),
    "influxdb3": (Client("", "", 0, under="query"),),
    "ksql": (Client("", "-e|--execute"),),
    "cypher-shell": (Client("cypher", "", 0),),
    "surreal": (Client("", "", under="sql"),),
    "edgedb": (Client("", "-c", 0, under="query"),),
    "gel": (Client("", "-c", 0, under="query"),),
    "wp": (Client("mysql", "", 0, under="db query"),),
    "drush": (
        Client("mysql", "", 0, under="sql:query"),
        Client("mysql", "", 0, under="sqlq"),
        Client("mysql", under="sqlc"),
    ),
    "prisma": (Client("postgres", "", under="db execute"),),
    "heroku": (Client("postgres", "-c|--command", under="pg:psql"),),
    "aws": (
        Client("", "--sql", under="rds-data execute-statement", reads=False),
        Client("", "--sql", under="redshift-data execute-statement", reads=False),
        Client("", "--query-string", under="athena start-query-execution", reads=False),
    ),
    "gcloud": (
        Client("bigquery", "--sql", under="spanner databases execute-sql", reads=False),
        Client("bigquery", "--ddl", under="spanner databases ddl update", reads=False),
        Client("", "", under="sql connect"),
    ),
    "redis-cli": (Client("redis", "", 0),),
    "valkey-cli": (Client("redis", "", 0),),
    "keydb-cli": (Client("redis", "", 0),),
    "mongosh": (Client("mongo", "--eval"),),
    "mongo": (Client("mongo", "--eval"),),
}
