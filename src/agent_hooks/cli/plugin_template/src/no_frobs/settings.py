"""The settings of this plugin."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """The table ``[no-frobs]`` of a file."""

    model_config = ConfigDict(frozen=True)

    programs: frozenset[str] = frozenset()  # beside those of the plugin

    def tighten(self, project: Self) -> Self:
        """Return what holds in a project with settings of its own: it can only add."""
        programs = self.programs | project.programs
        return self.model_copy(update={"programs": programs})
