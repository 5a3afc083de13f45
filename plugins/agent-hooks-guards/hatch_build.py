"""Put a marshalled copy of the data tables into the wheel: a guard that runs for one tool call cannot parse TOML."""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location
from tempfile import TemporaryDirectory
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
        tables = _load_module(os.path.join(source, PACKAGE, "model", "tables.py"))
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


def _load_module(path: str) -> Any:
    """Load one module of the package by its path: the package itself needs more than a build has."""
    spec = spec_from_file_location("tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
