"""A real server on this machine that speaks the protocol of OpenAI, and a pydantic-ai that asks no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic_ai.models import override_allow_model_requests

from runtime.drivers.chat_server import ChatServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_model_of_the_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep a mistake in a test from asking a model that costs money."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with override_allow_model_requests(allow_model_requests=False):
        yield


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """The server, the only one that may be asked."""
    with override_allow_model_requests(allow_model_requests=True), ChatServer() as made:
        yield made
