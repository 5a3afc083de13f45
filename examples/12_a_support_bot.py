"""A support bot: what customers write is refused or masked before anybody keeps it; a person approves large refunds.

With an API key (see models.py) a real model answers. Where there is no terminal to ask at, a large refund is denied.
"""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from models import model

from agent_hooks import AgentBuilder, HookOutcome, PromptRefusedError, SessionRunner, TerminalPermissions, ToolCall

PROMPTS = (
    "Where is my order 1001? I paid with 4111 1111 1111 1111.",
    "My password is hunter2, please log in for me.",
    "Order 1001 came without its cable. I would like 15 back.",
    "Order 1002 is broken. I would like my 400 back.",
)


def look_up(order: str) -> str:
    """Return what is known of an order."""
    return json.loads(file.read_text())[order]


def refund(order: str, amount: int) -> str:
    """Pay money back for an order."""
    orders = json.loads(file.read_text())
    orders[order] += f" {amount} were paid back."
    file.write_text(json.dumps(orders))
    return f"{amount} were paid back."


def welcome(ctx):
    return HookOutcome.with_context("You are the support of a shop. Look at an order before you refund it. Be brief.")


def no_passwords(prompt):
    if "password is" in prompt.lower():
        return HookOutcome.deny("Never tell us a password! We did not keep what you wrote.")


def mask_cards(prompt):
    masked = re.sub(r"\b\d(?:[ -]?\d){12,15}\b", "[card]", prompt)
    if masked != prompt:
        return HookOutcome.update(prompt=masked)


def large_refunds(tool_args):
    if not 0 < tool_args["amount"] <= 50:
        return HookOutcome.ask(f"Pay back {tool_args['amount']} for order {tool_args['order']}?")


bot = model(
    ToolCall("look_up", {"order": "1001"}),
    "It was delivered on Monday.",
    ToolCall("refund", {"order": "1001", "amount": 15}),
    "You get 15 back.",
    ToolCall("refund", {"order": "1002", "amount": 400}),
    lambda request: f"I have tried: {request.messages[-1].content}",
)
builder = AgentBuilder(plugins=()).with_driver(bot).with_tools(look_up, refund).plugin(TerminalPermissions())
builder = builder.hook("session_start", welcome).hook("user_input", no_passwords).hook("user_input", mask_cards)
agent = builder.before_tool_use(large_refunds, match="refund").build()
with TemporaryDirectory() as folder, SessionRunner(agent) as session:
    file = Path(folder, "orders.json")
    file.write_text(json.dumps({"1001": "Headphones, delivered on Monday.", "1002": "A bicycle, delivered in May."}))
    for prompt in PROMPTS:
        print(">", prompt)
        try:
            print("  bot:", session.send_sync(prompt).output)
        except PromptRefusedError as error:
            print("  refused:", error)
    read = [message.content for message in session.state.messages if message.role == "user"]
    print("What the model has read:", *read, sep="\n  ")
    print("What became of the orders:", *json.loads(file.read_text()).values(), sep="\n  ")
