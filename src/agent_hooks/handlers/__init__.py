"""Handlers: types of hooks that are made from configuration, and their registration."""
