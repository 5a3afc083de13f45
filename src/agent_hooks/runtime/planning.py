"""A task list that the model maintains, with reminders from the agent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.values import thaw

from .python_tools import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent_hooks.model.state import AgentState, Step

    from .builder import AgentBuilder

_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


class _Task(BaseModel):
    """One task and its status."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[str, StringConstraints(pattern=r"\S")]
    status: Literal["pending", "in_progress", "completed"]


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tasks: list[_Task]


def write_tasks(tasks: list[_Task]) -> str:
    """Write down your list of tasks, the whole of it: it replaces the one before. Use it for work of several steps:
    before you begin, when you begin with a task, when a task is done, and when the plan changes. Keep one task
    in_progress at a time.
    """
    count = Counter[str](task.status for task in tasks)
    numbers = ", ".join(f"{count[status]} {status.replace('_', ' ')}" for status in _MARKS)
    return f"The list of tasks is written: {numbers}."


_TOOL = Tool(write_tasks, kind="other")


class UseTaskPlanning:
    """Gives the model a tool for a task list, stores the list in the state and reminds the model of it.

    The tool ``write_tasks`` takes the whole list, ``[{"content": text, "status": "pending"}]``, where the status may
    also be ``in_progress`` or ``completed``. After a step ``state.metadata["tasks"]`` is the last list written in it,
    with the arguments as changed by hooks; a call that was blocked, failed or had its result withheld does not count.
    ``state.metadata["tasks_text"]`` is the same for people, a line for each task: ``[x]`` completed, ``[~]`` in
    progress, ``[ ]`` pending. After every ``reminder_every`` steps of a run with an open task and no new list, the next
    step starts with a reminder for the model. Both survive JSON, a resumed run and a later run on the same state.
    Raises ``RunError`` if ``reminder_every`` is not a whole number from 1.

    Hooks: ``tasks:reminder`` (before_step, priority 50), ``tasks:persist`` (after_step, 50), ``tasks:render``
    (after_step, 45).
    """

    name = "task_planning"

    def __init__(self, reminder_every: int = 5) -> None:
        if type(reminder_every) is not int or reminder_every < 1:
            raise RunError(f"UseTaskPlanning: reminder_every is a whole number from 1, not {reminder_every!r}.")
        self.reminder_every = reminder_every

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the tool and the hooks."""
        return (
            builder.with_tools(_TOOL)
            .hook("before_step", self.remind, priority=50, name="tasks:reminder")
            .hook("after_step", persist, priority=50, name="tasks:persist")
            .hook("after_step", render, priority=45, name="tasks:render")
        )

    def remind(self, state: AgentState) -> HookOutcome | None:
        """Remind the model of its open tasks after enough steps without a new list."""
        open_tasks = [task for task in state.metadata.get("tasks", ()) if task["status"] != "completed"]
        if not open_tasks:
            return None
        steps = enumerate(reversed(state.steps))
        waited = next((count for count, step in steps if _written_in(step) is not None), len(state.steps))
        if not waited or waited % self.reminder_every:
            return None
        text = (
            f"You have not updated your list of tasks for {waited} steps. Still open:\n{_as_text(open_tasks)}\n"
            f"Go on with them, and keep the list up to date with {_TOOL.name}."
        )
        return HookOutcome.with_context(text)


def persist(state: AgentState, step: Step) -> HookOutcome | None:
    """Store the last list written in the step."""
    tasks = _written_in(state.current_step or step)
    return None if tasks is None else HookOutcome.proceed(state=state.with_metadata("tasks", tasks))


def render(state: AgentState) -> HookOutcome | None:
    """Store the list as text, too."""
    text = _as_text(state.metadata.get("tasks", ()))
    if text == state.metadata.get("tasks_text", ""):
        return None
    return HookOutcome.proceed(state=state.with_metadata("tasks_text", text))


def _written_in(step: Step) -> list[dict[str, Any]] | None:
    """Return the list written by the step's last successful call, None without one."""
    for execution in reversed(step.executions):
        if execution.name == _TOOL.name and not execution.failed:
            try:
                plan = _Plan.model_validate(thaw(execution.call.args))
            except ValidationError:  # a hook replaced the result of a failed call
                continue
            return [task.model_dump() for task in plan.tasks]
    return None


def _as_text(tasks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"{_MARKS[task['status']]} {' '.join(task['content'].split())}" for task in tasks)
