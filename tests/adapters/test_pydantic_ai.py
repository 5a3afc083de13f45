"""Hooks in pydantic-ai."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.frameworks

from adapters.conformance import Conformance  # noqa: E402
from adapters.pydantic_ai_host import PydanticAIHost  # noqa: E402


class TestPydanticAI(Conformance):
    host = PydanticAIHost()
