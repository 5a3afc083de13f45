"""Hooks for AI agents: agents run no frob."""

# without settings
from agent_hooks import HookOutcome, ToolCall, hookimpl
# end
# with settings
from agent_hooks import HookContext, HookOutcome, ToolCall, hookimpl, plugin_settings
# end

PROGRAMS = frozenset({"frob"})


def deny_programs(call: ToolCall, programs: frozenset[str]) -> HookOutcome | None:
    """Deny a shell command that may run one of these programs."""
    for program in sorted(programs):
        if call.may_run(program):
            return HookOutcome.deny(f"Agents do not run {program} here.")
    return None


@hookimpl.before_tool_use(match="shell", mode="gate")
# without settings
def keep_programs_out(tool_call: ToolCall) -> HookOutcome | None:
    """Ask about each command, whatever the agent calls its shell."""
    return deny_programs(tool_call, PROGRAMS)
# end
# with settings
def keep_programs_out(tool_call: ToolCall, ctx: HookContext) -> HookOutcome | None:
    """Ask about each command, whatever the agent calls its shell."""
    from .settings import Settings

    settings = plugin_settings(Settings, ctx)
    return deny_programs(tool_call, PROGRAMS | settings.programs)


@hookimpl
def agent_hooks_settings() -> dict[str, object]:
    """Add the table ``[no-frobs]`` to files."""
    from .settings import Settings

    return {"no-frobs": Settings}
# end


# with command
@hookimpl
def agent_hooks_commands() -> dict[str, object]:
    """Add ``agent-hooks no-frobs``."""
    from .command import show_programs

    return {"no-frobs": show_programs}


# end
# with handler
@hookimpl
def agent_hooks_handler_types() -> dict[str, object]:
    """Add ``type = "no-frobs"`` to files."""
    return {"no-frobs": make_handler}


def make_handler() -> object:
    """Import the handler when a file needs it: agents wait for what they import."""
    from .handler import ProgramsHandler

    return ProgramsHandler()
# end
