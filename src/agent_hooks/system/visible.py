"""Text from elsewhere, as it may be shown on a terminal."""

from __future__ import annotations

# Printable characters without a visible shape: Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties without
# the unprintable ones, and the blank of Braille. Text can be hidden in them.
_INVISIBLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)),
)


def visible(text: str, *, keep: str = "") -> str:
    """Return ``text`` with control, invisible and bidirectional characters escaped, except ``keep``."""
    return "".join(
        each if each in keep or is_seen(each) else each.encode("unicode_escape", "surrogatepass").decode()
        for each in text
    )


def is_seen(character: str) -> bool:
    """Whether a character has a visible shape, or is a plain space."""
    return character.isprintable() and (
        character.isascii() or not any(first <= ord(character) <= last for first, last in _INVISIBLE)
    )
