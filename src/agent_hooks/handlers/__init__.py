"""Handlers: the types of hooks that are made from configuration, and what makes hooks of them."""
