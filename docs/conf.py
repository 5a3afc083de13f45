"""Settings of the documentation's site: ``tox -e site`` builds it."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

from sphinx.ext.autodoc.mock import _MockObject

import agent_hooks

HERE = Path(__file__).parent
sys.path.insert(0, os.fspath(HERE))
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "agent_hooks"
author = PROJECT["authors"][0]["name"]
version = release = agent_hooks.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "site_pages"]
# The folder that holds them all is the repository: `sphinx-build -c docs . OUTPUT`.
root_doc = "docs/index"
include_patterns = ["README.md", "CHANGELOG.md", "docs/**", "plugins/*/README.md"]
exclude_patterns = [".?*", "build", "src", "tests"]
repository = PROJECT["urls"]["Source"]

myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
# Frameworks that building the site does not install.
autodoc_mock_imports = """
    agent_framework agents claude_agent_sdk fastmcp google langchain langchain_core langgraph mcp mcp_types openai
    strands
""".split()

# `functools.wraps` copies it since Python 3.12, and takes nothing but a tuple.
_MockObject.__type_params__ = ()

nitpick_ignore = [
    # Type variables: a function returns the type that it is given.
    *(("py:class", name) for name in ("Agent", "Function", "P", "R")),
    *(("py:class", f"agent_hooks.runtime.python_tools.{name}") for name in "PR"),
    *(("py:obj", f"agent_hooks.runtime.python_tools.{name}") for name in "PR"),
    # Of other projects, and of a module that a signature does not name.
    ("py:class", "BaseModel"),
    ("py:class", "Callable[[]"),
    ("py:class", "FastMCP"),
    ("py:class", "MeterProvider"),
    ("py:class", "Model"),
    ("py:class", "TracerProvider"),
    ("py:class", "date"),
    ("py:class", "pluggy._manager.PluginManager"),
    ("py:class", "pluggy._manager.PluginValidationError"),
]

html_theme = "furo"
html_title = f"agent_hooks {version}"
html_copy_source = False
# The search finds the names; the list of all of them is too wide for a phone.
html_use_index = html_domain_indices = False
