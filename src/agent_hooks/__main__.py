"""``python -m agent_hooks``: the command ``agent-hooks``."""

from __future__ import annotations

from agent_hooks_core import main

if __name__ == "__main__":
    main()
