"""``python -m agent_hooks``: the command ``agent-hooks``."""

from __future__ import annotations

import sys

from agent_hooks_core import main

if __name__ == "__main__":
    sys.exit(main())
