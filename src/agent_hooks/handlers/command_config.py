"""The fields of a ``command`` entry, validated by pydantic: apart from the handler, which runs without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from typing import Self

# A program's argument: C ends a string at the first NUL.
Word = Annotated[str, Field(pattern=r"^[^\x00]*$")]
Text = Annotated[Word, Field(min_length=1)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class CommandConfig(BaseModel):
    """The fields of a ``command`` entry.

    ``command``: a shell's command line as a text, or a program and its arguments as a list. With ``args``, the text is
    a program, and no shell is involved. ``timeout``: in seconds. ``shell``: ``bash`` or ``powershell`` instead of
    ``/bin/sh``. ``cwd``: the working directory, relative to the file. ``env``: further variables. ``safe_path``: keep
    Python code in the command from importing modules of its working directory. These three are for TOML, and the last
    two not for a project's. ``scripts``: further files that trust in the command covers; ``ignore``: files that it
    does not cover, such as logs. Both are relative to the file.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    command: Text | Annotated[list[Word], Field(min_length=1)]
    args: list[Word] | None = None
    timeout: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    shell: Literal["bash", "powershell"] | None = None
    cwd: Text | None = None
    env: dict[VariableName, Word] = Field(default_factory=dict)
    safe_path: bool = True
    scripts: list[Text] = Field(default_factory=list)
    ignore: list[Text] = Field(default_factory=list)
    statusMessage: str = ""  # noqa: N815 - Claude Code's name; some hosts show it

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        program = self.command if isinstance(self.command, str) else self.command[0]
        if not program.strip():
            raise ValueError("'command' is empty")
        if self.args is not None and isinstance(self.command, list):
            raise ValueError("'args' goes with a 'command' that is a text; put all of it into the list")
        if self.shell is not None and (self.args is not None or isinstance(self.command, list)):
            raise ValueError("'shell' goes with a 'command' that is a text without 'args'")
        return self
