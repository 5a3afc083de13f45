"""Selection of the model that judges an event: the one that a hook names, or a small one available here."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent_hooks.errors import DriverError, HandlerError, RegistrationError, SettingsError
from agent_hooks.sources.settings_models import plugin_settings, table_of

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext

    from .driver import Driver

FAST = "fast"


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


def _model_name(name: str) -> str:
    try:
        return model_id(name)
    except RegistrationError:
        raise ValueError("must name a model with its provider, as in 'openai:gpt-6-luna'") from None


ModelName = Annotated[str, AfterValidator(_model_name)]


class JudgeSettings(BaseModel):
    """The settings of a plugin whose hooks ask models. A project has no say in them: it must not choose the model that
    judges its agents, or the costs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    fast: ModelName | None = Field(
        default=None, description="The model that judges where a hook names neither a model nor a preset."
    )
    presets: dict[str, ModelName] = Field(default={}, description="Models by the name of a preset of your own.")


def judge_driver(
    model: str | None, preset: str, ctx: HookContext, settings: type[JudgeSettings] | None = None
) -> Driver:
    """Return the driver that judges ``ctx``: that of ``model`` if given, else that of ``preset``.

    ``settings``: the settings of the plugin, which define presets. Without a definition, ``fast`` is the small model of
    the first provider with a key in the environment and its package installed, or else the driver of the agent that
    fires the event. Raises ``HandlerError`` with advice if there is no such model, or the settings are wrong.
    """
    try:
        chosen = model
        if model is None and settings is not None:
            said = plugin_settings(settings, ctx)
            chosen = said.presets.get(preset, said.fast if preset == FAST else None)
        if chosen is None and preset == FAST:
            chosen = next((each.model for each in _PROVIDERS if each.has_key and _is_installed(each.package)), None)
        if chosen is not None:
            return _driver(model_id(chosen))
    except (DriverError, RegistrationError, SettingsError) as error:
        raise HandlerError("there is no model to judge this", str(error)) from error
    own: Driver | None = getattr(ctx.runtime, "driver", None)
    if own is not None and preset == FAST:
        return own
    raise HandlerError("there is no model to judge this", _remedies(preset, settings))


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


def _remedies(preset: str, settings: type[JudgeSettings] | None) -> str:
    table = "" if settings is None else table_of(settings)
    if preset != FAST:
        where = f": say which model it is, under [{table}.presets] in your own agent-hooks.toml" if table else ""
        return f"there is no preset {preset!r}{where}, as in {preset} = 'openai:gpt-6-luna'"
    last = f"set one of {', '.join(each.variables[0] for each in _PROVIDERS)}"
    if keyed := next((each for each in _PROVIDERS if each.has_key), None):
        last = f"pip install 'pydantic-ai-slim[{keyed.extra}]', for which there is a key in {keyed.variables[0]}"
    toml = f", or say {FAST} = 'openai:gpt-6-luna' under [{table}] in your own agent-hooks.toml" if table else ""
    return f"give the hook a `model`, as in 'openai:gpt-6-luna'{toml}, or {last}"
