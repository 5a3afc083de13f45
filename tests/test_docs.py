"""What the documentation shows is true: every page's blocks run, and print what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from agent_hooks.frameworks import EXTRAS
from pages import signatures
from run_page import WIDTH, read_blocks
from tables import tables

ROOT = Path(__file__).parent.parent
RUN_PAGE = Path(__file__).parent / "run_page.py"
README = ROOT / "README.md"
EVERY_PAGE = [README, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
# Pages that need an agent framework are run by its own tests.
FRAMEWORKS = {*EXTRAS.values()}
PAGES = [page for page in EVERY_PAGE if page.stem not in FRAMEWORKS]
TEST_COMMAND = "pip install tox && tox"


def run_page(page: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(RUN_PAGE), str(page)]
    # A page has a home of its own, and nothing that says where else the user's files would be.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AGENT_HOOKS_", "CLAUDE_"))
    }
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run_and_print_what_it_says(page: Path):
    done = run_page(page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.docs
@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("coming-from-*.md")))
def test_a_page_for_newcomers_has_the_signatures_of_its_tables(page: str):
    assert f"```text\n{signatures(page)}\n```" in (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_trusts_the_digest_that_it_computes(page: Path):
    assert not re.search(r"--digest \S*\$\(", page.read_text(encoding="utf-8"))


# -- the first screen of the README ------------------------------------------------------------------------------------


def paragraphs(text: str) -> list[str]:
    """Blank-line separated pieces of Markdown, fenced blocks whole, notes left out."""
    without_notes = re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)
    return re.findall(r"^(?:```[\s\S]*?^```|\S.*(?:\n(?!```)\S.*)*)", without_notes, flags=re.MULTILINE)


def test_the_readme_begins_with_a_sentence_a_program_its_output_and_two_commands():
    title, sentence, program, *rest = paragraphs(README.read_text(encoding="utf-8"))
    output = next(piece for piece in rest if piece.startswith("```"))
    commands = next(piece for piece in rest[rest.index(output) + 1 :] if piece.startswith("```console"))
    assert title.startswith("# ")
    assert re.fullmatch(r"[^.!?]+(?:[.!?]\w[^.!?]*)*[.!?]\W*", sentence), f"not one sentence: {sentence}"
    assert program.startswith("```python\n")
    assert output.startswith("```text\n")
    lines = [line.removeprefix("$ ") for line in commands.splitlines()[1:-1]]
    assert len(lines) == 2
    assert lines[0].startswith("pip install ")
    assert lines[1] == TEST_COMMAND


def programs(page: str) -> list[tuple[str, str]]:
    """The Python blocks of a page that an output follows, with that output."""
    pairs = pairwise(read_blocks(page, (ROOT / page).read_text(encoding="utf-8")))
    return [(one.code, after.code) for one, after in pairs if one.language == "python" and after.is_output]


@pytest.mark.docs
@pytest.mark.parametrize("number", [0, 1])
def test_a_program_of_the_readme_is_complete_and_prints_what_follows_it(number: int, tmp_path: Path):
    program, output = programs("README.md")[number]
    command = [sys.executable, "-W", "error", "-"]
    done = subprocess.run(command, input=program, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.returncode) == (output.strip(), 0), done.stderr


def test_there_are_two_programs_in_the_readme():
    assert len(programs("README.md")) == 2


def test_the_readme_installs_every_plugin_that_an_example_imports():
    (command,) = re.findall(
        r"^\$ (pip install (?:.+\\\n)*.+)\n\$ python examples/\S+\.py$", README.read_text("utf-8"), re.MULTILINE
    )
    examples = "\n".join(path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py"))
    plugins = {name.replace("_", "-") for name in re.findall(r"^from (agent_hooks_\w+) import", examples, re.MULTILINE)}
    assert plugins
    assert {*command.replace("\\\n", "").split()[2:]} == {"./", *(f"./plugins/{name}" for name in plugins)}
    assert all((ROOT / "plugins" / name).is_dir() for name in plugins)


def test_the_readme_names_the_keys_that_the_examples_look_for():
    keys = re.findall(r'^    "(\w+_API_KEY)":', (ROOT / "examples" / "models.py").read_text("utf-8"), re.MULTILINE)
    assert keys
    assert [key for key in keys if f"`{key}`" not in README.read_text("utf-8")] == []


def test_ci_runs_the_readmes_test_command():
    assert TEST_COMMAND in README.read_text(encoding="utf-8")
    assert TEST_COMMAND in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_index_leads_to_every_page():
    """The site has its navigation from there."""
    docs = ROOT / "docs"
    links = re.findall(r"\]\(([^)#]+)\)", (docs / "index.md").read_text("utf-8"))
    assert {(docs / link).resolve() for link in links} >= {*EVERY_PAGE} - {docs / "index.md"}


@pytest.mark.parametrize("module", ["agent_hooks", "agent_hooks.testing"])
def test_the_api_reference_has_every_public_name(module):
    public = {name for name in import_module(module).__all__ if name != "__version__"}
    pages = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.rst"))
    here, found = "", []
    for directive, name in re.findall(r"^\.\. (currentmodule|auto\w+):: (\S+)", pages, re.MULTILINE):
        if directive == "currentmodule":
            here = name
        else:
            home, _, name = (name if "." in name else f"{here}.{name}").rpartition(".")
            found += [name] if home == module else []
    assert sorted(found) == sorted(public)


# -- the harness itself ------------------------------------------------------------------------------------------------


PAGES_UNDER_TEST = tables(__file__)["pages"]


@pytest.mark.parametrize("name", PAGES_UNDER_TEST)
def test_a_page_comes_to_what_the_table_says(name, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "everything")
    page = tmp_path / "page.md"
    for given in PAGES_UNDER_TEST[name]["tries"]:
        text = PAGES_UNDER_TEST[name]["page"]
        for piece in given.get("with", ()):
            text = text.replace("{}", piece, 1)
        page.write_text(text, encoding="utf-8")
        done = run_page(page)
        said = done.stdout.replace(str(page), "page.md")
        assert (done.returncode, done.stderr) == (given["code"], ""), said
        assert said == given.get("output", said)
        assert [part for part in given.get("says", ()) if part not in said] == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_a_block_is_wider_than_a_page(page):
    blocks = read_blocks(page.name, page.read_text(encoding="utf-8"))
    wide = [(block.line + number, line) for block in blocks for number, line in enumerate(block.code.splitlines())]
    assert [(number, line) for number, line in wide if len(line) > WIDTH] == []
