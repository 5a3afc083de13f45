"""Commands, explanations and findings that installed plugins add to ``agent-hooks``."""

from __future__ import annotations

import sys

from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.origins import origin_of_fault
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.system.progress import report
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import click

    from agent_hooks.model.context import HookContext


def plugin_commands() -> dict[str, click.Command]:
    """Return the commands of installed plugins by name, the first of a name; failures are reported on stderr."""
    import click

    found: dict[str, click.Command] = {}
    manager = HookManager()
    for info in manager.plugins():
        if info.error:
            _warn(f"the plugin {info.name!r} is broken, and offers no commands: {info.error}")
    for plugin, commands in _answers(manager, "agent_hooks_commands", (), dict):
        for name, command in commands.items():
            if not isinstance(name, str) or not isinstance(command, click.Command):
                _warn(f"the plugin {plugin!r} offers commands, and {name!r} is no command of click: left out.")
            elif name in found:
                _warn(f"the plugin {plugin!r} offers a second command {name!r}: left out.")
            else:
                found[name] = command
    return found


def explanations(manager: HookManager, ctx: HookContext) -> dict[str, list[str]]:
    """Return the explanations of ``ctx`` by plugins, as lines, by the plugin's name."""
    return dict(_answers(manager, "agent_hooks_explain", (ctx,), list, str))


def plugin_findings(manager: HookManager, directory: str) -> Iterator[ConfigFinding]:
    """Yield the findings of plugins about ``directory``; they block nothing."""
    for _, findings in _answers(manager, "agent_hooks_findings", (directory,), list, ConfigFinding):
        yield from (finding.replace(blocks=False) for finding in findings)


def _answers(
    manager: HookManager, name: str, arguments: tuple[Any, ...], kind: type, of: type = object
) -> Iterator[tuple[str, Any]]:
    """Yield each plugin's valid answer; ``of``: the type of its items."""
    for impl in getattr(manager.hook, name).get_hookimpls():
        report(f"{name} of the plugin {impl.plugin_name!r}")
        try:
            # A hook may leave an argument out.
            answer = impl.function(*arguments[: len(impl.argnames)])
        except Exception as error:  # noqa: BLE001 - third-party code, and the other plugins count too
            answer = None
            problem = f"{origin_of_fault(impl.function, error)}: {type(error).__name__}: {error}"
        else:
            problem = "" if answer is None or isinstance(answer, kind) else f"it returned {type(answer).__name__}"
            if not problem and not all(isinstance(each, of) for each in answer or ()):
                problem = f"it returned what is no {'text' if of is str else of.__name__}"
        if problem:
            _warn(f"{name} of the plugin {impl.plugin_name!r} failed: {problem}")
        elif answer:
            yield impl.plugin_name, answer
    report("")


def _warn(problem: str) -> None:
    sys.stderr.write(visible(f"agent-hooks: {problem}") + "\n")
