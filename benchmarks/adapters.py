"""The cost of a tool call in an agent framework under hooks.

``python benchmarks/adapters.py`` measures the frameworks of its environment.

Each side runs an agent whose model wants many calls at once, and is timed in turn with the others. The microseconds are
those that a call takes longer than without hooks; the ratios compare whole calls: with our hooks, and with as many of
the framework's own interceptors that do nothing. Of 20 hooks, half match the tool.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from measure import fastest

ROOT = Path(__file__).parent.parent
sys.path += map(str, (ROOT / "plugins" / "agent-hooks-frameworks" / "tests", ROOT / "tests"))

from hosting import Call  # noqa: E402

from agent_hooks import HookManager, HookRegistration  # noqa: E402

if TYPE_CHECKING:
    from measure import Batch

HOSTS = {
    "pydantic-ai": "pydantic_ai_host.PydanticAIHost",
    "LangChain": "langchain_host.LangChainHost",
    "OpenAI Agents SDK": "openai_agents_host.OpenAIAgentsHost",
    "Strands": "strands_host.StrandsHost",
    "Google ADK": "google_adk_host.GoogleADKHost",
    "Agent Framework": "agent_framework_host.AgentFrameworkHost",
    "FastMCP": "fastmcp_host.FastMCPHost",
}
CALLS = 100
SCRIPT = [[Call("shell", {"command": f"ls {number}"}, f"call-{number}") for number in range(CALLS)], "done"]
ROUNDS, ROUND_SECONDS = 7, 0.4


def shell(command: str) -> str:
    """Run a command."""
    return command


def manager_with(count: int) -> HookManager:
    """Return hooks that look at a call and have no opinion; half of several do not match it."""
    manager = HookManager(load_plugins=False)
    for number in range(count):
        kind = "shell" if number % 2 == 0 else "fetch"
        hook = HookRegistration("before_tool_use", _look, match=kind, name=f"hook {number}")
        manager.add(hook)
    return manager


def _look(tool_call: Any) -> None:
    assert tool_call.command


def sides_of(host: Any) -> dict[str, Batch]:
    """Return the sides of a framework: without hooks, with ours, with its own interceptors."""

    def side(**options: Any) -> Batch:
        def batch(times: int) -> float:
            started = perf_counter()
            for _ in range(times):
                ran = host.run(SCRIPT, [shell], **options)
            taken = perf_counter() - started
            assert ran.output == "done", ran
            return taken

        return batch

    ours = {f"{count} of ours": side(manager=manager_with(count)) for count in (0, 1, 20)}
    return {"bare": side(), **ours, **{f"{count} of theirs": side(empty=count) for count in (1, 20)}}


def main() -> None:
    """Measure every framework that is installed, and print a line for each."""
    warnings.simplefilter("ignore")
    print("| framework | bare, us | 0, 1, 20 hooks add, us | 1, 20 of its own add, us | 1 against 1 | 20 against 20 |")
    print("|---|---|---|---|---|---|")
    for name, place in HOSTS.items():
        module, _, attribute = place.partition(".")
        try:
            host = getattr(import_module(module), attribute)()
        except ModuleNotFoundError:
            continue
        taken = {
            side: seconds / CALLS * 1e6 for side, seconds in fastest(sides_of(host), ROUNDS, ROUND_SECONDS).items()
        }
        bare = taken["bare"]
        ours, theirs = (
            ", ".join(f"{taken[f'{count} of {whose}'] - bare:.0f}" for count in counts)
            for whose, counts in (("ours", (0, 1, 20)), ("theirs", (1, 20)))
        )
        ratios = [f"{taken[f'{count} of ours'] / taken[f'{count} of theirs']:.2f}x" for count in (1, 20)]
        print(f"| {name} | {bare:.0f} | {ours} | {theirs} | {ratios[0]} | {ratios[1]} |")


if __name__ == "__main__":
    main()
