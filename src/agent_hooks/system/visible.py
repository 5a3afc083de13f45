"""Text from elsewhere, as it may be shown on a terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger, LogRecord

# Printable characters without a visible shape: Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties without
# the unprintable ones, and the blank of Braille. Text can be hidden in them.
_INVISIBLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)),
)
# CSI, OSC and the other string sequences, two-character sequences; then the rest of C0 and C1; then bidi and tags.
_CONTROLS = (
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    r"|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
# Blanks that text may have.
_BLANKS = "\n\t\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
# Joiners, as escaped, behind a letter of a script that joins, or an emoji.
_JOINERS = (
    r"(?<=[\xa9\xae\u0600-\u10ff\u1780-\u18af\u203c-\u3299\U0001f000-\U0001faff])"
    r"(?:\\ufe0f(?:\\u200d)?|\\u200[cd])"
)


def visible(text: str, *, keep: str = "") -> str:
    """Return ``text`` with control, invisible and bidirectional characters escaped, except ``keep``."""
    if text.isascii() and text.isprintable():
        return text
    hidden = [each for each in set(text) if each not in keep and not is_seen(each)]
    return text.translate({ord(each): each.encode("unicode_escape", "surrogatepass").decode() for each in hidden})


def without_controls(text: str) -> str:
    """Return ``text`` without terminal escape sequences, control characters other than newline and tab, marks that
    reorder text, and invisible tag characters, and what else is invisible escaped: a reason may quote whatever a
    command or a file contains. Joiners stay where scripts and emoji need them.
    """
    if all(each in _BLANKS or is_seen(each) for each in set(text)):
        return text
    import re

    shown = visible(re.sub(_CONTROLS, "", text), keep=_BLANKS)
    return re.sub(_JOINERS, lambda joiners: joiners[0].encode().decode("unicode_escape"), shown)


def logger_of(name: str = "agent_hooks") -> Logger:
    """Return a logger whose lines hold nothing invisible, and start none but their own."""
    from logging import getLogger

    found = getLogger(name)
    found.addFilter(_show)
    return found


def _show(record: LogRecord) -> bool:
    text = record.getMessage()
    if (shown := visible(text, keep="\n\t").replace("\n", "\n  ")) != text:
        record.msg, record.args = shown, ()
    if record.exc_info and record.exc_info[0] and not record.exc_text:
        from traceback import format_exception

        told = visible("".join(format_exception(*record.exc_info)).rstrip(), keep="\n\t")
        record.exc_text = told.replace("\n", "\n  ")
    return True


def is_seen(character: str) -> bool:
    """Whether a character has a visible shape, or is a plain space."""
    return character.isprintable() and (
        character.isascii() or not any(first <= ord(character) <= last for first, last in _INVISIBLE)
    )
