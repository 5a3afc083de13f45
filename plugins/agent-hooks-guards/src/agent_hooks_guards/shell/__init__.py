"""What a shell command would do: read into a tree, walked through without running anything, told as actions."""
