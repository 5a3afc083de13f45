"""How far the walk through a script goes, and names that its parts share."""

from __future__ import annotations

from agent_hooks_guards.model.values import ENVIRONMENT

MOST_STEPS = 60_000
DEEPEST = 45
DEPTH_OF_A_CALL = 20  # left for the last call of a function by itself
MOST_ROUNDS = 300  # of a loop whose condition is known
TOO_MUCH = "the code is nested or repeated more than is looked at"
ENVIRONMENT_DUMP = frozenset((ENVIRONMENT,))
ENVIRONMENTS = frozenset("process.env Bun.env import.meta.env globalThis.process.env ENV %ENV $_ENV $_SERVER".split())
