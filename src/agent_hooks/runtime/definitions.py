"""Agents from definition files, as Claude Code has them: the prompt, and in the frontmatter name, tools, model, hooks.

Source of the keys: https://code.claude.com/docs/en/sub-agents#supported-frontmatter-fields
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.frontmatter import FrontmatterError, read_frontmatter
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import Value
from agent_hooks.sources.skills import register_agent
from agent_hooks.system.visible import logger_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.policy import HookPolicy

    from .python_tools import Tool

_KEYS = frozenset("name description tools disallowedTools model maxTurns hooks".split())
logger = logger_of()


class Definition(Value):
    """The settings of an agent in a definition file: its ``prompt``, its ``tools`` (None: all) without ``disallowed``,
    and its ``model`` and ``max_steps`` if given.
    """

    path: str
    name: str
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    disallowed: tuple[str, ...] = ()
    model: str = ""
    max_steps: int | None = None
    has_hooks: bool = False
    is_trusted: bool = False

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, is_trusted: bool) -> Definition:
        """Return the definition in a Markdown file. Raises ``RegistrationError`` naming the file, line and key."""
        path = os.path.abspath(path)
        try:
            with open(path, "rb") as file:
                values, lines, body = read_frontmatter(file.read())
        except OSError as error:
            raise RegistrationError(f"{path}: The definition cannot be read: {error.strerror}.") from error
        except FrontmatterError as error:
            raise RegistrationError(f"{path}: {error}") from error
        for key in sorted(values.keys() - _KEYS):
            logger.warning("%s:%d: %.80s is not honoured here.", path, lines.get((key,), 0), key)
        name, model, most = values.get("name"), values.get("model") or "", values.get("maxTurns")
        if not isinstance(name, str) or not name.strip():
            raise RegistrationError(f"{path}: name is missing in the frontmatter of the agent.")
        if not isinstance(model, str):
            raise RegistrationError(f"{path}: model is the name of a model, not {model!r:.80}.")
        if most is not None and (type(most) is not int or most < 1):
            raise RegistrationError(f"{path}: maxTurns is a whole number from 1, not {most!r:.80}.")
        return cls(
            path=path,
            name=name.strip(),
            prompt=body.strip(),
            tools=_names_in(values.get("tools")),
            disallowed=_names_in(values.get("disallowedTools")) or (),
            model="" if model == "inherit" else model,
            max_steps=most,
            has_hooks=bool(values.get("hooks")),
            is_trusted=is_trusted,
        )

    def of(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the agent's share of ``tools``; log the patterns in the file that match none of them."""
        given = list(tools)
        for pattern in (*(self.tools or ()), *self.disallowed):
            if not any(_matches(tool, [pattern]) for tool in given):
                logger.warning("%s: no tool of the agent is called %.80r.", self.path, pattern)
        patterns = ("*",) if self.tools is None else self.tools
        return [tool for tool in given if _matches(tool, patterns) and not _matches(tool, self.disallowed)]

    def register(self, manager: HookManager) -> None:
        """Register the hooks of the file. Raises ``TrustError`` and ``RegistrationError``."""
        if not self.has_hooks:
            return
        register_agent(manager, self.path, trusted=self.is_trusted)
        stop = stop_hooks(self.path, self.name, self.name, manager.policy, is_trusted=self.is_trusted)
        manager.add(HookRegistration("on_stop", stop, name=f"agent:{self.name}:stop", source="skill"))


def stop_hooks(
    path: str, name: str, agent_name: str, policy: HookPolicy, *, is_trusted: bool
) -> Callable[[HookContext], Awaitable[HookOutcome | None]]:
    """Return an ``on_stop`` hook that dispatches to the ``Stop`` hooks of a definition file; a deny makes the agent
    continue. In the file, ``Stop`` is the end of that agent only.
    """
    manager = HookManager(load_plugins=False, policy=policy)
    register_agent(manager, path, trusted=is_trusted)
    hooks = manager.hooks()

    async def stop(ctx: HookContext) -> HookOutcome | None:
        messages: Sequence[Any] = () if ctx.state is None else ctx.state.messages
        last: Mapping[str, Any] = {message.role: message.content for message in messages}
        task = next((message.content for message in messages if message.role == "user"), "")
        about = {"agent_name": agent_name, "name": name, "task": task, "result": last.get("assistant", "")}
        outcome = await hooks.dispatch(ctx.replace(event=HookEvent.AFTER_SUBAGENT, **about))
        return HookOutcome.force_continue(outcome.reason) if outcome.decision == "deny" else None

    return stop


def _names_in(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    texts = given if isinstance(given, list) else [given]
    return tuple(name for text in texts for name in str(text).replace(",", " ").replace("|", " ").split())


def _matches(tool: Tool, patterns: Sequence[str]) -> bool:
    names = ToolCall(tool.name, kind=tool.kind, aliases=tool.aliases).names
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)
