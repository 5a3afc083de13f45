"""Settings of hypothesis for every test of this repository, those of the plugins included."""

from hypothesis import HealthCheck, settings

# A busy machine is no reason for a test to fail, so nothing here is measured by the clock.
settings.register_profile("agent_hooks", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("agent_hooks")
