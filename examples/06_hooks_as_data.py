"""Hooks as data: one action on several events, in a stack that is composed by hand."""

from agent_hooks import HookContext, HookOutcome, HookStack, HookTriggers, ToolCall


class Journal:
    """An action: it is given the context, whatever the event."""

    def __init__(self):
        self.lines = []

    def execute(self, ctx):
        self.lines.append(f"{ctx.event} {ctx.tool_name}")


journal = Journal()
stack = (
    HookStack()
    .with_hook(journal, HookTriggers.of("PreToolUse", "PostToolUse"), priority=10, name="journal")
    .with_hook(
        lambda ctx: HookOutcome.deny("Read only today."), "before_tool_use", match="write|edit", name="read-only"
    )
)
call = ToolCall("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"})
outcome = stack.dispatch_sync(HookContext("before_tool_use", tool_call=call))
print(outcome.decision, "by", outcome.hook)
print(*journal.lines, sep="\n")
for hook in stack.describe():
    print(f"{hook.event:<16} {hook.priority:>3} {hook.name}")
