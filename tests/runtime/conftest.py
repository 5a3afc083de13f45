"""What tests of the runtime share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[False, True], ids=["one by one", "together"])
def parallel(request: pytest.FixtureRequest) -> bool:
    """Whether the tools of a step run at the same time. What hooks and model see must not depend on it."""
    return bool(request.param)
