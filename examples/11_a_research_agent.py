"""A research agent with two subagents: its gate holds in both, and all of them share one budget.

With an API key (see models.py) the models are real; what they read is in a temporary folder.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from models import model

from agent_hooks import AgentBuilder, HookOutcome, ToolCall, UseContextConfig, tool
from agent_hooks_subagents import SharedBudget, SubagentDefinition, UseSubagents

LEAD = "Let the searcher look for an answer and the checker check it. Then answer in a sentence."
SEARCH = "Search the texts for an answer. Give it in a sentence, with the name of the text."
CHECK = "You are given a sentence and the name of a text. Does the text say so? If not, what does it say?"


@tool(kind="search")
def find(word: str) -> str:
    """Return the names of the texts in which a word occurs."""
    return " ".join(sorted(path.name for path in library.glob("*.txt") if word.lower() in path.read_text().lower()))


@tool(kind="read")
def read(file: str) -> str:
    """Return a text."""
    return (library / Path(file).name).read_text().strip()


def no_drafts(tool_args):
    if "draft" in tool_args["file"]:
        return HookOutcome.deny("A draft is no source.")


def show(ctx):
    done = ctx.tool_execution
    result = f"denied: {done.reason}" if done.was_blocked else done.result
    print("    " * ctx.depth + done.name, *done.call.args.values(), "->", result)


def use(name, **args):
    return ToolCall(name, args)


lead = model(
    use("spawn_subagent", subagent="searcher", prompt="How long is a day on Venus?"),
    use("spawn_subagent", subagent="checker", prompt="A day on Venus takes 243 of ours (venus.txt)."),
    "A day on Venus takes 117 of our days.",
    use("spawn_subagent", subagent="searcher", prompt="How long is a day on Pluto?"),
)
search = model(
    [use("find", word="day"), use("read", file="draft.txt"), use("read", file="venus.txt")],
    "A day on Venus takes 243 of ours (venus.txt).",
    *[use("find", word="Pluto"), use("read", file="draft.txt")] * 9,  # it does not know when to stop
)
check = model(use("read", file="venus.txt"), "No: it turns round in 243 days, and a day takes 117.")
agents = [
    SubagentDefinition(name="searcher", description="Searches.", prompt=SEARCH, tools=["find", "read"], driver=search),
    SubagentDefinition(name="checker", description="Checks.", prompt=CHECK, tools=["read"], driver=check),
]
with TemporaryDirectory() as folder:
    library = Path(folder)
    (library / "draft.txt").write_text("To be checked: is a day on Pluto a thousand days long?\n")
    (library / "venus.txt").write_text("Venus turns round in 243 days. From sunrise to sunrise, a day takes 117.\n")
    agent = (
        AgentBuilder(plugins=())
        .with_driver(lead)
        .with_tools(find, read)
        .with_capability(UseContextConfig(LEAD))
        .with_capability(UseSubagents(*agents))
        .with_capability(SharedBudget(steps=10, seconds=300))
        .before_tool_use(no_drafts, match="read")
        .hook("after_tool_use", show, mode="observe")
        .build()
    )
    for planet in ("Venus", "Pluto"):
        state = agent.run_sync(f"How long is a day on {planet}?")
        print(f"{state.status} | {state.output or state.stop_signal.message}\n")
