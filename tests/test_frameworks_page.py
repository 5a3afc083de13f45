"""The page of the frameworks: its table is that of the suite and the adapters, and each framework has a page."""

from __future__ import annotations

import tomllib

import pytest

from pages import DOCS, script

TABLE = script("framework_table")


def test_the_table_is_that_of_the_suite():
    page = (DOCS / "frameworks.md").read_text(encoding="utf-8")
    assert page == TABLE.updated(), "Run `python docs/framework_table.py`."


@pytest.mark.parametrize("framework", TABLE.frameworks(), ids=lambda each: each.extra)
def test_each_framework_has_an_extra_an_environment_and_a_page_that_others_link(framework):
    project = tomllib.loads((TABLE.PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert framework.extra in project["optional-dependencies"]
    environment = framework.extra.replace("-", "_")
    line = f"    {environment}: pip install --quiet {{tox_root}}/plugins/agent-hooks-frameworks[{framework.extra}]\n"
    assert line in (DOCS.parent / "tox.ini").read_text("utf-8")
    for name in ("frameworks.md", "index.md"):
        assert f"]({framework.extra}.md)" in (DOCS / name).read_text(encoding="utf-8")


def test_a_reason_names_a_behaviour_of_the_suite():
    behaviours = TABLE.behaviours()
    assert len(behaviours) > 40
    assert [name for each in TABLE.frameworks() for name in each.cannot if name not in behaviours] == []
