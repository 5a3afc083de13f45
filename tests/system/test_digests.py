"""Digests without OpenSSL."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256

import pytest

from agent_hooks.system.digests import sha256_hex

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("data", [b"", b"abc", b"x" * 524_288, b"x" * 524_289])
def test_a_digest_is_that_of_hashlib(data):
    assert sha256_hex(data) == sha256(data).hexdigest()


def test_hashlib_takes_the_place_of_a_missing_module(monkeypatch):
    for name in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)
    assert sha256_hex(b"abc") == sha256(b"abc").hexdigest()


def test_a_small_digest_does_not_load_openssl():
    code = (
        "import sys; from agent_hooks.system.digests import sha256_hex as f; f(b''); print('_hashlib' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
