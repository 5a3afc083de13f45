"""Put a marshalled copy of the data tables into the wheel: a guard that runs for one tool call cannot parse TOML."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "agent_hooks_guards"


class TablesHook(BuildHookInterface[Any]):
    """Adds ``tables.marshal`` to each folder of the package that has TOML files. Editable installs read the TOML."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the copies to a temporary folder and add them to the wheel."""
        if version == "editable":
            return
        self._temporary = TemporaryDirectory()
        source = os.path.join(self.root, "src")
        tables = _load_tables(source)
        for number, (folder, _, names) in enumerate(os.walk(os.path.join(source, PACKAGE))):
            if any(name.endswith(".toml") for name in names):
                copy = os.path.join(self._temporary.name, f"{number}.marshal")
                with open(copy, "wb") as file:
                    file.write(tables.pack_tables(folder))
                target = os.path.join(os.path.relpath(folder, source), tables.COPY)
                build_data["force_include"][copy] = target

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        del build_data, artifact_path
        if version != "editable":
            self._temporary.cleanup()


def _load_tables(source: str) -> Any:
    """Load the module that packs tables, without the package around it, which needs more than a build has."""
    package = ModuleType(PACKAGE)
    package.__path__ = [os.path.join(source, PACKAGE)]
    sys.modules[PACKAGE] = package
    try:
        import_module(f"{PACKAGE}.model.packing")
        return import_module(f"{PACKAGE}.model.tables")
    finally:
        del sys.modules[PACKAGE]
