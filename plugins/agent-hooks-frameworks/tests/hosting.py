"""A framework under test: an agent of it, with a model that plays a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from agent_hooks import protect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from agent_hooks import HookManager
    from agent_hooks_frameworks.framework import Framework


@dataclass(frozen=True)
class Call:
    """A call that the model wants. Without an id, the host makes one."""

    name: str
    args: dict[str, Any]
    id: str = ""


# The replies of the model, in order: text, a call, several calls at once, or an error to raise.
Script = list["str | Call | list[Call] | Exception"]


@dataclass(frozen=True)
class Child:
    """An agent without hooks of its own, which the agent calls as a tool of this name with one text."""

    name: str
    script: Script
    tools: list[Callable[..., Any]]


@dataclass
class Ran:
    """A run. ``output``: the answer, None if the run was stopped, refused or waits; ``seen``: for each request that the
    model received, all its messages as one text; ``waiting``: the ids of the calls that wait for an answer;
    ``paused``: all that another process needs to go on; ``chunks``: the text that was streamed to the user.
    """

    output: str | None = None
    seen: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    error: BaseException | None = None
    paused: str | None = None
    chunks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    """How an agent is made and run. Without ``manager``, it has no hooks. ``empty``: so many interceptors of tool calls
    that do nothing, made as the framework has it.
    """

    manager: HookManager | None = None
    sync: bool = False
    stream: bool = False
    child: Child | None = None
    kinds: Mapping[str, str] | None = None
    ask: Any = "host"
    tmp_path: Path | None = None
    empty: int = 0

    def protected(self, agent: Any) -> Any:
        """Return the agent under its hooks, if it has any."""
        return agent if self.manager is None else protect(agent, self.manager, kinds=self.kinds, ask=self.ask)


class Host(Protocol):
    """Runs agents of one framework. ``options`` are those of ``Setup``. ``has_sync``: it has calls without an event
    loop; ``raises``: a run that hooks stop or refuse ends with their error.
    """

    framework: Framework
    has_sync: bool
    raises: bool

    def run(self, script: Script, tools: list[Callable[..., Any]], *, prompt: str = "Go.", **options: Any) -> Ran:
        """Run an agent to its end or until it waits."""

    def resume(self, paused: str, answer: bool, script: Script, tools: list[Callable[..., Any]], **options: Any) -> Ran:
        """Go on with a run that waits, here or in another process, with an answer to each call; ``script`` is the rest
        of the replies.
        """
