"""Texts as ``base64``, ``xxd``, ``gzip`` and the like encode and decode them. Every function takes known text.

Where a decoder meets what it cannot read, it has printed what stands before: that comes back, with ``UNKNOWN`` behind.
Bytes that are no UTF-8 are kept as ``surrogateescape`` does.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

from .formats import LIMIT

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
_HEXADECIMAL = "0123456789abcdefABCDEF"
KINDS = {"base64": 6, "base64url": 6, "base32": 5, "base32hex": 5, "base16": 4}


def to_bytes(text: str) -> bytes:
    """The bytes that ``text`` stands for."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no bytes stand for
        return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """``data`` as a text."""
    return data.decode("utf-8", "surrogateescape")


def decode_base(text: str, kind: str = "base64", *, ignores_garbage: bool = False) -> str:
    """Decode ``base64``, ``base64url``, ``base32``, ``base32hex`` or ``base16``, as ``basenc --decode`` does."""
    bits = KINDS[kind]
    letters = {
        "base64": _BASE64,
        "base64url": _BASE64[:-2] + "-_",
        "base32": _BASE32,
        "base32hex": _BASE32_HEX,
        "base16": "0123456789ABCDEF",
    }[kind]
    numbers = {letter: number for number, letter in enumerate(letters)}
    made = bytearray()
    pending = held = count = 0
    group = {6: 4, 5: 8, 4: 2}[bits]
    for char in text:
        if char in "\n\r":
            continue
        number = numbers.get(char.upper() if bits == 4 else char)
        if number is None:
            if char == "=" and bits != 4:
                # Padding ends a group; another text may follow.
                count += 1
                if count % group == 0:
                    pending = held = 0
                continue
            if ignores_garbage:
                continue
            return to_text(bytes(made)) + UNKNOWN
        count += 1
        pending = ((pending << bits) | number) & 0xFFFFF
        held += bits
        if held >= 8:
            held -= 8
            made.append((pending >> held) & 0xFF)
        if count % group == 0:
            pending = held = 0
    # What lacks its padding is printed all the same, with a complaint.
    return to_text(bytes(made))


def encode_base(text: str, kind: str = "base64", width: int = 76) -> str:
    """Encode as ``basenc`` does, in lines of ``width`` characters, 0 for one line without an end."""
    import base64

    encoders = {
        "base64": base64.b64encode,
        "base64url": base64.urlsafe_b64encode,
        "base32": base64.b32encode,
        "base32hex": base64.b32hexencode,
        "base16": base64.b16encode,
    }
    return in_lines(encoders[kind](to_bytes(text)).decode(), width)


def in_lines(text: str, width: int) -> str:
    """``text`` in lines of ``width`` characters, 0 for one line without an end."""
    if not width:
        return text
    return "".join(text[at : at + width] + "\n" for at in range(0, len(text), width))


def decode_plain_hexadecimal(text: str) -> str:
    """Decode as ``xxd -r -p`` does."""
    digits = "".join(text.split())
    end = next((at for at, char in enumerate(digits) if char not in _HEXADECIMAL), len(digits))
    made = to_text(bytes.fromhex(digits[: end - end % 2]))
    return made if end == len(digits) else made + UNKNOWN


def decode_dump(text: str) -> str:
    """Decode a dump with its offsets as ``xxd -r`` does."""
    made = bytearray()
    for line in text.splitlines():
        offset, colon, rest = line.partition(":")
        offset = offset.strip()
        if not colon or not offset or offset.strip(_HEXADECIMAL):
            return to_text(bytes(made)) + UNKNOWN
        at = int(offset, 16)
        if at < len(made) or at > LIMIT:
            return to_text(bytes(made)) + UNKNOWN
        made.extend(bytes(at - len(made)))
        # Two blanks end the digits; what follows is for readers.
        digits = "".join(rest.strip(" ").partition("  ")[0].split())
        end = next((at for at, char in enumerate(digits) if char not in _HEXADECIMAL), len(digits))
        made.extend(bytes.fromhex(digits[: end - end % 2]))
    return to_text(bytes(made))


def encode_hexadecimal(text: str, columns: int = 30, *, upper: bool = False) -> str:
    """Encode as ``xxd -p`` does, ``columns`` bytes in a line, 0 for one line."""
    digits = to_bytes(text).hex()
    lines = in_lines(digits.upper() if upper else digits, columns * 2)
    return lines if columns or not lines else f"{lines}\n"


_MAGIC = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ"}


def decompress(text: str, kind: str) -> str | None:
    """Decompress ``gzip``, ``bzip2`` or ``xz``; None for what cannot be. What none of them made comes back as it is."""
    data = to_bytes(text)
    if kind not in _MAGIC:
        return None
    if not data.startswith(_MAGIC[kind]):
        return text
    try:
        made = _decompress(data, kind)
    except ValueError:
        return None
    return to_text(made) if len(made) < LIMIT else to_text(made) + UNKNOWN


def _decompress(data: bytes, kind: str) -> bytes:
    """The beginning of what ``data`` holds. Raises ``ValueError`` if it holds nothing readable."""
    if kind == "gzip":
        import zlib

        try:
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, LIMIT)
        except zlib.error as error:
            raise ValueError(str(error)) from error
    if kind == "bzip2":
        import bz2

        try:
            return bz2.BZ2Decompressor().decompress(data, LIMIT)
        except (OSError, EOFError) as error:
            raise ValueError(str(error)) from error
    import lzma

    try:
        return lzma.LZMADecompressor(memlimit=2**27).decompress(data, LIMIT)
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(str(error)) from error


def compress(text: str, kind: str) -> str | None:
    """Compress with ``gzip``, ``bzip2`` or ``xz``; None for other kinds."""
    data = to_bytes(text)
    if kind == "gzip":
        import gzip

        return to_text(gzip.compress(data, mtime=0))
    if kind == "bzip2":
        import bz2

        return to_text(bz2.compress(data))
    if kind == "xz":
        import lzma

        return to_text(lzma.compress(data))
    return None


def converted(text: str, source: str, target: str) -> str | None:
    """``text`` as ``iconv`` makes it of one encoding into another; None if it cannot."""
    try:
        return to_text(to_bytes(text).decode(source or "utf-8").encode(target.partition("//")[0] or "utf-8"))
    except (LookupError, UnicodeError, ValueError):
        return None
