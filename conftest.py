"""What every test of this repository shares, those of the plugins included."""

import gc

from hypothesis import HealthCheck, settings

# A busy machine is no reason for a test to fail, so nothing here is measured by the clock.
settings.register_profile("agent_hooks", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("agent_hooks")


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of each later garbage collection, which takes 0.7 s with them."""
    gc.collect()
    gc.freeze()
