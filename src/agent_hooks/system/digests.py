"""SHA-256 for the command that a host starts with each event: importing ``hashlib`` loads OpenSSL, which takes 2 ms."""

from __future__ import annotations

import sys

# Above this many bytes, OpenSSL is faster, its import included.
_LARGE = 512 * 1024


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 digest of ``data`` as 64 hexadecimal digits."""
    if len(data) > _LARGE:
        from hashlib import sha256
    else:
        # A failed import searches every folder of sys.path again, each time.
        try:
            if sys.version_info >= (3, 12):
                from _sha2 import sha256  # type: ignore[import-not-found, no-redef, unused-ignore]
            else:
                from _sha256 import sha256  # type: ignore[import-not-found, no-redef, unused-ignore]
        except ImportError:  # not built in, or another implementation
            from hashlib import sha256
    return str(sha256(data).hexdigest())
