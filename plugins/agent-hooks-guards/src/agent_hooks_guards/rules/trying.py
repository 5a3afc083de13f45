"""Checks of the examples of rules."""

from __future__ import annotations

from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.places.paths import Place

from .indexing import indexed
from .matching import judge
from .model import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .model import Rule

# The folder, home and workspace of examples.
PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")


def wrong_examples(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield each command of ``stops`` that the rule does not match, and each of ``leaves`` that it does."""
    index = indexed([Family.model_construct(family="examples", title="Examples", rules=[rule])], text="text")
    for key, texts in (("stops", rule.stops), ("leaves", rule.leaves)):
        for text in texts:
            if bool(judge(analyse(text, PLACE), index, PLACE)) != (key == "stops"):
                yield key, text
