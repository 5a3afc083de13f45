"""A rewrite, and why no rewrite slips behind a gate: once it is done, every hook is asked about the result."""

from agent_hooks import GUARD, TRANSFORM, HookContext, HookManager, HookOutcome, ToolCall, hookimpl


class Politeness:
    """Pushes with a lease, so that nobody else's work is overwritten."""

    @hookimpl(match="shell", priority=TRANSFORM)
    def before_tool_use(self, tool_args):
        words = tool_args["command"].split()
        if "--force" in words:
            safer = " ".join("--force-with-lease" if word == "--force" else word for word in words)
            return HookOutcome.update(tool_args={**tool_args, "command": safer})


class MainIsProtected:
    @hookimpl(match="shell", priority=GUARD, mode="gate")
    def before_tool_use(self, tool_call):
        if tool_call.command.endswith("--force-with-lease origin main"):
            return HookOutcome.deny("main is never pushed with force, lease or not.")


manager = HookManager(load_plugins=False)
manager.register(Politeness())
manager.register(MainIsProtected())
hooks = manager.hooks()

for command in ("git push --force origin topic", "git push --force origin main"):
    ctx = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": command}))
    outcome = hooks.dispatch_sync(ctx)
    print(command)
    print("   ", outcome.decision, "|", outcome.reason or outcome.tool_args["command"])
