"""The skills of a session: their hooks are live while it runs, their text becomes part of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.errors import RunError, TrustError, did_you_mean
from agent_hooks.skills import Skill, register_skill, skill_text
from agent_hooks.state import Message

from .pausing import hooks_in

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from agent_hooks.manager import HookManager

    from .interceptors import Interceptor

_ARGUMENTS = "$ARGUMENTS"


class SessionSkills:
    """The skills that one session may activate: ``Skill`` objects, and paths of ``SKILL.md`` files or their folders.

    ``are_trusted``: the application answers for the files, hooks and text. Otherwise a file's hooks must be trusted,
    and its text, which is no part of what somebody trusts, is not used.
    """

    def __init__(self, skills: Iterable[Skill | str | os.PathLike[str]], session_id: str, *, are_trusted: bool) -> None:
        self._given = tuple(skills)
        self._session_id = session_id
        self._are_trusted = are_trusted
        self._manager: HookManager | None = None
        self._plugins: list[str] = []
        # By name: the text, and the file that it is from, an empty string for a skill made in Python.
        self._texts: dict[str, tuple[str, str]] = {}

    def register(self, interceptor: Interceptor) -> None:
        """Make their hooks live in the session. Raises ``SuspensionError`` if the agent has no place for hooks, and
        what ``register_skill`` raises; then none of them is live.
        """
        if not self._given:
            return
        self._manager = hooks_in(interceptor).manager
        try:
            for skill in self._given:
                plugin = register_skill(self._manager, skill, trusted=self._are_trusted, session_id=self._session_id)
                self._plugins.append(plugin)
                if isinstance(skill, Skill):
                    self._texts[skill.name] = (skill.body, "")
                else:
                    name, body = skill_text(skill)
                    self._texts[name] = (body, str(skill))
        except BaseException:
            self.unregister()
            raise

    def unregister(self) -> None:
        """Take their hooks away again."""
        if self._manager is not None:
            for plugin in self._plugins:
                self._manager.unregister(name=plugin)
        self._plugins.clear()

    def has(self, name: str) -> bool:
        """Whether the session has such a skill."""
        return name in self._texts

    def check(self, name: str) -> None:
        """Raise ``RunError`` if the session has no such skill."""
        if not self.has(name):
            near = did_you_mean(name, self._texts, f"There are: {', '.join(self._texts) or 'none'}.")
            raise RunError(f"The session has no skill {name!r}. {near} Skills are given with SessionRunner(skills=…).")

    def text(self, name: str, arguments: str) -> str:
        """Return what the skill tells the model: its text, with ``arguments`` where it says ``$ARGUMENTS``, else at its
        end. Raises ``RunError`` for a skill that there is not or that has no text, ``TrustError`` for the text of a
        file that nobody answers for.
        """
        self.check(name)
        text, path = self._texts[name]
        if path and not self._are_trusted:
            raise TrustError(
                f"The text of {path} would be a prompt, and `agent-hooks trust` covers the hooks of a skill only: look "
                "at it, then give SessionRunner(trusted_skills=True)."
            )
        text = text.strip()
        if not text:
            raise RunError(f"The skill {name!r} has no text to activate.")
        if _ARGUMENTS in text:
            return text.replace(_ARGUMENTS, arguments)
        return f"{text}\n\nARGUMENTS: {arguments}" if arguments else text


def skill_message(name: str, text: str) -> Message:
    """Return the message in which a skill tells the model its text."""
    return Message(role="user", content=text, metadata={"source": "skill", "skill": name})
