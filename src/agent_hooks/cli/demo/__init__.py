"""``agent-hooks demo``: an agent at work, or a recorded session, under the installed hooks and those of the demo."""
