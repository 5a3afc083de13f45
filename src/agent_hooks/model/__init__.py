"""The nouns: events, contexts, outcomes, states, tools, policies."""
