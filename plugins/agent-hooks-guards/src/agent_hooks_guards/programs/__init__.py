"""What is known of programs: how they read their words, what they touch, print and run."""
