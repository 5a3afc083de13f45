"""What programs print that encode, decode, pack and unpack."""

from __future__ import annotations

from agent_hooks_guards.model.values import ANYTHING, DECODED, NETWORK, NO_LABELS, NOTHING, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.options import Options

    from .printing import Printing


def _base(kind: str) -> Callable[[Printing], Data]:
    def tell(printing: Printing) -> Data:
        from . import encodings

        options = printing.options
        data = printing.input()
        chosen = next((name[2:] for name, _ in options.given if name[2:] in encodings.KINDS), kind)
        if options.has("-d|-D|--decode"):
            garbage = options.has("-i|--ignore-garbage")
            made = encodings.decode_base(data.text, chosen, ignores_garbage=garbage) if data.is_known else None
            return printing.filtered(made, data, DECODED)
        width = options.value("-w|--wrap|-b|--break") or "76"
        if not width.isdecimal() or not data.is_known:
            return Data(UNKNOWN, data.labels)
        return printing.filtered(encodings.encode_base(data.text, chosen, int(width[:6])), data)

    return tell


def _xxd(printing: Printing) -> Data:
    from . import encodings

    options = printing.options
    words = printing.operands()
    data = printing.file(words[0]) if words else printing.stdin()
    if len(words) > 1:
        return NOTHING
    plain = options.has("-p|-ps|-plain|--plain|-postscript")
    if options.has("-r|-revert|--revert"):
        if not data.is_known or options.has("-s|-seek|-l|-len|-b|-bits"):
            return printing.filtered(None, data, DECODED)
        made = encodings.decode_plain_hexadecimal(data.text) if plain else encodings.decode_dump(data.text)
        return printing.filtered(made, data, DECODED)
    columns = options.value("-c|-cols") or "30"
    if not plain or not data.is_known or not columns.isdecimal() or options.has("-s|-l|-seek|-len"):
        return Data(UNKNOWN, data.labels)
    return printing.filtered(encodings.encode_hexadecimal(data.text, int(columns[:6]), upper=options.has("-u")), data)


def _openssl(printing: Printing) -> Data:
    from . import encodings

    options = printing.options
    words = [*options.subcommand, *printing.operands()]
    action = words[0] if words else ""
    source = options.value("-in")
    data = printing.file(source) if source else printing.stdin()
    if options.has("-out"):
        return NOTHING
    if action in ("rand", "version", "prime", "ciphers", "dgst", "x509", "verify", "passwd", "list"):
        return ANYTHING
    if action == "s_client":
        return Data(UNKNOWN, frozenset((NETWORK,)))
    is_base64 = action == "base64" or (action == "enc" and options.has("-base64|-a") and not _has_cipher(options))
    if (options.has("-d") and action in ("enc", "base64")) or action in ("rsautl", "pkeyutl", "smime", "cms"):
        if is_base64 and data.is_known:
            return printing.filtered(encodings.decode_base(data.text), data, DECODED)
        return printing.filtered(None, data, DECODED)
    if is_base64 and data.is_known:
        return printing.filtered(encodings.encode_base(data.text, "base64", 0 if options.has("-A") else 64), data)
    return Data(UNKNOWN, data.labels)


def _has_cipher(options: Options) -> bool:
    plain = ("-base64", "-a", "-A", "-d", "-e", "-in", "-out", "-p", "-none")
    return any(name not in plain for name, _ in options.given)


def _compressed(kind: str, *, unpacks: bool = False, prints: bool = False) -> Callable[[Printing], Data]:
    def tell(printing: Printing) -> Data:
        from . import encodings

        options = printing.options
        if printing.operands() and not prints and not options.has("-c|--stdout|--to-stdout"):
            return NOTHING
        data = printing.input()
        if unpacks or options.has("-d|--decompress|--uncompress"):
            # A file that was compressed on the way is known by what it held before.
            made = encodings.decompress(data.text, kind) if data.is_known else None
            return printing.filtered(made, data, DECODED)
        return printing.filtered(encodings.compress(data.text, kind) if data.is_known else None, data)

    return tell


def _iconv(printing: Printing) -> Data:
    from . import encodings

    data = printing.input()
    source = printing.options.value("-f|--from-code") or "utf-8"
    target = printing.options.value("-t|--to-code") or "utf-8"
    return printing.filtered(encodings.converted(data.text, source, target) if data.is_known else None, data)


def _rot13(printing: Printing) -> Data:
    import codecs

    data = printing.stdin()
    return printing.filtered(codecs.encode(data.text, "rot13"), data)


def _archive(printing: Printing) -> Data:
    """``tar`` and the like: to where they are told, or to the output."""
    options = printing.options
    archive = options.value("-f|--file")
    stdin = printing.command.stdin.labels if printing.command.stdin is not None else NO_LABELS
    if options.has("-c|--create") and archive in (None, "-"):
        return Data(UNKNOWN, stdin | printing.input().labels if options.operands else stdin)
    if options.has("-x|--extract|--get") and options.has("-O|--to-stdout"):
        data = printing.file(archive or "-")
        return printing.filtered(data.text, data, DECODED)
    return ANYTHING if options.has("-t|--list|-v|--verbose") else NOTHING


def _unzip(printing: Printing) -> Data:
    words = printing.operands()
    if not words or not printing.options.has("-p|-c"):
        return ANYTHING
    data = printing.file(words[0])
    return printing.filtered(data.text, data, DECODED)


ENCODINGS: dict[str, Callable[[Printing], Data]] = {
    "base64": _base("base64"),
    "base32": _base("base32"),
    "basenc": _base("base64"),
    "xxd": _xxd,
    "openssl": _openssl,
    "gzip": _compressed("gzip"),
    "pigz": _compressed("gzip"),
    "gunzip": _compressed("gzip", unpacks=True),
    "zcat": _compressed("gzip", unpacks=True, prints=True),
    "gzcat": _compressed("gzip", unpacks=True, prints=True),
    "bzip2": _compressed("bzip2"),
    "bunzip2": _compressed("bzip2", unpacks=True),
    "bzcat": _compressed("bzip2", unpacks=True, prints=True),
    "xz": _compressed("xz"),
    "unxz": _compressed("xz", unpacks=True),
    "xzcat": _compressed("xz", unpacks=True, prints=True),
    "zstd": _compressed(""),
    "unzstd": _compressed("", unpacks=True),
    "zstdcat": _compressed("", unpacks=True, prints=True),
    "lz4": _compressed(""),
    "brotli": _compressed(""),
    "iconv": _iconv,
    "rot13": _rot13,
    "tar": _archive,
    "unzip": _unzip,
}
