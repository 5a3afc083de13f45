"""``python -m agent_hooks``: the command, for the interpreter at hand."""

from __future__ import annotations

from .cli.main import main

if __name__ == "__main__":
    main()
