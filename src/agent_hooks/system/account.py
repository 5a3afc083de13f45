"""The account of this process. Every event imports this module, so it imports nothing heavy."""

from __future__ import annotations

import os


def account_folder(*names: str) -> str:
    """Return a folder below the home of the account, wherever the environment points; empty if it has none."""
    try:
        from pwd import getpwuid

        home = getpwuid(os.geteuid()).pw_dir
    except (ImportError, KeyError):  # Windows; an account without an entry
        return ""
    return os.path.join(home, *names) if os.path.isabs(home) else ""
