"""The examples are programs: each prints what stands beside it, and is one that a newcomer reads in one go.

Those with a model run by the same command with a real one: here it is a server on this machine, that speaks OpenAI's
protocol.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runtime.drivers.chat_server import ChatServer, response
from tables import tables
from terminals import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))
SUPPORT_BOT = FOLDER / "12_a_support_bot.py"
MOST_LINES = 79
SECONDS = 60.0

# What of the environment is not for an example under test: settings of this machine, and models that cost money.
FOREIGN = ("AGENT_HOOKS_", "CLAUDE_", "EXAMPLES_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "XDG_")


def environment(home: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {"HOME": str(home), "NO_COLOR": "1", "NO_PROXY": "127.0.0.1"} | variables


def run(example: Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run an example where there is no terminal, not even the one that the tests were started from."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=home,
        env=environment(home, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


@pytest.mark.docs
def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.docs
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_prints_what_stands_in_the_file_beside_it(example: Path, tmp_path: Path):
    """``examples/NAME.out`` is the whole output, standard error too."""
    expected = example.with_suffix(".out")
    assert expected.exists(), f"What {example.name} prints belongs in {expected.name}."
    done = run(example, tmp_path)
    diff = difflib.unified_diff(
        expected.read_text(encoding="utf-8").splitlines(),
        done.stdout.splitlines(),
        expected.name,
        "what it prints",
        lineterm="",
    )
    assert [*diff] == []
    assert done.returncode == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_is_short(example: Path):
    assert len(example.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


# -- with a key --------------------------------------------------------------------------------------------------------


def says(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return response({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]})


def calls(name: str, arguments: str) -> dict[str, Any]:
    return response({"type": "function_call", "id": "f", "call_id": "c", "name": name, "arguments": arguments})


def answer(given: dict[str, Any]) -> dict[str, Any]:
    return calls(*given["calls"]) if "calls" in given else says(given["says"])


# By example: what the model answers to it, and what it prints then.
MODELS = tables(__file__)
WITH_A_KEY = {name: [answer(each) for each in rows["answers"]] for name, rows in MODELS.items()}
PRINTED = {name: rows["printed"] for name, rows in MODELS.items()}


@pytest.mark.docs
@pytest.mark.parametrize("name", WITH_A_KEY)
def test_with_a_key_the_same_command_asks_a_real_model(name: str, tmp_path: Path):
    with ChatServer(*WITH_A_KEY[name]) as server:
        done = run(FOLDER / name, tmp_path, OPENAI_API_KEY="sk-none", OPENAI_BASE_URL=server.url)
    assert done.returncode == 0, done.stdout
    assert not server.answers, done.stdout
    assert "That was all." in done.stdout
    assert [text for text in PRINTED[name] if text not in done.stdout] == [], done.stdout


@pytest.mark.docs
def test_a_judge_with_a_key_is_a_small_model(tmp_path: Path):
    name = "10_a_coding_agent.py"
    with ChatServer(*WITH_A_KEY[name]) as server:
        run(FOLDER / name, tmp_path, OPENAI_API_KEY="sk-none", OPENAI_BASE_URL=server.url)
    large, small, *rest = [request["model"] for request in server.requests]
    assert small != large
    assert {*rest} == {large}


@pytest.mark.docs
def test_another_model_can_be_named(tmp_path: Path):
    variables = {"OPENAI_API_KEY": "sk-none", "ANTHROPIC_API_KEY": "sk-none", "EXAMPLES_MODEL": "openai:gpt-mine"}
    with ChatServer(says("No."), says("No.")) as server:
        run(FOLDER / "11_a_research_agent.py", tmp_path, OPENAI_BASE_URL=server.url, **variables)
    assert [request["model"] for request in server.requests] == ["gpt-mine"] * 2


# -- at a terminal -----------------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal at which the support bot has begun its work."""
    made = Terminal([sys.executable, "-W", "error", str(SUPPORT_BOT)], environment(tmp_path), tmp_path)
    yield made
    made.process.kill()
    made.process.wait()
    os.close(made.ours)


@pytest.mark.docs
@pytest.mark.parametrize(
    ("typed", "answered", "left"),
    [
        ("o\n", "I have tried: 400 were paid back.", "  A bicycle, delivered in May. 400 were paid back.\n"),
        ("d It can be mended.\n", "I have tried: Denied: It can be mended.", "  A bicycle, delivered in May.\n"),
    ],
)
def test_a_person_at_the_terminal_decides_about_a_large_refund(
    terminal: Terminal, typed: str, answered: str, left: str
):
    terminal.read("[d]eny: ", SECONDS)
    assert "why: Pay back 400 for order 1002?" in terminal.text
    assert terminal.text.count("needs permission") == 1, "a small refund is paid without a question"
    terminal.type(typed)
    terminal.read(left, SECONDS)
    assert answered in terminal.text
    assert terminal.process.wait(SECONDS) == 0
