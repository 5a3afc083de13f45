"""``agent-hooks demo``: a recorded session, played through the installed hooks and those of ``hooks.py`` here."""
