"""The nouns: commands, effects, doubts, values with their labels, options, data tables."""
