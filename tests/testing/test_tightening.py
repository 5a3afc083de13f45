"""The check that settings of a project only tighten, which plugin authors run on their models."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, StringConstraints

from agent_hooks.testing import assert_tightens

ORDER = ("low", "high")


class Good(BaseModel):
    """Each kind of key, tightened as it should be; ``level`` must not be loosened, the others are merged."""

    words: tuple[str, ...] = ()
    most: int = Field(9, ge=0)
    level: Literal["low", "high"] = "low"
    name: Annotated[str, StringConstraints(pattern="^[a-z]{1,3}$")] = "a"

    def tighten(self, project: Good) -> Good:
        if "level" in project.model_fields_set and ORDER.index(project.level) < ORDER.index(self.level):
            raise ValueError(f"the level is {self.level}")
        if "name" in project.model_fields_set:
            raise ValueError("the name is the user's")
        words = tuple(dict.fromkeys((*self.words, *project.words)))
        most = min(self.most, project.most) if "most" in project.model_fields_set else self.most
        return self.model_copy(
            update={"words": words, "most": most, "level": max(self.level, project.level, key=ORDER.index)}
        )


class Overrides(BaseModel):
    """Lets the project win."""

    most: int = 9

    def tighten(self, project: Overrides) -> Overrides:
        return self.model_copy(update=project.model_dump(exclude_unset=True))


class Drops(BaseModel):
    """Takes the project's list alone."""

    words: frozenset[str] = frozenset()

    @staticmethod
    def tighten(own: Drops, project: Drops) -> Drops:
        return project if project.words else own


class Defaults(BaseModel):
    """Refuses the default of a key that the project does not say."""

    most: int = 0

    def tighten(self, project: Defaults) -> Defaults:
        if project.most < self.most:
            raise ValueError("less than before")
        return project if "most" in project.model_fields_set else self


class Needs(BaseModel):
    """A key without a default."""

    most: int

    def tighten(self, project: Needs) -> Needs:
        return min(self, project, key=lambda each: each.most)


@pytest.mark.parametrize("model", [Good, Needs])
def test_what_tightens_is_right(model):
    assert_tightens(model)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (Overrides, r"\(result, own\) is .*, and not result"),
        (Drops, r"\(result, own\) is .*, and not result"),
        (Defaults, r"\(own, Defaults\(\)\) refuses what says nothing: less than before"),
    ],
)
def test_what_lets_a_project_loosen_is_shown_with_the_pair(model, says):
    with pytest.raises(AssertionError, match=rf"{model.__name__}.tighten{says}") as caught:
        assert_tightens(model)
    assert f"own: {model.__name__}(" in str(caught.value)
    assert f"project: {model.__name__}(" in str(caught.value)


def test_without_hypothesis_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ImportError, match="pip install hypothesis"):
        assert_tightens(Good)
