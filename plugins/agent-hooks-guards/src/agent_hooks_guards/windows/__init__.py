"""PowerShell and cmd, translated to text for a Unix shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .shell_text import Statement


def translate(language: str, text: str) -> list[Statement]:
    """Return the statements of ``text`` in ``language``, ``powershell`` or ``cmd``."""
    from .cmd import Cmd
    from .powershell import PowerShell

    return (PowerShell if language == "powershell" else Cmd)(text).translate()
