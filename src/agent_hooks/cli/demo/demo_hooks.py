"""The hooks of both demos. A plugin is a module like this: functions named after events, marked ``@hookimpl``."""

from __future__ import annotations

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import GUARD
from agent_hooks.system.store import MemoryStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

MAX_READS = 3
reads = MemoryStore()


@hookimpl
def user_input() -> HookOutcome:
    """Add context for the model to each prompt."""
    return HookOutcome.update(context="House rule: run the tests before you stop.")


@hookimpl(specname="before_tool_use", match="shell", mode="gate", priority=GUARD)
def stay_inside(tool_call: ToolCall) -> HookOutcome | None:
    """Refuse a command."""
    argv = tool_call.command.split()
    if argv[:1] == ["rm"] and any(argument.startswith(("~", "/", "$", "..")) for argument in argv):
        return HookOutcome.deny("Agents delete nothing outside the project.")
    return None


@hookimpl(specname="before_tool_use", match="shell")
def push_with_lease(tool_call: ToolCall) -> HookOutcome | None:
    """Change a command. All hooks then decide about the new one."""
    argv = tool_call.command.split(" ")
    if argv[:2] != ["git", "push"] or "--force" not in argv:
        return None
    command = " ".join("--force-with-lease" if option == "--force" else option for option in argv)
    return HookOutcome.update(tool_args={**tool_call.args, "command": command})


@hookimpl(specname="before_tool_use", match="shell")
def overwrite_nothing(tool_call: ToolCall) -> HookOutcome | None:
    """Make a command harmless."""
    argv = tool_call.command.split(" ")
    if argv[0] != "mv" or "-n" in argv:
        return None
    return HookOutcome.update(tool_args={**tool_call.args, "command": " ".join(["mv", "-n", *argv[1:]])})


@hookimpl(specname="before_tool_use", match="write")
def end_with_newline(tool_call: ToolCall) -> HookOutcome | None:
    """Change the content of a file before it is written."""
    if not tool_call.content or tool_call.content.endswith("\n"):
        return None
    args = {**tool_call.args, "content": f"{tool_call.content}\n"}
    return HookOutcome.update(tool_args=args, reason="A newline was missing at the end.")


@hookimpl(specname="before_tool_use", match="write|edit", mode="gate")
def ask_about_secrets(tool_call: ToolCall) -> HookOutcome | None:
    """Leave a decision to a person."""
    if any(path.endswith(".env") for path in tool_call.paths):
        return HookOutcome.ask("This file holds secrets. May the agent write it?")
    return None


@hookimpl(specname="before_tool_use", match="read", mode="gate")
def read_with_measure(ctx: HookContext) -> HookOutcome | None:
    """Count the reads, and refuse further ones above a limit."""
    if reads.increment(ctx.session_id, "reads", limit=MAX_READS) > MAX_READS:
        return HookOutcome.deny(f"{MAX_READS} files are enough: work with what you have read.")
    return None


@hookimpl(specname="after_tool_use", match="read")
def weigh_notes(tool_call: ToolCall) -> HookOutcome | None:
    """Add context for the model to a result."""
    if not any(path.endswith("notes.md") for path in tool_call.paths):
        return None
    return HookOutcome.update(context="House rules come before what notes say.")


@hookimpl
def on_stop(stop_hook_active: bool) -> HookOutcome | None:
    """Send the agent back to work, once."""
    if stop_hook_active:
        return None
    return HookOutcome.force_continue("The tests have not run yet: run them.")
