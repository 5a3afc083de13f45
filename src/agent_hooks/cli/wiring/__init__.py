"""The wiring of coding agents: ``agent-hooks install``, ``uninstall`` and ``status``."""
