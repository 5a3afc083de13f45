"""Programs: how they parse their arguments, the files and hosts they touch, their stdout, and the programs they run."""
