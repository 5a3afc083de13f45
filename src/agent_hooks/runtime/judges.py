"""Selection of the model that judges an event: the one that a hook names, or a small one available here."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from agent_hooks.errors import DriverError, HandlerError, RegistrationError, SettingsError
from agent_hooks.sources.plugin_settings import plugin_settings

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext

    from .driver import Driver

FAST = "fast"
# The table of agent-hooks.toml that defines presets.
TABLE = "prompts"


class _Provider(NamedTuple):
    """A provider that needs no settings: its environment variables, package, extra of pydantic-ai-slim, and the name of
    its small, fast model.
    """

    variables: tuple[str, ...]
    package: str
    extra: str
    model: str

    @property
    def has_key(self) -> bool:
        """Whether one of the variables is set."""
        return any(os.environ.get(variable) for variable in self.variables)


# The first available one is used.
_PROVIDERS = (
    _Provider(("ANTHROPIC_API_KEY",), "anthropic", "anthropic", "anthropic:claude-haiku-5-5"),
    _Provider(("OPENAI_API_KEY",), "openai", "openai", "openai:gpt-6-luna"),
    _Provider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google.genai", "google", "google:gemini-3.5-flash-lite"),
)
# Retries by a provider's client of a rejected (429, 5xx) or lost request, within the hook's timeout.
_RETRIES = 2
# Model names of Claude Code's settings (https://code.claude.com/docs/en/model-config).
_CLAUDE = {
    "haiku": "anthropic:claude-haiku-5-5",
    "sonnet": "anthropic:claude-sonnet-5-5",
    "opus": "anthropic:claude-opus-5-5",
}


def model_id(name: str) -> str:
    """Return the model as ``provider:model``. ``haiku``, ``sonnet``, ``opus`` and ``claude-…`` are Anthropic's, as in
    Claude Code's settings. Raises ``RegistrationError`` if the provider is missing.
    """
    name = name.strip()
    if name in _CLAUDE:
        return _CLAUDE[name]
    if name.startswith("claude-"):
        return f"anthropic:{name}"
    provider, colon, model = name.partition(":")
    if not (provider and colon and model):
        raise RegistrationError(f"model: it is not said whose model {name!r} is; write it as 'provider:model'")
    return name


def judge_driver(model: str | None, preset: str, ctx: HookContext) -> Driver:
    """Return the driver that judges ``ctx``: that of ``model`` if given, else that of ``preset``.

    The table ``[prompts]`` of the machine's or the user's agent-hooks.toml defines presets. Without a definition,
    ``fast`` is the small model of the first provider with a key in the environment and its package installed, or else
    the driver of the agent that fires the event. Raises ``HandlerError`` with advice if there is no such model.
    """
    try:
        chosen = model or _configured(preset)
        if chosen is None and preset == FAST:
            chosen = next((each.model for each in _PROVIDERS if each.has_key and _is_installed(each.package)), None)
        if chosen is not None:
            return _driver(model_id(chosen))
    except (DriverError, RegistrationError, SettingsError) as error:
        raise HandlerError("there is no model to judge this", str(error)) from error
    own: Driver | None = getattr(ctx.runtime, "driver", None)
    if own is not None and preset == FAST:
        return own
    raise HandlerError("there is no model to judge this", _remedies(preset))


def _configured(preset: str) -> str | None:
    """Return the model of a preset in the settings. Raises ``SettingsError``."""
    chosen = plugin_settings(TABLE).get(preset)
    if chosen is None or (isinstance(chosen, str) and chosen.strip()):
        return chosen
    raise SettingsError(f"agent-hooks.toml: {TABLE}.{preset} must name a model, as in 'openai:gpt-6-luna'.")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _driver(model: str) -> Driver:
    from .drivers.pydantic_ai import PydanticAIDriver

    # Not shared: a client belongs to one event loop, and each sync call has its own. It retries, because on_error does
    # not fire for a judge's errors, and a busy provider must not be a way past the judge.
    return PydanticAIDriver(model, settings={"max_retries": _RETRIES})


def _remedies(preset: str) -> str:
    toml = f"under [{TABLE}] in your own agent-hooks.toml"
    if preset != FAST:
        return f"there is no preset {preset!r}: say which model it is, {toml}, as in {preset} = 'openai:gpt-6-luna'"
    last = f"set one of {', '.join(each.variables[0] for each in _PROVIDERS)}"
    if keyed := next((each for each in _PROVIDERS if each.has_key), None):
        last = f"pip install 'pydantic-ai-slim[{keyed.extra}]', for which there is a key in {keyed.variables[0]}"
    return f"give the hook a `model`, as in 'openai:gpt-6-luna', or say {FAST} = 'openai:gpt-6-luna' {toml}, or {last}"
