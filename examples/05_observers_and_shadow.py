"""Observers look after the decision; a hook in shadow only reports what it would have decided."""

from agent_hooks import HookContext, HookManager, HookOutcome, ToolCall, hookimpl


class TooStrict:
    @hookimpl(match="shell", shadow=True)
    def before_tool_use(self):
        return HookOutcome.deny("No shell at all.")


class Report:
    @hookimpl(mode="observe")
    def before_tool_use(self, ctx):
        print("observed:", ctx.tool_call.command, "->", ctx.outcome.decision)

    @hookimpl
    def agent_hooks_executed(self, hook_name, outcome, shadow):
        if shadow and outcome is not None:
            print("shadow:  ", hook_name, "would have decided", outcome.decision)


manager = HookManager(load_plugins=False)
manager.register(TooStrict())
manager.register(Report())
ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "make"}))
print("decided: ", manager.hooks().dispatch_sync(ctx).decision)
