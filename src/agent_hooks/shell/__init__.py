"""Bash's grammar: ``parse`` turns a command line into the tree of ``syntax``. Nothing is expanded or run."""
