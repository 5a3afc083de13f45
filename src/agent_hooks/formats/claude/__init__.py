"""Claude Code's settings, with Claude Code's rules."""
