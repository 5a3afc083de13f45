"""Which model judges: the one that is named, that of the settings, that of a key there is, or the agent's own."""

from __future__ import annotations

import pytest

from agent_hooks import HandlerError, HookContext, RegistrationError, ScriptedDriver
from agent_hooks.errors import DriverError
from agent_hooks.runtime import judges
from agent_hooks.runtime.judges import JudgeSettings, judge_driver, model_id
from tables import tables

TABLES = tables(__file__)

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
EVENT = HookContext("before_turn")


class Settings(JudgeSettings):
    """The settings of a plugin whose hooks ask models."""


def agent_hooks_settings() -> dict[str, type]:
    return {"prompts": Settings}


class Agent:
    """As much of an agent as a judge looks at."""

    driver = ScriptedDriver("yes")


class Places:
    """Where a model may come from; nothing is installed and no key is set until a test says so."""

    def __init__(self, folder, monkeypatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.packages: set[str] = set()
        for key in KEYS:
            monkeypatch.delenv(key, raising=False)
        monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(folder))
        monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(folder / "managed"))
        monkeypatch.setattr(judges, "_is_installed", lambda package: package in self.packages)
        monkeypatch.setattr(judges, "_driver", lambda model: ScriptedDriver(model=model))

    def settings(self, text: str) -> None:
        (self.folder / "agent-hooks.toml").write_text(text)

    def key(self, variable: str, package: str = "") -> None:
        self.monkeypatch.setenv(variable, "secret")
        self.packages.add(package)


@pytest.fixture
def places(tmp_path, monkeypatch) -> Places:
    return Places(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai:gpt-6-luna", "openai:gpt-6-luna"),
        (" gateway/openai:x ", "gateway/openai:x"),
        ("claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5-20251001"),
        ("anthropic:claude-opus-5-5", "anthropic:claude-opus-5-5"),
        *((name, f"anthropic:claude-{name}-") for name in ("haiku", "sonnet", "opus")),
    ],
)
def test_a_model_is_named_with_its_provider_and_claude_code_s_names_are_anthropic_s(name, model):
    assert model_id(name).startswith(model)
    assert name in ("haiku", "sonnet", "opus") or model_id(name) == model


@pytest.mark.parametrize("name", ["gpt-6-luna", "", ":x", "openai:", "Haiku"])
def test_a_model_of_nobody_is_an_error(name):
    with pytest.raises(RegistrationError, match="provider:model"):
        model_id(name)


def test_the_model_of_the_hook_comes_first_then_the_settings_the_keys_and_the_agent_s_own_driver(places):
    event = EVENT.replace(runtime=Agent())
    assert judge_driver(None, "fast", event, Settings) is Agent.driver
    places.key("ANTHROPIC_API_KEY")
    assert judge_driver(None, "fast", event, Settings) is Agent.driver, "its package is not installed"
    places.key("OPENAI_API_KEY", "openai")
    assert judge_driver(None, "fast", event, Settings).model.startswith("openai:")
    places.settings("[prompts]\nfast = 'claude-x'\n")
    assert judge_driver(None, "fast", event, Settings).model == "anthropic:claude-x"
    assert judge_driver("haiku", "fast", event, Settings).model == model_id("haiku")


@pytest.mark.parametrize(
    ("variable", "package", "provider"),
    [
        ("ANTHROPIC_API_KEY", "anthropic", "anthropic:"),
        ("OPENAI_API_KEY", "openai", "openai:"),
        ("GOOGLE_API_KEY", "google.genai", "google:"),
        ("GEMINI_API_KEY", "google.genai", "google:"),
    ],
)
def test_each_provider_is_found_by_its_key(places, variable, package, provider):
    places.key(variable, package)
    assert judge_driver(None, "fast", EVENT, Settings).model.startswith(provider)


def advice(model: str | None, preset: str, event: HookContext) -> str:
    """The message for the operator without a model; the acting model gets no more than that."""
    with pytest.raises(HandlerError, match=r"^there is no model to judge this$") as caught:
        judge_driver(model, preset, event, Settings)
    return caught.value.advice


def test_where_there_is_no_model_all_remedies_are_named(places):
    with pytest.raises(HandlerError) as caught:
        judge_driver(None, "fast", EVENT, Settings)
    for remedy in ("`model`", "[prompts]", "agent-hooks.toml", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        assert remedy in caught.value.advice
        assert remedy not in str(caught.value)
    places.key("ANTHROPIC_API_KEY")
    assert "pip install 'pydantic-ai-slim[anthropic]'" in advice(None, "fast", EVENT)


def test_a_preset_of_ones_own_is_what_the_settings_say_and_nothing_else(places):
    places.key("OPENAI_API_KEY", "openai")
    event = EVENT.replace(runtime=Agent())
    assert "there is no preset 'careful'" in advice(None, "careful", event)
    places.settings("[prompts.presets]\ncareful = 'opus'\n")
    assert judge_driver(None, "careful", event, Settings).model == model_id("opus")


@pytest.mark.parametrize(
    ("settings", "problem"), TABLES["settings_that_are_wrong_are_a_failure_and_nobody_else_is_asked"]
)
def test_settings_that_are_wrong_are_a_failure_and_nobody_else_is_asked(places, settings, problem):
    places.settings(settings)
    places.key("OPENAI_API_KEY", "openai")
    assert problem in advice(None, "fast", EVENT.replace(runtime=Agent()))


def test_a_model_that_cannot_be_had_is_a_failure_that_says_why(places, monkeypatch):
    def fail(model: str):
        raise DriverError("pip install 'agent-hooks-core[models]'")

    monkeypatch.setattr(judges, "_driver", fail)
    assert "pip install" in advice("openai:x", "fast", EVENT.replace(runtime=Agent()))


def test_the_machine_s_preset_is_not_the_user_s_to_change(places, monkeypatch):
    (places.folder / "managed").mkdir()
    (places.folder / "managed" / "agent-hooks.toml").write_text("[prompts]\nfast = 'openai:managed'\n")
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda path: "")
    places.settings("[prompts]\nfast = 'openai:mine'\n")
    assert judge_driver(None, "fast", EVENT, Settings).model == "openai:managed"


def test_a_package_is_installed_or_it_is_not():
    assert judges._is_installed("pydantic")
    assert not judges._is_installed("no_such_package_here")
    assert not judges._is_installed("no_such_package_here.inner")
