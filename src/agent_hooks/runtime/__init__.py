"""The runtime: a small agent loop in which everything that happens is an event, and the default behaviour is hooks."""
