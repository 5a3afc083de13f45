"""The walk of a command: its inner commands and effects."""
