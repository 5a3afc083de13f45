"""Rules about commands: data in TOML, one file for each family, and what matches them."""
