"""An async hook that asks, and an application that answers."""

import asyncio

from agent_hooks import HookContext, HookManager, HookOutcome, ToolCall, hookimpl

OWNERS = {"prod": "the platform team"}


class Deployments:
    @hookimpl(match="deploy", mode="gate", timeout=5)
    async def before_tool_use(self, tool_args):
        await asyncio.sleep(0)  # a look-up in some service
        target = tool_args["target"]
        if target in OWNERS:
            return HookOutcome.ask(f"{target} belongs to {OWNERS[target]}. Deploy all the same?")


async def person(ctx, reason):
    print("asked:", reason)
    return ctx.session_id == "friday"


async def main():
    manager = HookManager(load_plugins=False)
    manager.register(Deployments())
    call = ToolCall("deploy", {"target": "prod"})
    for session in ("friday", "sunday"):
        ctx = HookContext("before_tool_use", tool_call=call, session_id=session)
        outcome = await manager.hooks(ask=person).dispatch(ctx)
        print(session, outcome.decision)
    unattended = await manager.hooks().dispatch(ctx)
    print("nobody there:", unattended.decision, "|", unattended.reason)


asyncio.run(main())
