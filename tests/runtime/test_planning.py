"""Task planning: the list that the model writes, where it is kept, and when the model is reminded of it."""

from __future__ import annotations

import json

import pytest

from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.planning import UseTaskPlanning
from agent_hooks.system.store import MemoryStore
from runtime.pauses import through_json
from tables import tables

TABLES = tables(__file__)


def work() -> str:
    return "worked"


def task(content, status="pending"):
    return {"content": content, "status": status}


def writes(*tasks) -> ToolCall:
    return ToolCall("write_tasks", {"tasks": list(tasks)})


WORK = ToolCall("work")
OPEN = writes(task("read"), task("write"))


def planner(*replies, **options) -> AgentBuilder:
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(work)
        .with_capability(UseTaskPlanning(**options))
    )


def reminders(state) -> list[str]:
    return [m.content for m in state.messages if m.metadata.get("source") == "hooks" and "list of tasks" in m.content]


def reminded_before(state) -> list[int]:
    """The steps, counted from 0, before which the model was reminded."""
    found, step = [], 0
    for message in state.messages:
        step += message.role == "assistant"
        if "list of tasks for" in str(message.content):
            found.append(step)
    return found


def test_the_model_is_offered_the_tool_with_its_schema():
    driver = ScriptedDriver("done")
    agent = planner().with_driver(driver).build()
    agent.run_sync("go")
    schemas = {tool["name"]: tool for tool in driver.requests[0].tools}
    assert agent.tools["write_tasks"].kind == "other"
    assert "whole" in schemas["write_tasks"]["description"]
    text = json.dumps(schemas["write_tasks"]["parameters"])
    assert all(word in text for word in ("tasks", "content", "status", "pending", "in_progress", "completed"))


def test_the_hooks_have_the_priorities_of_the_seeds():
    hooks = planner("done").build().interceptor.manager.describe()  # type: ignore[attr-defined]
    assert [(h.event, h.name, h.priority) for h in hooks if h.name.startswith("tasks:")] == [
        ("before_step", "tasks:reminder", 50),
        ("after_step", "tasks:persist", 50),
        ("after_step", "tasks:render", 45),
    ]


def test_a_list_that_was_written_is_in_the_state_also_as_text():
    tasks = [task("read", "completed"), task("think\nhard", "in_progress"), task("write")]
    state = planner(writes(*tasks), "done").build().run_sync("go")
    assert state.metadata["tasks"] == tasks
    assert state.metadata["tasks_text"] == "[x] read\n[~] think hard\n[ ] write"
    assert state.steps[0].executions[0].result == "The list of tasks is written: 1 pending, 1 in progress, 1 completed."


def test_the_list_is_there_for_hooks_after_the_same_step_that_run_later():
    seen = []
    agent = planner(OPEN, "done").process(lambda state: seen.append(state.metadata.get("tasks_text")), 40).build()
    agent.run_sync("go")
    assert seen[0] == "[ ] read\n[ ] write"


@pytest.mark.parametrize(
    ("replies", "tasks"),
    [
        ([OPEN, writes(task("other"))], [task("other")]),
        ([OPEN, writes()], []),
        ([[writes(task("a")), writes(task("b"))]], [task("b")]),
    ],
)
def test_a_later_list_replaces_the_one_before_also_in_one_step_and_an_empty_one_clears_it(replies, tasks):
    state = planner(*replies, "done").build().run_sync("go")
    assert state.metadata["tasks"] == tasks
    assert bool(state.metadata["tasks_text"]) == bool(tasks)


def test_without_a_list_nothing_is_added_to_the_state():
    state = planner(WORK, "done").build().run_sync("go")
    assert state.metadata == {}


@pytest.mark.parametrize(
    "args",
    [
        *TABLES["a_wrong_list_is_an_error_for_the_model_and_leaves_the_one_there_is"],
        {"tasks": [task("read", "done")]},
        {"tasks": [task("  ")]},
        {"tasks": [{**task("read"), "owner": "me"}]},
    ],
)
def test_a_wrong_list_is_an_error_for_the_model_and_leaves_the_one_there_is(args):
    state = planner(OPEN, ToolCall("write_tasks", args), "done").build().run_sync("go")
    error = state.steps[1].executions[0].error
    assert error is not None
    assert error.type == "ToolArgumentsError"
    assert state.metadata["tasks_text"] == "[ ] read\n[ ] write"


@pytest.mark.parametrize(
    ("event", "answer", "written"),
    [
        ("before_tool_use", HookOutcome.deny("no"), [task("read")]),
        ("after_tool_use", HookOutcome.deny("no"), [task("read")]),
        # Its arguments are still not a list of tasks.
        ("after_tool_use", HookOutcome.update(result="fine"), ["read"]),
    ],
    ids=["blocked", "withheld", "answered"],
)
def test_a_list_that_is_blocked_withheld_or_fails_does_not_count_whatever_hooks_answer(event, answer, written):
    agent = planner(writes(*written), "done").hook(event, lambda ctx: answer, match="write_tasks").build()
    assert "tasks" not in agent.run_sync("go").metadata


def test_what_hooks_made_of_the_list_is_kept_not_what_the_model_sent():
    def redact(tool_call):
        tasks = [{**one, "content": one["content"].replace("hunter2", "***")} for one in tool_call.args["tasks"]]
        return HookOutcome.update(tool_args={"tasks": tasks})

    agent = planner(writes(task("use hunter2")), "done").before_tool_use(redact, match="write_tasks").build()
    assert agent.run_sync("go").metadata["tasks"] == [task("use ***")]


# -- reminders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "every", "reminded"),
    [
        ([OPEN, *[WORK] * 7], 3, [4, 7]),
        # Writing the list starts the count anew, and one that failed does not.
        ([OPEN, WORK, OPEN, WORK, WORK], 2, [5]),
        ([OPEN, WORK, writes("wrong")], 2, [3]),
        # Without open tasks there is none.
        *(([first, *[WORK] * 4], 1, []) for first in (WORK, writes(), writes(task("read", "completed")))),
    ],
)
def test_the_model_is_reminded_of_open_tasks_every_so_many_steps_without_a_list(replies, every, reminded):
    state = planner(*replies, "done", reminder_every=every).build().run_sync("go")
    assert (reminded_before(state), len(reminders(state))) == (reminded, len(reminded))


def test_a_reminder_lists_what_is_open():
    first = writes(task("read", "completed"), task("think", "in_progress"), task("write"))
    state = planner(first, WORK, WORK, "done", reminder_every=2).build().run_sync("go")
    (text,) = reminders(state)
    assert text == (
        "You have not updated your list of tasks for 2 steps. Still open:\n[~] think\n[ ] write\n"
        "Go on with them, and keep the list up to date with write_tasks."
    )


@pytest.mark.parametrize("every", [0, -1, True, 1.5, "5", None])
def test_a_distance_that_is_no_whole_number_of_steps_is_refused(every):
    with pytest.raises(RunError, match="reminder_every is a whole number from 1"):
        UseTaskPlanning(every)


# -- where it is kept --------------------------------------------------------------------------------------------------


def test_the_list_survives_json_and_a_later_run_reminds_of_it():
    state = through_json(planner(OPEN, "first").build().run_sync("go"))
    assert state.metadata["tasks"] == [task("read"), task("write")]
    later = planner(WORK, "second", reminder_every=1).build().run_sync("more", state)
    assert later.metadata["tasks_text"] == "[ ] read\n[ ] write"
    assert len(reminders(later)) == 1


@pytest.mark.parametrize(
    ("replies", "reminded"),
    [([OPEN, WORK, ToolCall("work", id="slow")], [3]), ([[OPEN, ToolCall("work", id="slow")]], [])],
)
def test_a_list_and_the_steps_since_it_are_kept_across_a_suspension(replies, reminded):
    """Another agent, made of the same parts, goes on with the state: nothing is kept anywhere else."""
    store = MemoryStore()

    def waits(tool_call):
        return HookOutcome.suspend("wait") if tool_call.id == "slow" else None

    def made(*replies):
        return planner(*replies, reminder_every=2).before_tool_use(waits).with_store(store).build()

    first = made(*replies).run_sync("go")
    state = made("done").resume_sync(through_json(first), "allow")
    assert (first.status, state.output, state.metadata["tasks_text"]) == ("suspended", "done", "[ ] read\n[ ] write")
    assert reminded_before(state) == reminded  # two steps without a list: the second one and the one that waited
