"""Decoders and encoders that are applied for real where the text is known, within bounds."""

from __future__ import annotations

from agent_hooks_guards.model.values import DECODED

from .python_texts import CODECS
from .python_values import (
    LONGEST_TEXT,
    NotKnownError,
    Value,
    constant,
    is_exact,
    is_text,
    plain,
    text_of,
    unknown,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .python_call import Call

_INFLATERS = {
    "zlib.decompress": "zlib", "gzip.decompress": "zlib", "bz2.decompress": "bz2", "lzma.decompress": "lzma",
}  # fmt: skip
_BINARY = "a2b_base64 a2b_hex unhexlify hexlify b2a_hex b2a_base64 a2b_qp b2a_qp a2b_uu b2a_uu".split()
_BASES = [
    f"{spelling}{way}"
    for spelling in ("b64", "standard_b64", "urlsafe_b64", "b32", "b32hex", "b16", "a85", "b85", "z85")
    for way in ("decode", "encode")
]
_REAL = {
    **{f"binascii.{each}": ("binascii", each) for each in _BINARY},
    **{f"base64.{each}": ("base64", each) for each in [*_BASES, "decodebytes", "encodebytes"]},
    "base64.decodestring": ("base64", "decodebytes"),
    "quopri.decodestring": ("quopri", "decodestring"),
    "urllib.parse.unquote": ("urllib.parse", "unquote"),
    "urllib.parse.unquote_plus": ("urllib.parse", "unquote_plus"),
    "urllib.parse.unquote_to_bytes": ("urllib.parse", "unquote_to_bytes"),
    "urllib.parse.quote": ("urllib.parse", "quote"),
    "urllib.parse.quote_plus": ("urllib.parse", "quote_plus"),
    "urllib.unquote": ("urllib.parse", "unquote"),
    "html.unescape": ("html", "unescape"),
    "json.loads": ("json", "loads"),
    "ast.literal_eval": ("ast", "literal_eval"),
    "textwrap.dedent": ("textwrap", "dedent"),
    "re.escape": ("re", "escape"),
    "bytes.fromhex": ("builtins", "bytes.fromhex"),
    "bytearray.fromhex": ("builtins", "bytes.fromhex"),
    "str.maketrans": ("builtins", "str.maketrans"),
    "bytes.maketrans": ("builtins", "bytes.maketrans"),
    "string.maketrans": ("builtins", "str.maketrans"),
    "struct.pack": ("struct", "pack"),
}
# What is not hidden in these, and what is made of a text that is not known stays what it is.
_PLAIN = frozenset(("json.loads", "ast.literal_eval", "textwrap.dedent", "re.escape", "struct.pack", "html.unescape"))


def _real(call: Call) -> Value:
    module, word = _REAL[call.name]
    labels = call.labels()
    try:
        given = [plain(each) for each in call.arguments]
        named = {key: plain(each) for key, each in call.keywords.items()}
        if not all(map(is_exact, [*call.arguments, *call.keywords.values()])):
            raise NotKnownError
        from importlib import import_module

        function = import_module(module)
        for each in word.split("."):
            function = getattr(function, each)
        if module == "struct" and any(each.isdigit() for each in str(given[0])):
            raise NotKnownError
        return wrap(_called(function, given, named), labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        is_decoder = (
            "encode" not in word and "quote" not in word[:5] and call.name not in _PLAIN and "maketrans" not in word
        )
        return unknown(labels | {DECODED} if is_decoder else labels)


def _called(function: object, given: list[object], named: dict[str, object]) -> object:
    assert callable(function)
    return function(*given, **named)


def inflated(data: bytes, how: str) -> bytes:
    """Return what was compressed, if it is not longer than what is looked at. Raises what the decoders raise."""
    if how == "zlib":
        import zlib

        window = (
            47 if data[:1] in (b"\x1f", b"\x78", b"\x58", b"\x08", b"\x18", b"\x28", b"\x38", b"\x48", b"\x68") else -15
        )
        decoder = zlib.decompressobj(window)
        found = decoder.decompress(data, LONGEST_TEXT + 1)
    elif how == "bz2":
        import bz2

        found = bz2.BZ2Decompressor().decompress(data, LONGEST_TEXT + 1)
    else:
        import lzma

        found = lzma.LZMADecompressor(memlimit=1 << 25).decompress(data, LONGEST_TEXT + 1)
    if len(found) > LONGEST_TEXT:
        raise NotKnownError
    return found


def _inflate(call: Call) -> Value:
    data = call.value(0, "data")
    try:
        if data.kind != "constant":
            raise NotKnownError
        return constant(inflated(data.it, _INFLATERS[call.name]), data.labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return unknown(call.labels() | {DECODED})


def recoded(value: Value, codec: str, *, is_decoding: bool) -> Value:
    """Return what ``codecs.decode`` or ``codecs.encode`` gives."""
    codec = codec.lower().replace("-", "_")
    labels = value.labels
    try:
        if not is_text(value) or not is_exact(value):
            raise NotKnownError
        if codec in ("rot13", "rot_13"):
            from codecs import decode

            return constant(decode(text_of(value), "rot13"), labels)
        data: bytes = value.it if isinstance(value.it, bytes) else value.it.encode("latin-1", "replace")
        if is_decoding and codec.removesuffix("_codec") in ("zlib", "zip", "bz2"):
            return constant(inflated(data, "bz2" if "bz" in codec else "zlib"), labels)
        if codec.removesuffix("_codec") in ("hex", "base64", "quopri", "uu", "quoted_printable"):
            import codecs

            recode: Any = codecs.decode if is_decoding else codecs.encode
            return constant(recode(data, codec), labels)
        if is_decoding:
            return constant(data.decode(codec), labels) if codec in CODECS else unknown(labels)
        return constant(text_of(value).encode(codec), labels) if codec in CODECS else unknown(labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return unknown(labels | {DECODED} if is_decoding else labels)


def _recode(call: Call) -> Value:
    codec = call.text(1, "encoding", default="utf-8")
    return recoded(call.value(0, "obj"), codec, is_decoding=call.name.endswith("decode"))


def _getter(call: Call) -> Value:
    """``codecs.getdecoder("rot13")``: a function that returns a text and its length."""
    from .python_values import name

    word = "decode" if call.name.endswith("getdecoder") else "encode"
    return Value("partial", name(f"codecs.{word} with length"), parts=([], {"encoding": call.value(0)}))


def _with_length(call: Call) -> Value:
    made = recoded(call.value(0), call.text(-1, "encoding"), is_decoding="decode" in call.name)
    return Value("tuple", [made, unknown()])


def _opaque(call: Call) -> Value:
    return unknown(call.labels() | {DECODED})


DECODERS: dict[str, Callable[[Call], Value]] = {
    **dict.fromkeys(_REAL, _real),
    **dict.fromkeys(_INFLATERS, _inflate),
    "codecs.decode": _recode,
    "codecs.encode": _recode,
    "codecs.getdecoder": _getter,
    "codecs.getencoder": _getter,
    "codecs.decode with length": _with_length,
    "codecs.encode with length": _with_length,
    "marshal.loads": _opaque,
    "marshal.load": _opaque,
}
