"""The statements that a database client is given: by options, by operands, on stdin."""

from __future__ import annotations

from agent_hooks_guards.model.declarations import declarations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options


def given_statements(command: Command, options: Options, *, scratch: bool = False) -> Iterator[tuple[str, str]]:
    """Return the statements for a client, each with its dialect. ``scratch``: also those for a temporary database."""
    words = [*options.subcommand, *[command.argv[at] for at in options.operands]]
    for way in declarations().clients.get(command.program, ()):
        under = way.get("under", "").split()
        if words[: len(under)] != under:
            continue
        dialect, rest = way["dialect"], words[len(under) :]
        names = frozenset(way.get("options", "").split("|"))
        texts = [value for name, value in options.given if value is not None and name in names]
        first = way.get("first")
        if first is not None and len(rest) > first:
            texts.append(("\n" if dialect == "sqlite" else " ").join(rest[first:]))
        if not scratch and dialect == "sqlite" and _is_scratch(command.program, rest, options, texts):
            return
        if way.get("reads", True) and command.stdin is not None and (not texts or options.has("-f|--file|-init")):
            texts.append(command.stdin.text)
        yield from ((text, dialect) for text in texts)
        return


def _is_scratch(program: str, operands: list[str], options: Options, texts: list[str]) -> bool:
    """Whether the database is opened read-only, or is a temporary one."""
    if options.has("-readonly|--readonly"):
        return True
    # Without a database, the only operand is a statement.
    name = operands[0] if operands else ""
    is_scratch = (
        name in ("", ":memory:")
        or any(part in name for part in (":memory:", "mode=memory", "mode=ro"))
        or (name.startswith("/tmp/") and ".." not in name)  # noqa: S108 - a name of theirs, nothing is written
    )
    attaches = any("attach" in text.lower() for text in texts)
    return is_scratch and program in ("sqlite3", "sqlite", "duckdb") and not attaches
