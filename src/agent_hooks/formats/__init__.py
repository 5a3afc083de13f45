"""Parsers of configuration files: from bytes to entries and findings."""
