"""Configuration: files that hold hooks, read without running any of them."""
