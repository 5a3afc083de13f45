"""What only people do is refused where a coding agent runs it."""

from __future__ import annotations

import pytest

from agent_hooks.errors import SettingsError, TrustError
from agent_hooks.system.by_hand import AGENTS, refuse_agents


@pytest.mark.parametrize("variable", AGENTS)
def test_each_agents_variable_is_refused_by_name(monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    with pytest.raises(TrustError, match=f"^{AGENTS[variable]} runs this command, as {variable} in its environment"):
        refuse_agents(TrustError)


def test_the_error_is_the_callers(monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(SettingsError):
        refuse_agents(SettingsError)


def test_a_person_is_not_refused(monkeypatch):
    for variable in AGENTS:
        monkeypatch.delenv(variable, raising=False)
    refuse_agents(TrustError)
    monkeypatch.setenv("CLAUDECODE", "")
    refuse_agents(TrustError)
