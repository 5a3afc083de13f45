"""An approval that takes its time: the run waits as JSON, and an agent made the same way goes on with the answer."""

import json

from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, ToolCall


def transfer(amount: int, to: str) -> str:
    """Transfer money."""
    return f"{amount} transferred to {to}."


def large_sums_need_a_person(tool_args):
    if tool_args["amount"] > 100:
        return HookOutcome.ask(f"Transfer {tool_args['amount']} to {tool_args['to']}?")


def make_agent(*replies):
    return (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(*replies))
        .with_tools(transfer)
        .before_tool_use(large_sums_need_a_person, match="transfer", priority=100)
        .with_ask("host")  # the host answers later, with resume
        .build()
    )


calls = [ToolCall("transfer", {"amount": amount, "to": "Ann"}, id=str(amount)) for amount in (20, 500)]
for decision in ("allow", "deny"):
    state = make_agent(calls).run_sync("Pay Ann what I owe her.")
    print(state.status, "|", state.suspended.reason, "|", "made so far:", state.suspended.settled[0].result)
    text = json.dumps(state.as_dict())  # a file, a database, a queue; the answer may come tomorrow

    agent = make_agent("That is all.")
    state = agent.resume_sync(AgentState.from_dict(json.loads(text)), decision)
    print(f"{decision} ->", state.messages[-2].content)
    print(state.status, "|", state.output)
