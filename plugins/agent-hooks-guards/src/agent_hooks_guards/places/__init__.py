"""The kinds of paths and hosts."""
