"""agent_hooks: write a rule for an AI agent once, as a pluggy ``@hookimpl``, and it holds wherever the agent runs.

The public names are resolved when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .config.findings import ConfigFinding as ConfigFinding
    from .config.loader import HookConfigLoader as HookConfigLoader
    from .config.plugin_settings import plugin_settings as plugin_settings
    from .context import HookContext as HookContext
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
    from .events import HookEvent as HookEvent
    from .events import define_event as define_event
    from .handlers.actions import CommandAction as CommandAction
    from .handlers.actions import HttpAction as HttpAction
    from .handlers.types import HandlerType as HandlerType
    from .hooks import Hooks as Hooks
    from .manager import HookManager as HookManager
    from .markers import hookimpl as hookimpl
    from .markers import hookspec as hookspec
    from .matchers import CompositeMatcher as CompositeMatcher
    from .matchers import MetadataMatcher as MetadataMatcher
    from .matchers import PathMatcher as PathMatcher
    from .matchers import StepTypeMatcher as StepTypeMatcher
    from .matchers import ToolNameMatcher as ToolNameMatcher
    from .outcome import Decision as Decision
    from .outcome import Finding as Finding
    from .outcome import HookOutcome as HookOutcome
    from .outcome import Shadowed as Shadowed
    from .plugins import HookInfo as HookInfo
    from .plugins import PluginInfo as PluginInfo
    from .policy import CLEANUP as CLEANUP
    from .policy import DEFAULT as DEFAULT
    from .policy import GUARD as GUARD
    from .policy import OBSERVE as OBSERVE
    from .policy import SECURITY as SECURITY
    from .policy import TRANSFORM as TRANSFORM
    from .policy import HookPolicy as HookPolicy
    from .registration import HookAction as HookAction
    from .registration import HookRegistration as HookRegistration
    from .registration import HookTriggers as HookTriggers
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
    from .runtime.driver import ModelRequest as ModelRequest
    from .runtime.driver import ModelResponse as ModelResponse
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
    from .runtime.session import SessionRunner as SessionRunner
    from .runtime.subagents import run_subagent as run_subagent
    from .runtime.terminal import TerminalPermissions as TerminalPermissions
    from .runtime.tools import Tool as Tool
    from .runtime.tools import tool as tool
    from .skills import Skill as Skill
    from .skills import SkillHook as SkillHook
    from .skills import register_agent as register_agent
    from .skills import register_skill as register_skill
    from .stack import HookStack as HookStack
    from .state import AgentState as AgentState
    from .state import ErrorInfo as ErrorInfo
    from .state import Message as Message
    from .state import Step as Step
    from .state import StopReason as StopReason
    from .state import StopSignal as StopSignal
    from .state import Suspended as Suspended
    from .state import ToolCall as ToolCall
    from .state import ToolExecution as ToolExecution
    from .state import Usage as Usage
    from .store import MemoryStore as MemoryStore

__version__ = "0.1.0"
# `agent_hooks_core` looks for this line: other distributions install a package of this name, too.
__distribution__ = "agent-hooks-core"

_HOMES = {
    "config.findings": "ConfigFinding",
    "config.loader": "HookConfigLoader",
    "config.plugin_settings": "plugin_settings",
    "context": "HookContext",
    "errors": "AgentHooksError BadJSONError DirectCallError DriverError HandlerError HookMisuseError HookTimeoutError "
    "InvalidOutcomeError PluginLoadError PriorityConflictError PromptRefusedError ReadOnlyError RefusedError "
    "RegistrationError RunError RunFailedError SettingsError StopRunError StoreError SubagentDeniedError "
    "SubagentError SuspensionError ToolArgumentsError TrustError UnknownEventError UnknownHookError WireError",
    "events": "HookEvent define_event",
    "handlers.actions": "CommandAction HttpAction",
    "handlers.types": "HandlerType",
    "hooks": "Hooks",
    "manager": "HookManager",
    "markers": "hookimpl hookspec",
    "matchers": "CompositeMatcher MetadataMatcher PathMatcher StepTypeMatcher ToolNameMatcher",
    "outcome": "Decision Finding HookOutcome Shadowed",
    "plugins": "HookInfo PluginInfo",
    "policy": "CLEANUP DEFAULT GUARD OBSERVE SECURITY TRANSFORM HookPolicy",
    "registration": "HookAction HookRegistration HookTriggers",
    "runtime.agent": "AgentRuntime",
    "runtime.builder": "AgentBuilder",
    "runtime.capabilities": "AgentCapability UseContextConfig UseHook UseHooks",
    "runtime.conversations": "ConversationStore FileConversations MemoryConversations",
    "runtime.critique": "Critique UseSelfCritique",
    "runtime.current": "count_usage current_run",
    "runtime.driver": "Driver ModelRequest ModelResponse ScriptedDriver",
    "runtime.drivers.pydantic_ai": "PydanticAIDriver",
    "runtime.hook_adapters": "CriteriaHookAdapter EventEmittingHook ProcessorHookAdapter",
    "runtime.interceptors": "Interceptor PassThrough",
    "runtime.judges": "judge_driver",
    "runtime.pausing": "SuspensionStore",
    "runtime.planning": "UseTaskPlanning",
    "runtime.session": "SessionRunner",
    "runtime.subagents": "run_subagent",
    "runtime.terminal": "TerminalPermissions",
    "runtime.tools": "Tool tool",
    "skills": "Skill SkillHook register_agent register_skill",
    "stack": "HookStack",
    "state": "AgentState ErrorInfo Message Step StopReason StopSignal Suspended ToolCall ToolExecution Usage",
    "store": "MemoryStore",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted([*_HOME_OF, "__version__"])  # noqa: PLE0605 - a list, built from the table above


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'agent_hooks' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"agent_hooks.{module}"), name)
    return found


def __dir__() -> list[str]:
    return __all__
