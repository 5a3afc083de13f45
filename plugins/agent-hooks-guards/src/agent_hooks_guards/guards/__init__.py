"""The guards, a file each."""
