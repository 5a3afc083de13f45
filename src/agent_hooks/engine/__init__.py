"""Registration and dispatch of hooks, without I/O and configuration."""
