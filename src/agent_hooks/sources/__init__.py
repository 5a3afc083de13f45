"""From files to a manager."""
