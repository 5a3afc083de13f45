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

from pages import signatures
from run_page import WIDTH, read_blocks

ROOT = Path(__file__).parent.parent
RUN_PAGE = Path(__file__).parent / "run_page.py"
README = ROOT / "README.md"
EVERY_PAGE = [README, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
# Pages that need an agent framework are run by its own tests.
FRAMEWORKS = {path.stem.replace("_", "-") for path in (ROOT / "src/agent_hooks/adapters").glob("*.py")}
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
    commands = next(piece for piece in rest[rest.index(output) + 1 :] if piece.startswith("```"))
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


def run_text(folder: Path, text: str) -> tuple[int, str]:
    """Run a page with this text; blocks are fenced with ''' here."""
    page = folder / "page.md"
    page.write_text(text.replace("'''", "```"), encoding="utf-8")
    done = run_page(page)
    assert not done.stderr
    return done.returncode, done.stdout.replace(str(page), "page.md")


def test_blocks_of_a_page_share_one_namespace(tmp_path):
    assert run_text(
        tmp_path, "'''python\nx = 1\n'''\n\ntext\n\n'''python\nassert x == 1 and __name__ == '__main__'\n'''\n"
    ) == (0, "")


def test_a_block_that_raises_fails_the_page_with_its_line(tmp_path):
    code, said = run_text(tmp_path, "# Title\n\n'''python\nx = 1\nraise OSError('gone')\n'''\n")
    assert code == 1
    assert said.startswith("page.md:4: the block failed.")
    assert "raise OSError('gone')" in said


def test_a_block_that_exits_does_not_end_the_page_unseen(tmp_path):
    code, said = run_text(tmp_path, "'''python\nraise SystemExit(0)\n'''\n")
    assert (code, said.splitlines()[0]) == (1, "page.md:2: the block failed.")


def test_a_warning_fails_the_page(tmp_path):
    code, said = run_text(tmp_path, "'''python\nimport warnings\nwarnings.warn('old', DeprecationWarning)\n'''\n")
    assert code == 1
    assert "DeprecationWarning: old" in said


def test_the_output_of_a_block_is_compared(tmp_path):
    page = "'''python\nprint('a')\nprint('b', 0.25)\n'''\n\nOutput:\n'''text\na\nb {}\n'''\n"
    assert run_text(tmp_path, page.format("0.25")) == (0, "")
    assert run_text(tmp_path, page.format("...")) == (0, "")
    code, said = run_text(tmp_path, page.format("0.5"))
    assert (code, "-b 0.5\n+b 0.25\n" in said) == (1, True)


def test_an_output_without_a_block_before_it_is_an_error(tmp_path):
    code, said = run_text(tmp_path, "Output:\n'''text\na\n'''\n")
    assert (code, said) == (1, "page.md:3: an output without a block that ran before it.\n")


def test_a_block_is_left_out_only_with_a_reason(tmp_path):
    assert run_text(tmp_path, "<!-- not run: needs a key -->\n'''python\nraise OSError\n'''\n") == (0, "")
    code, said = run_text(tmp_path, "<!-- not run -->\n'''python\nraise OSError\n'''\n")
    assert (code, "'not run' needs a value" in said) == (1, True)


def test_a_misspelled_note_is_an_error(tmp_path):
    code, said = run_text(tmp_path, "<!-- outptu -->\n'''text\na\n'''\n")
    assert (code, "there is no note 'outptu'" in said) == (1, True)


def test_a_caption_that_is_no_file_and_no_output_is_an_error(tmp_path):
    code, said = run_text(tmp_path, "'''python\nprint(1)\n'''\n\nOutptu:\n\n'''text\n2\n'''\n")
    assert (code, "there is no caption 'Outptu:'" in said) == (1, True)


def test_only_a_name_alone_in_its_paragraph_is_a_file(tmp_path):
    page = "{}`mine.py`\n'''python\n1\n'''\n'''python\nimport os\nprint(os.listdir())\n'''\nOutput:\n'''text\n{}\n'''\n"
    assert run_text(tmp_path, page.format("Save this as\n", "[]")) == (0, "")
    assert run_text(tmp_path, page.format("Save this:\n\n", "['mine.py']")) == (0, "")
    assert run_text(tmp_path, page.format("<!-- not run: as it is -->\n", "[]")) == (0, "")


def test_a_file_can_be_in_the_home(tmp_path):
    page = "`~/.config/a`\n'''toml\na = 1\n'''\n<!-- run -->\n'''console\n$ cat $HOME/.config/a\na = 1\n'''\n"
    assert run_text(tmp_path, page) == (0, "")


def test_a_long_command_or_line_of_output_goes_on_below_it(tmp_path):
    page = "<!-- run -->\n'''console\n$ echo one \\\n    two; echo three\none\n    two{}\n'''\n"
    code, said = run_text(tmp_path, page.replace("one\n    two{}", "one two\nthree"))
    assert (code, said) == (0, "")
    assert run_text(tmp_path, page.format("\nthree")) == (0, "")
    assert run_text(tmp_path, page.format("\n    three"))[0] == 1
    assert run_text(tmp_path, page.format(" three"))[0] == 1


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_a_block_is_wider_than_a_page(page):
    blocks = read_blocks(page.name, page.read_text(encoding="utf-8"))
    wide = [(block.line + number, line) for block in blocks for number, line in enumerate(block.code.splitlines())]
    assert [(number, line) for number, line in wide if len(line) > WIDTH] == []


def test_a_block_can_be_a_file_that_later_blocks_use(tmp_path):
    page = (
        "`etc/settings.toml`\n'''toml\na = 1\n'''\n"
        "\n`mine.py`\n'''python\nVALUE = 2\n'''\n"
        "'''python\nimport mine, pathlib\nprint(pathlib.Path('etc/settings.toml').read_text(), mine.VALUE)\n'''\n"
        "Output:\n'''text\na = 1\n 2\n'''\n"
    )
    assert run_text(tmp_path, page) == (0, "")


def test_a_marked_terminal_runs_and_each_command_is_compared(tmp_path):
    page = "<!-- run -->\n'''console\n$ echo one\none\n$ echo two; false\n{}\n'''\n"
    assert run_text(tmp_path, page.format("two")) == (0, "")
    code, said = run_text(tmp_path, page.format("three"))
    assert (code, "-three\n+two\n" in said) == (1, True)


def test_an_unmarked_terminal_is_only_shown_unless_an_output_follows(tmp_path):
    assert run_text(
        tmp_path,
        "'''console\n$ touch here; exit 1\n'''\n'''python\nimport os\nassert not os.path.exists('here')\n'''\n",
    ) == (0, "")
    code, said = run_text(tmp_path, "'''console\n$ echo one\n'''\nOutput:\n'''text\ntwo\n'''\n")
    assert (code, "-two\n+one\n" in said) == (1, True)


def test_a_page_runs_away_from_the_home_and_the_settings_of_whoever_runs_it(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_DISABLE", "everything")
    page = (
        "'''python\nfrom os import getenv, listdir\n"
        "print(listdir(), listdir(getenv('HOME')), getenv('AGENT_HOOKS_DISABLE'))\n'''\n"
        "Output:\n'''text\n[] [] None\n'''\n"
    )
    assert run_text(tmp_path, page) == (0, "")


def test_an_indented_block_in_a_list_runs_too(tmp_path):
    code, said = run_text(tmp_path, "- an item:\n\n  '''python\n  if True:\n      raise OSError\n  '''\n")
    assert (code, said.splitlines()[0]) == (1, "page.md:4: the block failed.")


def test_an_interactive_session_is_refused_because_it_would_not_run(tmp_path):
    code, said = run_text(tmp_path, "'''pycon\n>>> 1\n2\n'''\n")
    assert (code, "pycon blocks would not run" in said) == (1, True)
