"""The driver for the models that pydantic-ai supports, under the runtime's own loop and hooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self, cast

from agent_hooks.errors import DriverError
from agent_hooks.model.values import freeze, thaw
from agent_hooks.runtime.current import CURRENT, count_usage
from agent_hooks.runtime.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pydantic_ai.messages
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from agent_hooks.model.inference import ModelRequest, ModelResponse

# The length of a provider's error message that is passed on, in characters.
_MESSAGE_LIMIT = 300


class PydanticAIDriver:
    """Asks a model through pydantic-ai, which needs the extra ``models``.

    ``model``: a name with its provider, such as ``"anthropic:claude-sonnet-4-5"``, or a model of pydantic-ai.
    ``settings``: pydantic-ai's ``ModelSettings`` for every request; those of a request take precedence. ``on_text``: a
    function, sync or async, that gets each piece of text as it arrives, before any hook has seen it; its errors are
    logged only.

    The attribute ``model`` is the name without the provider. A request may name another model, by default of the same
    provider. A request is sent once; the setting ``max_retries`` lets the provider's client repeat it. Connections
    stay open between requests only inside ``async with driver:``.

    Raises ``DriverError`` if pydantic-ai, the provider's client or its API key is missing.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        settings: Mapping[str, Any] | None = None,
        on_text: Callable[[str], Any] | None = None,
    ) -> None:
        try:
            from pydantic_ai.models import Model
        except ModuleNotFoundError as error:
            raise DriverError("This driver needs pydantic-ai: pip install 'agent-hooks-core[models]'") from error
        if not isinstance(model, (str, Model)):
            raise DriverError(
                f"A model is a name such as 'openai:gpt-5', or a model of pydantic-ai, not {model!r:.80}."
            )
        self._provider = model.partition(":")[0] if isinstance(model, str) else ""
        self._own = _inferred(model) if isinstance(model, str) else model
        self.model = self._own.model_name
        self._models = {"": self._own, self.model: self._own}
        self.settings = freeze(dict(settings or {}))
        self.on_text = on_text

    async def __aenter__(self) -> Self:
        """Keep the connections to the model open, in this event loop."""
        await self._own.__aenter__()
        return self

    async def __aexit__(self, *_raised: object) -> None:
        """Close them."""
        await self._own.__aexit__(None, None, None)

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the model's answer.

        Raises ``DriverError`` if there is none, with the HTTP status and the provider's message if present; also for
        a request that cannot be sent, and for an answer that does not have its ``response_format``.
        """
        from .pydantic_ai_messages import asked_for, conversation, own_names, response_of, usage_of

        model = self._asked(request.model)
        parameters = asked_for(request, model)
        messages, settings = conversation(request), self._settings_for(model, request)
        try:
            async with model:
                answer = await self._answer(
                    model, messages, model_settings=settings, model_request_parameters=parameters
                )
        except Exception as error:  # data from a provider may break its client in any way
            raise DriverError(_description(error, model.model_name)) from error
        try:
            return response_of(answer, parameters, own_names(request.tools))
        except DriverError:
            # The answer is useless, but its tokens were used.
            count_usage(answer.model_name or model.model_name, usage_of(answer))
            raise

    async def _answer(
        self, model: Model, messages: list[pydantic_ai.messages.ModelMessage], **options: Any
    ) -> pydantic_ai.messages.ModelResponse:
        from pydantic_ai.direct import model_request, model_request_stream
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

        # Requests of hooks are not streamed: they are no part of the answer.
        if self.on_text is None or not CURRENT.get().is_step:
            return await model_request(model, messages, **options)
        async with model_request_stream(model, messages, **options) as stream:
            async for event in stream:
                match event:
                    case PartStartEvent(part=TextPart(text)) | PartDeltaEvent(delta=TextPartDelta(text)) if text:
                        await _tell(self.on_text, text)
        return stream.get()

    def _asked(self, name: str) -> Model:
        """Return the model called ``name``. Raises ``DriverError`` if it cannot be created."""
        if name in self._models:
            return self._models[name]
        if self._provider or _names_provider(name):
            model = _inferred(name if _names_provider(name) else f"{self._provider}:{name}")
        else:
            kind: Any = type(self._own)
            try:
                model = kind(name, provider=self._own.provider, settings=self._own.settings)
            except TypeError as error:
                raise DriverError(
                    f"The model {name!r} cannot be asked through a {kind.__name__}: name it with its provider, as in "
                    "'openai:gpt-5'."
                ) from error
        self._models[name] = model
        return model

    def _settings_for(self, model: Model, request: ModelRequest) -> ModelSettings:
        from pydantic_ai.settings import ModelSettings

        given = {**self.settings, **request.settings}
        unknown = given.keys() - ModelSettings.__optional_keys__
        if unknown and (unknown := unknown - _settings_of_providers(model)):
            names = ", ".join(map(repr, sorted(unknown)))
            raise DriverError(f"There is no setting {names} of a model; see pydantic-ai's ModelSettings.")
        # Hooks on on_error decide about retries; they would not see those of the client.
        if "max_retries" not in model.unsupported_settings and "max_retries" not in (model.settings or {}):
            given.setdefault("max_retries", 0)
        return cast("ModelSettings", thaw(given))


def _inferred(name: str) -> Model:
    """Return the model called ``name``. Raises ``DriverError`` naming a missing requirement."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        return infer_model(name)
    except (ImportError, UserError) as error:
        raise DriverError(f"The model {name!r} cannot be asked. {error}") from error


def _names_provider(name: str) -> bool:
    """Whether the part before the colon is a provider: model names may contain colons, too."""
    from pydantic_ai.providers import infer_provider_class

    provider, colon, _ = name.partition(":")
    try:
        return bool(colon and infer_provider_class(provider))
    except ImportError:  # a provider whose client is not installed
        return True
    except ValueError:
        return False


def _settings_of_providers(model: Model) -> set[str]:
    """Return the additional settings of the providers that are imported."""
    from pydantic_ai.settings import ModelSettings

    names = [name for name in sys.modules if name.startswith("pydantic_ai.models.")]
    everything = [value for name in (*names, type(model).__module__) for value in vars(sys.modules[name]).values()]
    tables: list[frozenset[str]] = [getattr(value, "__optional_keys__", frozenset()) for value in everything]
    return {key for keys in tables if keys >= ModelSettings.__optional_keys__ for key in keys}


async def _tell(on_text: Callable[[str], Any], piece: str) -> None:
    try:
        result = on_text(piece)
        if hasattr(result, "__await__"):
            await result
    except Exception as error:  # noqa: BLE001 - a listener must not end the answer
        logger.warning("agent_hooks: on_text raised %s, and the answer goes on without it.", type(error).__name__)


def _description(error: Exception, model: str) -> str:
    """Describe the error by the provider's own message, without the request."""
    status = getattr(error, "status_code", None)
    if status is None:
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        return f"The model {model!r} gave no answer: {message:.{_MESSAGE_LIMIT}}"
    code = getattr(error, "provider_error_code", None) or getattr(error, "provider_error_type", None)
    text = f"The model {model!r} gave no answer: HTTP status {status}{f' ({code})' if code else ''}"
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    # The message about a refused key may contain the key.
    has_message = isinstance(message, str) and status not in (401, 403)
    return f"{text}: {message:.{_MESSAGE_LIMIT}}" if has_message else text
