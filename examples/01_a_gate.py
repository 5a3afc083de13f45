"""A gate: a plain function that denies a call before it happens."""

from agent_hooks import HookContext, HookManager, HookOutcome, ToolCall, hookimpl


class Rules:
    @hookimpl(match="shell", priority=200, mode="gate")
    def before_tool_use(self, tool_call):
        if tool_call.may_run("git", "push", flags={"--force", "-f"}):
            return HookOutcome.deny("Agents do not force-push here.")


manager = HookManager(load_plugins=False)
manager.register(Rules())
hooks = manager.hooks()

for command in ("git push", "git push --force"):
    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": command}))
    outcome = hooks.dispatch_sync(ctx)
    print(f"{command:<18} {outcome.decision:<8} {outcome.reason}")
