"""Installed plugins: real distributions with entry points, in folders of their own on the path."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import agent_hooks
from agent_hooks import HookManager, HookRegistration, PluginInfo, RegistrationError
from agent_hooks.engine import entry_points, installed
from agent_hooks.errors import UnknownHookError
from agent_hooks.model.events import HookEvent
from agent_hooks.testing import make_context
from engine import shell
from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.interpreter


def mine(manager: HookManager, *names: str) -> dict[str, PluginInfo]:
    """Those of its plugins that a test installed, by name."""
    return {info.name: info for info in manager.plugins() if info.name in names}


def test_installed_plugins_are_loaded(install):
    install("alpha")
    manager = HookManager()
    assert manager.hooks().dispatch_sync(shell("ls")).context == "alpha saw ls"
    info = mine(manager, "alpha")["alpha"]
    assert (info.status, info.source, info.distribution, info.version) == ("active", "plugin", "alpha-dist", "1.0")
    plugin, distribution = next(pair for pair in manager.list_plugin_distinfo() if pair[1].project_name == "alpha-dist")
    assert (plugin, distribution.version) == (manager.get_plugin("alpha"), "1.0")


def test_they_may_be_left_out(install):
    install("alpha")
    assert HookManager(load_plugins=False).plugins() == []


def test_they_are_loaded_in_the_order_of_their_names(install):
    """Whatever the order on the path."""
    for name in ("beta", "gamma", "alpha"):
        install(name)
    context = HookManager().hooks().dispatch_sync(shell("ls")).context
    assert context == "alpha saw ls\n\nbeta saw ls\n\ngamma saw ls"


BROKEN = TABLES["broken"]


# The line of each that its error names.
PLACES = dict(zip(BROKEN, (1, 1, 1, 2, 2, 3), strict=True))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_cannot_break_the_rest_and_counts_as_a_failing_gate_that_names_its_line(
    install, tmp_path, name
):
    install("alpha")
    install("broken", BROKEN[name])
    install("zeta")
    (module,) = (tmp_path / "broken-dist").glob("*.py")
    place = f"{module}:{PLACES[name]}"
    manager = HookManager()
    found = mine(manager, "alpha", "broken", "zeta")
    assert [info.status for info in found.values()] == ["active", "broken", "active"]
    assert found["broken"].error.startswith(f"{place}: ")
    outcome = manager.hooks().dispatch_sync(shell())
    assert (outcome.decision, outcome.failed, outcome.hook, outcome.origin) == ("deny", True, "broken", place)
    assert place in outcome.reason
    assert "the plugin 'broken' of broken-dist could not be loaded" in outcome.reason
    assert "Repair or uninstall it, or set AGENT_HOOKS_DISABLE=broken" in outcome.reason


@pytest.mark.parametrize(
    ("source", "error"), [("json.loads('{')", "JSONDecodeError"), ("def (:", "SyntaxError")], ids=["library", "syntax"]
)
def test_the_error_names_the_plugins_line_and_not_that_of_a_library_it_calls(install, tmp_path, source, error):
    install("broken", f"import json\n\n{source}\n")
    (module,) = (tmp_path / "broken-dist").glob("*.py")
    assert mine(HookManager(), "broken")["broken"].error.startswith(f"{module}:3: {error}: ")


def test_an_entry_point_that_names_nothing_is_itself_the_place(install, tmp_path):
    install("broken")
    (module,) = (tmp_path / "broken-dist").glob("*.py")
    module.unlink()
    place = f"the entry point broken = {module.stem} of broken-dist"
    manager = HookManager()
    assert mine(manager, "broken")["broken"].error.startswith(f"{place}: ModuleNotFoundError: ")
    assert manager.hooks().dispatch_sync(shell()).origin == place


@pytest.mark.parametrize(
    ("needs", "status"),
    TABLES["a_distribution_that_needs_another_version_of_the_core_is_broken"],
)
def test_a_distribution_that_needs_another_version_of_the_core_is_broken(install, needs, status):
    install("alpha", needs=needs)
    manager = HookManager()
    info = mine(manager, "alpha")["alpha"]
    assert info.status == status
    decision = manager.hooks().dispatch_sync(shell("ls")).decision
    if status == "broken":
        assert "PluginLoadError: it needs agent-hooks-core >=" in info.error
        assert "0.1.0 is installed" in info.error
        assert decision == "deny"
    else:
        assert decision == "proceed"


def test_a_broken_plugin_denies_where_gates_would_and_nowhere_else(install):
    install("broken", "raise RuntimeError('no licence')")
    hooks = HookManager().hooks()
    for event in HookEvent.all():
        ctx = make_context(event, tool="t", args={})
        expected = event.closed if event.closed in ("deny", "stop") else "proceed"
        assert (event, hooks.dispatch_sync(ctx).decision) == (event, expected)


def test_a_broken_plugin_is_silenced_by_blocking_its_name(install):
    install("broken", "raise RuntimeError('no licence')")
    manager = HookManager()
    manager.set_blocked("broken")
    assert manager.hooks().dispatch_sync(shell()).decision == "proceed"
    assert mine(manager, "broken")["broken"].status == "blocked"


# -- switching off -----------------------------------------------------------------------------------------------------


def test_a_plugin_is_switched_off_by_name(install):
    install("alpha")
    install("beta")
    manager = HookManager(disabled=["alpha"])
    assert manager.hooks().dispatch_sync(shell("ls")).context == "beta saw ls"
    assert mine(manager, "alpha")["alpha"].status == "disabled"
    assert manager.notes == ()


def test_the_environment_switches_plugins_off_and_every_answer_can_say_so(install, monkeypatch):
    for name in ("alpha", "beta", "gamma"):
        install(name)
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", " gamma , alpha,")
    manager = HookManager()
    assert manager.hooks().dispatch_sync(shell("ls")).context == "beta saw ls"
    assert manager.notes == ("agent_hooks: AGENT_HOOKS_DISABLE is set and switches off: alpha, gamma.",)


def test_the_environment_gets_a_developer_out_of_a_broken_plugin(install, monkeypatch):
    install("broken", "raise RuntimeError('no licence')")
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "broken")
    manager = HookManager()
    assert manager.hooks().dispatch_sync(shell()).decision == "proceed"
    assert mine(manager, "broken")["broken"].status == "disabled"


REQUIRED = """
    from agent_hooks import HookOutcome, hookimpl

    @hookimpl(required=True)
    def before_tool_use(ctx):
        return HookOutcome.deny("required")
"""


@pytest.mark.parametrize("way", ["disabled", "environment"])
def test_a_required_plugin_cannot_be_switched_off(install, monkeypatch, way):
    install("alpha", REQUIRED)
    if way == "environment":
        monkeypatch.setenv("AGENT_HOOKS_DISABLE", "alpha")
    manager = HookManager(disabled=["alpha"] if way == "disabled" else [])
    assert manager.hooks().dispatch_sync(shell()).reason == "required"
    assert mine(manager, "alpha")["alpha"].status == "active"


# -- plugins that add --------------------------------------------------------------------------------------------------

ADDS = """
    import sys
    from agent_hooks import define_event, hookimpl, hookspec

    @hookspec(firstresult=True)
    def before_deploy(ctx, payload):
        "Something is about to be deployed."

    @hookimpl
    def agent_hooks_add_hookspecs(manager):
        define_event("before_deploy", aliases="PreDeploy", subject="payload", decisions="deny", closed="deny")
        manager.add_hookspecs(sys.modules[__name__])
"""
USES = """
    from agent_hooks import HookOutcome, hookimpl

    @hookimpl
    def PreDeploy(payload):
        return HookOutcome.deny(f"not {payload}")
"""


def test_a_plugin_may_add_an_event_that_others_listen_to(install, own_events):
    """Whichever is loaded first."""
    install("zadds", ADDS)
    install("auses", USES)
    manager = HookManager()
    assert [info.status for info in mine(manager, "auses", "zadds").values()] == ["active", "active"]
    outcome = manager.hooks().dispatch_sync(make_context("before_deploy", payload="on a Friday"))
    assert (outcome.decision, outcome.reason) == ("deny", "not on a Friday")


def test_a_hook_on_an_event_that_only_another_manager_has_is_refused(install, own_events):
    """The table of events is shared, hookspecs are not."""
    install("adds", ADDS)
    HookManager()
    other = HookManager(load_plugins=False)
    with pytest.raises(UnknownHookError, match="before_deploy here: register the plugin that adds it first"):
        other.add(HookRegistration("before_deploy", lambda ctx: None))
    assert other.plugins() == []


def test_a_plugin_may_register_more(install):
    install(
        "alpha",
        """
        from agent_hooks import HookOutcome, HookRegistration, hookimpl

        @hookimpl
        def agent_hooks_register(manager):
            manager.add(HookRegistration("before_tool_use", lambda ctx: HookOutcome.deny("by alpha"), name="made"))
        """,
    )
    assert HookManager().hooks().dispatch_sync(shell()).hook == "made"


def test_two_distributions_may_claim_one_name(install):
    """Neither is passed over in silence: the second counts as broken."""
    install("alpha")
    install("alpha", distribution="other-dist")
    found = [info for info in HookManager().plugins() if info.name.startswith("alpha")]
    assert sorted(info.status for info in found) == ["active", "broken"]
    assert {info.distribution for info in found} == {"alpha-dist", "other-dist"}
    (error,) = (info.error for info in found if info.error)
    assert re.search(r"A plugin called 'alpha' is registered already, from (alpha|other)-dist 1\.0: ", error)
    assert "<module" not in error


def test_a_distribution_that_cannot_be_read_denies_and_breaks_no_other(install, tmp_path):
    install("alpha")
    install("damaged")
    next(tmp_path.glob("damaged-dist/*.dist-info/METADATA")).unlink()
    manager = HookManager()
    outcome = manager.hooks().dispatch_sync(shell("ls"))
    assert (outcome.decision, outcome.hook) == ("deny", "unreadable-1")
    assert mine(manager, "alpha")["alpha"].status == "active"


def test_a_damaged_distribution_that_is_no_plugin_of_ours_does_not_matter(install, tmp_path, monkeypatch):
    install("alpha")
    info = tmp_path / "other" / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[console_scripts]\nthis is no entry point\n")
    monkeypatch.syspath_prepend(str(info.parent))
    assert HookManager().hooks().dispatch_sync(shell("ls")).context == "alpha saw ls"


def test_a_distribution_that_stands_twice_on_the_path_is_loaded_once(install, tmp_path, monkeypatch):
    install("alpha")
    monkeypatch.syspath_prepend(f"{tmp_path}/./alpha-dist")
    assert HookManager().hooks().dispatch_sync(shell("ls")).context == "alpha saw ls"


def test_only_those_that_are_named_may_be_loaded(install):
    install("alpha")
    install("beta")
    manager = HookManager(load_plugins=["beta"])
    assert mine(manager, "alpha", "beta").keys() == {"beta"}


def test_a_name_that_is_not_installed_is_an_error(install):
    install("alpha")
    with pytest.raises(RegistrationError, match="No installed plugin is called alhpa"):
        HookManager(load_plugins=["alpha", "alhpa"])


def test_the_path_is_searched_once_until_one_of_its_folders_changes(install, tmp_path, monkeypatch):
    searches = []
    search = entry_points.distributions

    def counting(path):
        searches.append(1)
        return search(path)

    monkeypatch.setattr(installed, "distributions", counting)
    install("alpha")
    assert set(mine(HookManager(), "alpha")) == {"alpha"}
    HookManager()  # the first import may have written byte code into the plugin's folder
    searches.clear()
    for _ in range(3):
        assert set(mine(HookManager(), "alpha")) == {"alpha"}
    assert searches == []
    (tmp_path / "alpha-dist" / "other.dist-info").mkdir()
    assert set(mine(HookManager(), "alpha")) == {"alpha"}
    assert searches == [1]


def test_a_plugin_that_was_installed_or_removed_since_is_seen(install, tmp_path):
    install("alpha")
    assert set(mine(HookManager(), "alpha", "beta")) == {"alpha"}
    site = tmp_path / "alpha-dist"
    info = site / "beta-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: beta\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        (site / "alpha_dist-1.0.dist-info" / "entry_points.txt").read_text().replace("alpha =", "beta =")
    )
    assert set(mine(HookManager(), "alpha", "beta")) == {"alpha", "beta"}
    shutil.rmtree(info)
    assert set(mine(HookManager(), "alpha", "beta")) == {"alpha"}


# -- metadata in the working directory, which may be that of a foreign repository --------------------------------------

ASK = "import agent_hooks; print([each.status for each in agent_hooks.HookManager().plugins() if 'house' in each.name])"


def bring(folder, ending="dist-info", name="METADATA"):
    """Put a plugin with its metadata into ``folder``."""
    metadata = folder / f"house-1.0.{ending}"
    metadata.mkdir(parents=True)
    (metadata / name).write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agent_hooks]\nhouse = house_of_tests\n")
    (folder / "house_of_tests.py").write_text(
        "from agent_hooks import hookimpl\nopen('ran', 'w').close()\n@hookimpl\ndef before_tool_use(): ...\n"
    )


def asked(repo, *arguments, python=sys.executable, **variables):
    """The status of the plugin in a program in ``repo``, whether its code ran, and what the program logs."""
    environment = {**os.environ, **variables}
    done = subprocess.run([python, *arguments], cwd=repo, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip(), (repo / "ran").exists(), done.stderr


@pytest.mark.parametrize(("ending", "name"), [("dist-info", "METADATA"), ("egg-info", "PKG-INFO")])
@pytest.mark.parametrize(
    ("arguments", "path", "below"),
    [
        (["-c", ASK], "", ""),
        (["-m", "ask"], "", ""),
        (["ask.py"], "", ""),
        (["-c", ASK], "src", "src"),
        (["-c", ASK], "{repo}/src", "src"),
        (["-c", f"import sys; sys.path.insert(0, '../other'); {ASK}"], "", "../other"),
    ],
)
def test_metadata_in_the_working_directory_or_at_a_relative_entry_install_nothing(
    tmp_path, arguments, path, below, ending, name
):
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "ask.py").write_text(ASK)
    bring(repo / below, ending, name)
    said, ran, logged = asked(repo, *arguments, PYTHONPATH=path.format(repo=repo))
    assert (said, ran) == ("['ignored']", False)
    assert f"the metadata in {(repo / below).resolve()} do not count as installed" in logged


@pytest.mark.parametrize("how", ["in the environment", "an editable one", "outside"])
def test_what_is_installed_in_an_environment_of_the_project_is(tmp_path, how):
    repo, other = tmp_path / "repo", tmp_path / "other"
    repo.mkdir()
    venv.create(repo / ".venv", symlinks=os.name != "nt")
    python = next(path for path in repo.glob(".venv/*/python*") if path.stem == "python")
    (sites,) = (path for path in repo.glob(".venv/**/site-packages") if "lib64" not in path.parts)
    ours = [Path(agent_hooks.__file__).parent.parent, *site.getsitepackages()]
    (sites / "ours.pth").write_text("\n".join(map(str, ours)))
    folder = {"in the environment": sites, "an editable one": repo / "src", "outside": other}[how]
    bring(folder)
    if how == "an editable one":
        (sites / "house.pth").write_text(f"{folder}\n")
    said, ran, logged = asked(repo, "-c", ASK, python=python, PYTHONPATH=str(other))
    assert (said, ran, logged) == ("['active']", True, "")
