"""The entry point of agent_hooks for scripts, hosts and pytest.

Two other distributions install a package called ``agent_hooks``. One that is installed over this one, or uninstalled
again, leaves that package foreign or broken. No other distribution has this module. As a script, it is compiled anew at
each event of a coding agent, so it only loads ``agent_hooks_launcher``.
"""

import os
import sys
from _frozen_importlib import module_from_spec  # what `importlib` has costs an import, and warnings
from _frozen_importlib_external import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Run the command with the arguments of the process. Exits 2 if the installation cannot be used."""
    try:
        launcher = load("agent_hooks_launcher")
    except Exception as error:  # noqa: BLE001 - a host lets everything through after a traceback
        try:
            os.write(2, f"agent-hooks: {error}. Remedy: install agent-hooks-core again.\n".encode())
        finally:
            os._exit(refusal(sys.argv))
    launcher.main()


def refusal(arguments: "list[str]") -> int:
    """Return the exit code for no decision: where an agent is about to stop, a 2 would be read as "go on", for ever."""
    pairs = zip(["", *arguments], arguments, strict=False)
    words = [word.lower() for before, word in pairs if "--config-dir" not in (before, word.partition("=")[0])]
    return 0 if any(word.endswith(("stop", "idle", "completed", "afteragent")) for word in words) else 2


def pytest_configure(config: object) -> None:
    """Register the pytest plugin of agent_hooks. Where the package is not ours, the run goes on with one warning."""
    load("agent_hooks_launcher").pytest_configure(config)


def load(name: str) -> "Any":
    """Return a module from the folder of this file, wherever else the path leads. Raises ``ImportError``."""
    if name not in sys.modules:
        spec = PathFinder.find_spec(name, [FOLDER])
        if spec is None or spec.loader is None:
            raise ImportError(f"{name} is not in {FOLDER}")
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


if __name__ == "__main__":
    sys.modules["agent_hooks_core"] = sys.modules[__name__]
    main()
