"""Text from elsewhere, as it may be shown on a terminal."""

from __future__ import annotations

# Printable characters of which nothing is seen: Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties,
# without those that are not printable anyway, and the blank of Braille.
_UNSEEN = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)),
)


def visible(text: str, *, keep: str = "") -> str:
    """Return ``text`` with control, invisible and bidirectional characters escaped, except ``keep``."""
    return "".join(
        each if each in keep or _is_seen(each) else each.encode("unicode_escape", "surrogatepass").decode()
        for each in text
    )


def _is_seen(character: str) -> bool:
    return character.isprintable() and (
        character.isascii() or not any(first <= ord(character) <= last for first, last in _UNSEEN)
    )
