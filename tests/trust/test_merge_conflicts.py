"""A trusted pyproject.toml in which a merge has left conflicts: the table holds as it was trusted last."""

from __future__ import annotations

import pytest

from agent_hooks.trust.trust_store import TrustStore
from projects import Project, own_folders

TABLE = (
    '[tool.agent_hooks]\n[[tool.agent_hooks.hooks.before_tool_use]]\nhooks = [{type = "command", command = "false"}]\n'
)
GOOD = f'[project]\nname = "x"\n\n{TABLE}'
CONFLICT = '<<<<<<< HEAD\nname = "x"\n=======\nname = "y"\n>>>>>>> theirs\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    own_folders(monkeypatch, tmp_path)
    return Project(tmp_path).write({"pyproject.toml": GOOD, "agent-hooks.toml": "priority = 1\n"}).trust()


def examined(project):
    found, status = TrustStore().examine(project.root)
    return [entry.config["command"] for file in found.reads for entry in file.entries], status.status


def test_the_trusted_table_holds_until_the_conflict_is_resolved(project):
    assert examined(project) == (["false"], "trusted")
    project.write({"pyproject.toml": GOOD.replace('name = "x"\n', CONFLICT)})
    found, status = TrustStore().examine(project.root)
    assert (examined(project), status.status) == ((["false"], "trusted"), "trusted")
    (restored,) = [
        finding for file in found.reads for finding in file.findings if finding.path.endswith("pyproject.toml")
    ]
    assert restored.remedy.startswith("Resolve it.")
    assert not restored.blocks


def test_it_does_not_if_anything_else_has_changed_too(project):
    project.write({"pyproject.toml": GOOD.replace('name = "x"\n', CONFLICT), "agent-hooks.toml": "priority = 2\n"})
    assert examined(project)[1] == "changed"


def test_a_table_that_is_read_is_taken_as_it_is(project):
    project.write({"pyproject.toml": GOOD.replace("false", "true")})
    assert examined(project) == (["true"], "changed")
