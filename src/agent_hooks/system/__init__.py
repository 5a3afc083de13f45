"""The operating system's side: folders, paths, files, installed distributions. It knows nothing of hooks."""
