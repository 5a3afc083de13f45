"""An agent whose security, formatting, limits, plan, critic and telemetry are all hooks. The model is a script."""

from agent_hooks import AgentBuilder, HookOutcome, ScriptedDriver, ToolCall, UseSelfCritique, UseTaskPlanning, tool
from agent_hooks_guards import StepsLimit, TokenLimit

FILES = {"notes.md": "buy   milk\n"}


@tool(kind="read")
def read_file(path: str) -> str:
    """Return the text of a file."""
    return FILES[path]


@tool(kind="write")
def write_file(path: str, content: str) -> None:
    """Replace the text of a file."""
    FILES[path] = content


@tool(kind="shell")
def bash(command: str) -> str:
    """Run a command."""
    return f"(ran {command})"


def validate_commands(tool_call):
    if tool_call.may_run("sudo"):
        return HookOutcome.deny("No sudo.")


def validate_paths(ctx):
    if not all(path.startswith(f"{ctx.cwd}/") for path in ctx.paths):
        return HookOutcome.deny(f"Stay below {ctx.cwd}.")


def format_text(tool_call):
    FILES[tool_call.args["path"]] = tool_call.content.strip() + "\n"
    return HookOutcome.update(context="The file was formatted.")


def critic(state):
    return None if "notes.md" in state.current_step.message.content else "Say which file."


def telemetry(step):
    did = [f"{one.name} ({one.reason})" if one.was_blocked else one.name for one in step.executions]
    print(f"step {step.index}: {', '.join(did) or step.message.content}")


def plan(status):
    return ToolCall("write_tasks", {"tasks": [{"content": "Tidy notes.md", "status": status}]})


driver = ScriptedDriver(
    plan("in_progress"),
    [ToolCall("read_file", {"path": "../../etc/passwd"}), ToolCall("bash", {"command": "sudo ls"})],
    ToolCall("write_file", {"path": "notes.md", "content": "buy milk  "}),
    plan("completed"),
    "It is tidy.",
    "notes.md is tidy.",
)
agent = (
    AgentBuilder.new()
    .with_tools(read_file, write_file, bash)
    .with_driver(driver)
    .with_cwd("/srv/notes")
    .before_tool_use(validate_commands, match="shell", priority=100)
    .before_tool_use(validate_paths, match="read|write|edit", priority=100)
    .after_tool_use(format_text, match="write|edit", priority=50)
    .continue_when(StepsLimit(20))
    .continue_when(TokenLimit(50_000))
    .with_capability(UseTaskPlanning())
    .with_capability(UseSelfCritique(critic=critic))
    .hook("after_step", telemetry, priority=10, mode="observe")
    .build()
)
state = agent.run_sync("Tidy my notes.")
print(state.status, state.output, state.metadata["tasks_text"], FILES["notes.md"], sep=" | ", end="")
