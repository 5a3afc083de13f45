"""What a subagent is: its prompt, which of its parent's tools it has, its model, its budget, its hooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_hooks import RegistrationError
from agent_hooks.model.tools import is_trusted_name
from agent_hooks_guards import UseGuards

from .tool_filter import ToolFilter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from decimal import Decimal
    from typing import Any, Self

    from agent_hooks import Driver
    from agent_hooks_guards import Price

    Money = Decimal | float | str

MAX_STEPS = 20


@dataclass(frozen=True, kw_only=True)
class SubagentDefinition:
    """A kind of subagent.

    ``name``: what its parent's model calls it, and what matches are tried on. ``description``: for that model, when to
    use it. ``prompt``: its own system prompt. ``tools``, ``disallowed_tools``: which of its parent's tools it has, as
    in ``ToolFilter``; None: all that start no subagents. ``model``: the name of a model that its parent's driver can
    ask (None: the parent's), ``driver``: a driver of its own. ``max_steps``, ``max_tokens``, ``max_execution_time``
    (seconds), ``max_cost`` with ``prices``: its budget for each run, as in ``UseGuards``; None is no limit. ``hooks``:
    registrations, modules and objects with hooks, of its own. ``file``: the Markdown file whose hooks it has besides;
    ``trusted``: the caller answers for that file, otherwise somebody must have trusted it.

    Raises ``RegistrationError`` for a value that cannot be honoured.
    """

    name: str
    description: str
    prompt: str
    tools: str | Iterable[str] | None = None
    disallowed_tools: str | Iterable[str] = ()
    model: str | None = None
    driver: Driver | None = None
    max_steps: int | None = MAX_STEPS
    max_tokens: int | None = None
    max_execution_time: float | None = None
    max_cost: Money | None = None
    prices: Mapping[str, Price] | None = None
    hooks: Iterable[Any] = ()
    file: str = ""
    trusted: bool = False

    def __post_init__(self) -> None:
        name, model = self._given("name"), self._given("model")
        if not isinstance(name, str) or not is_trusted_name(name):
            raise RegistrationError(
                f"name: a subagent is called by 1 to 200 of A-Z a-z 0-9 _ . : / and -, not {name!r:.80}."
            )
        for key in ("description", "prompt"):
            said = self._given(key)
            if not isinstance(said, str) or not said.strip():
                raise RegistrationError(f"{key}: the subagent {name!r} needs a text that is not blank.")
        if model is not None and (not isinstance(model, str) or not model.strip()):
            raise RegistrationError(f"model: write the name of a model, not {model!r:.80}, or leave it out.")
        made = ToolFilter(self.tools, self.disallowed_tools)
        for key, value in (
            ("tools", made.allowed),
            ("disallowed_tools", made.disallowed),
            ("hooks", tuple(self.hooks)),
            # What is wrong is said here, where it was written.
            ("_tool_filter", made),
            ("_budget", self._limits()),
        ):
            object.__setattr__(self, key, value)

    def _given(self, key: str) -> Any:
        """Return what a field was given, which a file may have said."""
        return getattr(self, key)

    @property
    def tool_filter(self) -> ToolFilter:
        """Which of its parent's tools it has."""
        made: ToolFilter = self.__dict__["_tool_filter"]
        return made

    @property
    def budget(self) -> UseGuards:
        """Its budget, as the capability that holds it."""
        made: UseGuards = self.__dict__["_budget"]
        return made

    def _limits(self) -> UseGuards:
        return UseGuards(
            max_steps=self.max_steps,
            max_tokens=self.max_tokens,
            max_execution_time=self.max_execution_time,
            max_cost=self.max_cost,
            prices=self.prices,
        )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, trusted: bool = False, driver: Driver | None = None) -> Self:
        """Return the definition in a Markdown file: its frontmatter, and below that its prompt.

        Frontmatter: ``name``, ``description``, ``tools``, ``disallowedTools``, ``model``, ``maxTurns``, ``hooks`` as in
        Claude Code, and ``max_steps`` (the same as ``maxTurns``), ``max_tokens``, ``max_execution_time``, ``max_cost``,
        ``prices``. ``trusted``: the caller answers for its hooks; otherwise they must have been trusted. Raises
        ``TrustError``, and ``RegistrationError`` naming the file, the line and the key.
        """
        from .definition_file import read_definition

        return cls(**read_definition(path, trusted=trusted), trusted=trusted, driver=driver)
