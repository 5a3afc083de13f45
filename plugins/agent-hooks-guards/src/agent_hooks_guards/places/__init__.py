"""Places: what a path or a host is."""
