"""Discovery of a project's hooks, and the trust without which none of them runs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .project_files import project_root as project_root
    from .trust_store import TrustStore as TrustStore
    from .trust_store import trusted_skill as trusted_skill

_MODULES = {"TrustStore": "trust_store", "project_root": "project_files", "trusted_skill": "trust_store"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'agent_hooks.trust' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
