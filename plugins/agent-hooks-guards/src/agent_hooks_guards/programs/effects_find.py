"""What ``find`` does to files itself; what it runs is not told here."""

from __future__ import annotations

from .finding import behind_start, reaches
from .noting import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .noting import Noting


def find(noting: Noting) -> None:
    """Note what the expression deletes and writes."""
    for name, value, reach in reaches(noting.options):
        if name == "-delete":
            for start in noting.operands() or ["."]:
                start = f"{start}{behind_start(noting.options)}"
                if reach.is_narrow:
                    for path in reach.below(start):
                        noting.file("delete", path)
                else:
                    noting.file("delete", inside(start, "*") if reach.lowest else start, recursive=True)
        elif name.startswith("-fprint") or name == "-fls":
            noting.file("write", value or "")
        elif name == "-files0-from":
            noting.file("read", value or "")
