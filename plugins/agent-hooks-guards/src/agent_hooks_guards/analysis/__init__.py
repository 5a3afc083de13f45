"""The walk through a command: what it runs and does."""
