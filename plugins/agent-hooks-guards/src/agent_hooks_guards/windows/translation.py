"""A text in a language of Windows as statements for a Unix shell."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shell_text import Statement


def translate(language: str, text: str) -> list[Statement]:
    """Return the statements of ``text`` in ``language``, ``powershell`` or ``cmd``."""
    if language == "powershell":
        from .powershell import PowerShell

        return PowerShell(text).translate()
    from .cmd import Cmd

    return Cmd(text).translate()
