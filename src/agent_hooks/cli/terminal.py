"""Output for people. Text from an event is untrusted: it must not be able to control the terminal."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from itertools import accumulate, chain, repeat

from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import Console

WIDTH = 100
# The least width of a column whose texts go on below.
_LEAST_WIDTH = 40
# A word with the blanks before it. A command to type, at the end of a line or in backquotes, is one.
_WORD = re.compile(r" *(?:(?:(?<=: )|^)agent-hooks .*|`[^`]{1,50}`[^ ]*|[^ ]+)")
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


def shown_path(path: str) -> str:
    """Return ``path`` for a terminal: from a folder of imports, the current folder or ``~``; elsewhere as it is."""
    roots = {folder: os.path.basename(folder) for folder in sys.path}
    roots |= {os.getcwd(): "", os.path.expanduser("~"): "~"}
    for root in sorted(roots, key=len, reverse=True) if sys.stdout.isatty() else ():
        if path.startswith(before := os.path.join(root, "")):
            return os.path.join(roots[root], path.removeprefix(before))
    return path


def console() -> Console:
    """Return the console of stdout, without markup; plain text of 100 columns outside a terminal."""
    from rich.console import Console

    is_terminal = sys.stdout.isatty()
    return Console(
        force_terminal=is_terminal,
        width=None if is_terminal else WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        color_system="auto" if is_terminal else None,
        legacy_windows=None if is_terminal else False,
    )


def no_command(text: str) -> str:
    """Return a line that runners of GitHub do not take for a command: `::name::` at its start, `##[name]` anywhere."""
    text = text.replace("##[", r"#\x23[")
    return text.replace("::", r"\x3a:", 1) if text.lstrip().startswith("::") else text


def line_printer() -> Callable[..., None]:
    """Return a function that prints one line of untrusted text in a style.

    A line that is too long for a terminal goes on below, at ``hang``, and its words stay whole.
    """
    from rich.cells import cell_len
    from rich.text import Text

    out = console()

    def print_line(text: str, style: str = "", *, hang: int = 0) -> None:
        text = no_command(visible(text))
        start = hang or len(text) - len(text.lstrip(" "))
        lines = [text[:start]]
        for word in _WORD.findall(text[start:]):
            if out.is_terminal and lines[-1].strip() and cell_len(lines[-1] + word) > out.width:
                lines.append(" " * (start if hang else start + 2) + word.lstrip())
            else:
                lines[-1] += word
        for line in lines:
            out.print(Text(line.rstrip(), style), soft_wrap=True)

    return print_line


def print_records(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int = 0, styles: Iterable[str] = ()
) -> None:
    """Print records of untrusted texts; a row of one text is a heading, and columns without names have none.

    A terminal gets a table. The columns that are too wide for it stand below the others, each with its name. Elsewhere,
    each record is a line with tabs between its texts.
    """
    rows = [*([columns] if any(columns) else []), *([visible(cell) for cell in row] for row in rows)]
    if not sys.stdout.isatty():
        sys.stdout.writelines("\t".join(row) + "\n" for row in rows)
        return
    from rich.cells import cell_len, set_cell_size

    line, records = line_printer(), [row for row in rows if len(row) > 1]
    widths = [max(map(cell_len, column)) for column in zip(*records, strict=True)]
    # The last column may go on below itself, where that is no narrow column and breaks no word.
    words = (cell_len(word) for row in records for word in row[-1].split())
    widths[-1:] = [min(width, max((_LEAST_WIDTH, *words))) for width in widths[-1:]]
    ends = accumulate((width + 2 for width in widths), initial=indent)
    fit = sum(end - 2 <= console().width for end in ends) - 1 or 1
    if any(columns):
        rows[0] = columns[:fit]
    for row, style in zip(rows, chain(["dim"] * any(columns), styles, repeat("")), strict=False):
        if len(row) == 1:
            line(row[0], style)
            continue
        cells = map(set_cell_size, row[: fit - 1], (width + 2 for width in widths))
        head = " " * indent + "".join(cells)
        line(head + row[fit - 1], style, hang=len(head))
        for name, cell in zip(columns[fit:], row[fit:], strict=False):
            if cell:
                line(f"{' ' * (indent + 4)}{name and f'{name}: '}{cell}", style)


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
