"""The command ``agent-hooks``: ``run`` for coding agents, and the subcommands for people."""
