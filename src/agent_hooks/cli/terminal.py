"""Output for people. Text from an event is untrusted: it must not be able to control the terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile

from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import Console

WIDTH = 100
# The style of each decision; ``failed`` is a hook's failure.
DECISION_STYLES = {
    **dict.fromkeys(("deny", "stop", "failed"), "bold red"),
    **dict.fromkeys(("ask", "suspend"), "yellow"),
    "rewrite": "cyan",
}


def shortened(text: str, width: int) -> str:
    """Return ``text``, made visible, on one line of at most ``width`` characters."""
    text = visible(" ".join(text.split()))
    return text if len(text) <= width else text[: width - 3] + "..."


def console(width: int = 0) -> Console:
    """Return the console of stdout, without markup; plain text of ``width`` (default 100) outside a terminal."""
    from rich.console import Console

    is_terminal = sys.stdout.isatty()
    return Console(
        force_terminal=is_terminal,
        width=None if is_terminal else width or WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        color_system="auto" if is_terminal else None,
        legacy_windows=None if is_terminal else False,
    )


def line_printer() -> Callable[..., None]:
    """Return a function that prints one line of untrusted text in a style, never wrapped."""
    from rich.text import Text

    out = console()

    def print_line(text: str, style: str = "") -> None:
        out.print(Text(visible(text), style), soft_wrap=True)

    return print_line


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0, width: int = WIDTH) -> None:
    """Print a table of untrusted texts; ``width`` is for an output that is no terminal."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console(width).print(Padding(table, (0, 0, 0, indent), expand=False))


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print ``value`` as JSON in ASCII."""
    print(json.dumps(value, indent=indent), flush=True)


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Use a temporary state folder, which is removed afterwards."""
    before = os.environ.get("AGENT_HOOKS_STATE_DIR")
    with tempfile.TemporaryDirectory(prefix="agent-hooks-", ignore_cleanup_errors=True) as folder:
        os.environ["AGENT_HOOKS_STATE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["AGENT_HOOKS_STATE_DIR"]
            os.environ |= {} if before is None else {"AGENT_HOOKS_STATE_DIR": before}


@contextlib.contextmanager
def prints_elsewhere() -> Iterator[None]:
    """Send everything that hooks print to stderr, also from compiled code and child processes."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
