"""agent_hooks: write a rule for an AI agent once, as a pluggy ``@hookimpl``, and it holds wherever the agent runs.

The public names are resolved when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.handlers.handler_type import HandlerType as HandlerType
    from agent_hooks.model.tool_call import ErrorInfo as ErrorInfo
    from agent_hooks.model.tool_call import ToolCall as ToolCall
    from agent_hooks.model.tool_call import ToolExecution as ToolExecution

    from .engine.foreign_calls import Ending as Ending
    from .engine.foreign_calls import ModelUse as ModelUse
    from .engine.foreign_calls import ToolUse as ToolUse
    from .engine.guarded_run import GuardedRun as GuardedRun
    from .engine.hooks import Hooks as Hooks
    from .engine.manager import HookManager as HookManager
    from .engine.markers import hookimpl as hookimpl
    from .engine.markers import hookspec as hookspec
    from .engine.matchers import CompositeMatcher as CompositeMatcher
    from .engine.matchers import MetadataMatcher as MetadataMatcher
    from .engine.matchers import PathMatcher as PathMatcher
    from .engine.matchers import StepTypeMatcher as StepTypeMatcher
    from .engine.matchers import ToolNameMatcher as ToolNameMatcher
    from .engine.plugin_info import HookInfo as HookInfo
    from .engine.plugin_info import PluginInfo as PluginInfo
    from .engine.registration import HookAction as HookAction
    from .engine.registration import HookRegistration as HookRegistration
    from .engine.registration import HookTriggers as HookTriggers
    from .engine.stack import HookStack as HookStack
    from .errors import AgentHooksError as AgentHooksError
    from .errors import BadJSONError as BadJSONError
    from .errors import DirectCallError as DirectCallError
    from .errors import DriverError as DriverError
    from .errors import HandlerError as HandlerError
    from .errors import HookMisuseError as HookMisuseError
    from .errors import HookTimeoutError as HookTimeoutError
    from .errors import InvalidOutcomeError as InvalidOutcomeError
    from .errors import PluginLoadError as PluginLoadError
    from .errors import PriorityConflictError as PriorityConflictError
    from .errors import PromptRefusedError as PromptRefusedError
    from .errors import ReadOnlyError as ReadOnlyError
    from .errors import RefusedError as RefusedError
    from .errors import RegistrationError as RegistrationError
    from .errors import RunError as RunError
    from .errors import RunFailedError as RunFailedError
    from .errors import RunStoppedError as RunStoppedError
    from .errors import SettingsError as SettingsError
    from .errors import StopRunError as StopRunError
    from .errors import StoreError as StoreError
    from .errors import SubagentDeniedError as SubagentDeniedError
    from .errors import SubagentError as SubagentError
    from .errors import SuspensionError as SuspensionError
    from .errors import ToolArgumentsError as ToolArgumentsError
    from .errors import TrustError as TrustError
    from .errors import UnknownEventError as UnknownEventError
    from .errors import UnknownHookError as UnknownHookError
    from .errors import WireError as WireError
    from .formats.findings import ConfigFinding as ConfigFinding
    from .frameworks import protect as protect
    from .handlers.actions import CommandAction as CommandAction
    from .handlers.actions import HttpAction as HttpAction
    from .model.context import HookContext as HookContext
    from .model.events import HookEvent as HookEvent
    from .model.events import define_event as define_event
    from .model.inference import ModelRequest as ModelRequest
    from .model.inference import ModelResponse as ModelResponse
    from .model.outcome import Decision as Decision
    from .model.outcome import Finding as Finding
    from .model.outcome import HookOutcome as HookOutcome
    from .model.outcome import Shadowed as Shadowed
    from .model.policy import CLEANUP as CLEANUP
    from .model.policy import DEFAULT as DEFAULT
    from .model.policy import GUARD as GUARD
    from .model.policy import OBSERVE as OBSERVE
    from .model.policy import SECURITY as SECURITY
    from .model.policy import TRANSFORM as TRANSFORM
    from .model.policy import HookPolicy as HookPolicy
    from .model.state import AgentState as AgentState
    from .model.state import Message as Message
    from .model.state import Step as Step
    from .model.state import StopReason as StopReason
    from .model.state import StopSignal as StopSignal
    from .model.state import Suspended as Suspended
    from .model.state import Usage as Usage
    from .runtime.agent import AgentIdentity as AgentIdentity
    from .runtime.agent import AgentRuntime as AgentRuntime
    from .runtime.builder import AgentBuilder as AgentBuilder
    from .runtime.capabilities import AgentCapability as AgentCapability
    from .runtime.capabilities import UseContextConfig as UseContextConfig
    from .runtime.capabilities import UseHook as UseHook
    from .runtime.capabilities import UseHooks as UseHooks
    from .runtime.conversations import ConversationStore as ConversationStore
    from .runtime.conversations import FileConversations as FileConversations
    from .runtime.conversations import MemoryConversations as MemoryConversations
    from .runtime.critique import Critique as Critique
    from .runtime.critique import UseSelfCritique as UseSelfCritique
    from .runtime.current import count_usage as count_usage
    from .runtime.current import current_run as current_run
    from .runtime.driver import Driver as Driver
    from .runtime.driver import ScriptedDriver as ScriptedDriver
    from .runtime.drivers.pydantic_ai import PydanticAIDriver as PydanticAIDriver
    from .runtime.hook_adapters import CriteriaHookAdapter as CriteriaHookAdapter
    from .runtime.hook_adapters import EventEmittingHook as EventEmittingHook
    from .runtime.hook_adapters import ProcessorHookAdapter as ProcessorHookAdapter
    from .runtime.interceptors import Interceptor as Interceptor
    from .runtime.interceptors import PassThrough as PassThrough
    from .runtime.judges import judge_driver as judge_driver
    from .runtime.pausing import SuspensionStore as SuspensionStore
    from .runtime.planning import UseTaskPlanning as UseTaskPlanning
    from .runtime.python_tools import Tool as Tool
    from .runtime.python_tools import tool as tool
    from .runtime.session import SessionRunner as SessionRunner
    from .runtime.subagents import run_subagent as run_subagent
    from .runtime.terminal_permissions import TerminalPermissions as TerminalPermissions
    from .sources.loader import HookConfigLoader as HookConfigLoader
    from .sources.loading import load as load
    from .sources.settings_models import plugin_settings as plugin_settings
    from .sources.skills import Skill as Skill
    from .sources.skills import SkillHook as SkillHook
    from .sources.skills import register_agent as register_agent
    from .sources.skills import register_skill as register_skill
    from .system.store import MemoryStore as MemoryStore

__version__ = "0.1.0"
# `agent_hooks_core` looks for this line: other distributions install a package of this name, too.
__distribution__ = "agent-hooks-core"

_HOMES = {
    "frameworks": "protect",
    "formats.findings": "ConfigFinding",
    "sources.loader": "HookConfigLoader",
    "sources.loading": "load",
    "sources.settings_models": "plugin_settings",
    "model.context": "HookContext",
    "errors": "AgentHooksError BadJSONError DirectCallError DriverError HandlerError HookMisuseError HookTimeoutError "
    "InvalidOutcomeError PluginLoadError PriorityConflictError PromptRefusedError ReadOnlyError RefusedError "
    "RegistrationError RunError RunFailedError RunStoppedError SettingsError StopRunError StoreError "
    "SubagentDeniedError SubagentError SuspensionError ToolArgumentsError TrustError UnknownEventError "
    "UnknownHookError WireError",
    "model.events": "HookEvent define_event",
    "handlers.actions": "CommandAction HttpAction",
    "handlers.handler_type": "HandlerType",
    "engine.hooks": "Hooks",
    "engine.manager": "HookManager",
    "engine.foreign_calls": "Ending ModelUse ToolUse",
    "engine.guarded_run": "GuardedRun",
    "engine.markers": "hookimpl hookspec",
    "engine.matchers": "CompositeMatcher MetadataMatcher PathMatcher StepTypeMatcher ToolNameMatcher",
    "model.outcome": "Decision Finding HookOutcome Shadowed",
    "engine.plugin_info": "HookInfo PluginInfo",
    "model.policy": "CLEANUP DEFAULT GUARD OBSERVE SECURITY TRANSFORM HookPolicy",
    "engine.registration": "HookAction HookRegistration HookTriggers",
    "runtime.agent": "AgentIdentity AgentRuntime",
    "runtime.builder": "AgentBuilder",
    "runtime.capabilities": "AgentCapability UseContextConfig UseHook UseHooks",
    "runtime.conversations": "ConversationStore FileConversations MemoryConversations",
    "runtime.critique": "Critique UseSelfCritique",
    "runtime.current": "count_usage current_run",
    "model.inference": "ModelRequest ModelResponse",
    "runtime.driver": "Driver ScriptedDriver",
    "runtime.drivers.pydantic_ai": "PydanticAIDriver",
    "runtime.hook_adapters": "CriteriaHookAdapter EventEmittingHook ProcessorHookAdapter",
    "runtime.interceptors": "Interceptor PassThrough",
    "runtime.judges": "judge_driver",
    "runtime.pausing": "SuspensionStore",
    "runtime.planning": "UseTaskPlanning",
    "runtime.session": "SessionRunner",
    "runtime.subagents": "run_subagent",
    "runtime.terminal_permissions": "TerminalPermissions",
    "runtime.python_tools": "Tool tool",
    "sources.skills": "Skill SkillHook register_agent register_skill",
    "engine.stack": "HookStack",
    "model.state": "AgentState Message Step StopReason StopSignal Suspended Usage",
    "model.tool_call": "ErrorInfo ToolCall ToolExecution",
    "system.store": "MemoryStore",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted([*_HOME_OF, "__version__"])  # noqa: PLE0605 - a list, built from the table above


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'agent_hooks' has no attribute {name!r}")
    __import__(f"agent_hooks.{module}")  # not by `importlib`, which imports warnings
    found = globals()[name] = getattr(sys.modules[f"agent_hooks.{module}"], name)
    return found


def __dir__() -> list[str]:
    return __all__


# Modules that the documentation named before they lay elsewhere, and where their names are now.
_MOVED = {
    "by_hand": "agent_hooks.system.by_hand",
    "config": "agent_hooks.formats",
    "config.skills": "agent_hooks.formats.skill_files",
    "config.sources": "agent_hooks.sources.files",
    "config.toml": "agent_hooks.formats.toml",
    "discovery": "agent_hooks.trust",
    "events": "agent_hooks.model.events",
    "folders": "agent_hooks.system.folders",
    "hookspecs": "agent_hooks.engine.hookspecs",
    "policy": "agent_hooks.model.policy",
    "store": "agent_hooks.system.store",
    # Deprecated: in distributions of their own since 0.1. They go with 0.2.
    "adapters": "agent_hooks_frameworks",
}
_SUBMODULES = "adapters."


def _new_home(name: str) -> str:
    """Return the module that took the place of ``name``; an empty string if it has not moved."""
    old = name.partition(".")[2] if name.startswith("agent_hooks.") else ""
    if old.startswith(_SUBMODULES):
        return f"{_MOVED['adapters']}.{old.removeprefix(_SUBMODULES)}"
    return _MOVED.get(old, "")


class _MovedFinder:
    """Import ``agent_hooks.<old>`` as a module with the names of the one that took its place."""

    @staticmethod
    def find_spec(name: str, *_unused: object) -> object:
        if not _new_home(name):
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, _MovedFinder, is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(_: object) -> None:
        return None

    @staticmethod
    def exec_module(module: Any) -> None:
        new: Any = _moved(_new_home(module.__name__), module.__name__)
        module.__dict__.update({name: value for name, value in vars(new).items() if name[:2] != "__"})
        if "__getattr__" in vars(new):
            module.__getattr__ = new.__getattr__


def _moved(new: str, old: str) -> Any:
    """Import the module ``new``, and warn of its old name if it is one of another distribution. Raises ``ImportError``
    with the distribution to install.
    """
    from importlib import import_module

    package = new.partition(".")[0]
    if package == __name__:
        return import_module(new)
    from warnings import warn

    distribution = package.replace("_", "-")
    try:
        found = import_module(new)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"{old} is {new} now: pip install {distribution}"
        raise ModuleNotFoundError(message, name=package) from None
    warn(f"{old} is {new} now, of {distribution}; the old name goes with 0.2.", DeprecationWarning, stacklevel=3)
    return found


sys.meta_path.append(_MovedFinder)  # type: ignore[arg-type]
