"""A driver that asks another model than its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import Driver, ModelRequest


class OtherModel:
    """``driver``, asked for ``model``: a driver asks the model that a request names."""

    def __init__(self, driver: Driver, model: str) -> None:
        self.driver = driver
        self.model = model

    def respond(self, request: ModelRequest) -> Any:
        """Return what the driver returns."""
        return self.driver.respond(request)
