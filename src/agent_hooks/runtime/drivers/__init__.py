"""Drivers that ask real models, each behind an extra of its own."""
