"""Rules about commands: one TOML file for each family, and the matching."""
