"""A wrapper sees what all others decided, and may only make it stricter."""

from agent_hooks import HookContext, HookManager, HookOutcome, ToolCall, hookimpl


class Curfew:
    open_for_business = False

    @hookimpl(wrapper=True, match="write|edit|delete|shell")
    def before_tool_use(self, tool_call):
        outcome = yield
        if not outcome.blocks and not self.open_for_business:
            return HookOutcome.ask(f"It is late. Let {tool_call.name} change things?")
        return outcome


manager = HookManager(load_plugins=False)
manager.register(Curfew())
hooks = manager.hooks(ask=lambda ctx, reason: False)

for name, args in (("Read", {"file_path": "a.txt"}), ("Write", {"file_path": "a.txt", "content": ""})):
    outcome = hooks.dispatch_sync(HookContext("before_tool_use", tool_call=ToolCall(name, args)))
    print(name, outcome.decision, outcome.reason, sep=" | ")
