"""What a statement given to a database client would do: SQL in its dialects, and what Redis and MongoDB speak."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent_hooks_guards.model.values import UNKNOWN

from .sql_clients import CLIENTS

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

KINDS = frozenset(
    {
        "drop",  # a database, a schema, a table, or all keys: with everything in it
        "drop-part",  # an index, a view, a trigger, a function …: what can be made again
        "drop-account",  # a user or a role
        "alter-drop",  # a column
        "truncate",
        "delete-all",  # without a condition, or with one that always holds
        "delete",  # with a condition
        "update-all",
        "grant-all",  # all privileges, or those of an administrator
        "shutdown",
        "program",  # starts a program, on this machine or on the server's, or loads code into the server
        "file",  # writes a file, here or on the server
        "log-loss",  # the record of what was done, which restores depend on
    }
)

_LONGEST = 1_000_000  # characters that are looked at
_LONGEST_REMEMBERED = 4_096

_WHOLE = frozenset(
    "TABLE DATABASE SCHEMA KEYSPACE TABLES CATALOG TABLESPACE OWNED COLUMNFAMILY MEASUREMENT SERIES BUCKET WAREHOUSE"
    " STAGE STREAM NAMESPACE RETENTION DB CLASS COLLECTION EXTERNAL FOREIGN TRANSIENT PLUGGABLE".split()
)
_PART = frozenset(
    "INDEX VIEW TRIGGER FUNCTION PROCEDURE SEQUENCE TYPE DOMAIN MATERIALIZED EXTENSION POLICY RULE SYNONYM AGGREGATE"
    " EVENT DICTIONARY PUBLICATION SUBSCRIPTION SERVER CONSTRAINT PACKAGE LANGUAGE OPERATOR TASK PIPE".split()
)
_DATABASES = frozenset({"DATABASE", "SCHEMA"})
_ACCOUNT = frozenset({"USER", "ROLE", "LOGIN", "GROUP"})
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "EVENT", "PACKAGE", "RULE", "MACRO"})
# After these words, string literals are statements again.
_EXECUTORS = frozenset(
    {"EXEC", "EXECUTE", "DO", "PREPARE", "SP_EXECUTESQL", "DBLINK_EXEC", "DBLINK", "OPENQUERY", "SP_MSFOREACHTABLE"}
)
_RUNS_PROGRAMS = frozenset({"XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL", "SP_OACREATE", "LOAD_EXTENSION", "DBMS_SCHEDULER"})
_WRITES_FILES = frozenset({"LO_EXPORT", "WRITEFILE", "OUTFILE", "DUMPFILE"})
_STARTS = frozenset({"DELETE", "UPDATE", "INSERT", "DROP", "TRUNCATE", "CREATE", "ALTER", "BEGIN", "END", "ELSE", "GO"})


class Token(NamedTuple):
    """A piece of a statement. ``kind``: ``word`` (its text in upper case), ``name`` (a quoted one), ``string``,
    ``number``, ``meta`` (a line for the client itself) or ``other``.
    """

    kind: str
    text: str


@cache
def _pattern(dialect: str) -> re.Pattern[str]:
    import re

    backslashes = dialect in {"mysql", "bigquery", "clickhouse", "hive", "cypher"}
    body = {
        mark: rf"(?:[^{mark}\\]|{mark}{mark}|\\.)*+" if backslashes else rf"(?:[^{mark}]|{mark}{mark})*+"
        for mark in "'\""
    }
    double = "string" if backslashes else "name"
    parts = [
        r"(?P<space>\s+|--[^\n]*" + (r"|\#[^\n]*" if dialect in {"mysql", "bigquery"} else "") + ")",
        r"(?P<comment>/\*)",
        r"(?P<end>\*/)",
        r"(?P<escaped>[eE]'(?:[^'\\]|''|\\.)*+(?:'|\Z))" if dialect == "postgres" else "",
        rf"(?P<string>[nNbBxXrR]?'{body[chr(39)]}(?:'|\Z))",
        r"(?P<dollar>\$(?P<tag>[^\W\d]\w*|)\$.*?(?:\$(?P=tag)\$|\Z))" if dialect in {"", "postgres"} else "",
        rf"(?P<{double}2>\"{body[chr(34)]}(?:\"|\Z))",
        r"(?P<name>`[^`]*+(?:`|\Z)" + (r"|\[[^\]\n]*+\]" if dialect in {"", "tsql", "sqlite"} else "") + ")",
        r"(?P<meta>\\(?:!|[a-z]\w*)[^\n]*)" if dialect in {"postgres", "mysql"} else "",
        r"(?P<meta>^\.[a-z]+[^\n]*)" if dialect == "sqlite" else "",
        r"(?P<word>[^\W\d][\w$]*|[@\#]+\w+)",
        r"(?P<number>\d[\w.]*)",
        r"(?P<other>.)",
    ]
    return re.compile("|".join(filter(None, parts)), re.DOTALL | re.MULTILINE)


def _tokens(text: str, dialect: str) -> Iterator[Token]:
    match_at = _pattern(dialect).match
    at = 0
    while at < len(text):
        found = match_at(text, at)
        if found is None:  # pragma: no cover - the last alternative takes any character
            return
        kind, whole, at = found.lastgroup or "", found[0], found.end()
        if kind == "tag":
            kind = "dollar"
        if kind == "comment":
            if dialect == "mysql" and text.startswith(("!", "M!"), at):
                at += 1 if text[at] == "!" else 2  # what is in it is run, from the version on that the digits name
                while text[at : at + 1].isdigit():
                    at += 1
            else:
                at = _comment_end(text, at, nests=dialect in {"postgres", "tsql"})
        elif kind == "word":
            yield Token("word", whole.upper())
        elif kind == "dollar":
            tag = whole[: whole.index("$", 1) + 1]
            yield Token("string", whole[len(tag) :].removesuffix(tag))
        elif kind in {"string", "string2", "escaped"}:
            yield Token("string", _unquoted(whole[0 if whole[0] in "'\"" else 1 :]))
        elif kind in {"name", "name2"}:
            yield Token("name", whole.strip('`"[]'))
        elif kind not in {"space", "end"}:
            yield Token(kind, whole)


# What a text gives to a shell and what its statements do is asked one after the other.
_remembered = lru_cache(maxsize=4)(lambda text, dialect: tuple(_tokens(text, dialect)))


def _tokenised(text: str, dialect: str) -> Iterable[Token]:
    return _remembered(text, dialect) if len(text) <= _LONGEST_REMEMBERED else _tokens(text, dialect)


def _comment_end(text: str, at: int, *, nests: bool) -> int:
    depth = 1
    while depth:
        closes = text.find("*/", at)
        if closes < 0:
            return len(text)
        opens = text.find("/*", at, closes) if nests else -1
        at, depth = (opens + 2, depth + 1) if opens >= 0 else (closes + 2, depth - 1)
    return at


def _unquoted(text: str) -> str:
    mark = text[0]
    inside = text[1:-1] if len(text) > 1 and text.endswith(mark) else text[1:]
    return inside.replace(mark * 2, mark)


def _split(tokens: Iterable[Token], dialect: str) -> Iterator[list[Token]]:
    statement: list[Token] = []
    blocks = 0  # of a routine's body, in which a semicolon ends nothing
    previous = ""
    for token in tokens:
        word = token.text if token.kind == "word" else ""
        if statement and _defines_routine(statement):
            if word in {"BEGIN", "CASE"} and previous != "END":
                blocks += 1
            elif blocks and word == "END":
                blocks -= 1
            elif blocks and previous == "END" and word in {"IF", "LOOP", "WHILE", "REPEAT", "FOR"}:
                blocks += 1  # it was not the block that ended
        previous = word
        ends = token.text == ";" if not blocks else False
        if token.kind == "meta":
            if token.text.startswith("\\g"):
                statement.append(token)
                yield statement
            else:
                yield from ([statement] if statement else [])
                yield [token]
            statement, blocks = [], 0
        elif ends or (word == "GO" and dialect == "tsql"):
            yield statement
            statement, blocks = [], 0
        else:
            statement.append(token)
    yield statement


def _defines_routine(statement: list[Token]) -> bool:
    return statement[0] == ("word", "CREATE") and any(
        token.kind == "word" and token.text in _ROUTINES for token in statement[1:6]
    )


def statements(text: str, dialect: str = "") -> list[str]:
    """The ``KINDS`` of harm that the statements of ``text`` do, in their order; none for those that only read or add.

    ``dialect``: ``postgres``, ``mysql``, ``tsql``, ``sqlite``, ``bigquery``, ``clickhouse``, ``hive``, ``cypher``,
    ``redis``, ``mongo``, or "" for what most have in common. Never raises.
    """
    if dialect == "redis":
        return [kind for line in text[:_LONGEST].splitlines() for kind in _redis(line.replace('"', "").split())]
    if dialect == "mongo":
        return _mongo(text[:_LONGEST])
    return list(_kinds(text[:_LONGEST], dialect, 0))


def _kinds(text: str, dialect: str, depth: int) -> Iterator[str]:
    for statement in _split(_tokenised(text, dialect), dialect):
        if statement:
            yield from _kinds_of(statement, dialect, depth)


def _kinds_of(statement: list[Token], dialect: str, depth: int) -> Iterator[str]:
    first = statement[0].text if statement[0].kind != "string" else ""
    words = [token.text if token.kind == "word" else "" for token in statement]
    if statement[0].kind == "meta":
        yield from _meta(first)
        return
    if (first in {"EXPLAIN", "DESCRIBE", "DESC"} and "ANALYZE" not in words) or _defines_routine(statement):
        return
    is_run = not _EXECUTORS.isdisjoint(words) or statement[-1].text.startswith("\\gexec")
    if is_run and depth < 4:
        yield from _kinds("".join(token.text for token in statement if token.kind == "string"), dialect, depth + 1)
    if first == "ALTER":
        yield from _alter(statement, words)
        return
    if first == "GRANT":
        if "ALL" in words or "SUPER" in words or words[-3:] == ["WITH", "GRANT", "OPTION"]:
            yield "grant-all"
        return
    if first in {"COMMENT", "REVOKE"}:
        return
    if first == "SYSTEM" and dialect == "mysql":  # to its client, which gives it to a shell
        return
    for at, word in enumerate(words):
        if word:
            yield from _at(statement, words, at)


def _at(statement: list[Token], words: list[str], at: int) -> Iterator[str]:
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    is_first = at == 0 or words[at - 1] in {"BEGIN", "THEN", "ELSE", "LOOP"}
    if word == "DROP" and not (after == "TABLE" and _is_temporary(statement, at + 2)):
        for kind, things in (("drop", _WHOLE), ("drop-account", _ACCOUNT), ("drop-part", _PART)):
            if after in things and not (after in _DATABASES and _is_for_tests(statement, at + 2)):
                yield kind
    elif word == "REMOVE" and is_first and after in _WHOLE:
        yield "drop"
    elif word == "TRUNCATE" and (after == "TABLE" or (is_first and statement[at + 1 : at + 2])):
        yield "truncate"
    elif word == "DELETE" and _deletes(statement, words, at, after, is_first=is_first):
        yield "delete" if _has_condition(statement, at) else "delete-all"
    elif word == "UPDATE" and after != "SET" and "SET" in words[at + 1 : at + 12] and not _has_condition(statement, at):
        yield "update-all"
    elif word == "OVERWRITE" and words[at - 1] == "INSERT":
        yield "truncate"
    elif word == "SHUTDOWN" and (is_first or words[at - 1] == "SYSTEM"):
        yield "shutdown"
    elif word in {"RESET", "PURGE"} and is_first and after in {"MASTER", "BINARY"}:
        yield "log-loss"
    elif word in _RUNS_PROGRAMS or (word == "PROGRAM" and words[0] == "COPY"):
        yield "program"
    elif word in _WRITES_FILES or (word == "COPY" and at == 0 and _copies_to_file(statement, words)):
        yield "file"
    elif word in {"SUPERUSER", "SYSADMIN", "ACCOUNTADMIN"} and words[0] in {"CREATE", "EXEC", "EXECUTE"}:
        yield "grant-all"


def _deletes(statement: list[Token], words: list[str], at: int, after: str, *, is_first: bool) -> bool:
    if after == "FROM" or words[at - 1] == "DETACH" or (words[0] in {"MATCH", "OPTIONAL"} and at > 0):
        return True
    return is_first and at + 1 < len(statement) and after not in {"ON", "CASCADE"}


def _copies_to_file(statement: list[Token], words: list[str]) -> bool:
    return any(
        word == "TO" and statement[at + 1 : at + 2] and statement[at + 1].kind == "string"
        for at, word in enumerate(words)
    )


def _is_temporary(statement: list[Token], at: int) -> bool:
    is_named = False
    for position in range(at, len(statement)):
        text = statement[position].text
        if text in {"IF", "EXISTS", ","}:
            continue
        if not text.startswith("#"):
            return False
        is_named = True
    return is_named


def _is_for_tests(statement: list[Token], at: int) -> bool:
    """Whether the one database that is named there was made for tests, by its name."""
    names = [token.text.lower() for token in statement[at:] if token.text not in {"IF", "EXISTS"}]
    return "," not in names and bool(names) and (names[0].startswith("test_") or names[0].endswith("_test"))


def _alter(statement: list[Token], words: list[str]) -> Iterator[str]:
    if not _ACCOUNT.isdisjoint(words[1:2]) and not {"SUPERUSER", "SYSADMIN"}.isdisjoint(words):
        yield "grant-all"
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in {"DROP", "TRUNCATE"} and after in {"PARTITION", "SUBPARTITION"}:
            yield "drop" if word == "DROP" else "truncate"
        elif (
            word == "DROP"
            and at > 1
            and after
            not in {
                "CONSTRAINT",
                "INDEX",
                "DEFAULT",
                "NOT",
                "IDENTITY",
                "PRIMARY",
                "FOREIGN",
                "CHECK",
                "EXPRESSION",
                "KEY",
            }
        ):
            yield "alter-drop"
        elif word == "DELETE" and at > 1 and words[at - 1] not in {"ON", "CASCADE"}:
            yield "delete" if _has_condition(statement, at) else "delete-all"


def _has_condition(statement: list[Token], start: int) -> bool:
    """Whether what starts there is bound to a condition that can fail. What is not known may hold one."""
    depth = 0
    at = start + 1
    for at in range(start + 1, len(statement)):
        kind, text = statement[at]
        if text in {"(", "{"} and kind == "other":
            depth += 1
        elif text in {")", "}"} and kind == "other":
            depth -= 1
        if depth < 0 or (depth == 0 and kind == "word" and text in _STARTS):
            break
        if depth == 0 and kind == "word" and text == "WHERE":
            return not _always_holds(statement[at + 1 :])
    if statement[0].text == "MATCH":  # Cypher names what it deletes before
        return any(token.text in {"WHERE", "{"} for token in statement[:start])
    return "\ue000" in "".join(token.text for token in statement[start + 3 :])


def _always_holds(condition: list[Token]) -> bool:
    terms: list[list[Token]] = [[]]
    depth = 0
    for token in condition:
        if token.kind == "other" and token.text in "()":
            depth += 1 if token.text == "(" else -1
            if depth < 0:
                break
        elif token.kind == "word" and token.text == "OR" and depth == 0:
            terms.append([])
        elif depth == 0 and token.kind == "word" and token.text in {"RETURNING", "LIMIT", "ORDER", *_STARTS}:
            break
        else:
            terms[-1].append(token)
    return any(map(_is_true, terms))


def _is_true(term: list[Token]) -> bool:
    texts = [token.text for token in term]
    if len(term) == 1:
        return texts[0] == "TRUE" or (term[0].kind == "number" and texts[0].strip("0.") != "")
    if len(term) == 3 and texts[1] in {"=", "<"}:
        return (
            texts[0] == texts[2]
            if texts[1] == "="
            else all(text.isdigit() for text in texts[::2]) and int(texts[0][:9]) < int(texts[2][:9])
        )
    if len(term) == 4 and texts[1:3] in (["=", "="], ["<", ">"], ["!", "="]):
        return (texts[0] == texts[3]) == (texts[1] == "=") and term[0].kind == term[3].kind != "word"
    return texts == ["NOT", "FALSE"]


_WRITING_LINES = (".output ", ".once ", ".backup ", ".save ", ".clone ", "\\o ", "\\w ")


def _meta(line: str) -> Iterator[str]:
    # What it gives to a shell is judged by what that does.
    if not _programs_of_line(line) and line.startswith(_WRITING_LINES) and _is_elsewhere(line):
        yield "file"


def _is_elsewhere(line: str) -> bool:
    """Whether the file that ends a line is another than a plain one of this folder, or a temporary one."""
    path = line.rpartition(" ")[2].strip("'\"")
    if path.startswith(("/tmp/", "./")):  # noqa: S108 - a name of theirs, nothing is written
        return ".." in path
    return path[:1] in ("/", "~", ".", "$", UNKNOWN) or ".." in path


def _programs_of_line(line: str) -> str:
    """The shell's text in a line for the client itself."""
    name, _, rest = line.partition(" ")
    if line.startswith("\\!"):
        return line[2:].strip()
    if name in {".shell", ".system", "system"}:
        return rest.strip()
    if name in {".output", ".once", ".import", ".read", "\\o", "\\g", "\\w"} and rest.strip(" '\"").startswith("|"):
        return rest.strip(" '\"")[1:].strip()
    if name == "\\copy" and " program " in rest.lower():
        return rest[rest.lower().index(" program ") + 9 :].strip().strip("'")
    return ""


def shells(text: str, dialect: str) -> list[str]:
    r"""The texts that a client gives to a shell: ``\! ls``, ``.shell ls``, ``COPY t TO PROGRAM 'ls'``. Never raises."""
    found = []
    if dialect == "mysql":
        found += [
            line.strip()[7:].rstrip(";") for line in text.splitlines() if line.strip().lower().startswith("system ")
        ]
    for statement in _split(_tokenised(text[:_LONGEST], dialect), dialect):
        for at, token in enumerate(statement):
            if token.kind == "meta":
                found.append(_programs_of_line(token.text))
            elif token.kind == "string" and at and statement[at - 1].text in {"PROGRAM", "XP_CMDSHELL"}:
                found.append(token.text)
    return [program for program in found if program]


def _redis(words: list[str]) -> Iterator[str]:
    """What a Redis command does: https://redis.io/docs/latest/commands/."""
    if not words:
        return
    name, second = words[0].upper(), (words[1].upper() if len(words) > 1 else "")
    if name in {"FLUSHALL", "FLUSHDB"} or (name == "CLUSTER" and second in {"RESET", "FLUSHSLOTS"}):
        yield "drop"
    elif name == "SHUTDOWN" or (name == "DEBUG" and second in {"SEGFAULT", "PANIC", "RESTART", "CRASH-AND-RECOVER"}):
        yield "shutdown"
    elif (name == "MODULE" and second in {"LOAD", "LOADEX"}) or (name in {"SLAVEOF", "REPLICAOF"} and second != "NO"):
        yield "program"
    elif (
        name == "CONFIG"
        and second == "SET"
        and words[2:3]
        and words[2].lower() in {"dir", "dbfilename", "appendfilename"}
    ):
        yield "file"
    elif name in {"DEL", "UNLINK"}:
        yield "delete"
    elif name == "EVAL":
        script = " ".join(words[1:]).lower()
        if "flushall" in script or "flushdb" in script:
            yield "drop"
        elif "'del'" in script or "'unlink'" in script:
            yield "delete"


@cache
def _mongo_patterns() -> tuple[re.Pattern[str], re.Pattern[str], tuple[tuple[str, re.Pattern[str]], ...]]:
    import re

    kinds = (
        ("drop", r"\.dropDatabase\s*\(|\.drop(?:Collection)?\s*\(|\bdropDatabase\s*:|[({,]\s*drop\s*:"),
        ("drop-part", r"\.dropIndex(?:es)?\s*\(|\bdropIndexes\s*:"),
        ("drop-account", r"\.drop(?:AllUsers|AllRoles|User|Role)(?:FromDatabase)?\s*\("),
        ("delete-all", r"\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\}\s*[,)]|\))|\bq\s*:\s*\{\s*\}\s*,\s*limit\s*:\s*0"),
        ("delete", r"\.(?:deleteMany|deleteOne|remove|findOneAndDelete|findAndModify|bulkWrite)\s*\("),
        ("update-all", r"\.(?:updateMany|update|replaceOne)\s*\(\s*\{\s*\}\s*,"),
        ("shutdown", r"\.shutdownServer\s*\(|\bshutdown\s*:\s*1"),
        ("grant-all", r"\.grantRolesToUser\s*\([^)]*root"),
    )
    strings = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|(["'`])((?:[^\\"'`]|\\.|(?!\1)["'`])*+)(?:\1|\Z)""", re.DOTALL)
    return (
        strings,
        re.compile(r"""\[\s*["'`](\w+)["'`]\s*\]"""),
        tuple((kind, re.compile(text)) for kind, text in kinds),
    )


def _mongo(text: str) -> list[str]:
    """What a script for mongosh does: its calls, not what its strings and comments say."""
    strings, members, kinds = _mongo_patterns()
    text = members.sub(r".\1", text)
    code = strings.sub(
        lambda found: f"«{found[2]}»" if found[2] in {"dropDatabase", "drop", "root"} else "«»" if found[1] else " ",
        text,
    )
    code = code.replace("«drop»", "drop").replace("«dropDatabase»", "dropDatabase").replace("«root»", "root")
    found = [kind for kind, pattern in kinds if pattern.search(code)]
    if "delete-all" in found and "delete" in found:
        found.remove("delete")
    return found


def _given(command: Command, options: Options, *, scratch: bool = False) -> Iterator[tuple[str, str]]:
    """The texts that a client is given, and their dialects. ``scratch``: also those for a database of no worth."""
    words = [*options.subcommand, *[command.argv[at] for at in options.operands]]
    for client in CLIENTS.get(command.program, ()):
        if client.under and not words:
            continue
        under = client.under.split()
        if words[: len(under)] != under:
            continue
        rest = words[len(under) :]
        names = frozenset(client.options.split("|"))
        texts = [value for name, value in options.given if value is not None and name in names]
        if client.first is not None and len(rest) > client.first:
            texts.append(("\n" if client.dialect == "sqlite" else " ").join(rest[client.first :]))
        if not scratch and client.dialect == "sqlite" and _is_scratch(command.program, rest, options, texts):
            return
        if client.reads and not texts and command.stdin is not None:
            texts.append(command.stdin.text)
        for text in texts:
            yield text, client.dialect
        return


def _is_scratch(program: str, operands: list[str], options: Options, texts: list[str]) -> bool:
    """Whether the database is opened for reading alone, or is one for the moment."""
    if options.has("-readonly|--readonly"):
        return True
    name = operands[0] if operands else ""
    is_scratch = (
        name in {"", ":memory:"}
        or any(part in name for part in (":memory:", "mode=memory", "mode=ro"))
        or (name.startswith("/tmp/") and ".." not in name)  # noqa: S108 - a name of theirs, nothing is written
    )
    # Without the name of a file, it is the only operand: a statement.
    return (
        is_scratch
        and program in {"sqlite3", "sqlite", "duckdb"}
        and not any("attach" in text.lower() for text in texts)
    )


def kinds(command: Command, options: Options) -> frozenset[str]:
    """The ``KINDS`` of what a database client is told to do, by its options, operands or input."""
    found = frozenset(kind for text, dialect in _given(command, options) for kind in statements(text, dialect))
    return frozenset() if found and options.has("--dry_run") else found


def programs(command: Command, options: Options) -> list[str]:
    """The texts that a database client would give to a shell."""
    if command.program not in CLIENTS:
        return []
    return [program for text, dialect in _given(command, options, scratch=True) for program in shells(text, dialect)]
