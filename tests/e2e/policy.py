"""The rules of the plugin that the scenarios install: what a command or a prompt says, and what happens then."""

import os
import signal
import time

from agent_hooks import HookOutcome, hookimpl


@hookimpl(match="shell", mode="transform", timeout=3)
def before_tool_use(tool_call):
    """Decide by the word that the command begins with."""
    word = tool_call.command.split("; ")[0].removeprefix(": ")
    match word:
        case "deny":
            return HookOutcome.deny("the-reason-of-deny")
        case "ask":
            return HookOutcome.ask("the-reason-of-ask")
        case "rewrite":
            return HookOutcome.allow(tool_args={**tool_call.args, "command": ": rewritten; echo > rewritten"})
        case "replace":
            return HookOutcome.update(tool_args={**tool_call.args, "command": ": replaced; echo > replaced"})
        case "tell":
            return HookOutcome.update(context="the-context")
        case "raise":
            raise RuntimeError("the policy is broken")
        case "exit":
            os._exit(0)
        case "kill":
            os.killpg(os.getpgrp(), signal.SIGKILL)
        case "hang":
            while True:
                time.sleep(60)
    return None


@hookimpl(match="shell", mode="transform")
def after_tool_use(tool_call, result):
    """Take a secret out of what the model reads, or add something."""
    if "tell-after" in tool_call.command:
        return HookOutcome.update(context="the-later-context")
    if "the-" + "secret" in str(result):
        return HookOutcome.update(result="[redacted by the policy]")
    return None


@hookimpl
def user_input(prompt):
    """Refuse one prompt."""
    return HookOutcome.deny("the-reason-of-the-prompt") if "the-refused-prompt" in prompt else None


@hookimpl
def on_stop(ctx):
    """Ask for another round each time, where the project says so."""
    return HookOutcome.force_continue("the-next-round") if os.path.exists(os.path.join(ctx.cwd, "again")) else None
