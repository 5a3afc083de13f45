"""``agent-hooks demo``: an agent, or a recorded session, with the installed hooks and those of the demo."""
