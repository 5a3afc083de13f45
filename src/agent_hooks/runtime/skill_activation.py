"""The skills of a session: their hooks are live while it runs, their text joins the conversation on activation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_hooks.errors import RunError, TrustError, did_you_mean
from agent_hooks.formats.skill_files import SKILL_FILE
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import WAITING
from agent_hooks.sources.skills import Skill, register_skill, skill_text

from .current import CURRENT, ToolDeniedError, acting_as
from .interceptors import in_skill
from .pausing import dispatch_now, hooks_in
from .python_tools import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.outcome import HookOutcome

    from .interceptors import Interceptor
    from .loop import AgentRun

TOOL = "activate_skill"
_ARGUMENTS = "$ARGUMENTS"


class SessionSkills:
    """The skills that one session may activate: ``Skill`` objects and paths of ``SKILL.md`` files, each with a flag
    that the application vouches for its hooks. Without it these must be trusted.

    No trust covers the text of a file, so it is not used unless ``is_text_trusted``: naming a file in code vouches for
    its text, as for the prompt of a definition. ``agents``: the skills that the agent has anyway.
    """

    def __init__(
        self,
        skills: Iterable[tuple[Skill | str, bool]],
        session_id: str = "",
        *,
        is_text_trusted: bool,
        agents: SessionSkills | None = None,
    ) -> None:
        self._given = tuple(skills)
        self._session_id = session_id
        self._is_text_trusted = is_text_trusted
        self._manager: HookManager | None = None
        self._plugins: list[str] = []
        self._texts: dict[str, _Text] = {} if agents is None else dict(agents._texts)

    def register(self, interceptor: Interceptor) -> None:
        """Register the skills' hooks. Raises ``SuspensionError`` if the agent has no hooks; then none is live."""
        if not self._given:
            return
        self._manager = hooks_in(interceptor).manager
        try:
            for skill, is_trusted in self._given:
                plugin = register_skill(self._manager, skill, trusted=is_trusted, session_id=self._session_id)
                self._plugins.append(plugin)
                if isinstance(skill, Skill):
                    self._texts[skill.name] = _Text(skill.body.strip(), skill.description)
                else:
                    name, description, body, may_model = skill_text(skill)
                    path = "" if self._is_text_trusted else str(skill)
                    self._texts[name] = _Text(body.strip(), description, path, may_model)
        except BaseException:
            self.unregister()
            raise

    def unregister(self) -> None:
        """Unregister the skills' hooks."""
        if self._manager is not None:
            for plugin in self._plugins:
                self._manager.unregister(name=plugin)
        self._plugins.clear()

    def has(self, name: str) -> bool:
        """Whether the session has such a skill."""
        return name in self._texts

    def with_tool(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools with the one that activates skills, unless no skill has a text."""
        others = [tool for tool in tools if not isinstance(getattr(tool.function, "__self__", None), SessionSkills)]
        offered = self._offered()
        if not offered or any(tool.name == TOOL for tool in others):
            return others
        listed = "\n".join(f"- {name}: {' '.join(text.description.split())}" for name, text in offered.items())
        description = f"Activate a skill: its instructions are the result. There are:\n{listed}"
        return [*others, Tool(self.activate, name=TOOL, description=description)]

    def _offered(self) -> dict[str, _Text]:
        """The skills that a model may activate: those with a trusted text."""
        return {name: text for name, text in self._texts.items() if text.text and not text.path and text.may_model}

    async def activate(self, skill: str, arguments: str = "") -> str:
        """Activate a skill in the run that calls this tool, and return its text. Raises ``RunError`` for an
        unknown skill, ``ToolDeniedError`` if hooks deny it: the call then counts as one that they denied.
        """
        caller = CURRENT.get()
        run = caller.run
        if run is None:
            raise RunError(f"{TOOL} is a tool: it works only where a run calls it.")
        if self.has(skill) and not self._texts[skill].may_model:
            raise RunError(f"Only a person may activate the skill {skill!r}.")
        if skill not in (offered := self._offered()):
            raise RunError(_no_skill(skill, offered))
        text = self.text(skill, arguments)
        hooks = in_skill(run.hooks, skill)
        about = {"skill": skill, "skill_name": skill, "arguments": arguments}
        outcome = await _dispatched(hooks, run, HookEvent.BEFORE_SKILL_ACTIVATION, about)
        if caller.agents is not None:
            caller.agents.outcomes.append(outcome)  # its context goes with the result
        if outcome.decision in WAITING or outcome.blocks:
            raise ToolDeniedError(outcome.reason)
        run.enter_skill(skill)
        await _dispatched(hooks, run, HookEvent.AFTER_SKILL_ACTIVATION, {**about, "result": text})
        return text

    def check(self, name: str) -> None:
        """Raise ``RunError`` if the session has no such skill."""
        if not self.has(name):
            raise RunError(f"{_no_skill(name, self._texts)} Skills are given with SessionRunner(skills=…).")

    def text(self, name: str, arguments: str) -> str:
        """Return the text of the skill, with ``arguments`` in place of ``$ARGUMENTS``, else at its end. Raises
        ``RunError`` for an unknown skill or one without text, ``TrustError`` for the text of an untrusted file.
        """
        self.check(name)
        text, _, path, _ = self._texts[name]
        if path:
            raise TrustError(
                f"The text of {path} would be a prompt, and `agent-hooks trust` covers the hooks of a skill only: look "
                "at it, then give SessionRunner(trusted_skills=True)."
            )
        if not text:
            raise RunError(f"The skill {name!r} has no text to activate.")
        if _ARGUMENTS in text:
            return text.replace(_ARGUMENTS, arguments)
        return f"{text}\n\nARGUMENTS: {arguments}" if arguments else text


class _Text(NamedTuple):
    """The text of a skill. ``path``: its file if that is untrusted; ``may_model``: the model may activate it."""

    text: str
    description: str
    path: str = ""
    may_model: bool = True


def skills_in(given: Skill | str | os.PathLike[str]) -> Sequence[Skill | str]:
    """Return the ``SKILL.md`` files of a path: itself, the one in it, or those in its folders; return a skill as it
    is. Raises ``RunError`` if there is none.
    """
    if isinstance(given, Skill):
        return [given]
    path = os.path.abspath(given)
    if not os.path.isdir(path):
        return [path]
    inner = [path, *(os.path.join(path, name) for name in sorted(os.listdir(path)))]
    found = [file for folder in inner if os.path.isfile(file := os.path.join(folder, SKILL_FILE))]
    if not found:
        raise RunError(f"There is no skill in {path}: a skill is a folder with a {SKILL_FILE} in it.")
    return found[:1] if found[0] == os.path.join(path, SKILL_FILE) else found


def _no_skill(name: str, skills: Iterable[str]) -> str:
    near = did_you_mean(name, skills, f"There are: {', '.join(skills) or 'none'}.")
    return f"There is no skill {name!r}. {near}"


async def _dispatched(hooks: Interceptor, run: AgentRun, event: HookEvent, about: Mapping[str, Any]) -> HookOutcome:
    with acting_as(run.in_hook):
        return await dispatch_now(hooks, run.context(event, **about))
