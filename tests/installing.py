"""Installs plugins and adapters that a test makes up: a module each, in a distribution with an entry point."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest

GUARD = """
    from agent_hooks import HookOutcome, hookimpl

    @hookimpl(match="shell")
    def before_tool_use(tool_call):
        return HookOutcome.with_context("{name} saw " + tool_call.command)
"""


def installing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Yield what installs a module with this source in a distribution of its own; ``group``: that of its entry point,
    which names the module, or an ``attribute`` of it.
    """
    monkeypatch.delenv("AGENT_HOOKS_DISABLE", raising=False)

    def install(
        name: str,
        source: str = GUARD,
        distribution: str = "",
        version: str = "1.0",
        needs: str = "",
        group: str = "agent_hooks",
        attribute: str = "",
    ) -> None:
        distribution = distribution or f"{name}-dist"
        site = tmp_path / distribution
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        module = f"plugin_{distribution}_{tmp_path.name}".replace("-", "_")
        (site / f"{module}.py").write_text(textwrap.dedent(source.replace("{name}", name)))
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
            + (f"Requires-Dist: {needs}\n" if needs else "")
        )
        value = f"{module}:{attribute}" if attribute else module
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
        monkeypatch.syspath_prepend(str(site))
        modules.append(module)

    modules: list[str] = []
    yield install
    for module in modules:
        sys.modules.pop(module, None)
