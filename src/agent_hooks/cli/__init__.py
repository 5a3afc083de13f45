"""The command ``agent-hooks``: ``run``, which coding agents call, and what people type to see what their hooks do."""
